"""The restatement sheet: what a version changes against the previous one, line by line, with events and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from audit.event_store import read
from audit.models import NightReport
from audit.reconciliation.content import BRIDGE, TOTALS
from audit.reconciliation.night import Night
from settlement import decode
from settlement.events import EntryCorrected

MAX_EVENTS = 50
"""Events that a row names, and that are looked at for its reasons, per stream."""


class Arrival(NamedTuple):
    """The events of one stream that arrived since the previous version, each ``stream#seq``, and the reasons."""

    events: list[str]
    reasons: list[str]


def restatement_rows(before: NightReport, content: Mapping[str, Any], night: Night) -> list[dict[str, Any]]:
    """Return the rows of the sheet: of which session ("" for the total), which line, was, is, events and reasons.

    ``line`` is the key of a figure, or ``line.CODE`` for the verdict of a check.
    """
    was = before.parsed_content()
    known = {int(stream_id): last for stream_id, last in before.through.items()}
    arrivals = {
        stream_id: _arrival(stream_id, known.get(stream_id, 0), last)
        for stream_id, last in night.through.items()
        if last > known.get(stream_id, 0)
    }
    rows = list(_changed_figures("", was["total"], content["total"]))
    earlier_sessions = {session["stream"]: session for session in was["sessions"]}
    for session in content["sessions"]:
        rows += _changed_figures(session["stream"], earlier_sessions.get(session["stream"], {}), session)
    for line, earlier in zip(content["lines"], was["lines"], strict=True):
        if line["code"] != "late" and line["verdict"] != earlier["verdict"]:
            rows.append({"of": "", "line": f"line.{line['code']}", "was": earlier["verdict"], "is": line["verdict"]})
    ids = {session.stream.name: session.stream.stream_id for session in night.sessions}
    for row in rows:
        streams = {ids[row["of"]], *night.counts.streams} if row["of"] else set(arrivals)
        relevant = [arrivals[stream_id] for stream_id in sorted(streams & arrivals.keys())]
        row["events"] = [event for arrival in relevant for event in arrival.events][:MAX_EVENTS]
        row["reasons"] = sorted({reason for arrival in relevant for reason in arrival.reasons}) or ["findings"]
    return rows


def _changed_figures(of: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    pairs = [(key, was.get(key), now.get(key)) for key in TOTALS]
    pairs += [(key, was.get("bridge", {}).get(key), now["bridge"].get(key)) for key in BRIDGE]
    for key, before, after in pairs:
        if before != after:
            yield {"of": of, "line": key, "was": before, "is": after}


def _arrival(stream_id: int, after: int, last: int) -> Arrival:
    events, reasons = [], set()
    for _seq, raw in read.slice_of(stream_id, after=after, limit=MAX_EVENTS):
        event = decode(raw)
        if event.seq > last:
            break
        events.append(f"{event.stream}#{event.seq}")
        if isinstance(event, EntryCorrected):
            data = event.data
            reasons.add(f"corrected: #{data.corrects}, {data.reason} ({data.approved_by})")
        else:
            reasons.add(f"late: {event.type}")
    return Arrival(events, sorted(reasons))
