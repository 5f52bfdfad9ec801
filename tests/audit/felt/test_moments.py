"""The table at an instant is what the engine's state says, from wherever one comes; and who may look at it."""

from __future__ import annotations

import json
import random
import re
from datetime import date
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client

from audit.adjudication.replay import advance
from audit.felt import draw, replay_of, table_at
from audit.felt.drawing import chips_of, spot_of, states_at
from audit.models import GamingTable, LoggedStream, Officer
from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import State, decode
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


def played(tenant: Tenant, ruleset: str, *, coups: int = 40) -> tuple[LoggedStream, list[dict[str, Any]]]:
    """Record a night with everything irregular in it, and return its stream and events."""
    GamingTable.objects.create(casino=tenant.casino, code=ruleset)
    day = date(2010, 11, 19)
    night = play(
        ruleset,
        casino=tenant.code,
        code=ruleset,
        gaming_day=day,
        seed=7,
        coups=coups,
        irregularities=list(IRREGULARITIES),
    )
    for low in range(0, len(night.events), 900):
        assert tenant.post(night.stream, night.events[low : low + 900]).status_code == 201
    return tenant.stream(night.stream), night.events


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_stretch_shows_at_each_event_what_a_fold_from_the_beginning_leaves(tenant: Tenant, ruleset: str) -> None:
    stream, events = played(tenant, ruleset)
    state = State()
    folded = {}
    for event in events:
        state.feed(decode(json.dumps(event).encode()))
        table = state.table
        folded[event["seq"]] = (table.point, {each: table.wagers[each].status for each in table.live}, set(table.due))
    seqs = sorted(folded)
    chance = random.Random(1)
    for _ in range(4):
        first = chance.choice(seqs)
        replay = replay_of(stream.pk, first, first + 60)
        assert [moment.event.seq for moment in replay.moments] == [seq for seq in seqs if first <= seq <= first + 60]
        for moment in replay.moments:
            point, live, due = folded[moment.event.seq]
            assert moment.point == point
            shown = {key: stake for key, stake in moment.stakes.items() if stake.state in ("on", "jail")}
            assert {key: stake.wager.status for key, stake in shown.items()} == live
            assert {key for key, stake in moment.stakes.items() if stake.state == "won"} == due
        at = chance.choice(seqs)
        said = table_at(stream.pk, at)
        assert said is not None
        point, live, due = folded[at]
        assert (said["at"], said["point"]) == (at, point)
        assert {each["wager"] for each in said["wagers"]} == set(live) | due


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_every_stake_on_the_table_is_a_chip_and_the_drawing_is_sound(tenant: Tenant, ruleset: str) -> None:
    stream, events = played(tenant, ruleset)
    replay = replay_of(stream.pk, 1, min(300, len(events)))
    chips = chips_of(replay)
    for place, moment in enumerate(replay.moments):
        lying = [stake for stake in moment.stakes.values() if stake.state != "off" and spot_of(replay, stake)]
        assert len(states_at(replay, chips, place)) == len(lying)
    disputed = next(iter(chips.values())).wager.id
    svg = draw(replay, len(replay.moments) - 1, language="fr", disputed={disputed})
    tree = ElementTree.fromstring(svg)
    drawn = [each for each in tree.iter() if each.get("data-chip")]
    assert {each.get("data-chip") for each in drawn} == {chip.key for chip in chips.values()}
    assert sum(each.get("data-disputed") is not None for each in drawn) >= 1
    assert not re.search(r"<script|style=|\bon\w+=", svg)


def test_what_players_are_called_cannot_break_out_of_the_drawing(tenant: Tenant) -> None:
    stream = "hostile"
    bad = '"><script>alert(1)</script>'
    events = [
        tenant.opener(stream, observes=[]),
        {**tenant.opener(stream), "seq": 2, "type": "wager.placed"},
    ]
    events[1]["data"] = {"wager": "w1", "bet": "field", "stake": 500, "player": bad}
    assert tenant.post(stream, events).status_code in (201, 422)
    logged = LoggedStream.objects.filter(casino=tenant.casino, name=stream).first()
    if logged is None:  # such a name is no player's at all
        return
    svg = draw(replay_of(logged.pk, 1, 2), 1, language="en")
    assert "<script" not in svg
    ElementTree.fromstring(svg)


def test_the_interface_says_the_table_at_an_instant(tenant: Tenant) -> None:
    stream, events = played(tenant, "fr-roulette")
    placed = next(event for event in events if event["type"] == "wager.placed")
    said = tenant.get(f"/streams/{stream.name}/table?at={placed['seq']}").json()
    assert (said["at"], said["ruleset"], said["bets_open"]) == (placed["seq"], "fr-roulette", True)
    (one,) = [each for each in said["wagers"] if each["wager"] == placed["data"]["wager"]]
    assert (one["bet"], one["standing"], one["status"]) == (placed["data"]["bet"], placed["data"]["stake"], "open")
    assert tenant.get(f"/streams/{stream.name}/table").json()["at"] == events[-1]["seq"]
    assert tenant.get(f"/streams/{stream.name}/table?at=0").status_code == 422
    assert tenant.get(f"/streams/{stream.name}/table?at=1&to=2").status_code == 422
    assert Tenant().get(f"/streams/{stream.name}/table").status_code == 404


def test_the_page_of_a_table_shows_any_instant_to_officers_of_its_house_alone(tenant: Tenant) -> None:
    stream, _ = played(tenant, "qc-craps")
    assert stream.pk < 0  # of an early day: addresses must take its sign
    address = f"/admin/audit/loggedstream/{stream.pk}/table/"
    own, other = (Officer.objects.create_user(name, password="x", is_staff=True) for name in ("own", "other"))
    client = Client()
    client.force_login(own)
    assert client.get(address).status_code in (403, 404)
    from django.contrib.auth.models import Permission

    for officer in (own, other):
        officer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    own.casinos.add(tenant.casino)
    page = client.get(f"{address}?at=40")
    assert page.status_code == 200
    content = page.content.decode()
    data = json.loads(re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', content)[1])
    assert data["steps"][int(re.search(r'data-focus="(\d+)"', content)[1])]["seq"] == 40
    assert 'class="felt qc-craps"' in content
    assert client.get(f"{address}?at=99999999").status_code == 200
    assert client.get(f"{address}?at=x").status_code == 200
    client.force_login(other)
    assert client.get(address).status_code == 404


def test_the_page_of_a_finding_opens_on_its_event_with_its_wager_ringed(tenant: Tenant) -> None:
    stream, _ = played(tenant, "fr-roulette")
    while (progress := advance(stream.pk)) is not None and progress.behind:
        pass
    finding = stream.findings.exclude(wager="").filter(rule="losing-wager-paid").first()
    assert finding is not None
    client = Client()
    client.force_login(Officer.objects.create_superuser("chief", password="x"))
    content = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    data = json.loads(re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', content)[1])
    focus = data["steps"][int(re.search(r'data-focus="(\d+)"', content)[1])]
    assert focus["seq"] == finding.seq
    assert focus["found"]
    assert [key for key, stake in data["stakes"].items() if stake["disputed"]] == [finding.wager]
    assert "data-disputed" in content
