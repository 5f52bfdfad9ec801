"""Hashes of the log against the vectors of Certificate Transparency and the definition of RFC 6962."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.event_store import merkle

LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]

ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("count", range(1, 9))
def test_the_root_is_that_of_certificate_transparency(count: int) -> None:
    assert merkle.root(merkle.leaf(leaf) for leaf in LEAVES[:count]).hex() == ROOTS[count - 1]


def defined(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + defined(leaves[:k]) + defined(leaves[k:])).digest()


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=200))
def test_the_root_is_as_the_standard_defines_it(leaves: list[bytes]) -> None:
    assert merkle.root(map(merkle.leaf, leaves)) == defined(leaves)


def test_a_chain_hashes_the_chain_before_the_root_the_first_seq_and_the_count() -> None:
    before, root = bytes(range(32)), bytes(range(32, 64))
    hashed = before + root + (7).to_bytes(8, "big") + (3).to_bytes(8, "big")
    assert merkle.chain(before, root, first_seq=7, count=3) == sha256(hashed).digest()
