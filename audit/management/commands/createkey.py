"""``manage.py createkey``: create an API key for a table system, with its casino and tables, or rotate one."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.access import keys
from audit.event_store import audit_trail
from audit.event_store.batch_signatures import NotAPublicKey, public_key_in
from audit.models import DEFAULT_SCOPES, ApiKey, Casino, GamingTable, KeyScope


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10_000:
        raise ArgumentTypeError(f"'{text}' is not a whole number from 1 to 9999")
    return int(text)


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
        parser.add_argument("--days", type=_positive, help="days until the key expires; default: it does not")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["casino"]) == bool(options["rotate"]):
            raise CommandError("Say --casino for a new key, or --rotate for one that follows another.")
        public_key = self._public_key(options["public_key"])
        if options["rotate"]:
            self._rotate(options["rotate"], timedelta(hours=options["overlap"]), public_key)
            return
        casino = self._casino(options)
        own = [self._table(casino, code) for code in options["tables"]]
        for code in options["register"]:
            self._table(casino, code)
        expires_at = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        scopes = options["scopes"] or DEFAULT_SCOPES
        if options["backfill"] and KeyScope.EVENTS_BACKFILL not in scopes:
            scopes = [*scopes, KeyScope.EVENTS_BACKFILL.value]
        _key, secret = keys.make(
            audit_trail.account_name(),
            casino=casino,
            name=options["name"],
            scopes=scopes,
            tables=own,
            expires_at=expires_at,
            public_key=public_key,
        )
        self.stdout.write(secret)

    @staticmethod
    def _public_key(given: str | None) -> bytes | None:
        try:
            return None if given is None else public_key_in(given)
        except NotAPublicKey as error:
            raise CommandError(str(error)) from None

    def _rotate(self, prefix: str, overlap: timedelta, public_key: bytes | None) -> None:
        """Replace a key by one like it. Both are valid until ``overlap`` has passed."""
        before = ApiKey.objects.filter(prefix=prefix, revoked_at=None).first()
        try:
            if before is None:
                raise keys.NotActive
            _before, _key, secret = keys.rotate(
                audit_trail.account_name(), before.pk, overlap=overlap, public_key=public_key
            )
        except keys.NotActive:
            raise CommandError(f"There is no active key '{prefix}'.") from None
        self.stdout.write(secret)

    def _casino(self, options: dict[str, Any]) -> Casino:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            casino = Casino(
                code=options["casino"],
                name=options["casino_name"] or options["casino"],
                time_zone=options["time_zone"],
            )
            self._save(casino)
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
        row.save()
