"""What a change to an earlier event does to the wagers: whose outcome is another by it, from what to what.

    gain     winnings due + stake due back − stake that stood     of a wager that is decided
             0                                                    of one still in play, void or withdrawn
    outcome  its status and its gain

The two readings of a stream are compared when the change comes, by what stands then: that no money has moved yet is no
excuse, because the money that will not move is the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from settlement.finding import Outcome
from settlement.state import GAINS_NOTHING, Table, Wager

NOT_PLACED = "unknown"
"""In place of a status: in that reading there is no such wager."""


class Effect(Struct, frozen=True, gc=False):
    """What a change does. ``undoes``: its entry was a result that counted. ``changes``: somebody's outcome is another.

    ``outcomes`` are those whose status or gain is another by now, the largest difference first: a point that is another
    changes what a stake waits for, and no outcome yet.
    """

    undoes: bool = False
    changes: bool = False
    outcomes: tuple[Outcome, ...] = ()


def effect_of(entry: int, before: Table, after: Table, ids: Iterable[str]) -> Effect:
    """Return what makes ``before`` into ``after``, the readings of a stream without and with a change of ``entry``.

    ``ids`` are the wagers that may differ.
    """
    pairs = [(before.wagers.get(wager_id), after.wagers.get(wager_id)) for wager_id in ids]
    differing = [(was, now) for was, now in pairs if _standing(was) != _standing(now)]
    outcomes = [_outcome(after, was, now) for was, now in differing if _result(was) != _result(now)]
    outcomes.sort(key=lambda each: (-abs(each.after - each.before), each.wager))
    noted = before.acted_on.get(entry)
    return Effect(
        undoes=noted is not None and noted.counts,
        changes=bool(differing) or (before.point != after.point and bool(before.live or after.live)),
        outcomes=tuple(outcomes),
    )


def gain(wager: Wager) -> int:
    """Return what the player has won by ``wager`` so far, in minor units; below zero if he has lost."""
    if wager.status in GAINS_NOTHING:
        return 0
    return wager.winnings_due + wager.stake_due - wager.standing


def _outcome(table: Table, was: Wager | None, now: Wager | None) -> Outcome:
    wager = now or was
    assert wager is not None, "it is placed in one reading at least"
    (status_before, before), (status_after, after) = _result(was), _result(now)
    player = wager.player
    return Outcome(wager.id, player, status_before, status_after, before, after)


def _result(wager: Wager | None) -> tuple[str, int]:
    return (NOT_PLACED, 0) if wager is None else (wager.status, gain(wager))


def _standing(wager: Wager | None) -> Sequence[object]:
    """Return what becomes of a wager so far, and what it waits for."""
    if wager is None:
        return ()
    return (
        wager.bet,
        wager.stake,
        wager.standing,
        wager.status,
        wager.winnings_due,
        wager.stake_due,
        wager.number,
        wager.pockets,
        wager.which,
        wager.working,
        wager.zeros,
    )
