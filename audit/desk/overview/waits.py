"""What waits for officers: sums of money by who loses, the incidents as dots, and the next of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.casework.debts import debt_of_incident, stake_of_incident
from audit.casework.payment_orders import kept_sums
from audit.casework.stakes import Stake
from audit.casework.titles import incident_title, second_line
from audit.charts.scatter import Dot, Span, draw_scatter
from audit.desk import parts
from audit.desk.addresses import page_of
from audit.desk.findings.shown_findings import in_brief, lines, most_urgent
from audit.desk.scoped_admin import scope_of
from audit.exports.findings import add_names
from audit.models import Casino, Finding, PaymentOrder
from audit.presentation import (
    TimeLeft,
    WriteMoney,
    date_time,
    finding_title,
    money,
    money_in_prose,
    reference,
    short_name,
    time_left,
    units,
)

NEXT = 5

DOTS = 60
"""Incidents that are drawn, the most urgent ones; beyond that, a dot says nothing."""

SPANS = (timedelta(0), timedelta(hours=6), timedelta(days=1), timedelta(days=3))
"""Where the periods of the chart end: late, within six hours, within a day, later. The last is as long as it gets."""

LATE_SHARE = 0.16
SHARE = (1 - LATE_SHARE) / 3


@dataclass(frozen=True, slots=True)
class Loss:
    """What one side is owed, in one currency, by incidents that are open or closed."""

    side: str
    amount: str
    count: int
    since: str
    """When the oldest happened, on the clock of its casino, which is named where the page is about several."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The sums kept for persons not found in one currency: their number, and of how many the term is over."""

    amount: str
    count: int
    over: int


@dataclass(frozen=True, slots=True)
class Incident:
    """An open incident as a line."""

    finding: Finding
    title: str
    reference: str
    stake: Stake
    left: TimeLeft
    croupier: str
    casino: str = ""
    """Where the page is about several."""
    subject: str = ""
    """What a new question is about; "" of any other incident, and of a question among the next."""

    @property
    def owed(self) -> Decimal:
        """What the side owes that owes more, in units of its currency."""
        debt = debt_of_incident(self.finding)
        return units(debt.larger, self.finding.currency)

    @property
    def about(self) -> str:
        if self.subject:
            return "\N{NO-BREAK SPACE}· ".join(filter(None, (self.subject, self.casino)))
        table = self.finding.table.code if self.finding.table else ""
        rule = second_line(self.finding, self.title)
        words = "" if self.stake.side or self.stake.words in self.title else self.stake.words
        return "\N{NO-BREAK SPACE}· ".join(filter(None, (rule, table, self.casino, self.croupier, words)))

    @property
    def as_row(self) -> SafeString:
        """Return the row of the table behind the chart. Written without a template, as there are ``DOTS`` of them."""
        money = f"{parts.markup(self.stake.amount)} {parts.who(self.stake)}"
        return mark_safe(f"<tr><td>{self._link('')}</td><td>{money}</td><td>{parts.due_ring(self.left)}</td></tr>")

    @property
    def as_item(self) -> SafeString:
        """Return the item of a list, with its priority."""
        money = parts.who(self.stake, with_amount=True) if self.stake.amount else ""
        about, due = parts.markup(self.about), parts.due_ring(self.left)
        start = parts.priority_bars(self.finding) + self._link(' class="t1"')
        return mark_safe(f'<li>{start}{money}<span class="m">{about}</span>{due}</li>\n')

    def _link(self, attributes: str) -> str:
        return f'<a{attributes} href="{page_of("finding", self.finding.pk)}">{parts.markup(self.title)}</a>'


def losses(
    sums: Iterable[tuple[Any, ...]],
    casinos: Mapping[int, Casino] = MappingProxyType({}),
    write: WriteMoney = money,
) -> list[Loss]:
    """Return what is owed, by side and currency. ``sums`` comes from ``audit.casework.debts.sums_owed``.

    ``casinos`` are those that the page is about, by their ids; without them the oldest is on no casino's clock. As
    figures they are to the cent; a sentence has another ``write``.
    """
    by_side: dict[tuple[str, bool], list[tuple[datetime, int, int, int]]] = defaultdict(list)
    for currency, by, casino, total, count, oldest in sums:
        by_side[currency, by != "house"].append((oldest, casino, total, count))
    return [_loss(currency, is_banks, rows, casinos, write) for (currency, is_banks), rows in sorted(by_side.items())]


def kept(orders: QuerySet[PaymentOrder], write: WriteMoney = money) -> list[Kept]:
    """Return what of ``orders`` is kept for persons not found, by currency."""
    return [Kept(write(total, currency), count, over) for currency, total, count, over in kept_sums(orders)]


def _loss(
    currency: str,
    is_banks: bool,
    rows: Sequence[tuple[datetime, int, int, int]],
    casinos: Mapping[int, Casino],
    write: WriteMoney,
) -> Loss:
    oldest, casino_id, _total, _count = min(rows)
    casino = casinos.get(casino_id)
    since = date_time(oldest, casino)
    if len(casinos) > 1 and casino is not None:
        since = _("%(since)s, %(casino)s") % {"since": since, "casino": casino}
    total, count = sum(row[2] for row in rows), sum(row[3] for row in rows)
    return Loss("bank" if is_banks else "player", write(total, currency), count, since)


def incidents(
    request: HttpRequest, *, of_several: bool, also: Sequence[int]
) -> tuple[list[Incident], list[Incident], list[Finding]]:
    """Return the next incidents, all that are drawn, first things first, and the findings with the ids ``also``.

    All have names where the officer sees them. ``of_several``: the next name their casinos. Those that are drawn are
    ``in_brief``. Three queries, and one for each casino with names.
    """
    ids = most_urgent(request, DOTS)
    drawn, read = in_brief(ids), {each.pk: each for each in lines([*ids[:NEXT], *also])}
    add_names([*drawn, *read.values()], scope_of(request, Capability.SEE_NAMES), with_facts=False)
    following = [incident_of(read[pk], of_several=of_several) for pk in ids[:NEXT] if pk in read]
    return following, [incident_of(each) for each in drawn], [read[pk] for pk in also if pk in read]


def incident_of(finding: Finding, *, of_several: bool = False) -> Incident:
    """Return a finding with a case as a line."""
    case = finding.case
    assert case is not None, "an incident has a case"
    stake = stake_of_incident(finding, _name(finding, "player"))
    return Incident(
        finding,
        incident_title(finding, stake),
        reference(finding),
        stake,
        time_left(case.deadline, since=case.opened_at),
        _name(finding, "croupier"),
        str(finding.casino) if of_several else "",
    )


def _name(finding: Finding, role: str) -> str:
    """Return who is the player or croupier of a finding: the name alone, or the id where there is no name."""
    code = str(getattr(finding, role))
    return short_name(finding.named.get(role, ""), code)


def chart(lines: Sequence[Incident]) -> SafeString:
    """Draw incidents by deadline and money. Their labels are escaped by the chart."""
    now = timezone.now()
    ends = (0.0, *(LATE_SHARE + SHARE * number for number in range(4)))
    titles = (_("Late"), _("Within 6 hours"), _("Within a day"), _("Later"))
    spans = [Span(title, end, "crit" if not index else "") for index, (title, end) in
             enumerate(zip(titles, ends[1:], strict=True))]  # fmt: skip
    currency = next((line.finding.currency for line in lines if line.stake.amount), "EUR")
    drawn = draw_scatter(
        [_dot(line, now) for line in lines],
        spans,
        _ticks(lines, currency),
        none=_("none"),
        title=_("What waits, by deadline and money"),
        description=_("Each dot is an open incident. The table below shows the same."),
    )
    return mark_safe(drawn)


def _dot(line: Incident, now: datetime) -> Dot:
    case = line.finding.case
    assert case is not None
    owed = line.owed
    amount = float(owed) if owed else None
    kind = line.stake.side if owed else "none"
    text = line.stake.amount if owed else ""
    label = _name(line.finding, "player") or finding_title(line.finding.rule)
    return Dot(_share(case.deadline - now), amount, kind, text, label)


def _share(left: timedelta) -> float:
    """Return how far right a deadline is: each period has its own scale, the first that of a day late."""
    if left < timedelta(0):
        return LATE_SHARE * max(0.1, 1 + left / timedelta(days=1))
    for index, (begin, end) in enumerate(pairwise(SPANS)):
        if left < end or index == len(SPANS) - 2:
            return LATE_SHARE + SHARE * (index + min(0.97, (left - begin) / (end - begin)))
    return 1.0


def _ticks(lines: Iterable[Incident], currency: str) -> list[tuple[float, str]]:
    highest = max([*(line.owed for line in lines), Decimal(100)])
    ticks: list[tuple[float, str]] = []
    amount = 1
    while amount <= highest:
        digits = 0 if currency == "JPY" else 2
        ticks.append((float(amount), money_in_prose(amount * 10**digits, currency)))
        amount *= 10
    return ticks
