"""Fixtures of tests of the archive: its folder, and a casino that plays months."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from tests import citus
from tests.audit.archive.years import Years
from tests.audit.tables import Tenant


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_ARCHIVE = tmp_path / "archive"
    return tmp_path / "archive"


def _years() -> Years:
    """Return a casino of the same code in every run: what its tables play is drawn by it, too."""
    return Years(Tenant("archiving"))


@pytest.fixture
def years(own_database: None, db: None, folder: Path) -> Years:
    return _years()


@pytest.fixture(scope=citus.MODULE)
def _month(own_database: None, module_db: None) -> Years:
    years = _years()
    years.play()
    return years


@pytest.fixture
def played(_month: Years, db: None, folder: Path) -> Years:
    """A casino that has played a month, which the tests of a module share: what each does to it is rolled back."""
    return _month
