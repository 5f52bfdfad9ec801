"""Receipts: the signed proof that a batch was accepted, for the table system to keep.

The signature covers ``cabochon-receipt/v1``, a line feed, and the receipt without its signature as canonical JSON
(sorted names, no spaces). The first line keeps the signature from being taken for one of anything else (domain
separation). Ed25519 signs the same bytes alike every time (RFC 8032), with the key of the instant of receipt: a
receipt requested again is the same receipt.

A receipt of a sandbox has ``"sandbox": true`` and is signed over ``cabochon-sandbox-receipt/v1`` in place of that first
line: whoever checks it as a receipt of a casino finds its signature false, even with ``sandbox`` taken out.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec

from audit.event_store.read import Batch
from audit.event_store.streams import instant
from audit.transparency import signing_keys

CONTEXT = b"cabochon-receipt/v1\n"
SANDBOX_CONTEXT = b"cabochon-sandbox-receipt/v1\n"

_canonical = msgspec.json.Encoder(order="sorted").encode


def unsigned(stream: str, batch: Batch, *, is_of_sandbox: bool) -> dict[str, Any]:
    """Return the receipt of a batch without its signature; with that of the table system, if it has one."""
    sandbox = {"sandbox": True} if is_of_sandbox else {}
    signed = {} if batch.signature is None else {"batch_signature": b64encode(batch.signature).decode()}
    return {
        **signed,
        **sandbox,
        "stream": stream,
        "first_seq": batch.first_seq,
        "last_seq": batch.last_seq,
        "next_seq": batch.next_seq,
        "root": batch.root.hex(),
        "chain": batch.chain.hex(),
        "received_at": instant(batch.received_at),
    }


def receipt(stream: str, batch: Batch, *, is_of_sandbox: bool) -> dict[str, Any]:
    """Return the signed receipt of a batch. Raise ``NoSigningKey`` if this process has no key to sign with."""
    content = unsigned(stream, batch, is_of_sandbox=is_of_sandbox)
    context = SANDBOX_CONTEXT if is_of_sandbox else CONTEXT
    signature = signing_keys.signer("receipt", batch.received_at).sign(context + _canonical(content))
    return {**content, "signature": signature}
