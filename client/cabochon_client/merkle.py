"""Merkle trees (RFC 6962): the root of a batch, and the root that an inclusion proof leads to.

leaf = SHA-256(0x00 ‖ bytes)      node = SHA-256(0x01 ‖ left ‖ right)
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf(content: bytes) -> bytes:
    """Return the hash of a leaf, 32 bytes."""
    return sha256(b"\x00" + content).digest()


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node, 32 bytes."""
    return sha256(b"\x01" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root of the tree over the hashes ``leaves``, at least one: RFC 6962, 2.1."""
    level = list(leaves)
    while len(level) > 1:
        paired = [node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = paired + level[len(level) & ~1 :]
    return level[0]


def root_from_path(hashed: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that an inclusion proof leads to: RFC 9162, 2.1.3.2. None if the path has the wrong length."""
    if not 0 <= index < size:
        return None
    at, last = index, size - 1
    for sibling in path:
        if last == 0:
            return None
        if at & 1 or at == last:
            hashed = node(sibling, hashed)
            while at and not at & 1:
                at >>= 1
                last >>= 1
        else:
            hashed = node(hashed, sibling)
        at >>= 1
        last >>= 1
    return hashed if last == 0 else None
