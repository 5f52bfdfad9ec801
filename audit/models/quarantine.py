"""Quarantine: refused requests, kept byte for byte for the retention period; digest and reason stay."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.api_keys import ApiKey
from audit.models.casinos import Casino


class Quarantined(models.Model):
    """A refused request: its bytes and why. The same bytes, refused for the same reason, are kept once."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    key = models.ForeignKey(ApiKey, on_delete=models.PROTECT, related_name="+", verbose_name=_("API key"))
    stream = models.CharField(_("stream"), max_length=100)
    seq = models.BigIntegerField(_("number"), null=True)
    code = models.CharField(_("reason"), max_length=32)
    detail = models.TextField(_("detail"))
    body = models.BinaryField()
    digest = models.BinaryField(_("SHA-256 of the bytes"), max_length=32, editable=False)
    size = models.IntegerField(_("bytes"), default=0)
    received_at = models.DateTimeField(_("received"), default=timezone.now)
    purged_at = models.DateTimeField(_("bytes deleted"), null=True, blank=True)

    class Meta:
        verbose_name = _("quarantined request")
        verbose_name_plural = _("quarantine")
        ordering = ["-received_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "stream", "code", "digest"], name="one_copy_of_what_was_refused")
        ]
        indexes = [models.Index(fields=["casino", "-received_at"], name="quarantine_newest")]

    def __str__(self) -> str:
        return f"{self.stream} · {self.code}"
