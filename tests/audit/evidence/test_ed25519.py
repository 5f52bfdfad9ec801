"""The verifier's own Ed25519, against the vectors of RFC 8032 and against ``cryptography``, which signs."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.evidence.verify import ORDER, P, is_signed

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
        "655141438e7a100b",
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
        "b00d291612bb0c00",
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28d"
        "c027beceea1ec40a",
    ),
    "TEST SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e"
        "2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17a"
        "d9bef1177331a704",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_the_standard_hold(name: str) -> None:
    public, message, signature = map(bytes.fromhex, VECTORS[name])
    assert is_signed(public, signature, message)
    assert not is_signed(public, signature, message + b"\0")


def is_signed_by_the_library(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(max_size=300), data=st.data())
def test_it_agrees_with_the_library_on_signatures_and_on_every_flipped_bit(
    seed: bytes, message: bytes, data: st.DataObject
) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    assert is_signed(public, signature, message)
    whole = bytearray(public + signature + message)
    bit = data.draw(st.integers(0, len(whole) * 8 - 1))
    whole[bit // 8] ^= 1 << bit % 8
    changed = bytes(whole[:32]), bytes(whole[32:96]), bytes(whole[96:])
    assert is_signed(*changed) is is_signed_by_the_library(*changed) is False


@settings(max_examples=40, deadline=None)
@given(public=st.binary(min_size=32, max_size=32), signature=st.binary(min_size=64, max_size=64))
def test_random_bytes_are_not_a_signature(public: bytes, signature: bytes) -> None:
    assert is_signed(public, signature, b"") is is_signed_by_the_library(public, signature, b"") is False


def test_a_signature_has_one_encoding() -> None:
    public, message, signature = map(bytes.fromhex, VECTORS["TEST 2"])
    s = int.from_bytes(signature[32:], "little")
    assert s < ORDER
    again = signature[:32] + (s + ORDER).to_bytes(32, "little")
    assert not is_signed(public, again, message), "S is below the order of the group: section 5.1.7"


@pytest.mark.parametrize(
    "public",
    [
        pytest.param(P.to_bytes(32, "little"), id="y is not below p"),
        pytest.param((1 | 1 << 255).to_bytes(32, "little"), id="x = 0 has no sign"),
        pytest.param((2).to_bytes(32, "little"), id="no x has this y"),
        pytest.param(b"\1" * 31, id="31 bytes"),
    ],
)
def test_bytes_that_encode_no_point_are_not_a_key(public: bytes) -> None:
    _, message, signature = map(bytes.fromhex, VECTORS["TEST 2"])
    assert not is_signed(public, signature, message)


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_has_64_bytes(length: int) -> None:
    public, message, signature = map(bytes.fromhex, VECTORS["TEST 2"])
    assert not is_signed(public, (signature + b"\0")[:length], message)
