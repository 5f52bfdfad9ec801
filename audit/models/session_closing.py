"""The closing of a session by officers, because its table system sends no ``session.closed`` any more."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.models.accounts import RequestState
from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream
from audit.models.officers import Officer


class SessionClosing(models.Model):
    """One proposal to close a session: made by one officer, approved or declined by another, or withdrawn.

    An approved one is event ``next_seq`` of the session, a ``session.closed``: nothing deletes it.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("session")
    )
    next_seq = models.BigIntegerField()  # the number that the session takes next: that of its closing
    float_minor = models.BigIntegerField(_("float counted"))  # the rack as an officer counted it, in minor units
    reason = models.TextField(_("reason"))
    state = models.CharField(_("state"), max_length=16, choices=RequestState, default=RequestState.WAITING)
    proposed_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("proposed by"))
    proposed_at = models.DateTimeField(_("proposed"))
    decided_by = models.ForeignKey(
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True)
    decision_reason = models.TextField(_("reason for the decision"), blank=True)

    class Meta:
        verbose_name = _("closing of a session")
        verbose_name_plural = _("closings of sessions")
        ordering = ["stream", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting", decided_by=None, decided_at=None)
                | Q(
                    state__in=["approved", "declined", "withdrawn"], decided_by__isnull=False, decided_at__isnull=False
                ),
                name="session_closing_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved") | ~Q(decided_by=F("proposed_by")), name="session_closing_four_eyes"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="session_closing_has_a_reason"),
            models.CheckConstraint(
                condition=Q(float_minor__gte=0, float_minor__lte=2**53 - 1), name="session_closing_float_is_an_amount"
            ),
            models.UniqueConstraint(
                fields=["stream"], condition=Q(state__in=["waiting", "approved"]), name="one_session_closing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} #{self.next_seq}: {self.state}"
