"""What one shift tells the next, and the mornings on which an officer was mailed what waits."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.casinos import Casino
from audit.models.officers import Officer


class ShiftNote(models.Model):
    """A hand-over note. It is never changed: no role of the database may."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("officer"))
    at = models.DateTimeField(auto_now_add=True)
    text = models.TextField()

    class Meta:
        verbose_name = _("hand-over note")
        verbose_name_plural = _("hand-over notes")
        constraints = [
            models.CheckConstraint(condition=Q(at__range=CALENDAR), name="shift_note_of_the_calendar"),
            models.CheckConstraint(condition=~Q(text=""), name="shift_note_says_something"),
        ]
        indexes = [models.Index(fields=["casino", "at"], name="shift_notes_by_time")]

    def __str__(self) -> str:
        return f"{self.casino} {self.at:%Y-%m-%d %H:%M}"


class InboxDigest(models.Model):
    """The morning on which an officer was mailed what waits at a casino: once a gaming day."""

    casino = models.ForeignKey(Casino, on_delete=models.CASCADE, related_name="+")
    officer = models.ForeignKey(Officer, on_delete=models.CASCADE, related_name="+")
    gaming_day = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["officer", "casino", "gaming_day"], name="one_digest_a_day"),
            models.CheckConstraint(
                condition=Q(gaming_day__range=[each.date() for each in CALENDAR]), name="digest_of_the_calendar"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.officer_id} {self.gaming_day}"
