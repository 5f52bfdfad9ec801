"""The timeline of a finding and of a table is folded by coup: each event once, the coup that decides open."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

import pytest
from django.test import Client
from django.urls import reverse

from audit.desk.tables.coups import AFTER_A_RESULT, Fold, folds_of
from audit.desk.tables.course import Course, course_of
from audit.felt.frames import Playback, playback_of
from audit.models import Finding, LoggedStream, Role
from audit.presentation import finding_title
from settlement.events import TYPES
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.tables import Tenant, numbered
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

FOLD = re.compile(r'<details class="coup"( open)?><summary>(.*?)</summary><ol>(.*?)</ol></details>', re.DOTALL)
EVENT = re.compile(r'<li [^>]*id="e(\d+)"')


@pytest.fixture
def reader(night: NamedNight) -> Client:
    return client_of(hired(night.tenant, Role.OFFICER, "reader"))


@dataclass(frozen=True, slots=True)
class Shown:
    """A coup of a timeline as its page has it."""

    is_open: bool
    line: str
    seqs: list[int]


def folded(client: Client, address: str, language: str = "en") -> list[Shown]:
    page = client.get(address, headers={"accept-language": language}).content.decode()
    timeline = page.partition('<ol class="timeline" id="timeline">')[2].partition("<script")[0]
    assert sorted(EVENT.findall(timeline)) == sorted(EVENT.findall(page)), "each event is in the timeline"
    return [
        Shown(
            bool(is_open),
            unescape(" ".join(re.sub(r"<[^>]+>", " ", line).split())),
            list(map(int, EVENT.findall(items))),
        )
        for is_open, line, items in FOLD.findall(timeline)
    ]


def of_night(night: NamedNight, first: int, last: int) -> tuple[Playback, Course, list[Fold]]:
    course = course_of(LoggedStream.objects.get(pk=night.stream_id))
    playback = playback_of(night.stream_id, first, last)
    return playback, course, folds_of(playback, course)


def test_the_coup_that_decides_is_open_the_others_are_closed_and_each_event_stands_once(
    night: NamedNight, reader: Client
) -> None:
    finding = night.finding
    decided = finding.facts["decided_seq"]
    shown = folded(reader, f"/admin/audit/finding/{finding.pk}/change/")
    assert len(shown) > 3
    seqs = [seq for each in shown for seq in each.seqs]
    assert seqs == sorted(set(seqs)), "in the order of the record, none twice"
    assert [each.is_open for each in shown] == [bool({decided, finding.seq} & set(each.seqs)) for each in shown]
    assert any(decided in each.seqs for each in shown)


def test_the_line_of_a_coup_says_its_number_its_result_its_events_and_what_was_found(
    night: NamedNight, reader: Client
) -> None:
    finding = night.finding
    address = f"/admin/audit/finding/{finding.pk}/change/"
    course = course_of(LoggedStream.objects.get(pk=night.stream_id))
    for language, events in (("en", "events"), ("fr", "événements")):
        for each in folded(reader, address, language):
            for coup in (coup for coup in course.coups if coup.seq in each.seqs):
                pocket = coup.event.data.pocket  # type: ignore[attr-defined]
                assert each.line.startswith(f"Coup {coup.number} {pocket} {len(each.seqs)} {events}")
            assert re.search(r" \d\d:\d\d:\d\d$", each.line)
    of_finding = next(each for each in folded(reader, address) if finding.seq in each.seqs)
    assert finding_title(finding.rule) in of_finding.line
    unfound = [each for each in folded(reader, address) if not _found_at(night, each.seqs)]
    assert unfound
    assert all(re.fullmatch(r"Coup \d+ (\S+ )?\d+ events? [\d:]+", each.line) for each in unfound)


def _found_at(night: NamedNight, seqs: list[int]) -> bool:
    return Finding.objects.standing().filter(stream_id=night.stream_id, seq__in=seqs).exists()


def test_at_a_moment_the_coup_of_the_event_is_open_alone(night: NamedNight, reader: Client) -> None:
    shown = folded(reader, reverse("admin:audit_loggedstream_table", args=(night.stream_id,)) + "?at=60")
    assert len(shown) > 3
    assert [60 in each.seqs for each in shown] == [each.is_open for each in shown]


@pytest.mark.parametrize("first", in_short(range(1, 60, 7), every=3))
def test_no_event_is_left_out_of_the_coups_and_none_has_two_results(night: NamedNight, first: int) -> None:
    playback, course, folds = of_night(night, first, first + 100)
    assert (folds[0].first, folds[-1].end) == (0, len(playback.frames))
    assert all(one.end == other.first for one, other in pairwise(folds))
    assert [fold.number for fold in folds] == list(range(folds[0].number, folds[0].number + len(folds)))
    for fold in folds:
        of_fold = [frame.event.seq for frame in playback.frames[fold.first : fold.end]]
        results = [seq for seq in of_fold if seq in course.by_seq]
        assert len(results) <= 1
        if results:
            assert course.by_seq[results[0]].number == fold.number
            assert fold.result == str(course.by_seq[results[0]].event.data.pocket)  # type: ignore[attr-defined]
            assert fold.kind in ("r", "n", "z")


def test_a_range_that_begins_among_payments_begins_with_the_coup_that_they_are_of(night: NamedNight) -> None:
    course = course_of(LoggedStream.objects.get(pk=night.stream_id))
    third = course.coups[2]
    frames = playback_of(night.stream_id, third.seq + 1, third.seq + 1).frames
    assert frames[0].event.type in AFTER_A_RESULT
    _playback, _course, folds = of_night(night, third.seq + 1, course.coups[4].seq)
    assert (folds[0].number, folds[0].result) == (3, str(third.event.data.pocket))  # type: ignore[attr-defined]
    assert [fold.number for fold in folds] == [3, 4, 5]


def test_a_table_without_a_result_has_its_events_as_they_are() -> None:
    tenant = Tenant()
    opener = tenant.opener("s", observes=["wagers"], seats=["S1"])
    events = numbered(
        opener, ("wager.placed", {"wager": "w", "bet": "win", "stake": 1_000, "player": "p", "seat": "S1"})
    )
    assert tenant.post("s", events).status_code == 201
    stream = tenant.stream("s")
    assert folds_of(playback_of(stream.pk, 1, 2), course_of(stream)) == []
    page = client_of(hired(tenant, Role.OFFICER, "reader")).get(f"/admin/audit/loggedstream/{stream.pk}/table/")
    timeline = page.content.decode().partition('id="timeline">')[2]
    assert Counter(EVENT.findall(timeline)) == {"1": 1, "2": 1}
    assert 'class="coup"' not in timeline


def test_every_type_that_leaves_a_coup_as_it_is_is_one_of_the_contract() -> None:
    assert not AFTER_A_RESULT - TYPES.keys()
