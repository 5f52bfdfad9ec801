"""``manage.py adjudicate FILE``: adjudicate a recorded session, without a database.

Reads one event a line, in any order, of one stream; ``-`` reads standard input. Invalid lines are reported to standard
error with their number, and the rest is adjudicated. Exit status: 0 if every line was valid, whatever the findings; 1
if lines were invalid; 2 if nothing could be adjudicated.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from audit.adjudication.terminal_report import print_report
from audit.management.terminal import BaseCommand, Console
from settlement import Adjudication, AnotherStream, ShapeError, adjudicate, decode

BAD_LINES = 1
UNUSABLE = 2


class Command(BaseCommand):
    help = "Adjudicate the events of one stream, one JSON object a line."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the events, one a line; - reads standard input")
        parser.add_argument(
            "--approved",
            metavar="SEQS",
            type=_seqs,
            help="the corrections that officers approved, with commas; “none” for none. The others wait where they came"
            " after money moved. By default every correction takes effect",
        )
        parser.add_argument("--json", action="store_true", help="print the answer as one JSON object")
        parser.add_argument("--strict", action="store_true", help="stop at the first invalid line")
        parser.add_argument("--language", choices=["en", "fr"], default="en", help="language of the report")

    def handle(self, *args: Any, **options: Any) -> None:
        bad = 0
        lines: list[bytes] = []
        with _open(options["file"]) as source:
            for number, line, fault in _read(source):
                if fault is None:
                    lines.append(line)
                    continue
                bad += 1
                self.stderr.write(f"line {number}: {fault}")
                if options["strict"]:
                    raise SystemExit(BAD_LINES)
        if not lines:
            raise CommandError("there is no event to adjudicate", returncode=UNUSABLE)
        try:
            answer = adjudicate(lines, approved=options["approved"])
        except AnotherStream as error:
            raise CommandError(f"{error}; give one stream a file", returncode=UNUSABLE) from None
        self._print(answer, as_json=options["json"], language=options["language"])
        if bad:
            raise SystemExit(BAD_LINES)

    def _print(self, answer: Adjudication, *, as_json: bool, language: str) -> None:
        if as_json:
            self.stdout.write(json.dumps(answer.as_dict(), ensure_ascii=False, indent=2))
        else:
            # Wide enough for the table when the output is no terminal and has no width of its own.
            console = Console(file=self.stdout, highlight=False, width=None if self.stdout.isatty() else 120)
            print_report(answer, console, language="fr" if language == "fr" else "en")


def _seqs(text: str) -> list[int]:
    return [] if text == "none" else [int(seq) for seq in text.split(",")]


def _open(name: str) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=UNUSABLE) from None


def _read(source: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
    """Yield each line that is not blank: its number from 1, its bytes, and the fault of an invalid one, else None."""
    for number, line in enumerate(source, start=1):
        event = line.strip()
        if number == 1:
            event = event.removeprefix(b"\xef\xbb\xbf")
        if not event:
            continue
        try:
            decode(event)
        except ShapeError as fault:
            yield number, event, str(fault)
        else:
            yield number, event, None
