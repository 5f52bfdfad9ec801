"""The call «Rien ne va plus»: what is in time, near it or late, by the clocks of the events.

Law       Art. 55-7 al. 7 «Aucune mise ne peut être déposée après le "Rien ne va plus"»; at roulette by analogy.
          The tolerance is a reading, ``call_tolerance_ms``.

                 call            call + tolerance
    ── in time ───┤──── near ─────────┤──── late ──── result

Chip sensors and a call button keep no perfect order: within a coup the clock decides, whatever the numbers. A stake
recorded before the call, with a later clock, is judged when the call comes. An event numbered after the result
belongs to the next coup, whatever its clock says: otherwise a clock that was set back would let a stake in after the
result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal, TypeAlias

from settlement import acts
from settlement.events import NoMoreBets
from settlement.findings import find
from settlement.payouts import account_of, lift
from settlement.state import Act, StakeChange, Table, Wager

Timing: TypeAlias = Literal["in_time", "near", "late"]


def timing(table: Table, at: datetime) -> Timing:
    """Return how a change at ``at`` stands to the call of this coup; in time as long as there is none."""
    if table.called_at is None or at <= table.called_at or not table.sees("results"):
        return "in_time"  # unseen results open the betting again
    tolerance = timedelta(milliseconds=table.open_session().call_tolerance_ms)
    return "near" if at - table.called_at <= tolerance else "late"


def report_near(table: Table, wager: Wager, at: datetime, change: str, *evidence: int) -> None:
    """Report a change within the tolerance. It counts; the officer may look at the footage."""
    assert table.called_at is not None
    find(
        table,
        "wager-near-call",
        *evidence,
        wager=wager,
        call_seq=table.call,
        event_type=change,
        after_ms=(at - table.called_at) // timedelta(milliseconds=1),
        tolerance_ms=table.open_session().call_tolerance_ms,
    )


def call_no_more_bets(table: Table, event: NoMoreBets) -> None:
    """Close the betting until the next result. Without the family ``calls`` the call closes nothing."""
    session = table.session
    assert session is not None, "only the opener comes before it"
    if not session.calls:
        return
    at = event.occurred_at
    table.call = table.last_call = event.seq
    table.called_at = at
    changes = table.stake_changes
    if not changes:
        return
    table.stake_changes = []
    have_later_clock = [change for change in changes if change.at > at]
    if have_later_clock and table.sees("results"):
        _judge_earlier(table, changes)


def reopen(table: Table) -> None:
    """Open the betting again: after a result, a voided throw or spin, a chip in the wheel."""
    table.call = 0
    table.called_at = None
    if table.stake_changes:
        table.stake_changes = []


def take_back(table: Table, wager: Wager, seq: int, amount: int) -> None:
    """Give the player ``amount`` of an open wager's stake; the wager is withdrawn when nothing is left of it."""
    wager.standing -= amount
    wager.changed_by = seq
    table.ledger.returned += amount
    if wager.standing or wager.account is not None:
        account = account_of(table, wager)
        account.withdrawn += amount
        if account.debt:
            table.moved[wager.id] = None
    if wager.standing:
        return
    wager.status = "withdrawn"
    wager.decided_by = seq
    wager.stake_due = wager.stake
    del table.live[wager.id]
    table.travelling.pop(wager.id, None)
    if wager.commission and table.open_session().commission_refunded_on_withdrawal:
        table.ledger.commissions_kept -= wager.commission
        table.ledger.returned += wager.commission


def _put_back(table: Table, wager: Wager, amount: int) -> None:
    """Undo ``take_back``."""
    wager.standing += amount
    if wager.account is not None:
        wager.account.withdrawn = max(0, wager.account.withdrawn - amount)
    wager.changed_by = table.call
    table.ledger.returned -= amount
    if wager.status == "withdrawn":
        wager.status = "open"
        wager.decided_by = None
        wager.stake_due = 0
        table.live[wager.id] = None
        if wager.commission and table.open_session().commission_refunded_on_withdrawal:
            table.ledger.commissions_kept += wager.commission
            table.ledger.returned -= wager.commission


def _judge_earlier(table: Table, changes: list[StakeChange]) -> None:
    """Judge what was recorded before the call, of which something has a later clock. The last is undone first."""
    late = [change for change in changes if timing(table, change.at) == "late"]
    # Of the withdrawals of a wager one is late: those that are not may have found nothing left to take.
    again = {change.wager for change in late if change.type == "wager.withdrawn"}
    for change in reversed(changes):
        wager = table.wagers[change.wager]
        when = timing(table, change.at)
        if when == "near":
            report_near(table, wager, change.at, change.type, change.seq, table.call)
        if change.type == "wager.withdrawn":
            if change.wager in again and change.amount:
                _put_back(table, wager, change.amount)
        elif when == "late":
            _LATE[change.type](table, wager, change)
    for change in changes:
        if change.type == "wager.withdrawn" and change.wager in again:
            _take_again(table, table.wagers[change.wager], change)


def _take_again(table: Table, wager: Wager, change: StakeChange) -> None:
    if wager.status == "void":  # it was late itself: the player has to take it back
        lift(table, wager, change.seq, change.amount)
        acts.note_return(table, wager.id, change.seq, change.amount)
    elif timing(table, change.at) == "late":
        amount = min(change.requested or wager.standing, wager.standing)
        evidence = wager.placed_by, change.seq, table.call
        lift(
            table,
            wager,
            change.seq,
            amount,
            Act("withdrawal-after-no-more-bets", amount, evidence, {"call_seq": table.call}),
        )
    elif wager.status == "open":
        take_back(table, wager, change.seq, min(change.requested or wager.standing, wager.standing))
        if wager.is_swept and not change.was_swept and not wager.standing:
            account_of(table, wager).withdrawn = 0  # what was swept since lay there


def _placed_late(table: Table, wager: Wager, change: StakeChange) -> None:
    if wager.status not in ("open", "withdrawn"):  # void for another reason
        return
    taken_back = wager.stake - wager.standing
    taken_back_by = wager.changed_by if taken_back else 0
    acts.place_late(table, wager, change.seq, table.call, back=wager.standing, seq=taken_back_by)
    if wager.status == "open":
        table.ledger.returned += wager.standing
        del table.live[wager.id]
    wager.status = "void"
    wager.stake_due = wager.stake  # in how many parts soever it was taken back
    table.travelling.pop(wager.id, None)
    if taken_back:
        wager.standing = wager.stake
        account_of(table, wager).withdrawn = 0
        lift(table, wager, taken_back_by, taken_back)
    wager.changed_by = table.call


def _switched_late(table: Table, wager: Wager, change: StakeChange) -> None:
    switch_to = "on" if wager.working else "off"
    if wager.status == "open":
        find(table, "working-call-late", change.seq, table.call, wager=wager, call_seq=table.call, switch=switch_to)
    wager.switched_late = wager.working
    wager.working = not wager.working
    wager.changed_by = table.call


def _moved_late(table: Table, wager: Wager, change: StakeChange) -> None:
    find(table, "come-moved-to-wrong-number", change.seq, table.call, wager=wager, recorded=wager.number)
    wager.number = change.amount
    wager.throws_before = change.requested
    wager.changed_by = table.call


_LATE: Mapping[str, Callable[[Table, Wager, StakeChange], None]] = MappingProxyType(
    {"wager.placed": _placed_late, "wager.switched": _switched_late, "wager.moved": _moved_late}
)
