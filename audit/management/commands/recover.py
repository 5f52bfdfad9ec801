"""``manage.py recover``: after a restore that lost events, two officers open another epoch of the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.access.capabilities import Capability
from audit.management.counted import counted
from audit.management.officer import two_officers
from audit.management.terminal import BaseCommand
from audit.transparency import recovery
from audit.transparency.checkpoint_export import folders
from audit.transparency.signing_keys import NoSigningKey


class Command(BaseCommand):
    help = (
        "After a restore that lost events, go on with the log as it is here: under another name (an epoch), with a key "
        "of its own and a note, signed with the keys of both epochs, of what was lost, why, and by whose decision. "
        "Asks for the passwords of two officers who may sign nights. Run it with --dry-run first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--against",
            metavar="DIR",
            type=Path,
            action="append",
            help="exported checkpoints; by default the folders of CABOCHON_CHECKPOINTS",
        )
        parser.add_argument(
            "--tiles", metavar="DIR", type=Path, help="static tiles, which name the batches that are lost"
        )
        parser.add_argument("--officer", metavar="NAME", action="append", default=[], help="one of the two; twice")
        parser.add_argument(
            "--code", action="append", default=[], help="the code of the second factor; once an officer"
        )
        parser.add_argument("--reason", default="", help="why the record was restored, and from what")
        parser.add_argument("--dry-run", action="store_true", help="only say what is lost")

    def handle(self, *args: Any, **options: Any) -> None:
        against = options["against"] or folders()
        try:
            lost = recovery.loss(against, options["tiles"])
        except (recovery.NothingToRecover, OSError) as error:
            raise CommandError(str(error)) from None
        self._print(lost)
        if options["dry_run"]:
            return
        if not options["reason"].strip():
            raise CommandError("Give --reason: why the record was restored, and from what.")
        officers = two_officers(options["officer"], options["code"], Capability.SIGN_NIGHTS)
        try:
            epoch = recovery.recover(lost, officers, options["reason"])
        except NoSigningKey as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Epoch {epoch.number} is open: {epoch.origin}. The sequencer goes on within seconds.")
        self.stdout.write("Give the new public key (manage.py logkey) and this note to whoever keeps checkpoints:\n")
        self.stdout.write(epoch.note)

    def _print(self, lost: recovery.Loss) -> None:
        self.stdout.write(
            f"{counted(lost.kept, 'leaf', 'leaves')} are here, {lost.signed.size} were signed; up to leaf "
            f"{lost.forked_at} they are the same."
        )
        missing = lost.signed.size - lost.forked_at
        if lost.batches:
            self.stdout.write(f"Lost: {counted(missing, 'batch', 'batches')}:")
            for batch in lost.batches:
                self.stdout.write(f"  {batch}")
        else:
            self.stdout.write(
                f"Lost: {counted(missing, 'batch', 'batches')}. Which ones, static tiles would say (--tiles); the "
                "table systems have the receipts, and are told at their next request from which number to send again."
            )
