"""Casinos, the tenants of an installation, and their tables."""

from __future__ import annotations

from datetime import time
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

CODE = RegexValidator(r"^[A-Za-z0-9._:-]{1,100}\Z", _("1 to 100 of A-Z a-z 0-9 . _ : -"))


def _is_zone(name: str) -> None:  # migration 0001 names it
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValidationError(_("%(name)s is not a time zone."), params={"name": name}) from None


class Casino(models.Model):
    """A tenant. Nothing of one casino is ever shown to the officers or the API keys of another."""

    code = models.CharField(_("code"), max_length=100, unique=True, validators=[CODE])
    name = models.CharField(_("name"), max_length=200)
    time_zone = models.CharField(_("time zone"), max_length=64, default="Europe/Paris", validators=[_is_zone])
    cutoff = models.TimeField(
        _("end of the gaming day"),
        default=time(6),
        help_text=_("In the casino’s own time: a gaming day lasts from this hour to the same hour of the next day."),
    )

    class Meta:
        verbose_name = _("casino")
        verbose_name_plural = _("casinos")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.name or self.code


class GamingTable(models.Model):
    """A table that a table system may report on. It is registered before its first session."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="tables", verbose_name=_("casino"))
    code = models.CharField(_("code"), max_length=100, validators=[CODE])

    class Meta:
        verbose_name = _("table")
        verbose_name_plural = _("tables")
        ordering = ["casino", "code"]
        constraints = [models.UniqueConstraint(fields=["casino", "code"], name="one_table_a_code")]

    def __str__(self) -> str:
        return self.code
