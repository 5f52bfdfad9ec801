"""Hashes of the log: RFC 6962 trees over events, and each stream's chain of batches.

leaf   = SHA-256(0x00 ‖ canonical envelope)
node   = SHA-256(0x01 ‖ left ‖ right)                                    RFC 6962, section 2.1
chain  = SHA-256(previous chain ‖ root ‖ first_seq ‖ count)              both as big-endian int64
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import sha256

NO_CHAIN = bytes(32)
"""The chain of a stream before its first batch."""

_two_int64 = struct.Struct(">qq").pack


def leaf(envelope: bytes) -> bytes:
    """Return the leaf hash, 32 bytes, of one canonical envelope."""
    return sha256(b"\x00" + envelope).digest()


def root(leaves: Iterable[bytes]) -> bytes:
    """Return the root, 32 bytes, of the tree over ``leaves``, at least one."""
    level = list(leaves)
    assert level, "an empty batch has no root"
    while len(level) > 1:
        # Pairing from the left and carrying an odd node up gives the tree of RFC 6962: its left side is always full.
        above = [sha256(b"\x01" + level[i] + level[i + 1]).digest() for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            above.append(level[-1])
        level = above
    return level[0]


def chain(previous: bytes, root: bytes, *, first_seq: int, count: int) -> bytes:
    """Return the chain of a stream after a batch of ``count`` events from ``first_seq`` on."""
    return sha256(previous + root + _two_int64(first_seq, count)).digest()
