"""The embedded servers: started from nothing and again after a kill, stopped, and refused on data that do not fit."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import ServiceFailed, socket_folder
from casino.embedded.valkey import EmbeddedValkey
from tests.casino.processes import until


@pytest.fixture(scope="module")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a PostgreSQL that was started from nothing, and stopped: a test that needs data copies them."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("initialised"))
    server.start()
    server.stop()
    return server.data


@pytest.fixture
def postgres(initialised: Path, tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL that does not run, on data that were stopped in order."""
    server = EmbeddedPostgres(tmp_path / "data")
    shutil.copytree(initialised, server.data)
    yield server
    server.stop()


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey(tmp_path)
    yield server
    server.stop()


@pytest.mark.faults
def test_postgres_keeps_its_data_when_killed(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("create table survivor (name text)")
        connection.execute("insert into survivor values ('cabochon')")
    os.kill(int((postgres.cluster / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    postgres.start()

    with psycopg.connect(postgres.url()) as connection:
        assert connection.execute("select name from survivor").fetchall() == [("cabochon",)]
        assert connection.execute("show data_checksums").fetchone() == ("on",)
        assert connection.execute("show listen_addresses").fetchone() == ("",)


def test_postgres_is_started_though_what_was_just_killed_listened_a_moment_ago(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, answers = EmbeddedPostgres.is_running, iter([True])
    monkeypatch.setattr(EmbeddedPostgres, "is_running", lambda self: next(answers, None) or really(self))
    postgres.start()
    with psycopg.connect(postgres.url()) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    assert next(answers, None) is None, "it was asked"


def test_postgres_started_twice_is_one_server(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    first = (postgres.cluster / "postmaster.pid").read_text().split()[0]
    postgres.start()
    assert (postgres.cluster / "postmaster.pid").read_text().split()[0] == first
    postgres.stop()
    assert not postgres.is_running()
    postgres.stop()


def test_data_of_another_major_version_are_refused_with_advice(postgres: EmbeddedPostgres) -> None:
    version = postgres.cluster / "PG_VERSION"
    is_ours = version.read_text()
    version.write_text("9\n")
    with pytest.raises(ServiceFailed, match=r"are of PostgreSQL 9; this is \d+\. Move them with pg_upgrade"):
        postgres.start()
    version.write_text(is_ours)


def test_valkey_keeps_its_messages_when_killed(valkey: EmbeddedValkey) -> None:
    valkey.start()
    with redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        client.rpush("replay", "a hint")
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert client.wait(0, 0) == 0
    # The append-only file is synced every second at the latest; a killed process loses nothing that was written.
    os.kill(int((valkey.folder / "pid").read_text()), signal.SIGKILL)
    until(lambda: not valkey.is_running(), "its end")

    valkey.start()

    with redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        assert client.lrange("replay", 0, -1) == [b"a hint"]


def test_the_sockets_stay_short_below_the_deepest_folder(tmp_path: Path) -> None:
    deep = tmp_path / ("a-long-name-" * 10) / ("another-" * 10)
    assert len(str(EmbeddedValkey(deep).socket)) < 107
    assert socket_folder(deep) != socket_folder(tmp_path)


def test_valkey_is_started_though_what_was_just_killed_listened_a_moment_ago(
    valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, answers = EmbeddedValkey.is_running, iter([True])
    monkeypatch.setattr(EmbeddedValkey, "is_running", lambda self: next(answers, None) or really(self))
    valkey.start()
    assert redis.Redis(unix_socket_path=str(valkey.socket)).ping()
    assert next(answers, None) is None, "it was asked"
