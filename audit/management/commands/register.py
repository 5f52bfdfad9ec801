"""``manage.py register``: list the house register, propose an entry, approve, decline or withdraw one.

An officer who proposes or decides names an account of the desk and gives its password, which is read from the
terminal or from standard input, and the code of its second factor, where there is one: two people, at a terminal as
at the desk.
"""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from datetime import date
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from rich.table import Table

from audit.management.counted import counted
from audit.management.officer import add_officer, proved
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino, GamingTable, RegisterEntry, RequestState
from audit.register import entries, touched
from audit.register.entries import Proposal, RegisterRefused
from audit.register.readings import KINDS, ValueRefused, parse, written
from settlement import RULESETS

EVERY = "every one"


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a date, such as 2026-11-19") from None


class Command(BaseCommand):
    help = "The house register: what a casino decides where the law leaves it open. Two officers for each entry."

    def add_arguments(self, parser: CommandParser) -> None:
        # A parser of the action itself: Django's own class takes arguments that argparse does not give it.
        actions = parser.add_subparsers(dest="action", required=True)
        listed = actions.add_parser("list", help="print the entries, the newest first")
        listed.add_argument("--casino", metavar="CODE", help="of this casino")
        listed.add_argument("--state", choices=[*RequestState.values, "all"], default="all")
        listed.add_argument("--day", type=_day, help="those in force on this gaming day")
        proposed = actions.add_parser("propose", help="propose an entry")
        proposed.add_argument("reading", choices=sorted(KINDS))
        value = proposed.add_mutually_exclusive_group(required=True)
        value.add_argument("--value", metavar="VALUE", help="amounts in minor units; lists with commas; bet=amount")
        value.add_argument("--take-back", action="store_true", help="decide nothing here any more")
        proposed.add_argument("--casino", metavar="CODE", required=True)
        proposed.add_argument("--table", metavar="CODE", help="of this table alone")
        proposed.add_argument("--ruleset", choices=sorted(RULESETS), default="", help="of this ruleset alone")
        proposed.add_argument(
            "--from", dest="first_day", type=_day, required=True, metavar="DAY", help="first gaming day"
        )
        proposed.add_argument("--to", dest="last_day", type=_day, metavar="DAY", help="last gaming day; default: none")
        proposed.add_argument("--reason", required=True)
        add_officer(proposed)
        for action, help in (
            ("approve", "approve an entry that another officer proposed"),
            ("decline", "decline an entry that another officer proposed"),
            ("withdraw", "withdraw one’s own proposal"),
        ):
            decided = actions.add_parser(action, help=help)
            decided.add_argument("entry", type=int, help="its number, as list prints it")
            decided.add_argument("--reason", default="", required=action == "decline")
            add_officer(decided)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "list":
            self._list(options)
            return
        try:
            entry = self._propose(options) if options["action"] == "propose" else self._decide(options)
        except (RegisterRefused, ValueRefused) as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{entry.pk}: {entry.reading}, {entry.state}")
        if entry.state in (RequestState.WAITING, RequestState.APPROVED):
            nights = touched.signed_nights(entry)
            sessions = counted(touched.streams_of(entry).count(), "session")
            self.stdout.write(f"touched: {sessions}, {counted(len(nights), 'signed night')}")

    def _propose(self, options: dict[str, Any]) -> RegisterEntry:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            raise CommandError(f"There is no casino '{options['casino']}'.")
        table = None
        if options["table"]:
            table = GamingTable.objects.filter(casino=casino, code=options["table"]).first()
            if table is None:
                raise CommandError(f"The casino has no table '{options['table']}'.")
        proposal = Proposal(
            reading=options["reading"],
            value=None if options["take_back"] else parse(options["reading"], options["value"]),
            first_day=options["first_day"],
            last_day=options["last_day"],
            table=table,
            ruleset=options["ruleset"],
            reason=options["reason"],
        )
        return entries.propose(proved(options), casino, proposal)

    def _decide(self, options: dict[str, Any]) -> RegisterEntry:
        entry = RegisterEntry.objects.filter(pk=options["entry"]).first() if options["entry"] < 2**63 else None
        if entry is None:
            raise CommandError(f"There is no entry {options['entry']}.")
        officer, reason = proved(options), options["reason"]
        match options["action"]:
            case "approve":
                return entries.approve(officer, entry.pk, reason=reason)
            case "decline":
                return entries.decline(officer, entry.pk, reason=reason)
            case _:
                return entries.withdraw(officer, entry.pk, reason=reason)

    def _list(self, options: dict[str, Any]) -> None:
        rows = RegisterEntry.objects.select_related("casino", "table", "proposed_by", "decided_by").order_by("-pk")
        if options["casino"]:
            rows = rows.filter(casino__code=options["casino"])
        if options["state"] != "all":
            rows = rows.filter(state=options["state"])
        table = Table(box=None)
        for heading in (
            "entry",
            "casino",
            "reading",
            "value",
            "table",
            "ruleset",
            "from",
            "through",
            "state",
            "officers",
        ):
            table.add_column(heading)
        for entry in rows:
            if options["day"] is None or entry.covers(options["day"]):
                table.add_row(*_cells(entry))
        console = Console(file=cast(TextIO, self.stdout), width=None if sys.stdout.isatty() else 200)
        console.print(table if table.row_count else "No entry.")


def _cells(entry: RegisterEntry) -> list[str]:
    state = entry.get_state_display() if entry.version is None else f"version {entry.version}"
    officers = [each.get_username() for each in (entry.proposed_by, entry.decided_by) if each is not None]
    return [
        *(str(entry.pk), entry.casino.code, entry.reading, written(entry.reading, entry.value)),
        *(entry.table.code if entry.table is not None else EVERY, entry.ruleset or EVERY),
        *(entry.first_day.isoformat(), entry.last_day.isoformat() if entry.last_day is not None else ""),
        *(state, ", ".join(officers)),
    ]
