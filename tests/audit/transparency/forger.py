"""A superuser with the stolen checkpoint key, who changes an event and makes everything after it anew.

What is left inside the database is consistent: roots and chains of the batches, heads of the streams, leaves, roots of
subtrees, checkpoints. Only who kept a checkpoint elsewhere can see it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.db.backends.utils import CursorWrapper

from audit.event_store import merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.transparency import signing_keys, tree
from audit.transparency.signed_notes import Checkpoint
from tests import citus

TABLES = ("stream", "stream_head", "event", "batch", "leaf", "subtree", "checkpoint", "key", "outbox", "clock")


def unguard(cursor: CursorWrapper) -> None:
    """Switch off every guard of the log."""
    citus.let_a_superuser_attack(cursor)
    for guard in ("log_no_change", "log_no_drop"):
        cursor.execute(f"alter event trigger {guard} disable")
    for table in TABLES:
        cursor.execute(f"alter table log.{table} disable trigger user")


def rebuild_with_another_event(cursor: CursorWrapper, stream: str) -> None:
    """Change the last event of ``stream`` and make the whole log consistent with it, signed with the log's own key."""
    unguard(cursor)
    cursor.execute(
        "select e.stream_id, e.seq, e.envelope::text from log.event e join log.stream s using (stream_id)"
        " where s.name = %s order by e.seq desc limit 1",
        [stream],
    )
    stream_id, seq, envelope = cursor.fetchone()
    changed = envelope.replace('"data":{', '"data":{"another":1,', 1).replace(",}", "}")
    assert changed != envelope
    cursor.execute(
        "update log.event set envelope = %s::json where stream_id = %s and seq = %s", [changed, stream_id, seq]
    )
    _rechain(cursor, stream_id)
    _regrow(cursor)


def rebuild(cursor: CursorWrapper, stream_id: int) -> None:
    """Make chain, leaves, subtrees and checkpoints anew from what is stored of a stream."""
    _rechain(cursor, stream_id)
    _regrow(cursor)


def _rechain(cursor: CursorWrapper, stream_id: int) -> None:
    cursor.execute(
        "select first_seq, last_seq, count from log.batch where stream_id = %s order by first_seq", [stream_id]
    )
    chain = merkle.NO_CHAIN
    for first_seq, last_seq, count in cursor.fetchall():
        cursor.execute(
            "select envelope::text from log.event where stream_id = %s and seq between %s and %s order by seq",
            [stream_id, first_seq, last_seq],
        )
        root = merkle.root(merkle.leaves(text.encode() for (text,) in cursor.fetchall()))
        chain = merkle.chain(chain, root, first_seq=first_seq, count=count)
        cursor.execute(
            "update log.batch set root = %s, chain = %s where stream_id = %s and first_seq = %s",
            [root, chain, stream_id, first_seq],
        )
    cursor.execute("update log.stream_head set chain = %s where stream_id = %s", [chain, stream_id])


def _regrow(cursor: CursorWrapper) -> None:
    """Make leaves, subtrees and checkpoints anew from the batches."""
    cursor.execute(
        "select s.stream_id, s.name, s.casino_id, s.table_id, b.first_seq, b.last_seq, b.next_seq, b.count, b.root,"
        " b.chain, b.received_at, b.key_id, b.signature from log.leaf l join log.batch b using (stream_id, first_seq)"
        " join log.stream s using (stream_id) order by l.log_index"
    )
    frontier, roots = merkle.Frontier(), {}
    for index, row in enumerate(cursor.fetchall()):
        batch = Batch(*row[4:8], bytes(row[8]), bytes(row[9]), *row[10:12], row[12] and bytes(row[12]))
        leaf = merkle.leaf(tree.entry(StreamRow(*row[:4]), batch))
        cursor.execute("update log.leaf set hash = %s where log_index = %s", [leaf, index])
        for height, position, root in frontier.add(leaf):
            cursor.execute(
                "update log.subtree set hash = %s where height = %s and index = %s", [root, height, position]
            )
        roots[frontier.size] = frontier.root()
    signer = signing_keys.signer("checkpoint", datetime.now(UTC))
    cursor.execute("select size from log.checkpoint order by size")
    for (size,) in cursor.fetchall():
        note = signer.note(Checkpoint(signing_keys.origin(), size, roots[size]).text())
        cursor.execute("update log.checkpoint set root = %s, note = %s where size = %s", [roots[size], note, size])
