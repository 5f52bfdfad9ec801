"""The clock and the calendar of a session: a clock that steps back, a day on which its regulation was not in force."""

from __future__ import annotations

from datetime import datetime, timedelta

from settlement.events import Event
from settlement.findings import find
from settlement.ruleset import Ruleset
from settlement.state import Table

CLOCK_TOLERANCE = timedelta(seconds=2)
"""How far a table's clock may step back without a finding: `clock-went-back`."""


def check_days(table: Table, seq: int, ruleset: Ruleset) -> None:
    """Find a session of a day on which its regulation was not in force, as far as that is known."""
    day, instrument = table.open_session().gaming_day, ruleset.instrument
    since, until = instrument.in_force_from, instrument.in_force_until
    if (since is None or day >= since) and (until is None or day < until):
        return
    is_early = since is not None and day < since
    find(
        table,
        "ruleset-not-in-force",
        seq,
        ruleset=ruleset.name,
        gaming_day=day.isoformat(),
        until=None if is_early or until is None else until.isoformat(),
        since=since.isoformat() if is_early and since else None,
        also_given=instrument.also_given.isoformat() if is_early and instrument.also_given else None,
        published=instrument.published.isoformat() if is_early and instrument.published else None,
    )


def check_clock(table: Table, event: Event, clock: datetime) -> None:
    """Find a clock that stepped back; ``clock`` is that of the event before."""
    back = clock - event.occurred_at
    if back > CLOCK_TOLERANCE:
        find(
            table,
            "clock-went-back",
            event.seq,
            # In the event's own offset: a saved state keeps the instant, not the offset it was sent with.
            expected=clock.astimezone(event.occurred_at.tzinfo).isoformat(),
            recorded=event.occurred_at.isoformat(),
            back_s=int(back.total_seconds()),
        )
