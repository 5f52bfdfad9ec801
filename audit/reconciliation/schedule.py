"""The schedule of nights: a casino's night is reconciled at its cutoff, in its time zone.

An administrator sets the cutoff at the desk, with an entry of the audit trail. Beat reads it (``casino.beat``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from audit.models import Casino

TASK = "audit.tasks.night_reconcile"


@dataclass(frozen=True, slots=True)
class Night:
    """The night of a casino: when its clock shows ``cutoff``, the gaming day has ended."""

    casino_id: int
    code: str
    cutoff: time
    time_zone: str


def nights() -> list[Night]:
    """Return the night of each casino. A sandbox has none."""
    rows = Casino.objects.filter(is_sandbox=False).order_by("pk").values_list("pk", "code", "cutoff", "time_zone")
    return [Night(*row) for row in rows]


def cutoffs_around(at: time, zone: tzinfo, now: datetime) -> tuple[datetime, datetime]:
    """Return the last instant at which the clock of ``zone`` showed ``at``, and the next: 23 to 25 hours apart."""
    today = now.astimezone(zone).date()
    days = [today + timedelta(days=number) for number in (-1, 0, 1, 2)]
    instants = [datetime.combine(day, at, tzinfo=zone).astimezone(UTC) for day in days]
    following = next(index for index, instant in enumerate(instants) if instant > now)
    return instants[following - 1], instants[following]
