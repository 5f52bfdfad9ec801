"""``manage.py simulate``: a night of realistic sessions, to a file or over HTTP, with irregularities on request.

With ``--nights`` it is a season, with counts and a cash desk, and with ``--fraud`` a season in which a fraud is hidden.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from audit.management.counted import counted
from audit.management.terminal import BaseCommand, Console
from audit.models import Casino
from audit.simulation import RULESET_NAMES, Night, night, tables_for
from audit.simulation.frauds import Fraud
from audit.simulation.nights import every_irregularity
from audit.simulation.people import fill_directory
from audit.simulation.posting import Post, PostRejected, in_turn
from audit.simulation.season import Season
from audit.simulation.surveillance import FRAUDS
from settlement.catalogue import RULES

SEASON_NIGHTS = 90


class Command(BaseCommand):
    help = "Simulate a night of casino tables, with irregularities on request."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--casino", default="deauville", metavar="CODE")
        parser.add_argument("--ruleset", choices=RULESET_NAMES, help="one game only; default: a mix of them")
        parser.add_argument("--tables", type=int, default=1, metavar="N")
        parser.add_argument("--coups", type=int, default=120, metavar="N", help="throws or spins of each table")
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same night, to the byte")
        parser.add_argument("--gaming-day", type=date.fromisoformat, default=date(2026, 11, 19), metavar="YYYY-MM-DD")
        parser.add_argument(
            "--irregularities",
            metavar="NAMES",
            default="",
            help="separated by commas, or 'all'; see --list-irregularities",
        )
        parser.add_argument(
            "--human",
            action="store_true",
            help="let people err and put it right, come and go, change their minds: findings for information only",
        )
        parser.add_argument("--nights", type=int, metavar="N", help="a season of so many nights, from --gaming-day on")
        parser.add_argument("--fraud", choices=sorted(FRAUDS), help="hide this fraud in a season of 90 nights")
        parser.add_argument(
            "--strength", type=float, help="of the fraud, in its own unit: see audit/simulation/frauds.py"
        )
        parser.add_argument("--list-irregularities", action="store_true", help="list the irregularities, and stop")
        parser.add_argument("--list-tables", action="store_true", help="list the codes of the tables, and stop")
        parser.add_argument(
            "--out", metavar="PATH", help="a file, a folder (one stream a file), or - for standard output"
        )
        parser.add_argument("--post", metavar="URL", help="post to the API at this address")
        parser.add_argument("--key", help="the API key to post with; tables of Québec need the scope events:backfill")
        parser.add_argument(
            "--names", action="store_true", help="put the names of the people into this installation's directory"
        )
        parser.add_argument("--batch", type=int, default=200, metavar="N", help="events in one request")
        parser.add_argument(
            "--rate", type=float, metavar="N", help="events a second; default: as fast as they are accepted"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(stderr=True)
        if options["list_irregularities"]:
            self._list()
            return
        if options["list_tables"]:
            self.stdout.write("\n".join(tables_for(options["tables"], options["ruleset"])))
            return
        if bool(options["post"]) == bool(options["out"]) or (options["post"] and not options["key"]):
            raise CommandError("give --out PATH, or --post URL with --key KEY", returncode=2)
        if not 1 <= options["batch"] <= 1_000 or options["tables"] < 1 or options["coups"] < 1:
            raise CommandError("--batch is from 1 to 1,000; --tables and --coups are at least 1", returncode=2)
        if options["fraud"] or options["nights"]:
            self._season(console, options)
            return
        with console.status("Playing the tables …"):
            nights = night(
                casino=options["casino"],
                gaming_day=options["gaming_day"],
                seed=options["seed"],
                tables=options["tables"],
                coups=options["coups"],
                ruleset=options["ruleset"],
                irregularities=self._requested(options["irregularities"]),
                human=options["human"],
            )
        if options["names"]:
            self._fill_directory(console, nights, options)
        if options["post"]:
            self._post(console, nights, options)
        else:
            self._write(nights, options["out"])
        self._print_summary(console, nights)

    def _season(self, console: Console, options: dict[str, Any]) -> None:
        """Play a season night by night, and write or post each before the next: nothing of it is kept."""
        begun = {"casino": options["casino"], "first_day": options["gaming_day"], "seed": options["seed"]}
        fraud = FRAUDS[options["fraud"]](options["strength"]) if options["fraud"] else Fraud()
        season = Season(tables=options["tables"], coups=options["coups"], fraud=fraud, **begun)
        if options["out"] not in (None, "-"):
            folder = Path(options["out"])
            try:
                if folder.suffix and not folder.is_dir():
                    raise NotADirectoryError(folder)  # it is the name of a file
                folder.mkdir(parents=True, exist_ok=True)
            except OSError:
                raise CommandError("a season is written into a folder, or to standard output", returncode=2) from None
        streams = events = 0
        for played in season.nights(options["nights"] or SEASON_NIGHTS):
            count = Night("count", "", played.count[0]["stream"], played.count)
            for nights in ([each.night for each in played.sessions], [count]):  # the count comes in the morning
                if options["names"]:
                    self._fill_directory(console, nights, options)
                if options["post"]:
                    self._post(console, nights, options)
                else:
                    self._write(nights, options["out"])
                streams, events = streams + len(nights), events + sum(len(each.events) for each in nights)
        console.print(f"{counted(streams, 'stream')}, {counted(events, 'event')}", highlight=False)
        if options["fraud"]:
            names = ", ".join(sorted(fraud.suspects))
            console.print(f"{fraud.name} from {season.day(fraud.begins)} on: {names}", highlight=False)

    def _requested(self, names: str) -> list[str]:
        if names == "all":
            return list(every_irregularity())
        requested = [name.strip() for name in names.split(",") if name.strip()]
        unknown = [name for name in requested if name not in every_irregularity()]
        if unknown:
            raise CommandError(f"no such irregularity: {', '.join(unknown)}; see --list-irregularities", returncode=2)
        return requested

    def _list(self) -> None:
        table = Table(box=None)
        for heading in ("name", "title", "rulesets"):
            table.add_column(heading)
        for name, irregularity in every_irregularity().items():
            table.add_row(name, RULES[name].title.en, ", ".join(sorted(irregularity.rulesets)))
        Console(file=sys.stdout, width=None if sys.stdout.isatty() else 140).print(table)

    def _write(self, nights: list[Night], out: str) -> None:
        if out == "-":
            for played in nights:
                self.stdout.write(_ndjson(played), ending="")
        elif Path(out).is_dir():
            for played in nights:
                (Path(out) / f"{played.stream}.ndjson").write_text(_ndjson(played), "utf-8")
        else:
            Path(out).write_text("".join(_ndjson(played) for played in nights), "utf-8")

    def _fill_directory(self, console: Console, nights: list[Night], options: dict[str, Any]) -> None:
        casino = Casino.objects.filter(code=options["casino"]).first()
        if casino is None:
            raise CommandError(f"--names: there is no casino {options['casino']!r} in this installation.", returncode=2)
        added = fill_directory(casino, nights, seed=options["seed"])
        console.print(f"{counted(added, 'person')} added to the directory", highlight=False)

    def _post(self, console: Console, nights: list[Night], options: dict[str, Any]) -> None:
        post = Post(options["post"], options["key"])
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        started_at = time.monotonic()
        try:
            with Progress(*columns, console=console) as progress:
                bar = progress.add_task("events posted", total=sum(len(played.events) for played in nights))
                for played, events in in_turn(nights, options["batch"]):
                    post.send(played.stream, events)
                    progress.advance(bar, len(events))
                    if options["rate"]:
                        due_s = progress.tasks[0].completed / options["rate"]
                        time.sleep(max(0.0, due_s - (time.monotonic() - started_at)))
        except PostRejected as rejection:
            raise CommandError(str(rejection)) from None
        finally:
            post.close()

    def _print_summary(self, console: Console, nights: list[Night]) -> None:
        events = sum(len(played.events) for played in nights)
        console.print(f"{counted(len(nights), 'stream')}, {counted(events, 'event')}", highlight=False)
        for played in nights:
            for name, seq in played.irregularities:
                console.print(f"  {played.stream} #{seq}: {name}", highlight=False, soft_wrap=True)
        for played in nights:
            for name in played.missed:
                console.print(f"  {played.stream}: no occasion for {name}", highlight=False, soft_wrap=True)


def _ndjson(played: Night) -> str:
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in played.events)
