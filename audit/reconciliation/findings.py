"""Findings of a night: the rules of the reconciliation. Questions are the evidence ledger's.

A finding that a later run of the same night no longer raises is superseded; one that it raises again stands again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from audit.models import Finding, LoggedStream
from audit.reconciliation import slips
from audit.reconciliation.gaming_days import has_ended
from audit.reconciliation.instants import dated
from audit.reconciliation.night import Night, SessionResult
from audit.reconciliation.stored_findings import replace_findings
from audit.transparency.integrity_findings import integrity_finding
from settlement.catalogue.record import RECONCILIATION
from settlement.catalogue.sentences import minor_units
from settlement.night.croupiers import Tally

RETIRED = "hold-outside-interval"
"""No longer raised: `table-luck` of the ledger takes its place. A night that is run again supersedes it."""

NIGHT_RULES = (*(rule.name for rule in RECONCILIATION), RETIRED)

CRITICAL_FROM_UNITS = 100
"""Whole units of the currency from which an accounting variance is critical."""


def raise_findings(night: Night, now: datetime) -> int:
    """Store the findings of a night, supersede those it no longer has, and return how many stand.

    A count is missing once the gaming day has ended or the day's count is closed.
    """
    streams = [*night.stream_ids, *night.counts.of_day]
    return replace_findings(dated([*_findings(night, now)]), streams=streams, rules=NIGHT_RULES)


def _findings(night: Night, now: datetime) -> Iterator[Finding]:
    by_name = {result.stream.name: result for result in night.sessions}
    for result in night.sessions:
        yield from _of_bank(night, result, now)
    yield from _of_slips(night, by_name)
    yield from _of_late_counts(night)


def _finding(
    stream: LoggedStream,
    rule: str,
    seq: int,
    *,
    evidence: Iterable[int] = (),
    facts: dict[str, Any] | None = None,
    **values: Any,
) -> Finding:
    finding = integrity_finding(stream, rule, seq, occurred_at=stream.opened_at, facts=facts or {}, **values)
    finding.evidence = sorted({*evidence, seq})
    return finding


def _of_bank(night: Night, result: SessionResult, now: datetime) -> Iterator[Finding]:
    bridge, figures = result.bridge, result.figures
    opened = bridge.bank.opening_float
    if result.previous is not None and result.previous.amount != opened:
        yield _finding(
            result.stream,
            "opener-differs-from-closer",
            1,
            expected=result.previous.amount,
            recorded=opened,
            facts={"previous_stream": result.previous.stream},
        )
    day = {"gaming_day": night.day.isoformat()}
    if result.drop is None and (night.counts.is_closed or has_ended(night.casino, night.day, now)):
        yield _finding(result.stream, "count-missing", result.end, facts=day)
    variance = bridge.accounting_variance
    if variance and figures.is_money_seen:
        finding = _finding(
            result.stream,
            "accounting-variance",
            result.end,
            expected=bridge.recorded.total,
            recorded=bridge.bank.accounting_win,
            facts=day,
        )
        if abs(variance) >= minor_units(CRITICAL_FROM_UNITS, night.currency):
            finding.severity = "critical"
        yield finding


def _of_slips(night: Night, by_name: dict[str, SessionResult]) -> Iterator[Finding]:
    used = night.slips
    for duplicate in slips.duplicates(used):
        again, first = duplicate.again, duplicate.first
        facts: dict[str, Any] = {"slip": again.slip.slip}
        evidence: list[int] = []
        if first.stream == again.stream:
            facts["first_seq"] = first.slip.seq
            evidence = [first.slip.seq]
        else:
            facts["first_stream"] = first.stream
        stream = by_name[again.stream].stream
        yield _finding(stream, "slip-number-duplicated", again.slip.seq, evidence=evidence, facts=facts)
    for reuse in slips.reuses(used, night.earlier.uses):
        stream, slip, earlier = by_name[reuse.again.stream].stream, reuse.again.slip, reuse.earlier
        facts = {"slip": slip.slip, "first_stream": earlier.stream, "first_seq": earlier.seq}
        yield _finding(stream, "slip-reused", slip.seq, facts=facts | {"first_day": earlier.gaming_day})
    for gap in slips.gaps(used, night.earlier.reached):
        stream = by_name[gap.next_use.stream].stream
        facts = {"slip": gap.label} | ({"since": gap.since} if gap.since else {})
        yield _finding(stream, "slip-number-missing", gap.next_use.slip.seq, facts=facts)


def _of_late_counts(night: Night) -> Iterator[Finding]:
    streams = LoggedStream.objects.in_bulk({late.entry.stream_id for late in night.late_counts})
    for late in night.late_counts:
        facts = {"session": late.session, "gaming_day": late.gaming_day.isoformat(), "days": abs(late.days)}
        stream = streams[late.entry.stream_id]
        yield _finding(stream, "count-opened-late", late.entry.seq, recorded=late.entry.amount, facts=facts)


def croupier_tallies(night: Night) -> dict[str, tuple[Tally, tuple[SessionResult, int] | None]]:
    """Return each croupier's payouts and errors of a night, with session and seq of the last error, or None."""
    tallies: dict[str, tuple[Tally, tuple[SessionResult, int] | None]] = {}
    for result in night.sessions:
        for croupier, paid in result.figures.croupiers.items():
            tally, last_error = tallies.get(croupier, (Tally(0), None))
            total = add_tallies(tally, Tally(paid.payouts, paid.for_house, paid.for_player))
            tallies[croupier] = (total, (result, paid.last_error) if paid.last_error else last_error)
    return tallies


def dealt_of(night: Night) -> dict[str, list[dict[str, Any]]]:
    """Return what each croupier dealt in a night, table by table; nobody of a night with figures of before duty."""
    by_croupier: dict[str, dict[str, dict[str, Any]]] = {}
    for result in night.sessions:
        figures = result.figures
        if figures.duty is None:
            return {}
        for croupier in {*figures.duty, *figures.croupiers}:
            row = by_croupier.setdefault(croupier, {}).setdefault(
                figures.table, {"table": figures.table, "game": figures.game, "coups": 0, "seconds": 0, "errors": 0}
            )
            duty, paid = figures.duty.get(croupier), figures.croupiers.get(croupier)
            row["coups"] += duty.coups if duty is not None else 0
            row["seconds"] += duty.seconds if duty is not None else 0
            row["errors"] += paid.for_house + paid.for_player if paid is not None else 0
    return {croupier: [tables[name] for name in sorted(tables)] for croupier, tables in by_croupier.items()}


def add_tallies(*tallies: Tally) -> Tally:
    """Return the sum of tallies, ``Tally(0)`` for none."""
    return Tally(*(sum(counts) for counts in zip(Tally(0), *tallies, strict=True)))
