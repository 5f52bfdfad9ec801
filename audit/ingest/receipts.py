"""Receipts: what a table system keeps of what was accepted, signed.

What is signed is ``cabochon-receipt/v1``, a line break, and the receipt without its signature as canonical JSON: names
sorted, no spaces. The first line keeps the signature from being taken for one of anything else. Ed25519 always signs
the same bytes alike, and the key is that of the instant of receipt: asked for again, it is the same receipt.
"""

from __future__ import annotations

from typing import Any

import msgspec

from audit.event_store.read import Batch
from audit.transparency import signing_keys
from audit.transparency.tree import instant

CONTEXT = b"cabochon-receipt/v1\n"

_canonical = msgspec.json.Encoder(order="sorted").encode


def unsigned(stream: str, batch: Batch) -> dict[str, Any]:
    """Return what the receipt of a batch says, without its signature."""
    return {
        "stream": stream,
        "first_seq": batch.first_seq,
        "last_seq": batch.last_seq,
        "next_seq": batch.next_seq,
        "root": batch.root.hex(),
        "chain": batch.chain.hex(),
        "received_at": instant(batch.received_at),
    }


def receipt(stream: str, batch: Batch) -> dict[str, Any]:
    """Return the signed receipt of a batch. Raise ``NoSigningKey`` where nothing can sign it here."""
    said = unsigned(stream, batch)
    return {**said, "signature": signing_keys.signer("receipt", batch.received_at).sign(CONTEXT + _canonical(said))}
