"""``manage.py createkey``: a key for a table system, with the casino and the tables it reports on."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.models import ApiKey, Casino, GamingTable, Scope


def _positive(written: str) -> int:
    if not written.isdecimal() or not 0 < int(written) < 10_000:
        raise ArgumentTypeError(f"'{written}' is no number of days")
    return int(written)


class Command(BaseCommand):
    help = "Make a key and print it. It is shown this once; only its digest is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", required=True, metavar="CODE", help="the casino, registered if it is new")
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
        casino = self._casino(options)
        own = [self._table(casino, code) for code in options["tables"]]
        for code in options["register"]:
            self._table(casino, code)
        expires_at = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        key, secret = ApiKey.make(
            casino=casino, name=options["name"], scopes=options["scopes"] or list(Scope.values), expires_at=expires_at
        )
        key.tables.set(own)
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
