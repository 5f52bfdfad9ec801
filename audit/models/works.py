"""Long work that officers ask for: what was asked, how far it is, what came of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.houses import Casino


class WorkKind(models.TextChoices):
    """What is done."""

    VERIFY = "verify", _("verification")
    BESIDE = "beside", _("replay beside")
    EXPORT = "export", _("export")


class WorkState(models.TextChoices):
    """How far it is."""

    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    STOPPED = "stopped", _("stopped")


OPEN = (WorkState.WAITING, WorkState.RUNNING)


class Work(models.Model):
    """One piece of long work. A worker holds it by a lease: ``runner`` names it, ``seen_at`` is when it was last seen.

    Asking again for work that a worker left is left to the sweep; two never do the same at once.
    """

    kind = models.CharField(_("work"), max_length=16, choices=WorkKind)
    asked = models.JSONField(default=dict)  # what exactly, by kind: audit/works/kinds.py
    casino = models.ForeignKey(  # null: every house
        Casino, null=True, blank=True, on_delete=models.PROTECT, related_name="works", verbose_name=_("casino")
    )
    officer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="works", verbose_name=_("officer")
    )
    state = models.CharField(_("state"), max_length=16, choices=WorkState, default=WorkState.WAITING)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)  # 0 until it is known
    asked_at = models.DateTimeField(_("asked for"), auto_now_add=True)
    begun_at = models.DateTimeField(_("begun"), null=True)
    seen_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    runner = models.UUIDField(null=True)
    stopped_by = models.ForeignKey(  # asked to stop; it stops at the next step
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("stopped by")
    )
    outcome = models.JSONField(default=dict)
    trouble = models.TextField(blank=True)
    file = models.BinaryField(null=True)
    file_name = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = _("long work")
        verbose_name_plural = _("long work")
        ordering = ["-asked_at"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=WorkKind.values), name="work_kind_is_one"),
            models.CheckConstraint(condition=Q(state__in=WorkState.values), name="work_state_is_one"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN
