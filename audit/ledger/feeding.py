"""Feeding the ledger of a casino: each finished session, night and count once, in order.

    next close in the tree ─► what the session gives it, read once ─► hold the casino's cursor ─► processes, points,
                                                                        questions, batch, cursor: one transaction

The row ``LedgerCursor`` is held while a batch is fed and moves in the same transaction, so a batch is fed whole or not
at all, once, however many workers try and wherever one dies. A later correction does not rewind a process.

A batch that cannot be read or fed is set aside with its error and tried again after growing pauses; no other waits for
it. It has its place in the order when it is fed.

A session feeds its wheel, dice and table at once, and persons when its gaming day has ended (``evenings``). After the
sessions come the nights whose sessions are all counted: the payouts of a night, which are compared within it, and the
accounting variance of each of its sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import msgspec
import structlog
from django.db import transaction
from django.utils import timezone

from audit.adjudication.stream_reader import gc_paused
from audit.event_store import binary_copy
from audit.ledger import evenings, nights, order, set_aside
from audit.ledger.expected import stated_of
from audit.ledger.questions import ask
from audit.ledger.set_aside import error_of
from audit.models import (
    BatchKind,
    Casino,
    GamingTable,
    LedgerBatch,
    LedgerCursor,
    LedgerLevel,
    LedgerPoint,
    LedgerProcess,
    LedgerSetAside,
    LedgerYear,
    LoggedStream,
)
from audit.models.ledger import BY_PERSON, kept
from audit.reconciliation import kept as night_kept
from audit.reconciliation import sessions
from audit.reconciliation.sessions import StreamLocked
from settlement import ENGINE_VERSION
from settlement.eprocess.budget import as_stated, expected_at_first
from settlement.eprocess.channels import Fed, of_evening, of_payouts, of_session, of_variance
from settlement.eprocess.explanations import counted_in
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import EDITION, Ledger, name_of
from settlement.eprocess.observations import Payout, decode
from settlement.eprocess.process import Process

log = structlog.get_logger(__name__)

_FED = ["state", "wealth", "highest", "opening", "year", "alpha", "draws", "sessions", "first_day"]
"""What a batch may change of a process."""


def feed(casino: Casino) -> int:
    """Feed everything that is known of a casino and was not fed, and return how many batches that is.

    Of a sandbox nothing is. What another worker feeds meanwhile is left to it. A session that another worker
    adjudicates is waited for: what comes after it is fed when it was.
    """
    fed = 0
    if casino.is_sandbox:
        return fed
    try:
        for _session in _fed_sessions(casino):
            fed += 1
        for row in nights.unfed(casino):
            fed += _feed_or_set_aside(casino, row, year_of(casino, timezone.now()))
    except StreamLocked:
        log.info("ledger waits", casino=casino.code)
    return fed


def feed_sessions(casino: Casino) -> int:
    """Feed the finished sessions that were not fed, and return how many: what a night's report waits for.

    No report waits for a ledger that cannot be fed: it says which sessions are not in it.
    """
    fed = 0
    try:
        for _session in _fed_sessions(casino):
            fed += 1
    except StreamLocked:
        log.info("ledger waits", casino=casino.code)
    except Exception:
        log.exception("ledger not fed", casino=casino.code)
    return fed


def _fed_sessions(casino: Casino) -> Iterator[bool]:
    LedgerCursor.objects.get_or_create(casino=casino)
    for each in set_aside.due(casino):
        for row in _read_again(each):
            if _feed_or_set_aside(casino, row, year_of(casino, timezone.now())):
                yield True
    yield from _fed_in_order(casino)
    for evening in evenings.unfed(casino):
        if _feed_or_set_aside(casino, evening, year_of(casino, timezone.now())):
            yield True


def _read_again(each: LedgerSetAside) -> list[LedgerBatch]:
    """Return the batches that a row of those set aside stands for. Raise ``StreamLocked``."""
    if each.kind == BatchKind.PAYOUTS and not each.content:
        return nights.again(each)
    if each.kind in BY_PERSON:
        again = evenings.of_day(each.casino, each.gaming_day)
        again.kind, again.stream, again.last_seq = BatchKind(each.kind), each.stream, each.last_seq
        return [again]
    row = each.as_batch()
    if not row.content:
        assert row.stream_id is not None, "a session is read from its stream"
        row.content, row.error = _read(row.stream_id, row.last_seq)
    return [row]


def year_of(casino: Casino, at: datetime) -> int:
    """Return the year of the casino's budget that an instant is in."""
    return at.astimezone(ZoneInfo(casino.time_zone)).year


def _fed_in_order(casino: Casino) -> Iterator[bool]:
    """Feed the sessions that come next in the tree, and yield for each. Raise ``StreamLocked``.

    What several of them give is looked up at once. Where one is set aside, or another worker has gone on, what comes
    next is looked for again.
    """
    while True:
        from_leaf = LedgerCursor.objects.values_list("next_leaf", flat=True).get(casino=casino)
        closes, next_leaf = order.next_closes(casino.pk, from_leaf)
        if not closes:
            _move(casino, from_leaf, next_leaf)
            return
        stored = dict(night_kept.evidence_of({close.stream_id: close.seq for close in closes}))
        streams = LoggedStream.objects.in_bulk([close.stream_id for close in closes])
        for close in closes:
            row = _session(casino, streams[close.stream_id], close, stored.get(close.stream_id))
            leaves = from_leaf, close.log_index + 1
            is_fed = _feed_or_set_aside(casino, row, year_of(casino, close.received_at), leaves=leaves)
            yield True
            if not is_fed:
                break
            from_leaf = leaves[1]


def _session(casino: Casino, stream: LoggedStream, close: order.Close, stored: bytes | None) -> LedgerBatch:
    """Return the batch of a session: read up to its close, with the corrections that were known by then.

    ``stored`` is what it gives, where that is stored. Raise ``StreamLocked``.
    """
    content, error = (stored, "") if stored is not None else _read(close.stream_id, close.seq)
    return LedgerBatch(
        casino=casino,
        kind=BatchKind.DRAWS,
        gaming_day=stream.gaming_day,
        currency=stream.currency,
        stream=stream,
        last_seq=close.seq,
        log_index=close.log_index,
        engine_version=ENGINE_VERSION,
        content=content,
        error=error,
    )


def _read(stream_id: int, last_seq: int) -> tuple[bytes, str]:
    """Return what a session gives, or why it cannot be read. Raise ``StreamLocked``."""
    try:
        return sessions.evidence_of(stream_id, last_seq), ""
    except StreamLocked:
        raise
    except Exception as failure:
        return b"", error_of(failure)


def _feed_or_set_aside(casino: Casino, row: LedgerBatch, year: int, *, leaves: tuple[int, int] | None = None) -> bool:
    """Feed one batch, or set it aside if that raises, and return whether it was fed here.

    ``leaves``: from where to where the cursor moves.
    """
    if not row.error:
        try:
            with gc_paused():
                return _feed(casino, row, year, list(batches_of(row)), leaves=leaves)
        except StreamLocked:
            raise
        except Exception as failure:
            row.error = error_of(failure)
    with transaction.atomic():
        cursor = LedgerCursor.objects.select_for_update().get(casino=casino)
        if leaves is None or cursor.next_leaf == leaves[0]:
            set_aside.keep(row)
            cursor.next_leaf = cursor.next_leaf if leaves is None else leaves[1]
            cursor.save(update_fields=["next_leaf"])
    return False


def batches_of(batch: LedgerBatch, instead: Mapping[int, bytes] | None = None) -> Iterable[Fed]:
    """Return what a batch feeds, by process; ``instead``: other readings of sessions than were fed, by stream."""
    content = bytes(batch.content)
    match batch.kind:
        case BatchKind.DRAWS:
            return of_session(decode((instead or {}).get(batch.stream_id or 0, content)))
        case BatchKind.EVENING | BatchKind.LATE:
            return of_evening(evenings.observations_of(batch, instead))
        case BatchKind.PAYOUTS:
            return of_payouts(msgspec.json.decode(content, type=list[Payout]))
        case BatchKind.COUNT:
            count = msgspec.json.decode(content, type=nights.CountedSession)
            return of_variance(count.table, count.team, count.shift, count.variance, count.others)
        case _:
            raise AssertionError(f"no batch of the ledger is {batch.kind}")


@transaction.atomic
def _feed(
    casino: Casino, row: LedgerBatch, year: int, seen: list[Fed], *, leaves: tuple[int, int] | None = None
) -> bool:
    """Feed one batch, and return whether it was: not if another worker has fed it meanwhile."""
    cursor = LedgerCursor.objects.select_for_update().get(casino=casino)
    if leaves is not None:
        if cursor.next_leaf != leaves[0]:  # another worker has gone on: look again
            return False
        cursor.next_leaf = leaves[1]
    elif nights.is_fed(row) or (row.kind in BY_PERSON and not evenings.is_whole(row)):
        return False
    set_aside.end(row)
    ledger = _ledger_of(casino, cursor, year)
    held = _hold_processes(casino, ledger, seen)
    cursor.number += 1
    row.number, row.year = cursor.number, ledger.year
    binary_copy.insert(row)
    before = {name: process.draws for name, process in ledger.processes.items()}
    questions = ledger.feed(seen, session=row.stream.name if row.stream is not None else row.gaming_day.isoformat())
    rows = _keep(casino, ledger, held, row.gaming_day)
    counted = {name_of(fed): counted_in(fed.kind, fed.seen) for fed in seen}
    LedgerPoint.objects.bulk_create(
        LedgerPoint(
            process=rows[name],
            batch=row,
            draws=process.draws - before.get(name, 0),
            wealth=rows[name].wealth,
            counts=counted[name],
        )
        for name, process in ledger.processes.items()
    )
    for question in questions:
        ask(rows[name_of(question.process)], row, question)
    if (ledger.year, ledger.expected, EDITION) != (cursor.year, cursor.expected, cursor.edition):
        known = {"budget": ledger.budget, "expected": ledger.expected}
        LedgerYear.objects.create(casino=casino, year=ledger.year, **known)
    cursor.year, cursor.budget, cursor.ranks, cursor.edition = ledger.year, ledger.budget, ledger.ranks, EDITION
    cursor.expected = ledger.expected
    cursor.save()
    return True


def _move(casino: Casino, from_leaf: int, next_leaf: int) -> None:
    """Note that there is no close up to ``next_leaf``."""
    if next_leaf > from_leaf:
        LedgerCursor.objects.filter(casino=casino, next_leaf=from_leaf).update(next_leaf=next_leaf)


def _ledger_of(casino: Casino, cursor: LedgerCursor, year: int) -> Ledger:
    """Return the pure ledger as far as the cursor says: its year, budget and ranks. A year never goes back.

    Subjects of another edition do not count: the levels of an edition add up to the budget by themselves. How many
    are expected is stated once a year, before any draw of it is looked at.
    """
    is_begun = cursor.edition == EDITION and bool(cursor.expected)
    ranks = dict(cursor.ranks) if cursor.edition == EDITION else {}
    expected = cursor.expected
    if not is_begun:
        at_first = expected_at_first(GamingTable.objects.filter(casino=casino).count())
        expected = as_stated(at_first, stated_of(casino, cursor.year)) if cursor.year else at_first
    ledger = Ledger(year=cursor.year, budget=cursor.budget, ranks=ranks, expected=expected)
    if year > cursor.year:
        ledger.begin_year(year, stated_of(casino, year))
        # Held until this transaction ends, so that the budget of the year is one.
        allowed = Casino.objects.values_list("false_questions", flat=True).get(pk=casino.pk)
        ledger.budget = str(Fraction(allowed))
    return ledger


def _hold_processes(casino: Casino, ledger: Ledger, seen: list[Fed]) -> dict[str, LedgerProcess]:
    """Lock the processes that a batch feeds, and put them into the pure ledger."""
    names = {name_of(fed) for fed in seen}
    current = LedgerProcess.objects.going_on().filter(casino=casino, name__in=names).order_by("pk")
    held = {row.name: row for row in current.select_for_update()}
    for name, row in held.items():
        ledger.processes[name] = msgspec.json.decode(bytes(row.state), type=Process)
    return held


def _keep(casino: Casino, ledger: Ledger, held: dict[str, LedgerProcess], day: date) -> dict[str, LedgerProcess]:
    """Store every process that was fed, and its level where its year begins, and return the rows by name."""
    begun = {name: _begun(casino, process, day) for name, process in ledger.processes.items() if name not in held}
    earlier = LedgerProcess.objects.filter(casino=casino, name__in=begun).order_by()  # not by casino: that is a join
    for name in earlier.values_list("name", flat=True):
        begun[name].generation += 1
    rows, levels = held | begun, []
    for name, process in ledger.processes.items():
        row = rows[name]
        if name in begun or row.year != process.year:
            opening = kept(process.opening)
            levels.append(LedgerLevel(process=row, year=process.year, alpha=process.alpha, opening=opening))
        row.state = msgspec.json.encode(process, order="sorted")
        row.wealth, row.highest, row.opening = kept(process.evidence), kept(process.highest), kept(process.opening)
        row.year, row.alpha, row.draws = process.year, process.alpha, process.draws
        row.sessions += 1
        row.first_day = min(row.first_day, day)
        if name in held:
            row.save(update_fields=_FED)
    LedgerProcess.objects.bulk_create(begun.values())
    LedgerLevel.objects.bulk_create(levels)
    return rows


def _begun(casino: Casino, process: Process, day: date) -> LedgerProcess:
    """Return the row of a process that begins, the first of its name."""
    return LedgerProcess(
        casino=casino,
        name=name_of(process),
        kind=process.kind,
        subject=process.subject,
        variant=process.variant,
        null=KINDS[process.kind].null,
        first_day=day,
    )
