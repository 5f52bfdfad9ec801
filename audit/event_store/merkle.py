"""Hashes of the log: RFC 6962 Merkle trees, and each stream's hash chain of batches.

It is part of the event store because appending hashes each batch: a tree over its events, and the stream's chain. The
transparency log builds its tree over batches with the same functions.

leaf   = SHA-256(0x00 ‖ canonical envelope)
node   = SHA-256(0x01 ‖ left ‖ right)                                    RFC 6962, section 2.1
chain  = SHA-256(previous chain ‖ root ‖ first_seq ‖ count)              both as big-endian int64

A tree of n leaves splits at the largest power of two below n. Proofs take the roots of parts of a tree from a function
``root_of(low, high)``, the root over the leaves low … high - 1, wherever those are stored.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

RootOf: TypeAlias = Callable[[int, int], bytes]

TILE_BITS = 8
"""The roots of full subtrees of 2^8, 2^16, … leaves are stored, as well as the leaves."""

NO_CHAIN = bytes(32)
"""The chain of a stream before its first batch."""

_begun_node = sha256(b"\x01").copy  # a copy takes OpenSSL four fifths of the time of a new hash

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
    """Return the root, 32 bytes, of the tree over ``leaves``, at least one hash."""
    level = list(leaves)
    assert level, "an empty batch has no root"
    while len(level) > 1:
        # Pairing from the left and carrying an odd node up gives the tree of RFC 6962: its left side is always full.
        nodes, left_to_right = [], iter(level)
        for left, right in zip(left_to_right, left_to_right, strict=False):
            hashed = _begun_node()
            hashed.update(left + right)
            nodes.append(hashed.digest())
        level = nodes + level[len(level) & ~1 :]
    return level[0]


def chain(previous: bytes, root: bytes, *, first_seq: int, count: int) -> bytes:
    """Return a stream's chain value, 32 bytes, after a batch of ``count`` events that begins at ``first_seq``."""
    return sha256(previous + root + _two_int64(first_seq, count)).digest()


def split(size: int) -> int:
    """Return the size of the left subtree of ``size`` leaves, at least two: the largest power of two below it."""
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


def inclusion_of_many(indexes: Sequence[int], size: int, root_of: RootOf) -> Iterator[bytes]:
    """Yield what proves that the leaves ``indexes``, ascending, are in the tree of ``size`` leaves.

    The roots of the largest subtrees without any of them, from left to right: together with the leaves they give the
    root, ``root_of_many``. For one leaf they are the nodes of its ``inclusion``, in another order.
    """

    def between(low: int, high: int) -> Iterator[bytes]:
        first = bisect_left(indexes, low)
        if first == len(indexes) or indexes[first] >= high:
            yield root_of(low, high)
        elif high - low > 1:
            middle = low + split(high - low)
            yield from between(low, middle)
            yield from between(middle, high)

    if size:
        yield from between(0, size)


def root_of_many(leaves: Mapping[int, bytes], size: int, proof: Iterable[bytes]) -> bytes | None:
    """Return the root of the tree of ``size`` leaves that ``leaves``, by index, and their ``proof`` give.

    None if the proof has too few hashes, or too many, or if a leaf is beyond the tree.
    """
    indexes, rest = sorted(leaves), iter(proof)

    def between(low: int, high: int) -> bytes:
        first = bisect_left(indexes, low)
        if first == len(indexes) or indexes[first] >= high:
            return next(rest)
        if high - low == 1:
            return leaves[low]
        middle = low + split(high - low)
        return node(between(low, middle), between(middle, high))

    if not indexes or indexes[0] < 0 or indexes[-1] >= size:
        return None
    try:
        root = between(0, size)
    except StopIteration:
        return None
    return root if next(rest, None) is None else None


@dataclass(slots=True)
class Frontier:
    """The right edge of a tree, O(log n) hashes: all that is needed to add leaves and to compute the root."""

    size: int = 0
    edge: list[bytes] = field(default_factory=list)  # of the full subtrees, the largest first

    def add(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf; return the full subtrees it completes that are to be stored: height, index, root."""
        completed: list[tuple[int, int, bytes]] = []
        index, height, subtree = self.size, 0, leaf
        while index & 1:
            subtree = node(self.edge.pop(), subtree)
            index >>= 1
            height += 1
            if height % TILE_BITS == 0:
                completed.append((height, index, subtree))
        self.edge.append(subtree)
        self.size += 1
        return completed

    def root(self) -> bytes:
        """Return the root of the tree; of an empty tree, the SHA-256 of the empty string (RFC 6962, 2.1)."""
        if not self.edge:
            return sha256().digest()
        root = self.edge[-1]
        for sibling in reversed(self.edge[:-1]):
            root = node(sibling, root)
        return root

    def copy(self) -> Frontier:
        """Return an independent copy."""
        return Frontier(self.size, self.edge.copy())
