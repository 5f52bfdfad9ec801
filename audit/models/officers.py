"""The people at the desk, and what each may do at which house."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino


class Role(models.TextChoices):
    """What an officer does at a house."""

    OFFICER = "officer", _("officer")
    SECOND = "second", _("second officer")
    AUDITOR = "auditor", _("auditor")
    ADMINISTRATOR = "administrator", _("administrator")


READERS = (Role.OFFICER, Role.SECOND, Role.AUDITOR)
"""The roles that see the record of their house. An administrator keeps its keys and tables, and sees none of it."""


class Officer(AbstractUser):
    """Somebody who signs in at the desk. ``casinos`` are their houses, each with a role; a superuser has all."""

    casinos = models.ManyToManyField(
        Casino, blank=True, through="Membership", related_name="officers", verbose_name=_("casinos")
    )

    class Meta:
        verbose_name = _("officer")
        verbose_name_plural = _("officers")

    def casinos_with_role(self, *roles: Role) -> models.QuerySet[Casino]:
        """Return the houses at which this officer has one of ``roles``, or any where none is given."""
        if self.is_superuser:
            return Casino.objects.all()
        memberships = self.memberships.filter(role__in=roles) if roles else self.memberships.all()
        return Casino.objects.filter(pk__in=memberships.values("casino_id"))

    def role_at(self, casino_id: int) -> Role | None:
        """Return what this officer does at a house; a superuser is a second officer everywhere."""
        if self.is_superuser:
            return Role.SECOND
        role = self.memberships.filter(casino_id=casino_id).values_list("role", flat=True).first()
        return Role(role) if role is not None else None


class Membership(models.Model):
    """An officer's role at a house."""

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
