"""How a change to an earlier event is judged when it comes, and reported: ``corrections`` says what it does.

By when it comes:

    opener, session.closed, or after the close ───────────────► critical
    after its coup, or after money moved on a wager it touches ► major
    in its coup ──────────────────────────────────────────────► info; major if it changes a wager's outcome and he who
                                                                approved it recorded it
    «Coup nul» for the throw just counted, no money moved ────► no finding

By what it undoes, a result that counted, where anybody's outcome is another by it:

    a slip of the hand: corrected within ``result_slip_s``,
    not announced, no money moved, approved by another ───────► info
    else ─────────────────────────────────────────────────────► major
    announced, or money moved, or nobody else approved it ────► critical

A coup runs from one counted result to the next; a result lies in the coup that it opens. A result counts once it is
recorded as such: a throw that one of its flags voids never did.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, get_args

import msgspec

from settlement.catalogue.rule import Severity
from settlement.corrections import Change, Corrections, Fault, can_remove, fitting, target_of
from settlement.events import (
    OPENERS,
    DisputeSettled,
    EntryAnnulled,
    EntryCorrected,
    Event,
    NoMoreBets,
    SessionClosed,
)
from settlement.events.envelope import VoidingFlag
from settlement.finding import Finding, FindingRef, Outcome
from settlement.findings import find
from settlement.incidents import decides_nothing
from settlement.mentions import mentioned
from settlement.outcomes import Effect
from settlement.state import ActedOn, Table

MONEY = frozenset(("payout.made", "payout.recovered", "stakes.collected", "dispute.settled", "orphan.recorded"))
"""The types of events by which the house moves money or chips of a wager."""

ANNOUNCEMENT = "result.announced"
"""The type of the events by which the players hear a result."""

MOST_GIVEN = 50
"""The outcomes that a finding lists; its sums are those of all."""

VOIDING_FLAGS = frozenset(get_args(VoidingFlag))

UNKNOWN = Effect(undoes=True, changes=True)
"""The effect of a change that was not compared to its end: nothing is excused by it."""


def note(table: Table, event: Event, corrections: Corrections) -> ActedOn:
    """Remember of an event that changes name what they will be judged by."""
    kind = type(event)
    is_for_all = kind.is_result or kind.voids_result is not None or kind is NoMoreBets
    named = mentioned((event, corrections.corrected(event)))
    touches = sorted(named | (set(table.live) if is_for_all else set()))
    naming = corrections.naming(event)
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
        fits=[change.seq for change in naming if fitting(change, event) is not None],
        removed=0 if table.events == 1 else corrections.removed_by(event),
        call=table.call,
        called_at=table.called_at,
        type=event.type,
        at=event.occurred_at,
        reads={
            change.seq: _reads(change, before, after) for change, (_, before), (_, after) in corrections.steps(event)
        },
    )
    for wager_id in touches:
        table.last_money.setdefault(wager_id, 0)
    table.acted_on[event.seq] = noted
    return noted


def _reads(change: Change, before: Event, after: Event) -> list[int | str]:
    """Return how an event reads by ``change``: what of its data is another, or the result that is taken away."""
    if not can_remove(change, before):
        return differences(before, after)
    field = type(before).shows
    return [_plain(getattr(before.data, field))] if before.is_result and field else []


def differences(before: Event, after: Event) -> list[int | str]:
    """Return the fields that two readings of an event differ in: of each its name, and both values, "" for none."""
    was, now = _fields(before), _fields(after)
    rows: list[int | str] = []
    for name in dict.fromkeys([*was, *now]):
        values = was.get(name, msgspec.UNSET), now.get(name, msgspec.UNSET)
        if values[0] != values[1]:
            rows += [name, *map(_plain, values)]
    return rows


def _fields(event: Event) -> dict[str, Any]:
    data = event.data
    return data if isinstance(data, dict) else msgspec.structs.asdict(data)


def _plain(value: object) -> int | str:
    """Return a value of an event as a fact: an amount as it is, anything else as text."""
    if value is msgspec.UNSET:
        return ""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, int | str) for each in value):
        return ("-" if isinstance(value, tuple) else ", ").join(str(each) for each in value)
    return msgspec.json.encode(value).decode().strip('"')


def follow(table: Table, event: Event, corrections: Corrections, found: Sequence[Finding]) -> None:
    """Remember the last counted result, and what was announced and paid since. ``found`` is what ``event`` raised."""
    noted = table.acted_on.get(event.seq)
    if event.is_result:
        table.read = event.seq
    elif event.type == ANNOUNCEMENT and (result := table.acted_on.get(table.read)) is not None:
        result.is_announced = True
    if _moves_money(event):  # one that is annulled moved, too, for whoever undoes a result after it
        ids = mentioned((event, corrections.corrected(event)), table.disputes)
        table.last_money.update((wager_id, event.seq) for wager_id in ids & table.last_money.keys())
    if noted is not None and noted.removed:
        return
    if event.is_result:
        if not any(decides_nothing(finding.rule) for finding in found):
            table.counted = event.seq
            table.money.clear()
            if noted is not None:
                noted.counts = VOIDING_FLAGS.isdisjoint(getattr(event.data, "flags", None) or ())
    elif _moves_money(event):
        ids = mentioned((corrections.corrected(event),), table.disputes)
        table.money += [(event.seq, wager_id) for wager_id in sorted(ids)]


def _moves_money(event: Event) -> bool:
    """Whether chips or money of a wager changed hands; a settlement that nobody approved moves none."""
    is_void = type(event) is DisputeSettled and not (event.data.approved_by and event.data.amount)
    return event.type in MONEY and not is_void


def fault_of(table: Table, change: Change, corrections: Corrections) -> Fault | None:
    """Return why ``change``, which comes now, can have no effect; None if it can."""
    known = corrections.fault(change.seq)
    if known is not None:
        return known
    entry = corrections.entry_of(change.seq)
    noted = table.acted_on.get(entry)
    if noted is None:
        return "unknown_seq"
    if noted.removed and noted.removed < change.seq:
        return "of_annulled"
    if isinstance(change, EntryCorrected):
        return None if change.seq in noted.fits else "other_shape"
    if isinstance(change, EntryAnnulled):
        annulled = corrections.annulled_by(change)
        if annulled:
            return None if annulled in noted.fits else "of_ineffective"
        return "opener" if noted.kind == "opener" else None
    return None if noted.kind == "result" and table.counted <= entry else "not_last_result"


def severity_of(
    table: Table, change: Change, corrections: Corrections, effect: Effect
) -> tuple[Severity | None, list[str]]:
    """Return how grave ``change`` is, None if it is no finding, and what makes a result that it undoes critical."""
    entry = corrections.entry_of(change.seq)
    noted = table.acted_on[entry]
    severity = _by_when(table, change, entry)
    if severity == "critical" or not effect.changes:
        return severity, []
    if noted.kind != "result" or not effect.undoes:
        return ("major" if severity == "info" and approves_himself(change) else severity), []
    grave = [
        name
        for name, holds in (
            ("announced", noted.is_announced),
            ("paid", any(table.last_money.get(wager_id, 0) > entry for wager_id in noted.touches)),
            ("alone", not _is_approved_by_another(change)),
        )
        if holds
    ]
    if grave:
        return "critical", grave
    is_another = isinstance(change, EntryCorrected) or corrections.annulled_by(change) > 0
    return ("info" if severity == "info" and is_another and _is_slip(table, change, noted) else "major"), []


def _by_when(table: Table, change: Change, entry: int) -> Severity | None:
    noted = table.acted_on[entry]
    if noted.kind in ("opener", "close") or table.closed_by:
        return "critical"
    if entry < table.counted or any(_touches(table, noted, entry, moved) for moved in table.money):
        return "major"
    return "info" if isinstance(change, EntryCorrected | EntryAnnulled) else None


def _is_slip(table: Table, change: Change, noted: ActedOn) -> bool:
    """Whether ``change`` comes so soon after the result that it is a slip of the hand, by the clocks of both."""
    assert noted.at is not None, "noted with its clock"
    return timedelta() <= change.occurred_at - noted.at <= timedelta(seconds=table.open_session().result_slip_s)


def _touches(table: Table, noted: ActedOn, entry: int, moved: tuple[int, str]) -> bool:
    seq, wager_id = moved
    if seq <= entry:
        return False
    wager = table.wagers.get(wager_id)
    placed_since = noted.kind == "call" and wager is not None and wager.placed_by > entry
    return placed_since or wager_id in noted.touches


def restore_call(table: Table, change: Change) -> None:
    """Let a voiding find the call that stood at its throw, after which the betting was opened again."""
    noted = table.acted_on[target_of(change) or 0]
    if not table.call:
        table.call, table.called_at = noted.call, noted.called_at


def approves_himself(change: Change) -> bool:
    """Whether the person who recorded ``change`` approved it."""
    approved_by = approver_of(change)
    return approved_by is not None and approved_by == change.actor


def approver_of(change: Change) -> str | None:
    """Return who approved ``change``; None if nobody did, as a voiding need not say."""
    approved_by = getattr(change.data, "approved_by", None)
    return approved_by if isinstance(approved_by, str) else None


def _is_approved_by_another(change: Change) -> bool:
    return approver_of(change) is not None and not approves_himself(change)


def ref_of(change: Change) -> FindingRef:
    """Return what names the finding about ``change``."""
    return FindingRef("entry-corrected" if isinstance(change, EntryCorrected) else "entry-annulled", change.seq)


def report_fault(table: Table, change: Change, fault: Fault) -> None:
    """Report a change that changes nothing."""
    find(
        table,
        "correction-without-effect",
        change.seq,
        corrects=target_of(change),
        fault=fault,
        recourse=fault,
    )


def report(
    table: Table,
    change: Change,
    corrections: Corrections,
    severity: Severity,
    effect: Effect,
    grave: Sequence[str],
    *,
    waits: bool,
) -> None:
    """Report a change that takes effect, or waits for its approval."""
    entry = corrections.entry_of(change.seq)
    annulled = corrections.annulled_by(change)
    approved_by = approver_of(change)
    entered = change.data if isinstance(change, EntryCorrected | EntryAnnulled) else None
    find(
        table,
        ref_of(change).rule,
        entry,
        annulled,
        change.seq,
        severity=severity,
        corrects=entry,
        annulled=annulled or None,
        reason=getattr(change.data, "reason", None),  # some events that void give one
        approved_by=approved_by,
        announced_by=getattr(change.data, "announced_by", None) if approved_by is None else None,
        waits="waits" if waits else None,
        grave=list(grave) or None,
        **_entry_facts(table.acted_on[entry], change, is_read_again=annulled > 0),
        **_outcome_facts(effect.outcomes),
    )
    if entered is not None and not waits:
        name = "corrects" if isinstance(change, EntryCorrected) else "annuls"
        table.corrections.append(
            {
                "seq": change.seq,
                name: target_of(change) or 0,
                "reason": entered.reason,
                "approved_by": entered.approved_by,
            }
        )


def _entry_facts(noted: ActedOn, change: Change, *, is_read_again: bool) -> dict[str, Any]:
    """Return what an entry was, and from what to what ``change`` makes it."""
    reads = noted.reads.get(change.seq, [])
    if isinstance(change, EntryCorrected) or is_read_again:
        return {"entry_type": None if is_read_again else noted.type, "changed": reads or None}
    return {"result": reads[0]} if reads else {"entry_type": noted.type}


def _outcome_facts(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return whose outcome is another, and in whose favour all of them are together, in minor units."""
    if not outcomes:
        return {}
    before, after = sum(each.before for each in outcomes), sum(each.after for each in outcomes)
    return {
        "outcomes": [value for each in outcomes[:MOST_GIVEN] for value in each.written()],
        "outcome_count": len(outcomes),
        "sum_before": before,
        "sum_after": after,
        "shift": abs(after - before) or None,
        "favoured": "players" if after > before else "house" if after < before else None,
    }
