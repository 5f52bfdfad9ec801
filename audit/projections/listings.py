"""The entries of watch lists and exclusion lists, held against the audit trail.

    listing.proposed, …approved, …declined, …removal_… ─► each entry ─► the same, row by row, or a fault

An entry, or a removal, that took two officers and had one hand is named, whatever the trail and the rows say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from audit.event_store import binary_copy
from audit.models import Listing, ListState
from audit.persons import listings
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

_TYPES = (
    *(listings.PROPOSED, listings.APPROVED, listings.DECLINED),
    *(listings.REMOVAL_PROPOSED, listings.REMOVAL_APPROVED, listings.REMOVAL_DECLINED),
)

_SAME_HANDS = "select audit_same_hands_at(%b::bigint, %b::bigint, %b::timestamptz)"

Key = tuple[int, int]
"""The id of a casino, and the number of an entry of its lists."""


@dataclass(slots=True)
class _Listing:
    """An entry of a list as the audit trail leaves it, or as a row says; officers by name, the last day as text.

    ``pairs`` are the officers who were two, each with the instant of the second one's decision.
    """

    casino: int
    number: int
    kind: str
    code: str
    last_day: str
    reason: str
    proposed_by: str
    proposed_at: datetime
    state: str = ListState.WAITING
    approved_by: str = ""
    approved_at: datetime | None = None
    removal_by: str = ""
    removal_at: datetime | None = None
    removal_reason: str = ""
    ended_by: str = ""
    ended_at: datetime | None = None
    end_reason: str = ""
    pairs: list[tuple[str, str, datetime]] = field(default_factory=list, compare=False)

    def go_on(self, entry: Entry) -> None:
        """Do what a later entry says, as the database did it."""
        reason = entry.text("reason").strip()
        match entry.type:
            case listings.APPROVED:
                self.state, self.approved_by, self.approved_at = ListState.LISTED, entry.actor, entry.at
                self.pairs.append((self.proposed_by, entry.actor, entry.at))
            case listings.DECLINED:
                self.state, self.ended_by, self.ended_at = ListState.DECLINED, entry.actor, entry.at
                self.end_reason = reason
            case listings.REMOVAL_PROPOSED:
                self.state, self.removal_by, self.removal_at = ListState.LEAVING, entry.actor, entry.at
                self.removal_reason = reason
            case listings.REMOVAL_DECLINED:
                self.state, self.removal_by, self.removal_at, self.removal_reason = ListState.LISTED, "", None, ""
            case listings.REMOVAL_APPROVED:
                self.state, self.ended_by, self.ended_at = ListState.REMOVED, entry.actor, entry.at
                self.pairs.append((self.removal_by, entry.actor, entry.at))

    def wrong(self, what: str) -> WrongRow:
        return WrongRow("listing", f"entry {self.number} on the lists of casino {self.casino} {what}")


def wrong_listings(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the lists of a casino, of every casino's for None."""
    names = officer_names()
    expected: dict[Key, _Listing] = {}
    yield from _rebuild(casino_id, expected)
    yield from _against_the_rows(casino_id, expected, names)
    yield from _of_one_hand(expected, {name: pk for pk, name in names.items()})


def _rebuild(casino_id: int | None, expected: dict[Key, _Listing]) -> Iterator[WrongRow]:
    """Add what the trail says to ``expected``; yield the entries that go on with what nobody proposed."""
    for entry in entries(casino_id, _TYPES):
        key = (entry.casino_id, entry.number("listing"))
        if entry.type == listings.PROPOSED and key not in expected:
            expected[key] = _of_entry(entry)
        elif entry.type == listings.PROPOSED:
            yield expected[key].wrong(f"is proposed again by {entry.name}")
        elif key in expected:
            expected[key].go_on(entry)
        else:
            yield WrongRow("listing", f"{entry.name} goes on with entry {key[1]}, which nobody proposed")


def _of_entry(entry: Entry) -> _Listing:
    return _Listing(
        casino=entry.casino_id,
        number=entry.number("listing"),
        kind=entry.text("list"),
        code=entry.text("named"),
        last_day=entry.text("last_day"),
        reason=entry.text("reason").strip(),
        proposed_by=entry.actor,
        proposed_at=entry.at,
    )


def _against_the_rows(
    casino_id: int | None, expected: Mapping[Key, _Listing], names: Mapping[int, str]
) -> Iterator[WrongRow]:
    rows = Listing.objects.order_by("pk")
    stored: dict[Key, _Listing] = {}
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        if (key := (row.casino_id, row.number)) in stored:
            yield stored[key].wrong("is stored twice")
        stored[key] = _of_row(row, names)
    compared = [each.name for each in fields(_Listing) if each.compare]
    for key, each in expected.items():
        row_says = stored.pop(key, None)
        if row_says is None:
            yield each.wrong(f"of {each.proposed_by} is missing")
        elif altered := [name for name in compared if getattr(each, name) != getattr(row_says, name)]:
            yield each.wrong(f"is not what the audit trail says: {', '.join(altered)}")
    for row_says in stored.values():
        yield row_says.wrong("is stored, and the audit trail does not say so")


def _of_row(row: Listing, names: Mapping[int, str]) -> _Listing:
    def name(officer: int | None) -> str:
        return names.get(officer, f"account {officer}") if officer is not None else ""

    return _Listing(
        casino=row.casino_id,
        number=row.number,
        kind=row.kind,
        code=row.code,
        last_day=row.last_day.isoformat() if row.last_day is not None else "",
        reason=row.reason,
        proposed_by=name(row.proposed_by_id),
        proposed_at=row.proposed_at,
        state=row.state,
        approved_by=name(row.approved_by_id),
        approved_at=row.approved_at,
        removal_by=name(row.removal_by_id),
        removal_at=row.removal_at,
        removal_reason=row.removal_reason,
        ended_by=name(row.ended_by_id),
        ended_at=row.ended_at,
        end_reason=row.end_reason,
    )


def _of_one_hand(expected: Mapping[Key, _Listing], accounts: Mapping[str, int]) -> Iterator[WrongRow]:
    for each in expected.values():
        for first, second, at in each.pairs:
            one, other = accounts.get(first), accounts.get(second)
            if one is None or other is None:
                yield each.wrong("names an officer whose account is not there")
            elif first == second or binary_copy.execute(_SAME_HANDS, (one, other, at))[0][0]:
                yield each.wrong(f"was decided by one hand: {first} and {second}")
