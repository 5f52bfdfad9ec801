"""Who may decide about a correction that waits, and how often: two officers in other hands, or one refusal."""

from __future__ import annotations

from typing import Any

import pytest

from audit.access.capabilities import Capability, roles_with
from audit.corrections import decisions
from audit.corrections.decisions import DecisionRefused, decisions_about, state_of
from audit.corrections.waiting import approved, refused, waiting, waiting_in
from audit.models import CorrectionDecision, CorrectionState, Finding, LoggedStream, Officer, Role
from tests.audit.casework.test_actions import hired
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def decided(officer: Officer, stream_id: int, verdict: str = "countersign", **more: Any) -> str:
    """Have an officer decide; return "" or why it is refused."""
    stream = LoggedStream.objects.get(pk=stream_id)
    try:
        getattr(decisions, verdict)(officer, stream, more.get("seq", CORRECTION), reason=more.get("reason", "seen"))
    except DecisionRefused as refused:
        return str(refused)
    return ""


def state(stream_id: int) -> CorrectionState:
    return state_of(decisions_about(stream_id, CORRECTION))


def test_two_officers_approve_and_each_decision_is_an_entry_of_the_audit_trail(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert decided(desk.officer, stream_id) == ""
    assert state(stream_id) == "waiting"
    assert decided(desk.director, stream_id) == ""
    assert state(stream_id) == "approved"
    trail = desk.trail()
    assert [(each.type, each.actor, each.reason) for each in trail] == [
        ("correction.countersigned", desk.officer.username, "seen"),
        ("correction.countersigned", desk.director.username, "seen"),
    ]
    assert dict(trail[0].data) == {"session": "s", "correction": CORRECTION}
    rows = decisions_about(stream_id, CORRECTION)
    assert [row.entry_seq for row in rows] == [each.seq for each in trail]


def test_nobody_approves_alone_and_nobody_approves_twice(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert decided(desk.second, stream_id) == ""
    assert "Another officer" in decided(desk.second, stream_id)
    assert "Another officer" in decided(desk.second, stream_id, "refuse")
    assert state(stream_id) == "waiting"
    assert [each.type for each in desk.trail()][1:] == ["correction.attempt_refused"] * 2


def test_the_second_countersignature_is_of_somebody_who_approves_cases(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert decided(desk.second, stream_id) == ""
    assert "role" in decided(desk.officer, stream_id)
    assert decided(desk.other, stream_id) == ""
    assert state(stream_id) == "approved"


@pytest.mark.parametrize("role", list(Role))
def test_roles_decide_by_their_capabilities(desk: CorrectionsDesk, role: Role) -> None:
    somebody = hired(desk.tenant, role, "somebody")
    begins = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
    approves = role in roles_with(Capability.APPROVE_CASES)
    first, second, third = (desk.session(name) for name in ("s", "t", "u"))
    assert (decided(somebody, first) == "") == begins
    assert decisions.may_countersign(somebody, desk.casino.pk, []) == begins
    assert decided(desk.director, second) == ""
    about = decisions_about(second, CORRECTION)
    assert decisions.may_countersign(somebody, desk.casino.pk, about) == approves
    assert decisions.may_refuse(somebody, desk.casino.pk, about) == approves
    assert (decided(somebody, second) == "") == approves
    assert (decided(somebody, third, "refuse") == "") == approves


def test_an_officer_of_another_casino_decides_nothing_here(desk: CorrectionsDesk) -> None:
    stream_id, foreign = desk.session("s"), CorrectionsDesk()
    assert "role" in decided(foreign.director, stream_id)
    assert "role" in decided(foreign.director, stream_id, "refuse")


@pytest.mark.superuser
def test_two_accounts_in_the_same_hands_are_not_two_officers(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    hireling = hired(desk.tenant, Role.SECOND, "hireling")
    Officer.objects.filter(pk=hireling.pk).update(created_by=desk.second)
    assert decided(desk.second, stream_id) == ""
    assert not decisions.may_countersign(hireling, desk.casino.pk, decisions_about(stream_id, CORRECTION))
    assert "created the other’s account" in decided(hireling, stream_id)
    assert state(stream_id) == "waiting"
    assert decided(hireling, stream_id, "refuse") == "", "a refusal takes one officer"


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
def test_nobody_decides_about_a_correction_that_they_approved_at_the_table(desk: CorrectionsDesk, spelled: Any) -> None:
    stream_id = desk.session("s", approved_by=spelled(desk.director.username))
    assert "at the table" in decided(desk.director, stream_id)
    assert "at the table" in decided(desk.director, stream_id, "refuse")
    assert decided(desk.second, stream_id) == ""


def test_a_refusal_is_final(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert decided(desk.officer, stream_id) == ""
    assert decided(desk.director, stream_id, "refuse") == ""
    assert state(stream_id) == "refused"
    for verdict in ("countersign", "refuse"):
        assert "decided in the meantime" in decided(desk.second, stream_id, verdict)


def test_what_is_approved_is_not_refused_any_more(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    desk.approved(stream_id)
    for _ in range(2):
        assert "decided in the meantime" in decided(desk.director, stream_id, "refuse")
        replayed(stream_id)


def test_only_what_waits_is_decided_about_and_with_a_reason(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert "no such correction" in decided(desk.second, stream_id, seq=2)
    assert "no such correction" in decided(desk.second, stream_id, seq=99)
    assert "no such correction" in decided(desk.second, stream_id, seq=2**70)
    for nothing in ("", " \n", "\0"):
        assert decided(desk.second, stream_id, reason=nothing) == "Give a reason."
    assert not CorrectionDecision.objects.filter(stream=stream_id).exists()


def test_an_informational_correction_waits_for_nobody(desk: CorrectionsDesk) -> None:
    again = ("entry.corrected", {"corrects": 5, "data": {"faces": [2, 1]}, "reason": "r", "approved_by": "c"})
    stream_id = desk.session("s", again)
    finding = Finding.objects.standing().get(stream_id=stream_id, seq=7)
    assert finding.severity == "info"
    assert "is not waiting" in decided(desk.second, stream_id, seq=7)


def test_lists_have_what_waits_what_is_approved_and_what_was_refused(desk: CorrectionsDesk) -> None:
    waits, done, gone = (desk.session(name) for name in ("s", "t", "u"))
    desk.approved(done)
    desk.refused(gone)
    replayed(done)
    own = Finding.objects.filter(casino=desk.casino)
    found = [[each.stream_id for each in of(own)] for of in (waiting, approved, refused)]
    assert found == [[waits], [done], [gone]]
    assert [waiting_in(each, last_seq=6) for each in (waits, done, gone)] == [[CORRECTION], [], []]
    assert waiting_in(waits, last_seq=5) == []
