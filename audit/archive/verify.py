"""Verification of the files of archived months: what ``manage.py verify --archive FOLDER`` adds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.archive import proof
from audit.archive.files import BadArchive
from audit.event_store import archived
from audit.transparency.outcome import Fault, Outcome
from audit.transparency.signed_notes import Verifier


def wrong_files(folder: Path, outcome: Outcome, verifiers: list[Verifier]) -> Iterator[Fault]:
    """Yield what does not hold about the files of archived months; ``outcome`` learns which were read."""
    for month in archived.months():
        path = folder / month.file
        if month.state == "destroyed":
            if path.exists():
                yield Fault("archive", f"{month.file} is there, and {month.name} was {month.where}")
            continue
        try:
            filed = proof.open_filed(folder, month.file, verifiers)
            if filed.digest != month.digest:
                raise BadArchive("its note is of another file")
            proof.demand_filed(proof.prove(path, month.month, month.low, month.high, verifiers), filed)
        except (BadArchive, OSError) as error:
            yield Fault("archive", f"{month.file}, of {month.name}: {error}")
        else:
            if month.low in outcome.archived:
                outcome.archived[month.low].has_file = True
