"""``manage.py corrections``: list the corrections that wait for two officers, or decide about one, as at the desk.

An officer who decides names an account of the desk and gives its password, and the code of its second factor where
there is one: ``audit.management.officer``, as for the house register.
"""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from rich.table import Table

from audit.adjudication.both_readings import both_readings
from audit.corrections import decisions, waiting
from audit.corrections.decisions import DecisionRefused
from audit.management.officer import add_officer, proved
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino, CorrectionDecision, Finding, LoggedStream
from audit.presentation import duration, money
from audit.task_queue import REPLAY_STREAM, send_soon

HEADINGS = ("casino", "session", "correction", "rule", "severity", "hides", "money", "age", "countersigned by")


class Command(BaseCommand):
    help = "Corrections that wait for two officers: list them, countersign or refuse one."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action")
        listed = actions.add_parser("list", help="print those that wait, the longest waiting first (the default)")
        for each in (parser, listed):
            each.add_argument("--casino", metavar="CODE", help="of this casino")
            each.add_argument("--json", action="store_true", help="a JSON object a line")
        for action, help in (
            ("countersign", "countersign a correction; the second countersignature approves it"),
            ("refuse", "refuse a correction for good"),
        ):
            decided = actions.add_parser(action, help=help)
            decided.add_argument("casino", metavar="CASINO", help="code")
            decided.add_argument("session", metavar="SESSION", help="name of the stream")
            decided.add_argument("correction", metavar="SEQ", type=int, help="its number, as list prints it")
            decided.add_argument("--reason", required=True)
            add_officer(decided)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] in (None, "list"):
            self._list(options)
            return
        stream = LoggedStream.objects.filter(casino__code=options["casino"], name=options["session"]).first()
        if stream is None:
            raise CommandError(f"Casino '{options['casino']}' has no session '{options['session']}'.")
        decide = decisions.countersign if options["action"] == "countersign" else decisions.refuse
        try:
            decided = decide(proved(options), stream, options["correction"], reason=options["reason"])
        except DecisionRefused as refused:
            raise CommandError(str(refused)) from None
        if decided.number > 1:
            send_soon(REPLAY_STREAM, stream_id=stream.stream_id)
        about = decisions.decisions_about(stream.stream_id, decided.seq)
        self.stdout.write(f"{stream.name} #{decided.seq}: {decisions.state_of(about).label}")

    def _list(self, options: dict[str, Any]) -> None:
        findings = waiting.waiting(Finding.objects.select_related("stream", "casino").order_by("opened_at", "pk"))
        if options["casino"]:
            if not Casino.objects.filter(code=options["casino"]).exists():
                raise CommandError(f"There is no casino '{options['casino']}'.")
            findings = findings.filter(casino__code=options["casino"])
        rows = list(findings)
        about = decisions.decisions_of(rows)
        found = [_row(finding, about[finding.stream_id, finding.seq]) for finding in rows]
        if options["json"]:
            for row in found:
                self.stdout.write(json.dumps(row, ensure_ascii=False))
            return
        table = Table(*HEADINGS, box=None)
        for row in found:
            table.add_row(*_cells(row))
        console = Console(file=cast(TextIO, self.stdout), width=None if sys.stdout.isatty() else 200)
        console.print(table if found else "No correction waits.")


def _row(finding: Finding, about: list[CorrectionDecision]) -> dict[str, Any]:
    """Return a correction that waits. ``money`` is what the wins of the house by the rules would gain by it, in minor
    units; None where the session is too long to read it twice. ``age_s`` is since it was found."""
    both = both_readings(finding.stream_id, finding.seq)
    gains = [
        (each.with_it.adjudicated_win if each.with_it else 0) - (each.without.adjudicated_win if each.without else 0)
        for each in (both.wagers if both is not None else ())
    ]
    return {
        "casino": finding.casino.code,
        "session": finding.stream.name,
        "correction": finding.seq,
        "rule": finding.rule,
        "severity": finding.severity,
        "hides": [ref.as_dict() for ref in finding.as_value().hides],
        "money": None if both is None else sum(gains),
        "currency": finding.currency or finding.stream.currency,
        "age_s": int((timezone.now() - finding.opened_at).total_seconds()),
        "countersigned_by": [each.officer.get_username() for each in about],
    }


def _cells(row: dict[str, Any]) -> list[str]:
    hides = [f"{each['rule']} ({each['seq']})" for each in row["hides"]]
    amount = "" if row["money"] is None else money(row["money"], row["currency"])
    return [
        *(row["casino"], row["session"], str(row["correction"]), row["rule"], row["severity"], ", ".join(hides)),
        *(amount, duration(row["age_s"]), ", ".join(row["countersigned_by"])),
    ]
