"""A casino at whose tables entries are corrected after money moved, and the officers who decide about that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from audit.adjudication.replay import advance
from audit.corrections import decisions
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.models import Adjudication, AdjudicationRun, Casino, Finding, LoggedStream, Membership, Officer, Role
from settlement import ENGINE_VERSION
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant, numbered

CORRECTION = 6
"""The seq of the correction of ``CorrectionsDesk.session``."""

WAGER = {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 1000}


class CorrectionsDesk:
    """A casino with two tables: an officer, two second officers, a director, an auditor and an administrator."""

    def __init__(self) -> None:
        self.tenant = Tenant(tables=("T1", "T2"))
        self.casino = self.tenant.casino
        self.officer = hired(self.tenant, Role.OFFICER, "officer")
        self.second = hired(self.tenant, Role.SECOND, "second")
        self.other = hired(self.tenant, Role.SECOND, "other")
        self.director = hired(self.tenant, Role.DIRECTOR, "director")

    def session(
        self,
        name: str,
        *rest: tuple[str, dict[str, Any]],
        approved_by: str = "chief",
        is_replayed: bool = True,
        **opener: Any,
    ) -> int:
        """Record a session in which 14.00 and a stake of 12.00 are paid on a wager recorded with a stake of 10.00.

        After the coup the stake is corrected to 12.00, which makes the payment right. Return the stream's id.
        """
        corrected = {"corrects": 2, "data": {**WAGER, "stake": 1200}, "reason": "misread", "approved_by": approved_by}
        events = numbered(
            self.tenant.opener(name, observes=[], **opener),
            ("wager.placed", WAGER),
            ("dice.thrown", {"faces": [2, 4]}),
            ("payout.made", {"wager": "w1", "winnings": 1400, "stake_returned": 1200}),
            ("dice.thrown", {"faces": [1, 2]}),
            ("entry.corrected", corrected),
            *rest,
        )
        assert self.tenant.post(name, events).status_code == 201
        stream_id = self.tenant.stream(name).stream_id
        if is_replayed:
            replayed(stream_id)
        return stream_id

    def approved(self, stream_id: int, seq: int = CORRECTION) -> None:
        """Have two officers countersign a correction."""
        for officer in (self.officer, self.second):
            decisions.countersign(officer, LoggedStream.objects.get(pk=stream_id), seq, reason="seen on video")

    def refused(self, stream_id: int, seq: int = CORRECTION) -> None:
        decisions.refuse(self.director, LoggedStream.objects.get(pk=stream_id), seq, reason="the video shows otherwise")

    def trail(self) -> list[AuditEntry]:
        day = datetime.now(UTC).date()
        return [each for each in audit_trail.entries_of(self.casino.pk, day) if each.type.startswith("correction.")]


def approve(casino: Casino, stream_id: int, *seqs: int) -> None:
    """Have two second officers, new ones, countersign corrections of a stream that wait."""
    for number in (1, 2):
        name = f"approver{number}-{casino.code}-{stream_id}-{seqs[0]}"
        officer = Officer.objects.create_user(name, password="x", is_staff=True)
        Membership.objects.create(officer=officer, casino=casino, role=Role.SECOND)
        for seq in seqs:
            decisions.countersign(officer, LoggedStream.objects.get(pk=stream_id), seq, reason="seen on video")


def replayed(stream_id: int) -> None:
    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def rules(stream_id: int) -> set[str]:
    """Return the rules of which a finding of a stream stands."""
    return set(Finding.objects.standing().filter(stream_id=stream_id).values_list("rule", flat=True))


def finding_of(stream_id: int, seq: int = CORRECTION) -> Finding:
    """Return the standing finding of a correction."""
    return Finding.objects.standing().get(stream_id=stream_id, seq=seq, rule__in=("entry-corrected", "entry-annulled"))


def run_of(stream_id: int) -> AdjudicationRun:
    adjudication = Adjudication.objects.get(stream_id=stream_id, what_if=None, engine_version=ENGINE_VERSION)
    assert adjudication.run is not None
    return adjudication.run
