"""Officers: the people at the desk, each with a role at each of their casinos.

What a role lets them do is in ``audit.access.capabilities``.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino


class Role(models.TextChoices):
    """What an officer does at a casino."""

    OFFICER = "officer", _("officer")
    SECOND = "second", _("second officer")
    DIRECTOR = "director", _("director")
    AUDITOR = "auditor", _("auditor")
    ADMINISTRATOR = "administrator", _("administrator")


class Officer(AbstractUser):
    """Somebody who signs in at the desk. A superuser has every capability at every casino."""

    casinos = models.ManyToManyField(
        Casino, blank=True, through="Membership", related_name="officers", verbose_name=_("casinos")
    )

    class Meta:
        verbose_name = _("officer")
        verbose_name_plural = _("officers")

    @cached_property
    def roles_by_casino(self) -> Mapping[int, str]:
        """Return the officer's role at each of their casinos, by the casino's id. Read once for this instance."""
        return dict(self.memberships.values_list("casino_id", "role"))


class Membership(models.Model):
    """An officer's role at one casino."""

    officer = models.ForeignKey(Officer, on_delete=models.CASCADE, related_name="memberships")
    casino = models.ForeignKey(Casino, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("casino"))
    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.OFFICER)

    class Meta:
        verbose_name = _("role at a casino")
        verbose_name_plural = _("roles at casinos")
        db_table = "audit_officer_casinos"
        constraints = [
            models.UniqueConstraint(fields=["officer", "casino"], name="one_role_at_a_casino"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="role_is_one"),
        ]

    def __str__(self) -> str:
        return f"{self.officer}: {self.get_role_display()}, {self.casino}"
