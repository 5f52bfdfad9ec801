"""What the record holds of one id, as one file: a ZIP of JSON and CSV, for whoever the id stands for.

    streams of the casino in which the id stands ─► events that name it, or its wagers ─► events.ndjson, sessions.csv
    findings, cases, complaints, processes, refused requests, nights ─────────────────► a CSV each
    entry of the directory, erasures ─────────────────────────────────────────────────► subject.json
    entries of the audit trail that name it ──────────────────────────────────────────► trail.csv, without who it was

Other players are in it as ``other-player-1``, ``other-player-2`` …, the same throughout one file and in no other: their
ids are theirs. Staff stay under their ids. So an event of it is not the bytes that were hashed; its stream and number
say where those are. Words that somebody wrote stand as they are, but for the ids of other players.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q

from audit.event_store import binary_copy, read
from audit.event_store.readable import is_dated, readable
from audit.exports.sheets import Column, Sheet, as_csv
from audit.models import (
    CaseAction,
    Casino,
    Complaint,
    ErasedPerson,
    Finding,
    LedgerProcess,
    Listing,
    Person,
    Quarantined,
    StreamMoney,
)
from audit.persons.directory import (
    PLAYER_FACTS,
    PLAYERS_FACT,
    STAFF_FACTS,
    Family,
    PersonId,
    family_of,
    mentioned_in,
)
from settlement.codec import decode_one_stored
from settlement.events import ExtensionEvent
from settlement.persons.stream_money import decode_player

ZIP = "application/zip"

README = """What the record of the casino {casino} holds of the {family} {code}, as of {at} (UTC).

subject.json      the entry of the directory of persons, if there is one, erasures, and how much is in each file
events.ndjson     the events that name the id, and those of its wagers, one a line, with their stream and number
sessions.csv      money of each session: chips bought and cashed, stakes; a player's only
findings.csv      findings about the id, with their cases
actions.csv       what was done on these cases, and when; not by whom
complaints.csv    complaints of the player, and their answers
listings.csv      entries about the player on the watch list and the exclusion list; not by whom
processes.csv     what the evidence ledger follows
refused.csv       refused requests in which the id stands; not their content
trail.csv         entries of the officers' trail that name the id: what was done, and when; not by whom. Of one that
                  nobody can read, because somebody forged it, the stream and the number

Amounts are in minor units. Other players are other-player-1, other-player-2 …, the same throughout this file and in no
other; members of staff are under their ids. The stored events are what was hashed; these are not, because of that.
"""

_STREAMS = """
select s.stream_id from log.stream s
where s.casino_id = %b::bigint and not s.is_of_desk and exists (
  select from log.event e where e.stream_id = s.stream_id and position(%b::text in e.envelope::text) > 0)
order by s.gaming_day, s.stream_id
"""

_TRAIL = f"""
select case when {is_dated("e.occurred_at")} then e.occurred_at end, {readable("e.envelope")} ->> 'type',
       {readable("e.envelope")} -> 'data', s.name, e.seq
from log.stream s join log.event e using (stream_id)
where s.casino_id = %b::bigint and s.is_of_desk and position(%b::text in e.envelope::text) > 0
order by e.occurred_at, e.stream_id, e.seq
"""

_TOKEN = re.compile(r"[A-Za-z0-9._:-]+")

Report = Callable[[int, int], None]


@dataclass(slots=True)
class _Others:
    """Other players than the subject, each with the word that stands for it in this file."""

    words: dict[str, str] = field(default_factory=dict)

    def add(self, codes: Iterable[str], subject: PersonId) -> None:
        """Know these players from now on."""
        for code in codes:
            if PersonId(Family.PLAYER, code) != subject and code not in self.words:
                self.words[code] = f"other-player-{len(self.words) + 1}"

    def masked(self, value: Any) -> Any:
        """Return a value with the word of each other player in the place of the id, wherever it stands."""
        match value:
            case str():
                return self.words.get(value) or _TOKEN.sub(self._token, value)
            case dict():
                return {name: self.masked(each) for name, each in value.items()}
            case list() | tuple():
                return [self.masked(each) for each in value]
            case _:
                return value

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        stem = token.rstrip("._:-")
        return self.words.get(token) or (self.words[stem] + token[len(stem) :] if stem in self.words else token)


@dataclass(slots=True)
class _Table:
    """One CSV of the file."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def bytes(self, others: _Others) -> bytes:
        rows = [[others.masked(_text(value)) for value in row] for row in self.rows]
        return as_csv(Sheet(self.name, [Column(name) for name in self.columns], rows), "")


def subject_file(
    casino: Casino, family: str, code: str, *, at: datetime, report: Report = lambda done, total: None
) -> tuple[str, bytes]:
    """Return the name and the bytes of the file of what the record of a casino holds of an id.

    ``family`` is one of ``Family``, because players and staff may have the same id; ``at`` is when it is made.
    ``report`` is called with the sessions that are read and those there are.
    """
    subject = PersonId(Family(family), code)
    others = _Others()
    others.add(
        Person.objects.filter(casino=casino, kind="player").order_by("pk").values_list("code", flat=True), subject
    )
    quoted = msgspec.json.encode(code).decode()
    stream_ids = [row[0] for row in binary_copy.execute(_STREAMS, (casino.pk, quoted))]
    events: list[tuple[str, dict[str, Any]]] = []
    for done, stream_id in enumerate(stream_ids):
        report(done, len(stream_ids))
        events += _events_of(stream_id, subject, others)
    tables = [
        _sessions(stream_ids, subject),
        *_findings(casino, subject),
        _complaints(casino, subject),
        _listings(casino, subject),
        _processes(casino, subject),
        _refused(casino, quoted),
        _trail(casino, code, quoted),
    ]
    files = {
        "README.txt": README.format(casino=casino.code, family=family, code=code, at=f"{at:%Y-%m-%d %H:%M}").encode(),
        "events.ndjson": b"".join(msgspec.json.encode(others.masked(event)) + b"\n" for _stream, event in events),
        **{f"{table.name}.csv": table.bytes(others) for table in tables},
    }
    counts = {"events": len(events), **{table.name: len(table.rows) for table in tables}}
    files["subject.json"] = _subject(casino, subject, at, counts)
    return f"subject-{casino.code}-{code}-{at:%Y-%m-%d}.zip", _zip(files)


def _events_of(stream_id: int, subject: PersonId, others: _Others) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a session that name the subject, and those of its wagers; and note its other players."""
    wagers: set[str] = set()
    for _seq, raw in read.whole(stream_id):
        event = decode_one_stored(raw)
        persons = set(mentioned_in([event]))
        others.add(sorted(each.code for each in persons if each.family == Family.PLAYER), subject)
        envelope: dict[str, Any] = msgspec.json.decode(raw)
        data = envelope["data"]
        own = {value for name in ("wager", "continues_as") if isinstance(value := data.get(name), str)}
        is_staffs = subject.family == Family.STAFF and envelope.get("actor") == subject.code
        unknown = [envelope.get("ext"), data if isinstance(event, ExtensionEvent) else None]
        if subject in persons or is_staffs or any(_holds(each, subject.code) for each in unknown):
            if subject.family == Family.PLAYER and subject in persons:
                wagers |= own
            yield event.stream, envelope
        elif wagers & own or data.get("left_up_from") in wagers:
            wagers |= own
            yield event.stream, envelope


def _holds(value: Any, code: str) -> bool:
    """Return whether a text of a value is the id: what an integrator's own fields mean is not known."""
    match value:
        case str():
            return value == code
        case dict():
            return any(_holds(each, code) for each in value.values())
        case list():
            return any(_holds(each, code) for each in value)
        case _:
            return False


def _sessions(stream_ids: list[int], subject: PersonId) -> _Table:
    columns = ("gaming_day", "session", "table", "currency", "wagers", "staked", "chips_bought", "chips_cashed")
    table = _Table("sessions", columns)
    if subject.family != Family.PLAYER:
        return table
    rows = StreamMoney.objects.filter(stream__in=stream_ids).order_by("stream_id", "-last_seq", "-pk")
    for _stream_id, encoded in rows.distinct("stream_id").values_list("stream_id", "money"):
        own = decode_player(bytes(encoded), subject.code)
        if own is not None:
            bought, cashed = (
                sum(each.amount for each in own.exchanges if each.direction == way) for way in ("in", "out")
            )
            play = (own.play.wagers, own.play.handle) if own.play else (0, 0)
            table.rows.append((own.gaming_day, own.stream, own.table, own.currency, *play, bought, cashed))
    return table


def _findings(casino: Casino, subject: PersonId) -> Iterator[_Table]:
    """Yield the findings about the subject with their cases, and what was done on these."""
    is_player = subject.family == Family.PLAYER
    about = Q(player=subject.code) if is_player else Q(croupier=subject.code)
    for name in PLAYER_FACTS if is_player else STAFF_FACTS:
        about |= Q(**{f"facts__{name}": subject.code})
    if is_player:
        about |= Q(**{f"facts__{PLAYERS_FACT}__contains": [subject.code]})
    columns = (
        *("gaming_day", "session", "event", "rule", "severity", "status", "message", "expected", "recorded"),
        *("difference", "currency", "facts", "case", "case_state", "outcome", "reason"),
    )
    found = _Table("findings", columns)
    cases: set[int] = set()
    rows = Finding.objects.filter(about, casino=casino).select_related("case", "stream").order_by("stream_id", "seq")
    for row in rows.order_by("stream_id", "seq", "pk"):
        case = row.case
        of_case = (case.pk, case.state, case.outcome, case.reason) if case is not None else ("", "", "", "")
        if case is not None:
            cases.add(case.pk)
        found.rows.append(
            (
                *(row.gaming_day, row.stream.name, row.seq, row.rule, row.severity, row.status),
                *(row.as_value().message("en"), row.expected, row.recorded, row.difference, row.currency, row.facts),
                *of_case,
            )
        )
    actions = _Table("actions", ("case", "at", "type", "reason"))
    done = CaseAction.objects.filter(case__in=cases).order_by("case", "at", "pk")
    actions.rows = list(done.values_list("case", "at", "type", "reason"))
    yield found
    yield actions


def _complaints(casino: Casino, subject: PersonId) -> _Table:
    columns = (
        "session",
        "event",
        "clock",
        "wager",
        "came",
        "words",
        "entered",
        "outcome",
        "amount",
        "answer",
        "answered",
    )
    table = _Table("complaints", columns)
    if subject.family == Family.PLAYER:
        rows = Complaint.objects.filter(casino=casino, player=subject.code).select_related("stream", "answer")
        for row in rows.order_by("pk"):
            answer = getattr(row, "answer", None)
            given = (
                (answer.outcome, answer.amount, answer.words, answer.answered_at) if answer else ("", None, "", None)
            )
            about = (row.stream.name, row.seq, f"{row.clock:%H:%M}", row.wager, row.came, row.words, row.entered_at)
            table.rows.append((*about, *given))
    return table


def _listings(casino: Casino, subject: PersonId) -> _Table:
    columns = ("list", "state", "reason", "last_day", "proposed_at", "approved_at", "removal_reason", "ended_at")
    table = _Table("listings", (*columns, "end_reason"))
    if subject.family == Family.PLAYER:
        rows = Listing.objects.filter(casino=casino, code=subject.code).order_by("pk")
        table.rows = list(rows.values_list("kind", *columns[1:], "end_reason"))
    return table


def _processes(casino: Casino, subject: PersonId) -> _Table:
    table = _Table("processes", ("kind", "subject", "since", "sessions", "draws", "ended"))
    rows = LedgerProcess.objects.filter(casino=casino, subject__contains=subject.code).order_by("pk")
    is_staff = subject.family == Family.STAFF
    for row in rows.only("kind", "subject", "first_day", "sessions", "draws", "ended_at"):
        if subject.code in row.subject.split(", ") and row.kind.startswith("croupier") == is_staff:
            table.rows.append((row.kind, row.subject, row.first_day, row.sessions, row.draws, row.ended_at))
    return table


def _refused(casino: Casino, quoted: str) -> _Table:
    table = _Table("refused", ("received", "session", "event", "reason", "bytes"))
    for row in Quarantined.objects.filter(casino=casino, purged_at=None).order_by("pk").iterator():
        if quoted.encode() in bytes(row.body):
            table.rows.append((row.received_at, row.stream, row.seq, row.code, row.size))
    return table


def _trail(casino: Casino, code: str, quoted: str) -> _Table:
    """Return the entries that name the id; who did it is the officer's, and other ids that they name are others'."""
    table = _Table("trail", ("at", "type"))
    for at, type, data, stream, seq in binary_copy.execute(_TRAIL, (casino.pk, quoted)):
        try:
            names_it = _holds(msgspec.json.decode(data or b""), code)
        except (msgspec.DecodeError, RecursionError):
            type, names_it = None, True
        if names_it:
            table.rows.append((at, type or f"unreadable: {stream}:{seq}"))
    return table


def _subject(casino: Casino, subject: PersonId, at: datetime, counts: dict[str, int]) -> bytes:
    people = Person.objects.filter(casino=casino, code=subject.code)
    known = next((each for each in people if family_of(each.kind) == subject.family), None)
    erased = ErasedPerson.objects.filter(casino=casino, code=subject.code).order_by("pk")
    names = ("kind", "name", "card_or_licence", "note")
    content = {
        "casino": casino.code,
        "family": str(subject.family),
        "id": subject.code,
        "made_at": at.isoformat(),
        "directory": {name: str(getattr(known, name)) for name in names} if known is not None else None,
        "erased": [each.erased_at.isoformat() for each in erased if family_of(each.kind) == subject.family],
        "counts": counts,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _text(value: Any) -> Any:
    """Return a value as a cell has it: instants in UTC, objects as JSON."""
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat()
        case dict() | list():
            return msgspec.json.encode(value).decode()
        case _:
            return value if isinstance(value, int | str) else str(value)


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()
