"""A casino whose register two officers keep."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from audit.adjudication.replay import advance
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.models import GamingTable, Officer, RegisterEntry, Role
from audit.register import entries
from audit.register.entries import Proposal
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant

LONG_AGO = date(2020, 1, 1)
PLAYED = date(2026, 11, 19)
"""The gaming day of ``Tenant.opener``."""


class RegisterDesk:
    """A casino with two tables, whose register a second officer and a director keep."""

    def __init__(self) -> None:
        self.tenant = Tenant(tables=("T1", "T2"))
        self.casino = self.tenant.casino
        self.one = hired(self.tenant, Role.SECOND, "one")
        self.other = hired(self.tenant, Role.DIRECTOR, "other")

    def table(self, code: str) -> GamingTable:
        return GamingTable.objects.get(casino=self.casino, code=code)

    def proposed(self, reading: str, value: Any, *, by: Officer | None = None, **more: Any) -> RegisterEntry:
        proposal = Proposal(reading=reading, value=value, **{"first_day": LONG_AGO, "reason": "custom", **more})
        return entries.propose(by or self.one, self.casino, proposal)

    def decided(self, reading: str, value: Any, **more: Any) -> RegisterEntry:
        """Return an entry that the one proposed and the other approved."""
        return entries.approve(self.other, self.proposed(reading, value, **more).pk)

    def trail(self) -> list[AuditEntry]:
        day = datetime.now(UTC).date()
        return [each for each in audit_trail.entries_of(self.casino.pk, day) if each.type.startswith("register.")]


def replayed(stream_id: int) -> None:
    while (progress := advance(stream_id)) is not None and progress.behind:
        pass
