"""Officers: the people at the desk, each with a role at each of their casinos.

``audit.access.capabilities`` says what a role lets them do.

No role of the database writes a password, a role or the power over all casinos: functions do, each with its entry of
the audit trail. At the desk ``audit.access.accounts`` calls them. A command saves these models, and
``audit.event_store.officer_entries`` answers the signals below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.dispatch import Signal
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino

officer_is_saved = Signal()
"""Sent before a command saves an officer: ``officer``. Who answers stores the account, its password and its power."""

membership_is_saved = Signal()
"""Sent when a command saves or deletes a membership, instead: ``membership``, and ``is_deleted``."""


class Role(models.TextChoices):
    """What an officer does at a casino."""

    OFFICER = "officer", _("officer")
    SECOND = "second", _("second officer")
    DIRECTOR = "director", _("director")
    AUDITOR = "auditor", _("auditor")
    ADMINISTRATOR = "administrator", _("administrator")


def is_active_account(of: str = "") -> models.Func:
    """Return what filters accounts that may do anything: ``access/sql/active_accounts.sql`` says which are.

    ``of`` leads from the rows that are filtered to the account, as "officer__".
    """
    names = (F(f"{of}is_active"), F(f"{of}is_staff"))
    return models.Func(*names, function="audit_account_is_active", output_field=models.BooleanField())


class Officer(AbstractUser):
    """Somebody who signs in at the desk. A superuser has every capability at every casino."""

    PROTECTED = ("password", "is_superuser", "is_staff")
    """The fields that only an entry of the audit trail writes."""

    OF_NOBODY = ("beat", "sign-in", "system")
    """The names under which acts without a person stand in the audit trail."""

    casinos = models.ManyToManyField(
        Casino, blank=True, through="Membership", related_name="officers", verbose_name=_("casinos")
    )

    created_by = models.ForeignKey(  # null: created by a command
        "self", null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        verbose_name = _("officer")
        verbose_name_plural = _("officers")
        constraints = [
            models.UniqueConstraint(Lower("username"), name="officer_of_one_name"),
            models.CheckConstraint(
                condition=~Q(username__iexact="beat") & ~Q(username__iexact="sign-in") & ~Q(username__iexact="system"),
                name="officer_is_somebody",
            ),
        ]

    def save(self, **kwargs: Any) -> None:
        """Store what has changed: what is protected by an entry of the audit trail, the rest as any row."""
        fields = kwargs.pop("update_fields", None)
        kwargs.pop("force_insert", None)
        names = {field.name for field in self._meta.concrete_fields if not field.primary_key}
        changed = names if fields is None else names & set(fields)
        officer_is_saved.send(Officer, officer=self, fields=changed)
        unprotected = changed - {*self.PROTECTED, "date_joined", "created_by"}
        if unprotected:
            super().save(update_fields=unprotected, **kwargs)

    def check_password(self, raw_password: str | None) -> bool:
        """Compare a password with the hash. Django would renew an old hash on the way: that takes an entry."""
        return check_password(raw_password, self.password)

    @cached_property
    def roles_by_casino(self) -> Mapping[int, str]:
        """Return the officer's role at each of their casinos, by the casino's id. Read once for this instance."""
        return dict(self.memberships.values_list("casino_id", "role"))


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Memberships, each of which is given and taken by an entry of its own."""

    def bulk_create(self, objs: Iterable[Membership], *args: Any, **kwargs: Any) -> list[Membership]:
        memberships = list(objs)
        for membership in memberships:
            membership.save()
        return memberships

    def delete(self) -> tuple[int, dict[str, int]]:
        deleted = [membership.delete() for membership in self]
        return len(deleted), {Membership._meta.label: len(deleted)}


class Membership(models.Model):
    """An officer's role at one casino."""

    officer = models.ForeignKey(Officer, on_delete=models.CASCADE, related_name="memberships")
    casino = models.ForeignKey(Casino, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("casino"))
    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.OFFICER)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        verbose_name = _("role at a casino")
        verbose_name_plural = _("roles at casinos")
        db_table = "audit_officer_casinos"
        constraints = [
            models.UniqueConstraint(fields=["officer", "casino"], name="one_role_at_a_casino"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="role_is_one"),
        ]

    def save(self, **kwargs: Any) -> None:
        """Give or change the role, by an entry of the audit trail."""
        membership_is_saved.send(Membership, membership=self, is_deleted=False)

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        """Take the role away, by an entry of the audit trail."""
        membership_is_saved.send(Membership, membership=self, is_deleted=True)
        return 1, {self._meta.label: 1}

    def __str__(self) -> str:
        return f"{self.officer}: {self.get_role_display()}, {self.casino}"
