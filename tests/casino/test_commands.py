"""Every command says in one line what is wrong with its database, and needs no name for the account that runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import get_commands

from audit.event_store.audit_trail import account_name
from tests.casino.processes import ENVIRONMENT

ROOT = Path(__file__).parents[2]

WITHOUT_DATABASE = {"adjudicate", "casediagram", "eventpage", "fairness", "simulate", "standingdiagram"}

NEED_DATABASE: dict[str, tuple[str, ...]] = {
    "archive": (),
    "corrections": ("list",),
    "coverage": ("--stream", "s"),
    "createkey": ("--casino", "c"),
    "createsuperuser": ("--noinput", "--username", "dora", "--email", "dora@example.com"),
    "dbaccounts": (),
    "distribute": (),
    "evidence": ("--finding", "1"),
    "exchanges": ("--casino", "c", "--day", "2026-01-01"),
    "import": ("--key", "cab_x", "--mapping", str(ROOT / "docs" / "import-example.toml"), "/dev/null"),
    "keep": (),
    "ledger": ("--casino", "c"),
    "logkey": (),
    "migrate": (),
    "quarantine": (),
    "reconcile": ("--casino", "c", "--day", "2026-01-01"),
    "recover": ("--officer", "a", "--officer", "b", "--reason", "r"),
    "register": ("list",),
    "replay": ("--stream", "s"),
    "revokekey": ("x",),
    "sandbox": ("--empty", "c"),
    "sequence": ("--once",),
    "signon": (),
    "tiles": ("--output", "tiles"),
    "verify": (),
    "welcome": (),
}
"""Each command that needs the database, with arguments that are in order."""

RUN_ALL = """
import contextlib, io, json, sys
sys.path.insert(0, ".")
import manage
answers = {}
for name, arguments in json.loads(sys.argv[1]).items():
    sys.argv, sys.stdin, errors = ["manage.py", name, *arguments], io.StringIO(""), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = manage.main()
        except SystemExit as end:
            code = end.code
    answers[name] = [code, errors.getvalue()]
print(json.dumps(answers))
"""


def run_all(commands: dict[str, tuple[str, ...]], database: str, data: Path) -> dict[str, Any]:
    """Run commands as ``manage.py`` does, one after the other; return the status and the errors of each."""
    environment = {**ENVIRONMENT, "DATABASE_URL": database, "CABOCHON_DATA": str(data), "CABOCHON_WEB_PASSWORD": "w"}
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(commands)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_every_command_is_in_one_of_the_two_tables() -> None:
    ours = {name for name, app in get_commands().items() if app == "audit"}
    assert ours == WITHOUT_DATABASE | set(NEED_DATABASE) - {"createsuperuser", "migrate"}


def test_a_command_whose_database_does_not_answer_says_so_in_one_line(tmp_path: Path) -> None:
    answers = run_all(NEED_DATABASE, "postgres://a:b@127.0.0.1:1/cabochon", tmp_path)
    for name, (code, errors) in answers.items():
        assert code == 1, name
        assert len(errors.splitlines()) == 1, f"{name}: {errors}"
        assert errors.startswith("The database does not answer: "), f"{name}: {errors}"


def test_a_command_on_a_database_that_is_not_migrated_says_so_in_one_line(tmp_path: Path, empty_url: str) -> None:
    others = {"migrate", "dbaccounts", "sequence", "distribute"}  # of which the last wants a cluster first
    commands = {name: NEED_DATABASE[name] for name in set(NEED_DATABASE) - others}
    for name, (code, errors) in run_all(commands, empty_url, tmp_path).items():
        assert "Traceback" not in errors
        assert code == 1, f"{name}: {errors}"
        assert "manage.py migrate" in errors.splitlines()[-1], f"{name}: {errors}"


def test_a_command_that_its_account_may_not_run_says_so_in_one_line(tmp_path: Path, superuser_url: str) -> None:
    with psycopg.connect(superuser_url, autocommit=True) as server:
        server.execute("create role of_nobody login password 'of_nobody'")
    address = superuser_url.replace("//cabochon:", "//of_nobody:").split("@")[1]
    try:
        answers = run_all({"verify": (), "keep": ()}, f"postgres://of_nobody:of_nobody@{address}", tmp_path)
    finally:
        with psycopg.connect(superuser_url, autocommit=True) as server:
            server.execute("drop role of_nobody")
    for name, (code, errors) in answers.items():
        assert code == 1, name
        assert errors.splitlines()[-1].startswith("The account of DATABASE_URL may not do this"), f"{name}: {errors}"


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="only root runs commands as somebody else")
def test_a_number_without_a_name_runs_commands_without_a_home() -> None:
    """As ``docker run --user 12345``: no account, no home, no variable that names a user."""
    for program in (
        "from audit.event_store.audit_trail import account_name; print(account_name())",
        "import manage, sys; sys.argv = ['manage.py', 'simulate', '--list-tables']; print('uid 12345', manage.main())",
    ):
        done = subprocess.run(
            ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", sys.executable, "-c", program],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "CABOCHON_SECRET_KEY": "k",
                "CABOCHON_DATA": "/nonexistent",
                "DATABASE_URL": "postgres://a:b@127.0.0.1:1/cabochon",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "uid 12345" in done.stdout


def test_an_account_with_a_name_is_recorded_by_it() -> None:
    assert account_name()
    assert not account_name().startswith("uid ")
