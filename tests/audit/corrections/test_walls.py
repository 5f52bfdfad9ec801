"""What whoever takes over a web server does about corrections that wait: nothing by their table, and by the functions
only what the rules let the officer do in whose name they are called."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit.access.capabilities import Capability, roles_with
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Officer, Role
from tests.audit.access.test_account_walls import DENIED, WEB, refused
from tests.audit.casework.test_actions import hired
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk
from tests.roles import acting_as

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def attempted(
    actor: Officer | str, type: str, desk: CorrectionsDesk, *, keeps: bool = False, reason: str = "seen", **data: Any
) -> str | None:
    """Name an entry as a web server does, and roll it back unless it ``keeps``. Return the code of the refusal."""
    about = {"session": "s", "correction": CORRECTION, **data}
    try:
        with transaction.atomic(), acting_as(WEB):
            audit_trail.perform(str(actor), f"correction.{type}", casino_id=desk.casino.pk, data=about, reason=reason)
            transaction.set_rollback(not keeps)
    except EntryRefused as refusal:
        return refusal.code
    return None


@pytest.mark.parametrize(
    "statement",
    [
        "insert into audit_correctiondecision default values",
        "update audit_correctiondecision set verdict = 'countersigned'",
        "update audit_correctiondecision set officer_id = 1",
        "delete from audit_correctiondecision",
        "update audit_adjudicationrun set approved = '{6}'",
        "update audit_finding set facts = '{}'",
        "select audit_act_correction_countersigned('{}', 1, null)",
        "select audit_act_correction_refused('{}', 1, null)",
        "select audit_decide_correction('{}', 1, 'countersigned')",
        "select audit_decides_corrections(1, 1, true)",
        "select audit_guard_correction_decision()",
    ],
)
def test_a_web_server_that_was_taken_over_writes_no_decision(statement: str) -> None:
    assert refused(statement) == DENIED


def test_nor_does_a_worker(desk: CorrectionsDesk) -> None:
    desk.approved(desk.session("s"))
    for statement in (
        "update audit_correctiondecision set verdict = 'refused'",
        "delete from audit_correctiondecision",
        "insert into audit_correctiondecision default values",
    ):
        with pytest.raises(DatabaseError, match="permission denied"):  # noqa: SIM117  # the transaction ends first
            with transaction.atomic(), acting_as("cabochon_worker"), connection.cursor() as cursor:
                cursor.execute(statement)


def test_the_functions_let_those_decide_who_may(desk: CorrectionsDesk) -> None:
    desk.session("s")
    foreign = CorrectionsDesk()
    for role in Role:
        officer = hired(desk.tenant, role, f"wall-{role}")
        begins = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
        approves = role in roles_with(Capability.APPROVE_CASES)
        assert (attempted(officer, "countersigned", desk) is None) == begins, role
        assert (attempted(officer, "refused", desk) is None) == approves, role
    assert attempted(foreign.director, "countersigned", desk) == "not-decider"
    assert attempted("nobody-at-all", "countersigned", desk) == "not-an-officer"


def test_the_functions_take_two_people_once(desk: CorrectionsDesk) -> None:
    desk.session("s")
    assert attempted(desk.second, "countersigned", desk, keeps=True) is None
    assert attempted(desk.second, "countersigned", desk) == "own-decision"
    assert attempted(desk.second, "refused", desk) == "own-decision"
    assert attempted(desk.officer, "countersigned", desk) == "not-decider"
    assert attempted(desk.other, "countersigned", desk, keeps=True) is None
    for officer in (desk.second, desk.other, desk.director):
        for type in ("countersigned", "refused"):
            assert attempted(officer, type, desk) == "decided"


def test_the_functions_approve_nothing_that_was_refused(desk: CorrectionsDesk) -> None:
    desk.session("s")
    assert attempted(desk.director, "refused", desk, keeps=True) is None
    for officer in (desk.second, desk.other, desk.director):
        assert attempted(officer, "countersigned", desk) == "decided"


def test_the_functions_decide_about_what_waits_alone(desk: CorrectionsDesk) -> None:
    desk.session("s")
    attempts: list[tuple[dict[str, Any], str]] = [
        ({"reason": ""}, "no-reason"),
        ({"reason": "  "}, "no-reason"),
        ({"correction": 2}, "no-such-correction"),
        ({"correction": 77}, "no-such-correction"),
        ({"correction": "x"}, "no-such-correction"),
        ({"correction": 2**80}, "no-such-correction"),
        ({"session": "t"}, "no-such-correction"),
    ]
    for other, code in attempts:
        assert attempted(desk.second, "countersigned", desk, **other) == code, other


def test_a_session_of_another_casino_is_none(desk: CorrectionsDesk) -> None:
    foreign = CorrectionsDesk()
    foreign.session("elsewhere")
    assert attempted(desk.second, "countersigned", desk, session="elsewhere") == "no-such-correction"


@pytest.mark.superuser
def test_no_other_way_of_writing_changes_or_repeats_a_decision(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    desk.approved(stream_id)
    again = (
        "insert into audit_correctiondecision (casino_id, stream_id, seq, number, verdict, officer_id, reason,"
        " decided_at, entry_stream, entry_seq) select casino_id, stream_id, {seq}, {number}, 'countersigned',"
        " {officer}, 'x', now(), '', 1 from audit_correctiondecision limit 1"
    )
    for statement in (
        "update audit_correctiondecision set verdict = 'refused'",
        "delete from audit_correctiondecision",
        again.format(seq=CORRECTION, number=3, officer=desk.director.pk),
        again.format(seq=CORRECTION, number=2, officer=desk.director.pk),
        again.format(seq=7, number=2, officer=desk.director.pk),
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
