"""Complaints that an officer entered at the desk, and their answers: rows that are added and never change."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino, GamingTable
from audit.models.event_store import LoggedStream
from audit.models.officers import Officer


class Came(models.TextChoices):
    """How a complaint came."""

    TABLE = "table", _("at the table")
    CAGE = "cage", _("at the cage")
    LETTER = "letter", _("by letter")
    MAIL = "mail", _("by e-mail")


class Answer(models.TextChoices):
    """How a complaint ends."""

    FOUNDED = "founded", _("upheld")
    UNFOUNDED = "unfounded", _("not upheld")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Complaint(models.Model):
    """A player disputes what happened at a table. ``stream`` and ``seq`` are the event that stood last then."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    table = models.ForeignKey(GamingTable, on_delete=models.PROTECT, related_name="+", verbose_name=_("table"))
    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    seq = models.BigIntegerField()
    clock = models.TimeField(_("clock time"))  # the casino's, as the player has it
    wager = models.CharField(_("wager"), max_length=200, blank=True)
    player = models.CharField(_("player"), max_length=200, blank=True)
    came = models.CharField(_("how it came in"), max_length=16, choices=Came)
    words = models.TextField(_("what the player says"))
    entered_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("entered by"))
    entered_at = models.DateTimeField(_("entered"))
    deadline = models.DateTimeField(_("deadline"))

    class Meta:
        verbose_name = _("complaint")
        verbose_name_plural = _("complaints")
        constraints = [models.CheckConstraint(condition=Q(came__in=Came.values), name="complaint_came_somehow")]
        indexes = [
            models.Index(fields=["stream", "seq"], name="complaints_of_a_stream"),
            models.Index(fields=["casino", "deadline"], name="complaints_by_deadline"),
        ]

    def __str__(self) -> str:
        return f"{self.stream} #{self.seq}"


class ComplaintAnswer(models.Model):
    """What an officer answered. It pays nothing: ``paid_seq`` is the event of the stream that did, if there is one.

    ``amount`` is in minor units of the stream's currency; None unless the complaint is founded.
    """

    complaint = models.OneToOneField(Complaint, on_delete=models.PROTECT, related_name="answer")
    outcome = models.CharField(_("outcome"), max_length=16, choices=Answer)
    amount = models.BigIntegerField(_("amount"), null=True)
    paid_seq = models.BigIntegerField(null=True)
    words = models.TextField(_("answer"))
    answered_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("answered by"))
    answered_at = models.DateTimeField(_("answered"))

    class Meta:
        verbose_name = _("answer to a complaint")
        verbose_name_plural = _("answers to complaints")
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome="founded", amount__gte=0)
                | Q(outcome__in=["unfounded", "withdrawn"], amount=None, paid_seq=None),
                name="complaint_answer_of_a_kind",
            )
        ]

    def __str__(self) -> str:
        return f"{self.complaint}: {self.outcome}"
