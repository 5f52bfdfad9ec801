"""A month into the archive and back: what is proved, what stays, what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from audit.models import ArchivedMonth
from tests.audit.archive.years import MONTH, Years, archived, stored, verified
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.superuser


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_ARCHIVE = tmp_path / "archive"
    return tmp_path / "archive"


@pytest.fixture
def years(db: None, folder: Path) -> Years:
    return Years()


def test_a_month_goes_into_the_archive_comes_back_and_goes_again_and_everything_holds_at_each_step(
    years: Years, folder: Path
) -> None:
    stream_id = years.play()
    before = stored(stream_id)
    assert before > 20
    assert verified().faults == []
    print(archived("--before", "1992-04", "--dry-run"))
    print(archived("--before", "1992-04"))
    assert stored(stream_id) == 0
    seal()
    outcome = verified()
    assert outcome.faults == []
    assert [(each.month.name, each.month.where) for each in outcome.archived.values()] == [
        ("1992-03", "archived in cabochon-1992-03.ndjson.gz")
    ]
    print(archived("--attach", "1992-03"))
    assert stored(stream_id) == before
    seal()
    assert verified().faults == []
    print(archived("--detach", "1992-03"))
    assert stored(stream_id) == 0
    seal()
    assert verified().faults == []
    assert ArchivedMonth.objects.get(month=MONTH).state == "archived"
