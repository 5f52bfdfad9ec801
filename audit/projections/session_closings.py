"""The closings of sessions by officers, held against the audit trail and the sessions themselves.

    entries of the trail, in order ─► each proposal, and who decided it ─► the same, row by row, or a fault
    batches of sessions that no API key sent ─► each is the event of a closing that two officers approved, or a fault

A closing that only one hand made is named in both ways: two entries of one person, and an event without two entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from audit.event_store import audit_trail, binary_copy, merkle
from audit.models import FIRST_SANDBOX_ID, LoggedStream, SessionClosing
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

PROPOSED = "session.closing_proposed"

DECIDED = ("approved", "declined", "withdrawn")

_FIELDS = (
    *("casino", "session", "next_seq", "float_minor", "reason", "state", "proposed_by", "proposed_at"),
    *("decided_by", "decided_at", "decision_reason"),
)

_SAME_HANDS = "select audit_same_hands_at(%b::bigint, %b::bigint, %b::timestamptz)"

# Of sessions, what no API key sent.
_WITHOUT_KEY = """
select s.casino_id, s.name, b.first_seq, b.root from log.batch b join log.stream s using (stream_id)
where b.key_id = %b::bigint and not s.is_of_desk and s.stream_id < %b::bigint
  and (%b::bigint is null or s.casino_id = %b::bigint)
order by s.stream_id, b.first_seq
"""


@dataclass(slots=True)
class _Closing:
    """A closing as the audit trail leaves it, or as a row says; officers by name. ``root`` is that of its event."""

    casino: int
    session: str
    next_seq: int
    float_minor: int
    reason: str
    proposed_by: str
    proposed_at: datetime
    state: str = "waiting"
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str = ""
    root: bytes = b""

    @property
    def proposal(self) -> tuple[int, str, int, int, str]:
        """The fields by which a decision names the proposal."""
        return (self.casino, self.session, self.next_seq, self.float_minor, self.proposed_by)

    def differences(self, other: _Closing) -> list[str]:
        return [name for name in _FIELDS if getattr(self, name) != getattr(other, name)]

    def wrong(self, what: str) -> WrongRow:
        return WrongRow("closing", what, self.session, self.next_seq)


def wrong_closings(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the closings of a casino's sessions, of every casino's for None."""
    names = officer_names()
    closings: list[_Closing] = []
    yield from _rebuild(casino_id, closings)
    yield from _against_the_rows(casino_id, closings, names)
    approved = [each for each in closings if each.state == "approved"]
    yield from _of_one_hand(approved, {name: pk for pk, name in names.items()})
    yield from _against_the_sessions(casino_id, approved)


def _rebuild(casino_id: int | None, closings: list[_Closing]) -> Iterator[WrongRow]:
    """Add what the trail says to ``closings``; yield the entries that decide what nobody proposed."""
    for entry in entries(casino_id, [PROPOSED, *(f"session.closing_{state}" for state in DECIDED)]):
        stated = _of_entry(entry)
        if entry.type == PROPOSED:
            closings.append(stated)
            continue
        key = (*stated.proposal[:-1], entry.text("proposed_by"))
        decided = next((each for each in closings if each.state == "waiting" and each.proposal == key), None)
        if decided is None:
            yield stated.wrong(f"{entry.name} decides what nobody has proposed")
            continue
        decided.state = entry.type.removeprefix("session.closing_")
        decided.decided_by, decided.decided_at = entry.actor, entry.at
        decided.decision_reason = stated.reason
        decided.root = merkle.leaf(entry.text("event").encode())  # of a batch of this one event, and of no other


def _of_entry(entry: Entry) -> _Closing:
    return _Closing(
        casino=entry.casino_id,
        session=entry.text("session"),
        next_seq=entry.number("next_seq"),
        float_minor=entry.number("float_minor"),
        reason=entry.text("reason").strip(),
        proposed_by=entry.actor,
        proposed_at=entry.at,
    )


def _against_the_rows(casino_id: int | None, closings: list[_Closing], names: Mapping[int, str]) -> Iterator[WrongRow]:
    rows = SessionClosing.objects.order_by("pk")
    rows = rows if casino_id is None else rows.filter(casino=casino_id)
    sessions = dict(LoggedStream.objects.filter(pk__in=rows.values("stream")).values_list("pk", "name"))
    stored = {row.pk: _of_row(row, sessions, names) for row in rows}
    for expected in closings:
        same = next((pk for pk, row in stored.items() if not row.differences(expected)), None)
        if same is not None:
            del stored[same]
            continue
        at = expected.proposed_at
        like = next((pk for pk, row in stored.items() if row.proposed_at == at), None)
        if like is None:
            yield expected.wrong(f"the closing that {expected.proposed_by} proposed is missing")
            continue
        altered = ", ".join(stored.pop(like).differences(expected))
        yield expected.wrong(f"row {like} is not what the audit trail says: {altered}")
    for pk, row in stored.items():
        yield row.wrong(f"row {pk} is stored, and the audit trail does not say so")


def _of_row(row: SessionClosing, sessions: Mapping[int, str], names: Mapping[int, str]) -> _Closing:
    return _Closing(
        casino=row.casino_id,
        session=sessions.get(row.stream_id, ""),
        next_seq=row.next_seq,
        float_minor=row.float_minor,
        reason=row.reason,
        proposed_by=names.get(row.proposed_by_id, ""),
        proposed_at=row.proposed_at,
        state=row.state,
        decided_by=names.get(row.decided_by_id, "") if row.decided_by_id else None,
        decided_at=row.decided_at,
        decision_reason=row.decision_reason,
    )


def _of_one_hand(approved: list[_Closing], accounts: Mapping[str, int]) -> Iterator[WrongRow]:
    for each in approved:
        one, other = accounts.get(each.proposed_by), accounts.get(each.decided_by or "")
        if one is None or other is None:
            yield each.wrong("an account that proposed or approved it is not there")
        elif each.proposed_by == each.decided_by:
            yield each.wrong(f"{each.proposed_by} alone closed the session: one officer proposed and approved it")
        elif binary_copy.execute(_SAME_HANDS, (one, other, each.decided_at))[0][0]:
            yield each.wrong(
                f"one hand closed the session: the accounts {each.proposed_by} and {each.decided_by} were in the same"
                " hands"
            )


def _against_the_sessions(casino_id: int | None, approved: list[_Closing]) -> Iterator[WrongRow]:
    """Yield events that no API key sent and no two officers approved, and approved closings without an event."""
    missing = {(each.casino, each.session, each.next_seq, each.root): each for each in approved}
    rows = binary_copy.execute(_WITHOUT_KEY, (audit_trail.NO_KEY, FIRST_SANDBOX_ID, casino_id, casino_id))
    for of_casino, session, first_seq, root in rows:
        if missing.pop((of_casino, session, first_seq, bytes(root)), None) is None:
            what = "no table system sent it, and the audit trail has no two officers who closed the session so"
            yield WrongRow("closing", what, session, first_seq)
    for each in missing.values():
        yield each.wrong("two officers closed the session, and the session does not have their event")
