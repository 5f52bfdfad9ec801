"""``manage.py reconcile``: reconcile one night, of any day, in this process."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from audit.event_store import audit_trail
from audit.ledger.feeding import feed_sessions
from audit.management.counted import counted
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino, NightReport
from audit.reconciliation import runs
from audit.reconciliation.content import bridge_lines, figures_of
from audit.reconciliation.sessions import StreamLocked
from settlement.catalogue.sentences import amount


class Command(BaseCommand):
    help = "Reconcile a gaming day: every session's figures, the bridge, the twelve lines, a version of the report."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", required=True, metavar="CODE")
        parser.add_argument("--day", required=True, type=date.fromisoformat, metavar="YYYY-MM-DD")

    def handle(self, *args: Any, **options: Any) -> None:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            raise CommandError(f"There is no casino '{options['casino']}'.")
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(),
        )  # fmt: skip
        try:
            with Progress(*columns, console=console) as bar:
                task = bar.add_task("sessions")
                reports = runs.reconcile(
                    casino,
                    options["day"],
                    actor=audit_trail.account_name(),
                    on_progress=lambda done, total: bar.update(task, completed=done, total=total),
                    before_reports=lambda: feed_sessions(casino),
                )
        except runs.NoNights as error:
            raise CommandError(str(error)) from None
        except StreamLocked as locked:
            raise CommandError(
                f"Another worker is adjudicating stream {locked}. Run the command again later."
            ) from None
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run the command again to resume.", returncode=130) from None
        for report in reports:
            self._show(report)

    def _show(self, report: NightReport) -> None:
        content = report.parsed_content()
        self.stdout.write(
            f"{report.casino.code} {report.gaming_day} {report.currency}: version {report.version}, {report.state}; "
            f"tree {report.tree_size}, root {report.tree_root or '—'}"
        )
        shown = (*bridge_lines(content), "accounting_win")
        table = Table(box=None)
        for heading in ("table", "sessions", *shown):
            table.add_column(heading.replace("_", " "), justify="left" if heading == "table" else "right")
        for row in [*content["tables"], {**content["total"], "name": "total"}]:
            figures = figures_of(row)
            amounts = [figures.get(figure) for figure in shown]
            texts = ["not counted" if minor is None else amount(minor, report.currency, "en") for minor in amounts]
            table.add_row(row["name"], str(row["sessions"]), *texts)
        Console(file=self.stdout, width=130).print(table)
        for line in content["lines"]:
            rows = counted(len(line["rows"]), "row")
            self.stdout.write(f"{line['number']:>2} {line['code']:<14} {line['verdict']:<9} {rows}")
