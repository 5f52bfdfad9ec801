"""The servers of the tests: a real PostgreSQL always, RabbitMQ and Redis where they run.

Without ``DATABASE_URL`` the embedded PostgreSQL is started once, by the process that leads the run, and stopped at its
end. Tests about RabbitMQ and Redis skip where these do not answer, unless ``CABOCHON_REQUIRE_SERVICES=1`` forbids it.
"""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import socket_folder

RABBITMQ = os.environ.get("CABOCHON_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CABOCHON_TEST_REDIS", "redis://127.0.0.1:6379/15")


def pytest_configure(config: pytest.Config) -> None:
    if _leads(config) and not os.environ.get("DATABASE_URL"):
        EmbeddedPostgres(Path(os.environ["CABOCHON_DATA"])).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _leads(config):
        return
    data = Path(os.environ["CABOCHON_DATA"])
    if not os.environ.get("DATABASE_URL"):
        EmbeddedPostgres(data).stop()
    shutil.rmtree(data, ignore_errors=True)
    shutil.rmtree(socket_folder(data), ignore_errors=True)


def _leads(config: pytest.Config) -> bool:
    """Whether this process leads the run, rather than being one of its workers."""
    return not hasattr(config, "workerinput")


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    """The address of a real RabbitMQ."""
    return _answering("RabbitMQ", RABBITMQ)


@pytest.fixture(scope="session")
def redis_url() -> str:
    """The address of a real Redis."""
    return _answering("Redis", REDIS)


def _answering(name: str, url: str) -> str:
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=2).close()
    except OSError as error:
        if os.environ.get("CABOCHON_REQUIRE_SERVICES") == "1":
            pytest.fail(f"{name} does not answer at {address.hostname}:{address.port}: {error}")
        pytest.skip(f"{name} does not answer at {address.hostname}:{address.port}")
    return url
