"""Servers on copies of a migrated cluster: starting one takes a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker

from audit.transparency import signing_keys
from tests.faults.own_cluster import Cluster, skip_without_citus
from tests.faults.servers import Server, copy_of, faulty_disk


@pytest.fixture(scope="session")
def disk_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``faulty_disk.c``, compiled; skips where there is no compiler."""
    return faulty_disk(tmp_path_factory.mktemp("faulty"))


@pytest.fixture
def new_server(
    migrated_cluster: Path, tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> Iterator[Callable[..., Server]]:
    """Return a function that copies the cluster and gives a server on it, not yet running.

    Keys and exported checkpoints are in folders of the test; Django may use the database.
    """
    servers: list[Server] = []

    def make(name: str = "server") -> Server:
        servers.append(copy_of(migrated_cluster, tmp_path / name))
        return servers[-1]

    with django_db_blocker.unblock(), _keys_and_checkpoints_in(tmp_path):
        yield make
        for server in servers:
            if server.is_running():
                server.kill()


@pytest.fixture
def own_cluster(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Cluster]:
    """A Citus cluster of the test's own, running; keys and exported checkpoints as ``new_server`` has them."""
    skip_without_citus()
    with django_db_blocker.unblock(), _keys_and_checkpoints_in(tmp_path):
        cluster = Cluster(tmp_path / "cluster")
        try:
            cluster.make()
            with cluster.with_django():
                yield cluster
        finally:
            cluster.end()


@contextmanager
def _keys_and_checkpoints_in(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "CABOCHON_KEYS", str(folder / "keys"))
        patch.setattr(settings, "CABOCHON_CHECKPOINT_KEYS", str(folder / "keys" / "checkpoint"))
        patch.setattr(settings, "CABOCHON_CHECKPOINTS", [str(folder / "checkpoints")])
        signing_keys._keyring.forget()
        yield
        signing_keys._keyring.forget()
