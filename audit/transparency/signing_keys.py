"""The log's signing keys: one purpose is checkpoints, the other receipts.

A private key is a file in the folder ``CABOCHON_KEYS``, readable by its owner alone. Its public key is a row of the
log, with the instant from which it is valid. Keys are rotated, never changed: a new key follows the old one of its
purpose, and what the old one signed stays valid. The key that was valid at an instant signs for that instant, so a
receipt that is requested again is the same receipt.
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import time
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from django.conf import settings

from audit.event_store import binary_copy
from audit.transparency.signed_notes import ED25519, Signer, Verifier

Purpose: TypeAlias = Literal["checkpoint", "receipt"]

ROTATION_LEAD = timedelta(seconds=90)
"""A key that follows another is valid this long after it was made, so that every process has loaded it by then."""

RELOAD_EVERY_S = 30.0
"""How long a process uses the keys it has loaded: well below ``ROTATION_LEAD``."""

NAMES: dict[Purpose, str] = {"checkpoint": "", "receipt": "/receipts"}
"""A key's name is the log's origin and this suffix."""


class NoSigningKey(Exception):
    """This host has no key to sign with; ``manage.py logkey --make`` makes one."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, and the instants between which it signs; ``valid_until`` is None for the newest of its purpose."""

    verifier: Verifier
    purpose: Purpose
    valid_from: datetime
    valid_until: datetime | None
    reason: str


def origin() -> str:
    """Return the name of this log, which its checkpoints carry."""
    return str(settings.CABOCHON_ORIGIN)


def public_keys(purpose: Purpose | None = None) -> list[PublicKey]:
    """Return the registered keys, of one purpose or, by default, of all, the oldest first."""
    rows = binary_copy.execute(
        "select name, purpose, public_key, valid_from, reason from log.key order by valid_from", ()
    )
    keys: list[PublicKey] = []
    for index, (name, its_purpose, public, valid_from, reason) in enumerate(rows):
        if purpose in (None, its_purpose):
            valid_until = next((later[3] for later in rows[index + 1 :] if later[1] == its_purpose), None)
            keys.append(PublicKey(Verifier(name, bytes(public)), its_purpose, valid_from, valid_until, reason))
    return keys


def verifiers(purpose: Purpose) -> list[Verifier]:
    """Return all keys of a purpose, old ones included: they stay valid for what they signed."""
    return [key.verifier for key in public_keys(purpose)]


def create(purpose: Purpose, *, reason: str, at_once: bool = False) -> PublicKey:
    """Make a key, store it in ``CABOCHON_KEYS``, and register it.

    The first of its purpose is valid at once, one that follows another after ``ROTATION_LEAD`` unless ``at_once``.
    """
    is_rotation = bool(public_keys(purpose))
    seed = secrets.token_bytes(32)
    signer = Signer(origin() + NAMES[purpose], seed)
    valid_from = datetime.now(UTC)
    if is_rotation and not at_once:
        valid_from += ROTATION_LEAD
    _store(signer, seed)  # before it is registered: a registered key without its file could sign nothing
    [(valid_from,)] = binary_copy.execute(
        "select log.register_key(%b::bytea, %b::text, %b::text, %b::bytea, %b::timestamptz, %b::text)",
        (signer.verifier.key_id, signer.verifier.name, purpose, signer.verifier.public, valid_from, reason),
    )
    _keyring.forget()
    return PublicKey(signer.verifier, purpose, valid_from, None, reason)


def signer(purpose: Purpose, at: datetime) -> Signer:
    """Return the signer for ``purpose`` at an instant. Raise ``NoSigningKey`` if this host has no such key."""
    return _keyring.signer(purpose, at)


class _Keyring:
    """The keys as this process has loaded them: public keys for a while, private keys for good."""

    def __init__(self) -> None:
        self._public: dict[Purpose, tuple[list[datetime], list[Verifier]]] = {}
        self._loaded_at = -RELOAD_EVERY_S
        self._signers: dict[bytes, Signer] = {}

    def signer(self, purpose: Purpose, at: datetime) -> Signer:
        now = time.monotonic()
        if purpose not in self._public or now - self._loaded_at > RELOAD_EVERY_S:
            self._load_public()
            self._loaded_at = now
        starts, keys = self._public.get(purpose, ([], []))
        if not keys:
            raise NoSigningKey(f"There is no {purpose} key; manage.py logkey --make makes one.")
        # The first key signs for instants before it was valid.
        key_then = keys[max(0, bisect_right(starts, at) - 1)]
        # If the private key of then was destroyed, the key of now signs instead.
        signer = self._private(key_then) or self._private(keys[max(0, bisect_right(starts, datetime.now(UTC)) - 1)])
        if signer is None:
            raise NoSigningKey(f"The {purpose} key {key_then.key_id.hex()} is not in {_folder()}.")
        return signer

    def _load_public(self) -> None:
        self._public = {}
        for key in public_keys():
            starts, keys = self._public.setdefault(key.purpose, ([], []))
            starts.append(key.valid_from)
            keys.append(key.verifier)

    def _private(self, verifier: Verifier) -> Signer | None:
        """Return the signer of a public key, or None if its file is not here."""
        if verifier.public not in self._signers:
            path = _folder() / verifier.key_id.hex()
            if not path.exists():
                return None
            signer = read_private(path.read_text())
            if signer.verifier != verifier:
                raise NoSigningKey(f"{path} is not the key that its name says.")
            self._signers[verifier.public] = signer
        return self._signers[verifier.public]

    def forget(self) -> None:
        """Load the public keys again when one is next needed."""
        self._public = {}


_keyring = _Keyring()


def _folder() -> Path:
    return Path(settings.CABOCHON_KEYS)


def _store(signer: Signer, seed: bytes) -> None:
    """Write a private key to its file, readable by its owner alone, atomically."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    verifier = signer.verifier
    encoded = base64.b64encode(ED25519 + seed).decode()
    draft = folder / f".{verifier.key_id.hex()}.{os.getpid()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"PRIVATE+KEY+{verifier.name}+{verifier.key_id.hex()}+{encoded}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(folder / verifier.key_id.hex())


def read_private(content: str) -> Signer:
    """Return the key in the content of a file of ``CABOCHON_KEYS``. Raise ``NoSigningKey`` if it is malformed."""
    parts = content.strip().split("+", 4)
    try:
        typed = base64.b64decode(parts[4], validate=True)
        signer = Signer(parts[2], typed[1:])
    except (IndexError, binascii.Error, ValueError, AssertionError):
        raise NoSigningKey("The file of a private key is malformed.") from None
    if parts[:2] != ["PRIVATE", "KEY"] or typed[:1] != ED25519 or signer.verifier.key_id.hex() != parts[3]:
        raise NoSigningKey("The file of a private key is malformed.")
    return signer
