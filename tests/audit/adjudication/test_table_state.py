"""The table at an event, over a bounded number of events: what a fold from the beginning gives, or a refusal."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

import pytest

from audit.adjudication import replay, runs
from audit.adjudication.replay import advance
from audit.felt import frames, table_at
from audit.models import GamingTable, LoggedStream
from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import ENGINE_VERSION
from tests.audit.corrections.corrections_desk import approve, replayed
from tests.audit.tables import Tenant, numbered
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


def played(tenant: Tenant, ruleset: str) -> tuple[LoggedStream, list[dict[str, Any]]]:
    """Record a night with everything irregular in it."""
    GamingTable.objects.create(casino=tenant.casino, code=ruleset)
    night = play(
        ruleset,
        casino=tenant.code,
        code=ruleset,
        gaming_day=date(2010, 11, 19),
        seed=11,
        coups=60,
        irregularities=list(IRREGULARITIES),
    )
    for low in range(0, len(night.events), 900):
        assert tenant.post(night.stream, night.events[low : low + 900]).status_code == 201
    return tenant.stream(night.stream), night.events


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=5))
def test_from_a_snapshot_it_is_what_a_fold_from_the_beginning_gives(
    tenant: Tenant, ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, events = played(tenant, ruleset)
    assert all(each["type"] != "entry.corrected" for each in events[-2:])
    seqs = sorted(random.Random(3).sample([each["seq"] for each in events], 12))
    whole = {seq: table_at(stream.pk, seq) for seq in (*seqs, events[-1]["seq"])}
    monkeypatch.setattr(replay, "STEP_EVENTS", 150)
    cursor = 0
    while (progress := advance(stream.pk)) is not None and progress.behind:
        if progress.cursor < cursor or not progress.cursor:
            continue  # a correction has it begin again
        cursor = progress.cursor
        since = [seq for seq in whole if seq >= cursor]
        monkeypatch.setattr(frames, "MAX_FOLDED", sum(each["seq"] > cursor for each in events))
        assert {seq: table_at(stream.pk, seq) for seq in since} == {seq: whole[seq] for seq in since}
    monkeypatch.setattr(frames, "MAX_FOLDED", 0)
    assert table_at(stream.pk, 2**53 - 1) == whole[events[-1]["seq"]]


def come_with_odds(tenant: Tenant) -> list[dict[str, Any]]:
    """A come bet on 6 with odds; both win; the bet is paid, and its odds are not yet."""
    return numbered(
        tenant.opener("s", observes=[]),
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1_000, "player": "Anna"}),
        ("dice.thrown", {"faces": [4, 4]}),
        ("wager.placed", {"wager": "w2", "bet": "come", "stake": 1_000, "player": "Anna"}),
        ("dice.thrown", {"faces": [4, 2]}),
        ("wager.placed", {"wager": "w3", "bet": "come_odds", "base": "w2", "stake": 1_000, "player": "Anna"}),
        ("dice.thrown", {"faces": [3, 3]}),
        ("payout.made", {"wager": "w2", "winnings": 1_000, "stake_returned": 1_000}),
        ("player.left", {"player": "Bert"}),
    )


def test_odds_lie_on_the_number_of_their_wager_when_that_is_settled_already(tenant: Tenant) -> None:
    events = come_with_odds(tenant)
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    whole = table_at(stream_id, 9)
    assert whole is not None
    assert {wager["wager"]: wager["number"] for wager in whole["wagers"]} == {"w1": 8, "w3": 6}
    advance(stream_id)
    assert table_at(stream_id, 9) == whole


def test_a_correction_counts_for_the_events_before_it_once_two_officers_approved_it(tenant: Tenant) -> None:
    events = come_with_odds(tenant)
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    advance(stream_id)
    data = {"wager": "w1", "bet": "win", "stake": 77_700, "player": "Anna"}
    entry = {"corrects": 2, "data": data, "reason": "misread", "approved_by": "chef-1"}
    correction = events[-1] | {"seq": 10, "type": "entry.corrected", "data": entry}
    assert tenant.post("s", [correction]).status_code == 201

    def stakes() -> list[int]:
        answers = [table_at(stream_id, seq) for seq in (2, 9, 10)]
        return [answer["wagers"][0]["stake"] for answer in answers if answer is not None]

    assert stakes() == [events[1]["data"]["stake"]] * 3, "whether it waits for officers is not known yet"
    replayed(stream_id)
    assert stakes() == [events[1]["data"]["stake"]] * 3, "it waits"
    approve(tenant.casino, stream_id, 10)
    replayed(stream_id)
    assert stakes() == [77_700] * 3


def test_what_replay_has_not_come_near_is_a_503_that_says_when_to_ask_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, events = played(tenant, "fr-craps")
    monkeypatch.setattr(frames, "MAX_FOLDED", 30)
    for path in ("/table", f"/table?at={events[-1]['seq']}"):
        answer = tenant.get(f"/streams/{stream.name}{path}")
        assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "behind", "10")
        assert answer["Content-Type"] == "application/problem+json"
    assert tenant.get(f"/streams/{stream.name}/table?at={events[29]['seq']}").json()["at"] == events[29]["seq"]
    while (progress := advance(stream.pk)) is not None and progress.behind:
        continue
    assert tenant.get(f"/streams/{stream.name}/table").json()["at"] == events[-1]["seq"]
    answer = tenant.get(f"/streams/{stream.name}/table?at={events[30]['seq']}")
    assert (answer.status_code, answer.json()["code"]) == (409, "too-long"), "it will always take that many"
    assert "more than 30 events" in answer.json()["detail"]


def test_a_failed_run_leaves_the_table_at_every_event_of_a_usual_stream(tenant: Tenant) -> None:
    stream, events = played(tenant, "fr-craps")
    whole = table_at(stream.pk, events[40]["seq"])
    advance(stream.pk)
    runs.record_failure(stream.pk, ENGINE_VERSION, ZeroDivisionError())
    assert table_at(stream.pk, events[40]["seq"]) == whole
    assert tenant.get(f"/streams/{stream.name}/table").json()["at"] == events[-1]["seq"]
