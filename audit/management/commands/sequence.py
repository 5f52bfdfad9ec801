"""``manage.py sequence``: the sequencer's process, which seals accepted batches into the tree and signs it."""

from __future__ import annotations

import signal
import threading
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection, transaction
from django.db.utils import DatabaseError, InterfaceError, OperationalError

from audit import heartbeats, task_runs
from audit.event_store import cluster
from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.models import LeftBatch, LogFork
from audit.transparency import witnesses
from audit.transparency.checkpoint_export import Exporter
from audit.transparency.integrity_findings import report_tampering
from audit.transparency.pending import Left
from audit.transparency.sequencer import Fenced, Forked, Sequencer, catch_up
from audit.transparency.signing_keys import NoSigningKey

PAUSE_S = 0.02
"""The pause between two rounds: batches that arrive meanwhile share one checkpoint."""

RETRY_S = 1.0
"""The pause before the lock, the database or the signing key is tried again."""

FORKED_RETRY_S = 5.0
"""The pause before a log that has forked is looked at again."""

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Seal accepted batches into the tree and sign checkpoints, until SIGINT or SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="seal and sign pending batches, export the newest checkpoint, have it cosigned, and end",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = threading.Event()
        if options["once"]:
            self._once()
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        exporter = threading.Thread(target=self._export_regularly, name="exporter", daemon=True)
        exporter.start()
        witnessing = threading.Thread(target=self._ask_witnesses_regularly, name="witnesses", daemon=True)
        witnessing.start()
        while not self.stopping.is_set():
            try:
                self._lead()
            except Fenced as error:
                log.warning("fenced", error=str(error))
            except NoSigningKey as error:
                log.error("nothing to sign with", error=str(error))
                self.stopping.wait(RETRY_S)
            except Forked as error:
                self._wait_for_recovery(error)
            except (OperationalError, InterfaceError) as error:
                log.warning("no database", error=str(error))
                connection.close()
                self.stopping.wait(RETRY_S)
        connection.close()
        exporter.join(timeout=RETRY_S)
        witnessing.join(timeout=RETRY_S)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping.set()

    def _wait_for_recovery(self, error: Forked) -> None:
        """Sign nothing, say so to whoever watches, and look again: until somebody restores or recovers the log."""
        log.critical("forked", error=str(error), leaves=error.leaves, signed=error.signed_size)
        values = {"leaves": error.leaves, "signed_size": error.signed_size}
        now = datetime.now(UTC)
        LogFork.objects.update_or_create(defaults=values, create_defaults={**values, "found_at": now}, id=1)
        heartbeats.beat("sequencer")  # it is alive: what fails is the log
        self.stopping.wait(FORKED_RETRY_S)

    def _once(self) -> None:
        sequencer = Sequencer(_report)
        try:
            if not sequencer.lead():
                raise CommandError("Another sequencer is running.")
            sequencer.load()
            catch_up(sequencer)
        except Fenced as error:
            raise CommandError(f"{error}: run this again.") from error
        except (Forked, NoSigningKey) as error:
            raise CommandError(str(error)) from error
        for failure in [*map(str, Exporter().round()), *witnesses.ask_all()]:
            self.stderr.write(failure)
        self.stdout.write(f"sealed: {counted(sequencer.frontier.size, 'batch', 'batches')}")

    def _lead(self) -> None:
        """Wait for the lock; then seal and sign until a signal, or until an exception calls for a new start."""
        sequencer = Sequencer(_report)
        while not sequencer.lead():
            heartbeats.touch()
            if self.stopping.wait(RETRY_S):
                return
        sequencer.load()
        LogFork.objects.all().delete()
        _forget_settled()
        log.info("sequencing", size=sequencer.frontier.size)
        while not self.stopping.is_set():
            sequencer.round()
            heartbeats.beat("sequencer")
            self.stopping.wait(PAUSE_S)

    def _export_regularly(self) -> None:
        """Export the newest checkpoint in a thread of its own, so that a slow target delays no sealing."""
        exporter = Exporter()
        while True:
            is_last = self.stopping.wait(settings.CABOCHON_EXPORT_S)
            try:
                for failure in exporter.round():
                    log.error("checkpoint not exported", error=str(failure))
                    task_runs.note_failure("exports", failure.__cause__ or failure)
            except (DatabaseError, InterfaceError) as error:
                log.warning("no database", error=str(error))
                connection.close()
            if is_last:
                connection.close()
                return

    def _ask_witnesses_regularly(self) -> None:
        """Send the newest checkpoint to the witnesses in a thread of its own: they are far, and sealing never waits."""
        while True:
            is_last = self.stopping.wait(settings.CABOCHON_WITNESS_EVERY)
            try:
                for failure in witnesses.ask_all():
                    log.error("not cosigned", error=failure)
            except (DatabaseError, InterfaceError) as error:
                log.warning("no database", error=str(error))
                connection.close()
            if is_last:
                connection.close()
                return


def _report(left: Left) -> None:
    """Say which batch is not sealed; of one that was altered open a finding."""
    pending, (stream_id, first_seq) = left.pending, left.key
    LeftBatch.objects.bulk_create(
        [
            LeftBatch(
                stream_id=stream_id,
                first_seq=first_seq,
                last_seq=pending.batch.last_seq if pending else None,
                stream=pending.stream.name if pending else "",
                cause=left.cause,
                found_at=datetime.now(UTC),
            )
        ],
        ignore_conflicts=True,
    )
    if pending and left.root is not None:
        with transaction.atomic():  # a finding of a casino that does not exist is refused
            report_tampering(stream_id, first_seq, expected=pending.batch.root, recorded=left.root)


_FORGET_SETTLED = """
delete from audit_leftbatch l where not exists (
  select from log.outbox o where o.stream_id = l.stream_id and o.first_seq = l.first_seq)
"""


def _forget_settled() -> None:
    """Forget the batches that were left and are sealed by now, or gone."""
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(_FORGET_SETTLED))
