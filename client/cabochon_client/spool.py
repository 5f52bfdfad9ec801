"""The spool: what happened at the tables, in a SQLite file, written before anything is sent.

    append ─► event ─────────────► acknowledged, by a receipt ─► sealed in the log ─► deleted ``keep_s`` later
              disk, before return   kept: a restored record may need it again

An append has reached the disk (``synchronous = full``) when it returns. Any number of processes may append; one sends.
Nothing that the record has not acknowledged and sealed is ever deleted: a full spool refuses new events instead.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cabochon_client.events import LOST, canonical, canonical_json, check_stream, next_seq_after, one_higher
from cabochon_client.receipts import PublicKey

MAX_BYTES = 2**30
"""Size of the file from which on new events are refused, unless it is told otherwise."""

KEEP_S = 7 * 86_400
"""Seconds for which sealed events and their receipts are kept: longer than the age of a backup that may come back."""

VERSION = 1

SCHEMA = """
create table meta (name text primary key, value text not null) without rowid;
create table session (
    id integer primary key,
    stream text not null unique,
    next_seq integer not null,       -- of the next event
    acknowledged integer not null,   -- the record has every number through this one
    sent_through integer not null,   -- no number above this was ever sent
    state text not null default 'open',
    problem text
);
create table event (
    session integer not null, seq integer not null, envelope blob not null, primary key (session, seq)
);
create table receipt (
    id integer primary key, session integer not null, first_seq integer not null, last_seq integer not null,
    next_seq integer not null, content text not null, state text not null default 'given', sealed_at integer
);
create index receipt_of_session on receipt (session, first_seq);
create index receipt_by_state on receipt (state, id);
create table set_aside (stream text not null, seq integer not null, envelope blob not null, reason text not null);
create table public_key (id text not null, name text not null, purpose text not null, public blob not null,
    primary key (id, name, purpose)) without rowid;
"""


class SpoolFull(Exception):
    """The spool has its largest size, and nothing in it may be deleted. Nothing was appended."""


class OutOfOrder(Exception):
    """An event that does not follow the last one of its session, or differs from the one that is there."""


@dataclass(frozen=True)
class SessionRow:
    """Where a session stands. ``state``: ``open``, ``held`` (tried again, slowly), ``stopped`` (until somebody acts).

    ``problem`` is what the record answered, with ``code``, ``detail`` and more; None while all is well.
    """

    id: int
    stream: str
    next_seq: int
    acknowledged: int
    sent_through: int
    state: str
    problem: dict[str, Any] | None

    @property
    def waiting(self) -> int:
        """How many numbers the record has not acknowledged."""
        return self.next_seq - 1 - self.acknowledged


@dataclass(frozen=True)
class KeptReceipt:
    """A receipt in the spool."""

    id: int
    session: int
    content: dict[str, Any]


class Spool:
    """A spool in the file ``path``, made if it is not there. It may be used by several threads and processes."""

    def __init__(self, path: str | Path, *, max_bytes: int = MAX_BYTES, keep_s: int = KEEP_S) -> None:
        self.path = Path(path)
        self.max_bytes = max_bytes
        self.keep_s = keep_s
        self._lock = threading.RLock()
        os.close(
            os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        )  # of its owner alone, as SQLite makes its other files
        self._database = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("pragma synchronous = full")
        self._database.execute("pragma journal_size_limit = 4194304")
        with self._writing() as database:
            version = database.execute("pragma user_version").fetchone()[0]
            if version == 0:
                for statement in SCHEMA.split(";\n"):
                    database.execute(statement)
                database.execute(f"pragma user_version = {VERSION}")
            elif version != VERSION:
                raise sqlite3.DatabaseError(
                    f"{self.path} is a spool of version {version}; this program reads {VERSION}"
                )
        self._page_bytes = self._value("pragma page_size")

    def close(self) -> None:
        """Close the file. It has all that was appended."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the database in a transaction that has the right to write; commit at the end, undo after an error."""
        with self._lock:
            self._database.execute("begin immediate")
            try:
                yield self._database
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _value(self, query: str, *values: object) -> int:
        row = self._rows(query, *values)[0]
        return int(row[0] or 0)

    # Appending

    def append(self, stream: str, events: Sequence[Mapping[str, Any]]) -> list[int]:
        """Append events without ``stream`` and ``seq`` to a session; return their numbers.

        All are on the disk when it returns, or none is. Raise ``EventError`` or ``SpoolFull``.
        """
        check_stream(stream)
        with self._writing() as database:
            row = self._session(stream) or self._opened(stream, first_seq=1)
            seq, seqs, moved = row.next_seq, [], self.renumbered().get(stream)
            for event in events:
                numbered = {**event, "stream": stream, "seq": seq}
                if moved:  # others are named by the numbers that were returned for them
                    numbered = one_higher(numbered, *moved)
                self._insert(database, row.id, seq, canonical(numbered))
                seqs.append(seq)
                seq = next_seq_after(numbered)
            database.execute("update session set next_seq = ? where id = ?", (seq, row.id))
        return seqs

    def put(self, events: Sequence[Mapping[str, Any]]) -> int:
        """Append events that have their numbers, as of a file; return how many are new.

        What is there with the same content is passed over. A session that is not here begins with whatever number comes
        first. Raise ``OutOfOrder`` for a number that does not follow, or that is there with other content; then no
        event of the call is appended.
        """
        new = 0
        with self._writing() as database:
            moved = self.renumbered()
            for event in events:
                envelope = canonical(event)
                stream, seq = event["stream"], event["seq"]
                if stream in moved and seq >= moved[stream][0]:  # whoever numbers itself knows of no closing
                    event = one_higher(event, moved[stream][0])
                    envelope, seq = canonical(event), event["seq"]
                row = self._session(stream) or self._opened(stream, first_seq=seq)
                if seq > row.next_seq:
                    raise OutOfOrder(
                        f"event {seq} of {stream} comes after {row.next_seq - 1}; {row.next_seq} is missing"
                    )
                if seq < row.next_seq:
                    self._compare(row, seq, envelope)
                    continue
                self._insert(database, row.id, seq, envelope)
                database.execute("update session set next_seq = ? where id = ?", (next_seq_after(event), row.id))
                new += 1
        return new

    def _compare(self, row: SessionRow, seq: int, envelope: bytes) -> None:
        there = self.envelope(row, seq)
        if there is not None and there != envelope:
            raise OutOfOrder(f"event {seq} of {row.stream} is in the spool with other content")
        if there is None and seq > row.acknowledged:
            raise OutOfOrder(f"event {seq} of {row.stream} was declared lost")

    def _opened(self, stream: str, *, first_seq: int) -> SessionRow:
        before = first_seq - 1
        self._database.execute(
            "insert into session (stream, next_seq, acknowledged, sent_through) values (?, ?, ?, ?)",
            (stream, first_seq, before, before),
        )
        row = self._session(stream)
        assert row is not None, "it was just inserted"
        return row

    def _insert(self, database: sqlite3.Connection, session: int, seq: int, envelope: bytes) -> None:
        if self.used_bytes() + len(envelope) + self._page_bytes > self.max_bytes:
            self._delete_sealed(database, older_than_s=0)
            if self.used_bytes() + len(envelope) + self._page_bytes > self.max_bytes:
                raise SpoolFull(
                    f"{self.path} has {self.used_bytes()} bytes, the most is {self.max_bytes}: "
                    "the record has not sealed what is in it"
                )
        database.execute("insert into event (session, seq, envelope) values (?, ?, ?)", (session, seq, envelope))

    def used_bytes(self) -> int:
        """Return the bytes of the file that are in use; what was deleted is used again before the file grows."""
        return (self._value("pragma page_count") - self._value("pragma freelist_count")) * self._page_bytes

    # Reading

    def sessions(self) -> list[SessionRow]:
        """Return every session, the oldest first."""
        return [_session_row(row) for row in self._rows(f"select {_SESSION} from session order by id")]

    def unsent(self) -> list[SessionRow]:
        """Return the sessions with events that the record has not acknowledged, stopped ones left out."""
        query = f"select {_SESSION} from session where next_seq > acknowledged + 1 and state != 'stopped' order by id"
        return [_session_row(row) for row in self._rows(query)]

    def session(self, stream: str) -> SessionRow | None:
        """Return a session, None if the spool has never had an event of it."""
        return self._session(stream)

    def _session(self, stream: str) -> SessionRow | None:
        rows = self._rows(f"select {_SESSION} from session where stream = ?", stream)
        return _session_row(rows[0]) if rows else None

    def envelope(self, row: SessionRow, seq: int) -> bytes | None:
        """Return an event in canonical form, None if it is not here."""
        rows = self._rows("select envelope from event where session = ? and seq = ?", row.id, seq)
        return rows[0][0] if rows else None

    def range(self, row: SessionRow, first: int, last: int) -> list[tuple[int, bytes]]:
        """Return the events with the numbers from ``first`` to ``last`` that are here."""
        query = "select seq, envelope from event where session = ? and seq between ? and ? order by seq"
        return [(int(seq), envelope) for seq, envelope in self._rows(query, row.id, first, last)]

    def batch(self, row: SessionRow, *, max_events: int, max_bytes: int) -> list[tuple[int, bytes]]:
        """Return the next events to send, in order: those after ``acknowledged`` for which there is no receipt.

        Where the receipt of a later batch is here already, the answer to an earlier one was lost, and those before it
        are sent again, to get theirs.
        """
        later = self._value(
            "select min(first_seq) from receipt where session = ? and state != 'void' and first_seq > ?",
            row.id,
            row.acknowledged + 1,
        )
        query = (
            "select seq, envelope from event where session = ? and seq > ? and (? = 0 or seq < ?) order by seq limit ?"
        )
        found = self._rows(query, row.id, row.acknowledged, later, later, max_events)
        taken: list[tuple[int, bytes]] = []
        size = 2
        for seq, envelope in found:
            size += len(envelope) + 1
            if taken and size > max_bytes:
                break
            taken.append((int(seq), envelope))
        return taken

    # What the record answers

    def sending(self, row: SessionRow, last_seq: int) -> None:
        """Remember that events through ``last_seq`` are being sent, before they are."""
        if last_seq > row.sent_through:
            with self._writing() as database:
                database.execute("update session set sent_through = ? where id = ?", (last_seq, row.id))

    def acknowledge(self, row: SessionRow, receipt: Mapping[str, Any], *, last_sent: int, after: int) -> None:
        """Keep a receipt that was checked, and go on to the first number without one.

        ``last_sent`` is the last number that was sent, ``after`` the one that follows it: what else the batch may hold
        was not sent from here, and is not taken as acknowledged.
        """
        content = json.dumps(receipt, sort_keys=True)
        values = (row.id, receipt["first_seq"], min(receipt["last_seq"], last_sent), min(receipt["next_seq"], after))
        with self._writing() as database:
            known = "update receipt set last_seq = max(last_seq, ?), next_seq = max(next_seq, ?) where session = ?"
            same = f"{known} and state != 'void' and content = ?"
            if database.execute(same, (*values[2:], row.id, content)).rowcount == 0:
                database.execute(
                    "insert into receipt (session, first_seq, last_seq, next_seq, content) values (?, ?, ?, ?, ?)",
                    (*values, content),
                )
            following = (
                "select max(next_seq) from receipt where session = ? and state != 'void'"
                " and first_seq <= ? and next_seq > ?"
            )
            upto = row.acknowledged + 1
            while True:
                (further,) = database.execute(following, (row.id, upto, upto)).fetchone()
                if further is None:
                    break
                upto = int(further)
            database.execute(
                "update session set acknowledged = ?, state = 'open', problem = null where id = ?", (upto - 1, row.id)
            )

    def go_on_from(self, row: SessionRow, next_seq: int, *, problem: Mapping[str, Any] | None = None) -> bool:
        """Send from ``next_seq`` on. Return whether everything from there on is here.

        Receipts of events that the record no longer has stay as proof that it had them; they are void for sending.
        """
        with self._writing() as database:
            held = self._value("select min(seq) from event where session = ? and seq >= ?", row.id, next_seq)
            if next_seq > row.next_seq or (next_seq < row.next_seq and held != next_seq):
                return False
            void = "update receipt set state = 'void' where session = ? and last_seq >= ? and state != 'void'"
            database.execute(void, (row.id, next_seq))
            database.execute(
                "update session set acknowledged = ?, state = 'open', problem = ? where id = ?",
                (next_seq - 1, json.dumps(problem) if problem else None, row.id),
            )
        return True

    def renumber(self, row: SessionRow, first: int) -> int | None:
        """Number what is here from ``first`` on one higher: under that number the record has an event of its own.

        The events as they were are set aside. Return the last number that moved; None if the record has acknowledged
        ``first``, or the numbers moved before: then nothing is changed.
        """
        with self._writing() as database:
            now = self._session(row.stream)
            if now is None or now.acknowledged != first - 1 or row.stream in self.renumbered():
                return None
            last, events = now.next_seq - 1, self.range(row, first, now.next_seq)
            database.executemany(
                "insert into set_aside values (?, ?, ?, 'renumbered')", [(row.stream, *each) for each in events]
            )
            database.execute("delete from event where session = ? and seq >= ?", (row.id, first))
            higher = [one_higher(json.loads(envelope), first) for _, envelope in events]
            values = [(row.id, event["seq"], canonical_json(event)) for event in higher]
            database.executemany("insert into event (session, seq, envelope) values (?, ?, ?)", values)
            database.execute(
                "update session set next_seq = next_seq + 1, acknowledged = ?, sent_through = ?, state = 'open',"
                " problem = null where id = ?",
                (first, first, row.id),
            )
            database.execute("insert into meta values (?, ?)", (f"{_RENUMBERED}{row.stream}", f"{first} {last}"))
        return last

    def renumbered(self) -> dict[str, tuple[int, int]]:
        """Return the first and the last number that moved, by stream: each event there has a number one higher now."""
        rows = self._rows("select name, value from meta where substr(name, 1, ?) = ?", len(_RENUMBERED), _RENUMBERED)
        numbers = {name.removeprefix(_RENUMBERED): value.split() for name, value in rows}
        return {stream: (int(first), int(last)) for stream, (first, last) in numbers.items()}

    def set_state(self, row: SessionRow, state: str, problem: Mapping[str, Any] | None) -> None:
        """Hold, stop or open a session, and keep the reason."""
        with self._writing() as database:
            encoded = json.dumps(problem) if problem else None
            database.execute("update session set state = ?, problem = ? where id = ?", (state, encoded, row.id))

    def declare_lost(self, stream: str, *, first: int, through: int, occurred_at: str, reason: str) -> None:
        """Put ``events.lost`` in the place of the events ``first`` to ``through``.

        ``first`` is the number that the record takes next. What is here of lost numbers, or of numbers that the record
        has and has not acknowledged, is set aside. Raise ``OutOfOrder`` for numbers that may be stored.
        """
        data = {"through": through, "reason": reason}
        lost = {"stream": stream, "seq": first, "type": LOST, "occurred_at": occurred_at, "data": data}
        envelope = canonical(lost)
        with self._writing() as database:
            row = self._session(stream) or self._opened(stream, first_seq=first)
            if first <= row.acknowledged:
                raise OutOfOrder(
                    f"the record takes {first} next, although it acknowledged it: send once, then look again"
                )
            if row.state != "stopped" and first <= row.sent_through:
                raise OutOfOrder(f"event {first} of {stream} is being sent; wait for the answer of the record")
            gone = (row.id, row.acknowledged + 1, through)
            database.execute(
                "insert into set_aside select ?, seq, envelope, ? from event where session = ? and seq between ? and ?",
                (stream, reason, *gone),
            )
            database.execute("delete from event where session = ? and seq between ? and ?", gone)
            self._insert(database, row.id, first, envelope)
            database.execute(
                "update session set next_seq = max(next_seq, ?), acknowledged = ?, sent_through = ?,"
                " state = 'open', problem = null where id = ?",
                (through + 1, first - 1, first - 1, row.id),
            )

    # Seals

    def unsealed(self, limit: int, *, after: int = 0) -> list[KeptReceipt]:
        """Return receipts that the log has not sealed: those after the id ``after``, then from the oldest on."""
        query = "select id, session, content from receipt where state = 'given' order by id <= ?, id limit ?"
        return [KeptReceipt(int(row[0]), int(row[1]), json.loads(row[2])) for row in self._rows(query, after, limit)]

    def set_receipt(self, receipt_id: int, state: str) -> None:
        """Note that a receipt is ``sealed`` in the log, ``unchecked``, or that the proof of the log is ``false``."""
        with self._writing() as database:
            database.execute(
                "update receipt set state = ?, sealed_at = ? where id = ?", (state, int(time.time()), receipt_id)
            )

    def receipts(self, stream: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the receipts of a session that are kept, each with its state."""
        query = (
            "select r.state, content from receipt r join session s on s.id = r.session where stream = ? order by r.id"
        )
        return [(str(state), json.loads(content)) for state, content in self._rows(query, stream)]

    def count_receipts(self) -> dict[str, int]:
        """Return how many receipts are kept in each state: given, sealed, unchecked, void, false."""
        return {str(state): int(count) for state, count in self._rows("select state, count(*) from receipt group by 1")}

    def delete_sealed(self) -> None:
        """Delete what was sealed more than ``keep_s`` ago, events and receipts."""
        with self._writing() as database:
            self._delete_sealed(database, older_than_s=self.keep_s)

    def _delete_sealed(self, database: sqlite3.Connection, *, older_than_s: int) -> None:
        before = int(time.time()) - older_than_s
        query = (
            "select id, session, last_seq from receipt where state in ('sealed', 'unchecked') and sealed_at <= ?"
            " order by id limit 500"
        )
        for receipt_id, session, last_seq in database.execute(query, (before,)).fetchall():
            # An earlier batch that is not sealed keeps all that follows: what is here of a session has no holes.
            earlier = "select 1 from receipt where session = ? and state in ('given', 'false') and first_seq < ?"
            if not database.execute(earlier, (session, last_seq)).fetchone():
                database.execute("delete from event where session = ? and seq <= ?", (session, last_seq))
                database.execute("delete from receipt where id = ?", (receipt_id,))

    # The record's keys, and notes

    def public_keys(self) -> list[PublicKey]:
        """Return the log's public keys that were ever read."""
        rows = self._rows("select id, name, purpose, public from public_key")
        return [PublicKey(*row) for row in rows]

    def add_keys(self, keys: Sequence[PublicKey]) -> None:
        """Keep public keys. A key that is here stays as it is, whatever is published later."""
        with self._writing() as database:
            rows = [(key.id, key.name, key.purpose, key.public) for key in keys]
            database.executemany("insert or ignore into public_key values (?, ?, ?, ?)", rows)

    def note(self, name: str) -> str | None:
        """Return a note that was kept, None if there is none of this name."""
        rows = self._rows("select value from meta where name = ?", name)
        return str(rows[0][0]) if rows else None

    def keep_note(self, name: str, value: str | None) -> None:
        """Keep a note, in the place of the one of its name; None deletes it."""
        if value == self.note(name):
            return
        with self._writing() as database:
            if value is None:
                database.execute("delete from meta where name = ?", (name,))
            else:
                database.execute("insert or replace into meta values (?, ?)", (name, value))


_RENUMBERED = "renumbered "
"""What the note about the numbers of a stream begins with."""

_SESSION = "id, stream, next_seq, acknowledged, sent_through, state, problem"


def _session_row(row: tuple[Any, ...]) -> SessionRow:
    problem = json.loads(row[6]) if row[6] else None
    return SessionRow(int(row[0]), str(row[1]), int(row[2]), int(row[3]), int(row[4]), str(row[5]), problem)
