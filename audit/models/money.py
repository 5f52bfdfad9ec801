"""What is kept of a stream's money per person: a projection, computed once when a night reads the stream."""

from __future__ import annotations

from django.db import models

from audit.models.event_store import LoggedStream


class StreamMoney(models.Model):
    """The money of the players of a session or a count room through an event: ``settlement.persons.stream_money``.

    Persons are opaque ids in it, as in the events. It can be computed again from the event store.
    """

    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="money")
    last_seq = models.BigIntegerField()
    engine_version = models.CharField(max_length=32)
    readings = models.CharField(max_length=64, default="", blank=True)  # digest of what the register says of the stream
    corrections = models.CharField(max_length=64, default="", blank=True)  # what officers decided about them
    money = models.BinaryField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "last_seq", "engine_version", "readings", "corrections"],
                name="one_money_a_stream_and_readings",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} @ {self.last_seq}"
