"""``manage.py createkey``: create an API key for a table system, with its casino and tables, or rotate one."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.access import casino_settings, keys
from audit.event_store.batch_signatures import NotAPublicKey, public_key_in
from audit.management.terminal import BaseCommand
from audit.models import DEFAULT_SCOPES, ApiKey, Casino, GamingTable, KeyScope

T = TypeVar("T")


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10_000:
        raise ArgumentTypeError(f"'{text}' is not a whole number from 1 to 9999")
    return int(text)


def _scopes(text: str) -> list[str]:
    numbers = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= len(KeyScope.values) for part in numbers):
        raise ArgumentTypeError(f"'{text}' is not numbers from 1 to {len(KeyScope.values)}, with commas between")
    return [KeyScope.values[int(part) - 1] for part in dict.fromkeys(numbers)]


class Command(BaseCommand):
    help = "Create an API key and print it. It is shown this once; only its digest is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", metavar="CODE", help="the casino; it is registered if it is new")
        parser.add_argument(
            "--rotate", metavar="PREFIX", help="replace this key by one with the same casino, tables, scopes and name"
        )
        parser.add_argument(
            "--overlap",
            type=_positive,
            default=24,
            metavar="HOURS",
            help="hours for which the replaced key stays valid",
        )
        parser.add_argument("--casino-name", metavar="NAME", help="its name, if it is new")
        parser.add_argument("--time-zone", metavar="ZONE", default="Europe/Paris", help="its time zone, if it is new")
        parser.add_argument(
            "--table",
            action="append",
            default=[],
            dest="tables",
            metavar="CODE",
            help="a table the key reports on, registered if it is new; default: every table of the casino",
        )
        parser.add_argument(
            "--register", action="append", default=[], metavar="CODE", help="register a table that other keys report on"
        )
        parser.add_argument("--name", default="table system", help="what the key is for")
        parser.add_argument(
            "--scope", action="append", choices=KeyScope.values, dest="scopes", help="default: all but events:backfill"
        )
        parser.add_argument(
            "--backfill",
            action="store_true",
            help=f"add {KeyScope.EVENTS_BACKFILL}: the key records gaming days of any past year",
        )
        parser.add_argument(
            "--public-key",
            metavar="BASE64",
            help="the Ed25519 public key of a table system that signs its batches; it never changes for this key",
        )
        parser.add_argument(
            "--days",
            type=_positive,
            help=f"days until the key expires; default: {keys.DEFAULT_DAYS}, of a sandbox {keys.SANDBOX_DAYS}",
        )
        parser.add_argument("--no-expiry", action="store_true", help="the key is valid until it is revoked")
        parser.add_argument(
            "--sandbox",
            action="store_true",
            help="the casino is for trying a table system: its record is apart, and can be emptied (manage.py sandbox)",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["casino"]) == bool(options["rotate"]):
            raise CommandError("Say --casino for a new key, or --rotate for one that follows another.")
        if options["days"] and options["no_expiry"]:
            raise CommandError("Say --days or --no-expiry, not both.")
        public_key = self._public_key(options["public_key"])
        if options["rotate"]:
            self._rotate(options, public_key)
            return
        self._ask(options)
        casino = self._casino(options)
        own = [self._table(casino, code) for code in options["tables"]]
        for code in options["register"]:
            self._table(casino, code)
        days = options["days"] or (keys.SANDBOX_DAYS if casino.is_sandbox else keys.DEFAULT_DAYS)
        expires_at = None if options["no_expiry"] else timezone.now() + timedelta(days=days)
        scopes = options["scopes"] or DEFAULT_SCOPES
        if options["backfill"] and KeyScope.EVENTS_BACKFILL not in scopes:
            scopes = [*scopes, KeyScope.EVENTS_BACKFILL.value]
        key, secret = keys.make(
            keys.COMMAND,
            casino=casino,
            name=options["name"],
            scopes=scopes,
            tables=own,
            expires_at=expires_at,
            public_key=public_key,
        )
        self._show(key, secret)

    def _show(self, key: ApiKey, secret: str) -> None:
        """Print the key, and beside it, where a script does not read it, what it is."""
        self.stdout.write(secret)
        until = f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "until it is revoked"
        kind = "the sandbox" if key.casino.is_sandbox else "the casino"
        self.stderr.write(f"Of {kind} '{key.casino.code}', valid {until}: {', '.join(key.scopes)}.")

    def _ask(self, options: dict[str, Any]) -> None:
        """Ask at a terminal for the scopes and days that no option gives; elsewhere the defaults hold."""
        if not sys.stdin.isatty():
            return
        if not options["scopes"]:
            for number, scope in enumerate(KeyScope, start=1):
                self.stderr.write(f"  {number}  {scope.value:<16} {scope.label}")
            default = ",".join(str(KeyScope.values.index(scope) + 1) for scope in DEFAULT_SCOPES)
            options["scopes"] = self._answer("The key may, by number", default, _scopes)
        if not options["days"] and not options["no_expiry"]:
            days = keys.SANDBOX_DAYS if options["sandbox"] else keys.DEFAULT_DAYS
            options["days"] = self._answer("Days until it expires", str(days), _positive)

    def _answer(self, question: str, default: str, parse: Callable[[str], T]) -> T:
        while True:
            self.stderr.write(f"{question} [{default}]: ", ending="")
            self.stderr.flush()
            try:
                line = sys.stdin.readline()
            except KeyboardInterrupt:
                self.stderr.write("")  # the line of the question ends here
                raise CommandError("No key was made.") from None
            if not line:
                raise CommandError("No key was made: the answer is missing.")
            try:
                return parse(line.strip() or default)
            except ArgumentTypeError as error:
                self.stderr.write(str(error))

    @staticmethod
    def _public_key(given: str | None) -> bytes | None:
        try:
            return None if given is None else public_key_in(given)
        except NotAPublicKey as error:
            raise CommandError(str(error)) from None

    def _rotate(self, options: dict[str, Any], public_key: bytes | None) -> None:
        """Replace a key by one like it. Both are valid until the overlap has passed."""
        before = ApiKey.objects.filter(prefix=ApiKey.named_by(options["rotate"]), revoked_at=None).first()
        try:
            if before is None:
                raise keys.NotActive
            _before, key, secret = keys.rotate(
                keys.COMMAND,
                before.pk,
                overlap=timedelta(hours=options["overlap"]),
                public_key=public_key,
                expires_at=timezone.now() + timedelta(days=options["days"]) if options["days"] else None,
            )
        except keys.NotActive:
            raise CommandError(f"There is no active key '{options['rotate']}'. Make a new one with --casino.") from None
        self._show(key, secret)

    def _casino(self, options: dict[str, Any]) -> Casino:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            casino = Casino(
                code=options["casino"],
                name=options["casino_name"] or options["casino"],
                time_zone=options["time_zone"],
                is_sandbox=options["sandbox"],
            )
            self._save(casino)
        elif options["sandbox"] and not casino.is_sandbox:
            raise CommandError(
                f"'{casino.code}' is a casino, and never becomes a sandbox. Take another code, as"
                f" '{casino.code}-sandbox'."
            )
        elif casino.is_sandbox and not options["sandbox"]:
            raise CommandError(f"'{casino.code}' is a sandbox. Add --sandbox, or name a casino.")
        return casino

    def _table(self, casino: Casino, code: str) -> GamingTable:
        table = GamingTable.objects.filter(casino=casino, code=code).first()
        if table is None:
            table = GamingTable(casino=casino, code=code)
            self._save(table)
        return table

    def _save(self, row: Casino | GamingTable) -> None:
        try:
            row.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        casino_settings.store(keys.COMMAND, "added", row)
