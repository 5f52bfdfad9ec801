"""The findings that concern one person in a month, as the pages of persons show them: one query, then another for rows.

A sum adds up claims, each of which stands at one finding of its incident; what follows from a cause has no row of its
own. A finding for information, as an entry that was corrected within the coup, has no case: it is counted, and listed
by the list of findings alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from audit.access.capabilities import Capability
from audit.casework.debts import CLAIM, LOSERS, SIDES, stake_of_incident, with_money
from audit.casework.priority import with_priority
from audit.casework.stakes import Stake
from audit.casework.titles import incident_title, second_line
from audit.charts.heat import tint
from audit.charts.share import draw_share
from audit.desk import parts
from audit.desk.findings.person_filters import findings_address
from audit.desk.findings.queues import OPEN
from audit.desk.ledger.page import rows_of
from audit.desk.ledger.subjects import persons_in
from audit.desk.names import directory_for
from audit.desk.scoped_admin import scope_of
from audit.exports.findings import add_names
from audit.ledger import listing
from audit.models import Casino, Finding, LedgerProcess, NightReport
from audit.models.cases import State
from audit.persons.directory import Directory
from audit.presentation import WriteMoney, finding_title, local, money, reference
from audit.reconciliation.month import month_after

ROWS = 25
"""Incidents listed, the newest; the list of findings has all."""

ALIKE = 3
"""Findings of one rule from which they are shown as one pattern, as in the priority of an incident."""

DEALERS = 8
"""Croupiers named on the page of a player, those who dealt most of his coups."""

QUESTIONS = 6
"""Processes of the ledger shown, those nearest to their question."""

NOON = 12

Sums = dict[tuple[str, str], int]
"""Minor units by who loses, "player" or "bank", and currency."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one query says of a finding. ``side`` loses by its claim, of ``amount``; "" and 0 without one."""

    pk: int
    rule: str
    table: str
    occurred_at: datetime
    gaming_day: date
    side: str
    amount: int
    currency: str
    is_head: bool
    is_open: bool
    case_id: int | None = None
    croupier: str = ""

    @property
    def incident(self) -> tuple[str, int]:
        """What is the same for the findings of one incident."""
        return ("finding", self.pk) if self.case_id is None else ("case", self.case_id)


@dataclass(frozen=True, slots=True)
class Row:
    """One finding of the list on the page."""

    finding: Finding
    title: str
    reference: str
    stake: Stake
    consequences: int = 0

    @property
    def rule(self) -> str:
        """What happened in the words of the rule, "" where the title says it."""
        return second_line(self.finding, self.title)

    @property
    def bars(self) -> SafeString:
        return parts.priority_bars(self.finding)

    @property
    def money(self) -> SafeString:
        return parts.who(self.stake, with_amount=True) if self.stake.amount else parts.who(self.stake)

    @property
    def state(self) -> SafeString:
        return parts.state_pie(self.finding.case) if self.finding.case is not None else SafeString("")

    @property
    def address(self) -> str:
        """The address of the table at the event, "" for a finding of no table."""
        if self.finding.table_id is None:
            return ""
        address = reverse("admin:audit_loggedstream_table", args=(self.finding.stream_id,))
        return f"{address}?at={self.finding.seq}"


@dataclass(frozen=True, slots=True)
class OfKind:
    """The money of one rule: what was kept from players and what was paid too much."""

    title: str
    address: str
    count: int
    sides: Sequence[tuple[str, str, SafeString]]


@dataclass(slots=True)
class Pattern:
    """Several incidents of the same rule, ``of`` all."""

    title: str
    count: int
    of: int
    tables: Sequence[str]
    first: date
    last: date
    address: str
    queue: str = ""
    rule: str = ""
    open: Sequence[Found] = ()
    """Its incidents that are open, each of a case of its own."""


@dataclass(slots=True)
class Concerning:
    """The findings of a person in a month. ``role`` is "croupier" or "player", the name of the field of a finding."""

    casino: Casino
    role: str
    code: str
    first: date
    found: list[Found] = field(default_factory=list)

    @property
    def sums(self) -> Sums:
        """What is owed by the findings, by who loses it and in which currency."""
        sums: Counter[tuple[str, str]] = Counter()
        for each in self.found:
            if each.side:
                sums[each.side, each.currency] += each.amount
        return dict(sums)

    def count_of(self, side: str) -> int:
        """Return how many incidents one side has lost by."""
        return len({each.incident for each in self.found if each.side == side})

    def amount_of(self, side: str) -> str:
        """Return what one side has lost, "" for nothing."""
        return in_words({key: total for key, total in self.sums.items() if key[0] == side})

    def owed_to(self, side: str) -> list[Found]:
        """Return the findings at which something is owed to one side: closing their cases pays nothing."""
        return [each for each in self.found if each.side == side]

    def since(self, side: str) -> datetime | None:
        """Return since when something is owed to one side; None where nothing is."""
        return min((each.occurred_at for each in self.owed_to(side)), default=None)

    @property
    def open(self) -> int:
        """How many incidents are open."""
        return sum(each.is_open and each.is_head for each in self.found)

    @property
    def closed(self) -> int:
        """How many incidents are closed."""
        return sum(each.is_head and not each.is_open for each in self.found)

    @property
    def of_cases(self) -> list[Found]:
        """The findings that somebody has to answer; all others are for information."""
        return [each for each in self.found if each.case_id is not None]

    @property
    def for_information(self) -> int:
        """How many findings are of no case."""
        return len(self.found) - len(self.of_cases)

    def incidents(self) -> list[Found]:
        """Return one finding of each case: its cause, or the newest where the cause concerns somebody else."""
        by_case: dict[int | None, Found] = {}
        for each in self.of_cases:
            if each.is_head or each.case_id not in by_case:
                by_case[each.case_id] = each
        return sorted(by_case.values(), key=lambda each: (each.occurred_at, each.pk), reverse=True)

    def address(self, **query: str) -> str:
        """Return the address of the list of these findings, narrowed by ``query``."""
        return findings_address(**{self.role: self.code, "month": f"{self.first:%Y-%m}", **query})

    def kinds(self) -> list[OfKind]:
        """Return the findings with money by rule, the largest sum first."""
        by_rule: dict[str, Counter[tuple[str, str]]] = {}
        numbers: Counter[str] = Counter()
        for each in self.found:
            if each.side:
                by_rule.setdefault(each.rule, Counter())[each.side, each.currency] += each.amount
                numbers[each.rule] += 1
        most = max((sum(sums.values()) for sums in by_rule.values()), default=1)
        rows = []
        for rule, sums in sorted(by_rule.items(), key=lambda item: -sum(item[1].values())):
            sides = [
                (side, money(total, currency), mark_safe(draw_share(total, most, kind=side)))  # our own drawing
                for (side, currency), total in sorted(sums.items())
            ]
            rows.append(OfKind(finding_title(rule), self.address(rule=rule), numbers[rule], sides))
        return rows

    def pattern(self) -> Pattern | None:
        """Return the rule that most findings are of, where there are enough to ask about it."""
        incidents = self.incidents()
        counts = Counter(each.rule for each in incidents)
        if not counts:
            return None
        rule, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if count < ALIKE:
            return None
        alike = self.alike(rule)
        days = sorted(each.gaming_day for each in alike)
        tables = sorted({each.table for each in alike if each.table})
        return Pattern(
            finding_title(rule),
            count,
            len(incidents),
            tables,
            days[0],
            days[-1],
            self.address(rule=rule),
            self.address(rule=rule, queue="open"),
            rule,
            [each for each in alike if each.is_open],
        )

    def alike(self, rule: str) -> list[Found]:
        """Return the incidents of one rule, the newest first."""
        return [each for each in self.incidents() if each.rule == rule]

    def heat(self) -> dict[str, Any]:
        """Return the incidents by table and by hour of the night, in the casino's zone: counts with their tints."""
        counts: Counter[tuple[str, int]] = Counter()
        for each in self.incidents():
            if each.table:
                counts[each.table, (local(each.occurred_at, self.casino).hour - NOON) % 24] += 1
        if not counts:
            return {}
        hours = range(min(hour for _table, hour in counts), max(hour for _table, hour in counts) + 1)
        most = max(counts.values())
        rows = []
        for table in sorted({table for table, _hour in counts}):
            cells = [(counts[table, hour], tint(counts[table, hour], most)) for hour in hours]
            rows.append({"table": table, "cells": cells, "total": sum(count for count, _tint in cells)})
        return {"hours": [f"{(hour + NOON) % 24:02d}" for hour in hours], "rows": rows}

    def marks(self) -> dict[date, list[str]]:
        """Return for each gaming day who lost by its incidents, as classes of marks."""
        sides = {each.incident: each.side for each in reversed(self.found) if each.side}
        marks: dict[date, list[str]] = {}
        for each in self.found:
            if each.is_head:
                marks.setdefault(each.gaming_day, []).append(sides.get(each.incident, "none"))
        return {day: sorted(sides, key=[*SIDES, "none"].index) for day, sides in marks.items()}

    def rows(self, request: HttpRequest) -> list[Row]:
        """Return the newest incidents with their priority and, where the officer sees them, names."""
        newest = [each.pk for each in self.incidents()[:ROWS]]
        if not newest:
            return []
        of_case = Counter(each.case_id for each in self.of_cases)
        chosen = with_money(with_priority(Finding.objects.filter(pk__in=newest)))
        chosen = chosen.select_related("casino", "table", "case")
        findings = list(chosen.order_by("-occurred_at", "-pk"))
        add_names(findings, scope_of(request, Capability.SEE_NAMES))
        return [
            Row(
                each,
                incident_title(each),
                reference(each),
                stake_of_incident(each, each.named.get("player", ""), money),
                of_case[each.case_id] - 1,
            )
            for each in findings
        ]


def concerning(casino: Casino, role: str, code: str, first: date) -> Concerning:
    """Return the standing findings of a person in the month that begins on ``first``, the newest first: one query."""
    rows = Finding.objects.standing().filter(
        casino=casino, gaming_day__gte=first, gaming_day__lt=month_after(first), **{role: code}
    )
    fields = (
        *("pk", "rule", "seq", "wager", "table__code", "occurred_at", "gaming_day", "currency"),
        *("case_id", "case__seq", "case__rule", "case__wager", "case__state", "croupier"),
    )
    found = [_found(row) for row in rows.order_by("-occurred_at", "-pk").values(*fields, claim=CLAIM)]
    return Concerning(casino, role, code, first, found)


def _found(row: Mapping[str, Any]) -> Found:
    own, of_case = (tuple(row[f"{prefix}{name}"] for name in ("seq", "rule", "wager")) for prefix in ("", "case__"))
    claim = row["claim"] or {}
    return Found(
        row["pk"],
        row["rule"],
        row["table__code"] or "",
        row["occurred_at"],
        row["gaming_day"],
        LOSERS[claim["by"]] if claim else "",
        claim.get("amount", 0),
        row["currency"],
        own == of_case,
        row["case__state"] in OPEN and row["case__state"] != State.CLOSED,
        row["case_id"],
        row["croupier"],
    )


def in_words(sums: Mapping[tuple[str, str], int], write: WriteMoney = money) -> str:
    """Return sums in each currency, "" for none."""
    return " + ".join(write(total, currency) for (_side, currency), total in sorted(sums.items()))


def newest_month(casino: Casino, today: date) -> date:
    """Return the first day of the month of the newest night or finding; that of ``today`` where there is neither."""
    night = NightReport.objects.filter(casino=casino).order_by("-gaming_day").values_list("gaming_day", flat=True)[:1]
    finding = Finding.objects.filter(casino=casino).order_by("-occurred_at", "-pk").values_list("gaming_day", flat=True)
    days: Iterable[date] = [*night, *finding[:1]]
    return max(days, default=today).replace(day=1)


def facts_of(found: Concerning) -> dict[str, Any]:
    """Return the sums above a page: what was kept from players, what was paid too much, and what is still open."""
    return {
        "kept": found.amount_of("player"),
        "kept_count": found.count_of("player"),
        "overpaid": found.amount_of("bank"),
        "overpaid_count": found.count_of("bank"),
        "kept_since": found.since("player"),
        "overpaid_since": found.since("bank"),
        "open_address": found.address(queue="open"),
        "kinds": found.kinds(),
    }


def questions_of(request: HttpRequest, casino: Casino, about: Q) -> dict[str, Any]:
    """Return the questions of the ledger about somebody, the strongest first, how many tests raise none,
    and who dealt for a player. Of a test without a question there is no number."""
    of_somebody = listing.processes_of(casino).filter(about)
    processes, questioned = list(of_somebody), list(listing.with_question(of_somebody))
    strongest = sorted(questioned, key=lambda process: (-process.e_value / process.threshold, process.pk))[:QUESTIONS]
    of_pairs = (each for each in processes if each.kind == "pair-luck")
    pairs = sorted(of_pairs, key=lambda process: (-process.draws, process.pk))[:DEALERS]
    directory = directory_for(request, casino.pk, persons_in([*strongest, *pairs]))
    return {
        "processes": rows_of(casino, strongest, directory),
        "tests_without": len(processes) - len(questioned),
        "dealers": [_dealer(casino, each, directory) for each in pairs],
    }


def _dealer(casino: Casino, process: LedgerProcess, directory: Directory) -> dict[str, Any]:
    """Return the croupier of a process about a player and a croupier, with the coups that the two shared."""
    code = process.subject.rpartition(", ")[2]
    return {
        "code": code,
        "person": parts.person("croupier", casino.pk, code, directory.staff(code)),
        "coups": process.draws,
        "since": process.first_day,
    }
