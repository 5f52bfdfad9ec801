"""Single sign-on: whose account at the provider an officer's is, and which groups of the provider give which role."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino
from audit.models.officers import Officer, Role


class ProviderAccount(models.Model):
    """An officer's account at the provider, from the first sign-in with it on. A function writes it."""

    officer = models.OneToOneField(Officer, on_delete=models.PROTECT, related_name="provider_account")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)  # what the provider never gives to another person
    linked_at = models.DateTimeField()

    class Meta:
        verbose_name = _("account at the provider")
        verbose_name_plural = _("accounts at the provider")
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_officer_an_account_at_the_provider")
        ]

    def __str__(self) -> str:
        return f"{self.officer}: {self.issuer}"


class GroupRole(models.Model):
    """A role that a group of the provider stands for at a casino. Operators keep these, by a command alone."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    role = models.CharField(_("role"), max_length=16, choices=Role)
    group = models.CharField(_("group"), max_length=255)

    class Meta:
        verbose_name = _("role of a group")
        verbose_name_plural = _("roles of groups")
        constraints = [
            models.UniqueConstraint(fields=["casino", "role", "group"], name="one_role_of_a_group"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="group_role_is_one"),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.role}, {self.casino}"
