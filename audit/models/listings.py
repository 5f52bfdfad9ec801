"""Players on a casino's watch list or exclusion list, and the nights on which one of them was at a table."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.case_messages import Delivery
from audit.models.casinos import Casino, is_none_or_dated
from audit.models.event_store import LoggedStream
from audit.models.officers import Officer
from audit.models.persons import PERSON_ID

_FIRST_DAY, _LAST_DAY = (each.date() for each in CALENDAR)


class ListKind(models.TextChoices):
    """Which list a player is on: officers look at what a watched one does; an excluded one may not play."""

    WATCH = "watch", _("watch list")
    EXCLUSION = "exclusion", _("exclusion list")


class ListState(models.TextChoices):
    """Where an entry of a list is."""

    WAITING = "waiting", _("waits for a second officer")
    LISTED = "listed", _("on the list")
    LEAVING = "leaving", _("on the list; its removal waits for a second officer")
    REMOVED = "removed", _("removed")
    DECLINED = "declined", _("declined")


IN_FORCE = (ListState.LISTED, ListState.LEAVING)
"""The states of an entry that is in force, unless its last day has passed."""

UNDECIDED = (ListState.WAITING, ListState.LEAVING)
"""The states of an entry that waits for a second officer."""


class Listing(models.Model):
    """An entry of a list: a player by id, why, and through which gaming day. Functions of the database write it."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    number = models.PositiveIntegerField(_("number"))  # counted for the casino
    kind = models.CharField(_("list"), max_length=16, choices=ListKind)
    code = models.CharField(_("player"), max_length=40, validators=[PERSON_ID])
    last_day = models.DateField(_("last day"), null=True)  # None: until it is removed
    reason = models.TextField(_("reason"))
    state = models.CharField(_("state"), max_length=16, choices=ListState)
    proposed_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("proposed by"))
    proposed_at = models.DateTimeField(_("proposed"))
    approved_by = models.ForeignKey(
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("approved by")
    )
    approved_at = models.DateTimeField(_("approved"), null=True)
    removal_reason = models.TextField(_("reason for the removal"), blank=True)
    removal_by = models.ForeignKey(  # the officer who proposed it
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("removal proposed by")
    )
    removal_at = models.DateTimeField(_("removal proposed"), null=True)
    ended_by = models.ForeignKey(  # the officer who approved the removal, or declined the entry
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("ended by")
    )
    ended_at = models.DateTimeField(_("ended"), null=True)
    end_reason = models.TextField(_("reason for declining"), blank=True)

    class Meta:
        verbose_name = _("listed player")
        verbose_name_plural = _("listed players")
        ordering = ["-proposed_at", "-pk"]
        indexes = [models.Index(fields=["casino", "code"], name="listings_of_a_player")]
        constraints = [
            models.UniqueConstraint(fields=["casino", "number"], name="listing_has_its_own_number"),
            models.CheckConstraint(condition=Q(kind__in=ListKind.values), name="listing_is_on_a_list"),
            models.CheckConstraint(condition=~Q(reason=""), name="listing_has_a_reason"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "declined"], approved_by=None, approved_at=None)
                | Q(state__in=["listed", "leaving", "removed"], approved_by__isnull=False, approved_at__isnull=False),
                name="listing_approved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=["waiting", "listed", "declined"], removal_by=None, removal_at=None, removal_reason=""
                )
                | Q(state__in=["leaving", "removed"], removal_by__isnull=False, removal_at__isnull=False)
                & ~Q(removal_reason=""),
                name="listing_removed_for_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "listed", "leaving"], ended_by=None, ended_at=None, end_reason="")
                | Q(state="removed", ended_by__isnull=False, ended_at__isnull=False, end_reason="")
                | Q(state="declined", ended_by__isnull=False, ended_at__isnull=False) & ~Q(end_reason=""),
                name="listing_ended_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(proposed_at__range=CALENDAR)
                & (Q(last_day=None) | Q(last_day__range=(_FIRST_DAY, _LAST_DAY)))
                & is_none_or_dated("approved_at", "removal_at", "ended_at"),
                name="listing_of_the_calendar",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"


class SightingOutcome(models.TextChoices):
    """Why an officer dismissed a sighting."""

    ANOTHER_PERSON = "another_person", _("not the same person")
    SPOKEN_TO = "spoken_to", _("spoken to")
    SHOWN_OUT = "shown_out", _("shown out")
    OBSERVED = "observed", _("observed, nothing to do")


class Sighting(Delivery):
    """A gaming day on which a listed player was at a table, and the mail about an excluded one.

    ``stream`` is the session in which the player was seen: the first of that day, or the first at another table since
    the one before was dismissed. A function of the database writes who dismissed it and why.
    """

    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="sightings")
    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    gaming_day = models.DateField()
    seen_at = models.DateTimeField()
    outcome = models.CharField(max_length=16, choices=SightingOutcome, blank=True, default="", db_default="")
    dismissal = models.TextField(blank=True, default="", db_default="")  # the officer's words, or ""
    dismissed_by = models.ForeignKey(Officer, null=True, on_delete=models.PROTECT, related_name="+")
    dismissed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-seen_at", "-pk"]
        indexes = [models.Index(fields=["seen_at"], name="sightings_by_time")]
        constraints = [
            models.UniqueConstraint(
                fields=["listing", "gaming_day"], condition=Q(dismissed_at=None), name="one_open_sighting_a_day"
            ),
            models.UniqueConstraint(fields=["listing", "gaming_day", "stream"], name="one_sighting_a_session"),
            models.CheckConstraint(
                condition=Q(gaming_day__range=(_FIRST_DAY, _LAST_DAY), seen_at__range=CALENDAR)
                & is_none_or_dated("sent_at", "failing_since", "next_try_at", "given_up_at"),
                name="sighting_of_the_calendar",
            ),
            models.CheckConstraint(
                condition=Q(outcome="", dismissal="", dismissed_by=None, dismissed_at=None)
                | Q(outcome__in=SightingOutcome.values, dismissed_by__isnull=False, dismissed_at__range=CALENDAR),
                name="sighting_dismissed_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.listing_id} {self.gaming_day}"
