"""The nightly lists of information that officers have read and signed: rows that are added and never change."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino
from audit.models.officers import Officer


class InformationSigning(models.Model):
    """An officer has read findings for information of one night: ``findings`` are their ids.

    What is found afterwards is in none, until an officer signs the night again. ``digest`` is what the entry says of
    ``findings``: ``audit.casework.information.digest_of``.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    gaming_day = models.DateField(_("gaming day"))
    findings = ArrayField(models.BigIntegerField(), verbose_name=_("findings"))
    digest = models.CharField(max_length=64)
    signed_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("signed by"))
    signed_at = models.DateTimeField(_("signed"))

    class Meta:
        verbose_name = _("list of information")
        verbose_name_plural = _("lists of information")
        ordering = ["-gaming_day", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(findings__len__gt=0), name="information_signing_of_something")
        ]
        indexes = [models.Index(fields=["casino", "gaming_day"], name="information_by_night")]

    def __str__(self) -> str:
        return f"{self.casino_id} {self.gaming_day.isoformat()}"
