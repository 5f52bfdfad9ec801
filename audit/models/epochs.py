"""Epochs of the log: a restored record goes on under another name. And what the sequencer does not sign."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class LogEpoch(models.Model):
    """An epoch after the first: opened by ``manage.py recover``, in one statement with its entry of the audit trail.

    The tree of the epoch before had ``signed_size`` leaves, as far as is known; ``kept`` of them are here, and this
    epoch goes on after them. Up to ``forked_at`` they are those that were signed. ``note`` says all of it, signed with
    the keys of both epochs.
    """

    number = models.IntegerField(primary_key=True)  # from 2
    origin = models.TextField(unique=True)
    kept = models.BigIntegerField()
    forked_at = models.BigIntegerField()
    signed_size = models.BigIntegerField()
    note = models.TextField()
    opened_at = models.DateTimeField()
    entry_stream = models.CharField(max_length=200)
    entry_seq = models.BigIntegerField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.CheckConstraint(condition=models.Q(number__gte=2), name="epochs_from_the_second"),
            models.CheckConstraint(
                condition=models.Q(forked_at__gte=0, kept__gte=models.F("forked_at")), name="epoch_keeps_its_beginning"
            ),
        ]

    def __str__(self) -> str:
        return self.origin


class LogFork(models.Model):
    """The log is not the one that was signed: one row, while the sequencer refuses to sign because of that."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    leaves = models.BigIntegerField()  # that are here
    signed_size = models.BigIntegerField()  # of the largest checkpoint that was signed
    found_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.leaves} of {self.signed_size}"


class LeftBatch(models.Model):
    """A batch that the sequencer does not seal, and why. Deleted when it is sealed after all, or gone.

    ``stream`` is "" and ``last_seq`` None where the outbox names a batch that is not there.
    """

    class Cause(models.TextChoices):
        ALTERED = "altered", _("the stored events are not those that were accepted")
        NO_ENVELOPE = "no-envelope", _("a body is not the envelope of its event")
        BACK_DATED = "back-dated", _("its date of receipt is before what is already sealed")
        UNREADABLE = "unreadable", _("the database cannot read it")
        MISSING = "missing", _("there is no such batch")

    stream_id = models.BigIntegerField()
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField(null=True)
    stream = models.TextField()
    cause = models.CharField(max_length=20, choices=Cause)
    found_at = models.DateTimeField()

    class Meta:
        ordering = ["found_at", "stream_id", "first_seq"]
        constraints = [models.UniqueConstraint(fields=["stream_id", "first_seq"], name="batch_is_left_once")]

    def __str__(self) -> str:
        return f"{self.stream or self.stream_id} {self.first_seq}–{self.last_seq or self.first_seq}"
