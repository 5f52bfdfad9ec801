"""A server on which the account that migrates may not create roles: what it is told to run, as whom, is enough.

On a server of its own: roles belong to the server, and every other one of the tests has ours.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from casino.embedded.postgres import ACCOUNTS, EmbeddedPostgres
from tests.roles import signed_in_as
from tests.upgrade.files import ROOT, environment

PREPARED = """
create role plain login password 'plain';
create role roles_admin login createrole password 'roles_admin';
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database for a superuser. Its owner is ``plain``, and the server has no role of ours."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("server"), "-c fsync=off -c full_page_writes=off")
    server.start()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        for account, role in ACCOUNTS.values():
            connection.execute(f"drop role if exists {account}, {role}")
        connection.execute(PREPARED)
        connection.execute("create database record owner plain")
    yield server.url("record")
    server.stop()


def manage(*arguments: str, url: str, data: Path) -> str:
    """Run a command of Django's and return what it printed, whether or not it succeeded."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(url, data),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


@pytest.mark.faults
def test_what_is_missing_is_said_with_what_to_run_as_whom_and_that_is_enough(server: str, tmp_path: Path) -> None:
    plain = signed_in_as("plain", server)
    checked = ("check", "--deploy", "--database", "default")

    migrated = manage("migrate", "--verbosity", "0", url=plain, data=tmp_path)
    assert "plain may not create roles" in migrated
    complaints = manage(*checked, url=plain, data=tmp_path)
    for output in (migrated, complaints):
        assert "must sign in as plain" in output
        assert "as a superuser of this server:\n    DATABASE_URL=postgres://SUPERUSER@HOST/DATABASE manage.py" in output
    assert "(audit.E007) The roles of the database are missing: cabochon_beat, cabochon_operator, " in complaints
    assert "audit.E003" not in complaints, "nobody but plain may use what it has made"

    statements = re.findall(r"^    ((?:create|grant) .*;)$", complaints, re.MULTILINE)
    assert statements == re.findall(r"^    ((?:create|grant) .*;)$", migrated, re.MULTILINE)
    with psycopg.connect(signed_in_as("roles_admin", server), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]
    assert manage("migrate", "--verbosity", "0", url=plain, data=tmp_path) == ""
    complaints = manage(*checked, url=plain, data=tmp_path)
    assert set(re.findall(r"audit\.E\d+", complaints)) == {"audit.E005"}, "the tables stay with plain"
    with psycopg.connect(server) as connection:
        connection.execute("set role cabochon_web")
        assert connection.execute("select count(*) from audit_accountrequest").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("delete from audit_accountrequest")

    manage("migrate", "--verbosity", "0", url=server, data=tmp_path)
    assert "audit.E" not in manage(*checked, url=server, data=tmp_path)
