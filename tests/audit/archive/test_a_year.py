"""A year of months out of the database and one back: verify holds at each step, and the disk gets its space back.

    python -m pytest -s -m soak tests/audit/archive/test_a_year.py

prints the figures that ``docs/archive.md`` has.
"""

from __future__ import annotations

from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from audit.models import ArchivedMonth
from tests.audit.archive.years import Years, archived, sizes, stored
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.superuser

TWELVE = [date(1993, month, 9) for month in range(1, 13)]


def whole(folder: Path) -> str:
    """Verify everything, the files of the archive too; return what that prints. Raise unless everything holds."""
    seal()
    printed = StringIO()
    call_command("verify", "--archive", str(folder), stdout=printed)
    assert "Everything holds." in printed.getvalue()
    return printed.getvalue()


def a_year(years: Years, folder: Path, days: list[date], *, coups: int) -> list[str]:
    """Play, archive, and bring one month back; return the figures."""
    streams = [years.play(day, coups=coups) for day in days]
    held = sum(stored(stream_id) for stream_id in streams)
    before = sizes()
    whole(folder)
    archived("--before", f"{days[-1].year + days[-1].month // 12}-{days[-1].month % 12 + 1:02}")
    assert [stored(stream_id) for stream_id in streams] == [0] * len(days)
    after = sizes()
    printed = whole(folder)
    assert printed.count("; read and proved") == len(days)
    assert after["events"] < before["events"]
    back = len(days) // 2
    archived("--attach", f"{days[back]:%Y-%m}")
    assert stored(streams[back]) > 0
    attached = sizes()
    assert after["events"] < attached["events"] < before["events"]
    whole(folder)
    archived("--detach", f"{days[back]:%Y-%m}")
    assert stored(streams[back]) == 0
    whole(folder)
    assert ArchivedMonth.objects.filter(month__year=days[0].year, state="archived").count() == len(days)
    files = sum(path.stat().st_size for path in folder.glob("*.gz"))
    steps = {"in the database": before, "in the archive": after, "one month back": attached}
    return [
        f"{len(days)} months, {held:,} events; {files:,} bytes of files",
        *(f"{name}: " + ", ".join(f"{what} {size:,}" for what, size in each.items()) for name, each in steps.items()),
    ]


@pytest.mark.faults
def test_two_months_out_and_one_back(years: Years, folder: Path) -> None:
    for line in a_year(years, folder, TWELVE[:2], coups=4):
        print(line)


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_a_year_of_months_out_and_one_back_and_the_disk_has_its_space_again(folder: Path) -> None:
    years = Years()
    for line in a_year(years, folder, TWELVE, coups=400):
        print(line)
