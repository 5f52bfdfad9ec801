"""``verify`` rebuilds the decisions about corrections from the audit trail, and names each row that is otherwise.

A superuser attacks the table with every trigger disabled; each attack is rolled back.
"""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from audit.corrections import decisions
from audit.models import LoggedStream
from audit.transparency.decisions import wrong_decisions
from tests import citus
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, replayed
from tests.audit.transparency.sealed import seal, verified

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.superuser,
]  # not one that commits: those leave streams that do not hold


class RollBack(Exception):
    """Ends an attack."""


class Approved(CorrectionsDesk):
    """A casino with a session whose correction two officers approved, in a sealed log that holds."""

    def __init__(self) -> None:
        super().__init__()
        self.stream_id = self.session("s")
        self.approved(self.stream_id)
        replayed(self.stream_id)
        seal()
        assert verified(decisions=[self.casino.pk]).faults == []


@pytest.fixture(scope=citus.MODULE)
def approved(module_db: None) -> Approved:
    """Every attack on it is rolled back."""
    return Approved()


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def found_after(desk: CorrectionsDesk, attack: str, *params: object) -> list[str]:
    """Return what ``verify`` says of decisions after an attack with every guard off, and roll it back."""
    found: list[str] = []
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            _disarm(cursor)
            cursor.execute(attack, params)
            assert cursor.rowcount > 0, "the attack hit nothing"
            found = [str(fault) for fault in verified(decisions=[desk.casino.pk]).faults if fault.part == "decision"]
            raise RollBack
    except RollBack:
        return found


def _disarm(cursor: CursorWrapper) -> None:
    cursor.execute("set constraints all immediate")  # a table with checks to come cannot be altered
    for guard in ("log_no_change", "log_no_drop"):
        cursor.execute(f"alter event trigger {guard} disable")
    cursor.execute("alter table log.event disable trigger user")
    cursor.execute("alter table audit_correctiondecision drop constraint correction_decided_by_two_at_most")
    cursor.execute("set local session_replication_role = replica")


ALTERED = {
    "verdict": "update audit_correctiondecision set verdict = 'refused' where stream_id = %s and number = 2",
    "officer": "update audit_correctiondecision d set officer_id = (select id from audit_officer o"
    " where o.username like 'director%%' order by id desc limit 1) where stream_id = %s and number = 1",
    "reason": "update audit_correctiondecision set reason = 'another' where stream_id = %s and number = 1",
    "decided_at": "update audit_correctiondecision set decided_at = decided_at - interval '1 day'"
    " where stream_id = %s and number = 1",
    "number": "update audit_correctiondecision set number = number + 5 where stream_id = %s and number = 1",
    "seq": "update audit_correctiondecision set seq = 5 where stream_id = %s and number = 1",
}


@pytest.mark.parametrize("column", ALTERED)
def test_an_altered_row_is_named_with_what_was_altered(approved: Approved, column: str) -> None:
    (fault,) = found_after(approved, ALTERED[column], approved.stream_id)
    assert fault.startswith(f"decision of s, event {CORRECTION}: decision ")
    assert "is not what entry" in fault
    assert fault.endswith(f": {column}")


def test_a_deleted_row_is_named(approved: Approved) -> None:
    attack = "delete from audit_correctiondecision where stream_id = %s and number = 2"
    (fault,) = found_after(approved, attack, approved.stream_id)
    assert f"decision 2, countersigned by {approved.second.username}, and the table has no such row" in fault


def test_a_row_that_no_entry_says_is_named(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    decisions.countersign(desk.officer, LoggedStream.objects.get(pk=stream_id), CORRECTION, reason="seen")
    seal()
    assert list(wrong_decisions(desk.casino.pk)) == []
    (fault,) = found_after(
        desk,
        "insert into audit_correctiondecision (casino_id, stream_id, seq, number, verdict, officer_id, reason,"
        " decided_at, entry_stream, entry_seq) select casino_id, stream_id, seq, 2, 'countersigned', %s, 'forged',"
        " decided_at, entry_stream, entry_seq + 1 from audit_correctiondecision where stream_id = %s",
        desk.director.pk,
        stream_id,
    )
    assert f"decision 2, countersigned by {desk.director.username} is in the table, and entry" in fault


def test_a_row_added_beside_another_of_the_same_entry_is_named(approved: Approved) -> None:
    (fault,) = found_after(
        approved,
        "insert into audit_correctiondecision (casino_id, stream_id, seq, number, verdict, officer_id, reason,"
        " decided_at, entry_stream, entry_seq) select casino_id, stream_id, seq, 3, 'refused', %s, 'forged',"
        " decided_at, entry_stream, entry_seq from audit_correctiondecision where stream_id = %s and number = 2",
        approved.director.pk,
        approved.stream_id,
    )
    assert f"decision 3, refused by {approved.director.username} is in the table, and entry" in fault


def test_a_run_that_took_a_correction_for_approved_alone_is_named(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    seal()
    (fault,) = found_after(desk, "update audit_adjudicationrun set approved = '{6}' where stream_id = %s", stream_id)
    assert fault.endswith("run 1 took it for approved, and no two officers countersigned it")


FOUR_EYES = {
    "whoever recorded or approved the correction at the table decided about it": (
        "update audit_officer set email = 'chief' where id = %s",
        lambda desk: (desk.second.pk,),
    ),
    "the accounts of the two officers were in the same hands": (
        "update audit_officer set created_by_id = %s where id = %s",
        lambda desk: (desk.officer.pk, desk.second.pk),
    ),
    "there is no such account": (
        "update audit_officer set username = 'renamed' where id = %s",
        lambda desk: (desk.second.pk,),
    ),
}


@pytest.mark.parametrize("rule", FOUR_EYES)
def test_entries_that_break_the_rule_of_four_eyes_are_named(approved: Approved, rule: str) -> None:
    attack, params = FOUR_EYES[rule]
    faults = found_after(approved, attack, *params(approved))
    assert any(fault.endswith(f"by {approved.second.username}: {rule}") for fault in faults), faults


def test_a_second_entry_of_the_same_officer_is_named(approved: Approved) -> None:
    faults = found_after(
        approved,
        "update log.event e set envelope = replace(e.envelope::text, %s, %s)::json from log.stream s"
        " where s.stream_id = e.stream_id and s.is_of_desk and e.envelope ->> 'type' = 'correction.countersigned'"
        " and e.envelope ->> 'actor' = %s",
        f'"actor":"{approved.second.username}"',
        f'"actor":"{approved.officer.username}"',
        approved.second.username,
    )
    assert any(fault.endswith(f"by {approved.officer.username}: the same officer decided before") for fault in faults)
    assert any(fault.endswith(": officer") for fault in faults), "and the row is another officer's"


def test_refusals_and_corrections_that_wait_hold(desk: CorrectionsDesk) -> None:
    refused, waiting = desk.session("s"), desk.session("t", table="T2")
    desk.refused(refused)
    replayed(waiting)
    seal()
    assert verified(decisions=[desk.casino.pk]).faults == []
