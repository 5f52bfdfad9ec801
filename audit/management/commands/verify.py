"""``manage.py verify``: recompute the log from its stored bytes and say what does not hold."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from audit.models import LoggedStream
from audit.transparency import signing_keys, tree, verify
from audit.transparency.checkpoint_export import notes_in
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, checkpoint_in
from audit.transparency.verify import Outcome


class Command(BaseCommand):
    help = (
        "Recompute every leaf, root, chain, tree and signature of the log. Ends with 1 where something does not hold, "
        "and names the first stream, event and batch that is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--stream", help="only the events of this stream")
        parser.add_argument("--casino", help="the casino of --stream, where several have one of that name")
        parser.add_argument(
            "--since", metavar="CHECKPOINT", help="only what this checkpoint (a file, or its size) lacks"
        )
        parser.add_argument("--against", metavar="DIR", type=Path, help="compare with the checkpoints kept in a folder")
        parser.add_argument(
            "--key", action="append", metavar="VKEY", help="trust only this public key, not those that the log names"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        verifiers = self._verifiers(options["key"])
        since = self._since(options["since"], verifiers) if options["since"] else None
        outside = []
        if options["against"]:
            outside = [(path.name, note) for path, note in notes_in(options["against"])]
            if not outside:
                raise CommandError(f"There are no checkpoints in {options['against']}.")
        streams = [self._stream(options["stream"], options["casino"])] if options["stream"] else None
        begun = time.monotonic()
        with Console(stderr=True).status("Reading the log …") as status:

            def show(outcome: Outcome) -> None:
                rate = outcome.events / max(time.monotonic() - begun, 0.001)
                status.update(f"{outcome.events:,} events of {outcome.streams:,} streams, {rate:,.0f} a second")

            outcome = verify.verify(
                verifiers, signing_keys.origin(), streams=streams, since=since, outside=outside, progress=show
            )
        self._say(outcome, time.monotonic() - begun, len(outside))
        if outcome.faults:
            raise CommandError(f"{len(outcome.faults) + outcome.unlisted} faults. The first: {outcome.faults[0]}")

    def _say(self, outcome: Outcome, took_s: float, outside: int) -> None:
        for fault in outcome.faults:
            self.stdout.write(str(fault))
        if outcome.unlisted:
            self.stdout.write(f"… and {outcome.unlisted} more")
        compared = f", {outside} kept elsewhere" if outside else ""
        self.stdout.write(
            f"{outcome.events:,} events, {outcome.batches:,} batches, {outcome.streams:,} streams, "
            f"{outcome.leaves:,} leaves, {outcome.checkpoints:,} checkpoints{compared}; "
            f"{outcome.events / max(took_s, 0.001):,.0f} events a second"
        )
        if not outcome.faults:
            self.stdout.write("Everything holds.")

    def _verifiers(self, given: list[str] | None) -> list[Verifier]:
        if given is None:
            return signing_keys.verifiers("checkpoint")
        try:
            return [Verifier.of(written) for written in given]
        except BadNote as error:
            raise CommandError(str(error)) from None

    def _since(self, given: str, verifiers: list[Verifier]) -> Checkpoint:
        """Return the checkpoint of a file or of a size, signed by a key that is trusted."""
        if given.isdecimal():
            head = tree.head_of_size(int(given))
            if head is None:
                raise CommandError(f"No checkpoint was signed at {given} leaves.")
            note = head.note
        else:
            try:
                note = Path(given).read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{given} cannot be read: {error}") from None
        try:
            return checkpoint_in(note, verifiers, origin=signing_keys.origin())
        except BadNote as error:
            raise CommandError(f"{given}: {error}") from None

    def _stream(self, name: str, casino: str | None) -> int:
        streams = LoggedStream.objects.filter(name=name)
        if casino:
            streams = streams.filter(casino__code=casino)
        found = list(streams.values_list("stream_id", flat=True)[:2])
        if len(found) != 1:
            raise CommandError("There is no such stream." if not found else "Several casinos have one: say --casino.")
        return int(found[0])
