"""The win of each session through its night, as its wagers were decided: what the small multiples of a page draw.

It is kept with the figures of the session. One whose figures were made before lines were kept has to be read for it,
and its line is kept in the cache, under everything that it depends on. A page reads at most ``EVENTS_READ`` events for
lines that are not kept; a session beyond that has none until its own page is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from django.core import signing
from django.core.cache import cache

from audit.charts.win_line import thinned
from audit.models import LoggedStream
from audit.reconciliation import kept, sessions
from audit.reconciliation.kept import Key
from settlement import ENGINE_VERSION
from settlement.night.bridge import WagerLine
from settlement.night.wins import recorded_win, won_so_far
from settlement.state import Wager

log = structlog.get_logger(__name__)

EVENTS_READ = 40_000
"""Events that one page reads: a second, about."""

KEPT_FOR_S = 40 * 24 * 3600

_SALT = "audit.reconciliation.win_lines"


def win_lines(rows: Iterable[Mapping[str, Any]]) -> dict[int, list[int]]:
    """Return what each session had won so far, in order, by stream id; at most as many points as a chart shows.

    ``rows`` are those of the sessions in a report's content.
    """
    last_seqs = {row["stream_id"]: row["last_seq"] for row in rows}
    keys = kept.keys_of(last_seqs)
    lines = kept.win_lines_of(keys)
    names = {stream_id: _name(stream_id, key) for stream_id, key in keys.items() if stream_id not in lines}
    lines |= _kept(names)
    left = EVENTS_READ
    for stream in LoggedStream.objects.filter(pk__in=last_seqs.keys() - lines.keys()).order_by("pk"):
        left -= last_seqs[stream.pk]
        if left < 0:
            break
        lines[stream.pk] = line_of(sessions.wager_lines(stream, last_seqs[stream.pk]))
        _keep(names[stream.pk], lines[stream.pk])
    return lines


def line_of(wagers: Iterable[tuple[WagerLine, Wager | None]]) -> list[int]:
    """Return the recorded win so far, in minor units, in the order in which wagers were decided."""
    return thinned(won_so_far(recorded_win(line, wager) for line, wager in wagers))


def _name(stream_id: int, key: Key) -> str:
    return f"win-line:{ENGINE_VERSION}:{stream_id}:{key.last_seq}:{key.readings}:{key.corrections}"


def _kept(names: Mapping[int, str]) -> dict[int, list[int]]:
    try:
        stored = cache.get_many(names.values())
        return {
            stream_id: signing.loads(stored[name], salt=f"{_SALT}:{name}")
            for stream_id, name in names.items()
            if name in stored
        }
    except Exception as error:  # no cache, or not what was put there: the sessions are read
        log.warning("win lines not taken", error=f"{type(error).__name__}: {error}")
        return {}


def _keep(name: str, line: list[int]) -> None:
    try:
        cache.set(name, signing.dumps(line, salt=f"{_SALT}:{name}", compress=True), KEPT_FOR_S)
    except Exception as error:  # a page does not wait for a cache
        log.warning("win line not kept", error=f"{type(error).__name__}: {error}")
