"""The drawing *Checkpoints and witnesses*, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from audit.charts.timeline import Mark, Row, draw_timeline
from audit.models import Casino
from audit.monitoring import WitnessSeen
from audit.presentation import MISSING, clock, count, date_time, local, zone
from audit.transparency.timeline import SealedAt, checkpoints

SHOWN = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A checkpoint: when its newest batch came, its leaves, and when each witness's cosignature came, or a dash."""

    at: str
    size: str
    cosigned: list[str]


@dataclass(frozen=True, slots=True)
class Timeline:
    """``drawing`` is "" where there is nothing to draw: no checkpoint in that time, and no witness."""

    drawing: SafeString | str
    zone: str
    witnesses: list[str]
    rows: list[TableRow]


def timeline(witnesses: Sequence[WitnessSeen], casino: Casino | None) -> Timeline:
    """Return the last hours of the log, the newest first in the table, by the clocks of ``casino``, None for UTC."""
    until = timezone.now()
    since = until - SHOWN
    witnesses = [each for each in witnesses if each.vkey]  # without those of a setting that cannot be read
    sealed = checkpoints(since, until, [each.vkey for each in witnesses])
    rows = [
        TableRow(
            clock(each.received_at, casino),
            count(each.size),
            [
                clock(each.cosigned[witness.vkey].received_at, casino) if witness.vkey in each.cosigned else MISSING
                for witness in witnesses
            ],
        )
        for each in reversed(sealed)
    ]
    drawing = mark_safe(_draw(sealed, witnesses, since, until, casino)) if sealed or witnesses else ""  # our own
    return Timeline(drawing, zone(until, casino), [each.name for each in witnesses], rows)


def _draw(
    sealed: Sequence[SealedAt],
    witnesses: Sequence[WitnessSeen],
    since: datetime,
    until: datetime,
    casino: Casino | None,
) -> str:
    def share(moment: datetime) -> float:
        return (moment - since) / (until - since)

    def mark(moment: datetime, size: int) -> Mark:
        return Mark(share(moment), f"{clock(moment, casino)} · {_batches(size)}")

    rows = [Row(gettext("The log signs"), [mark(each.received_at, each.size) for each in sealed], is_log=True)]
    for witness in witnesses:
        cosigned = [each.cosigned[witness.vkey] for each in sealed if witness.vkey in each.cosigned]
        marks = [mark(each.received_at, each.size) for each in cosigned]
        rows.append(Row(witness.name, marks, _silence(witness, since, until, casino)))
    silent = [f"{row.name}: {row.silent[1]}" for row in rows if row.silent]
    last = gettext("The newest is of %(time)s.") % {"time": clock(sealed[-1].received_at, casino)} if sealed else ""
    return draw_timeline(
        rows,
        [(share(each), f"{local(each, casino):%H:%M}") for each in _hours(since, until, casino)],
        title=gettext("Checkpoints and witnesses"),
        description=" ".join([last or gettext("No checkpoint in the last four hours."), *silent]),
    )


def _silence(witness: WitnessSeen, since: datetime, until: datetime, casino: Casino | None) -> tuple[float, str] | None:
    """Return from where a witness is silent, and the words; None while it cosigns."""
    last = None if witness.cosigned_s is None else until - timedelta(seconds=witness.cosigned_s)
    at = 0.0 if last is None else max(0.0, (last - since) / (until - since))
    if witness.is_refused:
        return at, gettext("refuses this log")
    if not witness.is_silent:
        return None
    if last is None:
        return at, gettext("has never cosigned")
    moment = f"{local(last, casino):%H:%M}" if last >= since else date_time(last, casino)
    return at, gettext("silent since %(time)s") % {"time": moment}


def _hours(since: datetime, until: datetime, casino: Casino | None) -> list[datetime]:
    """Return the full hours of a time, by the casino's clocks."""
    first = local(since, casino).replace(minute=0, second=0, microsecond=0)
    hours = (first + timedelta(hours=number) for number in range(1, SHOWN // timedelta(hours=1) + 1))
    return [each for each in hours if since <= each <= until]


def _batches(number: int) -> str:
    return ngettext("%(number)s batch", "%(number)s batches", number) % {"number": count(number)}
