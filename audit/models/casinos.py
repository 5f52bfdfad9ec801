"""Casinos, the tenants of an installation, and their tables."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

CODE = RegexValidator(r"^[A-Za-z0-9._:-]{1,100}\Z", _("1 to 100 of A-Z a-z 0-9 . _ : -"))


def _is_zone(name: str) -> None:  # migration 0001 names it
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValidationError(_("%(name)s is not a time zone."), params={"name": name}) from None


class Casino(models.Model):
    """A tenant. Nothing of one casino is ever shown to the officers or the API keys of another.

    A sandbox is a casino for trying a table system: its streams are apart in the log, are never sealed, belong to no
    night, and are deleted by ``manage.py sandbox --empty``. See migration 0045.
    """

    code = models.CharField(_("code"), max_length=100, unique=True, validators=[CODE])
    name = models.CharField(_("name"), max_length=200)
    time_zone = models.CharField(_("time zone"), max_length=64, default="Europe/Paris", validators=[_is_zone])
    cutoff = models.TimeField(
        _("end of the gaming day"),
        default=time(6),
        help_text=_("In the casino’s own time: a gaming day lasts from this hour to the same hour of the next day."),
    )
    priority_threshold = models.PositiveIntegerField(
        _("amount that raises the priority"),
        default=100,
        db_default=100,
        validators=[MinValueValidator(1)],
        help_text=_("In whole units of the currency. An incident of this much money or more is looked at earlier."),
    )

    false_questions = models.DecimalField(
        _("false questions a year"),
        max_digits=4,
        decimal_places=2,
        default=1,
        db_default=1,
        validators=[MinValueValidator(Decimal("0.01")), MaxValueValidator(12)],
        help_text=_(
            "How many statistical questions a year may be chance alone, on average. A change holds from the next year."
        ),
    )

    is_sandbox = models.BooleanField(
        _("sandbox"),
        default=False,
        db_default=False,
        help_text=_("For trying a table system: no night, no proof, no case, and it can be emptied. It never changes."),
    )

    class Meta:
        verbose_name = _("casino")
        verbose_name_plural = _("casinos")
        ordering = ["code"]

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

    class Meta:
        verbose_name = _("table")
        verbose_name_plural = _("tables")
        ordering = ["casino", "code"]
        constraints = [models.UniqueConstraint(fields=["casino", "code"], name="one_table_a_code")]

    def __str__(self) -> str:
        return self.code
