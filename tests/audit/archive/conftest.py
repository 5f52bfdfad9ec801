"""Fixtures of tests of the archive: its folder, and a casino that plays months."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from audit.transparency import signing_keys
from tests import citus
from tests.audit.archive.years import Years
from tests.audit.tables import Tenant


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_ARCHIVE = tmp_path / "archive"
    return tmp_path / "archive"


@pytest.fixture(scope="module")
def _own_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """A database in which nothing else is verified. A cluster's database cannot be copied."""
    if not citus.COORDINATOR:
        request.getfixturevalue("django_on_its_own_database")
    yield
    signing_keys._keyring.forget()


def _years() -> Years:
    """Return a casino of the same code in every run: what its tables play is drawn by it, too."""
    return Years(Tenant("archiving"))


@pytest.fixture
def years(_own_database: None, db: None, folder: Path) -> Years:
    return _years()


@pytest.fixture(scope=citus.MODULE)
def _month(_own_database: None, module_db: None) -> Years:
    years = _years()
    years.play()
    return years


@pytest.fixture
def played(_month: Years, db: None, folder: Path) -> Years:
    """A casino that has played a month, which the tests of a module share: what each does to it is rolled back."""
    return _month
