"""The law sentence by sentence, in words: the same for a session's page, the page of the docs and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, override

from audit.presentation import language
from settlement import RULESETS
from settlement.catalogue import RULES, bet_label
from settlement.law import LAW_TEXTS, LawText
from settlement.law_coverage import rules_without_sentence
from settlement.law_coverage.session import SessionSentence, State, counts, in_session
from settlement.readings import READINGS

STATES: Mapping[State, Any] = {
    "checked": _("checked"),
    "partly checked": _("checked in part"),
    "not checked": _("not checked"),
    "not observable": _("not observable"),
    "reading": _("read"),
    "defines": _("defines"),
}

PAGE = "law_coverage.html"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a sentence. ``is_silent``: the session does not report what it looks at."""

    name: str
    title: str
    is_silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence as a page shows it. ``css`` is a class; ``families`` are needed, ``lacking`` not reported.

    ``says`` is what it is where it holds for ``bets`` and defines none, "" for others.
    """

    words: str
    css: str
    state: str
    rules: Sequence[Rule]
    families: Sequence[str]
    lacking: Sequence[str]
    readings: Sequence[tuple[str, str]]
    bets: Sequence[str]
    says: str
    why: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text of law and its sentences, in order; of a text that is followed by analogy only those that are."""

    text: LawText
    is_by_analogy: bool
    sentences: Sequence[Sentence]


@dataclass(frozen=True, slots=True)
class Count:
    """How many sentences are in a state."""

    css: str
    state: str
    number: int


def texts(sentences: Sequence[SessionSentence]) -> list[Text]:
    """Return the sentences of a session in the active language, by text."""
    shown = []
    for (text, is_by_analogy), group in groupby(sentences, key=lambda each: (each.sentence.text, each.is_by_analogy)):
        shown.append(Text(LAW_TEXTS[text], is_by_analogy, [_shown(each) for each in group]))
    return shown


def tally(sentences: Sequence[SessionSentence]) -> list[Count]:
    """Return how many of ``sentences`` are in each state, in the active language; states without any are left out."""
    found = ((state, number) for state, number in counts(sentences).items() if number)
    return [Count(_css(state), _counted(state, number), number) for state, number in found]


def _counted(state: State, number: int) -> str:
    """Return what ``number`` sentences are in a state, without the number."""
    match state:
        case "checked":
            return ngettext("obligation checked", "obligations checked", number)
        case "partly checked":
            return ngettext("obligation checked in part", "obligations checked in part", number)
        case "not checked":
            return ngettext("obligation not checked", "obligations not checked", number)
        case "not observable":
            return ngettext("obligation not observable", "obligations not observable", number)
        case "reading":
            return ngettext("clause read", "clauses read", number)
        case "defines":
            return ngettext("clause that defines", "clauses that define", number)


def docs_page(css: str, page_language: str) -> str:
    """Return the page of the docs: every ruleset, at a table that reports everything. ``css`` is its style sheet."""
    with override(page_language):
        rulesets = [
            {
                "name": name,
                "title": RULESETS[name].title.in_language(language()),
                "instrument": RULESETS[name].instrument.title,
                "texts": texts(sentences),
                "tally": tally(sentences),
                "without": [
                    (rule, RULES[rule].title.in_language(language()), reason.in_language(language()))
                    for rule, reason in rules_without_sentence(name).items()
                ],
            }
            for name in RULESETS
            for sentences in [in_session(name, ())]
        ]
        return render_to_string(PAGE, {"rulesets": rulesets, "css": css, "language": page_language})


def _shown(each: SessionSentence) -> Sentence:
    sentence, active = each.sentence, language()
    return Sentence(
        words=LAW_TEXTS[sentence.text].content[sentence.start : sentence.end].strip().removeprefix("# "),
        css=_css(each.state),
        state=str(STATES[each.state]),
        rules=[Rule(name, RULES[name].title.in_language(active), name in each.silent) for name in sentence.rules],
        families=sentence.families,
        lacking=each.lacking,
        readings=[(name, READINGS[name].decision.in_language(active)) for name in sentence.readings],
        bets=[bet_label(sentence.ruleset, bet, active) for bet in sentence.bets],
        says=sentence.says.in_language(active) if sentence.says else "",
        why=sentence.why.in_language(active) if sentence.why else "",
    )


def _css(state: State) -> str:
    return state.replace(" ", "-")
