"""Every command says in one line what is wrong with its database, and needs no name for the account that runs it."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from urllib.parse import unquote

import django
import psycopg
import pytest
from django.core.management import BaseCommand, get_commands
from django.db import connection, connections
from environ import Env
from pytest_django import DjangoDbBlocker

from audit.event_store.audit_trail import account_name
from casino import manage
from tests.casino.processes import ENVIRONMENT

ROOT = Path(__file__).parents[2]

WITHOUT_DATABASE = {"adjudicate", "diagrams", "eventpage", "fairness", "simulate"}

NEED_DATABASE: dict[str, tuple[str, ...]] = {
    "archive": (),
    "columns": (),
    "confirmofficer": ("ada",),
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

Answers = dict[str, tuple[int | str | None, str]]
RunAll = Callable[[Mapping[str, tuple[str, ...]], str], Answers]


@pytest.fixture
def run_all(
    tmp_path: Path,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[RunAll]:
    """Return a function that runs commands on a database as ``manage.py`` does, but in this process.

    It returns the status and the errors of each. To load Django takes a process longer than most of the commands.
    """
    before = dict(connection.settings_dict)
    thresholds = gc.get_threshold()

    def run(commands: Mapping[str, tuple[str, ...]], database: str) -> Answers:
        connection.close()
        address = Env.db_url_config(database)
        for part in ("NAME", "USER", "PASSWORD", "HOST", "PORT"):
            connection.settings_dict[part] = unquote(str(address[part]))
        answers: Answers = {}
        for name, arguments in commands.items():
            monkeypatch.setattr(sys, "argv", ["manage.py", name, *arguments])
            monkeypatch.setattr(sys, "stdin", StringIO())
            with redirect_stderr(StringIO()) as errors, redirect_stdout(StringIO()):
                try:
                    code: int | str | None = manage.main()
                except SystemExit as end:
                    code = end.code
            answers[name] = code, errors.getvalue()
        return answers

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CABOCHON_WEB_PASSWORD", "w")
    monkeypatch.setattr(django, "setup", lambda: None)  # it has been, and would take the logs from pytest
    monkeypatch.setattr(BaseCommand, "check", lambda *args, **options: None)  # of the settings, which are the tests'
    with django_db_blocker.unblock():
        yield run
        connections.close_all()
    connection.settings_dict.update(before)
    gc.set_threshold(*thresholds)


def test_every_command_is_in_one_of_the_two_tables() -> None:
    ours = {name for name, app in get_commands().items() if app == "audit"}
    assert ours == WITHOUT_DATABASE | set(NEED_DATABASE) - {"createsuperuser", "migrate"}


def test_a_command_whose_database_does_not_answer_says_so_in_one_line(run_all: RunAll) -> None:
    for name, (code, errors) in run_all(NEED_DATABASE, "postgres://a:b@127.0.0.1:1/cabochon").items():
        assert code == 1, name
        assert len(errors.splitlines()) == 1, f"{name}: {errors}"
        assert errors.startswith("The database does not answer: "), f"{name}: {errors}"


def test_a_command_while_nothing_runs_on_this_machine_says_how_to_start_it(tmp_path: Path) -> None:
    """In a process of its own, under the settings of a deployment."""
    environment = {key: value for key, value in ENVIRONMENT.items() if key != "DATABASE_URL"}
    alone = subprocess.run(
        [sys.executable, "manage.py", "createkey", "--casino", "c"],
        cwd=ROOT,
        env={**environment, "CABOCHON_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (alone.returncode, alone.stdout) == (1, "")
    assert (
        alone.stderr == "Cabochon is not running on this machine. Start it (make run, or cabochon-up), and try again.\n"
    )


def test_a_command_that_somebody_interrupts_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(argv: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("django.core.management.execute_from_command_line", interrupted)
    assert manage.main() == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_command_on_a_database_that_is_not_migrated_says_so_in_one_line(run_all: RunAll, empty_url: str) -> None:
    others = {"migrate", "dbaccounts", "sequence", "distribute"}  # of which the last wants a cluster first
    commands = {name: NEED_DATABASE[name] for name in set(NEED_DATABASE) - others}
    for name, (code, errors) in run_all(commands, empty_url).items():
        assert "Traceback" not in errors
        assert code == 1, f"{name}: {errors}"
        assert "manage.py migrate" in errors.splitlines()[-1], f"{name}: {errors}"


def test_a_command_that_its_account_may_not_run_says_so_in_one_line(run_all: RunAll, superuser_url: str) -> None:
    with psycopg.connect(superuser_url, autocommit=True) as server:
        server.execute("create role of_nobody login password 'of_nobody'")
    address = superuser_url.replace("//cabochon:", "//of_nobody:").split("@")[1]
    try:
        answers = run_all({"verify": (), "keep": ()}, f"postgres://of_nobody:of_nobody@{address}")
    finally:
        with psycopg.connect(superuser_url, autocommit=True) as server:
            server.execute("drop role of_nobody")
    for name, (code, errors) in answers.items():
        assert code == 1, name
        assert errors.splitlines()[-1].startswith("The account of DATABASE_URL may not do this"), f"{name}: {errors}"


AS_SOMEBODY = ("setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups")


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="only root runs commands as somebody else")
def test_a_number_without_a_name_runs_commands_without_a_home() -> None:
    """As ``docker run --user 12345``: no account, no home, no variable that names a user."""
    for needed in (sys.executable, ROOT / "manage.py"):
        if subprocess.run([*AS_SOMEBODY, "test", "-r", str(needed)], cwd="/", check=False).returncode:
            pytest.skip(f"the project lies where no other account may read it: {needed}")
    program = """
import manage, sys
sys.argv = ["manage.py", "simulate", "--list-tables"]
assert manage.main() == 0
from audit.event_store.audit_trail import account_name
print(account_name())
"""
    done = subprocess.run(
        [*AS_SOMEBODY, sys.executable, "-c", program],
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
    assert done.stdout.splitlines()[-1] == "uid 12345"


def test_an_account_with_a_name_is_recorded_by_it() -> None:
    assert account_name()
    assert not account_name().startswith("uid ")
