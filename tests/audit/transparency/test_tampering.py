"""Tampering: a superuser flips, drops, swaps or duplicates something, and ``verify`` finds it. Every time.

Each act is random, of a printed seed, done with every trigger switched off, and undone after the look.
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
from pytest_django import Settings

from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import export
from audit.transparency.signed_notes import Signer
from audit.transparency.verify import Outcome, verify
from tests.audit.conftest import Tenant
from tests.audit.transparency.sealed import seal, several_streams, verified

ACTS = 640
"""Of each kind on each thing, forty."""

SIZES = [[3, 4, 1], [1, 1, 1, 1, 6], [12], [2, 9], [5, 5]]


class Undo(Exception):
    """Ends an act."""


@pytest.fixture
def streams(tenant: Tenant, settings: Settings, tmp_path: Path) -> list[str]:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")
    names = several_streams(tenant, sizes=SIZES)
    assert verified().faults == []
    return names


def found_after(act: Callable[[CursorWrapper], str | None], **options: Any) -> tuple[str | None, Outcome]:
    """Do something to the log with every guard off, verify it, undo it. Return what was done and what was found."""
    told, outcome = None, Outcome()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for guard in ("log_no_change", "log_no_drop"):
                cursor.execute(f"alter event trigger {guard} disable")
            for table in ("stream", "stream_head", "event", "batch", "leaf", "subtree", "checkpoint", "key", "outbox"):
                cursor.execute(f"alter table log.{table} disable trigger user")
            told = act(cursor)
            outcome = verify(signing_keys.verifiers("checkpoint"), signing_keys.origin(), **options)
            raise Undo
    except Undo:
        return told, outcome


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
    """Somebody with every power over the database and a random mind. Each act returns its description."""

    def __init__(self, cursor: CursorWrapper, chance: random.Random) -> None:
        self.cursor = cursor
        self.chance = chance

    def rows(self, table: str) -> list[str]:
        self.cursor.execute(f"select tableoid::regclass || ' where ctid = ''' || ctid || '''' from log.{table}")
        return [place for (place,) in self.cursor.fetchall()]

    def value(self, place: str, column: str) -> Any:
        self.cursor.execute(f"select {column}::text, {column} from {place.replace(' where', ' t where', 1)}")
        return self.cursor.fetchone()

    def flip(self, table: str) -> str:
        """Change one column of one row: a bit of bytes, a character of text, a number or an instant by a little."""
        place, column = self.chance.choice(self.rows(table)), self.chance.choice(TABLES[table])
        text, value = self.value(place, column)
        other: Any
        if column == "envelope":
            other = self._other_envelope(text)
        elif isinstance(value, (bytes, memoryview)):
            flipped = bytearray(value)
            flipped[self.chance.randrange(len(flipped))] ^= 1 << self.chance.randrange(8)
            other = bytes(flipped)
        elif column == "note":
            at = self.chance.randrange(len(text))
            other = text[:at] + self.chance.choice("abcXYZ019+/=\n —") + text[at + 1 :]
        elif isinstance(value, int):
            other = value + self.chance.choice([-3, -2, -1, 1, 2, 3, 1000])
        else:
            shift = f"{self.chance.choice(['-', ''])}{self.chance.choice(['1 microsecond', '1 second', '1 day'])}"
            self.cursor.execute("select %s::timestamptz + %s::interval", [text, shift])
            other = self.cursor.fetchone()[0]
        self.cursor.execute(f"update {place.replace(' where', f' set {column} = %s where', 1)}", [other])
        assert other != value
        return f"{table}.{column} of {place}: {text!r} to {other!r}"

    def _other_envelope(self, text: str) -> str:
        """Change a character of an envelope so that it stays JSON: that is all the column asks for."""
        while True:
            at = self.chance.randrange(len(text))
            other = text[:at] + self.chance.choice("0123456789abcdefXYZ .:-") + text[at + 1 :]
            try:
                json.loads(other)
            except ValueError:
                continue
            if other != text:
                return other

    def drop(self, table: str) -> str:
        place = self.chance.choice(self.rows(table))
        self.cursor.execute(f"delete from {place}")
        return f"{table}: dropped {place}"

    def swap(self, table: str) -> str:
        """Exchange what two rows hold beside their keys."""
        one, other = self.chance.sample(self.rows(table), 2)
        held = {
            "event": ("envelope", "occurred_at"),
            "batch": ("root", "chain"),
            "leaf": ("hash",),
            "checkpoint": ("root", "note"),
        }[table]
        column = ", ".join(held)
        values = []
        for place in (one, other):
            self.cursor.execute(f"select {column} from {place}")
            values.append(self.cursor.fetchone())
        for place, given in zip((one, other), reversed(values), strict=True):
            setting = ", ".join(f"{name} = %s" for name in held)
            sent = [json.dumps(each) if isinstance(each, dict) else each for each in given]
            self.cursor.execute(f"update {place.replace(' where', f' set {setting} where', 1)}", sent)
        return f"{table}: swapped {column} of {one} and {other}"

    def duplicate(self, table: str) -> str:
        """Have a row twice, the second under a key that is free."""
        place = self.chance.choice(self.rows(table))
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
        self.cursor.execute(f"insert into log.{table} ({', '.join(columns)}) select {values} from {place}")
        return f"{table}: duplicated {place}"


def acts(seed: int) -> Iterator[tuple[str, Callable[[CursorWrapper], str | None]]]:
    """Yield as many random acts as there are to be, of every kind on everything in turn."""
    for number in range(ACTS):
        table = list(TABLES)[number % 4]
        kind = ("flip", "drop", "swap", "duplicate")[number // 4 % 4]
        chance = random.Random(f"{seed}/{number}")

        def act(cursor: CursorWrapper, kind: str = kind, table: str = table, chance: Any = chance) -> str | None:
            try:
                with transaction.atomic():
                    return str(getattr(Superuser(cursor, chance), kind)(table))
            except DatabaseError:  # the server's own constraints made it impossible
                return None

        yield f"{seed}/{number} {kind} {table}", act


@pytest.mark.parametrize("seed", [1])
def test_every_random_act_is_found(streams: list[str], seed: int) -> None:
    done = 0
    for name, act in acts(seed):
        told, outcome = found_after(act)
        if told is None:
            continue
        done += 1
        assert outcome.faults, f"{name} was not found: {told}"
    assert done >= 500
    assert verified().faults == [], "every act was undone"


def test_the_first_fault_names_stream_event_and_batch(streams: list[str]) -> None:
    def act(cursor: CursorWrapper) -> None:
        cursor.execute(
            "update log.event set envelope = replace(envelope::text, '\"stake\":', '\"stake\":1')::json"
            " where seq = 6 and envelope ->> 'stream' = %s",
            [streams[0]],
        )

    _, outcome = found_after(act)
    first = outcome.faults[0]
    assert (first.stream, first.first_seq, first.last_seq) == (streams[0], 4, 7)
    assert first.batch is not None
    assert str(first).startswith(f"batch of {streams[0]}, event 4 to 7, leaf {first.batch}: ")

    def misplace(cursor: CursorWrapper) -> None:
        cursor.execute(
            "update log.event set occurred_at = occurred_at + interval '1 hour'"
            " where seq = 6 and envelope ->> 'stream' = %s",
            [streams[0]],
        )

    _, outcome = found_after(misplace)
    assert [(fault.stream, fault.first_seq) for fault in outcome.faults] == [(streams[0], 6)]


@pytest.mark.parametrize(
    "statement",
    [
        "update log.stream set name = name || 'x' where not is_of_desk",
        "update log.stream set currency = 'USD'",
        "update log.stream set ruleset = 'qc-craps'",
        "update log.stream set casino_id = casino_id + 1",
        "update log.stream_head set chain = sha256(chain)",
        "update log.stream_head set next_seq = next_seq + 1",
        "delete from log.stream_head",
        "delete from log.stream where stream_id = (select max(stream_id) from log.stream)",
        "delete from log.checkpoint",
        "delete from log.key",
        "truncate log.leaf, log.checkpoint",
        "delete from log.event",
        "insert into log.outbox select stream_id, first_seq from log.batch limit 1",
        "insert into log.subtree values (8, 0, sha256('x'))",
        "update log.key set public_key = sha256(public_key)",
    ],
)
def test_what_belongs_to_events_and_batches_is_looked_at_too(streams: list[str], statement: str) -> None:
    def act(cursor: CursorWrapper) -> None:
        cursor.execute("alter table log.stream_head drop constraint stream_head_stream_id_fkey")
        cursor.execute(statement)

    _, outcome = found_after(act)
    assert outcome.faults


def test_a_rollback_of_everything_shows_against_checkpoints_kept_elsewhere(
    tenant: Tenant, streams: list[str], tmp_path: Path
) -> None:
    old = tree.size()
    several_streams(tenant, sizes=[[2]])
    newest = tree.newest_head()
    assert newest is not None
    export(newest, str(tmp_path / "kept"))
    kept = [("kept", newest.note)]
    assert verified(outside=kept).faults == []

    def roll_back(cursor: CursorWrapper) -> None:
        gone = "stream_id in (select stream_id from log.leaf where log_index >= %s)"
        for table in ("event", "batch", "stream_head", "stream"):
            cursor.execute(f"delete from log.{table} where {gone}", [old])
        cursor.execute("delete from log.leaf where log_index >= %s", [old])
        cursor.execute("delete from log.checkpoint where size > %s", [old])

    _, inside = found_after(roll_back)
    assert inside.faults == [], "from inside the database it cannot be told"
    _, outside = found_after(roll_back, outside=kept)
    assert [fault.part for fault in outside.faults] == ["checkpoint"]
    assert f"is of {newest.size} leaves, and there are {old}" in outside.faults[0].what


def test_the_command_says_what_holds_and_ends_with_a_fault_where_it_does_not(
    tenant: Tenant, streams: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = tree.newest_head()
    assert newest is not None
    export(newest, str(tmp_path))
    call_command("verify", "--against", str(tmp_path))
    said = capsys.readouterr().out
    assert "Everything holds." in said
    assert f"{newest.size} leaves" in said
    several_streams(tenant, sizes=[[3]])
    call_command("verify", "--since", str(tmp_path / f"checkpoint-{newest.size:020}"))
    assert "3 events, 1 batches" in capsys.readouterr().out
    call_command("verify", "--stream", streams[2])
    assert "12 events, 1 batches, 1 streams" in capsys.readouterr().out
    with pytest.raises(CommandError, match="none of the keys given has signed"):
        call_command("verify", "--key", str(Signer("another", bytes(32)).verifier))
    with pytest.raises(CommandError, match="is no key"):
        call_command("verify", "--key", "nonsense")
    with pytest.raises(CommandError, match="no such stream"):
        call_command("verify", "--stream", "nowhere")
    with pytest.raises(CommandError, match="There are no checkpoints"):
        call_command("verify", "--against", str(tmp_path / "empty"))


def test_a_key_that_is_rotated_leaves_old_checkpoints_valid(tenant: Tenant, streams: list[str]) -> None:
    before = signing_keys.verifiers("checkpoint")
    signing_keys.make("checkpoint", reason="rotated", at_once=True)
    several_streams(tenant, sizes=[[2]])
    newest = tree.newest_head()
    assert newest is not None
    assert signing_keys.verifiers("checkpoint")[-1].key_id not in {verifier.key_id for verifier in before}
    assert verified().faults == []
    assert verify(before, signing_keys.origin()).faults, "the old key did not sign the new checkpoint"
    seal()
