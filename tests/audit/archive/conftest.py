"""Fixtures of tests of the archive: its folder, and a casino that plays months."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from tests.audit.archive.years import Years


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_ARCHIVE = tmp_path / "archive"
    return tmp_path / "archive"


@pytest.fixture
def years(db: None, folder: Path) -> Years:
    return Years()
