"""What a push service is sent: a text that the browser alone can read (RFC 8291), and who sends it (RFC 8292).

Written here, over ``cryptography`` and ``PyJWT``, which are in the locks anyway. ``http-ece`` 1.2.1 (2024) has no
wheel, and with it stays everything but ten lines; ``pywebpush`` posts by ``requests``, past our check of addresses. The
tests hold it against the example of RFC 8291.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

RECORD = 4096
"""Bytes of a record, as the header says them: each message is one, and shorter."""

PADDED = 512
"""Bytes to which a text is filled up, so that a push service cannot tell by its length what it is about."""

TOKEN_S = 12 * 3600
"""Seconds for which the statement of who sends is good; RFC 8292 allows a day."""


def encrypted(
    text: bytes,
    public_key: str,
    auth: str,
    *,
    salt: bytes | None = None,
    own: ec.EllipticCurvePrivateKey | None = None,
    padded: int = PADDED,
) -> bytes:
    """Return a text as the body of a push message, ``aes128gcm`` of RFC 8188, for the keys of a subscription.

    ``salt`` (16 bytes) and ``own`` are drawn anew for each message; a test gives those of an example. Raise
    ``ValueError`` for invalid keys.
    """
    receiver, secret = decoded(public_key), decoded(auth)
    own, salt = own or ec.generate_private_key(ec.SECP256R1()), salt or os.urandom(16)
    point = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), receiver))
    material = _derived(shared, secret, b"WebPush: info\0" + receiver + point, 32)
    key = _derived(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(material, salt, b"Content-Encoding: nonce\0", 12)
    filled = (text + b"\2").ljust(padded, b"\0")
    return salt + RECORD.to_bytes(4, "big") + bytes([len(point)]) + point + AESGCM(key).encrypt(nonce, filled, None)


def _derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(material)


def authorization(endpoint: str, private: str, public: str, *, contact: str, now: float) -> str:
    """Return the header ``Authorization`` of a message to an endpoint: a token of ES256, and the public key.

    ``private`` and ``public`` are those of ``PushKey``, ``contact`` an address for the operator of the push service.
    """
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + TOKEN_S, "sub": contact}
    number = int.from_bytes(decoded(private), "big")
    token = jwt.encode(claims, ec.derive_private_key(number, ec.SECP256R1()), algorithm="ES256")
    return f"vapid t={token}, k={public}"


def new_key() -> tuple[str, str]:
    """Return a new public and private key, as ``PushKey`` has them."""
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return encoded(point), encoded(key.private_numbers().private_value.to_bytes(32, "big"))


def are_keys(public_key: str, auth: str) -> bool:
    """Return whether a browser's keys are a point of P-256 and 16 bytes, each in base64url without padding."""
    try:
        point, secret = decoded(public_key), decoded(auth)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        return False
    return (encoded(point), encoded(secret)) == (public_key, auth) and (len(point), len(secret)) == (65, 16)


def encoded(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
