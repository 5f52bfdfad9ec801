"""``manage.py archive``: months out of the database as proven files, back to be read, destroyed after the retention."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.access.capabilities import Capability
from audit.archive import months
from audit.archive.files import BadArchive
from audit.event_store import archived
from audit.event_store.archived import Month
from audit.management.counted import counted
from audit.management.officer import two_officers
from audit.management.terminal import BaseCommand
from audit.transparency.signing_keys import NoSigningKey


class Command(BaseCommand):
    help = (
        "Take whole months out of the database: write each as a signed file, prove the file against the log, and only "
        "then drop the month's events. Batches, leaves and the audit trail stay. Needs the account that owns the log "
        "and the key of checkpoints. Run it with --dry-run first; without anything to do, it lists the archived months."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        does = parser.add_mutually_exclusive_group()
        does.add_argument("--before", metavar="MONTH", type=_month, help="archive the months before this one (2026-01)")
        does.add_argument("--attach", metavar="MONTH", type=_month, help="open an archived month again, to be read")
        does.add_argument("--detach", metavar="MONTH", type=_month, help="take an attached month out again")
        does.add_argument(
            "--destroy", metavar="MONTH", type=_month, help="destroy the file of a month after the retention"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only say what could be done, and what stands against"
        )
        parser.add_argument("--officer", metavar="NAME", action="append", default=[], help="one of the two; twice")
        parser.add_argument(
            "--code", action="append", default=[], help="the code of the second factor; once an officer"
        )
        parser.add_argument("--reason", default="", help="why a month is destroyed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["before"]:
                self._archive(options["before"], is_dry=options["dry_run"])
            elif options["attach"]:
                self._move(options["attach"], months.attach, "is attached, to be read", is_dry=options["dry_run"])
            elif options["detach"]:
                self._move(options["detach"], months.detach, "is in the archive alone", is_dry=options["dry_run"])
            elif options["destroy"]:
                self._destroy(options["destroy"], options)
            else:
                self._list()
        except (months.ArchiveRefused, NoSigningKey) as error:
            raise CommandError(f"Nothing was changed: {error}.") from None
        except BadArchive as error:
            raise CommandError(f"Nothing was changed: the file does not prove. {error}.") from None
        except OSError as error:
            raise CommandError(f"Nothing was changed: {error}") from None
        except months.ArchiveInterrupted as error:
            raise CommandError(
                f"The database did not answer to the end: {str(error).strip()}. Run the same again:"
                " it goes on from what was done."
            ) from None

    def _list(self) -> None:
        for month in archived.months():
            self.stdout.write(_line(month))
        if not archived.months():
            self.stdout.write("No month is archived.")

    def _archive(self, before: date, *, is_dry: bool) -> None:
        kept = 0
        found = months.candidates(before)
        for month in found:
            reasons = months.why_it_stays(month)
            if not reasons and not is_dry:
                try:
                    row = months.archive(month)
                except months.ArchiveRefused as refused:
                    reasons = list(refused.reasons)
                else:
                    self.stdout.write(_line(row))
                    continue
            for reason in reasons:
                self.stdout.write(f"{month:%Y-%m} stays: {reason}")
            if not reasons:
                self.stdout.write(f"{month:%Y-%m} can be archived.")
            kept += bool(reasons)
        if not found:
            self.stdout.write(f"No month before {before:%Y-%m} is in the database.")
        if kept and not is_dry:
            raise CommandError(f"{counted(kept, 'month')} stayed.")

    def _move(self, month: date, move: Callable[[date], Month], what: str, *, is_dry: bool) -> None:
        if is_dry:
            raise CommandError("--dry-run is for --before and --destroy.")
        row = move(month)
        self.stdout.write(f"{row.name} {what}: {counted(row.events, 'event')}, {row.file}.")

    def _destroy(self, month: date, options: dict[str, Any]) -> None:
        if reasons := months.why_not_destroyed(month):
            raise months.ArchiveRefused(*reasons)
        row = next(row for row in archived.months() if row.month == month)
        if options["dry_run"]:
            self.stdout.write(
                f"{row.name} can be destroyed by two officers: {row.file}, {counted(row.events, 'event')}."
            )
            return
        if row.state == "destroyed":
            was_left = months.is_file_left(row)
            months.destroy(month, [], "")
            self.stdout.write(f"{row.name} was {row.where}.{' Its file is gone now.' * was_left}")
            return
        if not options["reason"].strip():
            raise CommandError("Give --reason: why the month is destroyed.")
        officers = two_officers(options["officer"], options["code"], Capability.SIGN_NIGHTS)
        row = months.destroy(month, officers, options["reason"])
        self.stdout.write(f"{row.name} is {row.where}: {counted(row.events, 'event')}. The hashes stay.")


def _line(month: Month) -> str:
    size = f"{counted(month.batches, 'batch', 'batches')}, {counted(month.events, 'event')}"
    what = f"attached from {month.file}" if month.state == "attached" else month.where
    path = Path(months.folder() / month.file)
    on_disk = f", {path.stat().st_size:,} bytes" if month.state != "destroyed" and path.exists() else ""
    return f"{month.name}: {what}: {size}{on_disk}"


def _month(text: str) -> date:
    """Return the first day of a month, ``2026-01``, or of that in a file's name."""
    match = re.fullmatch(r"(?:.*/)?(?:cabochon-)?(\d{4})-(0[1-9]|1[0-2])(?:\.ndjson\.gz)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a month, as 2026-01")
    return date(int(match[1]), int(match[2]), 1)
