"""The catalogue: every rule, its clause, and the message of its findings, in English and French."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from settlement.catalogue import (
    american_roulette,
    american_table,
    craps_dice,
    craps_sets,
    craps_wagers,
    every_game,
    payouts,
    quebec,
    record,
    roulette,
    sentences,
    stream,
)
from settlement.catalogue.rule import WAGER, WITHDRAWAL, Language, Rule, Severity, Wording
from settlement.catalogue.words import BET_LABELS, BET_WORDS

__all__ = [
    "BET_LABELS",
    "BET_WORDS",
    "RULES",
    "WAGER",
    "WITHDRAWAL",
    "Language",
    "Rule",
    "Severity",
    "Wording",
    "message",
]

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rules in (
            every_game.STAKES,
            payouts.PAYOUTS,
            stream.STREAM,
            craps_dice.SHOOTER,
            craps_dice.THROWS,
            craps_sets.DICE_SETS,
            craps_wagers.CRAPS_WAGERS,
            quebec.QUEBEC,
            roulette.ROULETTE,
            american_roulette.WHEEL,
            american_roulette.ANNOUNCEMENTS,
            american_roulette.PAYMENTS,
            american_table.SEATS_AND_COLOURS,
            american_table.STAFF,
            record.INTEGRITY,
            record.RECONCILIATION,
            record.QUESTIONS,
        )
        for rule in rules
    }
)
"""Every rule by its name, in the order of the sections above."""


def message(rule: str, facts: Mapping[str, Any], language: Language, currency: str) -> str:
    """Return the message of a finding: see ``sentences.message``."""
    return sentences.message(RULES[rule], facts, language, currency)
