"""``manage.py ledger``: the processes of a casino's evidence ledger, its budget, and what is near its threshold."""

from __future__ import annotations

import json
import re
from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.table import Table

from audit.ledger import listing, set_aside
from audit.ledger.equipment import EquipmentRefused, take_apart
from audit.ledger.expected import ExpectedRefused, say
from audit.ledger.feeding import feed
from audit.management.counted import counted
from audit.management.officer import add_officer, proved
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino, LedgerBatch, LedgerProcess, LedgerQuestion, Officer

COLUMNS = ("kind", "subject", "since", "sessions", "observations", "wealth", "of the year", "asks at", "level", "")
NUMBERS = COLUMNS[3:9]


class Command(BaseCommand):
    help = (
        "List the processes of a casino's evidence ledger: wealth, level, budget and what is spent of it. "
        "Persons are ids."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", required=True, metavar="CODE")
        parser.add_argument(
            "--near", action="store_true", help="what is near its threshold alone (e-BH on the wealth of now)"
        )
        parser.add_argument(
            "--feed", action=BooleanOptionalAction, default=False, help="first feed what is known and was not fed"
        )
        parser.add_argument("--json", action="store_true")
        parser.add_argument(
            "--apart", nargs=2, metavar=("KIND", "ID"),
            help="note that a 'wheel' or a set of 'dice' was taken apart: its processes end",
        )  # fmt: skip
        parser.add_argument(
            "--expect",
            nargs="+",
            metavar=("YEAR", "SUBJECT=NUMBER"),
            help="say how many players, croupiers, … the coming year has: its levels are shared among so many",
        )
        parser.add_argument("--reason", default="", help="why it is done: it is recorded in the audit trail")
        add_officer(parser, is_required=False)

    def handle(self, *args: Any, **options: Any) -> None:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            raise CommandError(f"There is no casino '{options['casino']}'.")
        if options["apart"]:
            self._take_apart(casino, options)
            return
        if options["expect"]:
            self._expect(casino, options)
            return
        if options["feed"]:
            feed(casino)
        rows = listing.near_threshold(casino) if options["near"] else list(listing.processes_of(casino))
        raised = set(LedgerQuestion.objects.filter(process__in=rows).values_list("process_id", "year"))
        listed = [_as_dict(row, has_question=(row.pk, row.year) in raised) for row in rows]
        if options["json"]:
            self.stdout.write(json.dumps({**_summary(casino), "processes": listed}, indent=2))
            return
        self._show(casino, listed)

    def _take_apart(self, casino: Casino, options: dict[str, Any]) -> None:
        kind, id = options["apart"]
        if kind not in ("wheel", "dice"):
            raise CommandError("What is taken apart is a 'wheel' or a set of 'dice'.")
        try:
            ended = take_apart(_officer(options), casino, kind, id, reason=options["reason"])
        except EquipmentRefused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{kind} {id}: {ended} process(es) ended; the next session begins new ones.")

    def _expect(self, casino: Casino, options: dict[str, Any]) -> None:
        year, *given = options["expect"]
        pairs = [re.fullmatch(r"(.+)=([0-9]{1,6})", each) for each in given]
        if not re.fullmatch(r"[0-9]{4}", year) or not pairs or None in pairs:
            raise CommandError("Write a year, and how many of each: --expect 2027 player=2000 croupier=60.")
        stated = {pair[1]: int(pair[2]) for pair in pairs if pair}
        try:
            say(_officer(options), casino, int(year), stated, reason=options["reason"])
        except ExpectedRefused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{year}: " + ", ".join(f"{number} × {subject}" for subject, number in stated.items()))

    def _show(self, casino: Casino, listed: list[dict[str, Any]]) -> None:
        table = Table(box=None)
        for column in COLUMNS:
            table.add_column(column, justify="right" if column in NUMBERS else "left")
        for row in listed:
            table.add_row(
                row["kind"], row["subject"], row["since"], str(row["sessions"]), str(row["observations"]),
                row["wealth"], row["of_the_year"], row["asks_at"], row["alpha"],
                "has asked" if row["has_question"] else "",
            )  # fmt: skip
        Console(file=self.stdout, width=150).print(table)
        summary = _summary(casino)
        if summary["year"] is None:
            self.stdout.write("The ledger has not been fed yet.")
            return
        self.stdout.write(
            f"{summary['year']}: budget of false questions {summary['budget']}, of which {summary['spent']} in levels "
            f"given; {counted(summary['batches'], 'batch', 'batches')} fed, {summary['left_out']} left out."
        )
        for each in set_aside.of_casino(casino).defer("content"):
            self.stdout.write(f"Set aside, and tried again at {each.next_try_at:%Y-%m-%d %H:%M}Z: {each}: {each.error}")


def _officer(options: dict[str, Any]) -> Officer:
    if not options["officer"]:
        raise CommandError("Give the account in whose name it is done with --officer.")
    return proved(options)


def _summary(casino: Casino) -> dict[str, Any]:
    budget = listing.budget_of(casino)
    batches = LedgerBatch.objects.filter(casino=casino)
    return {
        "casino": casino.code,
        "year": budget.year if budget else None,
        "budget": str(budget.allowed) if budget else None,
        "spent": f"{float(budget.spent):.6f}" if budget else None,
        "batches": batches.count(),
        "left_out": batches.exclude(error="").count() + set_aside.of_casino(casino).count(),
    }


def _as_dict(row: LedgerProcess, *, has_question: bool) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "subject": row.subject,
        "since": row.first_day.isoformat(),
        "sessions": row.sessions,
        "observations": row.draws,
        "wealth": listing.times(row.wealth_over_start),
        "highest": listing.times(row.highest_over_start),
        "of_the_year": listing.times(row.e_value),
        "asks_at": listing.times(row.threshold),
        "alpha": row.alpha,
        "year": row.year,
        "has_question": has_question,
    }
