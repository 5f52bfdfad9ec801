"""Epochs of the log: what happens to its name when it was restored to an earlier state.

    casino.example/log                  leaves 0 … 899, signed up to 1,000 leaves
        a backup is restored that has 900 leaves: the last 100 are lost
    casino.example/log/epoch-2          goes on after the 900 leaves that are here

A log that lost leaves cannot go on under its name: another tree of the same size was signed already, and whoever keeps
checkpoints, a witness first of all, would rightly refuse it. So ``manage.py recover`` opens an epoch: another origin,
another key, the same leaves as far as they are here. Its note says what was lost, why and by whose decision, signed
with the last key of the epoch before and the first of this one.

A checkpoint of more leaves than an epoch kept belongs to that epoch, or to a later one.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from audit.models import LogEpoch
from audit.transparency.signed_notes import BadNote, Verifier, open_note, signers_in


@dataclass(frozen=True, slots=True)
class Epoch:
    """An epoch: its number from 1, its origin, the leaves that it goes on after, and up to which none was lost.

    ``note`` is "" for the first.
    """

    number: int
    origin: str
    kept: int = 0
    forked_at: int = 0
    signed_size: int = 0
    note: str = ""


def first_origin() -> str:
    """Return the name of the log in its first epoch, which is set up."""
    return str(settings.CABOCHON_ORIGIN)


def origin_of(number: int) -> str:
    """Return the name of the log in an epoch."""
    return first_origin() if number == 1 else f"{first_origin()}/epoch-{number}"


def epochs() -> list[Epoch]:
    """Return the epochs of this log, at least the first."""
    later = LogEpoch.objects.values_list("number", "origin", "kept", "forked_at", "signed_size", "note")
    return [Epoch(1, first_origin()), *(Epoch(*row) for row in later.order_by("number"))]


def current() -> Epoch:
    """Return the epoch in which the log is."""
    return epochs()[-1]


def epoch_at(size: int, of: Sequence[Epoch]) -> Epoch:
    """Return the epoch of a checkpoint over ``size`` leaves of this log."""
    return next(epoch for epoch in reversed(of) if epoch.number == 1 or size > epoch.kept)


def note_text(
    epoch: Epoch, *, root: bytes, signed_root: bytes, lost: Sequence[str], officers: Sequence[str], reason: str
) -> str:
    """Return what an epoch's note says, before its signatures: a line each, of the lost batches as far as known."""
    lines = [
        epoch.origin,
        f"epoch {epoch.number} after {origin_of(epoch.number - 1)}",
        f"kept {epoch.kept} {_base64(root)}",
        f"signed {epoch.signed_size} {_base64(signed_root)}",
        f"as signed up to {epoch.forked_at}",
        f"officers {', '.join(officers)}",
        f"reason {' '.join(reason.split())}",
        *(f"lost {each}" for each in lost),
    ]
    return "".join(f"{line}\n" for line in lines)


def wrong_note(epoch: Epoch, verifiers: list[Verifier]) -> str | None:
    """Return what is wrong with the note of an epoch; None if it says what the epoch is, and both keys signed it."""
    before = origin_of(epoch.number - 1)
    try:
        lines = open_note(epoch.note, verifiers).splitlines()
    except BadNote as error:
        return f"epoch {epoch.number}: {error}"
    stated = [
        epoch.origin,
        f"epoch {epoch.number} after {before}",
        f"kept {epoch.kept} ",
        f"signed {epoch.signed_size} ",
        f"as signed up to {epoch.forked_at}",
    ]
    if len(lines) < len(stated) or not all(line.startswith(each) for line, each in zip(lines, stated, strict=False)):
        return f"epoch {epoch.number} is not what its note says"
    names = {verifier.name for verifier in signers_in(epoch.note, verifiers)}
    if {before, epoch.origin} - names:
        return f"the note of epoch {epoch.number} is not signed with the keys of both epochs"
    return None


def _base64(root: bytes) -> str:
    return base64.b64encode(root).decode()
