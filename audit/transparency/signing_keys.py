"""The log's signing keys: one purpose is checkpoints, the other receipts.

A private key is a file, readable by its owner alone: of receipts in the folder ``CABOCHON_KEYS``, of checkpoints in
``CABOCHON_CHECKPOINT_KEYS``, which nobody but the sequencer has to read. A web server that is taken over can then sign
receipts and no tree. A key of checkpoints that is in the folder of receipts, as 0.1.0 kept it, is read there, until
``manage.py logkey --apart`` moves it.

A public key is a row of the log, with the instant from which it is valid. Keys are rotated, never changed: a new key
follows the old one of its purpose, and what the old one signed stays valid. The key that was valid at an instant
signs for that instant, so a receipt that is requested again is the same receipt.
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

from audit.event_store import binary_copy, durable_files
from audit.transparency import epochs
from audit.transparency.signed_notes import ED25519, Signer, Verifier

Purpose: TypeAlias = Literal["checkpoint", "receipt"]

ROTATION_LEAD = timedelta(seconds=90)
"""A key that follows another is valid this long after it was made, so that every process has loaded it by then."""

MOMENT = timedelta(microseconds=1)
"""The smallest time that the log knows."""

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
    """Return the name of this log, which the checkpoints of its epoch carry."""
    return epochs.current().origin


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


def create(purpose: Purpose, *, reason: str, at_once: bool = False, of_origin: str = "") -> PublicKey:
    """Make a key, store it in the folder of its purpose, and register it.

    The first of its purpose is valid at once, one that follows another after ``ROTATION_LEAD`` unless ``at_once``. Its
    name is that of the log in its epoch, or ``of_origin``: the epoch that it opens.
    """
    earlier = {key.valid_from for key in public_keys(purpose)}
    seed = secrets.token_bytes(32)
    signer = Signer((of_origin or origin()) + NAMES[purpose], seed)
    valid_from = datetime.now(UTC)
    if earlier and not at_once:
        valid_from += ROTATION_LEAD
    if earlier and purpose == "receipt":
        valid_from = max(valid_from, _newest_receipt() + MOMENT)
    while valid_from in earlier:  # of another rotation while the clock is behind
        valid_from += MOMENT
    _store(purpose, signer, seed)  # before it is registered: a registered key without its file could sign nothing
    [(valid_from,)] = binary_copy.execute(
        "select log.register_key(%b::bytea, %b::text, %b::text, %b::bytea, %b::timestamptz, %b::text)",
        (signer.verifier.key_id, signer.verifier.name, purpose, signer.verifier.public, valid_from, reason),
    )
    _keyring.forget()
    return PublicKey(signer.verifier, purpose, valid_from, None, reason)


def _newest_receipt() -> datetime:
    """Return the newest instant of a receipt, which is ahead of a clock that was set back since.

    A key that was valid at that instant would give a batch that has its receipt another one.
    """
    [(sealed, waiting)] = binary_copy.execute(
        "select case when isfinite(c.received_at) then c.received_at end, (select max(o.received_at) from log.outbox o)"
        " from log.clock c",
        (),
    )
    instants: list[datetime] = [each for each in (sealed, waiting) if each is not None]
    return max(instants, default=datetime.min.replace(tzinfo=UTC))


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
        key_now = keys[max(0, bisect_right(starts, datetime.now(UTC)) - 1)]
        signer = self._private(purpose, key_then) or self._private(purpose, key_now)
        if signer is None:
            raise NoSigningKey(f"The {purpose} key {key_then.key_id.hex()} is not in {folder(purpose)}.")
        return signer

    def _load_public(self) -> None:
        self._public = {}
        for key in public_keys():
            starts, keys = self._public.setdefault(key.purpose, ([], []))
            starts.append(key.valid_from)
            keys.append(key.verifier)

    def _private(self, purpose: Purpose, verifier: Verifier) -> Signer | None:
        """Return the signer of a public key, or None if this account cannot read its file."""
        if verifier.public not in self._signers:
            path = _file(purpose, verifier)
            if path is None:
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


def folder(purpose: Purpose) -> Path:
    """Return the folder of the private keys of a purpose."""
    if purpose == "receipt":
        return Path(settings.CABOCHON_KEYS)
    return Path(settings.CABOCHON_CHECKPOINT_KEYS or Path(settings.CABOCHON_KEYS) / "checkpoint")


def is_readable_here(purpose: Purpose) -> bool:
    """Whether the account of this process can read the private key that signs for ``purpose`` now."""
    now = datetime.now(UTC)
    started = [key for key in public_keys(purpose) if key.valid_from <= now]
    return bool(started) and _file(purpose, started[-1].verifier) is not None


def keys_not_apart() -> list[Path]:
    """Return the files of checkpoint keys that are in the folder of receipt keys."""
    paths = (folder("receipt") / verifier.key_id.hex() for verifier in verifiers("checkpoint"))
    return [path for path in paths if folder("receipt") != folder("checkpoint") and os.access(path, os.F_OK)]


def move_apart() -> list[Path]:
    """Move checkpoint keys out of the folder of receipt keys; return where they are now."""
    moved: list[Path] = []
    for path in keys_not_apart():
        _write(folder("checkpoint"), path.name, path.read_text())
        path.unlink()
        moved.append(folder("checkpoint") / path.name)
    return moved


def _file(purpose: Purpose, verifier: Verifier) -> Path | None:
    """Return the file of a private key, or None if it is not here or not for this account."""
    name = verifier.key_id.hex()
    for path in (folder(purpose) / name, folder("receipt") / name):
        if os.access(path, os.R_OK):
            return path
    return None


def _store(purpose: Purpose, signer: Signer, seed: bytes) -> None:
    """Write a private key to its file."""
    verifier = signer.verifier
    encoded = base64.b64encode(ED25519 + seed).decode()
    name = verifier.key_id.hex()
    _write(folder(purpose), name, f"PRIVATE+KEY+{verifier.name}+{name}+{encoded}\n")


def _write(folder: Path, name: str, content: str) -> None:
    """Write a file that its owner alone can read, atomically."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    durable_files.write(folder / name, content.encode(), mode=0o600)
    durable_files.sync_folder(folder)


def read_private(content: str) -> Signer:
    """Return the key in the content of a file of a private key. Raise ``NoSigningKey`` if it is malformed."""
    parts = content.strip().split("+", 4)
    try:
        typed = base64.b64decode(parts[4], validate=True)
        signer = Signer(parts[2], typed[1:])
    except (IndexError, binascii.Error, ValueError, AssertionError):
        raise NoSigningKey("The file of a private key is malformed.") from None
    if parts[:2] != ["PRIVATE", "KEY"] or typed[:1] != ED25519 or signer.verifier.key_id.hex() != parts[3]:
        raise NoSigningKey("The file of a private key is malformed.")
    return signer
