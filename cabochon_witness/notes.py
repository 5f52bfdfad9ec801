"""Signed notes, checkpoints and cosignatures: C2SP signed-note, tlog-checkpoint, tlog-cosignature.

A log signs the text of its checkpoint with a key of type 0x01. A witness signs, with a key of type 0x04,

    cosignature/v1
    time 1679315147
    cabochon.example/log                                the text of the checkpoint, from here
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

and its signature line carries key id (4 bytes), the time (8 bytes, big-endian), signature (64 bytes).
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

LOG_KEY, WITNESS_KEY = b"\x01", b"\x04"
"""The types of Ed25519 keys: that of a log, which signs the note, and that of a witness, which signs a cosignature."""

MAX_SIGNATURES = 64
"""Signature lines that a note may have; the specification asks for at least 16."""

MAX_TIME = 2**63 - 1

_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,255}")
_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_TREE = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*")


class BadNote(Exception):
    """A note or a key that is malformed."""


class NotSigned(Exception):
    """None of the keys that count has signed the note, or one did not sign this text."""


def decoded(text: str) -> bytes:
    """Decode base64. Raise ``BadNote`` unless it is padded and canonical, so that one value has one spelling."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadNote("not base64") from None
    if base64.b64encode(raw).decode() != text:
        raise BadNote("not canonical base64")
    return raw


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key, 32 bytes, its name and its type."""

    name: str
    type: bytes
    public: bytes

    @property
    def key_id(self) -> bytes:
        """Return the first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key)."""
        return sha256(self.name.encode() + b"\n" + self.type + self.public).digest()[:4]

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether ``signature``, 64 bytes, is this key's over ``message``."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(self.type + self.public).decode()}"

    @classmethod
    def parse(cls, vkey: str, key_type: bytes) -> PublicKey:
        """Return the key of ``name+id+base64``. Raise ``BadNote`` if it is malformed or of another type."""
        name, _, rest = vkey.strip().partition("+")
        key_id, _, encoded = rest.partition("+")
        typed = decoded(encoded)
        key = cls(name, typed[:1], typed[1:])
        if not _NAME.fullmatch(name) or len(typed) != 33 or key.type != key_type or key.key_id.hex() != key_id:
            raise BadNote(f"'{vkey}' is not a key of the format name+id+base64 and of the type {key_type.hex()}")
        return key


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint says, and the note it is from: the name of the log, size and root of the tree."""

    origin: str
    size: int
    root: bytes
    note: str

    @property
    def text(self) -> str:
        """Return what is signed: the note without its signature lines and the empty line before them."""
        return self.note.rpartition("\n\n")[0] + "\n"

    @classmethod
    def parse(cls, note: str) -> Checkpoint:
        """Return the checkpoint of ``note``. Checks no signature. Raise ``BadNote`` if it is not one."""
        text, separator, lines = note.rpartition("\n\n")
        tree = _TREE.fullmatch(text + "\n")
        if tree is None or not separator or int(tree[2]) > MAX_TIME:
            raise BadNote("not a signed checkpoint: origin, size, root, an empty line, signatures")
        _signatures(lines)
        return cls(tree[1], int(tree[2]), decoded(tree[3]), note)

    def signed_by(self, keys: Collection[PublicKey]) -> list[str]:
        """Return the signature lines of ``keys``, which are of a log. Ignores those of unknown keys.

        Raise ``NotSigned`` if there is none, or if one is not over this text.
        """
        known = {(key.name, key.key_id): key for key in keys}
        lines: list[str] = []
        for line, name, signature in _signatures(self.note.rpartition("\n\n")[2]):
            key = known.get((name, signature[:4]))
            if key is None:
                continue
            if len(signature) != 68 or not key.verifies(signature[4:], self.text.encode()):
                raise NotSigned(f"the signature of {name} is not over this text")
            lines.append(line)
        if not lines:
            raise NotSigned("none of the known keys has signed")
        return lines

    def cosigned_at(self, key: PublicKey) -> int | None:
        """Return the time of the newest cosignature of ``key`` under the note, or None without a valid one."""
        times: list[int] = []
        for _line, name, signature in _signatures(self.note.rpartition("\n\n")[2]):
            if name == key.name and signature[:4] == key.key_id and len(signature) == 76:
                (time_s,) = struct.unpack(">Q", signature[4:12])
                if key.verifies(signature[12:], cosigned_message(self.text, time_s)):
                    times.append(time_s)
        return max(times, default=None)


def _signatures(lines: str) -> list[tuple[str, str, bytes]]:
    """Return the signature lines: the line, its key's name, id and signature. Raise ``BadNote`` for anything else."""
    if not lines.endswith("\n") or lines.count("\n") > MAX_SIGNATURES:
        raise BadNote("no signature, or too many")
    found: list[tuple[str, str, bytes]] = []
    for line in lines[:-1].split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadNote("a signature line is malformed")
        signature = decoded(match[2])
        if len(signature) < 5:
            raise BadNote("a signature line is too short")
        found.append((line, match[1], signature))
    return found


def cosigned_message(text: str, time_s: int) -> bytes:
    """Return the message of a cosignature over the text of a checkpoint."""
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()


class CosigningKey:
    """The private key of a witness."""

    def __init__(self, name: str, seed: bytes) -> None:
        """``seed`` is the private key, 32 bytes. Raise ``BadNote`` if it or the name is malformed."""
        if not _NAME.fullmatch(name) or len(seed) != 32:
            raise BadNote("a key has a name without space and plus sign, and 32 bytes")
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = PublicKey(name, WITNESS_KEY, raw)
        self._seed = seed

    def cosign(self, text: str, time_s: int) -> str:
        """Return the signature line of a cosignature over the text of a checkpoint, its line break included."""
        signature = self._private.sign(cosigned_message(text, time_s))
        encoded = base64.b64encode(self.public.key_id + struct.pack(">Q", time_s) + signature).decode()
        return f"— {self.public.name} {encoded}\n"

    def as_file(self) -> str:
        """Return the content of the file that keeps this key."""
        encoded = base64.b64encode(WITNESS_KEY + self._seed).decode()
        return f"PRIVATE+KEY+{self.public.name}+{self.public.key_id.hex()}+{encoded}\n"

    @classmethod
    def from_file(cls, content: str) -> CosigningKey:
        """Return the key of a file's content. Raise ``BadNote`` if it is malformed."""
        parts = content.strip().split("+", 4)
        if len(parts) != 5 or parts[:2] != ["PRIVATE", "KEY"]:
            raise BadNote("not the private key of a witness")
        typed = decoded(parts[4])
        key = cls(parts[2], typed[1:])
        if typed[:1] != WITNESS_KEY or key.public.key_id.hex() != parts[3]:
            raise BadNote("not the private key of a witness, or damaged")
        return key
