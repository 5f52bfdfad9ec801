"""Tampering: a superuser flips, drops, swaps or duplicates something, and ``verify`` finds it. Every time.

Each attack is random, of a printed seed, runs with every trigger disabled, and is rolled back after the verification.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import override_settings
from pytest_django import Settings

from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import export
from audit.transparency.outcome import Outcome
from audit.transparency.signed_notes import Signer
from audit.transparency.verify import verify
from tests import citus
from tests.audit.conftest import make_tenant
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, several_streams, verified

pytestmark = pytest.mark.superuser

ATTACKS = 10 if not citus.COORDINATOR else 6
"""Of each kind on each table; fewer on a cluster, where a verification takes far longer."""

SIZES = [[3, 4, 1], [1, 1, 1, 1, 6], [12], [2, 9], [5, 5]]


class RollBack(Exception):
    """Ends an attack."""


@pytest.fixture(scope=citus.MODULE)
def recorded(own_database: None, module_db: None) -> tuple[Tenant, list[str]]:
    """A casino and its streams, which the tests of this module share: what each does to them is rolled back."""
    tenant = make_tenant()
    with override_settings(CABOCHON_CHECKPOINTS=[]):
        names = several_streams(tenant, sizes=SIZES)
    assert verified().faults == []
    return tenant, names


@pytest.fixture(autouse=True)
def _export_folder(settings: Settings, tmp_path: Path) -> None:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]


@pytest.fixture
def tenant(recorded: tuple[Tenant, list[str]], db: None) -> Tenant:
    return recorded[0]


@pytest.fixture
def streams(recorded: tuple[Tenant, list[str]], db: None) -> list[str]:
    return recorded[1]


def verified_after(attack: Callable[[CursorWrapper], str | None], **options: Any) -> tuple[str | None, Outcome]:
    """Attack the log with every guard off, verify it, roll back. Return the attack's description and the outcome."""
    description, outcome = None, Outcome()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            citus.let_a_superuser_attack(cursor)
            for guard in ("log_no_change", "log_no_drop"):
                cursor.execute(f"alter event trigger {guard} disable")
            for table in (
                "stream",
                "stream_head",
                "event",
                "batch",
                "leaf",
                "subtree",
                "checkpoint",
                "key",
                "outbox",
                "clock",
            ):
                cursor.execute(f"alter table log.{table} disable trigger user")
            with citus.skipped_where_citus_refuses():
                description = attack(cursor)
            outcome = verify(signing_keys.verifiers("checkpoint"), **options)
            raise RollBack
    except RollBack:
        return description, outcome


def later(column: str, by: str) -> str:
    """Return an instant moved by an interval, as Citus takes it in an update: of immutable functions alone."""
    return f"({column} at time zone 'UTC' + interval '{by}') at time zone 'UTC'"


TABLES = {
    "event": ("stream_id", "seq", "occurred_at", "envelope"),
    "batch": (
        *("stream_id", "first_seq", "last_seq", "next_seq", "count", "root", "chain", "key_id"),
        "received_at",
    ),
    "leaf": ("log_index", "stream_id", "first_seq", "hash"),
    "checkpoint": ("number", "size", "root", "note"),
}


class Superuser:
    """A superuser who attacks at random. Each attack returns its description."""

    def __init__(self, cursor: CursorWrapper, rng: random.Random) -> None:
        self.cursor = cursor
        self.rng = rng

    def rows(self, table: str) -> list[str]:
        if citus.COORDINATOR:  # which gives no place of a row that is elsewhere
            by = {"event": "seq", "batch": "first_seq", "leaf": "first_seq", "checkpoint": "number"}[table]
            key = (
                f"{by} = ' || {by}"
                if table == "checkpoint"
                else f"stream_id = ' || stream_id || ' and {by} = ' || {by}"
            )
            self.cursor.execute(f"select 'log.{table} where {key} from log.{table} order by 1")
        else:
            self.cursor.execute(f"select tableoid::regclass || ' where ctid = ''' || ctid || '''' from log.{table}")
        return [row for (row,) in self.cursor.fetchall()]

    def value(self, row: str, column: str) -> Any:
        self.cursor.execute(f"select {column}::text, {column} from {row.replace(' where', ' t where', 1)}")
        return self.cursor.fetchone()

    def flip(self, table: str) -> str:
        """Change one column of one row: a bit of bytes, a character of text, a number or an instant by a little."""
        row, column = self.rng.choice(self.rows(table)), self.rng.choice(TABLES[table])
        text, value = self.value(row, column)
        other: Any
        if column == "envelope":
            other = self._other_envelope(text)
        elif isinstance(value, (bytes, memoryview)):
            flipped = bytearray(value)
            flipped[self.rng.randrange(len(flipped))] ^= 1 << self.rng.randrange(8)
            other = bytes(flipped)
        elif column == "note":
            at = self.rng.randrange(len(text))
            others = [each for each in "abcXYZ019+/=\n —" if each != text[at]]
            other = text[:at] + self.rng.choice(others) + text[at + 1 :]
        elif isinstance(value, int):
            other = value + self.rng.choice([-3, -2, -1, 1, 2, 3, 1000])
        else:
            shift = f"{self.rng.choice(['-', ''])}{self.rng.choice(['1 microsecond', '1 second', '1 day'])}"
            self.cursor.execute("select %s::timestamptz + %s::interval", [text, shift])
            other = self.cursor.fetchone()[0]
        self.cursor.execute(f"update {row.replace(' where', f' set {column} = %s where', 1)}", [other])
        assert other != value
        return f"{table}.{column} of {row}: {text!r} to {other!r}"

    def _other_envelope(self, text: str) -> str:
        """Change a character of an envelope so that it stays JSON, which is all that the column requires."""
        while True:
            at = self.rng.randrange(len(text))
            other = text[:at] + self.rng.choice("0123456789abcdefXYZ .:-") + text[at + 1 :]
            try:
                json.loads(other)
            except ValueError:
                continue
            if other != text:
                return other

    def drop(self, table: str) -> str:
        row = self.rng.choice(self.rows(table))
        self.cursor.execute(f"delete from {row}")
        return f"{table}: dropped {row}"

    def swap(self, table: str) -> str:
        """Exchange what two rows hold apart from their keys."""
        one, other = self.rng.sample(self.rows(table), 2)
        swapped = {
            "event": ("envelope", "occurred_at"),
            "batch": ("root", "chain"),
            "leaf": ("hash",),
            "checkpoint": ("root", "note"),
        }[table]
        column = ", ".join(swapped)
        values = []
        for row in (one, other):
            self.cursor.execute(f"select {column} from {row}")
            values.append(self.cursor.fetchone())
        for row, new in zip((one, other), reversed(values), strict=True):
            setting = ", ".join(f"{name} = %s" for name in swapped)
            sent = [json.dumps(each) if isinstance(each, dict) else each for each in new]
            self.cursor.execute(f"update {row.replace(' where', f' set {setting} where', 1)}", sent)
        return f"{table}: swapped {column} of {one} and {other}"

    def duplicate(self, table: str) -> str:
        """Insert a row again, under a key that is free."""
        row = self.rng.choice(self.rows(table))
        columns = TABLES[table]
        free = {
            "event": {"seq": "(select max(seq) + 1 from log.event)"},
            "batch": {
                name: f"(select max(next_seq) from log.batch) + {add}"
                for name, add in (("first_seq", 0), ("last_seq", 3), ("next_seq", 4))
            },
            "leaf": {
                "log_index": "(select max(log_index) + 1 from log.leaf)",
                "first_seq": "(select max(first_seq) + 1 from log.leaf)",
            },
            "checkpoint": {
                "number": "(select max(number) + 1 from log.checkpoint)",
                "size": "(select max(size) + 1 from log.checkpoint)",
            },
        }[table]
        values = ", ".join(free.get(column, column) for column in columns)
        self.cursor.execute(f"insert into log.{table} ({', '.join(columns)}) select {values} from {row}")
        return f"{table}: duplicated {row}"


def attacks(seed: int, each: int) -> Iterator[tuple[str, Callable[[CursorWrapper], str | None]]]:
    """Yield random attacks and their names, ``each`` of every kind on every table, in turn."""
    for number in range(16 * each):
        table = list(TABLES)[number % 4]
        kind = ("flip", "drop", "swap", "duplicate")[number // 4 % 4]
        rng = random.Random(f"{seed}/{number}")

        def attack(cursor: CursorWrapper, kind: str = kind, table: str = table, rng: Any = rng) -> str | None:
            try:
                with transaction.atomic():
                    return str(getattr(Superuser(cursor, rng), kind)(table))
            except DatabaseError:  # the server's own constraints made it impossible
                return None

        yield f"{seed}/{number} {kind} {table}", attack


@pytest.mark.parametrize("each", [3, pytest.param(4 * ATTACKS, marks=pytest.mark.faults)])
@pytest.mark.parametrize("seed", [1])
def test_every_random_attack_is_found(streams: list[str], seed: int, each: int) -> None:
    done = 0
    for name, attack in attacks(seed, each):
        description, outcome = verified_after(attack)
        if description is None:
            continue
        done += 1
        assert outcome.faults, f"{name} was not found: {description}"
    assert 8 * done >= (100 if not citus.COORDINATOR else 53) * each, "most attacks are possible"
    assert verified().faults == [], "every attack was rolled back"


def test_the_first_fault_names_stream_event_and_batch(streams: list[str]) -> None:
    def change(cursor: CursorWrapper) -> None:
        cursor.execute(
            "update log.event set envelope = replace(envelope::text, '\"stake\":', '\"stake\":1')::json"
            " where seq = 6 and envelope ->> 'stream' = %s",
            [streams[0]],
        )

    _, outcome = verified_after(change)
    first = outcome.faults[0]
    assert (first.stream, first.first_seq, first.last_seq) == (streams[0], 4, 7)
    assert first.batch is not None
    assert str(first).startswith(f"batch of {streams[0]}, event 4 to 7, leaf {first.batch}: ")

    def misplace(cursor: CursorWrapper) -> None:
        cursor.execute(
            f"update log.event set occurred_at = {later('occurred_at', '1 hour')}"
            " where seq = 6 and envelope ->> 'stream' = %s",
            [streams[0]],
        )

    _, outcome = verified_after(misplace)
    assert [(fault.stream, fault.first_seq) for fault in outcome.faults] == [(streams[0], 6)]


@pytest.mark.parametrize(
    "statement",
    [
        "update log.stream set name = name || 'x' where not is_of_desk",
        "update log.stream set currency = 'USD'",
        "update log.stream set ruleset = 'qc-craps'",
        "update log.stream set casino_id = -casino_id",
        "update log.stream_head set chain = sha256(chain)",
        "update log.stream_head set next_seq = next_seq + 1",
        "delete from log.stream_head",
        "delete from log.stream where stream_id = (select max(stream_id) from log.stream)",
        "delete from log.checkpoint",
        "delete from log.key",
        "truncate log.leaf, log.checkpoint",
        "delete from log.event",
        "insert into log.outbox select stream_id, first_seq from log.batch limit 1",
        "insert into log.subtree values (40, 0, sha256('x'))",
        "update log.key set public_key = sha256(public_key)",
        "delete from log.clock",
        f"update log.clock set received_at = {later('received_at', '1 microsecond')}",
        "update log.clock set received_at = 'infinity'",
        "update log.clock set received_at = began_at",
        f"update log.stream_head set received_at = {later('received_at', '1 hour')}",
        "update log.batch set received_at = 'infinity' where first_seq = 1",
        "update log.batch set received_at = '1066-10-14 BC' where first_seq = 1",
    ],
)
def test_everything_around_events_and_batches_is_verified_too(streams: list[str], statement: str) -> None:
    def attack(cursor: CursorWrapper) -> None:
        cursor.execute("alter table log.stream_head drop constraint if exists stream_head_stream_id_fkey")
        cursor.execute(statement)

    _, outcome = verified_after(attack)
    assert outcome.faults


@pytest.mark.usefixtures("streams")
def test_the_newest_checkpoint_is_missing_by_its_number_and_leaves_without_one_are_counted() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select number, size from log.checkpoint order by number desc limit 2")
        (newest, size), (_before, size_before) = cursor.fetchall()
    deletions = (
        ("checkpoint where number = (select max(number) from log.checkpoint)", f"number {newest} is missing: the newest"
         f" is of {size_before} leaves, and there are {size}"),
        (f"leaf where log_index = {size - 1}", f"the newest is of {size} leaves, and there are {size - 1}"),
    )  # fmt: skip
    for rows, says in deletions:
        _, outcome = verified_after(lambda cursor, rows=rows: cursor.execute(f"delete from log.{rows}"))
        assert says in [fault.what for fault in outcome.faults if fault.part == "checkpoint"]


def test_a_session_that_is_moved_into_the_space_of_sandboxes_is_named(streams: list[str]) -> None:
    """There nothing is verified and all can be deleted. The leaf is moved with it, so that it has its batch."""

    def move(cursor: CursorWrapper) -> None:
        cursor.execute("set local session_replication_role = replica")
        cursor.execute("select stream_id from log.stream where name = %s", [streams[0]])
        [stream_id] = cursor.fetchone()
        cursor.execute("alter table log.stream_head drop constraint if exists stream_head_stream_id_fkey")
        for table in ("stream", "stream_head", "event", "batch", "leaf"):
            cursor.execute(
                f"update log.{table} set stream_id = stream_id + (1::bigint << 52) where stream_id = %s", [stream_id]
            )
            assert cursor.rowcount > 0, table
        cursor.execute("set local session_replication_role = origin")

    _, outcome = verified_after(move)
    assert any("is of a sandbox, and no batch of one is ever sealed" in fault.what for fault in outcome.faults)


def test_a_session_that_is_moved_to_the_least_id_is_read_there(streams: list[str]) -> None:
    """Every id that a column can hold is verified: with a partition of its own a session can be moved to any."""
    if citus.COORDINATOR:
        pytest.skip("a cluster has no partitions of streams")

    def move(cursor: CursorWrapper) -> None:
        cursor.execute("set local session_replication_role = replica")
        cursor.execute("select stream_id from log.stream where name = %s", [streams[0]])
        [stream_id] = cursor.fetchone()
        cursor.execute("alter table log.stream drop constraint if exists stream_check")
        for table in ("event", "batch"):
            cursor.execute(
                f"create table log.{table}_least partition of log.{table} for values from (minvalue) to ({1 - 2**63})"
            )
        for table in ("stream", "stream_head", "event", "batch", "leaf"):
            cursor.execute(f"update log.{table} set stream_id = {-(2**63)} where stream_id = %s", [stream_id])
            assert cursor.rowcount > 0, table
        cursor.execute("set local session_replication_role = origin")

    _, outcome = verified_after(move)
    assert streams[0] in {fault.stream for fault in outcome.faults}  # its leaves were of its own id


def test_a_session_that_is_said_to_be_of_the_desk_is_named(streams: list[str]) -> None:
    """What is of the desk has no findings, and is in no list of sessions."""

    def hide(cursor: CursorWrapper) -> None:
        cursor.execute("update log.stream set is_of_desk = true where name = %s", [streams[0]])

    _, outcome = verified_after(hide)
    found = [fault.what for fault in outcome.faults if fault.stream == streams[0]]
    assert found == ["is said to be of officers' entries, and a table system sent it"]


def test_a_restored_older_log_shows_against_exported_checkpoints(
    tenant: Tenant, streams: list[str], tmp_path: Path
) -> None:
    old = tree.size()
    several_streams(tenant, sizes=[[2]])
    newest = tree.newest_checkpoint()
    assert newest is not None
    export(newest, str(tmp_path / "exported"))
    exported = [("exported", newest.note)]
    assert verified(outside=exported).faults == []

    def roll_back(cursor: CursorWrapper) -> None:
        newer = "stream_id in (select stream_id from log.leaf where log_index >= %s)"
        for table in ("event", "batch", "stream_head", "stream"):
            cursor.execute(f"delete from log.{table} where {newer}", [old])
        cursor.execute("delete from log.leaf where log_index >= %s", [old])
        cursor.execute("delete from log.checkpoint where size > %s", [old])
        newest = "select max(b.received_at) from log.leaf join log.batch b using (stream_id, first_seq)"
        cursor.execute(f"update log.clock set received_at = ({newest})")

    _, inside = verified_after(roll_back)
    assert inside.faults == [], "inside the database nothing shows it"
    _, outside = verified_after(roll_back, outside=exported)
    assert [fault.part for fault in outside.faults] == ["checkpoint"]
    assert f"is of {newest.size} leaves, and there are {old}" in outside.faults[0].what


def test_the_command_reports_what_holds_and_fails_with_the_first_fault(
    tenant: Tenant, streams: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = tree.newest_checkpoint()
    assert newest is not None
    export(newest, str(tmp_path))
    call_command("verify", "--against", str(tmp_path), "--casino", tenant.code)
    printed = capsys.readouterr().out
    assert "Everything holds." in printed
    assert f"{newest.size:,} leaves" in printed
    several_streams(tenant, sizes=[[3]])
    call_command("verify", "--since", str(tmp_path / f"checkpoint-{newest.size:020}"), "--casino", tenant.code)
    assert "3 events, 1 batch, " in capsys.readouterr().out
    call_command("verify", "--stream", streams[2])
    assert "12 events, 1 batch, 1 stream, " in capsys.readouterr().out
    with pytest.raises(CommandError, match="none of the given keys has signed"):
        call_command("verify", "--key", str(Signer("another", bytes(32)).verifier))
    with pytest.raises(CommandError, match="is not a key"):
        call_command("verify", "--key", "nonsense")
    with pytest.raises(CommandError, match="no such stream"):
        call_command("verify", "--stream", "nowhere")
    with pytest.raises(CommandError, match="There are no checkpoints"):
        call_command("verify", "--against", str(tmp_path / "empty"))


def test_a_key_that_is_rotated_leaves_old_checkpoints_valid(tenant: Tenant, streams: list[str]) -> None:
    before = signing_keys.verifiers("checkpoint")
    signing_keys.create("checkpoint", reason="rotated", at_once=True)
    several_streams(tenant, sizes=[[2]])
    newest = tree.newest_checkpoint()
    assert newest is not None
    assert signing_keys.verifiers("checkpoint")[-1].key_id not in {verifier.key_id for verifier in before}
    assert verified().faults == []
    assert verify(before).faults, "the old key did not sign the new checkpoint"
    seal()
