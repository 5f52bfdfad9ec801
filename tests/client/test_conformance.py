"""``cabochon check URL`` against the real record: it plays, it watches systems that are right and wrong, it judges."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cabochon_client import Client
from cabochon_client.conformance.scripts import FAMILIES, GAMES, SCRIPTS, Script, steps_of
from cabochon_client.link import Link
from django.core.management import call_command

from audit.management.commands.eventpage import FAMILIES as FAMILIES_OF_THE_RECORD
from tests.casino.processes import ENVIRONMENT
from tests.client.record import ROOT, Record, command, record
from tests.client.record import SANDBOX as CASINO

Event = dict[str, Any]
Plays = Callable[["TableSystem", str], None]


@pytest.fixture(scope="module")
def sandboxed(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[tuple[Record, str, str]]:
    """A record with a sandbox: the record, and two keys of the sandbox."""
    folder = tmp_path_factory.mktemp("conformance") / "record"
    with record(folder, migrated_template, is_adjudicating=True) as running:
        old, new, _every = running.sandbox_keys
        yield running, old, new


OFTEN = """
import sys
from cabochon_client.cli import main
from cabochon_client.conformance import read_back, run
run.POLL_S = read_back.POLL_S = 0.1
sys.exit(main())
"""
"""The command, looking more often whether a session is there and adjudicated."""


def run(url: str, keys: str, folder: Path, *options: str) -> tuple[int, str, str]:
    """Run a check; return its exit status, what it prints, and the report."""
    report = folder / "report.html"
    words = ("check", url, "--report", str(report), *options)
    done = command(*words, program=("-c", OFTEN), CABOCHON_KEY=keys, CABOCHON_SPOOL=str(folder / "spool.db"))
    return done.returncode, done.stdout + done.stderr, report.read_text() if report.exists() else ""


class WellFormed(HTMLParser):
    """Reads a page, and fails where an element is not closed or something comes from elsewhere."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.tables = self.captions = 0
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        assert not any(name in ("src", "style") or name.startswith("on") for name, _ in attrs)
        assert all((value or "").startswith("#") for name, value in attrs if name == "href")
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_runner_plays_every_game(sandboxed: tuple[Record, str, str], tmp_path: Path) -> None:
    running, old, new = sandboxed
    for game in GAMES:
        status, printed, _page = run(running.url, f"{new},{old}", tmp_path, "--game", game, "--script", "orderly")
        assert status == 0, printed
        assert "1 of 1 sessions conform" in printed


@pytest.mark.faults
@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_runner_plays_every_script_and_everything_conforms(
    sandboxed: tuple[Record, str, str], tmp_path: Path, game: str
) -> None:
    running, old, new = sandboxed
    status, printed, page = run(running.url, f"{new},{old}", tmp_path, "--game", game)
    assert status == 0, printed
    assert f"{len(SCRIPTS)} of {len(SCRIPTS)} sessions conform" in printed
    shown = WellFormed(page)
    assert shown.headings.count("h2") == len(SCRIPTS)
    assert shown.tables == shown.captions > 0
    for script in SCRIPTS:
        assert f">{script.title}</h2>" in page
    for message in (
        "clock-ahead",
        "events-lost",
        "wager.placed \u00d7 2",
        "prefers-color-scheme: dark",
        "@media print",
    ):
        assert message in page


def test_without_a_second_key_one_script_is_not_played_and_nothing_passes_for_it(
    sandboxed: tuple[Record, str, str], tmp_path: Path
) -> None:
    running, key, _other = sandboxed
    status, printed, page = run(running.url, key, tmp_path, "--script", "rotation")
    assert status == 1
    assert "It needs two keys" in printed
    assert "not played" in page


def test_nothing_is_played_at_a_casino(sandboxed: tuple[Record, str, str], tmp_path: Path) -> None:
    running, _key, _other = sandboxed
    before = running.count()
    status, printed, page = run(running.url, running.key, tmp_path)
    assert status == 3
    assert "not of a sandbox" in printed
    assert page == ""
    assert running.count() == before


class TableSystem:
    """A table system of a vendor: it records what is played at its table, and sends it by the client or by hand."""

    def __init__(self, running: Record, keys: Sequence[str], folder: Path) -> None:
        self.running, self.keys, self.folder = running, list(keys), folder

    def events(self, script: str) -> list[Event]:
        """Return what happened, as a right table system has it: types, data, times; no numbers yet."""
        now = datetime.now().astimezone()
        begins = {"offline": now - timedelta(hours=2, minutes=10), "clock": now + timedelta(minutes=10)}.get(
            script, now - timedelta(minutes=2)
        )
        events: list[Event] = []
        wagers = 0
        for number, step in enumerate(steps_of(GAMES["craps"])):
            data = dict(step.data)
            wagers += step.type == "wager.placed"
            if step.type in ("wager.placed", "payout.made"):
                data["wager"] = f"{script}-{wagers}"
            if step.type == "session.opened":
                data |= {"casino": CASINO, "table": "T1", "gaming_day": f"{now:%Y-%m-%d}", "ruleset": "fr-craps"}
                data |= {"observes": ["wagers", "results", "payouts", "bank"]}
            occurred_at = (begins + timedelta(seconds=10 * number)).isoformat()
            events.append({"type": step.type, "occurred_at": occurred_at, "data": data})
        return events

    def send(self, events: Sequence[Event], *, stream: str = "", first: int = 1, key: str = "") -> str:
        """Send events in one request, as they are."""
        stream = stream or f"vendor.T1.{uuid4().hex}"
        body = [{**each, "stream": stream, "seq": seq} for seq, each in enumerate(events, first)]
        link = Link(self.running.url)
        answer = link.ask(
            "POST", f"/api/v1/streams/{stream}/events", key=key or self.keys[0], body=json.dumps(body).encode()
        )
        link.close()
        assert answer.status == 201, answer.body
        return stream

    def spool(self, events: Sequence[Event]) -> None:
        """Send events with the client, in two batches."""
        stream = f"vendor.T1.{uuid4().hex}"
        with Client(self.folder / f"{stream}.db", self.running.url, self.keys[:1]) as client:
            for part in (events[:4], events[4:]):
                client.append(stream, part)
                assert client.flush(30)


def right(system: TableSystem, script: str) -> None:
    events = system.events(script)
    if script == "lossy":
        events[4:5] = [{**events[4], "type": "events.lost", "data": {"through": 5, "reason": "spool_lost"}}]
    if script == "rotation":
        stream = system.send(events[:4], key=system.keys[1])
        system.send(events[4:], stream=stream, first=5)
    else:
        system.spool(events)


def at_once(system: TableSystem, script: str) -> None:
    system.send(system.events(script))


def whole_euros(system: TableSystem, script: str) -> None:
    events = system.events(script)
    events[4]["data"]["stake"] = 12
    system.spool(events)


def stamped_when_sent(system: TableSystem, script: str) -> None:
    now = datetime.now().astimezone().isoformat()
    system.spool([{**each, "occurred_at": now} for each in system.events(script)])


def renumbered(system: TableSystem, script: str) -> None:
    events = system.events(script)
    system.spool([*events[:4], *events[5:]])


def one_key(system: TableSystem, script: str) -> None:
    system.spool(system.events(script))


def own_clock_corrected(system: TableSystem, script: str) -> None:
    system.spool(system.events("orderly"))


def paid_wrong(system: TableSystem, script: str) -> None:
    events = system.events(script)
    events[3]["data"]["winnings"] = 1500
    system.spool(events)


def watch(system: TableSystem, plays: Plays, scripts: Sequence[str]) -> tuple[int, str]:
    """Have the runner watch while a table system plays each script when it is asked to."""
    named = [word for name in scripts for word in ("--script", name)]
    report = system.folder / "watched.html"
    arguments = ["check", system.running.url, "--watch", "--timeout", "60", "--report", str(report), *named]
    environment = {
        **ENVIRONMENT,
        "PYTHONPATH": str(ROOT / "client"),
        "HOME": os.environ.get("HOME", "/"),
        "CABOCHON_KEY": system.keys[0],
        "CABOCHON_SPOOL": str(system.folder / "watcher.db"),
    }
    runner = subprocess.Popen(
        [sys.executable, "-u", "-c", OFTEN, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    end = threading.Timer(150, runner.kill)
    end.start()
    printed, left = [], list(scripts)
    assert runner.stdout is not None
    with runner.stdout as lines:
        for line in lines:
            printed.append(line)
            if "Waiting for the next new session" in line:
                plays(system, left.pop(0))
    status = runner.wait()
    end.cancel()
    assert left == []
    WellFormed(report.read_text())
    return status, "".join(printed)


def test_a_table_system_that_is_right_conforms(sandboxed: tuple[Record, str, str], tmp_path: Path) -> None:
    running, old, new = sandboxed
    status, printed = watch(TableSystem(running, [new, old], tmp_path), right, [each.name for each in SCRIPTS])
    assert status == 0, printed
    assert f"{len(SCRIPTS)} of {len(SCRIPTS)} sessions conform" in printed


WRONG: dict[str, tuple[Plays, str]] = {
    "amounts": (whole_euros, "stake is 12, not 1250"),
    "offline": (stamped_when_sent, "occurred_at is when it happened at the table, not when it was sent"),
    "lossy": (renumbered, "Declare what is lost for good with events.lost"),
    "rotation": (one_key, "The session was sent with 1 keys"),
    "clock": (own_clock_corrected, "clock-ahead is found, as it has to be"),
    "orderly": (paid_wrong, "winnings is 1500, not 1000"),
    "repeated": (at_once, "Send what there is when it happens"),
}
"""By script, what a table system does wrong when it plays it, and what the runner says of that."""


@pytest.mark.faults
def test_a_table_system_that_is_wrong_is_named_as_such(sandboxed: tuple[Record, str, str], tmp_path: Path) -> None:
    running, old, new = sandboxed
    system = TableSystem(running, [new, old], tmp_path)
    status, printed = watch(system, lambda system, script: WRONG[script][0](system, script), list(WRONG))
    assert status == 1
    assert f"0 of {len(WRONG)} sessions conform" in printed
    judged = re.findall(r"^NO  .*\n(?:    .*\n)*", printed, re.MULTILINE)
    assert len(judged) == len(WRONG), printed
    for (_plays, message), verdict in zip(WRONG.values(), judged, strict=True):
        assert message in verdict
        assert printed.count(message) == 1, f"of this session alone: {message}"


def test_simulated_nights_conform_and_irregular_ones_do_not(sandboxed: tuple[Record, str, str], tmp_path: Path) -> None:
    running, _key, _other = sandboxed
    _old, _new, every = running.sandbox_keys
    yesterday = (datetime.now().astimezone().date() - timedelta(days=1)).isoformat()
    play = ("simulate", "--casino", CASINO, "--tables", "1", "--coups", "30", "--gaming-day", yesterday)
    for seed, irregular, expected in (("1", (), 0), ("2", ("--irregularities", "payout-underpaid"), 1)):
        out = tmp_path / f"{seed}.ndjson"
        call_command(*play, "--ruleset", "fr-craps", "--seed", seed, *irregular, "--out", str(out))
        events = [json.loads(line) for line in out.read_text().splitlines()]
        stream = f"simulated.{seed}.{uuid4().hex[:8]}"
        spooled = [{**each, "stream": stream} for each in events]
        with Client(tmp_path / f"{seed}.db", running.url, every) as client:
            client.put(spooled)
            assert client.flush(60)
            assert client.flush(60, sealed=True)
            assert client.status().receipts == {"unchecked": 1}
        status, printed, page = run(running.url, every, tmp_path, "--stream", stream)
        assert status == expected, printed
        assert ("does not conform" in page) == bool(irregular)


def test_the_families_are_those_of_the_record() -> None:
    assert {name: frozenset(types) for name, types in FAMILIES.items()} == {
        name: frozenset(types) for name, types in FAMILIES_OF_THE_RECORD.items()
    }


def test_every_script_has_a_name_of_its_own_and_knows_its_checks() -> None:
    from cabochon_client.conformance.judge import CHECKS
    from cabochon_client.conformance.play import _PLAYS

    names = [script.name for script in SCRIPTS]
    assert len({*names}) == len(names) == len(_PLAYS)
    assert all(isinstance(script, Script) and {*script.checks} <= {*CHECKS} for script in SCRIPTS)
