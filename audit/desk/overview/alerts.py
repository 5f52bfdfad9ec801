"""The alerts of tables that should report, for the first page and *Record and proofs*."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.models import Alert, Casino
from audit.presentation import date_time

SHOWN_FOR = timedelta(days=1)
"""How long an alert is on the page of the record after it has ended."""

MAX_ALERTS = 50


@dataclass(frozen=True, slots=True)
class AlertLine:
    """An alert in words; ``ended`` is "" while it lasts."""

    casino: Casino
    table: str
    what: str
    since: str
    ended: str
    why: str


@dataclass(frozen=True, slots=True)
class Alerts:
    """The first lines of ``number`` alerts."""

    lines: list[AlertLine]
    number: int


def alerts_of(casino_ids: Collection[int] | None) -> Alerts:
    """Return the alerts that last, the newest first, and those that ended lately."""
    shown = _of(casino_ids).filter(Q(ended_at=None) | Q(ended_at__gt=timezone.now() - SHOWN_FOR))
    # NULL is first.
    newest = shown.select_related("casino", "table").order_by("-ended_at", "-opened_at", "-pk")[:MAX_ALERTS]
    found = [_line(each) for each in newest]
    return Alerts(found, len(found) if len(found) < MAX_ALERTS else shown.count())


def _of(casino_ids: Collection[int] | None) -> QuerySet[Alert]:
    return Alert.objects.all() if casino_ids is None else Alert.objects.filter(casino__in=casino_ids)


def _line(alert: Alert) -> AlertLine:
    return AlertLine(
        casino=alert.casino,
        table=alert.table.code,
        what=alert.get_kind_display(),
        since=date_time(alert.since, alert.casino),
        ended=date_time(alert.ended_at, alert.casino) if alert.ended_at is not None else "",
        why=alert.get_ended_by_display() if alert.ended_by else "",
    )
