"""``manage.py replay``: replay one stream to its end now, or run a what-if over many and show the difference."""

from __future__ import annotations

import multiprocessing
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from django.db import connections
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from audit.adjudication import promotion, what_if_worker
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.replay import advance
from audit.adjudication.what_if import Selection, WhatIfRejected
from audit.event_store import archived, audit_trail
from audit.exports.what_if_difference import write_csv, write_json
from audit.management.counted import counted
from audit.management.terminal import BaseCommand, Console
from audit.models import LoggedStream, WhatIf
from audit.presentation import payment_error
from settlement import RULESETS, ShapeError
from settlement.catalogue import RULES


def _readings(text: str) -> dict[str, Any]:
    try:
        return what_if_runs.parse_readings(text)
    except WhatIfRejected as error:
        raise ArgumentTypeError(str(error)) from None


class Command(BaseCommand):
    help = (
        "Replay a stream to its end now; or run a what-if: replay streams under other readings or by this version of "
        "the engine, and show what differs from the standing findings. A what-if that was stopped is resumed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        mode = parser.add_mutually_exclusive_group(required=True)
        mode.add_argument("--stream", help="replay this stream to its end")
        mode.add_argument("--what-if", metavar="NAME", help="start or resume the what-if run of this name")
        mode.add_argument("--diff", metavar="NAME", help="write the difference of this what-if run")
        mode.add_argument(
            "--promote", metavar="NAME", help="after an upgrade: have the streams of this what-if run read again"
        )
        parser.add_argument(
            "--readings",
            type=_readings,
            default={},
            metavar="NAME=VALUE,…",
            help="readings that replace those of the sessions",
        )
        parser.add_argument("--casino", metavar="CODE", help="streams of this casino")
        parser.add_argument("--from", type=date.fromisoformat, dest="first_day", metavar="DAY", help="gaming days from")
        parser.add_argument("--to", type=date.fromisoformat, dest="last_day", metavar="DAY", help="gaming days through")
        parser.add_argument("--ruleset", choices=sorted(RULESETS))
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that replay")
        parser.add_argument("--format", choices=("csv", "json"), default="csv")
        parser.add_argument("--output", metavar="FILE", help="default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["stream"]:
            self._one(options["stream"], options["casino"])
        elif options["what_if"]:
            self._what_if(options)
        elif options["promote"]:
            self._promote(options)
        else:
            self._difference(options)

    def _one(self, name: str, casino: str | None) -> None:
        streams = LoggedStream.objects.filter(name=name, is_of_desk=False)
        if casino:
            streams = streams.filter(casino__code=casino)
        stream_ids = list(streams.values_list("stream_id", flat=True)[:2])
        if len(stream_ids) != 1:
            reason = "Several casinos have one: add --casino." if stream_ids else "There is no such stream."
            raise CommandError(reason)
        try:
            archived.demand_here(stream_ids[0])
        except archived.StreamArchived as error:
            raise CommandError(str(error)) from None
        folded = 0
        while (progress := advance(stream_ids[0])) is not None:
            folded += progress.folded
            if not progress.behind:
                self.stdout.write(f"{counted(folded, 'event')}; adjudicated through {progress.cursor}")
                return
        raise CommandError("Another worker holds the stream.")

    def _what_if(self, options: dict[str, Any]) -> None:
        selection = Selection(options["casino"], options["first_day"], options["last_day"], options["ruleset"])
        try:
            what_if = what_if_runs.begin(
                options["what_if"], readings=options["readings"], selection=selection, actor=audit_trail.account_name()
            )
        except (ShapeError, WhatIfRejected) as error:
            raise CommandError(str(error)) from None
        streams = what_if_runs.streams_of(what_if)
        if not streams:
            raise CommandError("No stream is selected.")
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        try:
            with Progress(*columns, console=console) as bar:
                task = bar.add_task("streams", total=len(streams), rate="")
                events = 0
                for folded in _replayed(what_if, streams, options["workers"]):
                    events += folded
                    elapsed = bar.tasks[task].elapsed or 0.001
                    bar.update(task, advance=1, rate=f"{counted(events, 'event')}, {events / elapsed:,.0f} a second")
        except KeyboardInterrupt:
            raise CommandError("Stopped; the same command resumes it.", returncode=130) from None
        what_if_runs.end(what_if)
        self._print_totals(what_if)

    def _print_totals(self, what_if: WhatIf) -> None:
        table = Table(box=None, title=f"{what_if.name}: findings that differ")
        for heading in ("rule", "appeared", "disappeared", "changed", "paid other than due"):
            table.add_column(heading, justify="left" if heading == "rule" else "right")
        totals = what_if_runs.totals(what_if_runs.difference(what_if))
        for total in totals:
            table.add_row(
                total.rule,
                *(str(number) for number in (total.appeared, total.disappeared, total.changed)),
                _paid_otherwise(total),
            )
        out = cast(TextIO, self.stdout)  # it passes every call on to the stream
        console = Console(file=out, width=None if sys.stdout.isatty() else 120)
        if totals:
            console.print(table)
        else:
            console.print("No finding differs.")

    def _difference(self, options: dict[str, Any]) -> None:
        what_if = _known(options["diff"], options["casino"])
        write = write_csv if options["format"] == "csv" else write_json
        if options["output"]:
            with open(options["output"], "w", encoding="utf-8", newline="") as file:
                write(what_if_runs.difference(what_if), file)
        else:
            write(what_if_runs.difference(what_if), self.stdout)

    def _promote(self, options: dict[str, Any]) -> None:
        what_if = _known(options["promote"], options["casino"])
        try:
            promotion.promote_as(what_if, audit_trail.account_name())
        except promotion.PromotionRefused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(
            f"{counted(what_if.streams, 'stream')} to read again by engine version {what_if.engine_version}."
        )


def _paid_otherwise(total: what_if_runs.Total) -> str:
    """Return what was paid other than due before and after, without a sign; "" if the rule is about no amount."""
    rule = RULES[total.rule]
    if not (total.currency and rule.expected_is == rule.recorded_is == "money"):
        return ""
    before, after = (
        payment_error(minor, total.currency, of_several=True) for minor in (total.before_minor, total.after_minor)
    )
    return f"{before} → {after}"


def _known(name: str, casino: str | None) -> WhatIf:
    """Return the what-if run of a name at a casino; without one, the only run of that name. Raise ``CommandError``."""
    found = WhatIf.objects.filter(name=name, **({"casino__code": casino} if casino else {}))
    match list(found[:2]):
        case []:
            raise CommandError(f"There is no what-if run '{name}'.")
        case [what_if]:
            return what_if
        case _:
            raise CommandError("Several casinos have one: add --casino.")


def _replayed(what_if: WhatIf, streams: list[int], workers: int) -> Iterator[int]:
    """Replay streams in ``workers`` processes; yield how many events were folded of each stream, as it ends."""
    if workers < 2:
        for stream_id in streams:
            yield what_if_worker.replay_one(what_if.pk, stream_id)
        return
    connections.close_all()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=what_if_worker.set_up) as pool:
        futures = [pool.submit(what_if_worker.replay_one, what_if.pk, stream_id) for stream_id in streams]
        try:
            for future in as_completed(futures):
                yield future.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
