"""Signed lists of information, held against the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.casework.information import SIGNED, digest_of
from audit.models import InformationSigning
from audit.projections.cases import instant_of
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow


def wrong_information(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's signed lists of information, every casino's for None."""
    signed = {entry.number("signing"): entry for entry in entries(casino_id, (SIGNED,))}
    names = officer_names()
    rows = InformationSigning.objects.order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        entry = signed.pop(row.pk, None)
        altered = ["no officer signed it"] if entry is None else list(_altered(row, entry, names))
        if altered:
            what = f"signed list of information {row.pk} is not what the audit trail says: {', '.join(altered)}"
            yield WrongRow("information", what)
    for pk, entry in signed.items():
        yield WrongRow("information", f"signed list of information {pk} is missing, which {entry.name} says")


def _altered(row: InformationSigning, entry: Entry, names: Mapping[int, str]) -> Iterator[str]:
    stated = {
        "casino": entry.casino_id, "gaming_day": entry.text("gaming_day"), "digest": entry.text("digest"),
        "findings": (entry.number("findings"), entry.text("digest")), "signed_by": entry.actor,
    }  # fmt: skip
    stored = {
        "casino": row.casino_id, "gaming_day": row.gaming_day.isoformat(), "digest": row.digest,
        "findings": (len(row.findings), digest_of(row.findings)), "signed_by": names.get(row.signed_by_id, ""),
    }  # fmt: skip
    yield from (name for name, value in stated.items() if stored[name] != value)
    if not is_same_instant(row.signed_at, instant_of(entry), exactly=True):
        yield "signed_at"
