"""The keys that sign for the log: one that signs checkpoints, one that signs receipts.

A private key is a file of ``CABOCHON_KEYS`` that only its owner reads; its public key is a row of the log, with the
instant from which it is valid. A key is never changed: it is followed by another of its purpose, and what it signed
stays signed. What is signed of an instant is signed by the key of that instant, so that a receipt asked for again is
the same receipt.
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

LEAD = timedelta(seconds=90)
"""How long before it is valid a key that follows another is made, so that every process knows of it in time."""

LOOKED_UP_EVERY_S = 30.0
"""How long a process trusts what it read of the keys: well below ``LEAD``."""

NAMES: dict[Purpose, str] = {"checkpoint": "", "receipt": "/receipts"}
"""What follows the log's origin in the name of a key."""


class NoSigningKey(Exception):
    """There is no key to sign with here: ``manage.py logkey --make`` makes one."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, and the instants between which it signs; ``valid_until`` is None for the newest."""

    verifier: Verifier
    purpose: Purpose
    valid_from: datetime
    valid_until: datetime | None
    reason: str


def origin() -> str:
    """Return the name of this log, which its checkpoints carry."""
    return str(settings.CABOCHON_ORIGIN)


def public_keys(purpose: Purpose | None = None) -> list[PublicKey]:
    """Return the registered keys, of one purpose or of all, the oldest first."""
    rows = binary_copy.execute(
        "select name, purpose, public_key, valid_from, reason from log.key order by valid_from", ()
    )
    keys: list[PublicKey] = []
    for place, (name, of, public, valid_from, reason) in enumerate(rows):
        if purpose in (None, of):
            following = next((later[3] for later in rows[place + 1 :] if later[1] == of), None)
            keys.append(PublicKey(Verifier(name, bytes(public)), of, valid_from, following, reason))
    return keys


def verifiers(purpose: Purpose) -> list[Verifier]:
    """Return the keys of a purpose that ever were valid: an old key stays valid for what it signed."""
    return [key.verifier for key in public_keys(purpose)]


def make(purpose: Purpose, *, reason: str, at_once: bool = False) -> PublicKey:
    """Make a key, keep it, register it. The first of its purpose is valid at once, a following one after ``LEAD``."""
    before = public_keys(purpose)
    seed = secrets.token_bytes(32)
    signer = Signer(origin() + NAMES[purpose], seed)
    valid_from = datetime.now(UTC)
    if before and not at_once:
        valid_from += LEAD
    _keep(signer, seed)  # first: a key that is registered and nowhere kept could sign nothing
    [(valid_from,)] = binary_copy.execute(
        "select log.register_key(%b::bytea, %b::text, %b::text, %b::bytea, %b::timestamptz, %b::text)",
        (signer.verifier.key_id, signer.verifier.name, purpose, signer.verifier.public, valid_from, reason),
    )
    _keyring.forget()
    return PublicKey(signer.verifier, purpose, valid_from, None, reason)


def signer(purpose: Purpose, at: datetime) -> Signer:
    """Return what signs for ``purpose`` at an instant. Raise ``NoSigningKey`` where this host has no such key."""
    return _keyring.signer(purpose, at)


class _Keyring:
    """The keys as this process knows them."""

    def __init__(self) -> None:
        self._known: dict[Purpose, tuple[list[datetime], list[Verifier]]] = {}
        self._looked_up = -LOOKED_UP_EVERY_S
        self._signers: dict[bytes, Signer] = {}

    def signer(self, purpose: Purpose, at: datetime) -> Signer:
        now = time.monotonic()
        if purpose not in self._known or now - self._looked_up > LOOKED_UP_EVERY_S:
            self._look_up()
            self._looked_up = now
        starts, keys = self._known.get(purpose, ([], []))
        if not keys:
            raise NoSigningKey(f"There is no {purpose} key; manage.py logkey --make makes one.")
        # What is older than the first key is signed by the first.
        of_then = keys[max(0, bisect_right(starts, at) - 1)]
        # An old private key may be destroyed; then the newest answers for it.
        found = self._kept(of_then) or self._kept(keys[max(0, bisect_right(starts, datetime.now(UTC)) - 1)])
        if found is None:
            raise NoSigningKey(f"The {purpose} key {of_then.key_id.hex()} is not in {_folder()}.")
        return found

    def _look_up(self) -> None:
        self._known = {}
        for key in public_keys():
            starts, keys = self._known.setdefault(key.purpose, ([], []))
            starts.append(key.valid_from)
            keys.append(key.verifier)

    def _kept(self, verifier: Verifier) -> Signer | None:
        if verifier.public not in self._signers:
            path = _folder() / verifier.key_id.hex()
            if not path.exists():
                return None
            signer = read_private(path.read_text())
            if signer.verifier != verifier:
                raise NoSigningKey(f"{path} is not the key it is named after.")
            self._signers[verifier.public] = signer
        return self._signers[verifier.public]

    def forget(self) -> None:
        """Look the keys up again when they are next asked for."""
        self._known = {}


_keyring = _Keyring()


def _folder() -> Path:
    return Path(settings.CABOCHON_KEYS)


def _keep(signer: Signer, seed: bytes) -> None:
    """Write a private key where only its owner reads, whole or not at all."""
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


def read_private(written: str) -> Signer:
    """Return the key that a file of ``CABOCHON_KEYS`` holds. Raise ``NoSigningKey`` where it holds none."""
    words = written.strip().split("+", 4)
    try:
        typed = base64.b64decode(words[4], validate=True)
        signer = Signer(words[2], typed[1:])
    except (IndexError, binascii.Error, ValueError, AssertionError):
        raise NoSigningKey("The file of a private key holds none.") from None
    if words[:2] != ["PRIVATE", "KEY"] or typed[:1] != ED25519 or signer.verifier.key_id.hex() != words[3]:
        raise NoSigningKey("The file of a private key holds none.")
    return signer
