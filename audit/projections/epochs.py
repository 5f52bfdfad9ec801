"""Epochs of the log, held against the audit trail of the installation."""

from __future__ import annotations

from collections.abc import Iterator

from audit.event_store.audit_trail import INSTALLATION
from audit.models import LogEpoch
from audit.projections.entries import entries
from audit.projections.faults import WrongRow
from audit.transparency.recovery import RECOVERED


def wrong_epochs() -> Iterator[WrongRow]:
    """Yield what does not hold about the epochs of the log."""
    stated = {
        (entry.desk, entry.seq): (
            *(entry.number("epoch"), entry.text("origin"), entry.number("kept"), entry.number("forked_at")),
            *(entry.number("signed_size"), entry.text("note"), entry.at),
        )
        for entry in entries(INSTALLATION, (RECOVERED,))
    }
    rows = LogEpoch.objects.values_list(
        *("entry_stream", "entry_seq"),
        *("number", "origin", "kept", "forked_at", "signed_size", "note", "opened_at"),
    )
    for desk, seq, *row in rows:
        if stated.pop((desk, seq), None) != tuple(row):
            yield WrongRow("epoch", f"epoch {row[0]} is not what entry {seq} of {desk} says")
    for (desk, seq), epoch in stated.items():
        yield WrongRow("epoch", f"epoch {epoch[0]} is missing, which entry {seq} of {desk} says")
