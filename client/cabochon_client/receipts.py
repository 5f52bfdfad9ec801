"""Receipts, and the proof that the log has sealed what they promise.

A receipt is signed (Ed25519) over ``cabochon-receipt/v1``, a line feed, and the receipt without its signature as
canonical JSON. Its ``root`` is that of the tree (RFC 6962) over the canonical events of the batch: so the receipt
belongs to these events and no others. A batch is sealed once its entry is a leaf of a tree that a signed checkpoint
(C2SP tlog-checkpoint) has as its root.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from cabochon_client import merkle
from cabochon_client.events import canonical_json

CONTEXT = b"cabochon-receipt/v1\n"
SANDBOX_CONTEXT = b"cabochon-sandbox-receipt/v1\n"
"""Of a receipt with ``"sandbox": true``: it proves nothing of a casino, and its batch is never sealed."""

FIELDS = {
    "stream": str,
    "first_seq": int,
    "last_seq": int,
    "next_seq": int,
    "root": str,
    "chain": str,
    "received_at": str,
    "signature": str,
}
IN_ENTRY = ("stream", "first_seq", "last_seq", "next_seq", "root", "chain", "received_at")
"""What the entry of the batch in the log repeats of its receipt."""

_NOTE_LINE = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")


class NotAReceipt(Exception):
    """An answer that says the events are stored, and is no receipt of them. Nothing counts as stored by it."""


class UnknownKey(NotAReceipt):
    """A key that is not among those known signed it: the published keys have to be read again."""


class NotSealed(Exception):
    """What was given as the proof of a seal proves nothing."""


@dataclass(frozen=True)
class PublicKey:
    """A key of the log: the eight hexadecimal digits of its id, its name, ``receipt`` or ``checkpoint``, 32 bytes."""

    id: str
    name: str
    purpose: str
    public: bytes

    def verifies(self, signature: bytes, signed: bytes) -> bool:
        """Whether ``signature``, 64 bytes, is this key's."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, signed)
        except (InvalidSignature, ValueError):
            return False
        return True


def published_keys(answer: bytes) -> tuple[str, list[PublicKey]]:
    """Return the name of the log and its keys, from ``GET /log/key``. Raise ``NotAReceipt`` if it is something else."""
    try:
        content = json.loads(answer)
        keys = [
            PublicKey(str(each["id"]), str(each["name"]), str(each["purpose"]), base64.b64decode(each["public_key"]))
            for each in content["keys"]
        ]
        return str(content["origin"]), keys
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotAReceipt("what answers is not the page of the log's public keys") from None


def read_receipt(answer: bytes) -> dict[str, Any]:
    """Return the receipt in an answer. Raise ``NotAReceipt``."""
    try:
        receipt = json.loads(answer)
    except (ValueError, RecursionError):
        raise NotAReceipt("the answer is not JSON: something between here and the record answers in its name") from None
    if not isinstance(receipt, dict) or any(type(receipt.get(name)) is not kind for name, kind in FIELDS.items()):
        raise NotAReceipt("the answer is no receipt: something between here and the record answers in its name")
    return receipt


def check_receipt(
    receipt: Mapping[str, Any], keys: Iterable[PublicKey], *, stream: str, last_seq: int, batch: Sequence[bytes] | None
) -> None:
    """Raise ``NotAReceipt`` unless one of ``keys`` signed the receipt, and it is of the batch with event ``last_seq``.

    ``batch`` are the events from its ``first_seq`` to its ``last_seq``, None where some are no longer here.
    """
    signature = _decoded(receipt["signature"])
    context = SANDBOX_CONTEXT if receipt.get("sandbox") is True else CONTEXT
    signed = context + canonical_json({name: value for name, value in receipt.items() if name != "signature"})
    signer = [key for key in keys if key.purpose == "receipt" and key.id == signature[:4].hex()]
    if not signer:
        raise UnknownKey(f"the key {signature[:4].hex()}, which is not published, signed the receipt")
    if not any(key.verifies(signature[4:], signed) for key in signer):
        raise NotAReceipt("the signature of the receipt is false")
    if receipt["stream"] != stream or not receipt["first_seq"] <= last_seq <= receipt["last_seq"]:
        raise NotAReceipt(f"the receipt is of {receipt['stream']} and not of event {last_seq} of {stream}")
    if batch is not None and merkle.root([merkle.leaf(each) for each in batch]).hex() != receipt["root"]:
        raise NotAReceipt("the receipt is of other events than those that are here under these numbers")


def check_seal(proof: bytes, receipt: Mapping[str, Any], keys: Iterable[PublicKey], envelope: bytes | None) -> str:
    """Return the checkpoint under which a batch is sealed, by the answer of ``GET /log/inclusion`` for its last event.

    ``envelope`` is that event, None if it is no longer here. Raise ``NotSealed`` if the answer does not prove it.
    """
    try:
        content = json.loads(proof)
        batch, log, note = content["batch"], content["log"], str(content["checkpoint"])
        entry_bytes, event = str(batch["entry"]).encode(), str(content["event"]).encode()
        entry = json.loads(entry_bytes)
        of_batch = merkle.root_from_path(merkle.leaf(event), int(batch["index"]), int(batch["size"]), _path(batch))
        of_log = merkle.root_from_path(merkle.leaf(entry_bytes), int(log["index"]), int(log["size"]), _path(log))
        differs = [name for name in IN_ENTRY if entry.get(name) != receipt[name]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotSealed("the answer is no proof of inclusion") from None
    if envelope is not None and event != envelope:
        raise NotSealed("the proof is of another event than the one here")
    if differs:
        raise NotSealed(f"the log's entry has another {differs[0]} than the receipt")
    if of_batch is None or of_batch.hex() != entry["root"]:
        raise NotSealed("the proof does not lead from the event to its batch")
    size, root = check_note(note, keys)
    if size != log["size"] or of_log != root:
        raise NotSealed("the proof does not lead from the batch to the checkpoint")
    return note


def check_note(note: str, keys: Iterable[PublicKey]) -> tuple[int, bytes]:
    """Return size and root of the tree in a checkpoint that one of ``keys`` signed. Raise ``NotSealed`` otherwise."""
    text, found, lines = note.partition("\n\n")
    signed = (text + "\n").encode()
    by_name = {(key.name, key.id): key for key in keys if key.purpose == "checkpoint"}
    for name, encoded in _NOTE_LINE.findall(lines):
        raw = _decoded(encoded)
        key = by_name.get((name, raw[:4].hex()))
        if key is not None and key.verifies(raw[4:], signed):
            break
    else:
        raise NotSealed("no published key signed the checkpoint")
    fields = text.split("\n")
    if not found or len(fields) < 3 or not fields[1].isdigit() or fields[0] != key.name:
        raise NotSealed("the checkpoint is malformed")
    return int(fields[1]), _decoded(fields[2])


def _path(part: Mapping[str, Any]) -> list[bytes]:
    return [bytes.fromhex(sibling) for sibling in part["path"]]


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
