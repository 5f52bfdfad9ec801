"""One claim for one wager: what the findings of an answer owe is the debt of each wager (account.md 1.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from settlement import Adjudication
from settlement.differences import COMMISSIONS
from settlement.families import PLAY
from settlement.finding import Finding

Faults = list[tuple[str, int, int]]
"""Wager, its debt, what its findings owe; in minor units."""


def owed(found: Finding) -> int:
    """Return what a finding owes, in minor units: above zero by the player, below by the bank, 0 for information."""
    if found.owed is None or found.severity == "info":
        return 0
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount


def unclaimed(answer: Adjudication, observes: Iterable[str]) -> Faults:
    """Return the wagers whose findings do not add up to their debt. A commission is another payment.

    Where a family of the play is not observed, findings are silent about what was not seen, so nothing is compared.
    """
    if not frozenset(observes) >= PLAY:
        return []
    claims: dict[str, int] = defaultdict(int)
    for found in answer.findings:
        assert found.owed is None or found.difference is not None, f"{found.rule} owes, and differs by nothing"
        if found.wager in answer.wagers and found.rule not in COMMISSIONS:
            claims[found.wager] += owed(found)
    return [
        (wager_id, wager.debt, claims[wager_id])
        for wager_id, wager in answer.wagers.items()
        if claims[wager_id] != wager.debt
    ]
