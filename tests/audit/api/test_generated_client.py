"""The interface's own document is enough: a client generated from it posts a night, and reads its findings."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit.api.schema import event_name
from settlement import adjudicate
from tests.client.record import CASINO, Record, record

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("openapi_python_client") is None, reason="openapi-python-client is not installed"
)
SESSION = Path(__file__).with_name("typed_session.py")
CASINO_OF_PEOPLE = "deauville"
CONFIGURATION = "package_name_override: cabochon_api\npost_hooks: []\n"
ADJUDICATE = """
from audit.adjudication.replay import advance
from audit.models import LoggedStream
for stream in LoggedStream.objects.filter(is_of_desk=False):
    while advance(stream.stream_id).behind:
        pass
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[Record]:
    with record(tmp_path_factory.mktemp("generated") / "record", migrated_template) as started:
        yield started


@pytest.fixture(scope="module")
def package(running: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the client is, generated from what the server answers."""
    folder = tmp_path_factory.mktemp("generated")
    with urllib.request.urlopen(f"{running.url}/api/v1/schema/?format=json", timeout=60) as answer:
        (folder / "openapi.json").write_bytes(answer.read())
    (folder / "config.yaml").write_text(CONFIGURATION)
    command = [str(Path(sys.executable).with_name("openapi-python-client")), "generate", "--path", "openapi.json"]
    command += ["--meta", "none", "--config", "config.yaml", "--output-path", str(folder / "cabochon_api")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(package: Path, running: Record, *words: str) -> list[str]:
    """Run the session of the integrator; return its lines."""
    arguments = [running.url, running.key, CASINO, datetime.now(UTC).date().isoformat(), *words]
    done = subprocess.run(
        [sys.executable, str(SESSION), *arguments],
        env={"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.faults
def test_a_typed_session_is_posted_and_its_finding_read(package: Path, running: Record) -> None:
    assert run(package, running, "post") == ["1 5 6 64", "gap 6"]
    running.manage("shell", "--verbosity", "0", "--command", ADJUDICATE)
    standing, finding, message = run(package, running, "read")
    assert standing == "5 irregular"
    assert finding == "4 payout-overpaid critical 100 player"
    assert message.replace("\u00a0", " ").endswith("La banque a payé 1,00 € de trop.")


@pytest.mark.faults
def test_a_checker_of_types_agrees_with_the_session(package: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", str(SESSION)],
        cwd=package,
        env={"MYPYPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip().endswith("no issues found in 1 source file"), done.stdout + done.stderr


@pytest.mark.faults
def test_a_night_of_people_goes_through_its_models_and_its_findings_are_read(
    package: Path, running: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = _night(running, tmp_path)
    monkeypatch.syspath_prepend(str(package))
    models: Any = importlib.import_module("cabochon_api.models")
    streams: Any = importlib.import_module("cabochon_api.api.streams.streams_events_create")
    findings: Any = importlib.import_module("cabochon_api.api.findings.findings_list")
    client = importlib.import_module("cabochon_api").AuthenticatedClient(base_url=running.url, token=_key(running))
    expected, types = set(), set()
    for name, events in night.items():
        typed = [_model(models, event).from_dict(event) for event in events]
        assert [_sent(event.to_dict()) for event in typed] == [_sent(event) for event in events]
        answer = streams.sync(name, client=client, body=typed)
        assert isinstance(answer, models.Receipt), answer
        assert answer.next_seq == len(events) + 1
        types |= {event["type"] for event in events}
        expected |= {(name, each.seq, each.rule) for each in adjudicate(map(json.dumps, events)).findings}
    running.manage("shell", "--verbosity", "0", "--command", ADJUDICATE)
    found = {
        (finding.stream, finding.seq, finding.rule)
        for name in night
        for finding in findings.sync(client=client, stream=name).results
    }
    assert found == expected
    assert len(found) > 3
    assert len(types) > 15


def _night(running: Record, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the events of three tables of one night, by stream."""
    day = (datetime.now(UTC).date() - timedelta(days=2)).isoformat()  # of an evening to come, clocks would be ahead
    options = ("--casino", CASINO_OF_PEOPLE, "--human", "--tables", "3", "--coups", "30", "--gaming-day", day)
    running.manage("simulate", *options, "--out", str(folder))
    files = [[json.loads(line) for line in file.read_text().splitlines()] for file in sorted(folder.iterdir())]
    return {events[0]["stream"]: events for events in files if events[0]["type"] == "session.opened"}


def _key(running: Record) -> str:
    tables = running.manage("simulate", "--list-tables", "--tables", "3").split()
    registered = [word for table in tables for word in ("--register", table)]
    return running.manage("createkey", "--casino", CASINO_OF_PEOPLE, *registered)


def _model(models: Any, event: dict[str, Any]) -> Any:
    """Return the generated class of an event: that of an integrator's own types is one."""
    return models.ExtensionEvent if event["type"].startswith("x.") else getattr(models, event_name(event["type"]))


def _sent(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with what it leaves to its default, and its instant however that is written."""
    return {"v": 1, "data": {}, **event, "occurred_at": datetime.fromisoformat(event["occurred_at"])}
