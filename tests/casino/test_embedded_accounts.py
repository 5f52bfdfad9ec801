"""Accounts of the embedded PostgreSQL: a password each, no superuser but for migrations, and nothing for *nobody*."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from casino.embedded.postgres import ACCOUNTS, EmbeddedPostgres
from casino.embedded.process import NOBODY, ServiceFailed
from casino.embedded.valkey import EmbeddedValkey
from tests.long_forms import in_short

IS_ROOT = os.geteuid() == 0
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL for the tests that only look at it."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("accounts"))
    server.start()
    yield server
    server.stop()


def test_every_process_has_an_account_with_a_password_and_no_power(running: EmbeddedPostgres) -> None:
    for process, (account, role) in ACCOUNTS.items():
        with psycopg.connect(running.url(process=process)) as connection:
            row = connection.execute(
                "select current_user, rolsuper or rolcreaterole or rolcreatedb, pg_has_role(%s, 'member')"
                " from pg_roles where rolname = current_user",
                (role,),
            ).fetchone()
            assert row == (account, False, True)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("copy (select 1) to '/tmp/cabochon-was-here'")
    assert len({running.url(process=process) for process in ACCOUNTS}) == len(ACCOUNTS)


def test_an_account_that_an_earlier_version_gave_another_role_has_its_own_alone(running: EmbeddedPostgres) -> None:
    with psycopg.connect(running.url(), autocommit=True) as connection:
        connection.execute("grant cabochon_worker to cabochon_beat_login")
        running._create_database(connection)
        roles = connection.execute(
            "select m.roleid::regrole::text from pg_auth_members m where m.member = 'cabochon_beat_login'::regrole"
        ).fetchall()
    assert roles == [("cabochon_beat",)]


def test_nobody_signs_in_without_a_password(running: EmbeddedPostgres) -> None:
    for account in ("cabochon", *(account for account, _role in ACCOUNTS.values())):
        for password in ("", account):
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(host=str(running.sockets), user=account, password=password, dbname="cabochon")


def test_passwords_and_sockets_are_their_owners_alone(running: EmbeddedPostgres) -> None:
    for path in (running.data / "passwords").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    for folder in (running.data / "passwords", running.cluster, running.sockets):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
        assert folder.stat().st_uid == os.geteuid()


@pytest.mark.skipif(not IS_ROOT, reason="only root runs a server as somebody else")
def test_under_root_the_server_has_no_capability_and_nobody_does_not_reach_it(running: EmbeddedPostgres) -> None:
    pid = int((running.cluster / "postmaster.pid").read_text().split()[0])
    capabilities = [
        line.split()[1]
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb"))
    ]
    assert capabilities == ["0" * 16] * 4
    assert psutil.Process(pid).uids().real != NOBODY
    reached = subprocess.run([*AS_NOBODY, "test", "-e", str(running.sockets / ".s.PGSQL.5432")], cwd="/", check=False)
    assert reached.returncode != 0


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every account may enter, on a machine without the program that opens namespaces."""
    with tempfile.TemporaryDirectory() as folder:
        programs, data = Path(folder) / "bin", Path(folder) / "data"
        programs.mkdir()
        data.mkdir()
        (programs / "cat").symlink_to(str(shutil.which("cat")))
        monkeypatch.setenv("PATH", str(programs))
        os.chmod(folder, 0o755)
        yield data


@pytest.mark.skipif(not IS_ROOT, reason="only root runs a server as somebody else")
def test_without_namespaces_root_is_refused_with_advice(open_folder: Path) -> None:
    with pytest.raises(ServiceFailed, match=r"Run this as an ordinary user; or give .* to an account of its own"):
        EmbeddedPostgres(open_folder).start()


@pytest.mark.faults
@pytest.mark.skipif(not IS_ROOT, reason="only root runs a server as somebody else")
def test_without_namespaces_it_runs_as_the_account_that_owns_its_data(open_folder: Path) -> None:
    account = pwd.getpwnam("daemon")
    os.chown(open_folder, account.pw_uid, account.pw_gid)
    server = EmbeddedPostgres(open_folder)
    try:
        server.start()
    except ServiceFailed as refused:
        pytest.skip(f"the project lies where no other account may read it: {refused}")
    try:
        pid = int((server.cluster / "postmaster.pid").read_text().split()[0])
        assert psutil.Process(pid).uids().real == account.pw_uid
        with psycopg.connect(server.url(process="web")) as connection:
            assert connection.execute("select current_user").fetchone() == ("cabochon_web_login",)
    finally:
        server.stop()


@pytest.mark.parametrize("is_running", in_short([False, True], every=2))
def test_a_lost_password_is_set_again(postgres: EmbeddedPostgres, is_running: bool) -> None:
    if not is_running:
        postgres.stop()
    shutil.rmtree(postgres.data / "passwords")
    postgres.start()
    with psycopg.connect(postgres.url()) as connection:
        assert connection.execute("select current_user").fetchone() == ("cabochon",)


def test_the_brokers_socket_is_its_owners_alone(tmp_path: Path) -> None:
    valkey = EmbeddedValkey(tmp_path)
    valkey.start()
    try:
        assert stat.S_IMODE(valkey.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(valkey.socket.stat().st_mode) & 0o077 == 0
        assert valkey.socket.parent.stat().st_uid == os.geteuid()
    finally:
        valkey.stop()
