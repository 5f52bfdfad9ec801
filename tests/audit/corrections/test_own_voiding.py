"""What an event type of a ruleset's own voids waits for two officers, as a voided spin does."""

from __future__ import annotations

import pytest

from audit.corrections import decisions
from audit.corrections.decisions import decisions_about, state_of
from audit.models import LoggedStream
from audit.transparency.decisions import CORRECTING
from settlement.events import TYPES, VOIDS
from tests.audit.corrections.corrections_desk import CorrectionsDesk, finding_of, replayed
from tests.audit.tables import numbered

VOIDED = 5


@pytest.mark.django_db
def test_two_officers_approve_that_a_paid_result_is_void() -> None:
    desk = CorrectionsDesk()
    events = numbered(
        desk.tenant.opener("s", observes=[], game="boule", ruleset="fr-boule"),
        ("wager.placed", {"wager": "w1", "bet": "plein", "number": 5, "stake": 1000}),
        ("boule.settled", {"number": 5, "person": "croupier-1"}),
        ("payout.made", {"wager": "w1", "winnings": 7000, "stake_returned": 1000}),
        ("boule.voided", {"voids": 3, "reason": "foreign_object"}),
    )
    assert desk.tenant.post("s", events).status_code == 201
    stream = LoggedStream.objects.get(pk=desk.tenant.stream("s").stream_id)
    replayed(stream.pk)
    assert finding_of(stream.pk, VOIDED).facts["waits"] == "waits"
    for officer in (desk.officer, desk.director):
        decisions.countersign(officer, stream, VOIDED, reason="seen on video")
    assert state_of(decisions_about(stream.pk, VOIDED)) == "approved"


def test_every_type_that_voids_a_result_can_be_decided_about() -> None:
    assert all(CORRECTING.fullmatch(kind.type) for kind in VOIDS)
    assert [name for name in TYPES if CORRECTING.fullmatch(name)] == [
        name for name, kind in TYPES.items() if kind in VOIDS or name in ("entry.corrected", "entry.annulled")
    ]
    assert CORRECTING.fullmatch("x.acme.voided") is None
