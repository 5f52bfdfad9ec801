"""The notes of an archive: what a month's file is, and that it was destroyed, signed with the log's key.

    casino.example/log                       the name of the log; its key signs
    archive 2026-01
    file cabochon-2026-01.ndjson.gz
    sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    taken 1200 batches 48210 events          what left the database: tables and counts, not the audit trail
    checkpoint 20852163                      the size of the signed tree by which the file is proved

No checkpoint reads like this: its second line is a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from audit.event_store.archived import Month
from audit.transparency import epochs, signing_keys
from audit.transparency.signed_notes import BadNote, Verifier, open_note


@dataclass(frozen=True, slots=True)
class Filed:
    """What a note says of a month's file. ``digest`` is its SHA-256 as hex; ``size`` that of the tree."""

    month: str
    file: str
    digest: str
    batches: int
    events: int
    size: int

    def lines(self) -> list[str]:
        """Return what the note says, a line each, after the name of the log."""
        return [
            f"archive {self.month}",
            f"file {self.file}",
            f"sha256 {self.digest}",
            f"taken {self.batches} batches {self.events} events",
            f"checkpoint {self.size}",
        ]

    def sign(self) -> str:
        """Return the signed note. Raise ``NoSigningKey`` if this account cannot read the key of checkpoints."""
        return _signed(self.lines())


def read(note: str, verifiers: list[Verifier]) -> Filed:
    """Return what a note says of a file. Raise ``BadNote`` if none of the keys of this log signed it."""
    origin, *lines = open_note(note, verifiers).splitlines()
    words = [line.split(" ") for line in lines]
    try:
        filed = Filed(words[0][1], words[1][1], words[2][1], int(words[3][1]), int(words[3][3]), int(words[4][1]))
    except (IndexError, ValueError):
        raise BadNote("the note is not of an archive") from None
    if lines != filed.lines() or origin not in {epoch.origin for epoch in epochs.epochs()}:
        raise BadNote("the note is not of an archive of this log")
    return filed


def sign_destruction(month: Month, *, retention_years: int, officers: Sequence[str], reason: str) -> str:
    """Return the signed note that a month's file is destroyed. Raise ``NoSigningKey``."""
    more = [
        f"retention {retention_years} years",
        f"officers {', '.join(officers)}",
        f"reason {' '.join(reason.split())}",
    ]
    return _signed([*_destroyed(month), *more])


def wrong_destruction(month: Month, verifiers: list[Verifier]) -> str | None:
    """Return what is wrong with the note of a month's destruction, None if nothing is."""
    try:
        _origin, *lines = open_note(month.destruction_note, verifiers).splitlines()
    except BadNote as error:
        return str(error)
    return None if lines[:2] == _destroyed(month) else "its note is of another destruction"


def _destroyed(month: Month) -> list[str]:
    return [f"destroyed {month.name}", f"sha256 {month.digest}"]


def _signed(lines: list[str]) -> str:
    text = "".join(f"{line}\n" for line in [signing_keys.origin(), *lines])
    return signing_keys.signer("checkpoint", datetime.now(UTC)).note(text)
