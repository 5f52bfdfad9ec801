"""``manage.py sequence``: the process that seals accepted batches into the tree and signs it."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.utils import InterfaceError, OperationalError

from audit.transparency import tree
from audit.transparency.checkpoint_export import ExportFailed, export, targets
from audit.transparency.integrity_findings import report_tampering
from audit.transparency.sequencer import Forked, Moved, Sequencer, Waiting, catch_up
from audit.transparency.signing_keys import NoSigningKey

PAUSE_S = 0.02
"""The pause between two rounds: what comes meanwhile shares one checkpoint."""

AGAIN_S = 1.0
"""The pause before another try: to lead, to reach the database."""

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Seal accepted batches into the tree and sign its checkpoints, until a signal comes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="seal and sign what waits, export, and end")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = threading.Event()
        if options["once"]:
            self._once()
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask_to_stop)
        exporter = threading.Thread(target=self._export_now_and_then, name="exporter", daemon=True)
        exporter.start()
        while not self.stopping.is_set():
            try:
                self._work()
            except Moved as error:
                log.warning("fenced", error=str(error))
            except NoSigningKey as error:
                log.error("nothing to sign with", error=str(error))
                self.stopping.wait(AGAIN_S)
            except Forked as error:
                raise CommandError(f"{error}. Nothing is signed; run manage.py verify.") from error
            except (OperationalError, InterfaceError) as error:
                log.warning("no database", error=str(error))
                connection.close()
                self.stopping.wait(AGAIN_S)
        connection.close()
        exporter.join(timeout=AGAIN_S)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping.set()

    def _once(self) -> None:
        sequencer = Sequencer(_report)
        try:
            if not sequencer.lead():
                raise CommandError("Another sequencer works on this log.")
            sequencer.load()
            catch_up(sequencer)
        except (Forked, NoSigningKey) as error:
            raise CommandError(str(error)) from error
        for problem in _export_newest():
            self.stderr.write(problem)
        self.stdout.write(f"{sequencer.frontier.size} batches are sealed.")

    def _work(self) -> None:
        """Seal and sign until there is a reason to begin again."""
        sequencer = Sequencer(_report)
        while not sequencer.lead():
            if self.stopping.wait(AGAIN_S):
                return
        sequencer.load()
        log.info("sequencing", size=sequencer.frontier.size)
        while not self.stopping.is_set():
            sequencer.round()
            self.stopping.wait(PAUSE_S)

    def _export_now_and_then(self) -> None:
        """Keep the newest checkpoint outside, apart from the sealing: a slow address holds nothing up."""
        exported = 0
        while True:
            ends = self.stopping.wait(settings.CABOCHON_EXPORT_S)
            try:
                newest = tree.newest_head()
                if newest is not None and newest.size > exported:
                    exported = newest.size
                    for problem in _export_newest():
                        log.error("checkpoint not exported", error=problem)
            except (OperationalError, InterfaceError) as error:
                log.warning("no database", error=str(error))
                connection.close()
            if ends:
                connection.close()
                return


def _export_newest() -> list[str]:
    """Put the newest checkpoint to every target; return what went wrong."""
    newest = tree.newest_head()
    problems: list[str] = []
    for target in targets() if newest is not None else []:
        try:
            export(newest, target)
        except ExportFailed as error:
            problems.append(str(error))
    return problems


def _report(waiting: Waiting, root: bytes) -> None:
    report_tampering(waiting.stream.stream_id, waiting.batch.first_seq, expected=waiting.batch.root, recorded=root)
