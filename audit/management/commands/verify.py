"""``manage.py verify``: recompute the log from its stored bytes and report what does not hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from audit.archive.verify import wrong_files
from audit.event_store.damage import described, is_damage
from audit.evidence.verify import printable
from audit.management.counted import counted
from audit.management.terminal import BaseCommand, Console
from audit.models import FIRST_SANDBOX_ID, Casino, LoggedStream
from audit.projections.ended_keys import WITHIN
from audit.projections.found import Figures
from audit.projections.verify import verify_derived
from audit.transparency import epochs, signing_keys, tree, verify
from audit.transparency.checkpoint_export import notes_in
from audit.transparency.outcome import Outcome
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, open_note


class Command(BaseCommand):
    help = (
        "Recompute every leaf, root, chain, tree and signature of the log, and hold against it what tables say: "
        "findings, cases, decisions, the house register, nights and signatures. If something does not hold, the exit "
        "status is 1 and the last line names the first that is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--stream", help="only the events of this stream")
        parser.add_argument(
            "--casino", help="the casino of --stream, or the only one whose tables are held against the log"
        )
        parser.add_argument(
            "--since", metavar="CHECKPOINT", help="only what this checkpoint (a file, or its size) does not cover"
        )
        parser.add_argument(
            "--against", metavar="DIR", type=Path, help="compare with the checkpoints exported to a folder"
        )
        parser.add_argument(
            "--deep", action="store_true", help="adjudicate every session again, whatever the log keeps of its findings"
        )
        parser.add_argument(
            "--archive", metavar="DIR", type=Path, help="read and prove the files of archived months, too"
        )
        parser.add_argument(
            "--key", action="append", metavar="VKEY", help="trust only this public key, not those in the log"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._verify(options)
        except verify.HeldUp as held_up:
            raise CommandError(str(held_up)) from None
        except DatabaseError as error:
            if not is_damage(error):
                raise
            raise CommandError(
                f"The database cannot read {described(error)}: the disk has not kept it. Nothing more was verified. "
                "Restore it, see docs/log.md."
            ) from error

    def _verify(self, options: dict[str, Any]) -> None:
        verifiers = self._verifiers(options["key"])
        since = self._since(options["since"], verifiers) if options["since"] else None
        outside = []
        if options["against"]:
            outside = [(path.name, note) for path, note in notes_in(options["against"])]
            if not outside:
                raise CommandError(f"There are no checkpoints in {options['against']}.")
        streams = [self._stream(options["stream"], options["casino"])] if options["stream"] else None
        started = time.monotonic()
        with Console(stderr=True).status("Reading the log …") as status:

            def show(outcome: Outcome) -> None:
                rate = outcome.events / max(time.monotonic() - started, 0.001)
                status.update(
                    f"{counted(outcome.events, 'event')} of {counted(outcome.streams, 'stream')}, {rate:,.0f} a second"
                )

            casino_id = self._casino(options["casino"]) if streams is None else None
            with verify.one_snapshot():
                outcome = verify.verify(
                    verifiers,
                    streams=streams,
                    since=since,
                    outside=outside,
                    decisions=[] if streams else [casino_id],
                    progress=show,
                )
                duration_s = time.monotonic() - started
                status.update("Holding the tables against the log …")

                def show_derived(figures: Figures) -> None:
                    again = f", {counted(figures.again, 'session')} adjudicated again" if figures.again else ""
                    status.update(f"{counted(figures.findings, 'finding')} held against the log{again}")

                figures = None
                if streams is None:
                    figures = self._verify_derived(casino_id, outcome, show_derived, deep=options["deep"])
                if options["archive"]:
                    status.update("Reading the archive …")
                    for fault in wrong_files(options["archive"], outcome, verifiers):
                        outcome.add(fault)
        self._print(outcome, figures, duration_s, len(outside))
        if outcome.faults:
            first = printable(str(outcome.listed()[0]))
            raise CommandError(f"{counted(len(outcome.faults) + outcome.unlisted, 'fault')}. The first: {first}")

    def _verify_derived(
        self, casino_id: int | None, outcome: Outcome, progress: Callable[[Figures], None], *, deep: bool
    ) -> Figures:
        derived = verify_derived(casino_id, outcome, deep=deep, progress=progress)
        for fault in derived.faults:
            outcome.add(fault)
        return derived.figures

    def _print(self, outcome: Outcome, figures: Figures | None, duration_s: float, outside: int) -> None:
        for fault in outcome.listed():
            self.stdout.write(printable(str(fault)))
        if outcome.unlisted:
            self.stdout.write(f"… and {outcome.unlisted} more")
        if outcome.faults:
            counts = ", ".join(f"{part} {count:,}" for part, count in sorted(outcome.counts.items()))
            self.stdout.write(f"Faults by part: {counts}")
        compared = f", {outside} exported" if outside else ""
        self.stdout.write(
            f"{counted(outcome.events, 'event')}, {counted(outcome.batches, 'batch', 'batches')}, "
            f"{counted(outcome.streams, 'stream')}, {counted(outcome.leaves, 'leaf', 'leaves')}, "
            f"{counted(outcome.checkpoints, 'checkpoint')}{compared}; "
            f"{outcome.events / max(duration_s, 0.001):,.0f} events a second"
        )
        for epoch in outcome.epochs:
            self.stdout.write(
                f"Epoch {epoch.number}, {epoch.origin}, began after {counted(epoch.kept, 'leaf', 'leaves')}: of the "
                f"{epoch.signed_size} that were signed before, those after {epoch.forked_at} were lost."
            )
        for taken in outcome.archived.values():
            size = f"{counted(taken.streams, 'stream')}, {counted(taken.batches, 'batch', 'batches')}"
            read = "; read and proved" if taken.has_file else ""
            self.stdout.write(
                f"{taken.month.name} is {taken.month.where}: {size}, {counted(taken.events, 'event')}{read}"
            )
        if outcome.lost:
            self.stdout.write(f"Not compared: {counted(outcome.lost, 'checkpoint')} of leaves that were lost.")
        if figures is not None:
            again = f", {counted(figures.again, 'session')} adjudicated again" if figures.again else ""
            again += f", {counted(figures.away, 'session')} archived and not" if figures.away else ""
            self.stdout.write(f"{counted(figures.findings, 'finding')} held against the log{again}")
            for name, why in figures.passed_over.items():
                self.stdout.write(f"Not adjudicated again: {printable(name)}, {why}.")
            if figures.late_batches:
                batches = counted(figures.late_batches, "batch", "batches")
                self.stdout.write(f"Received at most {WITHIN.seconds} s after the end of their key: {batches}.")
            if figures.unstated:
                self.stdout.write(
                    "The log does not keep what "
                    f"{counted(figures.unstated, 'casino, table or role is', 'casinos, tables and roles are')} yet: "
                    "run manage.py keep."
                )
        if not outcome.faults:
            self.stdout.write("Everything holds.")

    def _verifiers(self, vkeys: list[str] | None) -> list[Verifier]:
        if vkeys is None:
            return signing_keys.verifiers("checkpoint")
        try:
            return [Verifier.parse(vkey) for vkey in vkeys]
        except BadNote as error:
            raise CommandError(str(error)) from None

    def _since(self, size_or_file: str, verifiers: list[Verifier]) -> Checkpoint:
        """Return the checkpoint of a size or in a file, signed by a trusted key."""
        if size_or_file.isdecimal():
            stored = tree.checkpoint_of_size(int(size_or_file))
            if stored is None:
                raise CommandError(f"No checkpoint was signed at size {size_or_file}.")
            note = stored.note
        else:
            try:
                note = Path(size_or_file).read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{size_or_file} cannot be read: {error}") from None
        try:
            checkpoint = Checkpoint.parse(open_note(note, verifiers))
        except BadNote as error:
            raise CommandError(f"{size_or_file}: {error}") from None
        if checkpoint.origin not in {epoch.origin for epoch in epochs.epochs()}:
            raise CommandError(f"{size_or_file}: the checkpoint is of '{checkpoint.origin}', not of this log")
        return checkpoint

    def _casino(self, code: str | None) -> int | None:
        """Return the casino whose decisions about corrections are verified; None for every one."""
        if code is None:
            return None
        casino = Casino.objects.filter(code=code).first()
        if casino is None:
            raise CommandError(f"There is no casino '{code}'.")
        return int(casino.pk)

    def _stream(self, name: str, casino: str | None) -> int:
        streams = LoggedStream.objects.filter(name=name, pk__lt=FIRST_SANDBOX_ID)
        if casino:
            streams = streams.filter(casino__code=casino)
        stream_ids = list(streams.values_list("stream_id", flat=True)[:2])
        if not stream_ids:
            raise CommandError("There is no such stream. Those of sandboxes are never sealed, and are not verified.")
        if len(stream_ids) > 1:
            raise CommandError("Several casinos have a stream of this name: give --casino.")
        return int(stream_ids[0])
