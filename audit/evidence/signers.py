"""The public keys of the table systems that signed the batches of a bundle, each by its entry of the audit trail.

batch of a key that signs ─► key.made or key.rotated, as it is stored ─► in the tree of the checkpoint ─► keys.json
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from audit.access.keys import MADE, ROTATED
from audit.event_store import binary_copy, read
from audit.event_store.readable import readable
from audit.evidence.bundle import Unproven
from audit.transparency import proofs
from audit.transparency.tree import StoredCheckpoint

_ENTRY = readable("e.envelope")

_ENTRIES = f"""
select distinct on ({_ENTRY} #>> '{{data,id}}') {_ENTRY} #>> '{{data,id}}', s.stream_id, s.name, e.seq, e.envelope
from log.stream s join log.event e using (stream_id)
where s.casino_id = %b::bigint and s.is_of_desk and {_ENTRY} ->> 'type' = any (%b::text[])
  and {_ENTRY} #>> '{{data,id}}' = any (%b::text[]) and {_ENTRY} #> '{{data,public_key}}' is not null
order by 1, s.gaming_day, e.seq
"""


@dataclass(frozen=True, slots=True)
class Registration:
    """The entry that says what an API key signs with: the key's id, the desk stream, number and stored bytes."""

    key_id: int
    desk_id: int
    desk: str
    seq: int
    raw: bytes


def registrations(casino_id: int, stream_id: int, last_seq: int) -> list[Registration]:
    """Return the entries of the keys that signed a stream's batches through an event, by key."""
    signed = {batch.key_id for batch in read.batches_through(stream_id, last_seq) if batch.signature is not None}
    found = [Registration(int(key), *row) for key, *row in _rows(casino_id, signed)]
    if missing := signed - {each.key_id for each in found}:
        raise Unproven(f"the audit trail does not say what API key {min(missing)} signs with")
    return found


def _rows(casino_id: int, keys: Collection[int]) -> Iterable[tuple[Any, ...]]:
    if not keys:
        return []
    return binary_copy.execute(_ENTRIES, (casino_id, [MADE, ROTATED], sorted(map(str, keys))))


def proven_signers(found: Iterable[Registration], checkpoint: StoredCheckpoint) -> Iterator[dict[str, Any]]:
    """Yield the signers as ``keys.json`` has them. Raise ``NotSealed`` unless the tree of ``checkpoint`` has each."""
    for each in found:
        yield {"key": each.key_id, "entry": proven_entry(each.desk_id, each.desk, each.seq, each.raw, checkpoint)}


def proven_entry(desk_id: int, desk: str, seq: int, raw: bytes, checkpoint: StoredCheckpoint) -> dict[str, Any]:
    """Return an entry of the audit trail with its proof. Raise ``NotSealed`` if it came after ``checkpoint``."""
    batch = read.batch_holding(desk_id, seq)
    if batch is None:
        raise Unproven(f"entry {seq} of the audit trail {desk} is in no batch")
    proof = proofs.prove_batch(desk_id, batch, checkpoint)
    path = [sibling.hex() for sibling in proof.path]
    of_batch = {"entry": proof.entry.decode(), "index": proof.index, "path": path}
    return {"stream": desk, "seq": seq, "event": raw.decode(), "batch": of_batch}
