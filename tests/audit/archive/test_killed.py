"""Killed by SIGKILL anywhere, the command leaves the month in place or its proved file; run again, it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.models import ArchivedMonth
from tests.audit.archive.killing import run
from tests.audit.archive.test_crash_points import proves
from tests.audit.archive.years import Years, stored

pytestmark = pytest.mark.superuser


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
def test_killed_by_sigkill_at_any_step_it_goes_on(folder: Path) -> None:
    """As above, by real processes, on a record that is committed. It takes a minute."""
    years = Years()
    stream_id = years.play()
    whole = stored(stream_id)
    killed = 0
    for step in range(1, 100):
        if not run(step, "--before", "1992-04"):
            break
        killed += 1
        if stored(stream_id) == whole:
            assert not ArchivedMonth.objects.exists()
        else:
            assert proves(folder)
            assert ArchivedMonth.objects.get().state == "archived"
    assert killed >= 5
    assert stored(stream_id) == 0
    assert proves(folder)
    assert run(1000, "--attach", "1992-03") == []
    assert stored(stream_id) == whole
