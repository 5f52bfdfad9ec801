"""The roles of a deployment: what serves requests needs no more than to append and to read."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from tests.audit.conftest import House


@pytest.fixture
def serving_role(house: House) -> str:
    """A role as a deployment makes it, for this transaction. Skips where this server does not let us."""
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")
        for statement in (
            "create role serving nologin",
            "grant cabochon_writer, cabochon_reader to serving",
            "grant select, insert, update on all tables in schema public to serving",
            "grant usage on all sequences in schema public to serving",
            "set local role serving",
        ):
            cursor.execute(statement)
    return "serving"


def test_the_role_that_serves_records_and_reads(house: House, stream: str, serving_role: str) -> None:
    sent = house.session(stream, 4)
    sent[0]["data"]["gaming_day"] = "1994-05-05"  # a month that has no partitions yet
    assert house.send(stream, sent).status_code == 201
    assert house.send(stream, sent).status_code == 200
    assert len(house.ask(f"streams/{stream}/events").json()["events"]) == 4
    sent[3]["data"]["stake"] = 1
    assert house.send(stream, sent).status_code == 409


def warnings() -> str:
    said = StringIO()
    call_command("check", deploy=True, databases=["default"], tags=["security"], stderr=said, stdout=said)
    return said.getvalue()


def test_the_check_warns_of_a_superuser_and_not_of_the_role_that_serves(house: House, serving_role: str) -> None:
    assert "audit.W" not in warnings()
    with connection.cursor() as cursor:
        cursor.execute("reset role")
    assert "audit.W001" in warnings()
    assert "audit.W003" not in warnings()
