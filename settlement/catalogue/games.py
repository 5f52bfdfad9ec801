"""The provisions of a rule that only some games have, by their rulesets."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.catalogue.rule import under


def at_craps(*labels: str) -> Mapping[str, tuple[str, ...]]:
    """Return the provisions of a rule of French craps."""
    return under({"fr-craps": labels})


def at_quebec(*labels: str) -> Mapping[str, tuple[str, ...]]:
    """Return the provisions of a rule of Québec craps."""
    return under({"qc-craps": labels})


def at_both_roulettes(*labels: str) -> Mapping[str, tuple[str, ...]]:
    """Return the provisions of a rule that both roulettes share."""
    return under({"fr-roulette": labels, "fr-american-roulette": labels})


def at_american_roulette(*labels: str) -> Mapping[str, tuple[str, ...]]:
    """Return the provisions of a rule of American roulette."""
    return under({"fr-american-roulette": labels})
