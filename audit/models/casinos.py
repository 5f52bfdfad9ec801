"""Casinos, the tenants of an installation, and their tables."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from operator import and_
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR

CODE = RegexValidator(r"^[A-Za-z0-9._:-]{1,100}\Z", _("1 to 100 of A-Z a-z 0-9 . _ : -"))


def is_none_or_dated(*instants: str) -> Q:
    """Return the condition that each of some columns has no instant, or one that every page can show."""
    return reduce(and_, (Q(**{name: None}) | Q(**{f"{name}__range": CALENDAR}) for name in instants))


def is_zone(name: str) -> bool:
    """Return whether a time zone has that name."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _is_zone(name: str) -> None:  # migration 0001 names it
    if not is_zone(name):
        raise ValidationError(_("%(name)s is not a time zone."), params={"name": name})


class Casino(models.Model):
    """A tenant. Nothing of one casino is ever shown to the officers or the API keys of another.

    A sandbox is a casino for trying a table system: its streams are apart in the log, are never sealed, belong to no
    night, and are deleted by ``manage.py sandbox --empty``. See ``audit/event_store/sql/sandboxes.sql``.
    """

    code = models.CharField(_("code"), max_length=100, unique=True, validators=[CODE])
    reference_code = models.CharField(max_length=3, unique=True, default="", db_default="", editable=False)
    """The letters before its references, which no other casino has: given by the database, of the code."""
    name = models.CharField(_("name"), max_length=200)
    time_zone = models.CharField(_("time zone"), max_length=64, default="Europe/Paris", validators=[_is_zone])
    cutoff = models.TimeField(
        _("end of the gaming day"),
        default=time(6),
        help_text=_("In the casino’s local time: a gaming day lasts from this hour to the same hour the next day."),
    )
    priority_threshold = models.PositiveIntegerField(
        _("amount that raises the priority"),
        default=100,
        db_default=100,
        validators=[MinValueValidator(1)],
        help_text=_("In whole units of the currency. An incident involving this amount or more is looked at sooner."),
    )
    unclaimed_days = models.PositiveSmallIntegerField(
        _("days that the sum of a person not found is kept"),
        default=365,
        db_default=365,
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
        help_text=_("After these days the sum goes to the cash desk. A change leaves alone what is kept already."),
    )

    false_questions = models.DecimalField(
        _("false questions a year"),
        max_digits=4,
        decimal_places=2,
        default=1,
        db_default=1,
        validators=[MinValueValidator(Decimal("0.01")), MaxValueValidator(12)],
        help_text=_(
            "How many statistical questions a year may be due to chance alone, on average. A change "
            "takes effect from the following year."
        ),
    )

    reports_from = models.TimeField(
        _("tables report from"),
        null=True,
        blank=True,
        help_text=_("In the casino’s own time. Without both hours its tables report around the clock."),
    )
    reports_until = models.TimeField(
        _("tables report until"),
        null=True,
        blank=True,
        help_text=_("If it is not later than the first hour, it is on the next day."),
    )
    silent_after_min = models.PositiveSmallIntegerField(
        _("minutes without an event before an alert"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_440)],
        help_text=_(
            "For a table with an open session, within those hours; also how late its events may "
            "arrive. Empty: no alert."
        ),
    )

    is_sandbox = models.BooleanField(
        _("sandbox"),
        default=False,
        db_default=False,
        help_text=_(
            "For trying out a table system: no night, no proof, no case, and it can be emptied. This choice is final."
        ),
    )

    class Meta:
        verbose_name = _("casino")
        verbose_name_plural = _("casinos")
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(reports_from=None, reports_until=None)
                | models.Q(reports_from__isnull=False, reports_until__isnull=False),
                name="casino_reports_between_two_hours",
                violation_error_message=_("Enter both hours between which tables report, or neither."),
            ),
            models.CheckConstraint(
                condition=models.Q(silent_after_min=None) | models.Q(silent_after_min__range=(1, 1_440)),
                name="casino_silent_after_minutes",
            ),
            # PostgreSQL has the time 24:00:00, which Python has not: no page would show a casino that is set to it.
            models.CheckConstraint(
                condition=models.Q(cutoff__lte=time.max)
                & (models.Q(reports_from=None) | models.Q(reports_from__lte=time.max))
                & (models.Q(reports_until=None) | models.Q(reports_until__lte=time.max)),
                name="casino_hours_of_the_clock",
            ),
        ]

    def __str__(self) -> str:
        name = self.name or self.code
        return gettext("%(name)s (sandbox)") % {"name": name} if self.is_sandbox else name

    def cutoff_at(self, day: date) -> datetime:
        """Return when a gaming day begins. A cutoff that a clock change skips is the first instant after it."""
        zone = ZoneInfo(self.time_zone)
        # The round trip through UTC turns a local time that a clock change skips into one that exists.
        return datetime.combine(day, self.cutoff, zone).astimezone(UTC).astimezone(zone)

    def gaming_day_at(self, moment: datetime) -> date:
        """Return the gaming day that contains an instant."""
        day = moment.astimezone(ZoneInfo(self.time_zone)).date()
        return day if moment >= self.cutoff_at(day) else day - timedelta(days=1)

    def reports_since(self, moment: datetime) -> datetime | None:
        """Return since when the tables are expected to report at an instant; None while they are not.

        The hours are of the casino's clock. An hour that a clock change repeats begins them when it is first there, and
        ends them when it is there for the second time. Without hours, or with two that are the same, tables report
        always.
        """
        first, last = self.reports_from, self.reports_until
        if first is None or last is None or first == last:
            return datetime.min.replace(tzinfo=UTC)
        zone = ZoneInfo(self.time_zone)
        today = moment.astimezone(zone).date()
        for day in (today, today - timedelta(days=1)):
            last_day = day if last > first else day + timedelta(days=1)
            begin = datetime.combine(day, first, zone).astimezone(UTC)
            end = datetime.combine(last_day, last, zone)
            # What is skipped has no second time: the offset of before the change moves it past the gap, as it does the
            # beginning.
            is_skipped = end.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != end.replace(tzinfo=None)
            if begin <= moment < end.replace(fold=0 if is_skipped else 1).astimezone(UTC):
                return begin
        return None


class GamingTable(models.Model):
    """A table that a table system may report on. It is registered before its first session."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="tables", verbose_name=_("casino"))
    code = models.CharField(_("code"), max_length=100, validators=[CODE])
    name = models.CharField(
        _("name"),
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text=_("What the casino calls it, such as “Roulette by the window”. Table systems send the code."),
    )
    does_not_report = models.BooleanField(
        _("does not report"),
        default=False,
        db_default=False,
        help_text=_("Nothing is expected of this table: it never counts as silent, and has no alert."),
    )

    class Meta:
        verbose_name = _("table")
        verbose_name_plural = _("tables")
        ordering = ["casino", "code"]
        constraints = [models.UniqueConstraint(fields=["casino", "code"], name="one_table_a_code")]

    def __str__(self) -> str:
        return self.code
