"""Public keys of table systems and the signatures of their batches, held against the audit trail.

    key.made, key.rotated ─► the public key of each API key ─┬─► audit_apikey: the same, or a fault
                                                             └─► each batch of the key is signed by it, or a fault

An entry of the trail says what a key signs with, and never changes, so nobody can exchange it unseen; and no batch of
a key that signs may be without a signature.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from audit.access.keys import MADE, ROTATED
from audit.event_store import batch_signatures, binary_copy
from audit.event_store.read import Batch
from audit.models import ApiKey
from audit.projections.entries import entries
from audit.projections.faults import WrongRow

PAGE = 20_000

_BATCHES = """
select b.stream_id, s.name, b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id,
       b.signature
from log.batch b join log.stream s using (stream_id)
where (b.stream_id, b.first_seq) > (%b::bigint, %b::bigint) and (b.key_id = any (%b::bigint[]) or b.signature is not
null)
  and (%b::bigint is null or s.casino_id = %b::bigint)
order by b.stream_id, b.first_seq limit %b::bigint
"""


@dataclass(frozen=True, slots=True)
class Signing:
    """The key of a table system that signs: its prefix, and its public key, None if the entry has none that can be."""

    casino_id: int
    prefix: str
    public_key: bytes | None


def wrong_signers(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the keys of a casino that sign, every casino's for None, and their batches."""
    stated = _stated(casino_id)
    keys = ApiKey.objects.all() if casino_id is None else ApiKey.objects.filter(casino=casino_id)
    missing = {**stated}
    for pk, of_casino, prefix, public_key in keys.values_list("pk", "casino_id", "prefix", "public_key").order_by("pk"):
        signing = missing.pop(pk, None)
        stored = None if public_key is None else bytes(public_key)
        if signing is None:
            if stored is not None:
                yield WrongRow("key", f"API key {prefix} has a public key, and no entry says so")
        elif (of_casino, prefix, stored) != (signing.casino_id, signing.prefix, signing.public_key):
            yield WrongRow("key", f"API key {pk} has not the casino, prefix and public key of the entry that made it")
    for pk, signing in missing.items():
        yield WrongRow("key", f"API key {pk} ({signing.prefix}) is missing, which has a public key")
    yield from _wrong_batches(casino_id, stated)


def _stated(casino_id: int | None) -> dict[int, Signing]:
    """Return the keys that sign by their ids, as the audit trail has them."""
    stated: dict[int, Signing] = {}
    for entry in entries(casino_id, (MADE, ROTATED)):
        if text := entry.text("public_key"):
            public_key = batch_signatures.decoded(text, batch_signatures.PUBLIC_KEY_BYTES)
            stated.setdefault(entry.number("id"), Signing(entry.casino_id, entry.text("prefix"), public_key))
    return stated


def _wrong_batches(casino_id: int | None, stated: dict[int, Signing]) -> Iterator[WrongRow]:
    after = (-(2**63), 0)
    while rows := binary_copy.execute(_BATCHES, (*after, sorted(stated), casino_id, casino_id, PAGE)):
        for stream_id, name, *columns in rows:
            batch = Batch(*columns)
            after = (stream_id, batch.first_seq)
            if (what := _wrong(stated.get(batch.key_id), name, batch)) is not None:
                yield WrongRow("batch", what, name, batch.first_seq)


def _wrong(signing: Signing | None, stream: str, batch: Batch) -> str | None:
    """Return what does not hold about the signature of a batch; None if it holds."""
    if signing is None:
        encoded = b64encode(batch.signature or b"").decode()[:12]
        return f"it has a signature ({encoded}…), and API key {batch.key_id} none to sign with"
    if batch.signature is None:
        return f"it is not signed, and API key {signing.prefix} signs every batch"
    content = batch_signatures.content_of(signing.prefix, stream, batch)
    if signing.public_key is None or not batch_signatures.is_signed(signing.public_key, batch.signature, content):
        return f"its signature is not over it by the public key of API key {signing.prefix}"
    return None
