"""Background jobs that officers start: parameters, progress, result."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino


class JobKind(models.TextChoices):
    """What a job does."""

    VERIFY = "verify", _("verification")
    WHAT_IF = "what_if", _("what-if run")
    EXPORT = "export", _("export")
    SUBJECT = "subject", _("what is held on a person")


class JobState(models.TextChoices):
    """Where a job is."""

    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    STOPPED = "stopped", _("stopped")


OPEN = (JobState.WAITING, JobState.RUNNING)


class Job(models.Model):
    """A background job. A worker holds it under a lease: ``runner`` is the worker, ``heartbeat_at`` its last heartbeat.

    The sweep gives a job whose worker died to another; two workers never run the same job at once.
    """

    kind = models.CharField(_("job"), max_length=16, choices=JobKind)
    params = models.JSONField(default=dict)  # by kind: audit/jobs/kinds.py
    casino = models.ForeignKey(  # null: all casinos
        Casino, null=True, blank=True, on_delete=models.PROTECT, related_name="jobs", verbose_name=_("casino")
    )
    officer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="jobs", verbose_name=_("officer")
    )
    state = models.CharField(_("state"), max_length=16, choices=JobState, default=JobState.WAITING)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)  # 0 until it is known
    requested_at = models.DateTimeField(_("requested"), auto_now_add=True)
    started_at = models.DateTimeField(_("started"), null=True)
    heartbeat_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    runner = models.UUIDField(null=True)
    tries = models.IntegerField(default=0, db_default=0)  # how often a worker has begun it
    stopped_by = models.ForeignKey(  # it stops at its next step
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("stopped by")
    )
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    file = models.BinaryField(null=True)
    file_name = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = _("background job")
        verbose_name_plural = _("background jobs")
        ordering = ["-requested_at"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=JobKind.values), name="job_kind_is_one"),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_is_one"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN
