"""A frame shows what the engine's own state has, wherever the playback begins; and who may see it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from datetime import date
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.test import Client

from audit.adjudication.replay import advance
from audit.event_store import read
from audit.felt import draw, playback_of, playback_of_events, table_at
from audit.felt.drawing import chips_of, states_at
from audit.felt.frames import hold_only
from audit.felt.layouts import felt_of
from audit.models import Casino, GamingTable, LoggedStream, Officer
from audit.register.in_force import digest_of
from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import RULESETS, State, decode
from settlement.comparison import pending
from settlement.mentions import mentioned
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return Tenant("frames")  # a night is played by the code of its casino


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


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_each_frame_shows_the_state_that_a_fold_from_the_beginning_leaves(tenant: Tenant, ruleset: str) -> None:
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
        playback = playback_of(stream.pk, first, first + 60)
        assert [frame.event.seq for frame in playback.frames] == [seq for seq in seqs if first <= seq <= first + 60]
        for frame in playback.frames:
            point, live, due = folded[frame.event.seq]
            assert frame.point == point
            shown = {key: stake for key, stake in frame.stakes.items() if stake.state in ("on", "jail")}
            assert {key: stake.wager.status for key, stake in shown.items()} == live
            won = {key: stake.wager.paid_by for key, stake in frame.stakes.items() if stake.state == "won"}
            assert due <= won.keys()
            assert not any(won[key] for key in won.keys() - due), "what was never paid is not shown as paid"
        at = chance.choice(seqs)
        answer = table_at(stream.pk, at)
        assert answer is not None
        point, live, due = folded[at]
        assert (answer["at"], answer["point"]) == (at, point)
        assert {each["wager"] for each in answer["wagers"]} == set(live) | due


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_frames_are_those_of_a_state_that_holds_every_wager_of_the_session(tenant: Tenant, ruleset: str) -> None:
    stream, events = played(tenant, ruleset)
    decoded = [decode(json.dumps(event).encode()) for event in events]
    state, mentioned_again, held = State(compares=False), 0, 1.0
    for first, event in enumerate(decoded, start=1):
        state.feed(event)
        following, retired = decoded[first : first + 60], state.table.wagers.keys() - pending(state.table)
        is_of_retired = not retired.isdisjoint(mentioned(following[:1]))
        mentioned_again += is_of_retired
        if is_of_retired or not first % 50:
            whole, pruned = (State.from_bytes(state.to_bytes()) for _ in range(2))
            hold_only(pruned, following)
            held = len(pruned.table.wagers) / len(whole.table.wagers)
            assert playback_of_events(pruned, following).frames == playback_of_events(whole, following).frames
    assert mentioned_again, "a wager that nothing was pending on is paid, or collected, again"
    assert held < 0.5
    answers = [playback_of(stream.pk, first - 20, first).frames for _ in range(2)]
    assert answers[0] == answers[1], "from the cache as without it"


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_every_stake_on_the_table_is_a_chip_and_the_drawing_is_well_formed(tenant: Tenant, ruleset: str) -> None:
    stream, events = played(tenant, ruleset)
    playback = playback_of(stream.pk, 1, min(300, len(events)))
    felt, chips = felt_of(ruleset), chips_of(playback)
    assert felt is not None
    for index, frame in enumerate(playback.frames):
        lying = [stake for stake in frame.stakes.values() if stake.state != "off" and felt.spot(stake)]
        assert len(states_at(playback, chips, index)) == len(lying)
    disputed = next(iter(chips.at.values())).wager.id
    svg = draw(playback, len(playback.frames) - 1, language="fr", disputed={disputed})
    tree = ElementTree.fromstring(svg)
    drawn = [each for each in tree.iter() if each.get("data-chip")]
    assert {each.get("data-chip") for each in drawn} == {chip.key for chip in chips.at.values()}
    assert sum(each.get("data-disputed") is not None for each in drawn) >= 1
    assert not re.search(r"<script|style=|\bon\w+=", svg)


THROW = ("dice.thrown", {"faces": [1, 2]})
STAKE = ("wager.placed", {"wager": "w1", "bet": "field", "stake": 500})
VOIDED = ("throw.voided", {"announced_by": "stickman", "flags": ["broken"]})
SPIN = ("ball.settled", {"pocket": "17"})

#  ruleset, the events after the opener, the result that is shown after each of them
SHOWN = [
    ("fr-craps", [STAKE, THROW, ("no_more_bets", {}), (VOIDED[0], VOIDED[1] | {"faces": [3, 3]}), VOIDED, SPIN],
     [None, "1-2", "1-2", "3-3", "3-3", "3-3"]),
    ("fr-roulette", [SPIN, THROW, STAKE, SPIN, ("no_more_bets", {}), SPIN],
     ["17", "17", None, "17", None, "17"]),
    ("fr-american-roulette", [SPIN, ("spin.voided", {"announced_by": "croupier", "reason": "mechanical"})],
     ["17", "17"]),
]  # fmt: skip


def recorded(
    tenant: Tenant, ruleset: str, *rest: tuple[str, dict[str, Any]], observes: Iterable[str] = ()
) -> LoggedStream:
    first = tenant.opener(ruleset, ruleset=ruleset, game=RULESETS[ruleset].game, observes=list(observes))
    events = [{**first, "seq": seq, "type": kind, "data": data} for seq, (kind, data) in enumerate(rest, start=2)]
    assert tenant.post(ruleset, [first, *events]).status_code == 201
    return tenant.stream(ruleset)


@pytest.mark.parametrize(("ruleset", "events", "shown"), SHOWN, ids=[row[0] for row in SHOWN])
def test_dice_lie_where_they_fell_and_a_pocket_is_shown_until_new_stakes(
    tenant: Tenant, ruleset: str, events: list[tuple[str, dict[str, Any]]], shown: list[str | None]
) -> None:
    stream = recorded(tenant, ruleset, *events)
    assert [frame.result for frame in playback_of(stream.pk, 2, 100).frames] == shown


@pytest.mark.parametrize(("faces", "total"), [([2, 4], "6"), ([-1, 3], "2")])
def test_the_dice_of_the_last_throw_are_drawn_even_if_they_cannot_be(
    tenant: Tenant, faces: list[int], total: str
) -> None:
    stream = recorded(tenant, "fr-craps", ("dice.thrown", {"faces": faces}), STAKE, STAKE)
    playback = playback_of(stream.pk, 4, 4)  # the result before it is known as text alone
    (svg,) = (draw(playback, index, language="en") for index in range(len(playback.frames)))
    assert f'data-role="outcome" x="1056" y="252">{total}</text>' in svg
    assert re.findall(r'data-die="1" data-face="(\d)" data-on=""', svg) == [str(faces[1])]


def test_a_chip_says_what_is_left_of_its_stake_and_lies_there_until_it_is_collected_or_paid(tenant: Tenant) -> None:
    stream = recorded(
        tenant,
        "fr-roulette",
        ("wager.placed", {"wager": "w1", "bet": "pair", "stake": 1200, "player": "p1"}),
        ("wager.placed", {"wager": "w2", "bet": "impair", "stake": 500, "player": "p2"}),
        ("wager.withdrawn", {"wager": "w1", "amount": 800}),
        ("ball.settled", {"pocket": "18"}),
        ("stakes.collected", {"wagers": ["w2"]}),
        ("ball.settled", {"pocket": "17"}),
        observes=["wagers", "payouts", "collections"],
    )
    playback = playback_of(stream.pk, 1, 7)
    chips = chips_of(playback)
    shown = {chip.key: (chip.wager.id, chip.wager.standing, chip.spot) for chip in chips.at.values()}
    amounts = [{shown[key][:2] for key in states_at(playback, chips, index)} for index in (2, 3)]
    assert amounts == [{("w1", 1200), ("w2", 500)}, {("w1", 400), ("w2", 500)}]
    assert len({spot for wager, _amount, spot in shown.values() if wager == "w1"}) == 1, "the chip stays where it is"
    lost = [frame.stakes["w2"] for frame in playback.frames[4:6]]
    assert [(stake.state, stake.is_collected) for stake in lost] == [("lost", False), ("lost", True)]
    assert [frame.stakes["w1"].state for frame in playback.frames[4:]] == ["won"] * 3, "nobody ever paid it"


def test_a_players_name_cannot_inject_markup_into_the_drawing(tenant: Tenant) -> None:
    stream = "hostile"
    bad = '"><script>alert(1)</script>'
    events = [
        tenant.opener(stream, observes=[]),
        {**tenant.opener(stream), "seq": 2, "type": "wager.placed"},
    ]
    events[1]["data"] = {"wager": "w1", "bet": "field", "stake": 500, "player": bad}
    assert tenant.post(stream, events).status_code in (201, 422)
    logged = LoggedStream.objects.filter(casino=tenant.casino, name=stream).first()
    if logged is None:  # such a name is not a valid player
        return
    svg = draw(playback_of(logged.pk, 1, 2), 1, language="en")
    assert "<script" not in svg
    ElementTree.fromstring(svg)


def test_the_api_shows_the_table_at_an_event(tenant: Tenant) -> None:
    stream, events = played(tenant, "fr-roulette")
    placed = next(event for event in events if event["type"] == "wager.placed")
    answer = tenant.get(f"/streams/{stream.name}/table?at={placed['seq']}").json()
    assert (answer["at"], answer["ruleset"], answer["bets_open"]) == (placed["seq"], "fr-roulette", True)
    (one,) = [each for each in answer["wagers"] if each["wager"] == placed["data"]["wager"]]
    assert (one["bet"], one["standing"], one["status"]) == (placed["data"]["bet"], placed["data"]["stake"], "open")
    assert tenant.get(f"/streams/{stream.name}/table").json()["at"] == events[-1]["seq"]
    assert tenant.get(f"/streams/{stream.name}/table?at=0").status_code == 422
    assert tenant.get(f"/streams/{stream.name}/table?at=1&to=2").status_code == 422
    assert Tenant().get(f"/streams/{stream.name}/table").status_code == 404


def test_the_page_of_a_table_shows_any_event_to_officers_of_its_casino_only(tenant: Tenant) -> None:
    stream, _ = played(tenant, "qc-craps")
    assert stream.pk < 0  # of an early day: addresses must take its sign
    address = f"/admin/audit/loggedstream/{stream.pk}/table/"
    own, other = (Officer.objects.create_user(name, password="x", is_staff=True) for name in ("own", "other"))
    client = Client()
    client.force_login(own)
    assert client.get(address).status_code in (403, 404)
    own.casinos.add(tenant.casino)
    other.casinos.add(Casino.objects.create(code="elsewhere", name="Elsewhere"))
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
    completing = next(step for step in data["steps"] if step["seq"] == finding.seq)
    assert focus["seq"] == finding.facts["decided_seq"] < finding.seq
    assert (focus["mark_kind"], completing["mark_kind"]) == ("deciding", "completing")
    assert completing["findings"]
    assert [key for key, stake in data["stakes"].items() if stake["disputed"]] == [finding.wager]
    assert "data-disputed" in content
    assert 'data-side="bank"' in content, "in the list of stakes it has the colour of who loses"


def test_a_client_that_asks_for_every_seq_fills_no_cache(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.felt.frames.MAX_FRAMES", 5)
    stream, _ = played(tenant, "fr-craps")
    cache.clear()
    for seq in range(6, 20):
        assert tenant.get(f"/streams/{stream.name}/table?at={seq}").status_code == 200
    assert not any(cache.has_key(name) for name in cached_names(stream.pk, range(6, 22)))
    playback_of(stream.pk, 20, 22)
    assert any(cache.has_key(name) for name in cached_names(stream.pk, [20])), "an officer who moves along has it"


def cached_names(stream_id: int, seqs: Iterable[int]) -> list[str]:
    """Return the names under which the states before these events would be cached, of up to five that are shown."""
    names = []
    for seq in seqs:
        batch = read.batch_holding(stream_id, seq - 1)
        assert batch is not None
        names += [f"felt:{batch.chain.hex()}:{seq}:{shown}:{digest_of({})}" for shown in range(6)]
    return names
