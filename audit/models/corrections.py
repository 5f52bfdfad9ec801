"""Corrections that wait for two officers: what these decided, and the findings that say that a correction was made."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.adjudication import Finding
from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream
from audit.models.officers import Officer

CORRECTION_RULES = ("entry-corrected", "entry-annulled")
"""The rules of findings that say that something was corrected, annulled or declared void afterwards."""


class Verdict(models.TextChoices):
    """What an officer decides about a correction that waits."""

    COUNTERSIGNED = "countersigned", _("countersigned")
    REFUSED = "refused", _("refused")


class CorrectionState(models.TextChoices):
    """Where a correction is that took more than its table to decide."""

    WAITING = "waiting", _("waits for two officers")
    APPROVED = "approved", _("approved")
    REFUSED = "refused", _("refused")


class CorrectionDecision(models.Model):
    """One decision of an officer about one correction: an entry of the audit trail, never changed.

    Two countersignatures approve it; one refusal ends it. ``number`` counts the decisions about a correction.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("stream")
    )
    seq = models.BigIntegerField(_("correction"))  # the event that corrects, annuls or voids
    number = models.SmallIntegerField()
    verdict = models.CharField(_("decision"), max_length=16, choices=Verdict)
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("officer"))
    reason = models.TextField(_("reason"))
    decided_at = models.DateTimeField(_("decided"))
    entry_stream = models.CharField(max_length=200)  # the entry of the audit trail that decided it
    entry_seq = models.BigIntegerField()

    class Meta:
        verbose_name = _("decision on a correction")
        verbose_name_plural = _("decisions on corrections")
        ordering = ["stream", "seq", "number"]
        constraints = [
            models.CheckConstraint(condition=Q(number__in=[1, 2]), name="correction_decided_by_two_at_most"),
            models.CheckConstraint(condition=Q(verdict__in=Verdict.values), name="correction_verdict_is_one"),
            models.CheckConstraint(condition=~Q(reason=""), name="correction_decision_has_a_reason"),
            models.UniqueConstraint(fields=["stream", "seq", "number"], name="one_correction_decision_a_number"),
            models.UniqueConstraint(fields=["stream", "seq", "officer"], name="one_correction_decision_an_officer"),
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} #{self.seq}: {self.verdict}"


class Correction(Finding):
    """A finding as the list of corrections shows it."""

    class Meta:
        proxy = True
        verbose_name = _("correction")
        verbose_name_plural = _("corrections")
        ordering = ["-pk"]
