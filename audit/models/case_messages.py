"""Messages about cases: to the video room for a recording, and to officers about a case that is late."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.adjudication import Finding
from audit.models.cases import Case
from audit.models.casinos import Casino
from audit.models.officers import Officer


class CaseContacts(models.Model):
    """Whom a casino's cases turn to. A casino without a row has neither a video room nor a deputy."""

    casino = models.OneToOneField(
        Casino, on_delete=models.PROTECT, related_name="case_contacts", verbose_name=_("casino")
    )
    video_room = models.EmailField(
        _("address of the video room"),
        blank=True,
        help_text=_("Receives what officers ask for: a table, a start and an end time, with ids and never a name."),
    )
    deputy = models.ForeignKey(  # null: the casino's administrators
        Officer,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("deputy for late cases"),
        help_text=_(
            "Is told of each case still open after its deadline. If nobody is named: the administrators of the casino."
        ),
    )

    class Meta:
        verbose_name = _("case contacts")
        verbose_name_plural = _("case contacts")
        ordering = ["casino__code"]

    @property
    def deputy_name(self) -> str:
        """The user name of the deputy, "" for none."""
        return self.deputy.get_username() if self.deputy is not None else ""

    def __str__(self) -> str:
        return str(self.casino)


class Delivery(models.Model):
    """How the mailing of a message goes: ``sent_at`` is None until a mail server took it.

    After a failure it is tried again at ``next_try_at``; once ``given_up_at`` is set, never again. ``error`` is what
    the server said last.
    """

    sent_at = models.DateTimeField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    next_try_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        abstract = True


class VideoRequest(Delivery):
    """A recording that an officer asked for. Its words never change."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="video_requests")
    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="+")
    requested_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    address = models.EmailField()
    language = models.CharField(max_length=2)
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    kept_until = models.DateTimeField()

    class Meta:
        ordering = ["requested_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(ends_at__gt=models.F("begins_at")), name="video_has_a_length")
        ]

    def __str__(self) -> str:
        return f"{self.case} → {self.address}"


class Escalation(models.Model):
    """A case that was open when its deadline passed: once for each deadline. ``deputy`` None: the administrators."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="escalations")
    deadline = models.DateTimeField()
    at = models.DateTimeField(auto_now_add=True)
    deputy = models.ForeignKey(Officer, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["deadline", "pk"]
        constraints = [models.UniqueConstraint(fields=["case", "deadline"], name="one_escalation_a_deadline")]

    def __str__(self) -> str:
        return f"{self.case} {self.deadline:%Y-%m-%d %H:%M}"


class EscalationNotice(Delivery):
    """An officer who is to be told of a late case."""

    escalation = models.ForeignKey(Escalation, on_delete=models.PROTECT, related_name="notices")
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["escalation", "officer"], name="one_notice_an_officer")]

    def __str__(self) -> str:
        return f"{self.escalation_id} → {self.officer_id}"
