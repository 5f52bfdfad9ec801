"""The restatement sheet: what a version says otherwise than the one before, line by line, with events and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.event_store import read
from audit.models import NightReport
from audit.reconciliation.night import Night
from settlement import decode
from settlement.events import EntryCorrected

FIGURES = ("O", "F", "C", "K", "D", "B", "S", "U", "I", "W_acct", "W_rec", "W_adj")
BRIDGE = ("theoretical", "luck", "payout_errors", "accounting_variance")

EVENTS_LISTED = 50


def sheet_between(before: NightReport, content: Mapping[str, Any], night: Night) -> list[dict[str, Any]]:
    """Return the rows of the sheet: which line of what, was, is, the events that came, and why."""
    was, known = before.said(), {int(stream): last for stream, last in before.through.items()}
    came = {
        stream_id: _came(stream_id, known.get(stream_id, 0), last)
        for stream_id, last in night.through.items()
        if last > known.get(stream_id, 0)
    }
    names = {sitting.stream.name: sitting.stream.stream_id for sitting in night.sittings}
    rows = list(_figures("", was["total"], content["total"]))
    old = {session["stream"]: session for session in was["sessions"]}
    for session in content["sessions"]:
        rows += _figures(session["stream"], old.get(session["stream"], {}), session)
    for line, earlier in zip(content["lines"], was["lines"], strict=True):
        if line["code"] != "late" and line["verdict"] != earlier["verdict"]:
            rows.append({"of": "", "line": f"line.{line['code']}", "was": earlier["verdict"], "is": line["verdict"]})
    counts = {stream_id for stream_id in came if stream_id in night.counts.streams}
    for row in rows:
        about = set(came) if not row["of"] else {names[row["of"]]} | counts
        row["events"] = [event for stream_id in sorted(about & came.keys()) for event in came[stream_id]["events"]]
        row["events"] = row["events"][:EVENTS_LISTED]
        row["reasons"] = sorted({reason for stream_id in about & came.keys() for reason in came[stream_id]["reasons"]})
        if not row["reasons"]:
            row["reasons"] = ["findings"]
    return rows


def _figures(of: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    pairs = [(name, was.get(name), now.get(name)) for name in FIGURES]
    pairs += [(name, was.get("bridge", {}).get(name), now["bridge"].get(name)) for name in BRIDGE]
    for name, before, after in pairs:
        if before != after:
            yield {"of": of, "line": name, "was": before, "is": after}


def _came(stream_id: int, after: int, last: int) -> dict[str, list[str]]:
    """Return the events of a stream after one, and why they came: a correction's own words, or that they are late."""
    events, reasons = [], set()
    for _seq, raw in read.slice_of(stream_id, after=after, limit=EVENTS_LISTED):
        event = decode(raw)
        if event.seq > last:
            break
        events.append(f"{event.stream}#{event.seq}")
        if isinstance(event, EntryCorrected):
            data = event.data
            reasons.add(f"corrected: #{data.corrects}, {data.reason} ({data.approved_by})")
        else:
            reasons.add(f"late: {event.type}")
    return {"events": events, "reasons": sorted(reasons)}
