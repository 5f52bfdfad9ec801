"""``manage.py createkey``: a key for a table system, with the casino and the tables it reports on."""

from __future__ import annotations

import getpass
from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import ApiKey, Casino, GamingTable, Scope


def _positive(written: str) -> int:
    if not written.isdecimal() or not 0 < int(written) < 10_000:
        raise ArgumentTypeError(f"'{written}' is no number of days")
    return int(written)


class Command(BaseCommand):
    help = "Make a key and print it. It is shown this once; only its digest is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", metavar="CODE", help="the casino, registered if it is new")
        parser.add_argument("--rotate", metavar="PREFIX", help="a key to follow: the same casino, tables, scopes, name")
        parser.add_argument(
            "--overlap",
            type=_positive,
            default=24,
            metavar="HOURS",
            help="hours the followed key stays valid",
        )
        parser.add_argument("--casino-name", metavar="NAME", help="its name, if it is new")
        parser.add_argument("--time-zone", metavar="ZONE", default="Europe/Paris", help="its time zone, if it is new")
        parser.add_argument(
            "--table",
            action="append",
            default=[],
            dest="tables",
            metavar="CODE",
            help="a table the key reports on, registered if it is new; without any, every table of the casino",
        )
        parser.add_argument("--register", action="append", default=[], metavar="CODE", help="register a table, no more")
        parser.add_argument("--name", default="table system", help="what the key is for")
        parser.add_argument("--scope", action="append", choices=Scope.values, dest="scopes", help="default: all")
        parser.add_argument("--days", type=_positive, help="days until the key expires; default: it does not")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["casino"]) == bool(options["rotate"]):
            raise CommandError("Say --casino for a new key, or --rotate for one that follows another.")
        if options["rotate"]:
            self._rotate(options["rotate"], timedelta(hours=options["overlap"]))
            return
        casino = self._casino(options)
        own = [self._table(casino, code) for code in options["tables"]]
        for code in options["register"]:
            self._table(casino, code)
        expires_at = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        key, secret = ApiKey.make(
            casino=casino, name=options["name"], scopes=options["scopes"] or list(Scope.values), expires_at=expires_at
        )
        key.tables.set(own)
        audit_trail.record(
            getpass.getuser(), "key.made", casino_id=casino.pk, data={"id": key.pk, "prefix": key.prefix}
        )
        self.stdout.write(secret)

    def _rotate(self, prefix: str, overlap: timedelta) -> None:
        """Make a key like another, which ends after a while; until then both are valid."""
        before = ApiKey.objects.select_for_update().filter(prefix=prefix, revoked_at=None).first()
        if before is None:
            raise CommandError(f"There is no key '{prefix}' that is not revoked.")
        key, secret = ApiKey.make(casino=before.casino, name=before.name, scopes=before.scopes)
        key.tables.set(before.tables.all())
        ends = timezone.now() + overlap
        before.expires_at = min(before.expires_at or ends, ends)
        before.save(update_fields=["expires_at"])
        rotated = {"id": key.pk, "prefix": key.prefix, "follows": before.prefix, "until": before.expires_at.isoformat()}
        audit_trail.record(getpass.getuser(), "key.rotated", casino_id=before.casino_id, data=rotated)
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
