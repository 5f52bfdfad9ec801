"""What ``benchmarks.desk`` shows: nights of every game with every irregularity, recorded as table systems record them.

    a few nights, simulated once ─► each again under another name and day ─► accepted ─► replayed ─► sealed
                                                                              ─► a night reconciled, the ledger fed
    officers ─► a case proposed, a complaint entered, a what-if run          a directory of every id that findings name

The batch that opens a stream is Django's, those that follow are plain: what a web server does, without
HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import islice
from typing import Any

TABLES = 40
BATCH = 1_000
PROCESSES = 2
CROWDS = 500
"""How many sets of persons there are: a night has one, and the next another."""

PERSON_FIELDS = (b"player", b"person", b"croupier", b"approved_by", b"counted_by")
"""The fields that name somebody."""

OTHER_PERSONS = 5_000
"""Persons of the directory whom no finding names."""

FED_SESSIONS = 48
"""Sessions that the ledger is fed: three nights of each game and seed. The number of its processes is what a page
costs, and they are the same after every further night."""


@dataclass(frozen=True, slots=True)
class Nights:
    """The nights that are recorded again and again: the name of each in its own events, and its events."""

    key: int
    nights: list[tuple[bytes, list[bytes]]]

    @property
    def events_a_night(self) -> float:
        return sum(len(lines) for _name, lines in self.nights) / len(self.nights)


def play_nights(coups: int) -> Nights:
    """Create the casino, and simulate a night of each game with every irregularity it can have."""
    from audit.models import ApiKey, Casino, GamingTable, KeyScope
    from audit.simulation import IRREGULARITIES, RULESET_NAMES, play

    casino = Casino.objects.create(code="bench", name="Bench")
    for index in range(TABLES):
        GamingTable.objects.create(casino=casino, code=f"T{index}")
    key, _secret = ApiKey.make(casino=casino, name="bench", scopes=list(KeyScope.values))
    nights = []
    for ruleset in RULESET_NAMES:
        day = date(2010, 1, 1)
        night = play(
            ruleset, casino="bench", code="T0", gaming_day=day, seed=1, coups=coups, irregularities=list(IRREGULARITIES)
        )
        lines = [json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() for event in night.events]
        nights.append((night.stream.encode(), lines))
    return Nights(key.pk, nights)


def record(nights: Nights, target: int) -> int:
    """Record about ``target`` events and return how many: the same few nights, each under another name and day."""
    from django.db import connection

    numbers = range(max(1, round(target / nights.events_a_night)))
    connection.close()
    with ProcessPoolExecutor(PROCESSES, initializer=_begin, initargs=(nights,)) as processes:
        return sum(processes.map(_record_one, numbers, chunksize=8))


_given: Nights
"""What a process of ``record`` records: given to it once."""


def _begin(nights: Nights) -> None:
    global _given  # an initializer has no other way to leave something behind
    _given = nights


def _record_one(number: int) -> int:
    from audit.api.recording import columns_of
    from audit.event_store.append import append_named
    from audit.ingest.bodies import Body
    from audit.ingest.record import record as record_batch
    from audit.models import ApiKey

    key = ApiKey.objects.get(pk=_given.key)
    name, lines = _given.nights[number % len(_given.nights)]
    stream = f"bench.{number}"
    gaming_day = date(2010, 1, 1) + timedelta(days=number // TABLES)
    dates = [(gaming_day + timedelta(days=offset)).isoformat().encode() for offset in range(2)]
    crowd = [(b'"%b":"' % field, b'"%b":"%d-' % (field, number % CROWDS)) for field in PERSON_FIELDS]
    for low in range(0, len(lines), BATCH):
        batch = [
            line.replace(b'"' + name + b'"', b'"%b"' % stream.encode())
            .replace(b"2010-01-02", dates[1])
            .replace(b"2010-01-01", dates[0])
            for line in lines[low : low + BATCH]
        ]
        if low == 0:
            batch[0] = batch[0].replace(b'"T0"', b'"T%d"' % (number % TABLES))
        for before, after in crowd:
            batch = [line.replace(before, after) for line in batch]
        raw = b"[" + b",".join(batch) + b"]"
        parsed = columns_of(stream, raw) if low else None
        if parsed is None:
            record_batch(key, stream, Body(b"", batch, "", raw))
            continue
        columns, next_seq = parsed
        stored = append_named(key.casino_id, stream, key.own_tables, columns, next_seq=next_seq, key_id=key.pk)
        assert stored is not None
    return len(lines)


def replay() -> None:
    """Adjudicate every stream, in two processes."""
    from django.db import connection

    from audit.models import LoggedStream

    ids = list(LoggedStream.objects.filter(is_of_desk=False).values_list("pk", flat=True))
    connection.close()
    with ProcessPoolExecutor(PROCESSES) as workers:
        list(workers.map(_replay_one, ids, chunksize=4))


def _replay_one(stream_id: int) -> None:
    from audit.adjudication.replay import advance

    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def seal() -> None:
    """Put every batch into the tree, and sign it."""
    from audit.transparency.sequencer import Sequencer, catch_up

    sequencer = Sequencer(lambda waiting, root: None)
    sequencer.load()
    catch_up(sequencer)


def reconciled() -> Any:
    """Reconcile the middle one of all nights and return its report."""
    from audit.models import Casino, LoggedStream
    from audit.reconciliation import runs

    days = sorted(set(LoggedStream.objects.filter(is_of_desk=False).values_list("gaming_day", flat=True)))
    return runs.reconcile(Casino.objects.get(), days[len(days) // 2], actor="benchmark")[0]


def feed_ledger() -> int:
    """Feed the ledger its first sessions, and return how many processes it has."""
    from audit.ledger import feeding
    from audit.models import Casino, LedgerProcess

    list(islice(feeding._fed_sessions(Casino.objects.get()), FED_SESSIONS))
    return LedgerProcess.objects.count()


def what_if() -> Any:
    """Return a what-if run over one night, under another reading."""
    from audit.adjudication import what_if as what_if_runs
    from audit.adjudication.what_if import Selection
    from audit.models import LoggedStream

    day = nth(LoggedStream.objects.filter(is_of_desk=False).order_by("-pk"), TABLES).gaming_day
    run = what_if_runs.begin(
        "five", readings={"payout_unit": 5}, selection=Selection(first_day=day, last_day=day), actor="benchmark"
    )
    for stream_id in what_if_runs.streams_of(run):
        what_if_runs.replay_one(run, stream_id)
    what_if_runs.end(run)
    return run


def name_everybody() -> int:
    """Write a name into the directory for every id that findings name, and for others; return how many."""
    from audit.models import Casino, Finding, Person, PersonKind

    casino = Casino.objects.get()
    for role, kind in (("player", PersonKind.PLAYER), ("croupier", PersonKind.CROUPIER)):
        codes = Finding.objects.exclude(**{role: ""}).order_by().values_list(role, flat=True).distinct()
        Person.objects.bulk_create(_named(casino, kind, codes))
    Person.objects.bulk_create(_named(casino, PersonKind.PLAYER, (f"never-{each}" for each in range(OTHER_PERSONS))))
    return Person.objects.count()


def _named(casino: Any, kind: str, codes: Iterable[str]) -> list[Any]:
    from audit.models import Person

    return [Person(casino=casino, code=code, kind=kind, name=f"Name of {code}") for code in codes]


def propose(finding: Any) -> Any:
    """Propose to close the case of a finding, and enter a complaint about its moment; return the complaint."""
    from audit.casework import actions, complaints
    from audit.models import Complaint, Membership, Officer, Role

    if (entered := Complaint.objects.first()) is not None:
        return entered
    officer = Officer.objects.create_user("proposer", password=None, is_staff=True)
    Membership.objects.create(officer=officer, casino=finding.casino, role=Role.OFFICER)
    actions.perform(finding.case_id, officer, "take")
    actions.perform(finding.case_id, officer, "propose", reason="as the camera shows", outcome="confirmed")
    return complaints.enter(
        officer, complaints.Entered(finding.stream, finding.seq, time(23, 41), "table", "I was paid too little.")
    )


def change() -> None:
    """Take a case as the officer of ``propose``, or release it if they have it."""
    from audit.casework import actions
    from audit.models import Case, Officer
    from audit.models.cases import State

    case = Case.objects.filter(state__in=(State.NEW, State.INVESTIGATING)).earliest("pk")
    actions.perform(case.pk, Officer.objects.get(username="proposer"), "take" if case.state == State.NEW else "release")


def nth(rows: Any, index: int) -> Any:
    """Return the row at ``index``, or the last one if there are fewer."""
    return rows[min(index, rows.count() - 1)]
