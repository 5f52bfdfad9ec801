"""A number, key or instant of the log changed to a far value: its row is the first fault of a part, whatever follows.

One fault is listed of each part, so that a row that is named only after others is not named. ``test_every_column``
does the same with every table; this has longer streams, more leaves and checkpoints, and values on both sides.
"""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import override_settings

from audit.transparency import outcome as outcomes
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome
from audit.transparency.verify import verify
from tests import citus
from tests.audit.conftest import make_tenant
from tests.audit.transparency.forger import unguard
from tests.audit.transparency.sealed import several_streams, verified
from tests.long_forms import in_short

pytestmark = pytest.mark.superuser

SIZES = [[3, 1, 1, 4, 1, 1], [1, 1, 1, 1, 6], [12], [2, 9], [5, 5]]

FAR = (1_000, -1_000, 2**40, -(2**40))
NUMBERS = {
    "leaf": ("log_index", "stream_id", "first_seq"),
    "checkpoint": ("number", "size"),
    "batch": ("stream_id", "first_seq", "last_seq", "next_seq"),
    "event": ("stream_id", "seq"),
    "stream_head": ("stream_id", "next_seq"),
}
INSTANTS = {"batch": "received_at", "event": "occurred_at", "stream_head": "received_at"}
KEYS = {
    "leaf": "log_index",
    "checkpoint": "number",
    "batch": "stream_id, first_seq",
    "event": "stream_id, seq",
    "stream_head": "stream_id",
}
WORDS = {
    "leaf": ("of {name}, event {first_seq}", "leaf {log_index} "),
    "checkpoint": ("number {number} ", "number {number}:", "newest is of {size} "),
    "batch": ("of {name}, event {first_seq}", "stream {stream_id},"),
    "event": ("of {name}, event {seq}", "event {seq}:"),
    "stream_head": ("of {name}: ", "stream {stream_id},"),
}


class RollBack(Exception):
    """Ends an attack."""


@pytest.fixture(scope=citus.MODULE)
def recorded(own_database: None, module_db: None) -> list[str]:
    with override_settings(CABOCHON_CHECKPOINTS=[]):
        names = several_streams(make_tenant(), sizes=SIZES)
    assert verified().faults == []
    return names


def rows(table: str) -> list[str]:
    """Return the first, the middle and the last row of a table, each as where it is."""
    of_tables = "" if table == "checkpoint" else "join log.stream s using (stream_id) where not s.is_of_desk"
    with connection.cursor() as cursor:
        cursor.execute(
            f"select t.tableoid::regclass || ' t where t.ctid = ''' || t.ctid || '''' from log.{table} t {of_tables}"
            f" order by {KEYS[table]}"
        )
        found = [at for (at,) in cursor.fetchall()]
    return list(dict.fromkeys([found[0], found[len(found) // 2], found[-1]]))


def named(table: str, columns: dict[str, object]) -> set[str]:
    return {word.format(**columns) for word in WORDS[table]}


def described(at: str) -> dict[str, object]:
    with connection.cursor() as cursor:
        of_stream = "" if "checkpoint" in at else ", (select s.name from log.stream s where s.stream_id = t.stream_id)"
        cursor.execute(f"select t.*{of_stream} from {at}")
        names = [column.name for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))


def attacks() -> list[tuple[str, str, str]]:
    numbers = [
        (table, column, value)
        for table, columns in NUMBERS.items()
        for column in columns
        for value in (*(f"{column} + {far}" for far in FAR), str(-(2**63)), str(2**63 - 1))
    ]
    instants = [
        (table, column, f"{column} + interval '{by}'")
        for table, column in INSTANTS.items()
        for by in ("40 days", "-40 days", "900 years")
    ]
    return numbers + instants


@pytest.mark.parametrize(("table", "column", "value"), in_short(attacks(), every=4))
def test_a_row_with_a_far_value_is_the_first_fault_of_a_part(
    recorded: list[str], db: None, monkeypatch: pytest.MonkeyPatch, table: str, column: str, value: str
) -> None:
    monkeypatch.setattr(outcomes, "MAX_OF_A_PART", 1)
    for at in rows(table):
        before = described(at)
        forgery = forged(at, column, value)
        if forgery is None:
            continue
        found, after = forgery
        words = named(table, before) | named(table, before | after)
        assert any(word in f"{fault} " for word in words for fault in found.faults), f"{at}: {words}: " + "; ".join(
            map(str, found.faults)
        )


def forged(at: str, column: str, value: str) -> tuple[Outcome, dict[str, object]] | None:
    """Verify with the row so, and roll it back. Return the outcome and the row; None if no partition takes it."""
    outcome = Outcome()
    after: dict[str, object] = {}
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            unguard(cursor)
            cursor.execute("set local session_replication_role = replica")
            cursor.execute(
                "select conrelid::regclass::text, conname from pg_constraint"
                " where contype = 'c' and connamespace = 'log'::regnamespace and coninhcount = 0"
            )
            for table, name in cursor.fetchall():
                cursor.execute(f'alter table {table} drop constraint if exists "{name}"')
            cursor.execute(f"update {at.replace(' t where', f' t set {column} = {value} where')} returning t.*")
            after = dict(zip([each.name for each in cursor.description], cursor.fetchone(), strict=True))
            cursor.execute("set local session_replication_role = origin")
            outcome = verify(signing_keys.verifiers("checkpoint"))
            raise RollBack
    except RollBack:
        return outcome, after
    except DatabaseError as error:
        if "partition" not in str(error):
            raise
        return None


@pytest.mark.parametrize(
    ("table", "column", "part", "value"),
    [
        *(("leaf", "log_index", "leaf", f"log_index {by}") for by in ("+ 1000", "- 1000")),
        *(("checkpoint", "number", "checkpoint", f"number {by}") for by in ("+ 1000", "- 1000")),
    ],
)
def test_what_is_in_order_after_a_gap_is_no_fault(
    recorded: list[str], db: None, table: str, column: str, part: str, value: str
) -> None:
    for at in rows(table):
        forgery = forged(at, column, value)
        assert forgery is not None
        whats = [fault.what for fault in forgery[0].faults if fault.part == part]
        places = [what for what in whats if "ought to be" in what or "before the first" in what]
        assert 1 <= len(places) <= 2, whats
