"""Inclusion and consistency proofs, against the definition of RFC 6962 and a verifier that nobody here wrote."""

from __future__ import annotations

import metamorphic_log
import pytest

from audit.event_store import merkle

SIZES = [*range(1, 34), 63, 64, 65, 100, 255, 256, 257]
LEAVES = [merkle.leaf(str(number).encode()) for number in range(max(SIZES))]


def root_of(low: int, high: int) -> bytes:
    return merkle.root(LEAVES[low:high])


def defined_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962, section 2.1.1, word for word."""
    if len(leaves) == 1:
        return []
    k = merkle.split(len(leaves))
    if index < k:
        return [*defined_path(index, leaves[:k]), merkle.root(leaves[k:])]
    return [*defined_path(index - k, leaves[k:]), merkle.root(leaves[:k])]


def defined_proof(first: int, leaves: list[bytes], known: bool) -> list[bytes]:
    """RFC 6962, section 2.1.2, word for word."""
    if first == len(leaves):
        return [] if known else [merkle.root(leaves)]
    k = merkle.split(len(leaves))
    if first <= k:
        return [*defined_proof(first, leaves[:k], known), merkle.root(leaves[k:])]
    return [*defined_proof(first - k, leaves[k:], False), merkle.root(leaves[:k])]


@pytest.mark.parametrize("size", SIZES)
def test_inclusion_is_as_the_standard_defines_it_and_an_independent_verifier_accepts_it(size: int) -> None:
    root = root_of(0, size)
    for index in {0, 1, size // 3, size // 2, size - 2, size - 1} & set(range(size)):
        path = merkle.inclusion(index, size, root_of)
        assert path == defined_path(index, LEAVES[:size])
        metamorphic_log.verify_inclusion(index, size, LEAVES[index], path, root)  # raises if it does not hold
        for wrong in (path[:-1], [*path, root], path[::-1]):
            if wrong != path:
                with pytest.raises(metamorphic_log.VerifyError):
                    metamorphic_log.verify_inclusion(index, size, LEAVES[index], wrong, root)


@pytest.mark.parametrize("second", SIZES)
def test_consistency_is_as_the_standard_defines_it_and_an_independent_verifier_accepts_it(second: int) -> None:
    for first in {1, 2, 3, second // 2, second - 1, second} & set(range(1, second + 1)):
        proof = merkle.consistency(first, second, root_of)
        assert proof == defined_proof(first, LEAVES[:second], True)
        metamorphic_log.verify_consistency(first, second, proof, root_of(0, first), root_of(0, second))
        for wrong in (proof[:-1], [*proof, LEAVES[0]]):
            if wrong != proof:
                with pytest.raises(metamorphic_log.VerifyError):
                    metamorphic_log.verify_consistency(first, second, wrong, root_of(0, first), root_of(0, second))


def test_a_frontier_has_the_root_of_each_size_and_gives_every_full_subtree_once() -> None:
    frontier = merkle.Frontier()
    stored: dict[tuple[int, int], bytes] = {}
    leaves = [merkle.leaf(str(number).encode()) for number in range(70_000)]
    for size, leaf in enumerate(leaves, start=1):
        for height, index, root in frontier.add(leaf):
            assert (height, index) not in stored
            stored[height, index] = root
        if size < 40 or size % 10_007 == 0:
            assert frontier.root() == merkle.root(leaves[:size])
    assert sorted(stored) == [(8, index) for index in range(273)] + [(16, 0)]
    assert stored[16, 0] == merkle.root(leaves[:65_536])
    assert stored[8, 272] == merkle.root(leaves[272 * 256 : 273 * 256])


def test_the_independent_verifier_refuses_what_is_wrong() -> None:
    """It is not a formality: it fails where it should."""
    path = merkle.inclusion(3, 10, root_of)
    with pytest.raises(metamorphic_log.VerifyError):
        metamorphic_log.verify_inclusion(3, 10, LEAVES[4], path, root_of(0, 10))
    with pytest.raises(metamorphic_log.VerifyError):
        metamorphic_log.verify_inclusion(4, 10, LEAVES[3], path, root_of(0, 10))
    proof = merkle.consistency(3, 10, root_of)
    with pytest.raises(metamorphic_log.VerifyError):
        metamorphic_log.verify_consistency(3, 10, proof, root_of(0, 4), root_of(0, 10))
