"""The replay queue: which streams wait for a worker, and whose turn it is. Hints and sweeps fill it.

It is no part of the record and may be emptied at any time: the sweep fills it again from the streams themselves.
"""

from __future__ import annotations

from django.db import models


class WaitingStream(models.Model):
    """A stream that waits for a worker, or that one has taken: ``holder`` is the worker's database connection.

    A row whose connection has ended is free again. ``hints`` counts the hints, so that one that comes while the stream
    is replayed is not lost.
    """

    stream_id = models.BigIntegerField(primary_key=True)
    casino_id = models.BigIntegerField()
    since = models.DateTimeField()  # when it came, or when it last had its turn
    hints = models.BigIntegerField(default=1)
    holder_pid = models.IntegerField(null=True)
    holder_began = models.DateTimeField(null=True)  # with the pid, it names one connection

    class Meta:
        indexes = [models.Index(fields=["casino_id", "since"], name="waiting_by_casino")]

    def __str__(self) -> str:
        return str(self.stream_id)


class CasinoTurn(models.Model):
    """When a casino's streams last had a turn; later than that by the processor time that its turns took of late."""

    casino_id = models.BigIntegerField(primary_key=True)
    last_turn_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.casino_id)


class LeafCursor(models.Model):
    """The only row: the next leaf of the tree whose stream has not been put in the queue."""

    next_leaf = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.next_leaf)


class TaskRun(models.Model):
    """When a periodic task, by its name in the schedule, last ran to its end."""

    name = models.CharField(primary_key=True, max_length=64)
    ran_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class TaskFailure(models.Model):
    """How often a task has failed, by its name, and its last error. Its sweep tries again; this says that it had to."""

    name = models.CharField(primary_key=True, max_length=64)
    failures = models.BigIntegerField(default=1)
    failed_at = models.DateTimeField()
    error = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.name


class Heartbeat(models.Model):
    """When a process of the deployment last did its work: ``beat``, ``replay``, ``night``, ``sequencer``."""

    name = models.CharField(primary_key=True, max_length=32)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
