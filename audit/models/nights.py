"""Reconciled nights: figures of sessions, runs, versions of reports with signatures and sign-off exceptions, mail."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream


class NightState(models.TextChoices):
    """How far a report is from being closed. Its content does not depend on it."""

    OPEN = "open", _("open")
    COUNTING = "counting", _("counting")
    PROVISIONAL = "provisional", _("provisional")
    REVIEWED = "reviewed", pgettext_lazy("night", "signed")
    CLOSED = "closed", pgettext_lazy("night", "closed")


class SessionFigures(models.Model):
    """The figures of a session through an event: a projection, which can be computed again from the event store."""

    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="figures")
    last_seq = models.BigIntegerField()
    engine_version = models.CharField(max_length=32)
    readings = models.CharField(max_length=64, default="", blank=True)  # digest of what the register says of the stream
    # What officers decided about corrections through ``last_seq``: ``audit.corrections.decisions.Decided.key``. "all":
    # computed before there were decisions, with every correction in effect.
    corrections = models.CharField(max_length=64, default="", blank=True)
    # What waits, and what it would change: ``audit.reconciliation.sessions.waiting_of``. Empty: nothing waits.
    waiting = models.JSONField(default=dict, blank=True)
    figures = models.BinaryField()
    # The recorded win as wagers were decided, minor units, as many points as are drawn. None: made before these were
    # kept, or of more wagers than are noted.
    win_line = models.JSONField(null=True)
    faults = models.IntegerField(default=0)  # of its chain, as verified then
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "last_seq", "engine_version", "readings", "corrections"],
                name="one_figures_a_session_and_decisions",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} @ {self.last_seq}"


class NightRun(models.Model):
    """One reconciliation of one gaming day. Its progress is the sessions whose figures are stored."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="night_runs", verbose_name=_("casino"))
    gaming_day = models.DateField(_("gaming day"))
    started_at = models.DateTimeField(_("started"), auto_now_add=True)
    started_by = models.CharField(_("started by"), max_length=200)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    through = models.JSONField(default=dict)  # the last seq that it reads, by stream id
    error = models.TextField(_("error"), blank=True)

    class Meta:
        verbose_name = _("night run")
        verbose_name_plural = _("night runs")
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["casino", "gaming_day"], condition=Q(ended_at=None), name="one_run_a_night_at_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.casino_id} {self.gaming_day}"


class NightReport(models.Model):
    """One version of the report of a casino's gaming day in a currency. A trigger forbids to change its content.

    ``content`` is canonical JSON. ``digest`` is the SHA-256 of the content without its watermark, so the same inputs
    have the same digest. The watermark, ``tree_size`` and ``tree_root``, is the signed tree at that time. ``through``
    is the last seq that it read, by stream id; ``sheet`` the restatement of the version before, empty for the first.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="nights", verbose_name=_("casino"))
    gaming_day = models.DateField(_("gaming day"))
    currency = models.CharField(_("currency"), max_length=3)
    version = models.IntegerField(_("version"))
    state = models.CharField(_("state"), max_length=16, choices=NightState)
    tree_size = models.BigIntegerField(_("tree size"))
    tree_root = models.CharField(_("root"), max_length=64, blank=True)
    engine_version = models.CharField(_("engine version"), max_length=32)
    content = models.BinaryField()
    digest = models.CharField(_("digest"), max_length=64)
    through = models.JSONField(default=dict)
    sheet = models.JSONField(_("restatement"), default=list)
    made_at = models.DateTimeField(_("issued"), auto_now_add=True)
    made_by = models.CharField(_("issued by"), max_length=200)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="reviewed_nights",
        verbose_name=_("first signature"),
    )
    reviewed_at = models.DateTimeField(pgettext_lazy("night", "signed"), null=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="closed_nights",
        verbose_name=_("second signature"),
    )
    closed_at = models.DateTimeField(_("closed"), null=True)

    class Meta:
        verbose_name = _("night")
        verbose_name_plural = _("nights")
        ordering = ["-gaming_day", "casino", "currency", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "gaming_day", "currency", "version"], name="one_night_a_version"),
            models.CheckConstraint(condition=Q(version__gte=1), name="night_versions_from_one"),
            models.CheckConstraint(
                condition=Q(closed_by=None) | Q(reviewed_by__isnull=False) & ~Q(closed_by=F("reviewed_by")),
                name="night_signed_by_two",
            ),
            models.CheckConstraint(
                condition=Q(state="closed", reviewed_by__isnull=False, closed_by__isnull=False)
                | Q(state="reviewed", reviewed_by__isnull=False, closed_by=None)
                | ~Q(state__in=["closed", "reviewed"]) & Q(reviewed_by=None, closed_by=None),
                name="night_state_is_its_signatures",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.casino} · {self.gaming_day} · {self.currency} · {self.version}"

    def parsed_content(self) -> dict[str, Any]:
        """Return the content; ``audit.reconciliation.content`` describes it."""
        content: dict[str, Any] = msgspec.json.decode(bytes(self.content))
        return content

    @classmethod
    def newest(cls, casino: Casino, day: date, currency: str) -> NightReport | None:
        """Return the newest version of a night, or None before the first."""
        return cls.objects.filter(casino=casino, gaming_day=day, currency=currency).order_by("-version").first()

    def is_newest(self) -> bool:
        """Whether there is no later version."""
        return not NightReport.objects.filter(
            casino=self.casino_id, gaming_day=self.gaming_day, currency=self.currency, version__gt=self.version
        ).exists()


class SignoffException(models.Model):
    """A known shortcoming that a report is signed with: its code, the reason, and the officer who accepts it."""

    report = models.ForeignKey(NightReport, on_delete=models.PROTECT, related_name="signoff_exceptions")
    code = models.CharField(_("what"), max_length=40)
    reason = models.TextField(_("reason"))
    officer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("officer"))
    made_at = models.DateTimeField(_("signed"), auto_now_add=True)

    class Meta:
        verbose_name = _("sign-off exception")
        verbose_name_plural = _("sign-off exceptions")
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["report", "code"], name="one_signoff_exception_a_code"),
            models.CheckConstraint(condition=~Q(reason=""), name="signoff_exception_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class NightSubscriber(models.Model):
    """An officer who receives a casino's reports by mail, or its alerts, or both."""

    casino = models.ForeignKey(Casino, on_delete=models.CASCADE, related_name="subscribers", verbose_name=_("casino"))
    officer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, verbose_name=_("officer"))
    language = models.CharField(_("language"), max_length=2, choices=settings.LANGUAGES, default="fr")
    receives_reports = models.BooleanField(_("receives the nights"), default=True, db_default=True)
    receives_alerts = models.BooleanField(
        _("receives alerts"),
        default=False,
        db_default=False,
        help_text=_("When a table that should report is silent, or its events come late; and when that ends."),
    )

    class Meta:
        verbose_name = _("subscriber")
        verbose_name_plural = _("subscribers")
        constraints = [models.UniqueConstraint(fields=["casino", "officer"], name="one_subscription_an_officer")]

    def stated(self) -> dict[str, str | int]:
        """Return what the audit trail says of it: whom, in which language, and what they receive, 1 or 0."""
        return {
            "officer": self.officer.get_username(),
            "language": self.language,
            "reports": int(self.receives_reports),
            "alerts": int(self.receives_alerts),
        }

    def __str__(self) -> str:
        return f"{self.officer} ← {self.casino}"


class ReopenedNotice(models.Model):
    """A version of a night that an officer, who had signed an earlier one, was mailed."""

    report = models.ForeignKey(NightReport, on_delete=models.PROTECT, related_name="+")
    officer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "officer"], name="one_notice_a_version")]

    def __str__(self) -> str:
        return f"{self.report_id} → {self.officer_id}"


class NightDelivery(models.Model):
    """A version that was sent to a subscriber."""

    subscriber = models.ForeignKey(NightSubscriber, on_delete=models.CASCADE, related_name="delivered")
    report = models.ForeignKey(NightReport, on_delete=models.PROTECT, related_name="+")
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["subscriber", "report"], name="one_delivery_a_version")]

    def __str__(self) -> str:
        return f"{self.report_id} → {self.subscriber_id}"
