"""Which transactions changed what the desk counts: a page need not count again what is as it was."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

NOTED = (
    *("audit_finding", "audit_case", "audit_casino", "audit_gamingtable", "audit_nightreport", "audit_officer"),
    *("audit_registerentry", "audit_accountrequest", "audit_correctiondecision", "audit_officer_casinos"),
)
"""The tables whose changes are noted."""

CHANGES_KEPT = timedelta(days=1)
"""How long a change is noted: longer than any transaction goes on, and than a process keeps what it has read."""


class Change(models.Model):
    """A transaction that changed rows of a table, written within it by a trigger: no code can forget it.

    Whether it is committed is asked of PostgreSQL, by the snapshot of whoever looks. Rows are forgotten after
    ``CHANGES_KEPT``.
    """

    pk = models.CompositePrimaryKey("xid", "relation")
    xid = models.BigIntegerField()
    relation = models.CharField(max_length=63)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "audit_change"

    def __str__(self) -> str:
        return f"{self.relation} by {self.xid}"
