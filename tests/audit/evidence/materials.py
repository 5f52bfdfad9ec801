"""Sealed sessions built in memory, without a database: a key, a tree and a finding of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from audit.event_store import merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.evidence.bundle import Material, SealedBatch, readings_of, refold
from audit.transparency import tree
from audit.transparency.signed_notes import Checkpoint, Signer
from settlement import ENGINE_VERSION, decode
from tests.audit.sessions import Event, event, opener

STREAM = "deauville.C1.2026-11-19.1"
ORIGIN = "evidence.test/log"
SIGNER = Signer(ORIGIN, bytes(range(32)))
RECEIVED = datetime(2026, 11, 19, 22, 4, 5, 123, tzinfo=UTC)


def overpaid(stream: str = STREAM) -> list[Event]:
    """A session with an overpaid winner, and a croupier whose name is not ASCII."""
    return [
        opener(stream, casino="deauville", observes=[]),
        event(stream, 2, "wager.placed", wager="w1", bet="win", stake=1_000),
        event(stream, 3, "events.lost", through=5, reason="spool_lost"),
        event(stream, 6, "dice.thrown", faces=[4, 3]) | {"actor": 'Zoé \u2028 "d\'Arc"'},
        event(stream, 7, "payout.made", wager="w1", winnings=5_000, stake_returned=1_000),
    ]


def enveloped(events: Iterable[Event]) -> list[bytes]:
    return [
        json.dumps({"v": 1, "data": {}} | each, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        for each in events
    ]


def material(
    events: Sequence[Event],
    *,
    rule: str,
    sizes: Sequence[int],
    others: int = 5,
    signer: Signer = SIGNER,
    **changed: Any,
) -> Material:
    """Return the input of the bundle of the first finding of ``rule``.

    ``sizes`` are the sizes of the batches. Before each batch, and after the last, the tree has ``others`` leaves of
    other streams. ``changed`` replaces fields.
    """
    envelopes = enveloped(events)
    state = refold(envelopes)
    opener_data = events[0]["data"]
    leaves: list[bytes] = []
    entries: list[tuple[bytes, int]] = []
    chain, first = merkle.NO_CHAIN, 0
    row = StreamRow(stream_id=2_515 << 32 | 1, name=str(events[0]["stream"]), casino=3, table=7)
    for number, count in enumerate(sizes):
        leaves += [merkle.leaf(b"another %d" % len(leaves)) for _ in range(others)]
        envelopes_of_batch = envelopes[first : first + count]
        root = merkle.root(merkle.leaves(envelopes_of_batch))
        seqs = [decode(each).seq for each in envelopes]
        next_seq = seqs[first + count] if first + count < len(seqs) else seqs[-1] + 1
        chain = merkle.chain(chain, root, first_seq=seqs[first], count=count)
        received_at = RECEIVED + timedelta(seconds=number)
        batch = Batch(seqs[first], seqs[first + count - 1], next_seq, count, root, chain, received_at, 11)
        entries.append((tree.entry(row, batch), len(leaves)))
        leaves.append(merkle.leaf(entries[-1][0]))
        first += count
    leaves += [merkle.leaf(b"another %d" % len(leaves)) for _ in range(others)]

    def root_of(low: int, high: int) -> bytes:
        return merkle.root(leaves[low:high])

    values: dict[str, Any] = {
        "finding": next(each for each in state.table.findings if each.rule == rule),
        "stream": row.name,
        "casino": opener_data["casino"],
        "table": opener_data.get("table"),
        "gaming_day": opener_data["gaming_day"],
        "currency": opener_data["currency"],
        "ruleset": opener_data.get("ruleset", ""),
        "engine_version": ENGINE_VERSION,
        "readings_digest": state.readings_digest,
        "readings": readings_of(state),
        "envelopes": envelopes,
        "batches": [
            SealedBatch(entry=entry, index=index, path=merkle.inclusion(index, len(leaves), root_of))
            for entry, index in entries
        ],
        "origin": signer.verifier.name,
        "checkpoint": signer.note(Checkpoint(signer.verifier.name, len(leaves), merkle.root(leaves)).text()),
        "keys": [str(signer.verifier)],
    }
    return Material(**(values | changed))


def small_material(**changed: Any) -> Material:
    return material(overpaid(), rule="payout-overpaid", sizes=[1, 2, 2], **changed)
