"""The house register: what a casino has decided where the law leaves it open, by table, ruleset and gaming day."""

from __future__ import annotations

from datetime import date

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.models.accounts import RequestState
from audit.models.casinos import Casino, GamingTable
from audit.models.officers import Officer


class RegisterEntry(models.Model):
    """One decision of a casino: proposed by one officer, approved, declined or withdrawn, and never changed after that.

    The approved entries of a casino are its register. They are numbered in the order of their approval: ``version`` is
    the number of the register that begins with this entry. ``audit.register.in_force`` says which of them decides.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="register", verbose_name=_("casino"))
    table = models.ForeignKey(  # null: every table of the casino
        GamingTable, null=True, on_delete=models.PROTECT, related_name="register", verbose_name=_("table")
    )
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)  # "": every ruleset that the reading is of
    reading = models.CharField(_("reading"), max_length=64)  # audit.register.readings.KINDS
    value = models.JSONField(_("value"), null=True)  # None: the register decides nothing here any more
    first_day = models.DateField(_("in force from"))
    last_day = models.DateField(_("last day in force"), null=True)  # included; None: until another entry decides
    reason = models.TextField(_("reason"))
    state = models.CharField(_("state"), max_length=16, choices=RequestState, default=RequestState.WAITING)
    version = models.BigIntegerField(_("version"), null=True)  # in the casino, from 1; None unless approved
    proposed_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("proposed by"))
    proposed_at = models.DateTimeField(_("proposed"))
    decided_by = models.ForeignKey(
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True)
    decision_reason = models.TextField(_("reason for the decision"), blank=True)

    class Meta:
        verbose_name = _("entry in the register")
        verbose_name_plural = _("house register")
        ordering = ["casino", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting", decided_by=None, decided_at=None)
                | Q(
                    state__in=["approved", "declined", "withdrawn"], decided_by__isnull=False, decided_at__isnull=False
                ),
                name="register_entry_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(state="approved", version__isnull=False) | ~Q(state="approved") & Q(version=None),
                name="register_entry_approved_is_numbered",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved") | ~Q(decided_by=F("proposed_by")), name="register_entry_four_eyes"
            ),
            models.CheckConstraint(
                condition=Q(last_day=None) | Q(last_day__gte=F("first_day")), name="register_entry_has_days"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="register_entry_has_a_reason"),
            models.UniqueConstraint(fields=["casino", "version"], name="one_register_entry_a_version"),
            models.UniqueConstraint(
                fields=["casino", "table", "ruleset", "reading"],
                condition=Q(state="waiting"),
                nulls_distinct=False,
                name="one_waiting_register_entry",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reading} {self.first_day:%Y-%m-%d}"

    def covers(self, day: date) -> bool:
        """Return whether a gaming day is among its days in force."""
        return self.first_day <= day and (self.last_day is None or day <= self.last_day)
