"""Cosignatures of witnesses (C2SP tlog-cosignature): verified, kept, and shown under the checkpoint they are of.

A witness says that, at a time, the checkpoint was that of the largest tree it had seen of this log, and that it extends
every one it cosigned before. Its signature line carries the id of its key, the time and the signature:

    — witness.example/w1 base64(id, 4 bytes ‖ time, 8 bytes ‖ signature, 64 bytes)
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from audit.event_store import binary_copy
from audit.models import Cosignature
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier
from audit.transparency.tree import StoredCheckpoint

COSIGNATURE = b"\x04"
"""The signature type of a witness's Ed25519 key."""


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """The public key of a witness, 32 bytes, and its name."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """Four bytes: the first of SHA-256(name ‖ 0x0A ‖ 0x04 ‖ public key)."""
        return sha256(self.name.encode() + b"\n" + COSIGNATURE + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(COSIGNATURE + self.public).decode()}"

    @classmethod
    def parse(cls, vkey: str) -> WitnessKey:
        """Return the key in ``vkey``, ``name+id+base64``. Raise ``BadNote`` unless it is a witness's."""
        name, _, rest = vkey.partition("+")
        try:
            typed = base64.b64decode(rest.partition("+")[2], validate=True)
        except binascii.Error:
            typed = b""
        key = cls(name, typed[1:])
        if not name or len(typed) != 33 or str(key) != vkey:
            raise BadNote(f"'{vkey}' is not the key of a witness, of the format name+id+base64 and the type 04")
        return key

    def time_of(self, line: str, text: str) -> int | None:
        """Return when this key cosigned the checkpoint of ``text``, in seconds since 1970; None if it did not."""
        name, _, encoded = line.removeprefix("— ").partition(" ")
        try:
            raw = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return None
        if not line.startswith("— ") or name != self.name or len(raw) != 76 or raw[:4] != self.key_id:
            return None
        if base64.b64encode(raw).decode() != encoded:
            return None
        [time_s] = struct.unpack(">Q", raw[4:12])
        message = f"cosignature/v1\ntime {time_s}\n{text}".encode()
        return int(time_s) if Verifier(self.name, self.public).verifies(raw[12:], message) else None


def text_of(note: str) -> str:
    """Return the text that a note's signatures are over."""
    return note.rpartition("\n\n")[0] + "\n"


def keep(checkpoint: StoredCheckpoint, key: WitnessKey, line: str, time_s: int) -> None:
    """Keep a verified cosignature; the first of a witness on a checkpoint stays."""
    Cosignature.objects.bulk_create(
        [
            Cosignature(
                size=checkpoint.size,
                root=checkpoint.root,
                witness=key.name,
                vkey=str(key),
                line=line,
                cosigned_at=datetime.fromtimestamp(time_s, UTC),
            )
        ],
        ignore_conflicts=True,
    )


def cosigned_note(checkpoint: StoredCheckpoint) -> str:
    """Return the note of a checkpoint with the cosignatures that are kept on it, by the witnesses' names."""
    rows = Cosignature.objects.filter(size=checkpoint.size, root=checkpoint.root).order_by("witness", "vkey")
    return checkpoint.note + "".join(f"{line}\n" for line in rows.values_list("line", flat=True))


def kept(origins: Sequence[str]) -> Iterator[tuple[str, Checkpoint, bool]]:
    """Yield what witnesses have cosigned, the smallest first: who, the checkpoint, whether the cosignature holds.

    ``origins`` are those of the epochs: a row does not say of which it is, its signature does.
    """
    rows = Cosignature.objects.order_by("size", "witness").values_list("size", "root", "vkey", "line")
    for size, root, vkey, line in rows.iterator(chunk_size=1_000):
        checkpoints = [Checkpoint(origin, size, bytes(root)) for origin in origins]
        try:
            key = WitnessKey.parse(vkey)
        except BadNote:
            yield vkey, checkpoints[-1], False
            continue
        cosigned = next((each for each in checkpoints if key.time_of(line, each.text()) is not None), None)
        yield key.name, cosigned or checkpoints[-1], cosigned is not None


def first_cosigned_holding(index: int) -> StoredCheckpoint | None:
    """Return the smallest checkpoint that has leaf ``index`` and a cosignature, or None while there is none."""
    rows = binary_copy.execute(
        "select c.size, c.root, c.note from log.checkpoint c"
        " where c.size = (select min(size) from audit_cosignature where size > %b::bigint)",
        (index,),
    )
    return StoredCheckpoint(rows[0][0], bytes(rows[0][1]), rows[0][2]) if rows else None


def newest_cosigned() -> StoredCheckpoint | None:
    """Return the newest checkpoint that has a cosignature, or None before the first."""
    rows = binary_copy.execute(
        "select c.size, c.root, c.note from log.checkpoint c where c.size = (select max(size) from audit_cosignature)",
        (),
    )
    return StoredCheckpoint(rows[0][0], bytes(rows[0][1]), rows[0][2]) if rows else None
