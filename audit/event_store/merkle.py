"""Hashes of the log: RFC 6962 trees over events, and each stream's chain of batches.

leaf   = SHA-256(0x00 ‖ canonical envelope)
node   = SHA-256(0x01 ‖ left ‖ right)                                    RFC 6962, section 2.1
chain  = SHA-256(previous chain ‖ root ‖ first_seq ‖ count)              both as big-endian int64

A tree of n leaves splits at the largest power of two below n. What needs roots of parts of a tree takes them from a
function ``root_of(low, high)``, the root over the leaves low … high - 1, wherever those are kept.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

RootOf: TypeAlias = Callable[[int, int], bytes]

TILE_BITS = 8
"""Full subtrees of 2^8, 2^16, … leaves are kept beside the leaves."""

NO_CHAIN = bytes(32)
"""The chain of a stream before its first batch."""

_two_int64 = struct.Struct(">qq").pack


def leaf(envelope: bytes) -> bytes:
    """Return the leaf hash, 32 bytes, of one canonical envelope."""
    return sha256(b"\x00" + envelope).digest()


def leaves(envelopes: Iterable[bytes]) -> list[bytes]:
    """Return the leaf hash of each canonical envelope."""
    return [sha256(b"\x00" + envelope).digest() for envelope in envelopes]


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node, 32 bytes."""
    return sha256(b"\x01" + left + right).digest()


def root(leaves: Iterable[bytes]) -> bytes:
    """Return the root, 32 bytes, of the tree over ``leaves``, at least one."""
    level = list(leaves)
    assert level, "an empty batch has no root"
    while len(level) > 1:
        # Pairing from the left and carrying an odd node up gives the tree of RFC 6962: its left side is always full.
        pairs, odd = b"".join(level), level[len(level) & ~1 :]
        level = [sha256(b"\x01" + pairs[at : at + 64]).digest() for at in range(0, len(pairs) & ~63, 64)]
        level += odd
    return level[0]


def chain(previous: bytes, root: bytes, *, first_seq: int, count: int) -> bytes:
    """Return the chain of a stream after a batch of ``count`` events from ``first_seq`` on."""
    return sha256(previous + root + _two_int64(first_seq, count)).digest()


def split(size: int) -> int:
    """Return where a tree of ``size`` leaves, at least two, splits: the largest power of two below it."""
    return 1 << (size - 1).bit_length() - 1


def inclusion(index: int, size: int, root_of: RootOf) -> list[bytes]:
    """Return the audit path, leaf upwards, of leaf ``index`` in the tree of ``size`` leaves: RFC 6962, 2.1.1."""
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + split(high - low)
        if index < middle:
            path.append(root_of(middle, high))
            high = middle
        else:
            path.append(root_of(low, middle))
            low = middle
    return path[::-1]


def consistency(first: int, second: int, root_of: RootOf) -> list[bytes]:
    """Return the proof that the tree of ``second`` leaves extends that of ``first``: RFC 6962, 2.1.2."""
    proof: list[bytes] = []
    low, high, is_known = 0, second, True
    while first != high:
        middle = low + split(high - low)
        if first <= middle:
            proof.append(root_of(middle, high))
            high = middle
        else:
            proof.append(root_of(low, middle))
            low, is_known = middle, False
    if not is_known:
        proof.append(root_of(low, high))
    return proof[::-1]


def root_from_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that an audit path leads to, None for a path that cannot be the leaf's: RFC 9162, 2.1.3.2."""
    if not 0 <= index < size:
        return None
    here, last, above = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if here & 1 or here == last:
            above = node(sibling, above)
            while not here & 1 and here:
                here, last = here >> 1, last >> 1
        else:
            above = node(above, sibling)
        here, last = here >> 1, last >> 1
    return above if last == 0 else None


def roots_from_consistency(first: int, second: int, first_root: bytes, proof: Sequence[bytes]) -> bytes | None:
    """Return the root of ``second`` that a consistency proof leads to, None for one that fails: RFC 9162, 2.1.4.2."""
    if not 0 < first <= second:
        return None
    if first == second:
        return first_root if not proof else None
    hashes = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not hashes:
        return None
    here, last = first - 1, second - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return None
        if here & 1 or here == last:
            old, new = node(sibling, old), node(sibling, new)
            while not here & 1 and here:
                here, last = here >> 1, last >> 1
        else:
            new = node(new, sibling)
        here, last = here >> 1, last >> 1
    return new if last == 0 and old == first_root else None


@dataclass(slots=True)
class Frontier:
    """The right edge of a tree: all that is needed to add leaves and to say the root, O(log n) hashes."""

    size: int = 0
    edge: list[bytes] = field(default_factory=list)  # of the full subtrees, the largest first

    def add(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf; return the full subtrees it completes that are kept: height, index, hash."""
        completed: list[tuple[int, int, bytes]] = []
        here, height, above = self.size, 0, leaf
        while here & 1:
            above = node(self.edge.pop(), above)
            here >>= 1
            height += 1
            if height % TILE_BITS == 0:
                completed.append((height, here, above))
        self.edge.append(above)
        self.size += 1
        return completed

    def root(self) -> bytes:
        """Return the root of the tree; of none, SHA-256 of nothing."""
        if not self.edge:
            return sha256().digest()
        above = self.edge[-1]
        for sibling in reversed(self.edge[:-1]):
            above = node(sibling, above)
        return above

    def copy(self) -> Frontier:
        """Return a frontier that grows apart from this one."""
        return Frontier(self.size, self.edge.copy())
