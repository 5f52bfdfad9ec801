"""The event store's tables as read-only Django models. ``audit.event_store`` writes them; saving one raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino, GamingTable

FIRST_SANDBOX_ID = 1 << 51
"""The least id of a stream of a sandbox: see ``audit/event_store/sql/sandboxes.sql``."""


class AppendOnly(Exception):
    """A write to the log that does not go through ``audit.event_store``."""


class _ReadOnly(models.Model):
    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("only audit.event_store.append writes to the log")

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("the log is append-only")


class LoggedStream(_ReadOnly):
    """One session of one table, one count of one gaming day, or one day of a casino's desk (the audit trail)."""

    stream_id = models.BigIntegerField(primary_key=True)
    casino = models.ForeignKey(Casino, on_delete=models.DO_NOTHING, related_name="+", verbose_name=_("casino"))
    table = models.ForeignKey(
        GamingTable, null=True, on_delete=models.DO_NOTHING, related_name="+", verbose_name=_("table")
    )
    name = models.CharField(_("stream"), max_length=100)
    gaming_day = models.DateField(_("gaming day"))
    game = models.TextField(_("game"), null=True)
    ruleset = models.TextField(_("ruleset"), null=True)
    currency = models.CharField(_("currency"), max_length=3)
    opened_at = models.DateTimeField(_("opened"))
    is_of_desk = models.BooleanField(default=False)

    class Meta:
        managed = False
        db_table = '"log"."stream"'
        verbose_name = _("stream")
        verbose_name_plural = _("streams")

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_sandbox(self) -> bool:
        """Whether it is of a sandbox's table or count; what the desk enters about a sandbox is not."""
        return self.stream_id >= FIRST_SANDBOX_ID


def in_gaming_days(streams: models.QuerySet[LoggedStream], days: Mapping[str, Any]) -> models.QuerySet[LoggedStream]:
    """Filter by gaming day, ``first_day`` to ``last_day`` of ``days``, both included; either may be missing."""
    for name, lookup in (("first_day", "gaming_day__gte"), ("last_day", "gaming_day__lte")):
        if days.get(name):
            streams = streams.filter(**{lookup: days[name]})
    return streams


class LoggedBatch(_ReadOnly):
    """One accepted request: the RFC 6962 root over its events, and the stream's chain after it."""

    pk = models.CompositePrimaryKey("stream_id", "first_seq")
    stream_id = models.BigIntegerField()
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    next_seq = models.BigIntegerField()
    count = models.IntegerField()
    root = models.BinaryField()
    chain = models.BinaryField()
    key_id = models.BigIntegerField()
    received_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = '"log"."batch"'


class LoggedEvent(_ReadOnly):
    """One event, without its envelope: ``audit.event_store.read`` reads the bytes that were hashed."""

    pk = models.CompositePrimaryKey("stream_id", "seq")
    stream_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    occurred_at = models.DateTimeField(_("occurred"))

    class Meta:
        managed = False
        db_table = '"log"."event"'
        verbose_name = _("event")
        verbose_name_plural = _("events")
