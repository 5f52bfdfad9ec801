"""Findings of a night: the reconciliation rules and the statistical questions, as the rules say them.

What a later run of the same night no longer finds is superseded; what it finds again stands again. A statistical line
is a question: severity *information*, with its level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.adjudication.findings import IDENTITY
from audit.event_store import read
from audit.models import Finding
from audit.reconciliation import slips
from audit.reconciliation.gaming_days import has_ended
from audit.reconciliation.night import ONE_SIDED, QUESTION, Night, SessionResult
from audit.transparency.integrity_findings import integrity_finding
from settlement import decode
from settlement.catalogue.record import QUESTIONS, RECONCILIATION
from settlement.catalogue.sentences import minor_units
from settlement.night.croupiers import Tally, one_sidedness
from settlement.night.figures import NOBODY
from settlement.night.variance import hold_interval

RULES_OF_THE_NIGHT = tuple(rule.name for rule in (*RECONCILIATION, *QUESTIONS))

CRITICAL_FROM_UNITS = 100
"""Units of currency from which on an accounting variance is critical."""

FOUND_ANEW = ("severity", "evidence", "expected", "recorded", "facts", "currency", "occurred_at")


def raise_findings(night: Night, now: datetime) -> int:
    """Let the findings of a night stand that it now has, and supersede those it no longer has; return how many stand.

    A missing count is found once the gaming day has ended or its count is closed.
    """
    found = list(_found(night, now))
    with transaction.atomic():
        of_night = Finding.objects.filter(
            stream_id__in=night.streams, rule__in=RULES_OF_THE_NIGHT, run=0
        ).select_for_update()
        standing = {_identity(row): row for row in of_night}
        wanted = {_identity(row): row for row in found}
        gone = [row.pk for key, row in standing.items() if key not in wanted and row.superseded_at is None]
        Finding.objects.filter(pk__in=gone).update(superseded_at=timezone.now())
        Finding.objects.bulk_create(
            wanted.values(),
            update_conflicts=True,
            unique_fields=IDENTITY,
            update_fields=[*FOUND_ANEW, "superseded_at"],
            batch_size=1_000,
        )
    return len(wanted)


def _identity(row: Finding) -> tuple[Any, ...]:
    return (row.stream_id, row.seq, row.rule, row.wager, row.ruleset, row.engine_version)


def _found(night: Night, now: datetime) -> Iterator[Finding]:
    by_name = {sitting.stream.name: sitting for sitting in night.sittings}
    for sitting in night.sittings:
        yield from _of_bank(night, sitting, now)
        yield from _of_hold(sitting)
    yield from _of_slips(night, by_name)
    yield from _of_fairness(night, by_name)
    yield from _of_croupiers(night)


def _at(sitting: SessionResult, rule: str, seq: int, *, evidence: Iterable[int] = (), **said: Any) -> Finding:
    stored = read.events_at(sitting.stream.stream_id, [seq]).get(seq)
    occurred_at = decode(stored).occurred_at if stored else sitting.stream.opened_at
    facts = said.pop("facts", {})
    finding = integrity_finding(sitting.stream, rule, seq, occurred_at=occurred_at, facts=facts, **said)
    finding.evidence = sorted({*evidence, seq})
    return finding


def _of_bank(night: Night, sitting: SessionResult, now: datetime) -> Iterator[Finding]:
    bridge, figures = sitting.bridge, sitting.figures
    opened = bridge.bank.opening_float
    if sitting.before is not None and sitting.before.amount != opened:
        yield _at(
            sitting,
            "opener-differs-from-closer",
            1,
            expected=sitting.before.amount,
            recorded=opened,
            facts={"previous_stream": sitting.before.stream},
        )
    day = {"gaming_day": night.day.isoformat()}
    if sitting.drop is None and (night.counts.is_closed or has_ended(night.casino, night.day, now)):
        yield _at(sitting, "count-missing", sitting.end, facts=day)
    variance = bridge.accounting_variance
    if variance and figures.is_adjudicated:
        finding = _at(
            sitting,
            "accounting-variance",
            sitting.end,
            expected=bridge.recorded.total,
            recorded=bridge.bank.accounting_win,
            facts=day,
        )
        if abs(variance) >= minor_units(CRITICAL_FROM_UNITS, night.currency):
            finding.severity = "critical"
        yield finding


def _of_slips(night: Night, by_name: dict[str, SessionResult]) -> Iterator[Finding]:
    used = slips.uses(sitting.figures for sitting in night.sittings)
    for double in slips.doubles(used):
        facts: dict[str, Any] = {"slip": double.again.slip.slip}
        evidence: list[int] = []
        if double.first.stream == double.again.stream:
            facts["first_seq"] = double.first.slip.seq
            evidence = [double.first.slip.seq]
        else:
            facts["first_stream"] = double.first.stream
        sitting = by_name[double.again.stream]
        yield _at(sitting, "slip-number-duplicated", double.again.slip.seq, evidence=evidence, facts=facts)
    for hole in slips.holes(used):
        sitting = by_name[hole.after.stream]
        facts = {"slip": hole.written}
        yield _at(sitting, "slip-number-missing", hole.after.slip.seq, facts=facts)


def _of_hold(sitting: SessionResult) -> Iterator[Finding]:
    bridge = sitting.bridge
    hold = bridge.hold
    if hold is None or not bridge.bank.drop or not sitting.figures.is_adjudicated:
        return
    interval = hold_interval(bridge.theoretical, sitting.figures.variance, bridge.bank.drop, QUESTION)
    if interval is None or interval.holds(hold):
        return
    yield _at(
        sitting,
        "hold-outside-interval",
        sitting.end,
        expected=f"{percent(interval.low)} … {percent(interval.high)}",
        recorded=percent(hold),
        facts={"gaming_day": sitting.stream.gaming_day.isoformat(), "level": percent(1 - QUESTION)},
    )


def _of_fairness(night: Night, by_name: dict[str, SessionResult]) -> Iterator[Finding]:
    for test in night.tests:
        sitting = by_name.get(test.asked_in or "")
        if sitting is None:  # it does not ask, or did so on an earlier night
            continue
        rule = "wheel-fairness" if test.kind == "wheel" else "dice-fairness"
        draws = "spins" if test.kind == "wheel" else "throws"
        facts = {draws: test.fairness.draws, "p_value": decimal(test.fairness.p_value, 6)}
        yield _at(sitting, rule, test.asked_at, facts=facts)


def _of_croupiers(night: Night) -> Iterator[Finding]:
    for who, (tally, last) in sorted(tallies(night).items()):
        p_value = one_sidedness(tally)
        if who == NOBODY or last is None or p_value >= ONE_SIDED:
            continue
        sitting, seq = last
        facts = {
            "for_players": tally.for_player,
            "for_house": tally.for_house,
            "p_value": decimal(p_value, 6),
            "croupier": who,
        }
        yield _at(sitting, "payout-errors-one-sided", seq, facts=facts)


def tallies(night: Night) -> dict[str, tuple[Tally, tuple[SessionResult, int] | None]]:
    """Return what each croupier paid in a night, with the session and event of the last error."""
    found: dict[str, tuple[Tally, tuple[SessionResult, int] | None]] = {}
    for sitting in night.sittings:
        for who, paid in sitting.figures.croupiers.items():
            tally, last = found.get(who, (Tally(0), None))
            together = Tally(
                tally.payouts + paid.payouts, tally.for_house + paid.for_house, tally.for_player + paid.for_player
            )
            found[who] = (together, (sitting, paid.last_error) if paid.last_error else last)
    return found


def decimal(exact: Fraction, places: int) -> str:
    """Write a share between 0 and 1 with so many decimals, rounded up: a p-value is never flattered."""
    units = -(-exact.numerator * 10**places // exact.denominator)
    return f"{units // 10**places}.{units % 10**places:0{places}}"


def percent(share: Fraction) -> str:
    """Write a share as a percentage with two decimals, rounded to the nearest."""
    hundredths = round(share * 10_000)
    sign = "−" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02} %"
