"""Webhooks: where a casino's changes of findings are sent, with which secrets, and what could not be delivered."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.adjudication import Severity
from audit.models.casinos import Casino
from audit.models.feed import FindingChange


def every_severity() -> list[str]:
    """Return all severities: what a webhook is sent unless it is limited."""
    return list(Severity.values)


class Webhook(models.Model):
    """An address that is sent every change of a casino's findings, in their order, and its alerts if it wants them.

    The outbox is the feed itself: ``position`` is the last change that was delivered, or given up as a dead letter.
    ``failures`` counts since the last success; ``leased_until`` is while a worker sends.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="webhooks", verbose_name=_("casino"))
    name = models.CharField(_("name"), max_length=200)
    url = models.CharField(_("address"), max_length=500)
    severities = ArrayField(
        models.CharField(max_length=16, choices=Severity), default=every_severity, verbose_name=_("severities")
    )
    receives_alerts = models.BooleanField(_("alerts"), default=False, db_default=False)
    is_active = models.BooleanField(_("active"), default=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    position = models.BigIntegerField(default=0)
    failures = models.IntegerField(_("failed attempts"), default=0)
    failing_since = models.DateTimeField(_("failing since"), null=True)
    next_try_at = models.DateTimeField(_("next attempt"), null=True)
    error = models.CharField(_("error"), max_length=300, blank=True, default="")
    delivered_at = models.DateTimeField(_("last delivered"), null=True)
    leased_until = models.DateTimeField(null=True)

    test_requested_at = models.DateTimeField(null=True)
    tested_at = models.DateTimeField(_("tested"), null=True)
    test_result = models.CharField(_("result of the test"), max_length=300, blank=True, default="")

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["casino", "name", "pk"]

    def __str__(self) -> str:
        return self.name


class WebhookSecret(models.Model):
    """A secret that signs: the newest, and for a time the one before it. Web servers write it and cannot read it."""

    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, related_name="secrets")
    secret = models.CharField(max_length=100)  # whsec_ and 32 bytes in base64
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)  # None: not before another replaces it

    def __str__(self) -> str:
        return f"{self.webhook_id}"


class DeadLetter(models.Model):
    """A change that a webhook did not take within the time: kept, shown at the desk, sent again when an officer wants.

    ``again_at`` is when that was requested, None once it was tried; ``sent_at`` when it was taken after all.
    """

    webhook = models.ForeignKey(
        Webhook, on_delete=models.PROTECT, related_name="dead_letters", verbose_name=_("webhook")
    )
    change = models.ForeignKey(FindingChange, on_delete=models.PROTECT, related_name="+")
    error = models.CharField(_("error"), max_length=300, blank=True, default="")
    given_up_at = models.DateTimeField(_("given up"))
    again_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(_("sent"), null=True)

    class Meta:
        verbose_name = _("failed delivery")
        verbose_name_plural = _("failed deliveries")
        ordering = ["-given_up_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["webhook", "change"], name="one_dead_letter_a_change")]

    def __str__(self) -> str:
        return f"{self.webhook} #{self.change.position}"
