"""What a push service is sent: the example of RFC 8291, and the statement of who sends it (RFC 8292)."""

from __future__ import annotations

import jwt
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from audit.notifications import push_encryption
from tests.audit.notifications.browsers import Browser, bytes64

# RFC 8291, appendix A.
TEXT = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
RECEIVER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
SALT, AUTH = "DGv6ra1nlYgDCS1FRnbzlw", "BTBZMqHH6r4Tts7J_aSIgg"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95b"
    "Qpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def private(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(bytes64(text), "big"), ec.SECP256R1())


def test_the_example_of_rfc_8291_comes_out_to_the_byte() -> None:
    body = push_encryption.encrypted(TEXT, RECEIVER, AUTH, salt=bytes64(SALT), own=private(SENDER), padded=0)
    assert body == bytes64(MESSAGE)


def test_the_browser_of_the_tests_reads_the_example() -> None:
    browser = Browser(key=private(RECEIVER_PRIVATE), secret=bytes64(AUTH))
    assert browser.decrypted(bytes64(MESSAGE)) == TEXT


def test_each_message_has_another_salt_and_key_and_all_are_of_one_length() -> None:
    browser = Browser()
    keys = (browser.form["public_key"], browser.form["auth"])
    bodies = [push_encryption.encrypted(text, *keys) for text in (b"a", b"a", b"b" * 400)]
    assert len({len(body) for body in bodies}) == 1
    assert len({body[:86] for body in bodies}) == 3
    assert [browser.decrypted(body) for body in bodies] == [b"a", b"a", b"b" * 400]
    with pytest.raises(InvalidTag):
        Browser(key=browser.key).decrypted(bodies[0])


def test_the_push_service_can_verify_who_sends_and_to_whom() -> None:
    public, secret = push_encryption.new_key()
    header = push_encryption.authorization(
        "https://push.example:8443/send/abc?x=1", secret, public, contact="mailto:a@b.example", now=1_795_000_000
    )
    scheme, token, key = header.replace(",", "").split(" ")
    assert (scheme, key) == ("vapid", f"k={public}")
    verifier = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes64(public))
    claims = jwt.decode(
        token.removeprefix("t="), verifier, algorithms=["ES256"], audience="https://push.example:8443",
        options={"verify_exp": False},
    )  # fmt: skip
    assert claims["sub"] == "mailto:a@b.example"
    assert 0 < claims["exp"] - 1_795_000_000 < 24 * 3600


@pytest.mark.parametrize(
    ("public_key", "auth"),
    [
        ("", ""),
        (RECEIVER, ""),
        (RECEIVER[:-4], AUTH),
        (RECEIVER, AUTH + "AA"),
        (RECEIVER.replace("BC", "BD", 1), AUTH),  # no point of the curve
        (RECEIVER + "=", AUTH),
        ("é" * 87, AUTH),
    ],
)
def test_invalid_keys_are_known(public_key: str, auth: str) -> None:
    assert not push_encryption.are_keys(public_key, auth)
    assert push_encryption.are_keys(RECEIVER, AUTH)
