"""``manage.py tiles``: the log as static files, C2SP tlog-tiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.transparency import cosignatures, tree
from audit.transparency.tiles import CannotTile, write_tiles


class Command(BaseCommand):
    help = "Write the log as static tiles that any web server can serve; again, write what has come since."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="the folder of the files")
        parser.add_argument(
            "--cosigned", action="store_true", help="through the newest checkpoint that a witness has cosigned"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        checkpoint = cosignatures.newest_cosigned() if options["cosigned"] else tree.newest_checkpoint()
        if checkpoint is None:
            raise CommandError("There is no such checkpoint yet.")
        try:
            written = write_tiles(options["output"], checkpoint)
        except (CannotTile, LookupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{counted(checkpoint.size, 'leaf', 'leaves')}, {counted(written, 'file')} written")
