"""The catalogue: every rule, its clause, and the message of its findings, in English and French."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from settlement import registries
from settlement.catalogue import changes, coups, every_game, payouts, persons, questions, record, sentences, stream
from settlement.catalogue.remedies import REMEDIES
from settlement.catalogue.rule import WAGER, WITHDRAWAL, Equipment, Language, Rule, Severity, Wording
from settlement.catalogue.sentences import Writer
from settlement.catalogue.words import BET_LABELS, BET_WORDS, bet_label, bet_word

__all__ = [
    "BET_LABELS",
    "BET_WORDS",
    "REMEDIES",
    "RULES",
    "WAGER",
    "WITHDRAWAL",
    "Language",
    "Rule",
    "Severity",
    "Wording",
    "bet_label",
    "bet_word",
    "message",
    "remedy",
]

_rules: dict[str, Rule] = registries.table(
    {
        rule.name: rule
        for rules in (
            every_game.STAKES,
            payouts.PAYOUTS,
            coups.COUPS,
            stream.STREAM,
            changes.CHANGES,
            record.INTEGRITY,
            record.RECONCILIATION,
            questions.QUESTIONS,
            persons.PERSONS,
        )
        for rule in rules
    }
)
RULES: Mapping[str, Rule] = MappingProxyType(_rules)
"""Every rule by its name: those of every game, then those that rulesets bring."""


def add_rules(
    ruleset: str,
    own: Iterable[Rule],
    clauses: Mapping[str, tuple[str, ...] | None],
    equipment: Equipment | None,
) -> None:
    """Take the rules of ``ruleset``: its ``own``, and those of every game under the clauses that it gives them.

    ``clauses`` are by rule; None: the ruleset does not have the rule. Raise ``KeyError`` for a rule that there is not,
    ``ValueError`` for one of its own that another ruleset has otherwise.
    """
    for rule in own:
        registries.share(_rules, rule.name, rule, "a rule")
    for rule in list(_rules.values()):
        if rule.everywhere is None:
            continue
        labels = clauses.get(rule.name, rule.everywhere)
        if labels is not None and rule.equipment in (None, equipment):
            _rules[rule.name] = replace(rule, provisions=MappingProxyType({**rule.provisions, ruleset: labels}))
    for name in clauses:
        assert _rules[name].everywhere is not None, f"{name} is of single rulesets: its provisions name them"


def message(
    rule: str,
    facts: Mapping[str, Any],
    language: Language,
    currency: str,
    write: Writer = sentences.amount,
    *,
    ruleset: str | None = None,
) -> str:
    """Return the message of a finding: see ``sentences.message``."""
    return sentences.message(RULES[rule], facts, language, currency, write, ruleset=ruleset)


def remedy(
    rule: str,
    facts: Mapping[str, Any],
    owed: tuple[str, int] | None,
    language: Language,
    currency: str,
    write: Writer = sentences.amount,
    *,
    ruleset: str | None = None,
) -> str:
    """Return what to do about a finding: see ``sentences.remedy``."""
    return sentences.remedy(RULES[rule], facts, owed, language, currency, write, ruleset=ruleset)
