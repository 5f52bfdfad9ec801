"""How a change to an earlier event is judged when it comes, and reported: ``corrections`` says what it does.

    opener, session.closed, or after the close ───────────────► critical
    after its coup, or after money moved on a wager it touches ► major
    in its coup ──────────────────────────────────────────────► info; major if it changes a wager's outcome and he who
                                                                approved it recorded it
    «Coup nul» for the throw just counted, no money moved ────► no finding

A coup runs from one counted result to the next; a result lies in the coup that it opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from settlement.catalogue.rule import Severity
from settlement.corrections import Change, Corrections, Fault, fitting, target_of
from settlement.events import (
    OPENERS,
    EntryAnnulled,
    EntryCorrected,
    Event,
    NoMoreBets,
    SessionClosed,
)
from settlement.state import ActedOn, Table, find

MONEY = frozenset(("payout.made", "payout.recovered", "stakes.collected"))
"""The types of events that move money."""

Outcomes: TypeAlias = Mapping[str, tuple[object, ...]]


def note(table: Table, event: Event, corrections: Corrections, mentioned: set[str]) -> ActedOn:
    """Remember of an event that changes name what they will be judged by. ``mentioned`` are the wagers it names."""
    kind = type(event)
    is_for_all = kind.is_result or kind.voids_result is not None or kind is NoMoreBets
    touches = sorted(mentioned | (set(table.live) if is_for_all else set()))
    noted = ActedOn(
        kind="opener"
        if kind in OPENERS or table.events == 1
        else "close"
        if kind is SessionClosed
        else "call"
        if kind is NoMoreBets
        else "result"
        if kind.is_result
        else "other",
        touches=touches,
        fits=[change.seq for change in corrections.naming(event) if fitting(change, event) is not None],
        removed=0 if table.events == 1 else corrections.removed_by(event),
        call=table.call,
        called_at=table.called_at,
    )
    table.acted_on[event.seq] = noted
    return noted


def fault_of(table: Table, change: Change, corrections: Corrections) -> Fault | None:
    """Return why ``change``, which comes now, can have no effect; None if it can."""
    target = target_of(change) or 0
    known = corrections.fault(change.seq)
    if known is not None:
        return known
    noted = table.acted_on.get(target)
    if noted is None:
        return "unknown_seq"
    if noted.removed and noted.removed != change.seq:
        return "of_annulled"
    if isinstance(change, EntryCorrected):
        return None if change.seq in noted.fits else "other_shape"
    if isinstance(change, EntryAnnulled):
        return "opener" if noted.kind == "opener" else None
    return None if noted.kind == "result" and table.counted <= target else "not_last_result"


def severity_of(table: Table, change: Change) -> Severity | None:
    """Return how grave ``change`` is by when it comes; None if it is no finding."""
    target = target_of(change) or 0
    noted = table.acted_on[target]
    if noted.kind in ("opener", "close") or table.closed_by:
        return "critical"
    if target < table.counted or any(_touches(table, noted, target, moved) for moved in table.money):
        return "major"
    return "info" if isinstance(change, EntryCorrected | EntryAnnulled) else None


def _touches(table: Table, noted: ActedOn, target: int, moved: tuple[int, str]) -> bool:
    seq, wager_id = moved
    if seq <= target:
        return False
    wager = table.wagers.get(wager_id)
    placed_since = noted.kind == "call" and wager is not None and wager.placed_by > target
    return placed_since or wager_id in noted.touches


def restore_call(table: Table, change: Change) -> None:
    """Let a voiding find the call that stood at its throw, after which the betting was opened again."""
    noted = table.acted_on[target_of(change) or 0]
    if not table.call:
        table.call, table.called_at = noted.call, noted.called_at


def approves_himself(change: Change) -> bool:
    """Whether the person who recorded ``change`` approved it."""
    return isinstance(change, EntryCorrected | EntryAnnulled) and change.data.approved_by == change.actor


def outcomes(table: Table, wagers: set[str]) -> Outcomes:
    """Return what becomes of ``wagers``, so far, and the point that others wait for."""
    held = {wager_id: table.wagers[wager_id] for wager_id in wagers & table.wagers.keys()}
    found: dict[str, tuple[object, ...]] = {
        wager.id: (
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
        for wager in held.values()
    }
    return found | {"": (table.point,)} if table.live else found


def report_fault(table: Table, change: Change, fault: Fault) -> None:
    """Report a change that changes nothing."""
    find(table, "correction-without-effect", change.seq, corrects=target_of(change), fault=fault)


def report(table: Table, change: Change, severity: Severity, *, waits: bool) -> None:
    """Report a change that takes effect, or waits for its approval."""
    target = target_of(change) or 0
    rule = "entry-corrected" if isinstance(change, EntryCorrected) else "entry-annulled"
    entry = change.data if isinstance(change, EntryCorrected | EntryAnnulled) else None
    find(
        table,
        rule,
        target,
        change.seq,
        severity=severity,
        corrects=target,
        reason=getattr(change.data, "reason", None),  # some events that void give one
        approved_by=entry.approved_by if entry is not None else None,
        waits="waits" if waits else None,
    )
    if entry is not None and not waits:
        name = "corrects" if isinstance(change, EntryCorrected) else "annuls"
        table.corrections.append(
            {"seq": change.seq, name: target, "reason": entry.reason, "approved_by": entry.approved_by}
        )
