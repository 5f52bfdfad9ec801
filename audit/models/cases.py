"""Cases: what officers do about findings."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.adjudication import Severity
from audit.models.casinos import Casino
from audit.models.officers import Officer


class State(models.TextChoices):
    """Where a case is."""

    NEW = "new", _("new")
    INVESTIGATING = "investigating", _("investigating")
    SECOND = "second", _("second officer")
    CLOSED = "closed", _("closed")


class Outcome(models.TextChoices):
    """How a case ends."""

    CONFIRMED = "confirmed", _("breach confirmed")
    EXPLAINED = "explained", _("explained")
    MISTAKEN = "mistaken", _("mistaken")


FALLBACK_HOURS = 24
"""Hours to close a case, or to answer a complaint, where neither the casino nor the installation has a deadline: those
of the database's ``audit_deadline_of``."""


class Deadline(models.Model):
    """The hours within which a case of a severity is to be closed: at one casino, or at all that have no own one."""

    casino = models.ForeignKey(  # null: the installation's
        Casino, null=True, blank=True, on_delete=models.PROTECT, related_name="deadlines", verbose_name=_("casino")
    )
    severity = models.CharField(_("severity"), max_length=16, choices=Severity)
    hours = models.PositiveIntegerField(_("hours"), validators=[MinValueValidator(1), MaxValueValidator(8_760)])

    class Meta:
        verbose_name = _("deadline")
        verbose_name_plural = _("deadlines")
        constraints = [
            models.UniqueConstraint(fields=["casino", "severity"], nulls_distinct=False, name="one_deadline_a_severity")
        ]

    def __str__(self) -> str:
        return gettext("%(severity)s: %(hours)d h") % {"severity": self.get_severity_display(), "hours": self.hours}


class Case(models.Model):
    """The casework on one finding, whichever run finds it. The database opens and guards it."""

    stream_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    rule = models.CharField(max_length=80)
    wager = models.CharField(max_length=200, blank=True)

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="cases", verbose_name=_("casino"))
    weight = models.SmallIntegerField()  # 0 is the most severe
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.NEW)
    opened_at = models.DateTimeField(_("opened"))
    deadline = models.DateTimeField(_("deadline"))
    assigned_to = models.ForeignKey(
        Officer, null=True, blank=True, on_delete=models.PROTECT, related_name="cases", verbose_name=_("officer")
    )
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome, blank=True)
    reason = models.TextField(_("reason"), blank=True)
    proposed_by = models.ForeignKey(
        Officer, null=True, blank=True, on_delete=models.PROTECT, related_name="proposed", verbose_name=_("proposed by")
    )
    approved_by = models.ForeignKey(
        Officer, null=True, blank=True, on_delete=models.PROTECT, related_name="approved", verbose_name=_("approved by")
    )
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    class Meta:
        verbose_name = _("case")
        verbose_name_plural = _("cases")
        constraints = [
            models.UniqueConstraint(fields=["stream_id", "seq", "rule", "wager"], name="one_case_an_identity"),
            models.CheckConstraint(condition=Q(state__in=State.values), name="case_state_is_one"),
            models.CheckConstraint(
                condition=~Q(state="second")
                | (Q(proposed_by__isnull=False, outcome__in=Outcome.values) & ~Q(reason="")),
                name="case_proposed_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(state="closed")
                | (
                    Q(proposed_by__isnull=False, approved_by__isnull=False, closed_at__isnull=False)
                    & Q(outcome__in=Outcome.values)
                    & ~Q(reason="")
                ),
                name="case_closed_by_two",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name="case_four_eyes"
            ),
        ]
        indexes = [
            models.Index(fields=["casino", "state", "weight", "deadline"], name="case_queue"),
            models.Index(fields=["weight", "deadline"], name="case_urgency"),
            models.Index(fields=["weight", "deadline"], name="case_open_urgency", condition=~Q(state="closed")),
            models.Index(  # what comes back: audit.casework.recurrence
                fields=["casino", "closed_at"], name="case_closed", condition=Q(state="closed")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule} #{self.seq}"


class CaseAction(models.Model):
    """One action on a case, for its page. The audit trail is the authority."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="actions")
    at = models.DateTimeField(auto_now_add=True)
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+")
    type = models.CharField(max_length=40)
    reason = models.TextField(blank=True)
    about = models.CharField(max_length=200, blank=True)  # an outcome, or the assignee

    class Meta:
        verbose_name = _("action")
        verbose_name_plural = _("actions")
        ordering = ["at", "pk"]
        constraints = [models.CheckConstraint(condition=Q(at__range=CALENDAR), name="action_of_the_calendar")]
        indexes = [models.Index(fields=["at"], name="actions_by_time")]  # the inbox

    def __str__(self) -> str:
        return f"{self.type} {self.at:%Y-%m-%d %H:%M}"


class SavedView(models.Model):
    """A named filter of the findings: an officer's own, or shared with the officers of their casinos."""

    officer = models.ForeignKey(Officer, on_delete=models.CASCADE, related_name="views", verbose_name=_("officer"))
    name = models.CharField(_("name"), max_length=60)
    query = models.CharField(max_length=500, blank=True)
    is_shared = models.BooleanField(_("shared"), default=False)

    class Meta:
        verbose_name = _("view")
        verbose_name_plural = _("views")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["officer", "name"], name="one_view_a_name")]

    def __str__(self) -> str:
        return self.name
