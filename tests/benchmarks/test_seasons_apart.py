"""Seasons written apart: they can be read again, are honest where nothing is planted, and differ where something is."""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import settlement
from benchmarks import seasons_apart
from benchmarks.seasons_apart import FRAUDS, Season, Stream, season
from benchmarks.seasons_apart.__main__ import main
from benchmarks.seasons_apart.law import WHEELS
from tests.long_forms import in_short

ALL_GAMES = 6
"""Tables, so that every ruleset has one."""

BY_CHANCE = {name for name, scheme in FRAUDS.items() if scheme.kind in ("wheel", "dice set")} | {
    "wheel_team", "steered_ball", "switched_dice", "dice_slider", "set_sevens"
}  # fmt: skip
"""Frauds that change what chance does: no single act of theirs shows."""


@cache
def honest(mishaps: float) -> tuple[Season, list[Stream]]:
    one = season(3, nights=2, tables=ALL_GAMES, frauds=[], mishaps=mishaps)
    return one, list(one.streams)


def findings(stream: Stream, severities: tuple[str, ...]) -> list[dict[str, Any]]:
    answer = settlement.adjudicate([json.dumps(event) for event in stream.events]).as_dict()
    return [finding for finding in answer["findings"] if finding["severity"] in severities]


def test_a_season_is_the_same_however_often_it_is_read() -> None:
    one, again = (season(5, nights=2, tables=3, frauds=["past_poster", "biased_sector"]) for _ in range(2))
    first = list(one.streams)
    assert first == list(one.streams) == list(again.streams)
    assert one.planted == again.planted
    assert one.duties == again.duties
    assert first != list(season(6, nights=2, tables=3, frauds=["past_poster", "biased_sector"]).streams)


def test_it_shares_no_code_with_the_product() -> None:
    for path in Path(seasons_apart.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            named = [node.module] if isinstance(node, ast.ImportFrom) else []
            named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in named:
                ours = str(module).startswith("benchmarks.seasons_apart")
                assert ours or str(module).split(".")[0] in sys.stdlib_module_names, path


def test_a_casino_without_mistakes_has_no_finding_that_is_more_than_information() -> None:
    _, streams = honest(0)
    played = [stream for stream in streams if stream.table]
    assert {stream.ruleset for stream in played} == {"fr-roulette", "fr-american-roulette", "fr-craps", "qc-craps"}
    assert [finding for stream in played for finding in findings(stream, ("critical", "major", "minor"))] == []


@pytest.mark.faults
def test_the_findings_of_an_honest_casino_are_its_mistakes() -> None:
    one, streams = honest(1)
    wagers = {(deed.stream, deed.wager) for deed in one.deeds if deed.wager}
    events = {(deed.stream, deed.seq) for deed in one.deeds}
    found = [
        (stream.name, each) for stream in streams if stream.table for each in findings(stream, ("critical", "major"))
    ]
    assert found
    assert {deed.cause for deed in one.deeds} == {"mishap"}
    others = [
        (name, each["rule"], each["seq"])
        for name, each in found
        if (name, each.get("wager")) not in wagers and (name, each["seq"]) not in events
    ]
    assert others == []


def test_no_chip_is_lost_where_nobody_errs() -> None:
    _, streams = honest(0)
    bought, cashed, gained = Counter[str](), Counter[str](), Counter[str]()
    for stream in streams:
        rack, stakes = 0, {}
        for event in stream.events:
            data = event["data"]
            match event["type"]:
                case "session.opened":
                    rack = data["float"]
                case "bank.filled":
                    rack += data["amount"]
                case "bank.credited":
                    rack -= data["amount"]
                case "buy_in.recorded":
                    rack -= data["amount"]
                    bought[stream.gaming_day] += data["amount"]
                case "wager.placed":
                    stakes[data["wager"]] = data["stake"]
                    rack += data["stake"] + data.get("commission", 0)
                    gained[stream.gaming_day] -= data["stake"] + data.get("commission", 0)
                case "wager.withdrawn":
                    rack -= stakes[data["wager"]]
                    gained[stream.gaming_day] += stakes[data["wager"]]
                case "payout.made":
                    rack -= data["winnings"] + data["stake_returned"]
                    gained[stream.gaming_day] += data["winnings"] + data["stake_returned"]
                case "session.closed":
                    assert data["float"] == rack, stream.name
                case "cash_desk.recorded":
                    (bought if data["direction"] == "in" else cashed)[stream.gaming_day] += data["amount"]
    assert len(cashed) == 2
    for day, amount in cashed.items():
        assert amount == bought[day] + gained[day]


def test_duties_say_who_deals() -> None:
    one, streams = honest(1)
    shifts = {(shift.day, shift.table, shift.croupier) for shift in one.duties}
    for stream in streams:
        paid = {event["actor"] for event in stream.events if event["type"] == "payout.made"}
        assert all((stream.gaming_day, stream.table, croupier) in shifts for croupier in paid)
    assert set(one.croupiers) >= {shift.croupier for shift in one.duties}
    assert not set(one.croupiers) & set(one.inspectors + one.players)


@cache
def plain() -> list[Stream]:
    return list(season(11, nights=12, tables=3, frauds=[]).streams)


@pytest.mark.parametrize("fraud", in_short(FRAUDS, every=5))
def test_a_planted_fraud_changes_the_events(fraud: str) -> None:
    one = season(11, nights=12, tables=3, frauds=[fraud])
    (planted,) = one.planted
    assert (planted.fraud, planted.kind) == (fraud, FRAUDS[fraud].kind)
    assert planted.subject
    assert 0 <= planted.first <= planted.last < 12
    changed = False
    for at, (mine, other) in enumerate(zip(one.streams, plain(), strict=True)):
        if at // 4 < planted.first:
            assert mine == other
        changed |= mine != other
        if changed and (fraud in BY_CHANCE or any(deed.cause == fraud for deed in one.deeds)):
            return
    pytest.fail("nothing of it shows")


def fullest_sector(streams: list[Stream], wheel: str) -> float:
    """Return the share of the nine neighbouring pockets that came up most."""
    came, order = Counter[str](), WHEELS["fr-roulette"]
    for stream in streams:
        if stream.ruleset == "fr-roulette" and stream.events[0]["data"]["wheel"] == wheel:
            came.update(event["data"]["pocket"] for event in stream.events if event["type"] == "ball.settled")
    return max(sum(came[order[(at + step) % 37]] for step in range(9)) for at in range(37)) / came.total()


@pytest.mark.faults
def test_a_biased_wheel_favours_a_sector() -> None:
    one = season(2, nights=20, tables=1, frauds=["biased_sector"])
    fair = season(2, nights=20, tables=1, frauds=[])
    assert one.planted[0].subject == ("W1",)
    assert fullest_sector(list(fair.streams), "W1") < 0.28 < 0.3 < fullest_sector(list(one.streams), "W1")


@pytest.mark.faults
def test_loaded_dice_favour_a_face() -> None:
    one = season(2, nights=12, tables=3, frauds=["loaded_dice"])
    faces, others = Counter[int](), Counter[int]()
    for stream in one.streams:
        if stream.ruleset == "fr-craps":
            loaded = stream.events[0]["data"]["dice_set"] in one.planted[0].subject
            for event in stream.events:
                if event["type"] == "dice.thrown":
                    (faces if loaded else others).update(event["data"]["faces"])
    assert max(faces.values()) / faces.total() - 1 / 6 > 2 * abs(max(others.values()) / others.total() - 1 / 6) > 0


def test_a_fraud_that_nothing_permits_is_refused() -> None:
    with pytest.raises(ValueError, match="loaded_dice"):
        season(1, nights=1, tables=2, frauds=["loaded_dice"])


@pytest.mark.faults
def test_the_command_writes_each_season_with_what_is_planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["seasons", "--seeds", "2", "--nights", "1", "--tables", "3", "--some", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", argv)
    main()
    assert len(list(tmp_path.iterdir())) == 8
    streams = [json.loads(line) for line in (tmp_path / "1.events.jsonl").read_text().splitlines()]
    assert [stream["table"] for stream in streams] == ["T1", "T2", "T3", ""]
    assert len((tmp_path / "2.planted.jsonl").read_text().splitlines()) == 2
