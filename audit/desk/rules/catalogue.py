"""The catalogue as the desk shows it: under which text a rule stands, the clauses it rests on, what it leaves open.

All of it comes from the law itself and needs no database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from audit.desk.findings.marked_law import MarkedText, marked_text
from audit.desk.rules.examples import cited_in_example
from settlement import registries
from settlement.catalogue import RULES, Rule
from settlement.catalogue.rule import Language
from settlement.law import LAW_TEXTS, LawText
from settlement.law_coverage import covered, governing
from settlement.provisions import PROVISIONS
from settlement.readings import READINGS


@dataclass(frozen=True, slots=True)
class Clause:
    """A provision that a rule rests on: its text with the clause marked, or, where it is ``missing``, why."""

    label: str
    marked: MarkedText | None
    missing: str


@dataclass(frozen=True, slots=True)
class Group:
    """The rules that stand under one text: of several texts, and of none, ``text`` is None."""

    key: str
    text: LawText | None
    rules: tuple[Rule, ...]


@cache
def texts_of() -> dict[str, tuple[str, ...]]:
    """Return the ids of the texts whose sentences each rule checks, by the rule's name, under what governs a game."""
    found: dict[str, set[str]] = {name: set() for name in RULES}
    for ruleset in sorted({each for rule in RULES.values() for each in rule.rulesets}):
        own = governing(ruleset)
        for sentence in covered(ruleset):
            for name in sentence.rules if sentence.text in own else ():
                found[name].add(sentence.text)
    return {name: tuple(sorted(texts)) for name, texts in found.items()}


def groups() -> list[Group]:
    """Return every rule once: those of several texts first, then by text, at last those that rest on none."""
    by_key: dict[str, list[Rule]] = {"several": [], **{text: [] for text in LAW_TEXTS}, "none": []}
    for name, texts in texts_of().items():
        key = texts[0] if len(texts) == 1 else "several" if texts else "none"
        by_key[key].append(RULES[name])
    return [Group(key, LAW_TEXTS.get(key), tuple(rules)) for key, rules in by_key.items() if rules]


def clauses_of(rule: Rule, language: Language) -> list[Clause]:
    """Return the provisions of a rule, each once; a clause that is the bet's own is not among them."""
    return _clauses(rule, (label for labels in rule.provisions.values() for label in labels), language)


def clauses_of_the_bet(rule: Rule, language: Language) -> list[Clause]:
    """Return the clauses that the first example of a rule cites for its bet; none of a rule that names its own."""
    own = {label for labels in rule.provisions.values() for label in labels}
    cited = cited_in_example(rule.name) if rests_on_the_bet(rule) else ()
    return [each for each in _clauses(rule, (label for label in cited if label not in own), language) if each.marked]


def _clauses(rule: Rule, labels: Iterable[str], language: Language) -> list[Clause]:
    found = []
    for label in dict.fromkeys(labels):
        provision = PROVISIONS.get(label)
        if provision is not None:
            missing = (provision.text_missing or {}).get(language, "")
            found.append(Clause(label, marked_text(label, rule.name), missing))
    return found


def rests_on_the_bet(rule: Rule) -> bool:
    """Return whether a clause of a rule is that of the bet concerned, and so another for each bet."""
    return any(label not in PROVISIONS for labels in rule.provisions.values() for label in labels)


def readings_of(rule: Rule) -> Sequence[str]:
    """Return the readings of the sentences that a rule checks, in the order of the catalogue of readings."""
    names = {
        reading
        for ruleset in rule.rulesets
        for sentence in covered(ruleset)
        if rule.name in sentence.rules
        for reading in sentence.readings
    }
    return [name for name in READINGS if name in names]


NEAR = 4
"""Rules that a page names as near the one that it is about."""


def near(rule: Rule) -> list[Rule]:
    """Return the rules that rest on the same clauses or sentences, those that share most of them first."""
    own = _rests_on(rule.name)
    shared = [(len(own & _rests_on(other.name)), other) for other in RULES.values() if other is not rule]
    return [other for number, other in sorted(shared, key=lambda each: -each[0]) if number][:NEAR]


@cache
def _rests_on(name: str) -> frozenset[str]:
    """Return what a rule rests on: clauses by their labels, and the sentences that it checks."""
    rule = RULES[name]
    clauses = {label for labels in rule.provisions.values() for label in labels}
    sentences = {
        f"{sentence.text}, character {sentence.start}"
        for ruleset in rule.rulesets
        for sentence in covered(ruleset)
        if rule.name in sentence.rules
    }
    return frozenset(clauses | sentences)


def around(rule: Rule) -> tuple[Rule | None, Rule | None]:
    """Return the rules before and after one in the order of the list, None at its ends."""
    order = [each for group in groups() for each in group.rules]
    index = order.index(rule)
    return order[index - 1] if index else None, order[index + 1] if index + 1 < len(order) else None


registries.forgets(texts_of.cache_clear)
registries.forgets(_rests_on.cache_clear)
