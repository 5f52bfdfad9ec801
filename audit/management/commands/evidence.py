"""``manage.py evidence --finding ID``: write the evidence bundle of a finding, for a regulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.event_store.archived import StreamArchived
from audit.evidence.bundle import Unproven
from audit.evidence.export import export
from audit.management.terminal import BaseCommand
from audit.models import Finding
from audit.transparency.proofs import NotSealed


class Command(BaseCommand):
    help = "Write the evidence bundle of a finding to a file, and record the export in the audit trail."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--finding", type=int, required=True, metavar="ID", help="the finding's id")
        parser.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            help="the file to write; by default cabochon-finding-ID.zip in the current folder",
        )
        parser.add_argument("--reason", default="", help="who it is for, and why: it is recorded in the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        finding = Finding.objects.select_related("stream").filter(pk=options["finding"]).first()
        if finding is None:
            raise CommandError(f"There is no finding {options['finding']}.")
        try:
            bundle = export(finding, actor="manage.py evidence", reason=options["reason"])
        except NotSealed as error:
            raise CommandError(f"{error}; is manage.py sequence running?") from None
        except StreamArchived as error:
            raise CommandError(str(error)) from None
        except Unproven as error:
            raise CommandError(f"The record does not prove this finding: {error}.") from None
        path = options["output"] or Path(bundle.name)
        try:
            path.write_bytes(bundle.raw)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self.stdout.write(f"{path}  {len(bundle.raw)} bytes  SHA-256 {bundle.digest}")
