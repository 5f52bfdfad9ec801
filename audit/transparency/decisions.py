"""Verification of the decisions about corrections: the table of them, held against the audit trail.

    entries of the trail, in order ─► what each decides, by the rules ─┐
                                                                       ├─► the same, row by row, or a fault
    audit_correctiondecision, one row a decision ──────────────────────┘

The table says which corrections take effect. Its rows are written by the database together with their entries, and no
role may change one; whoever is above the roles can. The entries are in the log, whose verification is ``verify``'s.

The rules are those of ``audit_decide_correction``: two countersignatures, of two people, or one refusal, and nobody who
recorded or approved the correction. An account's name and mail address are those of now; who created it, or issued
the links by which its password was chosen, as it was when the decision was taken. Roles are not checked again: which
somebody had at the time is in the audit trail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from audit.event_store import archived, binary_copy, cluster
from audit.event_store.readable import is_dated, readable
from audit.models import FIRST_SANDBOX_ID

COUNTERSIGNED, REFUSED = "countersigned", "refused"

CORRECTING = re.compile(r"entry\.(corrected|annulled)|(?!x\.).*\.voided")
"""The types of events that officers decide about: corrections, and what voids a result, of whichever ruleset."""

EntryId: TypeAlias = tuple[int, str, int]
"""Casino, desk stream and number of an entry of the audit trail."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What does not hold about the decisions on correction ``seq`` of ``session``."""

    session: str
    seq: int
    what: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: what an entry of the audit trail decides, or what a row of the table says."""

    casino_id: int
    stream_id: int | None  # None: the casino has no such session
    session: str
    seq: int
    number: int
    verdict: str
    officer: str
    reason: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry, with the event that it is about and the account that it names, as far as there are any."""

    id: EntryId
    decision: Decision
    kind: str | None
    persons: tuple[str | None, str | None]  # who recorded the correction, and who approved it at the table
    officer_id: int | None
    email: str | None


_ENTRY, _CORRECTING = readable("e.envelope"), readable("c.envelope")

_ABOUT = ", ".join(
    (f"{_CORRECTING} ->> 'type'", f"{_CORRECTING} ->> 'actor'", f"{_CORRECTING} #>> '{{data,approved_by}}'")
)
_JOIN = f"left join log.event c on c.stream_id = s.stream_id and c.seq::text = {_ENTRY} #>> '{{data,correction}}'"

_ENTRIES = f"""
select d.casino_id, d.name, e.seq, s.stream_id, {_ENTRY} #>> '{{data,session}}', {_ENTRY} #>> '{{data,correction}}',
       substr({_ENTRY} ->> 'type', 12), coalesce({_ENTRY} ->> 'actor', ''),
       trim(coalesce({_ENTRY} #>> '{{data,reason}}', '')), e.occurred_at,
       {_ABOUT}, o.id, o.email
from log.stream d join log.event e using (stream_id)
left join log.stream s on s.casino_id = d.casino_id and s.name = {_ENTRY} #>> '{{data,session}}' and not s.is_of_desk
{_JOIN}
left join audit_officer o on o.username = {_ENTRY} ->> 'actor'
where d.is_of_desk and d.stream_id < {FIRST_SANDBOX_ID} and (%b::bigint is null or d.casino_id = %b::bigint)
  and {_ENTRY} ->> 'type' in ('correction.countersigned', 'correction.refused') and {is_dated("e.occurred_at")}
order by e.occurred_at, d.stream_id, e.seq
"""

# Of a cluster, where the entry and the correction are on different nodes: the correction is read by itself.
_ENTRIES_OF_NODES = _ENTRIES.replace(f"{_ABOUT}, ", "").replace(_JOIN, "")

_CORRECTION = f"""
select {_ABOUT} from log.event c
where stream_id = %b::bigint and seq::text = %b::text
"""

_ROWS = """
select r.casino_id, r.entry_stream, r.entry_seq, r.stream_id, coalesce(s.name, ''), r.seq, r.number::bigint, r.verdict,
       coalesce(o.username, ''), r.reason, r.decided_at
from audit_correctiondecision r
left join log.stream s using (stream_id) left join audit_officer o on o.id = r.officer_id
where %b::bigint is null or r.casino_id = %b::bigint order by r.id
"""

_SAME_HANDS = "select audit_same_hands_at(%b::bigint, %b::bigint, %b::timestamptz)"

_RUNS = """
select s.name, r.stream_id, r.number::bigint, unnest(r.approved) from audit_adjudicationrun r
join log.stream s using (stream_id) 
where r.approved <> '{}' and (%b::bigint is null or r.casino_id = %b::bigint) order by r.id
"""


def wrong_decisions(casino_id: int | None) -> Iterator[Wrong]:
    """Yield what does not hold about a casino's decisions on corrections, every casino's for None.

    Of entries by the rules, of rows by the entries, of runs by what they took for approved.
    """
    entries = _entries(casino_id)
    yield from _against_the_rules(entries)
    yield from _against_the_table(entries, _rows(casino_id))
    yield from _against_the_runs(entries, casino_id)


def _entries(casino_id: int | None) -> list[_Entry]:
    """Return the entries that decide, in order, each with the number that its decision has about its correction."""
    counted: dict[tuple[int, str, int], int] = {}
    entries = []
    for row in _entry_rows(casino_id):
        of_casino, desk, entry_seq, stream_id, session, seq, verdict, actor, reason, at, *about = row
        correction = int(seq) if (seq or "").isdecimal() else 0
        number = counted[of_casino, session, correction] = counted.get((of_casino, session, correction), 0) + 1
        decision = Decision(of_casino, stream_id, session or "", correction, number, verdict, actor, reason, at)
        kind, recorded_by, approved_by, officer_id, email = about
        persons = (recorded_by, approved_by)
        entries.append(_Entry((of_casino, desk, entry_seq), decision, kind, persons, officer_id, email))
    return entries


def _entry_rows(casino_id: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``_ENTRIES``."""
    if not cluster.is_distributed():
        yield from binary_copy.execute(_ENTRIES, (casino_id, casino_id))
        return
    for row in binary_copy.execute(_ENTRIES_OF_NODES, (casino_id, casino_id)):
        correction = binary_copy.execute(_CORRECTION, (row[3], row[5]))
        yield (*row[:10], *(correction[0] if correction else (None, None, None)), *row[10:])


def _rows(casino_id: int | None) -> list[tuple[EntryId, Decision]]:
    rows = binary_copy.execute(_ROWS, (casino_id, casino_id))
    return [((row[0], row[1], row[2]), Decision(row[0], *row[3:])) for row in rows]


def _against_the_rules(entries: Iterable[_Entry]) -> Iterator[Wrong]:
    before: dict[tuple[int, str, int], list[_Entry]] = {}
    away = archived.Away()
    for entry in entries:
        decision = entry.decision
        earlier = before.setdefault((decision.casino_id, decision.session, decision.seq), [])
        is_away = decision.stream_id is not None and away.month_of(decision.stream_id) is not None
        for what in _faults(entry, earlier, is_away=is_away):
            yield Wrong(decision.session, decision.seq, f"{_named(entry.id)} by {decision.officer}: {what}")
        earlier.append(entry)


def _faults(entry: _Entry, earlier: list[_Entry], *, is_away: bool) -> Iterator[str]:
    """Yield the rules that an entry breaks; ``earlier`` are those about the same correction.

    ``is_away``: the correction is in an archive, so who recorded it is not here to be compared.
    """
    decision = entry.decision
    if CORRECTING.fullmatch(entry.kind or "") is None and not is_away:
        yield "there is no such correction"
    if entry.officer_id is None:
        yield "there is no such account"
    names = {each.lower() for each in (decision.officer, entry.email) if each}
    if any(person is not None and person.lower() in names for person in entry.persons):
        yield "whoever recorded or approved the correction at the table decided about it"
    if any(each.decision.verdict == REFUSED for each in earlier) or len(earlier) > 1:
        yield "the correction was decided before"
    if any(each.decision.officer == decision.officer for each in earlier):
        yield "the same officer decided before"
    elif decision.verdict == COUNTERSIGNED and any(_same_hands(each, entry) for each in earlier):
        yield "the accounts of the two officers were in the same hands"
    if not decision.reason:
        yield "no reason is given"


def _same_hands(one: _Entry, other: _Entry) -> bool:
    """Whether the accounts of two entries may have been one person's when the second of them decided."""
    if one.officer_id is None or other.officer_id is None:
        return False
    [(same,)] = binary_copy.execute(_SAME_HANDS, (one.officer_id, other.officer_id, other.decision.decided_at))
    return bool(same)


def _against_the_table(entries: Iterable[_Entry], rows: Iterable[tuple[EntryId, Decision]]) -> Iterator[Wrong]:
    missing = {entry.id: entry.decision for entry in entries}
    for id, row in rows:
        decision = missing.pop(id, None)
        if decision is None:
            yield Wrong(row.session, row.seq, f"{_row(row)} is in the table, and {_named(id)} does not say so")
            continue
        altered = [name for name in Decision.__slots__ if getattr(row, name) != getattr(decision, name)]
        if altered:
            what = f"{_row(row)} is not what {_named(id)} says: {', '.join(altered)}"
            yield Wrong(decision.session, decision.seq, what)
    for id, decision in missing.items():
        yield Wrong(
            decision.session, decision.seq, f"{_named(id)} says {_row(decision)}, and the table has no such row"
        )


def _against_the_runs(entries: Iterable[_Entry], casino_id: int | None) -> Iterator[Wrong]:
    """Yield the corrections that a run took for approved and that no two officers countersigned."""
    approved = {
        (entry.decision.stream_id, entry.decision.seq)
        for entry in entries
        if entry.decision.number == 2 and entry.decision.verdict == COUNTERSIGNED
    }
    for session, stream_id, number, seq in binary_copy.execute(_RUNS, (casino_id, casino_id)):
        if (stream_id, seq) not in approved:
            yield Wrong(session, seq, f"run {number} took it for approved, and no two officers countersigned it")


def _named(id: EntryId) -> str:
    return f"entry {id[2]} of {id[1]}"


def _row(decision: Any) -> str:
    return f"decision {decision.number}, {decision.verdict} by {decision.officer or 'nobody'}"
