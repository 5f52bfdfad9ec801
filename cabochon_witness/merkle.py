"""Consistency proofs of Merkle trees: RFC 6962, section 2.1.2; the verification is that of RFC 9162, 2.1.4.2."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

EMPTY_ROOT = sha256().digest()
"""The root of a tree without leaves: RFC 6962, section 2.1."""


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def extends(old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether ``proof`` shows that the tree of ``size`` leaves begins with the ``old_size`` leaves of the old one."""
    if old_size == size:
        return root == old_root and not proof
    if old_size == 0:
        return not proof
    if old_size > size or not proof:
        return False
    path = list(proof)
    if old_size & (old_size - 1) == 0:  # a full tree is itself a node of the larger one
        path.insert(0, old_root)
    left, right = old_size - 1, size - 1
    while left & 1:
        left >>= 1
        right >>= 1
    from_old = from_new = path[0]
    for sibling in path[1:]:
        if right == 0:
            return False
        if left & 1 or left == right:
            from_old, from_new = node(sibling, from_old), node(sibling, from_new)
            while left and not left & 1:
                left >>= 1
                right >>= 1
        else:
            from_new = node(from_new, sibling)
        left >>= 1
        right >>= 1
    return right == 0 and from_old == old_root and from_new == root
