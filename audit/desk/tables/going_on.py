"""A table at a moment: what happened last, who has how much on the felt, and the session's findings on a ruler."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.charts.ruler import Tick, draw_ruler
from audit.desk import parts
from audit.desk.complaints.about import complaints_in
from audit.desk.tables.moment import clock_in, moment_in
from audit.event_store import read
from audit.felt.frames import Playback
from audit.models import Complaint, Finding, LoggedStream
from audit.persons.directory import Directory
from audit.presentation import clock, finding_title, local, money, reference, stake_of
from settlement.codec import decode_one_stored

TICKS = 60
"""Findings on the ruler, in the order of the clock."""

SILENCE = timedelta(minutes=5)
"""How long nothing happens before the page says so."""

ON_THE_FELT = ("on", "jail", "won")


def day_in(text: str) -> date | None:
    """Return a gaming day as an address has it; None for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def moment_context(
    stream: LoggedStream, playback: Playback, at: int, directory: Directory, written: str
) -> dict[str, Any]:
    """Return what the page says of event ``at``: ``written`` is the clock time that the address has, "" for none."""
    index = playback.index_of(at)
    frame = playback.frames[index]
    staked: Counter[str] = Counter()
    for stake in frame.stakes.values():
        if stake.state in ON_THE_FELT:
            staked[stake.wager.player or ""] += stake.wager.standing
    casino, currency = stream.casino, playback.currency
    now = local(frame.event.occurred_at, casino)
    following = playback.frames[index + 1].event if index + 1 < len(playback.frames) else None
    gap = following.occurred_at - frame.event.occurred_at if following is not None else timedelta(0)
    found = list(
        Finding.objects.standing()
        .filter(stream_id=stream.pk)
        .order_by("occurred_at", "pk")
        .select_related("casino")[:TICKS]
    )
    wanted = clock_in(written)
    requested = moment_in(stream, stream.table, wanted) if wanted is not None and stream.table is not None else None
    is_closed = requested is not None and not requested.is_open
    return {
        "clock": f"{wanted:%H:%M}" if wanted is not None and not is_closed else f"{now:%H:%M}",
        "closed_at": f"{wanted:%H:%M}" if is_closed else "",
        "last_at": clock(frame.event.occurred_at, casino),
        "complaints": complaints_in(Complaint.objects.filter(stream_id=stream.pk)),
        "point": frame.point,
        "result": frame.result,
        "on_felt": money(sum(staked.values()), currency),
        "players": [
            {
                "person": parts.person("player", stream.casino_id, player, directory.player(player)) if player else "",
                "staked": money(amount, currency),
            }
            for player, amount in sorted(staked.items(), key=lambda item: (-item[1], item[0]))
        ],
        "silent_min": int(gap.total_seconds() // 60) if gap >= SILENCE else 0,
        "ruler": _ruler(stream, found, frame.event.occurred_at),
        "findings": [
            {
                "finding": each,
                "title": finding_title(each.rule),
                "reference": reference(each),
                "who": parts.who(stake_of(each), with_amount=True),
            }
            for each in found
            if abs(each.seq - at) <= 40
        ][:6],
    }


def _ruler(stream: LoggedStream, found: list[Finding], now: datetime) -> SafeString:
    ends = [*read.slice_of(stream.pk, limit=1), *read.before(stream.pk, seq=read.next_seq_of(stream.pk), limit=1)]
    instants = [now, *(decode_one_stored(raw).occurred_at for _seq, raw in ends)]
    first, end = min(instants), max(instants)
    span = max((end - first).total_seconds(), 60.0)

    def share(instant: datetime) -> float:
        return (instant - first).total_seconds() / span

    page = reverse("admin:audit_loggedstream_table", args=(stream.pk,))
    ticks = [
        Tick(share(each.occurred_at), stake_of(each).side or "none", f"{page}?at={each.seq}", finding_title(each.rule))
        for each in found
    ]
    step = timedelta(hours=1) if end - first > timedelta(hours=2) else timedelta(minutes=15)
    hours: list[tuple[float, str]] = []
    hour = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    while hour < end and len(hours) < 24:
        if hour >= first:
            hours.append((share(hour), f"{local(hour, stream.casino):%H:%M}"))
        hour += step
    described = _("%(number)d findings on the session’s clock; each leads to its event") % {"number": len(ticks)}
    title = _("The session, its hours and its findings")
    return mark_safe(draw_ruler(ticks, hours, here=share(now), title=title, description=described))  # our own drawing
