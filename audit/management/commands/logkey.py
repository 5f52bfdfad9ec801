"""``manage.py logkey``: the keys that sign checkpoints and receipts."""

from __future__ import annotations

from typing import Any, cast, get_args

from django.core.management.base import CommandError, CommandParser

from audit.management.terminal import BaseCommand
from audit.transparency import signing_keys
from audit.transparency.signing_keys import Purpose


class Command(BaseCommand):
    help = "List the log's signing keys, make the first ones, rotate one, or put those of checkpoints apart."

    def add_arguments(self, parser: CommandParser) -> None:
        action = parser.add_mutually_exclusive_group()
        action.add_argument("--make", action="store_true", help="make the keys that are missing, and no other")
        action.add_argument("--rotate", choices=get_args(Purpose), help="make a new key of this purpose")
        parser.add_argument(
            "--apart", action="store_true", help="move the checkpoint keys out of CABOCHON_KEYS, to their own folder"
        )
        parser.add_argument(
            "--at-once",
            action="store_true",
            help=f"make it valid at once, not after {signing_keys.ROTATION_LEAD.seconds} s: the old one is compromised",
        )
        parser.add_argument("--reason", default="", help="why the key is rotated")
        parser.add_argument("--quiet", action="store_true", help="list nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["make"]:
            for purpose in get_args(Purpose):
                if not signing_keys.public_keys(purpose):
                    signing_keys.create(purpose, reason=options["reason"] or "first key")
        elif options["rotate"]:
            purpose = cast(Purpose, options["rotate"])
            if not signing_keys.public_keys(purpose):
                raise CommandError("There is no such key yet; --make makes it.")
            if not options["reason"]:
                raise CommandError("Give a --reason: it is recorded with the key.")
            signing_keys.create(purpose, reason=options["reason"], at_once=options["at_once"])
        if options["apart"]:
            for path in signing_keys.move_apart():
                self.stdout.write(f"moved to {path}")
        for key in signing_keys.public_keys() if not options["quiet"] else []:
            until = key.valid_until.isoformat() if key.valid_until else ""
            self.stdout.write(f"{key.purpose:10} {key.verifier}\n           {key.valid_from.isoformat()} – {until}")
