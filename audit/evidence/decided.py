"""What officers decided about the corrections of a stream, each by its entry of the audit trail.

    row of the decision ─► its entry, as it is stored ─► in the tree of the bundle's checkpoint? ─► finding.json

Everything is taken from the entry, which the log keeps; the row only says where it is. Which decisions a bundle has
follows from its checkpoint: a later one changes no bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from audit.event_store import read
from audit.evidence.bundle import Unproven
from audit.evidence.signers import proven_entry
from audit.models import CorrectionDecision, LoggedStream
from audit.transparency.proofs import NotSealed
from audit.transparency.tree import StoredCheckpoint


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """The entry of one decision: its desk stream, by id and name, its number and its stored bytes.

    ``correction`` is the seq of the correction that the decision is about.
    """

    desk_id: int
    desk: str
    seq: int
    correction: int
    raw: bytes


def entries_of(stream_id: int, last_seq: int) -> list[TrailEntry]:
    """Return the entries of the decisions about a stream's corrections through an event, in order.

    Raise ``Unproven`` if the log lacks one.
    """
    rows = list(CorrectionDecision.objects.filter(stream=stream_id, seq__lte=last_seq).order_by("seq", "number"))
    names = {row.entry_stream for row in rows}
    desks = LoggedStream.objects.filter(casino__in={row.casino_id for row in rows}, name__in=names, is_of_desk=True)
    ids = dict(desks.values_list("name", "stream_id"))
    if missing := names - ids.keys():
        raise Unproven(f"the record has no audit trail {min(missing)}, by which a correction was decided")
    stored = {
        name: read.events_at(desk_id, [row.entry_seq for row in rows if row.entry_stream == name])
        for name, desk_id in ids.items()
    }
    for row in rows:
        if row.entry_seq not in stored[row.entry_stream]:
            what = f"{row.entry_stream} has no entry {row.entry_seq}"
            raise Unproven(f"the audit trail {what}, by which correction {row.seq} was decided")
    return [
        TrailEntry(ids[desk], desk, row.entry_seq, row.seq, stored[desk][row.entry_seq])
        for row in rows
        for desk in (row.entry_stream,)
    ]


def proven_decisions(entries: Iterable[TrailEntry], checkpoint: StoredCheckpoint) -> Iterator[dict[str, Any]]:
    """Yield the decisions that the tree of ``checkpoint`` has, as ``finding.json`` has them."""
    for entry in entries:
        try:
            proven = proven_entry(entry.desk_id, entry.desk, entry.seq, entry.raw, checkpoint)
        except NotSealed:  # decided after the checkpoint
            continue
        envelope = msgspec.json.decode(entry.raw)
        yield {
            "correction": envelope["data"]["correction"],
            "decision": envelope["type"].removeprefix("correction."),
            "officer": envelope["actor"],
            "reason": envelope["data"]["reason"],
            "decided_at": envelope["occurred_at"],
            "entry": proven,
        }
