"""In all that commands, the client, the witness and logs print, text from outside moves no cursor, hides nothing and
turns no text."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import logging
import logging.config
import pkgutil
import re
import sys
from pathlib import Path

import cabochon_client.shown
import pytest
from cabochon_client import cli
from cabochon_client.client import Status
from django.core.management.base import CommandError
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import audit.management.commands
import cabochon_witness.shown
from audit.evidence import verify
from audit.management.terminal import BaseCommand, Console, shown
from cabochon_witness.__main__ import main as witness
from casino import logs
from tests.trees import nodes_of

ROOT = Path(__file__).parents[1]
TURNS = "a\x1b[1A\x1b[8m\x9b2K\u202egnihtyrevE\u2066\u200f\u2028\r\x7f\x07\x1b]8;;x\x1b\\b"
"""What moves the cursor up, hides text, clears a line, writes from right to left, begins a line anew, is a link."""

CONTROLS = {each for each in TURNS if not each.isprintable()}
ESCAPED = "a\\u001b[1A\\u001b[8m\\u009b2K\\u202egnihtyrevE"

SPEAK = {
    "audit/evidence/verify.py",  # the verifier of a bundle, a file of its own
    "client/cabochon_client/shown.py",
    "cabochon_witness/shown.py",
    *("casino/manage.py", "casino/prepare.py", "casino/supervisor.py", "casino/up.py"),  # their own words, and escaped
}
"""The modules that print without the help of another."""

CONSOLES = {"audit/management/terminal.py", "audit/adjudication/terminal_report.py"}
"""The modules that import rich's own console: the second is given ours."""


def modules() -> list[Path]:
    folders = ("audit", "casino", "client", "cabochon_witness")
    return [path for folder in folders for path in ROOT.joinpath(folder).rglob("*.py")]


def test_nothing_is_printed_past_the_function_that_escapes() -> None:
    printing, consoles = set(), set()
    for path in modules():
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        for node in nodes_of(ast.parse(text)) if re.search(r"\bprint\b|\brich\b", text) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                printing.add(name)
            if (
                isinstance(node, ast.ImportFrom)
                and node.module == "rich.console"
                and "Console" in {each.name for each in node.names}
            ):
                consoles.add(name)
    assert printing <= SPEAK
    assert consoles <= CONSOLES


def test_every_command_escapes_what_it_writes() -> None:
    names = [each.name for each in pkgutil.iter_modules(audit.management.commands.__path__)]
    assert len(names) > 25
    for name in names:
        command = importlib.import_module(f"audit.management.commands.{name}").Command
        assert issubclass(command, BaseCommand), name


def test_one_function_escapes_everywhere() -> None:
    own = inspect.getsource(verify.printable)
    for other in (cabochon_client.shown, cabochon_witness.shown):
        assert inspect.getsource(other.printable) == own
        assert other._NOT_SHOWN == verify._NOT_SHOWN
    assert inspect.getsource(cabochon_client.shown) == inspect.getsource(cabochon_witness.shown)


class Speaking(BaseCommand):
    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(f"said: {TURNS}\n\tand so on")
        self.stderr.write(TURNS)
        raise CommandError(TURNS)


def test_a_command_writes_neither_foreign_controls_nor_in_its_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    command = Speaking(stdout=out, stderr=err, force_color=True)
    with pytest.raises(SystemExit):
        command.run_from_argv(["manage.py", "speaking", "--skip-checks"])
    assert out.getvalue().startswith(f"said: {ESCAPED}")
    assert out.getvalue().endswith("\n\tand so on\n")
    assert not CONTROLS & set(out.getvalue())
    assert err.getvalue().count(ESCAPED) == 2
    assert not CONTROLS - {"\x1b"} & set(err.getvalue())
    assert all(part.startswith("[") and "m" in part[:8] for part in err.getvalue().split("\x1b")[1:]), (
        "our colours alone"
    )


def test_a_console_escapes_in_tables_panels_and_texts_and_reads_no_markup() -> None:
    table = Table(TURNS)
    table.add_row("[link=https://evil.example]x[/link]", Text(TURNS))
    for renderable in (table, Panel(TURNS), Text(TURNS), f"{TURNS} [bold]b[/bold]"):
        out = io.StringIO()
        Console(file=out, width=400).print(renderable)
        assert ESCAPED[:30] in out.getvalue()  # a table breaks the line behind it
        assert not CONTROLS & set(out.getvalue())
        coloured = io.StringIO()
        Console(file=coloured, width=400, force_terminal=True).print(renderable, style="bold")
        assert "\x1b[1m" in coloured.getvalue()
        assert not {"\x1b[1A", "\x1b[8m", "\x1b]8;"} & {f"\x1b{part[:3]}" for part in coloured.getvalue().split("\x1b")}


def test_lines_and_tabs_stay_and_letters_of_every_script() -> None:
    assert shown("é ü 数\n\tx\u00a0y €\n") == "é ü 数\n\tx\u00a0y €\n"
    assert json.loads(shown(json.dumps({"a": TURNS}, ensure_ascii=False))) == {"a": TURNS}


def test_the_client_escapes_what_a_record_answers(capsys: pytest.CaptureFixture[str]) -> None:
    problem = {"code": "x", "detail": f"{TURNS}\nThe record has everything. Receipts kept: 9.", "errors": []}
    status = Status.__new__(Status)
    object.__setattr__(status, "problem", problem)
    for name, value in {"sessions": [], "restored": None, "renumbered": {}, "receipts": {}}.items():
        object.__setattr__(status, name, value)
    cli._print_difficulties(status)
    written = capsys.readouterr().out
    assert ESCAPED in written
    assert not CONTROLS & set(written)
    assert not any(line.startswith("The record has everything") for line in written.split("\n"))


def test_the_client_escapes_its_errors_and_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spool = str(tmp_path / "spool.db")
    events = tmp_path / f"e{TURNS}.ndjson"
    events.write_text("1\n")
    assert cli.main(["--spool", spool, "send", str(events)]) == cli.REFUSED
    assert not CONTROLS & set(capsys.readouterr().err)
    record = logging.LogRecord("cabochon_client", logging.ERROR, "", 0, f"{TURNS}\nsecond", None, None)
    formatted = cli._Formatter("%(levelname)s %(message)s").format(record)
    assert formatted.startswith(f"ERROR {ESCAPED}")
    assert not CONTROLS & set(formatted)


def test_the_witness_escapes_its_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "a\x1b[1A\x1b[8m\u202eb"
    there.write_text("")
    assert witness(["key", "--name", "w.example/1", "--out", str(there)]) == 2
    written = capsys.readouterr().err
    assert "a\\u001b[1A\\u001b[8m\\u202eb exists" in written
    assert not CONTROLS & set(written)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_log_message_escapes_what_it_quotes(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    line = logs.configuration()["formatters"]["line"]
    formatter = line.pop("()")(**line)
    try:
        raise ValueError(TURNS)
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord("audit", logging.ERROR, "", 0, f"said {TURNS}", None, error)
    written = formatter.format(record)
    assert written.count("\\u202egnihtyrevE") == 2
    assert not CONTROLS - {"\x1b"} & set(written)
    assert "\x1b[1A" not in written
    assert "\x1b[8m" not in written
