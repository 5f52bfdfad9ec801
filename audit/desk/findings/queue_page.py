"""A queue as officers work on it: incidents in groups by deadline, each group with what is owed to whom in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import BigIntegerField, Count, F, QuerySet, Sum, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, RowNumber
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.casework.escalation import escalations_of
from audit.desk import parts
from audit.desk.addresses import page_of
from audit.desk.findings.person_filters import OWED
from audit.desk.findings.queues import OPEN_QUEUES
from audit.models import Finding
from audit.presentation import (
    Stake,
    date_time,
    finding_title,
    money,
    money_in_prose,
    passed_to,
    reference,
    stake_of,
    time_left,
)

GROUPS: tuple[str | Promise, ...] = (
    _("Late"),
    _("Within 6 hours"),
    _("Within a day"),
    _("Within 3 days"),
    _("Later"),
)
"""The titles of the groups, by ``due_group``."""

CONSEQUENCES_SHOWN = 4
"""Consequences of an incident that have a line in the queue; the page of the incident has all."""


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
class Row:
    """One incident of the queue."""

    finding: Finding
    title: str
    reference: str
    stake: Stake
    consequences: Consequences
    passed_to: str
    """To whom the case passed when it became late, "" if it did not."""

    @property
    def address(self) -> str:
        return page_of("finding", self.finding.pk)

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
        return parts.priority_bars(self.finding)

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
        case = self.finding.case
        assert case is not None, "a queue has cases"
        return parts.due_ring(time_left(case.deadline, since=case.opened_at))

    @property
    def state(self) -> SafeString:
        case = self.finding.case
        assert case is not None, "a queue has cases"
        return parts.officer_square(case.assigned_to) + parts.state_pie(case)

    @property
    def is_pattern(self) -> bool:
        """Whether the same croupier has made the same error again and again."""
        return bool(self.finding.priority_repeated)  # type: ignore[attr-defined]  # annotated


@dataclass(slots=True)
class Sums:
    """What a group, or the queue, is about: how many incidents, and the money by who loses it, in each currency."""

    count: int = 0
    owed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, count: int, by: str | None, currency: str, total: int | None) -> None:
        self.count += count
        if by and total:
            self.owed["player" if by == "house" else "bank", currency] += total

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
    """The groups on a page, and the sums of the whole queue."""

    groups: Sequence[Group]
    sums: Sums


def queue_of(request: HttpRequest, rows: Iterable[Finding], everything: QuerySet[Any]) -> Queue | None:
    """Return the queue of a list; None for a list that is no queue of open cases, or that is sorted otherwise.

    ``rows`` are those of the page, in their order and with names; ``everything`` is the list without its pages.
    """
    if request.GET.get("queue") not in OPEN_QUEUES or request.GET.get("o"):
        return None
    rows = list(rows)
    sums = _sums(everything)
    consequences = _consequences(rows)
    passed = _passed(rows)
    whole = Sums(sum(each.count for each in sums.values()))
    for each in sums.values():
        for key, total in each.owed.items():
            whole.owed[key] += total
    if (side := request.GET.get("owed")) in OWED and rows:  # by amount, not by deadline
        shown = [_row(finding, consequences, passed) for finding in rows]
        return Queue([Group(OWED[side], False, whole, shown)], whole)
    groups = [
        Group(GROUPS[number], number == 0, sums[number], [_row(finding, consequences, passed) for finding in of_group])
        for number, of_group in groupby(rows, key=lambda finding: finding.due_group)  # type: ignore[attr-defined]
    ]
    return Queue(groups, whole)


def _row(finding: Finding, consequences: Mapping[int, Consequences], passed: Mapping[int, str]) -> Row:
    stake = stake_of(finding, finding.named.get("player", ""))
    own = consequences.get(finding.case_id or 0, Consequences())
    to = passed.get(finding.case_id or 0, "")
    return Row(finding, finding_title(finding.rule), reference(finding), stake, own, to)


def _passed(rows: Sequence[Finding]) -> Mapping[int, str]:
    """Return to whom the late cases of the rows passed, by case: no query without a late one."""
    now = timezone.now()
    late = [each.case.pk for each in rows if each.case is not None and each.case.deadline < now]
    return {case: passed_to(each) for case, each in escalations_of(late).items()} if late else {}


def _sums(everything: QuerySet[Any]) -> dict[int, Sums]:
    """Return the sums by group: one query. An incident counts once, with what its cause owes."""
    found = (
        everything.order_by()
        .values("due_group", "currency", by=KT("owed__by"))
        .annotate(count=Count("pk"), total=Sum(Cast(KT("owed__amount"), BigIntegerField())))
    )
    sums: dict[int, Sums] = defaultdict(Sums)
    for row in found:
        sums[row["due_group"]].add(row["count"], row["by"], row["currency"], row["total"])
    return sums


def _consequences(rows: Sequence[Finding]) -> Mapping[int, Consequences]:
    """Return the other standing findings of the rows' cases, by case: one query, none without rows."""
    if not rows:
        return {}
    others = (
        Finding.objects.standing()
        .filter(case__in=[finding.case_id for finding in rows])
        .exclude(pk__in=[finding.pk for finding in rows])
        .annotate(
            nth=Window(RowNumber(), partition_by=F("case"), order_by=("occurred_at", "pk")),
            of_case=Window(Count("pk"), partition_by=F("case")),
        )
    )
    followed: dict[int, list[Finding]] = defaultdict(list)
    # What a line says, and no more: facts and evidence of each would be most of the page's work.
    shown = others.filter(nth__lte=CONSEQUENCES_SHOWN).only("rule", "case_id", "difference", "currency")
    for finding in shown.order_by("occurred_at", "pk"):
        followed[finding.case_id or 0].append(finding)
    return {
        case: Consequences([_consequence(finding) for finding in first], first[0].of_case)  # type: ignore[attr-defined]
        for case, first in followed.items()
    }


def _consequence(finding: Finding) -> Consequence:
    amount = "" if finding.difference is None else money(abs(finding.difference), finding.currency)
    return Consequence(finding.pk, finding_title(finding.rule), amount)
