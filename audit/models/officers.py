"""The people at the desk."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.houses import Casino


class Officer(AbstractUser):
    """Somebody who signs in at the desk. ``casinos`` are the houses whose record they see; a superuser sees all."""

    casinos = models.ManyToManyField(Casino, blank=True, related_name="officers", verbose_name=_("casinos"))

    class Meta:
        verbose_name = _("officer")
        verbose_name_plural = _("officers")

    def houses(self) -> models.QuerySet[Casino]:
        """Return the houses this officer sees."""
        return Casino.objects.all() if self.is_superuser else self.casinos.all()
