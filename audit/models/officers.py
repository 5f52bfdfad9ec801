"""Officers: the people at the desk, each with a role at each of their casinos."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino


class Role(models.TextChoices):
    """What an officer does at a casino."""

    OFFICER = "officer", _("officer")
    SECOND = "second", _("second officer")
    AUDITOR = "auditor", _("auditor")
    ADMINISTRATOR = "administrator", _("administrator")


READERS = (Role.OFFICER, Role.SECOND, Role.AUDITOR)
"""The roles that read the record of their casino. Administrators manage its keys, tables and officers instead."""


class Officer(AbstractUser):
    """Somebody who signs in at the desk. A superuser has every role at every casino."""

    permissions_of_roles: frozenset[str] | None = None
    """What ``audit.access.roles`` has found once for this instance; None until then."""

    casinos = models.ManyToManyField(
        Casino, blank=True, through="Membership", related_name="officers", verbose_name=_("casinos")
    )

    class Meta:
        verbose_name = _("officer")
        verbose_name_plural = _("officers")

    def casinos_with_role(self, *roles: Role) -> models.QuerySet[Casino]:
        """Return the casinos at which this officer has one of ``roles``; without ``roles``, those with any role."""
        if self.is_superuser:
            return Casino.objects.all()
        memberships = self.memberships.filter(role__in=roles) if roles else self.memberships.all()
        return Casino.objects.filter(pk__in=memberships.values("casino_id"))

    def role_at(self, casino_id: int) -> Role | None:
        """Return the officer's role at a casino; None if they have none. A superuser is a second officer everywhere."""
        if self.is_superuser:
            return Role.SECOND
        role = self.memberships.filter(casino_id=casino_id).values_list("role", flat=True).first()
        return Role(role) if role is not None else None


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
