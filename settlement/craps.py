"""Throws and the point: what every craps table shares, in France and in Québec.

A *come-out* is a throw with no point standing. A *series* runs from the throw that sets the point to the throw that
resolves it:

    come-out ─── 4 5 6 8 9 10 ───► point ─── that number again ───► come-out
     │    ▲                        │   │
     └────┘ 2 3 7 11 12            │   └──── 7, seven-out ────────► come-out, and in France a new shooter
                                   └──────── anything else: no decision

A throw announced «Coup nul» decides, moves and marks nothing: it does not exist, and settling by it is a finding.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from settlement import acts
from settlement.calls import reopen
from settlement.events import DiceThrown, PointMarked, ThrowVoided
from settlement.findings import find
from settlement.state import Table

POINT_NUMBERS = (4, 5, 6, 8, 9, 10)

RESULTS = {(first, second): f"{first}-{second}" for first in range(1, 7) for second in range(1, 7)}
"""Each throw as a payment cites it."""


def state_of_play(table: Table) -> dict[str, Any]:
    """Return what an answer says of the table: its point."""
    return {"point": table.point}


def valid_total(table: Table, event: DiceThrown) -> int | None:
    """Return the total of a throw; None, with a finding, for one that cannot have happened and decides nothing."""
    first, second = event.data.faces
    total, recorded = first + second, event.data.total
    if 1 <= first <= 6 and 1 <= second <= 6 and (recorded is UNSET or recorded == total):
        return total
    find(
        table,
        "invalid-dice-values",
        event.seq,
        expected=total,
        recorded=None if recorded is UNSET else recorded,
        faces=[first, second],
    )
    return None


def check_flags(table: Table, event: DiceThrown) -> None:
    """Find a counted throw that should have been voided."""
    voiding = [flag for flag in event.data.flags or () if flag != "rubbed_or_held"]
    if voiding:
        find(table, "irregular-throw-counted", event.seq, flags=voiding, faces=list(event.data.faces))


def check_marker(table: Table, seq: int) -> None:
    """Find a point that nobody marked by the next throw, ``seq``: before the dice decide anything."""
    if table.point is None or table.point_marked or table.marker_found:
        return
    if "marker" in table.open_session().observes:
        table.marker_found = True
        find(table, "point-marker-missing", table.point_set_by, seq, point=table.point, point_seq=table.point_set_by)


def note_result(table: Table, event: DiceThrown) -> None:
    """Remember the throw, counted or not, as a payment will cite it."""
    faces = event.data.faces
    table.result = RESULTS.get(faces) or "{}-{}".format(*faces)


def end_throw(table: Table, event: DiceThrown, total: int | None) -> None:
    """Move the point, and open the betting for the next throw."""
    seq = event.seq
    if total is not None:
        if table.point is None:
            if total in POINT_NUMBERS:
                table.point = total
                table.point_set_by = seq
                table.point_marked = table.marker_found = False
        elif total in (7, table.point):
            table.point = None
            table.point_set_by = 0
    table.throws = table.last_throw = table.last_result = seq
    table.voided_by = 0
    reopen(table)


def void_throw(table: Table, event: ThrowVoided) -> None:
    """Void a throw, «Coup nul»: the dice decide nothing and betting is open again."""
    seq = event.seq
    data = event.data
    check_marker(table, seq)
    # Rubbing is a breach by the shooter and voids nothing: a throw voided for that alone was valid.
    if all(flag == "rubbed_or_held" for flag in data.flags):
        find(table, "valid-throw-voided", seq, by=data.announced_by, faces=list(data.faces or ()))
    if data.announced_by != "stickman":
        find(table, "void-not-announced-by-stickman", seq, expected="stickman", recorded=data.announced_by)
    table.throws = table.last_throw = table.voided_by = seq
    table.voiding_flags = list(data.flags)
    reopen(table)


def mark_point(table: Table, event: PointMarked) -> None:
    """Put the cabochon on a number."""
    seq = event.seq
    number = event.data.number
    unmarked = table.point is not None and not table.point_marked
    if table.voided_by and not unmarked and number != table.point:
        find(table, "void-throw-settled", table.voided_by, seq, voided_seq=table.voided_by, event_type=event.type)
        return
    if number != table.point:
        acts.wrong(
            table,
            acts.MARKER,
            "point-marker-mismatch",
            table.point_set_by,
            seq,
            expected=table.point,
            recorded=number,
        )
    elif table.acts:
        acts.right(table, acts.MARKER, seq)
    if table.point is not None:
        table.point_marked = True
