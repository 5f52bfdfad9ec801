"""Sealed sessions built in memory, without a database: a key, a tree and a finding of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from audit.event_store import merkle
from audit.event_store.audit_trail import NO_KEY
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.evidence.bundle import Material, SealedBatch, readings_of, refold
from audit.transparency import tree
from audit.transparency.signed_notes import Checkpoint, Signer
from settlement import ENGINE_VERSION
from settlement.codec import decode_one_stored
from tests.audit.sessions import Event, event, opener

STREAM = "deauville.C1.2026-11-19.1"
DESK = "deauville.desk.2026-11-20"
CASINO_OF_DESK = 3
CORRECTION = 6
"""The seq of the correction of ``corrected``."""
ORIGIN = "evidence.test/log"
SIGNER = Signer(ORIGIN, bytes(range(32)))
RECEIVED = datetime(2026, 11, 19, 22, 4, 5, 123, tzinfo=UTC)


def overpaid(stream: str = STREAM) -> list[Event]:
    """A session with an overpaid winner, and a note that is not ASCII."""
    return [
        opener(stream, casino="deauville", observes=[]),
        event(stream, 2, "wager.placed", wager="w1", bet="win", stake=1_000),
        event(stream, 3, "events.lost", through=5, reason="spool_lost"),
        event(stream, 6, "dice.thrown", faces=[4, 3]) | {"ext": {"note": 'Zoé \u2028 "d\'Arc"'}},
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
    approved: Sequence[int] = (),
    trail: Sequence[Event] = (),
    **changed: Any,
) -> Material:
    """Return the input of the bundle of the first finding of ``rule``.

    ``sizes`` are the sizes of the batches. Before each batch, and after the last, the tree has ``others`` leaves of
    other streams. ``approved`` are corrections that officers approved, and ``trail`` the entries of the audit trail
    that decide about corrections. ``changed`` replaces fields.
    """
    envelopes = enveloped(events)
    state = refold(envelopes, None, approved)
    opener_data = events[0]["data"]
    leaves: list[bytes] = []
    entries: list[tuple[bytes, int]] = []
    chain, first = merkle.NO_CHAIN, 0
    row = StreamRow(stream_id=2_515 << 32 | 1, name=str(events[0]["stream"]), casino=3, table=7)
    for number, count in enumerate(sizes):
        leaves += [merkle.leaf(b"another %d" % len(leaves)) for _ in range(others)]
        envelopes_of_batch = envelopes[first : first + count]
        root = merkle.root(merkle.leaves(envelopes_of_batch))
        seqs = [decode_one_stored(each).seq for each in envelopes]
        next_seq = seqs[first + count] if first + count < len(seqs) else seqs[-1] + 1
        chain = merkle.chain(chain, root, first_seq=seqs[first], count=count)
        received_at = RECEIVED + timedelta(seconds=number)
        batch = Batch(seqs[first], seqs[first + count - 1], next_seq, count, root, chain, received_at, 11)
        entries.append((tree.entry(row, batch), len(leaves)))
        leaves.append(merkle.leaf(entries[-1][0]))
        first += count
    logged = [_logged(each) for each in enveloped(trail)]
    of_trail = [(*each, len(leaves) + number) for number, each in enumerate(logged)]
    leaves += [merkle.leaf(entry) for _envelope, entry in logged]
    leaves += [merkle.leaf(b"another %d" % len(leaves)) for _ in range(others)]

    def root_of(low: int, high: int) -> bytes:
        return merkle.root(leaves[low:high])

    values: dict[str, Any] = {
        "finding": next(each for each in state.findings() if each.rule == rule),
        "stream": row.name,
        "casino": opener_data["casino"],
        "table": opener_data.get("table"),
        "gaming_day": opener_data["gaming_day"],
        "currency": opener_data["currency"],
        "ruleset": opener_data.get("ruleset", ""),
        "engine_version": ENGINE_VERSION,
        "readings_digest": state.readings_digest,
        "readings": readings_of(state),
        "coverage": state.adjudication().coverage(),
        "approved": list(approved),
        "decisions": [
            decision(envelope, entry, index, merkle.inclusion(index, len(leaves), root_of))
            for envelope, entry, index in of_trail
        ],
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


def _logged(envelope: bytes) -> tuple[bytes, bytes]:
    """Return an entry of the audit trail, and the log's entry of its batch: no table system recorded it."""
    seq, root = json.loads(envelope)["seq"], merkle.root(merkle.leaves([envelope]))
    chain = merkle.chain(merkle.NO_CHAIN, root, first_seq=seq, count=1)
    row = StreamRow(stream_id=2_516 << 32 | 1, name=DESK, casino=CASINO_OF_DESK, table=None)
    return envelope, tree.entry(row, Batch(seq, seq, seq + 1, 1, root, chain, RECEIVED, NO_KEY))


def decision(envelope: bytes, entry: bytes, index: int, path: Sequence[bytes]) -> dict[str, Any]:
    """Return a decision as ``finding.json`` has it: what its entry says, the entry, and the proof."""
    event = json.loads(envelope)
    return {
        "correction": event["data"]["correction"],
        "decision": event["type"].removeprefix("correction."),
        "officer": event["actor"],
        "reason": event["data"]["reason"],
        "decided_at": event["occurred_at"],
        "entry": {
            "stream": event["stream"],
            "seq": event["seq"],
            "event": envelope.decode(),
            "batch": {"entry": entry.decode(), "index": index, "path": [each.hex() for each in path]},
        },
    }


def decided(seq: int, officer: str, verdict: str = "countersigned", **data: Any) -> Event:
    """Return entry ``seq`` of the audit trail, in which an officer decides about the correction of ``corrected``."""
    about = {"session": STREAM, "correction": CORRECTION, "reason": "seen on video"} | data
    return {
        "stream": DESK,
        "seq": seq,
        "type": f"correction.{verdict}",
        "actor": officer,
        "data": about,
        "occurred_at": "2026-11-20T10:15:00.000000Z",
    }


def corrected(**correction: Any) -> list[Event]:
    """A session in which the payment is corrected to one that is too high, after the coup."""
    right = {"wager": "w1", "winnings": 5_000, "stake_returned": 1_000}
    data = {"corrects": 4, "data": right, "reason": "misread", "approved_by": "chef"} | correction
    return [
        opener(STREAM, casino="deauville", observes=[]),
        event(STREAM, 2, "wager.placed", wager="w1", bet="win", stake=1_000),
        event(STREAM, 3, "dice.thrown", faces=[4, 3]),
        event(STREAM, 4, "payout.made", wager="w1", winnings=1_000, stake_returned=1_000),
        event(STREAM, 5, "dice.thrown", faces=[1, 2]),
        event(STREAM, CORRECTION, "entry.corrected", **data) | {"actor": "croupier"},
    ]


def approved_material(*trail: Event, **changed: Any) -> Material:
    """Return the input of the bundle of a finding that rests on a correction; two officers approved it."""
    trail = trail or (decided(1, "claire"), decided(2, "denis"))
    values: dict[str, Any] = {"rule": "payout-overpaid", "sizes": [5, 1], "approved": [CORRECTION], "trail": trail}
    return material(corrected(), **(values | changed))


def small_material(**changed: Any) -> Material:
    return material(overpaid(), rule="payout-overpaid", sizes=[1, 2, 2], **changed)
