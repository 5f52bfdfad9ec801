"""A list of findings as officers work on it: one line each, with what is owed to whom.

a queue of open cases          incidents in groups, by deadline or otherwise, with the sums of each
any other list, or sorted      findings, or incidents, in one group without sums
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from django.db import connection
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from audit.casework.debts import claim_sql, debt_of_incident, stake_of_incident
from audit.casework.escalation import escalations_of
from audit.casework.priority import UNFAIR, alike_of
from audit.casework.stakes import Stake, stake_of
from audit.casework.titles import incident_title, second_line
from audit.casework.urgency import is_of_pattern
from audit.desk import parts
from audit.desk.addresses import page_of
from audit.desk.findings.folding import Amounts, Summed
from audit.desk.findings.folding import Folded as FoldedPattern
from audit.desk.findings.grouping import Key, grouping_of
from audit.desk.findings.person_filters import OWED, findings_address
from audit.desk.findings.queues import QUEUES
from audit.models import Finding, FindingStatus
from audit.models.cases import State
from audit.presentation import (
    WriteMoney,
    count,
    date_time,
    finding_title,
    labelled,
    money,
    money_in_prose,
    passed_to,
    reference,
    short_name,
    time_left,
)
from settlement.catalogue import RULES

INCOMPLETE = frozenset(
    {
        "sequence-gap",
        "events-lost",
        "sequence-conflict",
        "late-after-close",
        "unknown-ruleset",
        "observes-less-than-owed",
        "count-missing",
        "slip-number-missing",
        "fill-unmatched",
    }
)
"""Rules about what the record does not have."""

CONSEQUENCES_SHOWN = 4
"""Consequences of an incident that have a line in the queue; the page of the incident has all."""

_CONSEQUENCES = f"""
select case_id, of_case, id, rule, claimed, currency from (
  select case_id, id, rule, {claim_sql("f")[1]} as claimed, currency, occurred_at,
    count(*) over (partition by case_id) as of_case,
    row_number() over (partition by case_id order by occurred_at, id) as nth
  from audit_finding f
  where status = '{FindingStatus.STANDING.value}' and case_id = any (%s::bigint[]) and not id = any (%s::bigint[])
) others where nth <= %s order by occurred_at, id
"""


@dataclass(frozen=True, slots=True)
class Consequence:
    """A finding that closes with the incident that it follows from."""

    pk: int
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Consequences:
    """What follows from one incident: the first of them, and how many there are."""

    first: Sequence[Consequence] = ()
    count: int = 0

    @property
    def words(self) -> str:
        words = ngettext("and %(number)s consequence", "and %(number)s consequences", self.count)
        return words % {"number": self.count}

    @property
    def more(self) -> int:
        return self.count - len(self.first)

    @property
    def more_words(self) -> str:
        return gettext("and %(number)s more") % {"number": self.more}


@dataclass(frozen=True, slots=True)
class Folded:
    """What is of the same pattern as an incident, beneath its line: the first of them, and how many there are."""

    first: Sequence[Finding] = ()
    count: int = 0

    @property
    def words(self) -> str:
        return gettext("and %(number)s like it") % {"number": self.count}

    @property
    def more_words(self) -> str:
        return gettext("and %(number)s more") % {"number": self.count - len(self.first)}


@dataclass(frozen=True, slots=True)
class Row:
    """One incident of a queue, a pattern by its most urgent incident, or one finding of another list."""

    finding: Finding
    title: str
    reference: str
    stake: Stake
    consequences: Consequences
    passed_to: str
    """To whom the case passed when it became late, "" if it did not."""
    folded: Folded
    alike: int
    """How many other incidents are of the same pattern, where they have lines of their own or are in no queue."""

    @property
    def address(self) -> str:
        return page_of("finding", self.finding.pk)

    @property
    def rule(self) -> str:
        """Return what happened in the words of the rule, "" where the title says it."""
        return second_line(self.finding, self.title)

    @property
    def select(self) -> str:
        return gettext("Select %(reference)s") % {"reference": self.reference}

    @property
    def occurred(self) -> str:
        return date_time(self.finding.occurred_at, self.finding.casino)

    @property
    def occurred_iso(self) -> str:
        return self.finding.occurred_at.isoformat()

    @property
    def bars(self) -> SafeString:
        """Return the bars of the priority; "" for a finding without a case, which has none."""
        return SafeString("") if self.finding.case is None else parts.priority_bars(self.finding)

    @property
    def who(self) -> SafeString:
        return parts.who(self.stake)

    @property
    def croupier(self) -> SafeString:
        code = self.finding.croupier
        if not code:
            return SafeString("")
        name = self.finding.named.get("croupier", "")
        return parts.person("croupier", self.finding.casino_id, code, name, month=f"{self.finding.gaming_day:%Y-%m}")

    @property
    def due(self) -> SafeString:
        """Return how long the case may still take, or when it was closed; "" without a case."""
        case = self.finding.case
        if case is None:
            return SafeString("")
        if case.state == State.CLOSED and case.closed_at is not None:
            at = gettext("closed %(at)s") % {"at": date_time(case.closed_at, self.finding.casino)}
            return format_html('<span class="two dim">{}</span>', parts.on_two_lines(at))
        return parts.due_ring(time_left(case.deadline, since=case.opened_at))

    @property
    def state(self) -> SafeString:
        """Return whose the case is, and its state; "" without a case."""
        case = self.finding.case
        return SafeString("") if case is None else parts.officer_square(case.assigned_to) + parts.state_pie(case)

    @property
    def outcome(self) -> str:
        """Return as what the case was closed, "" for an open one."""
        case = self.finding.case
        return case.get_outcome_display() if case is not None and case.state == State.CLOSED else ""

    @property
    def status(self) -> str:
        """Return why the finding does not stand, "" for one that does."""
        if self.finding.status == FindingStatus.STANDING:
            return ""
        never_stood = self.finding.status == FindingStatus.SUPERSEDED and self.finding.stood_at is None
        return gettext("never stood") if never_stood else self.finding.get_status_display()

    @property
    def cause(self) -> str:
        """Return what a consequence follows from, where it has a line of its own; "" for any other finding."""
        if self.finding.heads_case or not self.finding.causes:
            return ""
        return labelled(gettext("caused by"), finding_title(self.finding.causes[0]["rule"]))

    @property
    def is_pattern(self) -> bool:
        """Whether the same croupier has made the same error again and again."""
        return is_of_pattern(self.finding)

    @property
    def alike_words(self) -> str:
        return gettext("and %(number)s like it") % {"number": self.alike}

    @property
    def alike_address(self) -> str:
        """Return the address of the list of the same croupier's incidents of the same rule."""
        return findings_address(rule=self.finding.rule, croupier=self.finding.croupier)

    @property
    def pattern_address(self) -> str:
        """Return the address of the pattern's open incidents, each on a line."""
        return findings_address(queue="patterns", rule=self.finding.rule, croupier=self.finding.croupier)

    @property
    def has_come_back(self) -> bool:
        """Whether another of the rule at its table had been closed before."""
        return bool(self.finding.has_come_back)  # type: ignore[attr-defined]  # annotated

    @property
    def without_money(self) -> str:
        """Return what a line without an amount is about; "" for a question of a night, and what was put right."""
        if self.stake.is_made_good:
            return ""
        if debt_of_incident(self.finding).claims:
            return gettext("owed at another finding")
        rule = self.finding.rule
        if rule in INCOMPLETE:
            return gettext("record incomplete")
        if rule in UNFAIR:
            return gettext("fairness")
        return gettext("no money moved") if rule in RULES and RULES[rule].raised_by == "engine" else ""


@dataclass(slots=True)
class Sums:
    """What a group, or the queue, is about: how many incidents, and the money by who loses it, in each currency.

    ``findings`` is of how many findings they consist, of the queue only.
    """

    count: int = 0
    findings: int = 0
    owed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, amounts: Amounts) -> None:
        self.count += amounts.count
        for (by, currency), total in amounts.owed.items():
            self.owed["player" if by == "house" else "bank", currency] += total

    @property
    def words(self) -> str:
        """Return how many incidents there are, and of how many findings they consist."""
        numbers = {"number": count(self.count), "findings": count(self.findings)}
        if self.findings > self.count:
            folded = ngettext(
                "%(number)s incident (%(findings)s findings)",
                "%(number)s incidents (%(findings)s findings)",
                self.count,
            )
            return folded % numbers
        return ngettext("%(number)s incident.", "%(number)s incidents.", self.count) % numbers

    @property
    def to_players(self) -> str:
        return self._of("player")

    @property
    def overpaid(self) -> str:
        return self._of("bank")

    def _of(self, side: str) -> str:
        """Return the amounts of a side, "" for none."""
        amounts = ((currency, total) for (own, currency), total in sorted(self.owed.items()) if own == side)
        return " + ".join(money_in_prose(total, currency) for currency, total in amounts)


@dataclass(frozen=True, slots=True)
class Group:
    """The incidents of one group that are on this page, and the sums of all of the group."""

    title: str | Promise
    is_late: bool
    sums: Sums
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Queue:
    """The groups on a page, and the sums of the whole queue; None for a list that is no queue, which is one group."""

    groups: Sequence[Group]
    sums: Sums | None


def queue_of(request: HttpRequest, rows: Iterable[Finding], summed: Summed | None) -> Queue:
    """Return what a list shows. Without rows there are no groups.

    ``rows`` are those of the page, in their order and with names, and ``summed`` is what the list is about, None for a
    list that is no queue of open cases, or that is sorted otherwise.
    """
    rows, grouping = list(rows), grouping_of(request)
    lines = _lines(rows, summed.folded if summed is not None else {}, folds=request.GET.get("queue") in QUEUES)
    if summed is None:
        return Queue([Group("", False, Sums(), lines)] if lines else [], None)
    whole = Sums(findings=summed.findings)
    sums: dict[Key, Sums] = defaultdict(Sums)
    for key, amounts in summed.groups.items():
        sums[key].add(amounts)
        whole.add(amounts)
    if (side := request.GET.get("owed")) in OWED and rows:  # by amount, not by deadline
        return Queue([Group(OWED[side], False, whole, lines)], whole)
    groups = []
    for group, of_group in groupby(lines, key=lambda line: grouping.key_of(line.finding)):
        shown = list(of_group)
        first = shown[0].finding
        groups.append(Group(grouping.heading(first), grouping.is_late(first), sums[group], shown))
    return Queue(groups, whole)


def _lines(rows: Sequence[Finding], folded: Mapping[int, FoldedPattern], *, folds: bool) -> list[Row]:
    """Return the lines of a page. Consequences fold where a list has one line for an incident: elsewhere each of them
    has its own."""
    consequences, passed = _consequences(rows) if folds else {}, _passed(rows)
    patterns = {pk: each for pk, each in folded.items() if each.amounts.count > 1}
    alike = _alike([each for each in rows if each.pk not in patterns])
    lines = []
    for finding in rows:
        pattern = patterns.get(finding.pk)
        find_stake = stake_of_incident if folds else stake_of
        stake, in_title = find_stake(finding, _player(finding), money), find_stake(finding, _player(finding))
        below = Folded()
        if pattern is not None:
            below = Folded(pattern.members[1:], pattern.amounts.count - 1)
            stake = _stake_of(pattern.amounts, stake, money)
            in_title = _stake_of(pattern.amounts, in_title, money_in_prose)
        lines.append(
            Row(
                finding,
                incident_title(finding, in_title),
                reference(finding),
                stake,
                consequences.get(finding.case_id or 0, Consequences()),
                passed.get(finding.case_id or 0, ""),
                below,
                alike.get(finding.pk, 0),
            )
        )
    return lines


def _player(finding: Finding) -> str:
    return short_name(finding.named.get("player", ""), finding.player)


def _stake_of(pattern: Amounts, first: Stake, write: WriteMoney) -> Stake:
    """Return the money of a whole pattern, where all of it is owed by one side and in one currency; else of its first
    incident."""
    if len(pattern.owed) != 1:
        return first
    [((by, currency), total)] = pattern.owed.items()
    side = "player" if by == "house" else "bank"
    is_of_one = pattern.players is not None and len(set(pattern.players)) == 1
    words = gettext("owed to players") if by == "house" else gettext("overpaid")
    if is_of_one and first.side:
        return replace(first, side=side, amount=write(total, currency))
    is_overpaid = by != "house" and first.is_overpaid
    return Stake(side, write(total, currency), words, gettext("several players"), is_overpaid)


def _passed(rows: Sequence[Finding]) -> Mapping[int, str]:
    """Return to whom the late cases of the rows passed, by case: no query without a late one."""
    now = timezone.now()
    cases = [each.case for each in rows if each.case is not None]
    late = [case.pk for case in cases if case.deadline < now and case.state != State.CLOSED]
    return {case: passed_to(each) for case, each in escalations_of(late).items()} if late else {}


def _alike(rows: Sequence[Finding]) -> Mapping[int, int]:
    """Return how many other incidents are like those of the rows that are of a pattern: no query without one."""
    repeated = [each.pk for each in rows if is_of_pattern(each)]
    if not repeated:
        return {}
    others = alike_of().exclude(case=OuterRef("case")).order_by().values("croupier")
    count = Coalesce(Subquery(others.annotate(cases=Count("case", distinct=True)).values("cases")), 0)
    return dict(Finding.objects.filter(pk__in=repeated).annotate(alike=count).values_list("pk", "alike"))


def _consequences(rows: Sequence[Finding]) -> Mapping[int, Consequences]:
    """Return the other standing findings of the rows' cases, by case: one query, none without rows."""
    if not rows:
        return {}
    cases, shown = [each.case_id for each in rows], [each.pk for each in rows]
    counts: dict[int, int] = {}
    followed: dict[int, list[Consequence]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_CONSEQUENCES, [cases, shown, CONSEQUENCES_SHOWN])
        found = cursor.fetchall()
    for case, of_case, pk, rule, claimed, currency in found:
        counts[case] = of_case
        amount = "" if claimed is None else money(claimed, currency)
        followed[case].append(Consequence(pk, finding_title(rule), amount))
    return {case: Consequences(first, counts[case]) for case, first in followed.items()}
