"""``verify`` names a closing of a session that only one hand made, whatever the trail and the tables say."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime

import pytest
from django.test import Client

from audit.casework import session_closing
from audit.event_store import audit_trail
from audit.event_store.append import NewEvent, append
from audit.models import Officer, SessionClosing
from audit.projections.session_closings import wrong_closings
from tests import citus
from tests.audit.access.test_account_walls import WEB
from tests.audit.casework.test_session_closing import COUNTED, DeadTable
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


@pytest.fixture(scope=citus.MODULE)
def shared_table(_committed_before: None) -> DeadTable:
    table = DeadTable()
    table.tenant.client = Client()  # one that has answered nothing can be copied
    return table


@pytest.fixture
def dead(shared_table: DeadTable, db: None) -> DeadTable:
    return deepcopy(shared_table)


def found(dead: DeadTable) -> list[tuple[str, int | None, str]]:
    return [(each.stream, each.seq, each.what) for each in wrong_closings(dead.casino.pk)]


def the_event(dead: DeadTable, *, by: str) -> bytes:
    """Return the closing of the session as if ``by`` had approved a proposal of the officer."""
    unsaved = SessionClosing(stream=dead.stream, next_seq=dead.next_seq, float_minor=COUNTED, proposed_by=dead.officer)
    return session_closing._event_of(unsaved, approved_by=by)


def append_alone(dead: DeadTable, event: bytes) -> None:
    """Append an event to the session as a web server that was taken over can, without the function of the closing."""
    seq = dead.next_seq
    with acting_as(WEB):
        append(dead.stream.pk, [NewEvent(seq, datetime.now(UTC), event)], next_seq=seq + 1, key_id=audit_trail.NO_KEY)


def test_a_closing_of_two_officers_holds_and_so_do_proposals_that_close_nothing(dead: DeadTable) -> None:
    session_closing.withdraw(dead.officer, dead.proposed())
    session_closing.decline(dead.second, dead.proposed(), reason="the table sends again")
    dead.proposed()
    assert found(dead) == []
    waits = session_closing.waiting_of(dead.stream.pk)
    assert waits is not None
    session_closing.approve(dead.second, waits, reason="counted again")
    assert found(dead) == []


def test_an_event_that_no_table_sent_and_no_two_officers_approved_is_named(dead: DeadTable) -> None:
    at = dead.next_seq
    append_alone(dead, the_event(dead, by=dead.second.username))
    [(stream, seq, what)] = found(dead)
    assert (stream, seq) == (dead.name, at)
    assert "no two officers" in what


def test_a_closing_that_one_officer_proposed_and_approved_is_named(dead: DeadTable) -> None:
    at, own = dead.next_seq, dead.officer.username
    event = the_event(dead, by=own)
    proposal = {"session": dead.name, "next_seq": at, "float_minor": COUNTED}
    with acting_as(WEB):
        audit_trail.record(own, "session.closing_proposed", casino_id=dead.casino.pk, data=proposal, reason="gone")
        audit_trail.record(
            own,
            "session.closing_approved",
            casino_id=dead.casino.pk,
            data={**proposal, "proposed_by": own, "event": event.decode()},
        )
    append_alone(dead, event)
    whats = {what for stream, seq, what in found(dead) if (stream, seq) == (dead.name, at)}
    assert any(f"{own} alone closed the session" in what for what in whats)
    assert any("is missing" in what for what in whats), "the function wrote no row"


def test_a_closing_of_two_accounts_in_one_hand_is_named(dead: DeadTable) -> None:
    dead.closed()
    Officer.objects.filter(pk=dead.second.pk).update(created_by=dead.officer)
    [(stream, seq, what)] = found(dead)
    assert (stream, seq) == (dead.name, dead.next_seq - 1)
    assert "one hand closed the session" in what


def test_another_event_than_the_approved_one_is_named(dead: DeadTable) -> None:
    dead.closed()
    append_alone(dead, the_event(dead, by=dead.director.username))
    [(_stream, seq, what)] = found(dead)
    assert (seq, "no table system sent it" in what) == (dead.next_seq - 1, True)


def test_an_entry_that_decides_what_nobody_proposed_is_named(dead: DeadTable) -> None:
    data = {"session": dead.name, "next_seq": 3, "float_minor": 1, "proposed_by": dead.officer.username}
    audit_trail.record(dead.second.username, "session.closing_approved", casino_id=dead.casino.pk, data=data)
    [(stream, seq, what)] = found(dead)
    assert (stream, seq, "decides what nobody has proposed" in what) == (dead.name, 3, True)
