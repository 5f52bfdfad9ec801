"""What adjudicating a stream to its end would find, computed and not stored: the answer to a dry run.

It begins where replay stands, with what replay has stored, and writes nothing: a web server may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from audit.adjudication import results, stream_reader
from audit.adjudication.replay import fold, fold_on
from audit.adjudication.results import standing
from audit.event_store import read
from audit.models import Adjudication, RunState
from audit.models import Finding as FindingRow
from settlement import Event, Finding, NeedsReplay, State
from settlement.streams import with_held

ATTEMPTS = 3
"""How often it begins anew because a worker has moved on meanwhile."""

_encode = msgspec.json.Encoder(order="sorted").encode


class Unsettled(Exception):
    """The stream cannot be adjudicated just now: it is set aside after a failed run, or a worker keeps moving on."""


class TooManyEvents(Exception):
    """More events than allowed would have to be adjudicated: at least ``count``."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def new_findings(stream_id: int, *, max_events: int) -> list[Finding]:
    """Return the findings that would stand at the end of the stream and do not yet, in order of event, rule and wager.

    Raise ``TooManyEvents`` if more than ``max_events`` wait, or with a correction are in the stream; ``Unsettled``.
    """
    for _ in range(ATTEMPTS):
        adjudication = standing(stream_id)
        if adjudication is not None and adjudication.run is not None and adjudication.run.state == RunState.FAILED:
            raise Unsettled
        found = _found(stream_id, adjudication, max_events)
        if place_of(standing(stream_id)) == place_of(adjudication):  # what was read in between is of one moment
            known = _standing_values(stream_id, {finding.seq for finding in found})
            new = [finding for finding in found if _value(finding) not in known]
            return sorted(new, key=lambda finding: (finding.seq, finding.rule, finding.wager or ""))
    raise Unsettled


def place_of(adjudication: Adjudication | None) -> tuple[int | None, int] | None:
    """Return where replay stands, by its run and cursor; None before its first step."""
    return (adjudication.run_id, adjudication.cursor) if adjudication is not None else None


def _found(stream_id: int, adjudication: Adjudication | None, max_events: int) -> list[Finding]:
    """Return what is found in the events that wait; or in all, if a correction among them changes an earlier one."""
    if adjudication is not None and adjudication.run is not None:
        events = _events(stream_id, adjudication.next_seq, max_events)
        try:
            return fold_on(adjudication, adjudication.run, [events]).findings
        except NeedsReplay:
            pass
    return _folded_anew(stream_id, _events(stream_id, 1, max_events))


def _folded_anew(stream_id: int, events: list[Event]) -> list[Finding]:
    """Return what is found in a whole stream, with no correction in effect that waits for officers."""
    known, readings = stream_reader.corrections_of(stream_id), results.standing_readings(stream_id)
    approved = results.standing_approvals(stream_id)
    return with_held(known, lambda held: fold(State(known, readings, approved, held=held), events))


def _events(stream_id: int, first_seq: int, max_events: int) -> list[Event]:
    count = read.count_from(stream_id, first_seq, limit=max_events + 1)
    if count > max_events:
        raise TooManyEvents(count)
    last_seq = read.next_seq_of(stream_id) - 1
    return [event for page in stream_reader.pages(stream_id, first_seq, last_seq) for event in page]


def _standing_values(stream_id: int, seqs: Iterable[int]) -> set[bytes]:
    rows = FindingRow.objects.standing().filter(stream_id=stream_id, seq__in=list(seqs))
    return {_value(row.as_value()) for row in rows}


def _value(finding: Finding) -> bytes:
    """Return the content of a finding as bytes, which are equal if two findings are the same."""
    content: Mapping[str, object] = finding.as_dict()
    return _encode(content)
