"""The twelve lines of a night: what was expected, what was found, the verdict, and the events that show it.

A row is plain data without words: ``note`` names a sentence of ``wording``, ``facts`` fill it. A row without a
stream is about the night as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from audit.models import Deadline, NightReport
from audit.reconciliation import slips
from audit.reconciliation.night import QUESTION, Night, SessionResult
from settlement.night.fairness import summary
from settlement.night.variance import hold_interval

Verdict: TypeAlias = Literal["agrees", "differs", "question", "unknown"]
Kind: TypeAlias = Literal["money", "number", "share", "text"]

SERIOUSNESS: tuple[Verdict, ...] = ("agrees", "unknown", "question", "differs")

ROWS_OF_A_LINE = 2_000
"""Rows kept of one line; how many more there were is said."""

MILLION = 10**6


@dataclass(slots=True, kw_only=True)
class Row:
    """One comparison. ``share`` is in millionths; ``seqs`` are events of ``stream``."""

    verdict: Verdict
    stream: str = ""
    table: str = ""
    kind: Kind = "number"
    expected: int | str | None = None
    found: int | str | None = None
    seqs: list[int] = field(default_factory=list)
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def lines_of(night: Night, before: NightReport | None) -> list[dict[str, Any]]:
    """Return the twelve lines as plain data. ``before`` is the version that this one would follow."""
    makers: list[tuple[str, Callable[[Night], Iterator[Row]]]] = [
        ("completeness", completeness),
        ("opener", opener),
        ("slips", slip_numbers),
        ("drop", drop),
        ("accounting", accounting),
        ("payouts", payouts),
        ("limits", limits),
        ("standing", standing),
        ("late", lambda night: late(night, before)),
        ("findings", open_findings),
        ("chance", chance),
        ("unchecked", unchecked),
    ]
    return [_line(number, code, maker(night)) for number, (code, maker) in enumerate(makers, start=1)]


def _line(number: int, code: str, rows: Iterable[Row]) -> dict[str, Any]:
    listed = list(rows)
    verdict = max((row.verdict for row in listed), key=SERIOUSNESS.index, default="agrees")
    # What is not as it should be comes first, and is what is kept of too many.
    listed.sort(key=lambda row: -SERIOUSNESS.index(row.verdict))
    kept = listed[:ROWS_OF_A_LINE]
    return {
        "number": number,
        "code": code,
        "verdict": verdict,
        "left_off": len(listed) - len(kept),
        "rows": [asdict(row) for row in kept],
    }


def _about(sitting: SessionResult, **said: Any) -> Row:
    return Row(stream=sitting.stream.name, table=sitting.figures.table, **said)


def completeness(night: Night) -> Iterator[Row]:
    """1: every number is there or declared lost, chain and seal hold."""
    for sitting in night.sittings:
        figures = sitting.figures
        lost = sum(last - first + 1 for first, last in figures.lost)
        said: dict[str, Any] = {"kind": "number", "expected": figures.last_seq, "found": figures.last_seq - lost}
        if lost:
            seqs = [first for first, _last in figures.lost]
            yield _about(sitting, verdict="differs", note="lost", seqs=seqs, facts={"lost": lost}, **said)
        elif sitting.faults:
            yield _about(sitting, verdict="differs", note="chain", facts={"faults": sitting.faults}, **said)
        elif not figures.closed_by:
            yield _about(sitting, verdict="unknown", note="still_open", seqs=[figures.last_seq], **said)
        elif not sitting.is_sealed:
            yield _about(sitting, verdict="unknown", note="not_sealed", **said)
        else:
            yield _about(sitting, verdict="agrees", note="complete", **said)


def opener(night: Night) -> Iterator[Row]:
    """2: a table opens with what it was closed with."""
    for sitting in night.sittings:
        opened = sitting.figures.bridge.bank.opening_float
        if sitting.before is None:
            yield _about(sitting, verdict="unknown", kind="money", found=opened, seqs=[1], note="no_closer")
            continue
        yield _about(
            sitting,
            verdict="agrees" if opened == sitting.before.amount else "differs",
            kind="money",
            expected=sitting.before.amount,
            found=opened,
            seqs=[1],
            note="closer",
            facts={"previous": sitting.before.stream},
        )


def slip_numbers(night: Night) -> Iterator[Row]:
    """3: slips have no holes and no doubles."""
    used = slips.uses(sitting.figures for sitting in night.sittings)
    tables = {sitting.stream.name: sitting.figures.table for sitting in night.sittings}
    for double in slips.doubles(used):
        where = {"stream": double.again.stream, "table": tables[double.again.stream]}
        facts = {"slip": double.again.slip.slip, "first_stream": double.first.stream, "first": double.first.slip.seq}
        yield Row(verdict="differs", kind="text", seqs=[double.again.slip.seq], note="double", facts=facts, **where)
    missing = 0
    for hole in slips.holes(used):
        missing += hole.numbers
        where = {"stream": hole.after.stream, "table": tables[hole.after.stream]}
        facts = {"slips": hole.written, "missing": hole.numbers}
        yield Row(verdict="differs", kind="text", seqs=[hole.after.slip.seq], note="hole", facts=facts, **where)
    yield Row(
        verdict="differs" if missing else "agrees", expected=len(used) + missing, found=len(used), note="slips_used"
    )


def drop(night: Night) -> Iterator[Row]:
    """4: the drop counted, against the buy-ins announced."""
    for sitting in night.sittings:
        announced = sitting.figures.bridge.bank.buy_ins
        entries = night.counts.by_session.get(sitting.stream.name, [])
        facts = {"counts": [f"{entry.count}#{entry.seq}" for entry in entries]}
        said: dict[str, Any] = {"kind": "money", "expected": announced, "found": sitting.drop}
        if sitting.drop is None:
            yield _about(sitting, verdict="unknown", note="uncounted", **said)
        elif "bank" not in _families(sitting):
            yield _about(sitting, verdict="unknown", note="buy_ins_unobserved", facts=facts, **said)
        else:
            verdict: Verdict = "agrees" if sitting.drop == announced else "differs"
            yield _about(sitting, verdict=verdict, note="counted", facts=facts, **said)
    names = [sitting.stream.name for sitting in night.sittings]
    for entry in night.counts.strangers(names):
        facts = {"session": entry.session}
        yield Row(
            verdict="differs", stream=entry.count, kind="money", found=entry.amount, seqs=[entry.seq],
            note="stranger", facts=facts,
        )  # fmt: skip


def accounting(night: Night) -> Iterator[Row]:
    """5: W_acct against W_rec."""
    for sitting in night.sittings:
        bridge = sitting.bridge
        counted = bridge.bank.accounting_win
        verdict: Verdict = "unknown" if counted is None else "differs" if bridge.accounting_variance else "agrees"
        if not sitting.figures.is_adjudicated:
            verdict = "unknown"
        yield _about(
            sitting, verdict=verdict, kind="money", expected=bridge.recorded.total, found=counted, seqs=[sitting.end]
        )


def payouts(night: Night) -> Iterator[Row]:
    """6: W_rec against W_adj, session by session and wager by wager."""
    for sitting in night.sittings:
        bridge, errors = sitting.bridge, sitting.figures.errors
        facts = {
            "errors": len(errors),
            "for_house": sum(error.amount for error in errors if error.amount > 0),
            "for_players": -sum(error.amount for error in errors if error.amount < 0),
        }
        yield _about(
            sitting,
            verdict="differs" if errors else "agrees" if sitting.figures.is_adjudicated else "unknown",
            kind="money",
            expected=bridge.adjudicated.total,
            found=bridge.recorded.total,
            seqs=sorted({error.seq for error in errors})[:50],
            note="paid_wrong" if errors else "",
            facts=facts,
        )


def limits(night: Night) -> Iterator[Row]:
    """7: stakes within the table's limits."""
    for sitting in night.sittings:
        found = [f.seq for f in night.findings if f.rule == "stake-out-of-limits" and f.stream_id == sitting.stream.pk]
        yield _about(
            sitting, verdict="differs" if found else "agrees", expected=0, found=len(found), seqs=sorted(found)[:50]
        )


def standing(night: Night) -> Iterator[Row]:
    """8: at the end nothing stands, and prisoners were refunded."""
    for sitting in night.sittings:
        stands = sitting.figures.standing
        amount = sum(stake.amount for stake in stands)
        closed = bool(sitting.figures.closed_by)
        yield _about(
            sitting,
            verdict="agrees" if not stands else "differs" if closed else "unknown",
            kind="money",
            expected=0,
            found=amount,
            seqs=[stake.seq for stake in stands][:50],
            note="stands" if stands else "",
            facts={"stakes": len(stands)} if stands else {},
        )


def late(night: Night, before: NightReport | None) -> Iterator[Row]:
    """9: what came since the version before."""
    if before is None:
        yield Row(verdict="agrees", expected=0, found=0, note="first_version")
        return
    known = {int(stream_id): last for stream_id, last in before.through.items()}
    names = {sitting.stream.stream_id: sitting.stream.name for sitting in night.sittings} | night.counts.streams
    came = 0
    for stream_id, last in sorted(night.through.items()):
        first = known.get(stream_id, 0)
        if last > first:
            came += 1
            facts = {"first": first + 1, "last": last}
            yield Row(
                verdict="question", stream=names.get(stream_id, ""), expected=0, found=last - first,
                seqs=[first + 1, last] if last > first + 1 else [last], note="came_late", facts=facts,
            )  # fmt: skip
    if not came:
        yield Row(verdict="agrees", expected=0, found=0, note="nothing_late")


def open_findings(night: Night) -> Iterator[Row]:
    """10: findings that stand, by weight and rule, with the hours in which their cases are to be closed."""
    weights: Counter[tuple[str, str]] = Counter((finding.severity, finding.rule) for finding in night.findings)
    order = ("critical", "major", "minor", "info")
    hours = dict(Deadline.objects.values_list("severity", "hours"))
    if not weights:
        yield Row(verdict="agrees", expected=0, found=0)
    for (severity, rule), number in sorted(weights.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        verdict: Verdict = "differs" if severity in ("critical", "major") else "question"
        facts = {"severity": severity, "rule": rule, "hours": hours.get(severity, 0)}
        yield Row(verdict=verdict, expected=0, found=number, note="finding", facts=facts)


def chance(night: Night) -> Iterator[Row]:
    """11: the hold against its interval; dice and wheels."""
    for sitting in night.sittings:
        bridge = sitting.bridge
        hold = bridge.hold
        interval = None
        if hold is not None and bridge.bank.drop and sitting.figures.is_adjudicated:
            interval = hold_interval(bridge.theoretical, sitting.figures.variance, bridge.bank.drop, QUESTION)
        if hold is None or interval is None:
            yield _about(sitting, verdict="unknown", kind="share", note="no_hold")
            continue
        facts = {"low": in_millionths(interval.low), "high": in_millionths(interval.high), "level": str(QUESTION)}
        verdict: Verdict = "agrees" if interval.holds(hold) else "question"
        yield _about(
            sitting,
            verdict=verdict,
            kind="share",
            found=in_millionths(hold),
            seqs=[sitting.end],
            note="hold",
            facts=facts,
        )
    for test in night.tests:
        said = summary(test.fairness, QUESTION)
        yield Row(
            verdict="question" if said["asks"] else "agrees",
            stream=test.asked_in or "",
            table=test.table,
            found=said["draws"],
            seqs=[test.asked_at] if test.asked_at else [],
            note=test.kind,
            facts={"p_millionths": said["p_millionths"], "level": str(QUESTION)},
        )


def unchecked(night: Night) -> Iterator[Row]:
    """12: what was not checked, because the table does not report it."""
    for sitting in night.sittings:
        families = list(sitting.figures.unchecked)
        if "bank" not in _families(sitting):
            families = sorted({*families, "bank"})
        if not sitting.figures.is_adjudicated:
            yield _about(sitting, verdict="unknown", kind="text", note="no_ruleset")
        elif families:
            yield _about(
                sitting, verdict="unknown", kind="text", found=", ".join(families), note="unobserved",
                facts={"families": families},
            )  # fmt: skip


def in_millionths(share: Fraction) -> int:
    """Return a share in millionths, rounded to the nearest, a half to the even."""
    return round(share * MILLION)


def _families(sitting: SessionResult) -> frozenset[str]:
    return frozenset(sitting.figures.observes)
