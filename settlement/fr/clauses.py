"""The clauses of rules of every game that the French texts name alike, whichever game they regulate."""

from __future__ import annotations


def of_every_game(closed_list: str, call: tuple[str, ...]) -> dict[str, tuple[str, ...] | None]:
    """Return the clauses by rule: ``closed_list`` has the bets of the game, ``call`` ends the betting."""
    return {
        "wager-not-permitted": (closed_list,),
        "stake-out-of-limits": ("art. 53 (2007)",),
        "non-chip-stake": ("art. 39 (1959)",),
        "identification-due": ("CMF art. R. 561-10",),
        "reportable-cash": None,
        "wager-after-no-more-bets": call,
        "wager-near-call": call,
        "withdrawal-after-no-more-bets": call,
    }
