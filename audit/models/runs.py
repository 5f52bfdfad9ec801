"""Runs of an adjudication: each reads one stream from its beginning, and its findings stand or are pending by it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream


class WhatIf(models.Model):
    """A what-if run: a replay of some streams under other readings or another version of the engine."""

    name = models.CharField(_("name"), max_length=100)
    casino = models.ForeignKey(  # null: streams of all casinos
        Casino, null=True, blank=True, on_delete=models.PROTECT, related_name="what_ifs", verbose_name=_("casino")
    )
    readings = models.JSONField(_("readings"), default=dict)
    selection = models.JSONField(_("streams"), default=dict)  # audit.adjudication.what_if.Selection
    engine_version = models.CharField(_("engine version"), max_length=32)
    started_at = models.DateTimeField(_("started"), auto_now_add=True)
    started_by = models.CharField(_("started by"), max_length=200)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    streams = models.BigIntegerField(_("streams"), default=0)
    promoted_at = models.DateTimeField(_("promoted"), null=True, blank=True)  # audit.adjudication.promotion
    promoted_by = models.CharField(_("promoted by"), max_length=200, blank=True, default="", db_default="")

    class Meta:
        verbose_name = _("what-if run")
        verbose_name_plural = _("what-if runs")
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "name"], nulls_distinct=False, name="one_what_if_a_name"),
            models.CheckConstraint(
                condition=Q(casino=None) & ~Q(selection__has_key="casino")
                | Q(casino__isnull=False, selection__has_key="casino"),
                name="what_if_of_its_casino",
            ),
            models.CheckConstraint(
                condition=Q(promoted_at=None, promoted_by="") | Q(promoted_at__isnull=False) & ~Q(promoted_by=""),
                name="what_if_promoted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RunState(models.TextChoices):
    """Where a run is. ``audit.adjudication.transitions`` has what leads from one state to another."""

    RUNNING = "running", _("running")
    COMPLETE = "complete", _("complete")
    FAILED = "failed", _("failed")
    SUPERSEDED = "superseded", _("superseded")


CURRENT = (RunState.RUNNING, RunState.COMPLETE, RunState.FAILED)
"""States in which a run goes on when events arrive."""


class RunCause(models.TextChoices):
    """Why a stream is read from its beginning."""

    FIRST = "first", _("first run")
    CORRECTION = "correction", _("correction")
    ENGINE = "engine", _("another engine version")
    REGISTER = "register", _("change to the register")
    APPROVAL = "approval", _("approval of a correction")
    MANUAL = "manual", _("by hand")


class AdjudicationRun(models.Model):
    """One reading of a stream from its beginning: by which engine, with which corrections known, and how it fares.

    It is complete when it has caught up with the stream, or with all before a change that it does not know, and goes on
    as events arrive. Its own findings are pending until it was complete once, and those of ``replaces`` stand, unless
    it is the first and knows no correction that might turn out to wait: then what it finds stands at once.
    """

    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="runs", verbose_name=_("stream")
    )
    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, db_index=False, related_name="+", verbose_name=_("casino")
    )
    what_if = models.ForeignKey(WhatIf, null=True, on_delete=models.CASCADE, related_name="runs")
    number = models.IntegerField(_("run"), default=1)  # counted in the stream, or in the what-if run of the stream
    cause = models.CharField(_("cause"), max_length=16, choices=RunCause, default=RunCause.FIRST)
    engine_version = models.CharField(_("engine version"), max_length=32)
    # The version of the casino's register that it reads by, or a later one that says the same of this stream. None: it
    # began before there was a register, and reads by the session's own parameters.
    register_version = models.BigIntegerField(_("register version"), null=True, blank=True)
    corrections_through = models.BigIntegerField(default=0)  # the last correction that was known when it began
    # The corrections that two officers had approved when it began, by seq: of the others those that are more than
    # information wait. None: it began before there were approvals, and every correction took effect.
    approved = ArrayField(models.BigIntegerField(), null=True, default=list)
    state = models.CharField(_("state"), max_length=16, choices=RunState, default=RunState.RUNNING)
    replaces = models.ForeignKey("self", null=True, on_delete=models.DO_NOTHING, db_index=False, related_name="+")
    superseded_by = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.DO_NOTHING,
        db_index=False,
        related_name="+",
        verbose_name=_("superseded by"),
    )
    began_at = models.DateTimeField(_("began"), default=timezone.now)
    completed_at = models.DateTimeField(_("complete since"), null=True)  # for the first time
    ended_at = models.DateTimeField(_("ended"), null=True)  # superseded

    tries = models.IntegerField(_("attempts"), default=0)  # that failed, one after the other
    failed_at = models.DateTimeField(_("failed since"), null=True)
    next_try_at = models.DateTimeField(_("next attempt"), null=True)  # set aside until then
    error_type = models.CharField(_("error"), max_length=100, blank=True)
    error = models.TextField(_("reason"), blank=True)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "what_if"],
                condition=Q(state__in=["running", "failed"]),
                nulls_distinct=False,
                name="one_run_under_way",
            ),
            models.UniqueConstraint(
                fields=["stream", "what_if"],
                condition=Q(state="complete"),
                nulls_distinct=False,
                name="one_complete_run",
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_is_one"),
            models.CheckConstraint(condition=Q(cause__in=RunCause.values), name="run_cause_is_one"),
            models.CheckConstraint(
                condition=~Q(state="complete") | Q(completed_at__isnull=False), name="run_complete_since"
            ),
            models.CheckConstraint(
                condition=Q(state="superseded") | Q(superseded_by=None, ended_at=None), name="run_superseded_by_a_run"
            ),
            models.CheckConstraint(
                condition=Q(state="failed", failed_at__isnull=False, next_try_at__isnull=False)
                | (~Q(state="failed") & Q(next_try_at=None)),
                name="run_failed_is_tried_again",
            ),
        ]
        indexes = [models.Index(fields=["casino", "next_try_at"], name="run_failed", condition=Q(state="failed"))]

    def __str__(self) -> str:
        return str(_("run %(number)d")) % {"number": self.number}

    @property
    def stands(self) -> bool:
        """Whether what this run finds stands as it is found."""
        return (self.replaces_id is None and not self.corrections_through) or self.completed_at is not None

    def clear_failure(self) -> None:
        """Forget the tries that failed. The caller saves the run, which leaves the state `failed`."""
        self.tries = 0
        self.failed_at = self.next_try_at = None
        self.error_type = self.error = ""


class FailedRun(AdjudicationRun):
    """A run as the list of failed runs shows it."""

    class Meta:
        proxy = True
        verbose_name = _("failed run")
        verbose_name_plural = _("failed runs")
        ordering = ["failed_at"]
