"""Months whose events are in an archive, or were destroyed after their retention."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class ArchiveState(models.TextChoices):
    """Where the events of a month are."""

    ARCHIVED = "archived", _("archived")
    ATTACHED = "attached", _("attached")  # in the archive, and here again to be read
    DESTROYED = "destroyed", _("destroyed")


class ArchivedMonth(models.Model):
    """A month whose events were taken out of the database. Written in one statement with its entries of the trail.

    ``low`` and ``high`` are the stream ids of the month, the second excluded. ``digest`` is the SHA-256 of the file, as
    hex; ``note`` says what is in it, signed with the log's key. ``batches`` and ``events`` count those that were taken
    out: of tables and counts, without the audit trail, which stays.
    """

    month = models.DateField(_("month"), primary_key=True)
    low = models.BigIntegerField()
    high = models.BigIntegerField()
    state = models.CharField(_("state"), max_length=16, choices=ArchiveState)
    file = models.TextField(_("file"))
    digest = models.CharField(max_length=64)
    batches = models.BigIntegerField()
    events = models.BigIntegerField()
    note = models.TextField()
    archived_at = models.DateTimeField(_("archived"))
    entry_stream = models.CharField(max_length=200)  # of the newest entry about the month
    entry_seq = models.BigIntegerField()
    destruction_note = models.TextField(blank=True)
    destroyed_at = models.DateTimeField(_("destroyed"), null=True)

    class Meta:
        ordering = ["month"]
        verbose_name = _("archived month")
        verbose_name_plural = _("archived months")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=ArchiveState.values), name="archived_month_state_is_one"
            ),
            models.CheckConstraint(condition=models.Q(low__lt=models.F("high")), name="archived_month_has_streams"),
            models.CheckConstraint(
                condition=models.Q(state="destroyed", destroyed_at__isnull=False)
                | models.Q(~models.Q(state="destroyed"), destroyed_at=None, destruction_note=""),
                name="archived_month_destroyed_by_an_act",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"
