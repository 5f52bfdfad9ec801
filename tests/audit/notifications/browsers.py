"""A browser that is subscribed to push: it decrypts what it is sent by the text of RFC 8291, not by our code."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from audit.models import Officer, PushSubscription
from audit.notifications import push_subscriptions


def url64(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def bytes64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _hkdf(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869, of at most one block."""
    prk = hmac.digest(salt, material, hashlib.sha256)
    return hmac.digest(prk, info + b"\1", hashlib.sha256)[:length]


@dataclass
class Browser:
    """The keys of a browser, and its address at a push service."""

    endpoint: str = "https://push.example/send/abc"
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def form(self) -> dict[str, str]:
        """What the page's script puts into the form."""
        return {"endpoint": self.endpoint, "public_key": url64(self.point), "auth": url64(self.secret)}

    def subscribe(self, officer: Officer, *, language: str = "en") -> PushSubscription:
        push_subscriptions.subscribe(officer, **self.form, language=language, browser="Firefox, Linux")
        return PushSubscription.objects.get(endpoint=self.endpoint)

    def decrypted(self, body: bytes) -> bytes:
        """Return the text of a message, with its padding taken away (RFC 8188, 8291)."""
        salt, length = body[:16], body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        material = _hkdf(self.secret, shared, b"WebPush: info\0" + self.point + sender, 32)
        key = _hkdf(salt, material, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _hkdf(salt, material, b"Content-Encoding: nonce\0", 12)
        text = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert text.endswith(b"\2"), "the last record"
        return text[:-1]

    def content(self, body: bytes) -> Any:
        return json.loads(self.decrypted(body))
