"""The law, obligation by obligation: what of it is checked, read, defined, or beyond what a table can report.

``coverage`` is the list that ``settlement.coverage`` gives; the articles are the modules beside this one, a line a
clause. The spans tile each of the texts, headings included, so that no word is passed over in silence. *Checked* is
an obligation, one for each verb that somebody has to obey; the tests break each checked one alone, in a tape.

A rule answers for the clauses that name it. A rule that no clause names answers for every obligation that its
provisions quote, which is less exact and never wrong; one whose clause is not among the texts, or that rests on the
event contract alone, is in ``rules_without_sentence`` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from settlement import registries
from settlement.catalogue import RULES, WAGER, WITHDRAWAL, Rule
from settlement.catalogue.rule import Wording
from settlement.law_coverage.families import needed
from settlement.law_coverage.sentence import Article
from settlement.provisions import PROVISIONS, WAGER_PROVISIONS, WITHDRAWAL_PROVISIONS
from settlement.readings import READINGS, Reading
from settlement.ruleset import RULESETS, resolved

Kind: TypeAlias = Literal["checked", "reading", "defines", "not observable"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@cache
def articles() -> tuple[Article, ...]:
    """Return the articles of all rulesets, in the order of their texts' ids, each once."""
    every = {id(each): each for ruleset in RULESETS.values() for each in map(resolved, ruleset.articles)}
    return tuple(sorted(every.values(), key=lambda article: article.text.id))


class UnknownRuleset(ValueError):
    """No ruleset has that name."""


@dataclass(frozen=True, slots=True)
class Covered:
    """One clause under one ruleset. ``start`` and ``end`` are code points of the text; ``families`` are needed.

    ``obligation`` is what it obliges somebody to, in its own words, None if it obliges nobody. ``says`` is for pages
    alone: what the clause is, where it holds for bets and defines none.
    """

    ruleset: str
    text: str
    start: int
    end: int
    kinds: tuple[Kind, ...]
    rules: tuple[str, ...]
    families: tuple[str, ...]
    readings: tuple[str, ...]
    bets: tuple[str, ...]
    why: Wording | None
    says: Wording | None = None
    obligation: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "obligation": self.obligation,
            "kinds": list(self.kinds),
            "rules": list(self.rules),
            "families": list(self.families),
            "readings": list(self.readings),
            "bets": list(self.bets),
            "why": None if self.why is None else {"en": self.why.en, "fr": self.why.fr},
        }


def coverage(ruleset: str) -> list[dict[str, Any]]:
    """Return every clause of the texts, in order, as ``ruleset`` reads it.

    Each is ``{"text", "start", "end", "obligation", "kinds", "rules", "families", "readings", "bets", "why"}``: the id
    of the text; the span, in code points, blanks up to the next clause included; what the clause obliges somebody to,
    in its own words, None if it obliges nobody; one or more of ``KINDS``; names that exist; the families of events that
    those rules need; and by language what a table would have to report for it to be checked, None where nothing is
    missing. A text that governs another game is listed too: ``why`` says which ruleset reads it.
    Raises ``UnknownRuleset``.
    """
    return [each.as_dict() for each in covered(ruleset)]


@cache
def covered(ruleset: str) -> tuple[Covered, ...]:
    """Return what ``coverage`` returns, as values."""
    if ruleset not in RULESETS:
        raise UnknownRuleset(f"{ruleset!r} is none of {', '.join(RULESETS)}")
    return tuple(each for article in articles() for each in _under(article, ruleset))


def governing(ruleset: str) -> frozenset[str]:
    """Return the ids of the texts that govern ``ruleset``, not counting those that it follows by analogy."""
    return frozenset(article.text.id for article in articles() if ruleset in article.governs)


@cache
def rules_without_sentence(ruleset: str) -> Mapping[str, Wording]:
    """Return the rules of ``ruleset`` that rest on no sentence of the texts, each with the reason."""
    named = {name for each in covered(ruleset) for name in each.rules}
    return MappingProxyType(
        {
            rule.name: _reason(rule, ruleset)
            for rule in RULES.values()
            if ruleset in rule.rulesets and rule.name not in named
        }
    )


def _reason(rule: Rule, ruleset: str) -> Wording:
    for label in rule.provisions[ruleset]:
        provision = PROVISIONS.get(label)
        if provision is not None and provision.text_missing is not None:
            return Wording(provision.text_missing["en"], provision.text_missing["fr"])
    assert rule.reason is not None, f"{rule.name} rests on no sentence at {ruleset}, and gives no reason"
    return rule.reason


def _under(article: Article, ruleset: str) -> tuple[Covered, ...]:
    return _governed(article, ruleset) if ruleset in article.governs else _by_analogy(article, ruleset)


@cache
def _governed(article: Article, ruleset: str) -> tuple[Covered, ...]:
    """Return the clauses of a text that governs ``ruleset``."""
    unnamed = [(rule.name, _labels(rule, ruleset)) for rule in _unnamed_rules(article, ruleset)]
    open_readings = _unnamed_readings(article, ruleset)
    return tuple(
        _entry(
            article,
            span,
            ruleset,
            obligation=clause.obligation,
            rules=[rule for rule in dict.fromkeys(clause.rules) if _cites(RULES[rule], ruleset, article)]
            + [name for name, labels in unnamed if clause.obligation and _quotes(article, labels, span)],
            readings=[each for each in dict.fromkeys(clause.readings) if ruleset in READINGS[each].rulesets]
            + [each.name for each in open_readings if _quotes(article, each.leaves_open, span)],
            bets=[bet for bet in clause.bets if bet in RULESETS[ruleset].kinds],
            why=clause.why,
            says=clause.says,
        )
        for clause, *span in article.spans()
    )


@cache
def _by_analogy(article: Article, ruleset: str) -> tuple[Covered, ...]:
    """Return the clauses of a text of another game: of its rules those that ``ruleset`` cites all the same."""
    answered = {
        reading
        for other in articles()
        if ruleset in other.governs
        for each in _governed(other, ruleset)
        for reading in each.readings
    }
    cited = [(rule, _labels(rule, ruleset)) for rule in RULES.values() if _cites(rule, ruleset, article)]
    of_another_game = _of_another_game(article)
    entries = []
    for clause, *span in article.spans():
        rules = [
            rule.name
            for rule, labels in cited
            if (rule.name in clause.rules or (clause.obligation and rule.name not in article.rules))
            and _quotes(article, labels, span)
        ]
        readings = [
            each.name
            for each in READINGS.values()
            if ruleset in each.rulesets
            and each.name not in answered
            and (each.name in clause.readings or each.name not in article.readings)
            and _quotes(article, each.leaves_open, span)
        ]
        why = None if rules or readings else of_another_game
        obligation = clause.obligation
        entries.append(
            _entry(article, span, ruleset, obligation=obligation, rules=rules, readings=readings, bets=[], why=why)
        )
    return tuple(entries)


def _entry(
    article: Article,
    span: Sequence[int],
    ruleset: str,
    *,
    obligation: str,
    rules: list[str],
    readings: list[str],
    bets: list[str],
    why: Wording | None,
    says: Wording | None = None,
) -> Covered:
    return Covered(
        ruleset=ruleset,
        text=article.text.id,
        start=span[0],
        end=span[1],
        kinds=_kinds(rules, readings, bets, why),
        rules=tuple(rules),
        # A family of another game's events is needed by a rule that both games have, and by this one for nothing.
        families=tuple(sorted(RULESETS[ruleset].families & frozenset[str]().union(*map(needed, rules)))),
        readings=tuple(readings),
        bets=tuple(bets),
        why=why,
        says=says,
        obligation=obligation or None,
    )


def _kinds(rules: list[str], readings: list[str], bets: list[str], why: Wording | None) -> tuple[Kind, ...]:
    holds = (bool(rules), bool(readings), bool(bets), why is not None)
    return tuple(kind for kind, is_so in zip(KINDS, holds, strict=True) if is_so)


def _of_another_game(article: Article) -> Wording:
    rulesets = ", ".join(article.governs)
    return Wording(
        f"The text of another game: a table would have to report a session played under {rulesets}.",
        f"Texte d’un autre jeu : la table devrait transmettre une séance jouée sous {rulesets}.",
    )


# What no clause names goes by its citations


def _cites(rule: Rule, ruleset: str, article: Article) -> bool:
    """Return whether ``rule``, under ``ruleset``, rests on a clause of the text."""
    return ruleset in rule.rulesets and any(_quoted(article, label) for label in _labels(rule, ruleset))


def _unnamed_rules(article: Article, ruleset: str) -> list[Rule]:
    return [rule for rule in RULES.values() if rule.name not in article.rules and _cites(rule, ruleset, article)]


def _unnamed_readings(article: Article, ruleset: str) -> list[Reading]:
    return [each for each in READINGS.values() if ruleset in each.rulesets and each.name not in article.readings]


def _quotes(article: Article, labels: Iterable[str], span: Sequence[int]) -> bool:
    """Return whether a provision of ``labels`` quotes words of ``span`` of the text."""
    start, end = span
    return any(left < end and start < right for label in labels for left, right in _quoted(article, label))


@cache
def _quoted(article: Article, label: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the text that provision ``label`` quotes; none for a label that is no provision."""
    citations = PROVISIONS[label].citations if label in PROVISIONS else ()
    return tuple((each.start, each.end) for each in citations if each.text_id == article.text.id)


def _labels(rule: Rule, ruleset: str) -> frozenset[str]:
    """Return the provisions that ``rule`` rests on, those of every bet where it rests on the bet's."""
    labels = set(rule.provisions[ruleset])
    if WAGER in labels:
        labels |= set(WAGER_PROVISIONS[ruleset].values())
    if WITHDRAWAL in labels:
        labels |= set(WITHDRAWAL_PROVISIONS.get(ruleset, WAGER_PROVISIONS[ruleset]).values())
    return frozenset(labels)


for _computed in (articles, covered, rules_without_sentence, _governed, _by_analogy, _quoted):
    registries.forgets(_computed.cache_clear)
del _computed
