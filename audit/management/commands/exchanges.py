"""``manage.py exchanges``: the *registre des changes* of a gaming day, desk by desk. Persons are ids, never names."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import CommandError, CommandParser
from rich.table import Table

from audit.event_store import audit_trail
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino
from audit.reconciliation import persons
from settlement.catalogue.sentences import amount
from settlement.catalogue.words import word
from settlement.persons.exchange_register import ExchangeRegister, exchange_registers

COLUMNS = ("no.", "at", "player", "exchange", "means", "amount", "of the day", "")


class Command(BaseCommand):
    help = "Write the exchange register (registre des changes) of a gaming day, for each cash desk and table."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", required=True, metavar="CODE")
        parser.add_argument("--day", required=True, type=date.fromisoformat, metavar="YYYY-MM-DD")
        parser.add_argument("--everybody", action="store_true", help="all exchanges, also below the threshold")
        parser.add_argument("--json", action="store_true", help="as JSON, amounts in minor units")

    def handle(self, *args: Any, **options: Any) -> None:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            raise CommandError(f"There is no casino '{options['casino']}'.")
        gaming_day, everybody = options["day"], options["everybody"]
        audit_trail.record(
            audit_trail.account_name(),
            "exchanges.exported",
            casino_id=casino.pk,
            data={"gaming_day": gaming_day.isoformat(), "everybody": everybody},
        )
        thresholds = persons.thresholds_of(casino, gaming_day)
        registers = [
            (currency, register)
            for currency in persons.currencies_of(casino, gaming_day)
            for register in exchange_registers(
                persons.day_of(casino, gaming_day, currency), thresholds, everybody=everybody
            )
        ]
        if options["json"]:
            listed = [_as_dict(casino, currency, register) for currency, register in registers]
            content = {"casino": casino.code, "gaming_day": gaming_day.isoformat(), "registers": listed}
            self.stdout.write(json.dumps(content, indent=2))
            return
        for currency, register in registers:
            self._show(casino, currency, register)
        if not registers:
            self.stdout.write("No exchange to list.")

    def _show(self, casino: Casino, currency: str, register: ExchangeRegister) -> None:
        kind = "cash desk" if register.is_of_desk else "table"
        table = Table(box=None, title=f"{kind} {register.where}, {currency}", title_justify="left")
        for column in COLUMNS:
            table.add_column(column, justify="right" if column in ("no.", "amount", "of the day") else "left")
        for entry in register.entries:
            exchange = entry.exchange
            table.add_row(
                str(entry.number),
                f"{exchange.at.astimezone(ZoneInfo(casino.time_zone)):%d %b %H:%M:%S}",
                exchange.player or "not named",
                word("exchange", exchange.direction, "en"),
                word("means", exchange.means, "en"),
                amount(exchange.amount, currency, "en"),
                amount(entry.of_day, currency, "en") if exchange.player else "",
                "identification due" if entry.reaches else "",
            )
        Console(file=self.stdout, width=130).print(table)
        bought, cashed = (amount(total, currency, "en") for total in (register.into_chips, register.into_money))
        self.stdout.write(f"into chips {bought}, into money {cashed}\n")


def _as_dict(casino: Casino, currency: str, register: ExchangeRegister) -> dict[str, Any]:
    return {
        "where": register.where,
        "is_of_desk": register.is_of_desk,
        "currency": currency,
        "into_chips": register.into_chips,
        "into_money": register.into_money,
        "entries": [
            {
                "number": entry.number,
                "stream": entry.exchange.stream,
                "seq": entry.exchange.seq,
                "at": entry.exchange.at.astimezone(ZoneInfo(casino.time_zone)).isoformat(),
                "player": entry.exchange.player or None,
                "direction": entry.exchange.direction,
                "means": entry.exchange.means,
                "amount": entry.exchange.amount,
                "of_day": entry.of_day,
                "reaches": entry.reaches,
            }
            for entry in register.entries
        ],
    }
