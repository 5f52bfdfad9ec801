"""A record of 0.1.0 under the roles of its documentation, migrated: every role does its work, and none does more.

On a server of its own: roles belong to the server, and 0.1.0 called its account for web servers and workers as the
role of web servers is called now.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from casino.embedded.postgres import ACCOUNTS, EmbeddedPostgres
from tests.roles import signed_in_as
from tests.upgrade.files import answered_by_0_1_0, ask, load, run

AS_DOCUMENTED = """
create role cabochon_web login password 'cabochon_web';
grant cabochon_writer, cabochon_reader to cabochon_web;
grant select, insert, update, delete on all tables in schema public to cabochon_web;
grant usage on all sequences in schema public to cabochon_web;
create role sealer login password 'sealer';
grant cabochon_sequencer, cabochon_reader to sealer;
create role auditor login password 'auditor';
grant cabochon_reader to auditor;
create role another login password 'another';
grant cabochon_writer, cabochon_reader to another;
grant select, insert, update, delete on all tables in schema public to another;
"""
"""The statements of docs/log.md of 0.1.0, and an account of another name."""

FORGED = "update audit_nightreport set state = 'closed', reviewed_by_id = 1, closed_by_id = 2"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(tmp_path_factory.mktemp("server"), "-c fsync=off -c full_page_writes=off")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def upgraded(server: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The URL of the record for a superuser, migrated to the head, and a data folder."""
    url, data = server.url(), tmp_path_factory.mktemp("record")
    with psycopg.connect(url, autocommit=True) as connection:
        for account, role in ACCOUNTS.values():
            connection.execute(f"drop role if exists {account}, {role}")
    load(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(AS_DOCUMENTED)
    reported = run(["manage.py", "migrate", "--verbosity", "0"], database_url=url, data=data)
    assert "cabochon_web serves web and workers" in reported
    assert "another serves web and workers" in reported
    return url, data


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    return answered_by_0_1_0()


def denied(url: str, statement: str) -> bool:
    """Whether a statement is refused. It is rolled back."""
    with psycopg.connect(url) as connection:
        try:
            connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            return True
        finally:
            connection.rollback()
    return False


@pytest.mark.faults
@pytest.mark.parametrize("account", ["cabochon_web", "another"])
def test_an_account_of_0_1_0_does_the_work_of_both_its_processes_and_rewrites_nothing(
    upgraded: tuple[str, Path], before: dict[str, Any], account: str
) -> None:
    superuser, data = upgraded
    url = signed_in_as(account, superuser)
    assert ask("adjudicate", database_url=url, data=data)["adjudicate"]["folded"] == 0, "nothing is promoted"
    ask(f"post={before['secret']}", database_url=url, data=data)
    assert ask("adjudicate", database_url=url, data=data)["adjudicate"]["folded"] > 1, "the whole stream"
    ask(f"post={before['secret']}", database_url=url, data=data)
    assert ask("adjudicate", database_url=url, data=data)["adjudicate"]["folded"] == 1
    for statement in ("delete from audit_finding", FORGED, "update audit_officer set is_superuser = true"):
        assert denied(url, statement), statement
    complaints = ask("deploy", database_url=url, data=data)["deploy"]
    assert any("audit.W006" in each and account in each for each in complaints), complaints


def test_the_sequencer_and_the_reader_of_0_1_0_go_on(upgraded: tuple[str, Path]) -> None:
    superuser, data = upgraded
    sealed = run(["manage.py", "sequence", "--once"], database_url=signed_in_as("sealer", superuser), data=data)
    assert "sealed: " in sealed
    verified = run(["manage.py", "verify"], database_url=signed_in_as("auditor", superuser), data=data)
    assert "Everything holds." in verified


@pytest.mark.faults
def test_with_an_account_for_each_process_a_web_server_adjudicates_nothing(
    upgraded: tuple[str, Path], before: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    superuser, data = upgraded
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("alter role cabochon_web nologin; drop owned by another; drop role another")
    run(["manage.py", "migrate", "--verbosity", "0"], database_url=superuser, data=data)
    for account, role in ACCOUNTS.values():
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute(f"create role {account} login password '{account}'")
            connection.execute(f"grant {role} to {account}")
    web, worker, sequencer = (signed_in_as(ACCOUNTS[name][0], superuser) for name in ("web", "worker", "sequencer"))
    ask(f"post={before['secret']}", database_url=web, data=data)
    ask("adjudicate", database_url=worker, data=data)  # the whole stream, by the engine of the head
    ask(f"post={before['secret']}", database_url=web, data=data)
    assert denied(web, "insert into audit_adjudication default values")
    assert denied(worker, "insert into audit_apikey default values")
    assert ask("adjudicate", database_url=worker, data=data)["adjudicate"]["folded"] == 1
    run(["manage.py", "sequence", "--once"], database_url=sequencer, data=data)
    assert ask("deploy", database_url=web, data=data)["deploy"] == []
