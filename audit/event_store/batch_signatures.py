"""Signatures of table systems: a key with a public key signs every batch, and Cabochon cannot make one in its stead.

The signature covers ``cabochon-batch/v1``, a line feed, and canonical JSON (sorted names, no spaces) of

    count       how many events the batch has
    first_seq   the number of the first
    key         the prefix of the API key, the first part of its secret: ``cab_PREFIX_…``
    root        the batch's RFC 6962 root in hex: of a receipt
    stream      the name of the stream

The first line keeps the signature from being taken for one of anything else (domain separation). It is Ed25519 (RFC
8032) and is sent in the header ``Cabochon-Signature``, in base64. A key names its signing key when it is made and
never changes it, so no batch of it may be without a signature: no instant has to be compared.
"""

from __future__ import annotations

import base64
import binascii

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.event_store.read import Batch

CONTEXT = b"cabochon-batch/v1\n"

SIGNATURE_BYTES, PUBLIC_KEY_BYTES = 64, 32

_SMALL_Y = (
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)
"""The points of small order, and other ways to write them, without the sign: with such a key one signature holds for
many messages."""

_canonical = msgspec.json.Encoder(order="sorted").encode


class NotAPublicKey(ValueError):
    """The text is no Ed25519 public key."""


def public_key_in(text: str) -> bytes:
    """Return the 32 bytes of an Ed25519 public key in base64. Raise ``NotAPublicKey``."""
    raw = decoded(text.strip(), PUBLIC_KEY_BYTES)
    if raw is None or (raw[:-1] + bytes([raw[-1] & 0x7F])).hex() in _SMALL_Y:
        raise NotAPublicKey(f"'{text[:60]}' is no Ed25519 public key: 32 bytes in base64")
    return raw


def decoded(text: str, length: int) -> bytes | None:
    """Return ``length`` bytes in base64 (RFC 4648, section 4); None for any other text."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length else None


def signed_content(prefix: str, stream: str, *, first_seq: int, count: int, root: bytes) -> bytes:
    """Return what a table system signs of a batch; ``prefix`` is that of its API key."""
    content = {"count": count, "first_seq": first_seq, "key": prefix, "root": root.hex(), "stream": stream}
    return CONTEXT + _canonical(content)


def content_of(prefix: str, stream: str, batch: Batch) -> bytes:
    """Return what the table system with the key of ``prefix`` signs of a stored batch."""
    return signed_content(prefix, stream, first_seq=batch.first_seq, count=batch.count, root=batch.root)


def is_signed(public_key: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether ``signature`` is over ``content`` by the key ``public_key``."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True
