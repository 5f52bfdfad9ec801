"""The slips of fills and credits by casino and currency: a projection, so that a night finds those of earlier days."""

from __future__ import annotations

from django.db import models

from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream


class SlipUse(models.Model):
    """One use of a slip, as the last night that was reconciled read it. It can be computed again from the event store.

    ``series`` is everything before the last digits of ``slip``, ``number`` these digits, None without any.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    currency = models.CharField(max_length=3)
    gaming_day = models.DateField()
    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="slips")
    seq = models.BigIntegerField()
    slip = models.TextField()
    series = models.TextField()
    number = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "seq"], name="one_slip_use_an_event")]
        indexes = [
            models.Index(fields=["casino", "currency", "slip"], name="slip_uses_by_slip"),
            models.Index(fields=["casino", "currency", "series", "number"], name="slip_uses_by_series"),
        ]

    def __str__(self) -> str:
        return f"{self.slip} ({self.gaming_day})"
