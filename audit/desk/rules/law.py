"""A text of law as a page shows it: its paragraphs, the sentences of each, and below it what answers for them.

    text ─► paragraphs ─► sentences, each with its state ─► rules, readings, what it defines, what no table reports

The same for a text by itself, as its rulesets read it, and for one session, which may lack what a rule looks at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.charts.share import draw_split
from audit.desk.rules.decided import NOTHING, Decided, Decisions
from audit.models.adjudication import Severity
from audit.presentation import finding_title, language, provision
from audit.reconciliation.wording import families
from settlement import registries
from settlement.catalogue import RULES, bet_label
from settlement.catalogue.rule import Language
from settlement.law import LAW_TEXTS, LawText
from settlement.law_coverage import Covered, articles
from settlement.law_coverage.families import looked_at, needed
from settlement.law_coverage.session import STATES, SessionSentence, State, counts, in_session
from settlement.readings import READINGS

OPEN_RULES = 6
"""Rules of a sentence that the margin shows at once; the others unfold."""

LETTERS: Mapping[Language, Mapping[State, str]] = {
        "en": {"checked": "C", "partly checked": "P", "not checked": "U", "reading": "R", "defines": "D",
               "not observable": "N"},
        "fr": {"checked": "V", "partly checked": "P", "not checked": "A", "reading": "L", "defines": "D",
               "not observable": "N"},
    }  # fmt: skip
"""A letter for each state: the states of a text differ without colour."""

MEANINGS: Mapping[State, tuple[Promise, Promise]] = {
    "checked": (_("Checked"), _("a rule checks it")),
    "partly checked": (_("Checked in part"), _("some of its rules had nothing to look at")),
    "not checked": (_("Not observed"), _("this table could report it, and did not")),
    "reading": (_("Reading"), _("words that had to be settled")),
    "defines": (_("Defines"), _("it gives a name or a price")),
    "not observable": (_("Not observable"), _("no table reports it")),
}
"""What a state is called, and what it says, in the order of a legend."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A state as a letter, a class and a word."""

    state: State

    @property
    def letter(self) -> str:
        return LETTERS[language()][self.state]

    @property
    def css(self) -> str:
        return self.state.replace(" ", "-")

    @property
    def title(self) -> Promise:
        return MEANINGS[self.state][0]

    @property
    def meaning(self) -> Promise:
        return MEANINGS[self.state][1]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule of a sentence: the families of events that it ``needs`` or, where it was silent, ``lacks``; its findings.

    ``found`` is None where nothing was counted.
    """

    name: str
    mark: Mark
    needs: Sequence[str]
    lacks: Sequence[str]
    found: int | None

    @property
    def title(self) -> str:
        return finding_title(self.name)

    @property
    def needs_in_words(self) -> str:
        return families(self.needs)

    @property
    def lacks_in_words(self) -> str:
        return families(self.lacks)

    @property
    def severity(self) -> str:
        return str(Severity(RULES[self.name].severity).label)


@dataclass(frozen=True, slots=True)
class ReadingLine:
    """A reading of a sentence. ``is_open``: another may be tried in a what-if run.

    ``decision`` is what holds where no register decides; ``decided`` is what one does.
    """

    name: str
    decision: str
    is_open: bool
    decided: Sequence[Decided]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLine:
    """A sentence and its margin. ``number`` counts the sentences of a paragraph that has several, else None.

    ``defines`` are the bets that it defines, or what it is in one entry, where it defines none.
    """

    words: str
    mark: Mark
    number: int | None
    rules: Sequence[RuleLine]
    more_rules: Sequence[RuleLine]
    readings: Sequence[ReadingLine]
    defines: Sequence[str]
    why: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``number`` is as it is cited, "" for headings and for the note at the end."""

    number: str
    sentences: Sequence[SentenceLine]


@dataclass(frozen=True, slots=True)
class TextLine:
    """A text in the list beside the page."""

    text: LawText
    name: str
    counted: Sequence[tuple[Mark, int]]
    checked: int
    sentences: int
    is_by_analogy: bool = False

    @property
    def bar(self) -> SafeString:
        return mark_safe(draw_split([(mark.css, number) for mark, number in self.counted]))


def legend(states: Sequence[State]) -> list[Mark]:
    """Return the marks of ``states`` in the order of a legend."""
    return [Mark(state) for state in MEANINGS if state in states]


def letters() -> Mapping[str, str]:
    """Return the letter of each state; a template reads them by names without blanks."""
    return {state.replace(" ", "_"): letter for state, letter in LETTERS[language()].items()}


def name_of(text: LawText) -> str:
    """Return what a text is called at the head of a page: “Article 55-7”, “s. 95.17”, « art. 95.17 »."""
    first = text.content.partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("# ") else provision(text.article)


@cache
def governed_by(text_id: str) -> tuple[str, ...]:
    """Return the rulesets that a text governs."""
    return tuple(dict.fromkeys(chain.from_iterable(each.governs for each in articles() if each.text.id == text_id)))


@cache
def sentences_of(text_id: str) -> tuple[SessionSentence, ...]:
    """Return every sentence of a text, as all rulesets together read it that the text governs."""
    read = [
        [each for each in in_session(ruleset, ()) if each.sentence.text == text_id] for ruleset in governed_by(text_id)
    ]
    return tuple(_together(same) for same in zip(*read, strict=True))


def _together(same: Sequence[SessionSentence]) -> SessionSentence:
    """Return one sentence of several rulesets: what answers for it at any of them."""
    own = [each.sentence for each in same]
    return replace(
        same[0],
        sentence=replace(
            own[0],
            rules=tuple(dict.fromkeys(chain.from_iterable(each.rules for each in own))),
            readings=tuple(dict.fromkeys(chain.from_iterable(each.readings for each in own))),
            bets=tuple(dict.fromkeys(chain.from_iterable(each.bets for each in own))),
            why=next((each.why for each in own if each.why is not None), None),
        ),
        state=min((each.state for each in same), key=STATES.index),
    )


def text_line(text_id: str, sentences: Sequence[SessionSentence]) -> TextLine:
    """Return a text and how many of its ``sentences`` are in each state, those of none left out."""
    found = counts(sentences)
    counted = [(mark, found[mark.state]) for mark in legend(STATES) if found[mark.state]]
    text = LAW_TEXTS[text_id]
    by_analogy = any(each.is_by_analogy for each in sentences)
    return TextLine(text, name_of(text), counted, found["checked"], len(sentences), by_analogy)


def watched(sentences: Sequence[SessionSentence]) -> list[str]:
    """Return the rules of ``sentences``, each once."""
    return list(dict.fromkeys(chain.from_iterable(each.sentence.rules for each in sentences)))


def paragraphs_of(
    text: LawText,
    sentences: Sequence[SessionSentence],
    found: Mapping[str, int],
    missing: frozenset[str] = frozenset(),
    decided: Decisions = NOTHING,
) -> list[Paragraph]:
    """Return the ``sentences`` of a text by paragraph.

    ``found`` is the number of findings by rule, ``missing`` the families of events that a session does not report,
    ``decided`` what registers say.
    """
    grouped: dict[int | None, list[SessionSentence]] = {}
    for each in sentences:
        grouped.setdefault(_paragraph_of(text, each), []).append(each)
    return [
        Paragraph(_cited(text, number) if number else "", list(_lines(text, group, found, missing, decided)))
        for number, group in grouped.items()
    ]


def _cited(text: LawText, number: int) -> str:
    """Return the number of a paragraph as citations have it: a text in French has *alinéas* in both languages."""
    return f"al. {number}" if text.language == "fr" else gettext("para. %(number)s") % {"number": number}


def _paragraph_of(text: LawText, each: SessionSentence) -> int | None:
    """Return the number of the paragraph in which a sentence begins; 0 before the first, None after the last."""
    start = each.sentence.start
    if text.paragraphs and start < text.paragraphs[0].start:
        return 0
    return next((paragraph.number for paragraph in text.paragraphs if start < paragraph.end), None)


def _lines(
    text: LawText,
    group: Sequence[SessionSentence],
    found: Mapping[str, int],
    missing: frozenset[str],
    decided: Decisions,
) -> Iterator[SentenceLine]:
    active = language()
    for number, each in enumerate(group, start=1):
        sentence = each.sentence
        rules = [_rule_line(name, each, found, missing) for name in sentence.rules]
        yield SentenceLine(
            words=text.content[sentence.start : sentence.end].strip().removeprefix("# "),
            mark=Mark(each.state),
            number=number if len(group) > 1 else None,
            rules=rules[:OPEN_RULES],
            more_rules=rules[OPEN_RULES:],
            readings=[
                ReadingLine(
                    name,
                    READINGS[name].decision.in_language(active),
                    READINGS[name].values is not None,
                    decided.get(name, ()),
                )
                for name in sentence.readings
            ],
            defines=_defines(sentence, active),
            why=sentence.why.in_language(active) if sentence.why else "",
        )


def _defines(sentence: Covered, active: Language) -> list[str]:
    """Return what the margin says that a sentence without a rule defines."""
    if sentence.rules:
        return []
    if sentence.says is not None:
        return [sentence.says.in_language(active)]
    return [bet_label(sentence.ruleset, bet, active) for bet in sentence.bets]


def _rule_line(name: str, each: SessionSentence, found: Mapping[str, int], missing: frozenset[str]) -> RuleLine:
    is_silent = name in each.silent
    lacks = sorted(looked_at(name) & missing) if is_silent else []
    mark = Mark("not checked" if is_silent else "checked")
    return RuleLine(name, mark, sorted(needed(name)), lacks, found.get(name, 0))


for _computed in (governed_by, sentences_of):
    registries.forgets(_computed.cache_clear)
del _computed
