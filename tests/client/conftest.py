"""The record that the tests of the client share: nothing of one concerns another, because each has its own sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.record import Record, record


@pytest.fixture(scope="session")
def shared_record(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[Record]:
    with record(tmp_path_factory.mktemp("client") / "record", migrated_template, is_sealing=True) as running:
        yield running
