"""What a web server that was taken over can store, and nothing can read: ``verify`` names it, and all else as before.

The log keeps what it once took, so an entry that verification cannot read would end it for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from django.db import DataError, IntegrityError, connection, transaction

from audit.casework import actions
from audit.event_store import binary_copy, merkle
from audit.event_store.readable import is_readable, readable
from audit.evidence import signers
from audit.models import Case, LoggedStream
from audit.projections.faults import WrongRow
from audit.projections.verify import _whole
from audit.transparency.decisions import wrong_decisions
from tests import citus
from tests.audit.access.test_account_walls import WEB
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser, pytest.mark.usefixtures("own_log")]

UNREADABLE = "the database cannot read its text, or no calendar has its instant"


@pytest.fixture(scope=citus.MODULE)
def casino(_committed_before: None) -> Casino:
    casino = Casino()
    casino.played("dice")
    seal()
    assert faults() == []
    return casino


def enter(casino: Casino, type: str, data: dict[str, Any], *, escape: str = "", at: str = "") -> int:
    """Append an entry to the newest stream of a casino's officers, past the interface. Return its number."""
    desk = LoggedStream.objects.filter(casino=casino.casino, is_of_desk=True).latest("gaming_day")
    instant = at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with acting_as(WEB), connection.cursor() as cursor:
        cursor.execute("select next_seq from log.stream_head where stream_id = %s", [desk.pk])
        (seq,) = cursor.fetchall()[0]
        named = {"actor": casino.officer.username, "stream": desk.name, "seq": seq, "v": 1}
        body = msgspec.json.encode(named | {"type": type, "occurred_at": instant, "data": data}, order="deterministic")
        body = body.replace(b"@", escape.encode())
        root = merkle.root([merkle.leaf(body)])
        cursor.execute(
            "select appended from log.append(%s, %s, %s, %s, 0, %s::bigint[], %s::timestamptz[], %s)",
            [desk.pk, seq, seq + 1, root, [seq], [instant], [body.decode()]],
        )
        assert cursor.fetchall() == [(True,)]
    return int(seq)


@pytest.mark.parametrize(
    "escape", in_short(["\\u0000", "\\ud800", "\\uDFFF", "\\\\\\u0000", "x\\\\\\\\\\ud83d"], every=3)
)
@pytest.mark.parametrize("type", ["case.taken", "correction.countersigned"])
def test_an_entry_that_the_database_cannot_read_is_named_and_blinds_nothing(
    casino: Casino, type: str, escape: str
) -> None:
    seq = enter(casino, type, {"session": "@"}, escape=escape)
    seal()
    Case.objects.filter(casino=casino.casino).update(weight=0)
    named = faults()
    assert [(each.first_seq, each.what) for each in named if each.part == "event" and each.what == UNREADABLE] == [
        (seq, UNREADABLE)
    ]
    assert {each.part for each in named} >= {"event", "finding"}, "what else was forged is named as before"


def test_an_entry_that_the_database_cannot_read_keeps_no_bundle_of_a_key_that_signs(casino: Casino) -> None:
    known = {"id": 7, "public_key": "K"}
    seq = enter(casino, "key.made", known)
    enter(casino, "key.made", {**known, "name": "@"}, escape="\\u0000")
    assert [row[3] for row in signers._rows(casino.casino.pk, {7})] == [seq]


@pytest.mark.parametrize("text", ["a \\u0001 b", "C:\\\\users", "C:\\\\u0000", "\\\\\\\\ud800", "é", "\\n"])
def test_a_body_with_backslashes_of_its_own_is_read(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"select {is_readable('b')}, {readable('b')} ->> 'x' from (select %s::json as b) t", [f'{{"x":"{text}"}}']
        )
        assert cursor.fetchall() == [(True, msgspec.json.decode(f'"{text}"'))]


@pytest.mark.parametrize("at", ["infinity", "-infinity", "200000-01-01T00:00:00Z"])
def test_an_entry_of_no_year_is_named_and_blinds_nothing(casino: Casino, at: str) -> None:
    seq = enter(casino, "correction.countersigned", {"session": "x"}, at=at)
    assert (UNREADABLE, seq) in {(each.what, each.first_seq) for each in faults()}
    assert list(wrong_decisions(casino.casino.pk)) == []


def test_an_entry_of_a_run_whose_number_no_memory_holds_is_named(casino: Casino) -> None:
    stream = LoggedStream.objects.get(name=casino.name("dice"))
    [(data,)] = _last(stream, "session.adjudicated")
    enter(casino, "session.adjudicated", data | {"run": 2**52})
    seal()
    assert any(f"and {2**52} is missing" in each.what for each in faults())


def test_a_row_of_no_year_is_named_by_its_part_and_hides_no_other(casino: Casino) -> None:
    case_id = casino.cases_of(casino.tenant.stream(casino.name("dice")).stream_id)[0]
    actions.perform(case_id, casino.officer, "take")
    forge("update audit_caseaction set at = 'infinity' where case_id = {id}", id=case_id)
    forge("update audit_finding set player = 'nobody' where casino_id = {id}", id=casino.casino.pk)
    named = {each.part: each.what for each in faults()}
    assert "wrong_cases cannot be held against the log: DataError" in named["unreadable"]
    assert "finding" in named


@pytest.mark.parametrize(
    "error", [AttributeError, DataError, IndexError, MemoryError, OverflowError, RecursionError, TypeError, ValueError]
)
def test_a_part_that_ends_by_what_somebody_stored_says_so_after_what_it_found(error: type[Exception]) -> None:
    def wrong_rows() -> Iterator[WrongRow]:
        yield WrongRow("finding", "x")
        raise error("y")

    first, last = _whole(wrong_rows())
    assert (first.what, last.part) == ("x", "unreadable")
    assert last.what == f"wrong_rows cannot be held against the log: {error.__name__}: {error('y')}"


def test_a_statement_that_the_database_refuses_ends_its_part_alone() -> None:
    def wrong_rows() -> Iterator[WrongRow]:
        binary_copy.execute("select %b::text::json ->> 'x'", ('{"x":"\\u0000"}',))
        yield from ()

    assert [each.part for each in _whole(wrong_rows())] == ["unreadable"]
    assert binary_copy.execute("select 1", ()) == [(1,)], "the transaction of the verification goes on"


@pytest.mark.parametrize(
    "statement",
    [
        "insert into audit_caseaction (case_id, at, officer_id, type, reason, about)"
        " values ({case}, 'infinity', {officer}, 'case.commented', 'x', '')",
        "update audit_casino set cutoff = '24:00' where id = {casino}",
        "update audit_casino set reports_from = '24:00', reports_until = '02:00' where id = {casino}",
        "update audit_casino set reports_from = '02:00', reports_until = '24:00' where id = {casino}",
        "update audit_apikey set expires_at = '200000-01-01' where casino_id = {casino}",
        "update audit_apikey set created_at = '-infinity' where casino_id = {casino}",
    ],
)
def test_no_page_meets_an_instant_or_an_hour_that_it_cannot_show(casino: Casino, statement: str) -> None:
    case_id = casino.cases_of(casino.tenant.stream(casino.name("dice")).stream_id)[0]
    names = {"case": case_id, "officer": casino.officer.pk, "casino": casino.casino.pk}
    with pytest.raises(IntegrityError, match=r"calendar|clock"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(**names))


def _last(stream: LoggedStream, type: str) -> list[tuple[dict[str, Any]]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select envelope -> 'data' from log.event join log.stream using (stream_id) where is_of_desk"
            " and envelope ->> 'type' = %s and envelope #>> '{data,stream}' = %s order by seq desc limit 1",
            [type, stream.name],
        )
        return [(msgspec.json.decode(row) if isinstance(row, str | bytes) else row,) for (row,) in cursor.fetchall()]
