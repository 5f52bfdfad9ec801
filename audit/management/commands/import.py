"""``manage.py import``: the history of another system, by a mapping file, or the events that a record exported."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from audit.ingest.history import EXPORTED, FoundBy, History, Outcome, Refused
from audit.ingest.mapping_file import BadMapping, MappingFile, read_mapping
from audit.ingest.record import RecordUnavailable
from audit.ingest.source_file import Rows, UnreadableFile, rows_of
from audit.ingest.spool import SpoolFull, spool
from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.models import ApiKey, KeyScope
from audit.models.adjudication import Severity

SHOW_EVERY_S = 5.0

SHOWN = 20
"""Rows and streams that are refused and shown; the file has all of them."""


class Command(BaseCommand):
    help = (
        "Import the history of another system. Each row of FILE is an event, as MAPPING says (docs/import.md); the rows"
        " of a stream are recorded together, or not at all. The whole file is read and judged, and a summary shown,"
        " before anything is recorded. Without MAPPING each line of FILE is an event that a record of Cabochon has"
        " exported (docs/upgrade.md). The same file again stores nothing twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="CSV, NDJSON or XLSX")
        parser.add_argument("--mapping", type=Path, help="the mapping file, TOML; none for exported events")
        parser.add_argument("--key", required=True, metavar="PREFIX", help="the key in whose name it is recorded")
        answer = parser.add_mutually_exclusive_group()
        answer.add_argument("--dry-run", action="store_true", help="show the summary, and record nothing")
        answer.add_argument("--yes", action="store_true", help="record without asking; necessary without a terminal")
        parser.add_argument(
            "--refused", type=Path, metavar="PATH", help="what was refused, and why; default: FILE.refused.ndjson"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source: Path = options["file"]
        mapping = None if options["mapping"] is None else self._mapping(options["mapping"])
        key = self._key(options["key"])
        if not (options["dry_run"] or options["yes"] or sys.stdin.isatty()):
            raise CommandError("Nobody can be asked here whether to record: add --yes, or --dry-run to look first.")
        refused_path: Path = options["refused"] or source.with_name(f"{source.name}.refused.ndjson")
        try:
            with refused_path.open("w", encoding="utf-8") as file, spool() as rows:
                refused = _RefusedFile(file, refused_path)
                history = History(key, mapping, rows)
                self._read(source, history, refused)
                planned = self._follow("judged", history.judge(), refused, "Nothing is recorded.")
                planned.unknown_rows = refused.unknown_rows
                self._show(source, rows.count(), planned, refused)
                if not options["dry_run"]:
                    self._record(history, planned, refused, is_sure=options["yes"])
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        except UnreadableFile as error:
            raise CommandError(f"{source}, {error}. Nothing is recorded.") from None
        except SpoolFull as error:
            raise CommandError(f"{error}. Name a folder with more room in TMPDIR, and run it again.") from None
        finally:
            if refused_path.is_file() and not refused_path.stat().st_size:
                refused_path.unlink()
        if refused.count:
            raise CommandError(f"What was refused, and why, is in {refused_path}.")

    def _read(self, source: Path, history: History, refused: _RefusedFile) -> None:
        written = EXPORTED if history.mapping is None else history.mapping.source
        columns = [] if history.mapping is None else history.mapping.columns()
        with rows_of(source, written, columns) as rows:
            for each in history.read(self._counted(rows)):
                refused.write(each)
        if not history.spool.count():
            raise CommandError(f"{source} has no rows to import.")

    def _counted(self, rows: Rows) -> Rows:
        """Yield rows, and show how many there were."""
        clock = _Clock()
        for count, row in enumerate(rows, 1):
            yield row
            if clock.is_time_to_show():
                self.stderr.write(f"read: {counted(count, 'row')}")

    def _follow(self, done: str, outcomes: Iterable[Outcome], refused: _RefusedFile, if_not: str) -> _Totals:
        """Add up what becomes of the streams, and show it."""
        totals, clock = _Totals(), _Clock()
        try:
            for outcome in outcomes:
                totals.add(outcome)
                for each in outcome.refused:
                    refused.write(each)
                if clock.is_time_to_show():
                    self.stderr.write(f"{done}: {totals}")
        except RecordUnavailable as error:
            raise CommandError(f"{error} {done.capitalize()} before it: {totals}. {if_not}") from None
        return totals

    def _record(self, history: History, planned: _Totals, refused: _RefusedFile, *, is_sure: bool) -> None:
        if not planned.streams or not (is_sure or _is_confirmed(planned)):
            self.stdout.write("Nothing is recorded.")
            return
        history.key.store_use(timezone.now())
        again = "Run it again; nothing is stored twice."
        recorded = self._follow("recorded", history.record(), refused, again)
        recorded.refused += planned.refused
        recorded.unknown_rows = planned.unknown_rows
        self.stdout.write(f"recorded: {recorded}")

    def _show(self, source: Path, rows: int, planned: _Totals, refused: _RefusedFile) -> None:
        """Print the summary: what would be recorded, what it would raise, and what is refused."""
        self.stdout.write(f"{source.name}: {counted(rows, 'row')}")
        self.stdout.write(f"would be imported: {planned}")
        self.stdout.write(f"findings that it would raise: {planned.findings.total():,}")
        for severity, rule in sorted(planned.findings, key=lambda found: (Severity.values.index(found[0]), found[1])):
            self.stdout.write(f"  {severity:12} {rule} ({planned.findings[severity, rule]:,})")
        for each in refused.first:
            self.stdout.write(f"refused: {_line(each)}")
        if refused.count > len(refused.first):
            self.stdout.write(f"refused: {refused.count - len(refused.first):,} more, in {refused.path}")

    @staticmethod
    def _mapping(path: Path) -> MappingFile:
        try:
            return read_mapping(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path}: {error}") from None
        except BadMapping as error:
            faults = str(error)
            raise CommandError(f"{path}:{chr(10) if chr(10) in faults else ' '}{faults}") from None

    @staticmethod
    def _key(given: str) -> ApiKey:
        """Return the key of a prefix, or of a whole key, which has to be active and may record any past day."""
        prefix = ApiKey.prefix_of(given) or given.removeprefix("cab_")
        is_active = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        key = ApiKey.objects.select_related("casino").filter(is_active, prefix=prefix, revoked_at=None).first()
        if key is None:
            raise CommandError(f"There is no active key '{prefix}'.")
        lacks = [scope for scope in (KeyScope.EVENTS_WRITE, KeyScope.EVENTS_BACKFILL) if scope not in key.scopes]
        if lacks:
            raise CommandError(f"The key lacks {' and '.join(lacks)}: createkey --casino {key.casino.code} --backfill.")
        if key.public_key is not None:
            raise CommandError("This key signs its batches, which nobody else can: use one that does not.")
        return key


def _is_confirmed(planned: _Totals) -> bool:
    """Ask whether to record."""
    what = f"{counted(planned.streams, 'stream')}, {counted(planned.new + planned.known, 'event')}"
    try:
        return input(f"Record {what}? They stay for good. [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:  # Ctrl-D
        return False


def _line(refused: Refused) -> str:
    """Return what was refused, in a line."""
    row = f"row {refused.row}" if refused.row else ""
    column = f"column {refused.column}" if refused.column else ""
    stream = f"stream {refused.stream}" if refused.stream else ""
    return f"{', '.join(part for part in (stream, row, column) if part)}: {refused.reason}"


class _Clock:
    """When to show how far an import is."""

    def __init__(self) -> None:
        self._shown_at = time.monotonic()

    def is_time_to_show(self) -> bool:
        if time.monotonic() - self._shown_at < SHOW_EVERY_S:
            return False
        self._shown_at = time.monotonic()
        return True


class _RefusedFile:
    """Where everything that is refused is written; the first of it is shown, too."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self.path = path
        self.first: list[Refused] = []
        self.count = self.unknown_rows = 0
        self._file = file

    def write(self, refused: Refused) -> None:
        self._file.write(json.dumps(refused.as_dict(), ensure_ascii=False, default=str) + "\n")
        self.count += 1
        self.unknown_rows += not refused.stream
        if len(self.first) < SHOWN:
            self.first.append(refused)


class _Totals:
    """What became of the streams so far."""

    def __init__(self) -> None:
        self.streams = self.new = self.known = self.refused = self.unknown_rows = 0
        self.findings: Counter[FoundBy] = Counter()

    def add(self, outcome: Outcome) -> None:
        self.streams += not outcome.refused
        self.new += outcome.new
        self.known += outcome.known
        self.refused += bool(outcome.refused)
        self.findings += outcome.findings

    def __str__(self) -> str:
        known = f", {self.known:,} of them there already" if self.known else ""
        refused = f"; {counted(self.refused, 'stream')} refused" if self.refused else ""
        unknown = f"; {counted(self.unknown_rows, 'row')} of unknown stream" if self.unknown_rows else ""
        return f"{counted(self.streams, 'stream')}, {counted(self.new + self.known, 'event')}{known}{refused}{unknown}"
