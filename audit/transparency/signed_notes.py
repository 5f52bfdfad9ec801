"""Signed notes (C2SP signed-note) and checkpoints, which are signed notes of one shape (C2SP tlog-checkpoint).

    cabochon.example/log                                the origin
    20852163                                            the size of the tree
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=        its root, base64

    — cabochon.example/log Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=

The signature covers the text, its last line break included. A signature line names the key and carries the four bytes
of the key's id before the 64 of the signature, so that a reader with several keys knows which to try.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ED25519 = b"\x01"
"""The signature type of Ed25519 in C2SP signed-note."""

_NAME = re.compile(r"[^\s+]+")
_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_TREE = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*")


class BadNote(Exception):
    """A note that is malformed, or that none of the given keys signed; a key that is malformed."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key, 32 bytes, and its name."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """Four bytes: the first of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key)."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def verifies(self, signature: bytes, signed: bytes) -> bool:
        """Whether ``signature``, 64 bytes, is this key's over ``signed``."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, signed)
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        """Return the key in the format of C2SP signed-note: ``name+id+base64``."""
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, vkey: str) -> Verifier:
        """Return the key in ``vkey``, ``name+id+base64``. Raise ``BadNote`` for anything else."""
        name, _, rest = vkey.strip().partition("+")
        key_id, _, encoded = rest.partition("+")
        typed = _decoded(encoded) or b""
        verifier = cls(name, typed[1:])
        if not _NAME.fullmatch(name) or typed[:1] != ED25519 or len(typed) != 33 or verifier.key_id.hex() != key_id:
            raise BadNote(f"'{vkey}' is not a key of the format name+id+base64")
        return verifier


class Signer:
    """A private key and its name."""

    __slots__ = ("_private", "verifier")

    def __init__(self, name: str, seed: bytes) -> None:
        """``seed`` is the private key, 32 bytes (RFC 8032, 5.1.5)."""
        assert _NAME.fullmatch(name), name
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.verifier = Verifier(name, self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, signed: bytes) -> str:
        """Return the key's id and its signature over ``signed``, in base64, as a signature line carries them."""
        return base64.b64encode(self.verifier.key_id + self._private.sign(signed)).decode()

    def note(self, text: str) -> str:
        """Return ``text``, which ends with a line break, as a signed note."""
        assert text.endswith("\n"), text
        return f"{text}\n— {self.verifier.name} {self.sign(text.encode())}\n"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint says: the log's name, the size of its tree, the root of 32 bytes."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the text to sign."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Return the checkpoint in the text of a note. Raise ``BadNote`` if it is not one."""
        tree = _TREE.fullmatch(text)
        if tree is None:
            raise BadNote("the note is not a checkpoint: origin, size and root, a line each")
        return cls(tree[1], int(tree[2]), base64.b64decode(tree[3]))


def _decoded(text: str) -> bytes | None:
    """Decode base64; None unless it is padded and canonical (RFC 4648), so that one signature has one spelling."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def open_note(note: str, verifiers: list[Verifier]) -> str:
    """Return the text of ``note``, signed by at least one of ``verifiers``.

    Signatures of unknown keys are ignored. Raise ``BadNote`` if none of the keys signed it or one did not sign this
    text.
    """
    text, separator, lines = note.rpartition("\n\n")
    text += "\n"
    if not separator or not lines.endswith("\n"):
        raise BadNote("the note has no signature")
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    is_signed = False
    for line in lines[:-1].split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadNote("a signature line of the note is malformed")
        signature = _decoded(match[2])
        if signature is None:
            raise BadNote("a signature of the note is not base64")
        verifier = known.get((match[1], signature[:4]))
        if verifier is None:  # a witness's, or a key we do not know
            continue
        if not verifier.verifies(signature[4:], text.encode()):
            raise BadNote(f"the signature of {verifier.name} is not over this text")
        is_signed = True
    if not is_signed:
        raise BadNote("none of the given keys has signed the note")
    return text


def signers_in(note: str, verifiers: list[Verifier]) -> list[Verifier]:
    """Return those of ``verifiers`` that ``note`` names as its signers, in its order. Checks no signature."""
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    lines = (_LINE.fullmatch(line) for line in note.rpartition("\n\n")[2].splitlines())
    signers = [(line[1], base64.b64decode(line[2])[:4]) for line in lines if line]
    return [known[each] for each in signers if each in known]


def open_checkpoint(note: str, verifiers: list[Verifier], *, origin: str) -> Checkpoint:
    """Return the checkpoint of a signed note.

    Raise ``BadNote`` if none of ``verifiers`` signed it, or if it is of another log than ``origin``.
    """
    checkpoint = Checkpoint.parse(open_note(note, verifiers))
    if checkpoint.origin != origin:
        raise BadNote(f"the checkpoint is of '{checkpoint.origin}', not of '{origin}'")
    return checkpoint
