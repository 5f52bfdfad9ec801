"""The twelve checks of a night: what was expected, what was found, the verdict, and the events that show it.

A report stores a check as a *line* and its comparisons as the line's *rows*, plain data without text: ``note`` is a key
of ``wording.NOTES``, and ``facts`` fill that text in. A row without a stream is about the whole night.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any, Literal, TypeAlias

from django.db.models import F, Q

from audit.models import Deadline, NightReport
from audit.presentation import whole_times
from audit.reconciliation import slips
from audit.reconciliation.incidents import by_incident, is_closed, largest_open, open_cases
from audit.reconciliation.ledger_as_of import Evidence
from audit.reconciliation.night import QUESTION, Night, SessionResult
from settlement.law_coverage.session import in_session

Verdict: TypeAlias = Literal["agrees", "differs", "question", "unknown"]
Kind: TypeAlias = Literal["money", "number", "share", "text"]

SERIOUSNESS: tuple[Verdict, ...] = ("agrees", "unknown", "question", "differs")

MAX_ROWS_PER_LINE = 2_000
"""Rows stored of one line; the line says how many more there were."""

COUNTERS = 2
"""Persons that count a drop together, at least."""

MAX_SEQS = 50
"""Events that a row names."""

SEVERITIES = ("critical", "major", "minor", "info")

MILLION = 10**6


@dataclass(slots=True, kw_only=True)
class Row:
    """One comparison. ``kind`` says what ``expected`` and ``found`` are: minor units, or millionths for a share.

    ``seqs`` are events of ``stream``.
    """

    verdict: Verdict
    stream: str = ""
    table: str = ""
    kind: Kind = "number"
    expected: int | str | None = None
    found: int | str | None = None
    seqs: list[int] = field(default_factory=list)
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def run_checks(night: Night, before: NightReport | None) -> list[dict[str, Any]]:
    """Return the twelve lines as plain data. ``before`` is the version that this report follows."""
    checks: list[tuple[str, Callable[[Night], Iterator[Row]]]] = [
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
        ("chance", lambda night: chance(night, before)),
        ("unchecked", unchecked),
    ]
    return [_line(number, code, check(night)) for number, (code, check) in enumerate(checks, start=1)]


def _line(number: int, code: str, rows: Iterable[Row]) -> dict[str, Any]:
    every = list(rows)
    verdict = max((row.verdict for row in every), key=SERIOUSNESS.index, default="agrees")
    # The most serious rows come first, so that they are the ones listed.
    every.sort(key=lambda row: -SERIOUSNESS.index(row.verdict))
    listed = every[:MAX_ROWS_PER_LINE]
    return {
        "number": number,
        "code": code,
        "verdict": verdict,
        "left_off": len(every) - len(listed),
        "rows": [asdict(row) for row in listed],
    }


def _about(result: SessionResult, **columns: Any) -> Row:
    return Row(stream=result.stream.name, table=result.figures.table, **columns)


def completeness(night: Night) -> Iterator[Row]:
    """1: every seq is there or declared lost, the chain holds, and the session is sealed."""
    for result in night.sessions:
        figures = result.figures
        lost = sum(last - first + 1 for first, last in figures.lost)
        columns: dict[str, Any] = {"kind": "number", "expected": figures.last_seq, "found": figures.last_seq - lost}
        if lost:
            seqs = [first for first, _last in figures.lost]
            yield _about(result, verdict="differs", note="lost", seqs=seqs, facts={"lost": lost}, **columns)
        elif result.faults:
            yield _about(result, verdict="differs", note="chain", facts={"faults": result.faults}, **columns)
        elif not figures.closed_by:
            yield _about(result, verdict="unknown", note="still_open", seqs=[figures.last_seq], **columns)
        elif not result.is_sealed:
            yield _about(result, verdict="unknown", note="not_sealed", **columns)
        else:
            yield _about(result, verdict="agrees", note="complete", **columns)


def opener(night: Night) -> Iterator[Row]:
    """2: the opening float is the closing float of the table's previous session."""
    for result in night.sessions:
        opened = result.figures.bridge.bank.opening_float
        if result.previous is None:
            yield _about(result, verdict="unknown", kind="money", found=opened, seqs=[1], note="no_closer")
            continue
        yield _about(
            result,
            verdict="agrees" if opened == result.previous.amount else "differs",
            kind="money",
            expected=result.previous.amount,
            found=opened,
            seqs=[1],
            note="closer",
            facts={"previous": result.previous.stream},
        )


def slip_numbers(night: Night) -> Iterator[Row]:
    """3: slip numbers have no gaps and no duplicates, whatever the day."""
    used = night.slips
    tables = {result.stream.name: result.figures.table for result in night.sessions}

    def at(use: slips.Use, note: str, **facts: Any) -> Row:
        return Row(
            verdict="differs",
            kind="text",
            stream=use.stream,
            table=tables[use.stream],
            seqs=[use.slip.seq],
            note=note,
            facts=facts,
        )

    for each in slips.duplicates(used):
        first = each.first
        yield at(each.again, "double", slip=each.again.slip.slip, first_stream=first.stream, first=first.slip.seq)
    for reuse in slips.reuses(used, night.earlier.uses):
        earlier = reuse.earlier
        first_use = {"first_stream": earlier.stream, "first": earlier.seq, "first_day": earlier.gaming_day}
        yield at(reuse.again, "reused", slip=reuse.again.slip.slip, **first_use)
    gaps = slips.gaps(used, night.earlier.reached)
    for gap in gaps:
        note = {"note": "hole_since", "since": gap.since} if gap.since else {"note": "hole"}
        yield at(gap.next_use, **note, slips=gap.label, missing=gap.count)
    missing = sum(gap.count for gap in gaps)
    yield Row(
        verdict="differs" if missing else "agrees", expected=len(used) + missing, found=len(used), note="slips_used"
    )


def drop(night: Night) -> Iterator[Row]:
    """4: the drop counted against the buy-ins announced."""
    for result in night.sessions:
        announced = result.figures.bridge.bank.buy_ins
        entries = night.counts.by_session.get(result.stream.name, [])
        facts = {"counts": [f"{entry.count}#{entry.seq}" for entry in entries]}
        columns: dict[str, Any] = {"kind": "money", "expected": announced, "found": result.drop}
        if result.drop is None:
            yield _about(result, verdict="unknown", note="uncounted", **columns)
        elif "bank" not in result.figures.observes:
            yield _about(result, verdict="unknown", note="buy_ins_unobserved", facts=facts, **columns)
        else:
            verdict: Verdict = "agrees" if result.drop == announced else "differs"
            note = "short" if result.drop < announced else "counted"
            yield _about(result, verdict=verdict, note=note, facts=facts, **columns)
        for entry in entries:
            if len(set(entry.event.data.counted_by)) < COUNTERS:
                yield Row(
                    verdict="differs",
                    stream=entry.count,
                    table=result.figures.table,
                    kind="number",
                    expected=COUNTERS,
                    found=len(set(entry.event.data.counted_by)),
                    seqs=[entry.seq],
                    note="counted_alone",
                    facts={"session": result.stream.name},
                )
    late = {(each.entry.count, each.entry.seq): each for each in night.late_counts}
    for entry in night.counts.for_unknown_sessions(result.stream.name for result in night.sessions):
        opened_late = late.get((entry.count, entry.seq))
        far = {} if opened_late is None else {"gaming_day": opened_late.gaming_day.isoformat()}
        yield Row(
            verdict="differs",
            stream=entry.count,
            kind="money",
            found=entry.amount,
            seqs=[entry.seq],
            note="stranger" if opened_late is None else "opened_late",
            facts={"session": entry.event.data.session, **far},
        )


def accounting(night: Night) -> Iterator[Row]:
    """5: the accounting win against the recorded win."""
    for result in night.sessions:
        bridge = result.bridge
        counted = bridge.bank.accounting_win
        verdict: Verdict = "unknown" if counted is None else "differs" if bridge.accounting_variance else "agrees"
        if not result.figures.is_money_seen:
            verdict = "unknown"
        yield _about(
            result, verdict=verdict, kind="money", expected=bridge.recorded.total, found=counted, seqs=[result.end]
        )


def payouts(night: Night) -> Iterator[Row]:
    """6: the recorded win against the adjudicated win, and the wagers that were not paid as due.

    What was recorded on bets that no ruleset decides is on both sides.
    """
    for result in night.sessions:
        bridge, errors = result.bridge, result.figures.errors
        facts = {
            "errors": len(errors),
            "for_house": sum(error.amount for error in errors if error.amount > 0),
            "for_players": -sum(error.amount for error in errors if error.amount < 0),
        }
        yield _about(
            result,
            verdict="differs" if errors else "agrees" if result.figures.is_adjudicated else "unknown",
            kind="money",
            expected=bridge.adjudicated.total + bridge.unadjudicated,
            found=bridge.recorded.total,
            seqs=sorted({error.seq for error in errors})[:MAX_SEQS],
            note="paid_wrong" if errors else "",
            facts=facts,
        )


def limits(night: Night) -> Iterator[Row]:
    """7: stakes within the table's limits."""
    for result in night.sessions:
        seqs = [f.seq for f in night.findings if f.rule == "stake-out-of-limits" and f.stream_id == result.stream.pk]
        verdict: Verdict = "differs" if seqs else "agrees"
        yield _about(result, verdict=verdict, expected=0, found=len(seqs), seqs=sorted(seqs)[:MAX_SEQS])


def standing(night: Night) -> Iterator[Row]:
    """8: at the end no stake stands, in prison or undecided."""
    for result in night.sessions:
        stakes = result.figures.standing
        if not stakes:
            yield _about(result, verdict="agrees", kind="money", expected=0, found=0)
            continue
        yield _about(
            result,
            verdict="differs" if result.figures.closed_by else "unknown",
            kind="money",
            expected=0,
            found=sum(stake.amount for stake in stakes),
            seqs=[stake.seq for stake in stakes][:MAX_SEQS],
            note="stands",
            facts={"stakes": len(stakes)},
        )


def late(night: Night, before: NightReport | None) -> Iterator[Row]:
    """9: the events that arrived after the previous version."""
    if before is None:
        yield Row(verdict="agrees", expected=0, found=0, note="first_version")
        return
    known = {int(stream_id): last for stream_id, last in before.through.items()}
    names = {result.stream.stream_id: result.stream.name for result in night.sessions} | night.counts.streams
    arrived = [
        (stream_id, known.get(stream_id, 0) + 1, last)
        for stream_id, last in sorted(night.through.items())
        if last > known.get(stream_id, 0)
    ]
    for stream_id, first, last in arrived:
        yield Row(
            verdict="question",
            stream=names.get(stream_id, ""),
            expected=0,
            found=last - first + 1,
            seqs=[first, last] if last > first else [last],
            note="came_late",
            facts={"first": first, "last": last},
        )
    if not arrived:
        yield Row(verdict="agrees", expected=0, found=0, note="nothing_late")


def open_findings(night: Night) -> Iterator[Row]:
    """10: the standing findings by severity and rule that are still open, with the hours to close their cases within.

    A finding is open until two officers have closed its case, and one for information without a case always is.
    ``cases`` are those that information has: of a question, or of much money that was given away.
    """
    counts: Counter[tuple[str, str]] = Counter((finding.severity, finding.rule) for finding in night.findings)
    closed = Counter((finding.severity, finding.rule) for finding in night.findings if is_closed(finding))
    hours, incidents = _hours_to_close(night), by_incident(night)
    if not counts:
        yield Row(verdict="agrees", expected=0, found=0)
    for kind, number in sorted(counts.items(), key=lambda item: (SEVERITIES.index(item[0][0]), item[0][1])):
        severity, rule = kind
        still_open = number - closed[kind]
        verdict: Verdict = "differs" if severity in ("critical", "major") else "question"
        facts: dict[str, Any] = {"severity": severity, "rule": rule, "hours": hours.get(severity, 0)}
        if still_open:
            facts["largest"] = largest_open(night, incidents, kind)
        if severity == "info" and (cases := open_cases(night, kind)):
            facts["cases"] = cases
        note = "finding"
        if closed[kind]:
            facts["closed"] = closed[kind]
            note = "finding_closed_in_part" if still_open else "finding_closed"
        yield Row(verdict=verdict if still_open else "agrees", expected=0, found=still_open, note=note, facts=facts)


def _hours_to_close(night: Night) -> dict[str, int]:
    """Return the hours to close a case within by severity: the casino's own, or else those of the installation."""
    deadlines = Deadline.objects.filter(Q(casino=None) | Q(casino=night.casino))
    return dict(deadlines.order_by(F("casino").asc(nulls_first=True)).values_list("severity", "hours"))


def chance(night: Night, before: NightReport | None) -> Iterator[Row]:
    """11: the hold against its interval; the evidence ledger."""
    yield from _ledger(night, before)
    for result in night.sessions:
        hold, interval = result.hold_test()
        if hold is None or interval is None:
            yield _about(result, verdict="unknown", kind="share", note="no_hold")
            continue
        facts = {"low": in_millionths(interval.low), "high": in_millionths(interval.high), "level": str(QUESTION)}
        verdict: Verdict = "agrees" if interval.holds(hold) else "question"
        yield _about(
            result,
            verdict=verdict,
            kind="share",
            found=in_millionths(hold),
            seqs=[result.end],
            note="hold",
            facts=facts,
        )


def _ledger(night: Night, before: NightReport | None) -> Iterator[Row]:
    """The evidence ledger after the sessions of this night: its budget, what has asked, and what is near it.

    A question of this night is to be looked at; an earlier one has its case, and what is near it asks nothing.
    """
    ledger = night.ledger
    if not night.sessions:
        return
    if ledger.left_out:
        yield Row(verdict="unknown", expected=0, found=ledger.left_out, note="ledger_left_out")
    if not ledger.number:
        yield Row(verdict="unknown", expected=len(night.sessions), found=ledger.fed, note="ledger_empty")
    elif ledger.budget is None or ledger.spent is None:
        yield from _as_reported(before, ledger.number, ledger.year)
    else:
        waits = ledger.fed + ledger.left_out < len(night.sessions)
        spent = -(-ledger.spent.numerator * MILLION // ledger.spent.denominator)
        yield Row(
            verdict="unknown" if waits else "agrees",
            expected=len(night.sessions),
            found=ledger.fed,
            note="ledger_waits" if waits else "ledger",
            facts={
                "year": ledger.year,
                "budget": str(ledger.budget),
                "spent_millionths": spent,
                "batch": ledger.number,
            },
        )
        for evidence in ledger.near_threshold:
            yield _evidence(evidence, "agrees", "ledger_watched", batch=ledger.number)
    for evidence in ledger.crossed:
        yield _evidence(evidence, "question", "ledger_crossed")
    for evidence in ledger.earlier:
        yield _evidence(evidence, "agrees", "ledger_asked")


def _evidence(evidence: Evidence, verdict: Verdict, note: str, **facts: Any) -> Row:
    """Return the row of a process: the wealth at which it asks, and the wealth that it had, since the year began."""
    facts |= {"process": evidence.kind, "subject": evidence.subject, "alpha": evidence.alpha}
    if evidence.day is not None:
        facts["day"] = evidence.day.isoformat()
    return Row(
        verdict=verdict,
        stream=evidence.stream,
        table=evidence.subject,
        kind="text",
        expected=f"< {whole_times(ceil(1 / Fraction(evidence.alpha)))}",
        found=whole_times(evidence.wealth),
        seqs=[evidence.seq] if evidence.seq else [],
        note=note,
        facts=facts,
    )


def _as_reported(before: NightReport | None, number: int, year: int) -> Iterator[Row]:
    """Yield what the version before had of the ledger after the batch ``number``, which nothing keeps longer."""
    lines = before.parsed_content()["lines"] if before is not None else []
    rows = [row for line in lines if line["code"] == "chance" for row in line["rows"]]
    known = [row for row in rows if row["facts"].get("batch") == number]
    if not known:
        yield Row(verdict="unknown", note="ledger_past", facts={"year": year})
    for row in known:
        yield Row(**row)


def unchecked(night: Night) -> Iterator[Row]:
    """12: what was not checked because the table does not report it, and how many sentences of the law were."""
    for result in night.sessions:
        families = list(result.figures.unchecked)
        if "bank" not in result.figures.observes:
            families = sorted({*families, "bank"})
        if not result.figures.is_adjudicated:
            yield _about(result, verdict="unknown", kind="text", note="no_ruleset")
        elif families:
            yield _about(
                result, verdict="unknown", kind="text", found=", ".join(families), note="unobserved",
                facts={"families": families},
            )  # fmt: skip
        if result.figures.is_adjudicated:
            yield _law(result)


def _law(result: SessionResult) -> Row:
    """Return how many of the sentences that have a rule were checked in full, of how many."""
    sentences = [each for each in in_session(result.figures.ruleset, result.figures.unchecked) if each.sentence.rules]
    checked = sum(each.state == "checked" for each in sentences)
    lacking = sorted({family for each in sentences for family in each.lacking})
    whole = checked == len(sentences)
    return _about(
        result,
        verdict="agrees" if whole else "unknown",
        expected=len(sentences),
        found=checked,
        note="law" if whole else "law_in_part",
        facts={} if whole else {"lacking": ", ".join(lacking)},
    )


def in_millionths(share: Fraction) -> int:
    """Return a share in millionths, rounded to the nearest, half to even."""
    return round(share * MILLION)
