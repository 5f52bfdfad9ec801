"""The feed of findings: every change of what stands, in the order in which it became known; the outbox of webhooks."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.adjudication import Finding
from audit.models.casinos import Casino, GamingTable


class ChangeKind(models.TextChoices):
    """What happened to a finding."""

    OPENED = "opened", _("opened")  # it stands for the first time
    AMENDED = "amended", _("amended")  # it stands, and says more: put right by a later event, or another amount
    SUPERSEDED = "superseded", _("superseded")  # it stands no more
    REINSTATED = "reinstated", _("reinstated")  # it stands again
    CLOSED = "closed", _("closed")  # two officers have closed its case
    REOPENED = "reopened", _("reopened")  # its case is open again


class FindingChange(models.Model):
    """A change of a finding, written by a trigger in the transaction of the change: no code can forget it.

    ``position`` counts the changes of a casino from 1, without a gap, in the order in which they were committed. It is
    None until ``audit_number_changes`` has given it, under a lock: an id is taken before the commit, and whoever read
    by it would miss what commits late. Rows are never changed otherwise, and never deleted.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    table = models.ForeignKey(GamingTable, null=True, on_delete=models.PROTECT, related_name="+")
    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16, choices=ChangeKind)
    at = models.DateTimeField()
    position = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["casino", "position"], name="one_change_a_position"),
            models.CheckConstraint(condition=Q(kind__in=ChangeKind.values), name="finding_change_kind_is_one"),
        ]
        indexes = [models.Index(fields=["casino", "id"], condition=Q(position=None), name="changes_without_position")]

    def __str__(self) -> str:
        return f"{self.finding_id} {self.kind}"


class PublishedFeed(models.Model):
    """Up to which position the changes of a casino are on the broker's topic exchange."""

    casino = models.OneToOneField(Casino, primary_key=True, on_delete=models.PROTECT, related_name="+")
    position = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.casino_id} @ {self.position}"
