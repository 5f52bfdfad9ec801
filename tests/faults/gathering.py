"""What is there at the end of a history: stored events, entries of leaves, keys, findings and those of a clean run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audit.event_store import binary_copy, read
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.models import Finding
from audit.transparency import signing_keys, tree
from tests.audit.adjudication.finished import of_finished_coups
from tests.faults.history import History, Key

_ENTRIES = """
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id
from log.leaf l join log.batch b using (stream_id, first_seq) join log.stream s using (stream_id)
where l.log_index >= %b::bigint order by l.log_index
"""


def gather(history: History, casino_id: int, names: Iterable[str]) -> None:
    """Complete a history with what is there now of a casino's streams; one that is not there has nothing stored."""
    names = list(names)
    rows = binary_copy.execute(_ENTRIES, (history.before.size,))
    # An entry is trusted as far as its hash is under a checkpoint: the checker computes both.
    history.entries = [tree.entry(StreamRow(*row[:4]), Batch(*row[4:])) for row in rows]
    history.others = frozenset(row[1] for row in rows) - set(names)
    history.receipt_keys, history.checkpoint_keys = keys("receipt"), keys("checkpoint")
    for name in names:
        head = read.head_of(casino_id, name)
        stored = [] if head is None else list(read.whole(head.stream_id))
        history.stored[name] = stored
        standing = Finding.objects.filter(stream_id=head.stream_id if head else None, status="standing")
        found = standing.exclude(rule="sequence-conflict")  # which is the door's, and no run's
        history.findings[name] = [finding.as_dict() for finding in found]
        clean = of_finished_coups([raw for _, raw in stored]) if stored else []
        history.clean[name] = [{**each.as_dict(), "consequences": []} for each in clean]


def keys(purpose: Any) -> list[Key]:
    """Return the registered keys of a purpose as the checker takes them."""
    return [Key(each.name, each.key_id, each.public) for each in signing_keys.verifiers(purpose)]
