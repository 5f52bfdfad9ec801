"""What a page about a moment has: the findings on its ruler and of what it replays; the coups that count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from audit.desk.tables import course, going_on
from audit.models import Finding
from tests.audit.casework.test_actions import Desk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("ticks", [200, 1], ids=["all on the ruler", "more than the ruler has"])
def test_what_is_replayed_has_the_findings_of_its_events_alone(
    desk: Desk, ticks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = desk.findings[0].stream
    session = list(Finding.objects.standing().filter(stream=stream).order_by("occurred_at", "pk"))
    first, last = (each.seq for each in session)
    monkeypatch.setattr(going_on, "TICKS", ticks)
    for low, high in ((first, last), (first + 1, last), (first, last - 1), (last + 1, last + 9)):
        frames = [SimpleNamespace(event=SimpleNamespace(seq=seq)) for seq in (low, high)]
        where: Any = SimpleNamespace(stream=stream, playback=SimpleNamespace(frames=frames))
        found = going_on.found_in(where)
        assert list(found.on_ruler) == session[:ticks]
        assert list(found.replayed) == [each for each in session if low <= each.seq <= high]


def test_a_result_that_a_correction_removed_is_no_coup(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = desk.findings[0].stream
    coups = course.course_of(stream).coups
    assert len(coups) > 1
    gone = coups[0].seq
    in_effect = SimpleNamespace(
        targets=frozenset({gone}), removed_by=lambda event: int(event.seq == gone), corrected=lambda event: event
    )
    monkeypatch.setattr(course, "corrections_in_effect", lambda _stream_id: in_effect)
    assert [each.seq for each in course.course_of(stream).coups] == [each.seq for each in coups[1:]]
