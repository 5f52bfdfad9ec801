"""Alerts of tables that should report: one is silent, or what comes of it is late."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.case_messages import Delivery
from audit.models.casinos import Casino, GamingTable
from audit.models.officers import Officer
from audit.models.webhooks import Webhook


class AlertKind(models.TextChoices):
    """What is wrong with the feed of a table."""

    TABLE_SILENT = "table-silent", _("silent")  # nothing comes of an open session
    FEED_BEHIND = "feed-behind", _("behind")  # what comes is late, or waits for the law


class AlertEnd(models.TextChoices):
    """Why an alert ended."""

    EVENTS = "events", _("events arrive on time again")
    CLOSED = "closed", _("the session was closed")
    NOT_EXPECTED = "not-expected", _("the table is no longer expected to report")


class Alert(models.Model):
    """A table that does not report as it should: one row, from when that was noticed until it ended.

    ``since`` is the last event of a silent table, and the beginning of its hours if that is later; of a feed that is
    behind, the time at which the newest late event occurred or the oldest that waits for the law was received.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    table = models.ForeignKey(GamingTable, on_delete=models.PROTECT, related_name="alerts", verbose_name=_("table"))
    kind = models.CharField(_("kind"), max_length=16, choices=AlertKind)
    since = models.DateTimeField(_("since"))
    opened_at = models.DateTimeField(_("opened"))
    ended_at = models.DateTimeField(_("ended"), null=True)  # None while it lasts
    ended_by = models.CharField(max_length=16, choices=AlertEnd, blank=True, default="")

    class Meta:
        verbose_name = _("alert")
        verbose_name_plural = _("alerts")
        ordering = ["-opened_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["table", "kind"], condition=Q(ended_at=None), name="one_open_alert_a_kind"),
            models.CheckConstraint(condition=Q(kind__in=AlertKind.values), name="alert_kind_is_one"),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by="") | Q(ended_at__isnull=False, ended_by__in=AlertEnd.values),
                name="alert_ended_by_something",
            ),
        ]
        indexes = [models.Index(fields=["casino", "ended_at"], name="alerts_of_a_casino")]

    def __str__(self) -> str:
        return f"{self.table} {self.kind}"


class AlertNotice(Delivery):
    """A subscriber who is to be mailed that an alert was opened, or that it has ended."""

    alert = models.ForeignKey(Alert, on_delete=models.PROTECT, related_name="notices")
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+")
    is_of_end = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["alert", "officer", "is_of_end"], name="one_alert_notice_an_officer")
        ]
        indexes = [
            models.Index(fields=["officer"], condition=Q(sent_at=None, given_up_at=None), name="alert_notices_to_send")
        ]

    def __str__(self) -> str:
        return f"{self.alert_id} → {self.officer_id}"


class AlertMessage(Delivery):
    """A webhook, or the broker's exchange, that is to be sent that an alert was opened, or that it has ended."""

    alert = models.ForeignKey(Alert, on_delete=models.PROTECT, related_name="messages")
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.PROTECT, related_name="+")  # None: the exchange
    is_of_end = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "webhook", "is_of_end"], nulls_distinct=False, name="one_alert_message_a_receiver"
            )
        ]
        indexes = [
            models.Index(fields=["webhook"], condition=Q(sent_at=None, given_up_at=None), name="alert_messages_to_send")
        ]

    def __str__(self) -> str:
        return f"{self.alert_id} → {self.webhook_id}"
