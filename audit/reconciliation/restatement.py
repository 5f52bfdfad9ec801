"""The restatement sheet: what a version changes against the previous one, line by line, with events and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from audit.corrections.decisions import decisions_about, state_of
from audit.event_store import read
from audit.models import AdjudicationRun, CorrectionDecision, CorrectionState, NightReport, RunCause
from audit.reconciliation.content import BRIDGE, TOTALS, UNADJUDICATED
from audit.reconciliation.night import Night
from audit.register.touched import named, new_entries
from settlement.codec import decode_one_stored
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
    readings = _changed_readings(before, ids.values())
    for stream_id, decided in _decided(before, ids.values()).items():
        readings.setdefault(stream_id, []).extend(decided)
    for row in rows:
        streams = {ids[row["of"]], *night.counts.streams} if row["of"] else {*arrivals, *readings}
        relevant = [arrivals[stream_id] for stream_id in sorted(streams & arrivals.keys())]
        row["events"] = [event for arrival in relevant for event in arrival.events][:MAX_EVENTS]
        reasons = {reason for arrival in relevant for reason in arrival.reasons}
        reasons |= {reason for stream_id in streams & readings.keys() for reason in readings[stream_id]}
        row["reasons"] = sorted(reasons) or ["findings"]
    return rows


def _changed_readings(before: NightReport, stream_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return, for each stream that was read again because of the register since ``before``, the entries that it was."""
    runs = AdjudicationRun.objects.filter(
        stream__in=list(stream_ids), what_if=None, cause=RunCause.REGISTER, completed_at__gt=before.made_at
    )
    changed: dict[int, list[str]] = {}
    for run in runs.select_related("stream", "replaces").order_by("pk"):
        after = run.replaces.register_version if run.replaces is not None else 0
        entries = new_entries(run.stream, after, run.register_version)
        changed.setdefault(run.stream_id, []).extend(f"register: {named(entry)}" for entry in entries)
    return changed


def _decided(before: NightReport, stream_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return, for each stream of which a correction was approved or refused since ``before``, which, and by whom."""
    since = CorrectionDecision.objects.filter(stream__in=list(stream_ids), decided_at__gt=before.made_at)
    decided: dict[int, list[str]] = {}
    for stream_id, seq in since.values_list("stream_id", "seq").order_by("stream_id", "seq").distinct():
        about = decisions_about(stream_id, seq)
        state = state_of(about)
        if state != CorrectionState.WAITING:
            officers = ", ".join(each.officer.get_username() for each in about)
            decided.setdefault(stream_id, []).append(f"{state}: #{seq} ({officers})")
    return decided


def _changed_figures(of: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    pairs = [(key, was.get(key), now.get(key)) for key in TOTALS]
    earlier = was.get("bridge", {})
    pairs += [(key, earlier.get(key), now["bridge"].get(key)) for key in BRIDGE]
    pairs.append((UNADJUDICATED, earlier.get(UNADJUDICATED, 0), now["bridge"].get(UNADJUDICATED, 0)))
    for key, before, after in pairs:
        if before != after:
            yield {"of": of, "line": key, "was": before, "is": after}


def _arrival(stream_id: int, after: int, last: int) -> Arrival:
    events, reasons = [], set()
    for _seq, raw in read.slice_of(stream_id, after=after, limit=MAX_EVENTS):
        event = decode_one_stored(raw)
        if event.seq > last:
            break
        events.append(f"{event.stream}#{event.seq}")
        if isinstance(event, EntryCorrected):
            data = event.data
            reasons.add(f"corrected: #{data.corrects}, {data.reason} ({data.approved_by})")
        else:
            reasons.add(f"late: {event.type}")
    return Arrival(events, sorted(reasons))
