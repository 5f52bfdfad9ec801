"""Replays beside the standing one: other readings find otherwise, and nothing standing moves."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from audit.adjudications import beside as besides
from audit.adjudications import replay
from audit.adjudications.beside import Refused, Selection
from audit.models import Beside, BesideFinding, Finding, Officer
from settlement import ShapeError, adjudicate
from tests.audit.tables import House, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> House:
    """A house with a roulette table whose zero was a choice, and a craps table."""
    house = House()
    opener = house.opener("r", game="french_roulette", ruleset="fr-roulette", observes=[])
    coup = [
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1000, "player": "Anna"}),
        ("ball.settled", {"pocket": "0"}),
        ("zero.decided", {"wager": "w1", "choice": "half"}),
        ("payout.made", {"wager": "w1", "winnings": 0, "stake_returned": 500}),
    ]
    assert house.post("r", numbered(opener, *coup)).status_code == 201
    assert house.post("c", dice_changed_in_mid_series(house, "c")).status_code == 201
    for name in ("r", "c"):
        while (progress := replay.advance(house.stream(name).stream_id)) and progress.behind:
            pass
    return house


def replayed(house: House, name: str, **readings: object) -> Beside:
    beside = besides.begin(name, readings=readings, selection=Selection(casino=house.code), actor="test")
    for stream_id in besides.streams_of(beside):
        besides.replay_one(beside, stream_id)
    return beside


def standing(house: House) -> list[tuple[str, int, bool]]:
    found = Finding.objects.filter(casino=house.casino).order_by("pk")
    return [(finding.rule, finding.seq, finding.superseded_at is None) for finding in found]


def test_other_readings_find_what_the_engine_finds_under_them_and_what_stands_stays(house: House) -> None:
    before = standing(house)
    beside = replayed(house, f"lose-{house.code}", zero_rule="lose")
    assert standing(house) == before
    opener = house.opener("r", game="french_roulette", ruleset="fr-roulette", observes=[], params={"zero_rule": "lose"})
    events = [opener, *house.get("/streams/r/events").json()["events"][1:]]
    expected = adjudicate([json.dumps(event) for event in events]).findings
    found = BesideFinding.objects.filter(beside=beside, stream_id=house.stream("r").stream_id).order_by("seq", "rule")
    assert [row.as_dict() for row in found] == [finding.as_dict() for finding in expected]
    assert len(expected) > 0
    changes = list(besides.difference(beside))
    assert {(change.kind, change.stream) for change in changes} == {("appeared", "r")}
    assert len(changes) == len(expected)
    assert besides.done(beside) == 2


def test_the_same_readings_find_nothing_otherwise(house: House) -> None:
    assert list(besides.difference(replayed(house, f"same-{house.code}"))) == []


def test_it_is_taken_up_again_where_it_stopped(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    name = f"stopped-{house.code}"
    begun = besides.begin(name, readings={"zero_rule": "lose"}, selection=Selection(casino=house.code), actor="test")
    replay.advance(house.stream("r").stream_id, begun)  # and then it is killed
    beside = replayed(house, name, zero_rule="lose")
    assert beside.pk == begun.pk
    whole = replayed(house, f"whole-{house.code}", zero_rule="lose")
    assert [change.rule for change in besides.difference(beside)] == [
        change.rule for change in besides.difference(whole)
    ]


def test_a_correction_met_on_the_way_leaves_nothing_of_what_was_found_before_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entry = {"corrects": 12, "data": right, "reason": "misread chip", "approved_by": "chef-4"}
    house.post("c", numbered(house.opener("c"), *[("x", {})] * 11, ("entry.corrected", entry))[12:])
    stream_id = house.stream("c").stream_id
    while (progress := replay.advance(stream_id)) and progress.behind:
        pass
    monkeypatch.setattr(replay, "STEP_EVENTS", 4)
    beside = replayed(house, f"corrected-{house.code}")
    found = BesideFinding.objects.filter(beside=beside, stream_id=stream_id)
    assert [row.rule for row in found] == ["dice-changed-during-point-series"]
    assert list(besides.difference(beside)) == []


def test_only_money_is_added_up() -> None:
    said = {"severity": "major", "expected": 7, "recorded": 9, "provision": ""}
    common = {"stream": "s", "stream_id": 1, "finding_id": None, "casino_id": 1, "seq": 2, "wager": ""}
    changes = [
        besides.Change(kind="appeared", rule=rule, currency="EUR", before=None, after=said, **common)  # type: ignore[arg-type]
        for rule in ("seat-limit-exceeded", "payout-overpaid", "payout-overpaid")
    ]
    assert [(total.rule, total.appeared, total.after_minor) for total in besides.sums(changes)] == [
        ("payout-overpaid", 2, 4),
        ("seat-limit-exceeded", 1, 0),
    ]


def test_what_makes_no_sense_is_refused(house: House) -> None:
    nowhere, here = Selection(casino="nowhere"), Selection(casino=house.code)
    with pytest.raises(Refused):
        besides.begin("x", readings={}, selection=nowhere, actor="test")
    for readings in ({"zero_rule": "twice"}, {"no_reading": 1}, {"payout_unit": 0}):
        with pytest.raises(ShapeError):
            besides.begin("x", readings=readings, selection=here, actor="test")
    besides.begin(f"n-{house.code}", readings={}, selection=here, actor="test")
    with pytest.raises(Refused):
        besides.begin(f"n-{house.code}", readings={"zero_rule": "half"}, selection=here, actor="test")


def test_the_command_replays_in_several_processes_and_writes_the_difference(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"command-{house.code}"
    call_command("replay", "--beside", name, "--readings", "zero_rule=lose", "--casino", house.code)
    assert "appeared" in capsys.readouterr().out
    call_command("replay", "--diff", name, "--output", str(tmp_path / "d.csv"))
    lines = list(csv.DictReader(io.StringIO((tmp_path / "d.csv").read_text())))
    assert {line["kind"] for line in lines} == {"appeared"}
    call_command("replay", "--diff", name, "--format", "json", "--output", str(tmp_path / "d.json"))
    assert len(json.loads((tmp_path / "d.json").read_text())) == len(lines)
    call_command("replay", "--stream", "r", "--casino", house.code)
    assert "adjudicated through 5" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Invalid enum value"):
        call_command("replay", "--beside", "x", "--readings", "zero_rule=x", "--casino", house.code)
    with pytest.raises(CommandError, match="no replay beside"):
        call_command("replay", "--diff", "nothing")


def test_the_page_shows_the_difference_of_the_officers_own_houses(house: House) -> None:
    other = House()
    beside = besides.begin(f"page-{house.code}", readings={"zero_rule": "lose"}, selection=Selection(), actor="test")
    besides.replay_one(beside, house.stream("r").stream_id)
    found = next(besides.difference(beside))
    page = reverse("admin:audit_beside_change", args=(beside.pk,))
    for at, is_shown in ((house, True), (other, False)):
        officer = Officer.objects.create_user(f"o-{at.code}", is_staff=True)
        officer.casinos.set([at.casino])
        officer.user_permissions.set(Permission.objects.filter(codename="view_beside"))
        client = Client()
        client.force_login(officer)
        text = client.get(page, headers={"accept-language": "en"}).content.decode()
        assert (found.rule in text) is is_shown
        listed = client.get(reverse("admin:audit_beside_changelist"))
        assert beside.name in listed.content.decode()
        file = client.get(reverse("admin:audit_beside_file", args=(beside.pk, "csv"))).content.decode()
        assert ("appeared" in file) is is_shown
        own = besides.begin(f"own-{house.code}", readings={}, selection=Selection(casino=house.code), actor="test")
        address = reverse("admin:audit_beside_change", args=(own.pk,))
        assert (client.get(address).status_code == 200) is is_shown
    stranger = Client()
    assert stranger.get(page).status_code == 302


@pytest.mark.parametrize("text, written", [("=1+1", "'=1+1"), ("-2", "'-2"), ("w1", "w1"), (-2, -2), ("", "")])
def test_no_cell_of_a_file_is_a_formula(text: object, written: object) -> None:
    assert besides.guarded(text) == written
