"""The commands as a user runs them, by their output and exit status.

Most run here, from their arguments and standard streams on; what the process adds is tried with one of each kind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from django.conf import settings
from django.db import connection
from pytest_django import DjangoDbBlocker

from audit.event_store import audit_trail
from casino.manage import main

ROOT = Path(__file__).parents[2]


def manage(*arguments: str, stdin: bytes = b"", **environment: str) -> CompletedProcess[bytes]:
    """Run ``manage.py`` with ``arguments`` in a process of its own."""
    deployed = {**os.environ, "DJANGO_SETTINGS_MODULE": "casino.settings", **environment}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=deployed, input=stdin, capture_output=True, check=False)


def here(*arguments: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
    """Run ``manage.py`` with ``arguments`` in this process; return what it wrote and its exit status."""
    out, err = BytesIO(), BytesIO()
    written = TextIOWrapper(out, encoding="utf-8"), TextIOWrapper(err, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(written[0]), redirect_stderr(written[1]):
        patch.setattr(sys, "argv", ["manage.py", *arguments])
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin), encoding="utf-8"))
        try:
            status = main()
        except SystemExit as ended:
            status = int(str(ended.code))
        for stream in written:
            stream.flush()
    return CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("night") / "night.ndjson"
    arguments = ("--ruleset", "fr-craps", "--coups", "40", "--irregularities", "dice-changed-during-point-series")
    done = here("simulate", *arguments, "--out", str(path))
    assert done.returncode == 0, done.stderr
    assert b": dice-changed-during-point-series" in done.stderr
    return path


def test_adjudicate_answers_the_object_of_the_contract(night: Path) -> None:
    done = here("adjudicate", str(night), "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert list(answer) == ["stream", "ruleset", "events", "wagers", "findings", "corrections", "unchecked", "state"]
    (finding,) = answer["findings"]
    assert finding["rule"] == "dice-changed-during-point-series"
    assert finding["severity"] == "major"  # the chef de table decided it
    assert finding["provision"] == "art. 55-7 al. 4"
    assert set(finding["message"]) == {"en", "fr"}


def test_adjudicate_reads_standard_input_in_any_order(night: Path) -> None:
    lines = night.read_bytes().splitlines(keepends=True)
    turned = manage("adjudicate", "-", "--json", stdin=b"".join(reversed(lines)))
    assert turned.returncode == 0
    assert turned.stdout == here("adjudicate", str(night), "--json").stdout


@pytest.mark.parametrize(("language", "title"), [("en", "Dice changed during a point series"), ("fr", "Dés changés")])
def test_the_report_shows_the_clause_with_the_finding(night: Path, language: str, title: str) -> None:
    done = here("adjudicate", str(night), "--language", language)
    output = done.stdout.decode()
    assert done.returncode == 0
    assert title in output
    assert "art. 55-7 al. 4" in output
    assert "Le tireur peut demander que les dés soient changés" in output


def test_bad_lines_are_reported_by_number_and_do_not_stop_the_rest(night: Path) -> None:
    lines = night.read_bytes().splitlines(keepends=True)
    spoiled = b"".join([lines[0], b"not json\n", b"\n", *lines[1:3], b'{"stream": 7}\n', *lines[3:]])
    done = here("adjudicate", "-", "--json", stdin=spoiled)
    assert done.returncode == 1
    reported = done.stderr.decode().splitlines()
    assert [line.split(":")[0] for line in reported] == ["line 2", "line 6"]
    assert json.loads(done.stdout)["events"] == len(lines)


def test_strict_stops_at_the_first_bad_line(night: Path) -> None:
    done = here("adjudicate", "-", "--json", "--strict", stdin=b"not json\n" + night.read_bytes())
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode().startswith("line 1:")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("adjudicate", "no-such-file"), b"", "No such file"),
        (("adjudicate", "-"), b"", "there is no event"),
        (("adjudicate",), b"", "required: FILE"),
        (("simulate",), b"", "give --out PATH"),
        (("simulate", "--out", "-", "--irregularities", "nonsense"), b"", "no such irregularity: nonsense"),
        (("simulate", "--out", "-", "--batch", "0"), b"", "--batch is from 1 to 1,000"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_invalid_call_exits_2_with_a_reason(arguments: tuple[str, ...], stdin: bytes, message: str) -> None:
    done = here(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_several_streams_in_one_file_are_an_error(night: Path) -> None:
    other = night.read_bytes().replace(b"deauville.C1", b"deauville.C2")
    done = here("adjudicate", "-", stdin=night.read_bytes() + other)
    assert done.returncode == 2
    assert b"give one stream a file" in done.stderr


def test_simulate_lists_its_irregularities_and_tables() -> None:
    listed = here("simulate", "--list-irregularities").stdout.decode()
    assert "dice-changed-during-point-series" in listed
    assert here("simulate", "--list-tables", "--tables", "3").stdout.decode().split() == ["C1", "R1", "A1"]


def test_simulate_plays_a_night_of_people_that_adjudicates(tmp_path: Path) -> None:
    path = tmp_path / "human.ndjson"
    here("simulate", "--human", "--ruleset", "fr-craps", "--coups", "60", "--out", str(path))
    assert b"payout.recovered" in path.read_bytes()
    printed = here("adjudicate", str(path)).stdout.decode()
    assert "Put right within the coup" in printed
    assert "critical" not in printed


@pytest.fixture
def no_database(django_db_blocker: DjangoDbBlocker, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Django's connections lead to a port on which nobody listens."""
    # As deployed: else Django warns before each command.
    monkeypatch.setattr(settings, "AUTHENTICATION_BACKENDS", settings.ALL_AUTHENTICATION_BACKENDS)
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    with django_db_blocker.unblock():
        yield
        connection.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("createkey", "--casino", "deauville"),
        ("revokekey", "0123456789ab"),
        ("verify",),
        ("sequence", "--once"),
        ("logkey",),
        ("migrate",),
        ("createsuperuser", "--noinput", "--username", "x", "--email", "x@example.org"),
    ],
)
@pytest.mark.usefixtures("no_database")
def test_a_command_without_its_database_says_so_in_one_line(arguments: tuple[str, ...]) -> None:
    assert _has_no_database(here(*arguments))


def test_a_process_without_its_database_says_so_in_one_line(tmp_path: Path) -> None:
    nowhere = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "CABOCHON_DATA": str(tmp_path)}
    assert _has_no_database(manage("verify", **nowhere))


def _has_no_database(done: CompletedProcess[bytes]) -> bool:
    [line] = done.stderr.decode().splitlines()
    return done.returncode == 1 and line.startswith("The database does not answer: ")


def test_a_command_of_an_account_without_a_name_goes_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54_321_987)
    assert audit_trail.account_name() == "uid 54321987"
