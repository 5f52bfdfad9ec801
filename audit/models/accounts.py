"""Accounts: one-time links, requests that two administrators decide, and refused sign-ins."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino
from audit.models.officers import Officer, Role


class AccessLink(models.Model):
    """A link with which an officer chooses a password, once. The database has the digest of its token alone."""

    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="access_links")
    is_invitation = models.BooleanField()  # the account had no password yet
    token_sha256 = models.CharField(max_length=64, unique=True)
    issued_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+")
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    is_shown = models.BooleanField()  # to whoever issued it, because no mail could be sent
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)  # when another administrator said that its owner used it
    confirmed_by = models.ForeignKey(Officer, null=True, on_delete=models.PROTECT, related_name="+")  # null: a command

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(officer=F("issued_by")), name="access_link_for_another"),
            models.CheckConstraint(condition=Q(used_at=None) | Q(revoked_at=None), name="access_link_used_or_revoked"),
            models.UniqueConstraint(
                fields=["officer"], condition=Q(used_at=None, revoked_at=None), name="one_access_link_an_officer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.officer} {self.issued_at:%Y-%m-%d %H:%M}"


class RequestKind(models.TextChoices):
    """What takes two administrators."""

    ROLE = "role", _("role")
    SECOND_FACTOR = "second_factor", _("reset of the second factor")
    EMAIL = "email", _("new e-mail address")
    REACTIVATION = "reactivation", _("reactivation")


class RequestState(models.TextChoices):
    """Where a request is."""

    WAITING = "waiting", _("waiting")
    APPROVED = "approved", _("approved")
    DECLINED = "declined", _("declined")
    WITHDRAWN = "withdrawn", _("withdrawn")


class AccountRequest(models.Model):
    """What one administrator proposes about an account, and another decides. The database guards it."""

    kind = models.CharField(_("request"), max_length=16, choices=RequestKind)
    officer = models.ForeignKey(
        Officer, on_delete=models.PROTECT, related_name="account_requests", verbose_name=_("officer")
    )
    casino = models.ForeignKey(  # of a role; null: it is about the whole account
        Casino, null=True, on_delete=models.PROTECT, related_name="account_requests", verbose_name=_("casino")
    )
    role = models.CharField(_("role"), max_length=16, choices=Role, blank=True)
    email = models.EmailField(_("e-mail address"), blank=True)
    reason = models.TextField(_("reason"), blank=True)
    state = models.CharField(_("state"), max_length=16, choices=RequestState, default=RequestState.WAITING)
    proposed_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("proposed by"))
    proposed_at = models.DateTimeField(_("proposed"))
    decided_by = models.ForeignKey(
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True)
    is_first = models.BooleanField(
        default=False
    )  # the first administrator of a casino, whom a superuser appoints alone

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=RequestKind.values), name="account_request_kind_is_one"),
            models.CheckConstraint(
                condition=Q(kind="role", casino__isnull=False, role__in=Role.values, email="")
                | Q(kind="email", casino=None, role="") & ~Q(email="")
                | Q(kind__in=["second_factor", "reactivation"], casino=None, role="", email=""),
                name="account_request_is_of_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", decided_by=None, decided_at=None)
                | Q(
                    state__in=["approved", "declined", "withdrawn"], decided_by__isnull=False, decided_at__isnull=False
                ),
                name="account_request_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved")
                | ~Q(decided_by=F("proposed_by"))
                | Q(is_first=True, kind="role", role="administrator"),
                name="account_request_four_eyes",
            ),
            models.CheckConstraint(
                condition=~Q(officer=F("proposed_by")) & (Q(decided_by=None) | ~Q(officer=F("decided_by"))),
                name="account_request_not_for_oneself",
            ),
            models.UniqueConstraint(
                fields=["officer", "kind", "casino"],
                condition=Q(state="waiting"),
                nulls_distinct=False,
                name="one_waiting_account_request",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.officer}"


class SignInRefusal(models.Model):
    """Refused sign-ins from one network in one window of time, until the audit trail has their number."""

    starts_at = models.DateTimeField()
    network = models.CharField(max_length=50)  # "" counts all that came when the window had enough networks
    refusals = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["starts_at", "network"], name="one_refusal_a_window_and_network")
        ]

    def __str__(self) -> str:
        return f"{self.starts_at:%Y-%m-%d %H:%M} {self.network}: {self.refusals}"
