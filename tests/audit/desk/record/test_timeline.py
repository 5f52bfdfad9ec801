"""*Checkpoints and witnesses*: which dots are drawn, where a witness is silent, and the table behind the drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from pytest_django import Settings

from audit.charts.timeline import LEFT, RIGHT, Mark, Row, draw_timeline
from audit.desk.record.timeline import timeline
from audit.models import Cosignature, Officer, WitnessState
from audit.monitoring import WitnessSeen
from audit.transparency import tree
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.timeline import DOTS, SealedAt, checkpoints
from tests.audit.casework.test_actions import sign_in
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

SVG = "{http://www.w3.org/2000/svg}"
VKEY = str(WitnessKey("w.example/1", bytes(32)))


@pytest.fixture
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


def sealed(number: int) -> tuple[datetime, list[int]]:
    """Seal a log ``number`` times, a batch each; return an instant before them all, and the sizes of the trees."""
    tenant, sizes = Tenant(tables=tuple(f"T{each}" for each in range(number))), []
    seal()  # what other tests have left
    before = timezone.now()
    for each in range(number):
        tenant.post(f"s{each}", [tenant.opener(f"s{each}", table=f"T{each}")])
        seal()
        newest = tree.newest_checkpoint()
        assert newest is not None
        sizes.append(newest.size)
    return before, sizes


def cosign(size: int) -> Cosignature:
    return Cosignature.objects.create(
        size=size, root=bytes(32), witness="w.example/1", vkey=VKEY, line="—", cosigned_at=timezone.now()
    )


@pytest.mark.django_db
def test_of_each_part_of_the_time_the_last_checkpoint_is_found() -> None:
    before, sizes = sealed(4)
    every = checkpoints(before, timezone.now() + timedelta(microseconds=1), [])
    assert [each.size for each in every] == [size for size in sizes if size in {each.size for each in every}]
    assert every[-1].size == sizes[-1]
    assert all(before <= each.received_at for each in every), "those before are not of this time"
    assert [each.size for each in checkpoints(before, before + timedelta(days=1), [])] == [sizes[-1]]
    between = every[0].received_at
    until_then = checkpoints(between - timedelta(milliseconds=1), between, [])
    assert [each.size for each in until_then][-1] == every[0].size, "what is received at the end of the time is of it"
    assert checkpoints(before - timedelta(days=9_000), before - timedelta(days=8_000), []) == []


@pytest.mark.django_db
def test_a_time_has_no_more_dots_than_there_is_room_for_and_one_query() -> None:
    before, sizes = sealed(DOTS + 6)
    with connection.execute_wrapper(lambda execute, *query: executed.append(query[0]) or execute(*query)):
        executed: list[str] = []
        found = checkpoints(before, timezone.now(), [])
    assert DOTS / 3 < len(found) <= DOTS
    assert found[-1].size == sizes[-1]
    assert len(executed) <= 1


@pytest.mark.django_db
def test_a_cosignature_is_in_the_part_of_its_checkpoint_and_other_witnesses_are_left_out() -> None:
    before, sizes = sealed(3)
    early, _late = cosign(sizes[0]), cosign(sizes[1])
    [whole] = checkpoints(before, before + timedelta(days=1), [VKEY, "nobody+1+x"])
    assert {vkey: each.size for vkey, each in whole.cosigned.items()} == {VKEY: sizes[1]}, "the newest of the part"
    apart = {each.size: each for each in checkpoints(before, timezone.now() + timedelta(microseconds=1), [VKEY])}
    assert sizes[-1] in apart
    if len(apart) == len(sizes):
        assert apart[sizes[0]].cosigned[VKEY].received_at == early.received_at
        assert apart[sizes[-1]].cosigned == {}
    assert checkpoints(before, before + timedelta(days=1), [])[0].cosigned == {}


def witness(age_s: float | None, *, is_refused: bool = False) -> WitnessSeen:
    return WitnessSeen("w.example/1", 1, age_s, is_refused, "", VKEY)


def drawn(monkeypatch: pytest.MonkeyPatch, *witnesses: WitnessSeen, seals: list[SealedAt]) -> ElementTree.Element:
    monkeypatch.setattr("audit.desk.record.timeline.checkpoints", lambda since, until, vkeys: seals)
    return ElementTree.fromstring(timeline(witnesses, None).drawing)


@pytest.mark.parametrize(
    ("age_s", "is_refused", "words"),
    [
        (1.0, False, None),
        (None, False, "has never cosigned"),
        (1.0, True, "refuses this log"),
        (7_200.0, False, r"silent since \d\d:\d\d"),
        (90_000.0, False, r"silent since \d+ \w+, \d\d:\d\d UTC"),
    ],
)
def test_a_band_shows_since_when_a_witness_is_silent(
    english: None, monkeypatch: pytest.MonkeyPatch, age_s: float | None, is_refused: bool, words: str | None
) -> None:
    svg = drawn(monkeypatch, witness(age_s, is_refused=is_refused), seals=[SealedAt(3, timezone.now(), {})])
    bands = [each for each in svg.iter(f"{SVG}rect") if each.attrib["class"] == "silent"]
    texts = [each.text or "" for each in svg.iter(f"{SVG}text") if each.attrib.get("class") == "silent"]
    description = svg.findtext(f"{SVG}desc") or ""
    if words is None:
        assert (bands, texts) == ([], [])
        return
    [text] = texts
    assert re.fullmatch(words, text)
    assert f"w.example/1: {text}" in description
    share = 0.0 if age_s is None else max(0.0, 1 - age_s / 14_400)
    assert float(bands[0].attrib["x"]) == pytest.approx(LEFT + share * (RIGHT - LEFT), abs=0.5)


def test_the_axis_has_the_full_hours_of_the_time(english: None, monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 11, 21, 19, 12, tzinfo=UTC)
    monkeypatch.setattr("django.utils.timezone.now", lambda: at)
    svg = drawn(monkeypatch, seals=[SealedAt(3, at, {})])
    hours = [each.text for each in svg.findall(f"{SVG}text")]
    assert hours == ["16:00", "17:00", "18:00", "19:00"]
    [newest] = svg.findall(f"{SVG}circle")
    assert newest.attrib["class"] == "newest"
    assert newest.findtext(f"{SVG}title") == "19:12:00 · 3 batches"


def test_names_are_escaped_and_long_ones_are_cut_but_said_whole() -> None:
    name = "<witness> & of a name that is as long as nobody would write it.example"
    svg = ElementTree.fromstring(draw_timeline([Row(name, [Mark(2.0, "a<b")])], [], title="<t>", description="d"))
    label = svg.find(f"{SVG}g")
    assert label is not None
    assert label.findtext(f"{SVG}title") == name
    assert (label.findtext(f"{SVG}text") or "").endswith("…")
    [dot] = svg.findall(f"{SVG}circle")
    assert float(dot.attrib["cx"]) == RIGHT, "nothing is drawn outside"
    assert dot.findtext(f"{SVG}title") == "a<b"


@pytest.mark.django_db
def test_the_page_has_the_drawing_and_its_table_and_a_wrong_setting_draws_nobody(settings: Settings) -> None:
    _before, sizes = sealed(1)
    settings.CABOCHON_WITNESSES = [f"{VKEY} https://w.example"]
    cosign(sizes[0])
    WitnessState.objects.create(vkey=VKEY, size=sizes[0], cosigned_at=timezone.now(), tried_at=timezone.now())
    desk = Client()
    sign_in(desk, Officer.objects.create_superuser("chief"))
    answer = desk.get(reverse("admin:record_state"), headers={"accept-language": "fr"})
    shown = answer.content.decode()
    assert "Points de contrôle et témoins" in shown
    assert 'class="chart timeline"' in shown
    newest = answer.context["timeline"].rows[0]
    assert newest.cosigned[0] != "—"
    assert re.fullmatch(r"\d\d:\d\d:\d\d", newest.at)
    settings.CABOCHON_WITNESSES = ["nonsense"]
    assert desk.get(reverse("admin:record_state")).context["timeline"].witnesses == []
