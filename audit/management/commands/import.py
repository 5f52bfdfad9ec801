"""``manage.py import``: the history of another system, by a mapping file, or the events that a record exported."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from audit.ingest.history import EXPORTED, Outcome, UnreadableFile, import_events, import_rows, rows_of
from audit.ingest.mapping_file import BadMapping, MappingFile, read_mapping
from audit.ingest.record import RecordUnavailable
from audit.management.counted import counted
from audit.models import ApiKey, KeyScope

SHOW_EVERY_S = 5.0


class Command(BaseCommand):
    help = (
        "Import the history of another system. Each row of FILE is an event, as MAPPING says (docs/import.md); the rows"
        " of a stream are recorded together, or not at all. Without MAPPING each line of FILE is an event that a record"
        " of Cabochon has exported (docs/upgrade.md). The same file again stores nothing twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="CSV or NDJSON")
        parser.add_argument("--mapping", type=Path, help="the mapping file, TOML; none for exported events")
        parser.add_argument("--key", required=True, metavar="PREFIX", help="the key in whose name it is recorded")
        parser.add_argument("--dry-run", action="store_true", help="do everything, and store nothing")
        parser.add_argument(
            "--refused", type=Path, metavar="PATH", help="what was refused, and why; default: FILE.refused.ndjson"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source: Path = options["file"]
        mapping = None if options["mapping"] is None else self._mapping(options["mapping"])
        written = EXPORTED if mapping is None else mapping.source
        key = self._key(options["key"])
        refused_path: Path = options["refused"] or source.with_name(f"{source.name}.refused.ndjson")
        totals = _Totals()
        try:
            with (
                source.open(encoding=written.encoding, newline="") as file,
                refused_path.open("w", encoding="utf-8") as refused,
            ):
                rows, is_dry = rows_of(file, written), options["dry_run"]
                for outcome in (
                    import_events(key, rows, is_dry=is_dry)
                    if mapping is None
                    else import_rows(key, mapping, rows, is_dry=is_dry)
                ):
                    totals.add(outcome)
                    for each in outcome.refused:
                        refused.write(json.dumps(each.as_dict(), ensure_ascii=False) + "\n")
                    if totals.is_time_to_show():
                        self.stderr.write(str(totals))
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        except UnreadableFile as error:
            raise CommandError(f"{source}, {error}. Before it: {totals}. Nothing is stored twice.") from None
        except RecordUnavailable as error:
            raise CommandError(f"{error} Before it: {totals}. Run it again; nothing is stored twice.") from None
        self.stdout.write(f"{'would be imported: ' if options['dry_run'] else ''}{totals}")
        if totals.refused:
            raise CommandError(f"What was refused, and why, is in {refused_path}.")
        refused_path.unlink()

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


class _Totals:
    """What became of the streams so far."""

    def __init__(self) -> None:
        self.streams = self.new = self.known = self.refused = 0
        self._shown_at = time.monotonic()

    def add(self, outcome: Outcome) -> None:
        self.streams += not outcome.refused
        self.new += outcome.new
        self.known += outcome.known
        self.refused += bool(outcome.refused)

    def is_time_to_show(self) -> bool:
        if time.monotonic() - self._shown_at < SHOW_EVERY_S:
            return False
        self._shown_at = time.monotonic()
        return True

    def __str__(self) -> str:
        known = f", {self.known:,} of them there already" if self.known else ""
        refused = f"; {counted(self.refused, 'stream')} refused" if self.refused else ""
        return f"{counted(self.streams, 'stream')}, {counted(self.new + self.known, 'event')}{known}{refused}"
