"""A session whose table system is gone is closed by two officers: an event of the session, and nothing deletes it."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from audit.access.capabilities import Capability, roles_with
from audit.adjudication.replay import advance
from audit.archive.conditions import reasons_to_stay
from audit.casework import session_closing
from audit.casework.session_closing import ClosingRefused
from audit.event_store import audit_trail, read
from audit.event_store.append import EntryRefused
from audit.ledger.order import next_close
from audit.models import Adjudication, Finding, LoggedStream, Officer, Quarantined, Role, SessionClosing
from settlement.codec import decode_one_stored
from tests import citus
from tests.audit.access.test_account_walls import DENIED, WEB, refused
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.audit.transparency.sealed import seal
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

COUNTED = 4_990_100
"""The float of the table as officers counted it, in minor units."""

PAST_MONTH = date(2025, 1, 1)


class DeadTable:
    """A casino whose only table went silent in mid-session, and its officers."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.casino = self.tenant.casino
        self.name = f"dead-{self.tenant.code}"
        self.events = dice_changed_in_mid_series(self.tenant, self.name)
        assert self.tenant.post(self.name, self.events).status_code == 201
        self.stream = self.tenant.stream(self.name)
        self.officer = hired(self.tenant, Role.OFFICER, "officer")
        self.second = hired(self.tenant, Role.SECOND, "second")
        self.director = hired(self.tenant, Role.DIRECTOR, "director")
        self.replay()

    @property
    def next_seq(self) -> int:
        return read.next_seq_of(self.stream.pk)

    def replay(self) -> None:
        while (progress := advance(self.stream.pk)) is not None and progress.behind:
            pass

    def is_closed(self) -> bool:
        return Adjudication.objects.get(stream_id=self.stream.pk, what_if=None).closed

    def proposed(self) -> SessionClosing:
        return session_closing.propose(
            self.officer, self.stream, float_minor=COUNTED, reason="the terminal of table T1 burned out"
        )

    def closed(self) -> SessionClosing:
        """Have two officers close the session."""
        closing = session_closing.approve(self.second, self.proposed())
        self.replay()
        return closing

    def trail(self) -> list[tuple[str, str]]:
        day = datetime.now(UTC).date()
        entries = audit_trail.entries_of(self.casino.pk, day)
        return [(each.type, each.actor) for each in entries if each.type.startswith("session.closing")]

    def later(self, *more: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Return events of the table that follow what is recorded."""
        kept = self.next_seq - 1
        return numbered(self.events[0], *[("x", {})] * (kept - 1), *more)[kept:]


@pytest.fixture(scope=citus.MODULE)
def shared_table(module_db: None) -> DeadTable:
    table = DeadTable()
    table.tenant.client = Client()  # one that has answered nothing can be copied
    return table


@pytest.fixture
def dead(shared_table: DeadTable, db: None) -> DeadTable:
    return deepcopy(shared_table)


def why(function: Any, *args: Any, **more: Any) -> str:
    """Return why an officer is refused; "" if they are not."""
    try:
        function(*args, **more)
    except ClosingRefused as refusal:
        return str(refusal)
    return ""


def test_a_proposal_closes_nothing_and_two_officers_close_the_session(dead: DeadTable) -> None:
    takes = dead.next_seq
    closing = dead.proposed()
    dead.replay()
    assert (dead.next_seq, dead.is_closed()) == (takes, False)
    session_closing.approve(dead.second, closing)
    dead.replay()
    assert (dead.next_seq, dead.is_closed()) == (takes + 1, True)
    [(_seq, raw)] = read.slice_of(dead.stream.pk, after=takes - 1, limit=5)
    event = decode_one_stored(raw)
    assert (event.type, event.seq, event.data.float) == ("session.closed", takes, COUNTED)
    assert event.ext == {"desk": {"proposed_by": dead.officer.username, "approved_by": dead.second.username}}
    assert dead.trail() == [
        ("session.closing_proposed", dead.officer.username),
        ("session.closing_approved", dead.second.username),
    ]


def test_a_session_that_two_officers_closed_keeps_its_month_open_no_longer_and_is_fed_to_the_ledger(
    dead: DeadTable,
) -> None:
    low, high = dead.stream.pk, dead.stream.pk + 1
    assert f"session open: {dead.name}" in reasons_to_stay(PAST_MONTH, low, high)
    dead.closed()
    seal()
    assert f"session open: {dead.name}" not in reasons_to_stay(PAST_MONTH, low, high)
    close, _leaf = next_close(dead.casino.pk, 0)
    assert close is not None
    assert (close.stream_id, close.seq) == (dead.stream.pk, dead.next_seq - 1)


def test_what_comes_after_the_closing_is_recorded_as_late(dead: DeadTable) -> None:
    dead.closed()
    closed_by = dead.next_seq - 1
    assert dead.tenant.post(dead.name, dead.later(("no_more_bets", {}))).status_code == 201
    dead.replay()
    (late,) = Finding.objects.standing().filter(stream=dead.stream, rule="late-after-close")
    assert (late.seq, late.facts["closed_seq"]) == (closed_by + 1, closed_by)


def test_a_table_that_comes_back_is_told_where_to_go_on_and_accused_of_nothing(dead: DeadTable) -> None:
    waiting = dead.later(("no_more_bets", {}))
    dead.closed()
    answer = dead.tenant.post(dead.name, waiting)
    assert answer.status_code == 409
    problem = json.loads(answer.content)
    assert problem["next_seq"] == dead.next_seq
    assert "Two officers closed this session" in problem["detail"]
    assert not Finding.objects.filter(stream=dead.stream, rule="sequence-conflict").exists()
    kept = Quarantined.objects.get(casino=dead.casino, code="conflict")
    closed = f"Two officers closed this session at the desk with event {dead.next_seq - 1}, because nothing more had"
    assert (kept.stream, kept.seq, kept.detail) == (dead.name, dead.next_seq - 1, f"{closed} come.")
    assert json.loads(bytes(kept.body))[0]["type"] == "no_more_bets"
    assert dead.tenant.post(dead.name, dead.later(("no_more_bets", {}))).status_code == 201


def test_a_spool_that_was_put_back_is_accused_of_nothing_either(dead: DeadTable) -> None:
    """It sends what comes after the closing under the numbers that it has, and late events are recorded there."""
    waiting = dead.later(("no_more_bets", {}), ("player.seated", {"player": "p1"}), ("player.left", {"player": "p1"}))
    dead.closed()
    late = [{**event, "seq": event["seq"] + 1} for event in waiting]
    assert dead.tenant.post(dead.name, late).status_code == 201
    answer = dead.tenant.post(dead.name, waiting)
    problem = json.loads(answer.content)
    assert (answer.status_code, problem["seq"], problem["next_seq"]) == (409, waiting[0]["seq"], dead.next_seq)
    assert not Finding.objects.filter(stream=dead.stream, rule="sequence-conflict").exists()
    kept = Quarantined.objects.get(casino=dead.casino, code="conflict")
    assert len(json.loads(bytes(kept.body))) == 3
    other = dead.tenant.post(dead.name, [{**late[0], "actor": "somebody"}])
    assert other.status_code == 409
    assert "next_seq" not in json.loads(other.content), "of a late event the number is its own"
    assert Finding.objects.filter(stream=dead.stream, rule="sequence-conflict").exists()


def test_whoever_changes_an_earlier_event_is_accused_though_the_number_of_the_closing_is_sent_with_it(
    dead: DeadTable,
) -> None:
    waiting = dead.later(("no_more_bets", {}))
    dead.closed()
    altered = {**dead.events[-1], "actor": "somebody"}
    answer = dead.tenant.post(dead.name, [altered, *waiting])
    assert (answer.status_code, "next_seq" in json.loads(answer.content)) == (409, False)
    assert Finding.objects.filter(stream=dead.stream, rule="sequence-conflict").exists()


def test_a_table_that_sends_on_ends_the_proposal(dead: DeadTable) -> None:
    closing = dead.proposed()
    assert dead.tenant.post(dead.name, dead.later(("no_more_bets", {}))).status_code == 201
    assert "has sent events since" in why(session_closing.approve, dead.second, closing)
    assert dead.trail()[-1] == ("session.closing_refused", dead.second.username)
    session_closing.decline(dead.second, closing, reason="it sends again")
    session_closing.approve(dead.second, dead.proposed())


def test_one_hand_closes_nothing(dead: DeadTable) -> None:
    closing = session_closing.propose(dead.second, dead.stream, float_minor=COUNTED, reason="gone")
    assert "Another officer" in why(session_closing.approve, dead.second, closing)
    assert "Another officer" in why(session_closing.decline, dead.second, closing, reason="no")
    assert "Only the officer" in why(session_closing.withdraw, dead.officer, closing)
    assert not session_closing.may_decide(dead.second, closing)
    assert session_closing.may_decide(dead.director, closing)
    session_closing.withdraw(dead.second, closing)
    assert session_closing.waiting_of(dead.stream.pk) is None


def test_two_accounts_in_the_same_hands_are_one_hand(dead: DeadTable) -> None:
    closing = dead.proposed()
    Officer.objects.filter(pk=dead.second.pk).update(created_by=dead.officer)
    assert "created the other’s account" in why(session_closing.approve, dead.second, closing)


@pytest.mark.parametrize("role", list(Role))
def test_roles_propose_and_approve_by_their_capabilities(dead: DeadTable, role: Role) -> None:
    somebody = hired(dead.tenant, role, "somebody")
    proposes = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
    approves = role in roles_with(Capability.APPROVE_CASES)
    assert session_closing.may_propose(somebody, dead.casino.pk) == proposes
    refusal = why(session_closing.propose, somebody, dead.stream, float_minor=COUNTED, reason="gone")
    assert (refusal == "") == proposes
    if proposes:
        waits = session_closing.waiting_of(dead.stream.pk)
        assert waits is not None
        session_closing.withdraw(somebody, waits)
    closing = dead.proposed()
    assert session_closing.may_decide(somebody, closing) == approves
    assert (why(session_closing.approve, somebody, closing) == "") == approves


def test_what_is_refused_says_why(dead: DeadTable) -> None:
    assert "Give a reason" in why(session_closing.propose, dead.officer, dead.stream, float_minor=1, reason=" \0 ")
    for amount in (-1, 2**53, 2**70):
        assert "cannot hold" in why(session_closing.propose, dead.officer, dead.stream, float_minor=amount, reason="x")
    closing = dead.proposed()
    assert "already waiting" in why(session_closing.propose, dead.second, dead.stream, float_minor=1, reason="x")
    session_closing.approve(dead.second, closing)
    assert "in the meantime" in why(session_closing.approve, dead.director, closing)
    assert "is closed" in why(session_closing.propose, dead.officer, dead.stream, float_minor=1, reason="x")
    foreign = DeadTable()
    assert "role" in why(session_closing.propose, foreign.director, dead.stream, float_minor=1, reason="x")


def test_a_session_that_its_table_closed_and_a_sandbox_are_not_closed_by_officers(dead: DeadTable) -> None:
    assert dead.tenant.post(dead.name, dead.later(("session.closed", {"float": 1}))).status_code == 201
    assert "is closed" in why(session_closing.propose, dead.officer, dead.stream, float_minor=1, reason="x")
    sandbox = Tenant(is_sandbox=True)
    assert sandbox.post("s", numbered(sandbox.opener("s"), ("no_more_bets", {}))).status_code == 201
    officer = hired(sandbox, Role.OFFICER, "tries")
    assert "no such session" in why(session_closing.propose, officer, sandbox.stream("s"), float_minor=1, reason="x")


# What whoever takes over a web server does


@pytest.mark.parametrize(
    "statement",
    [
        "insert into audit_sessionclosing default values",
        "update audit_sessionclosing set state = 'approved'",
        "delete from audit_sessionclosing",
        "select audit_act_session_closing_approved('{}', 1, null)",
        "select audit_decide_session_closing('{}', 'approved')",
        "select audit_session_to_close(1, 's', 1)",
    ],
)
def test_a_web_server_that_was_taken_over_writes_no_closing(statement: str) -> None:
    assert refused(statement) == DENIED


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"event": '{"seq": 1}'}, "not-readable"),
        ({"event": "no JSON"}, "not-readable"),
        ({"event": None}, "not-readable"),
        ({"float_minor": 1}, "no-such-closing"),
        ({"next_seq": 1}, "no-such-closing"),
        ({"proposed_by": "somebody"}, "no-such-closing"),
        ({"session": "another"}, "no-such-closing"),
    ],
)
def test_the_function_records_what_was_proposed_and_nothing_else(
    dead: DeadTable, other: dict[str, Any], code: str
) -> None:
    closing = dead.proposed()
    event = session_closing._event_of(closing, approved_by=dead.second.username).decode()
    about = {
        "session": dead.name, "next_seq": closing.next_seq, "float_minor": COUNTED,
        "proposed_by": dead.officer.username, "event": event, **other,
    }  # fmt: skip
    about = {name: value for name, value in about.items() if value is not None}
    with pytest.raises(EntryRefused) as refusal, transaction.atomic(), acting_as(WEB):
        audit_trail.perform(
            dead.second.username, "session.closing_approved", casino_id=dead.casino.pk, data=about, reason=""
        )
    assert refusal.value.code == code


def test_no_other_way_of_writing_changes_a_closing(dead: DeadTable) -> None:
    dead.closed()
    for statement in (
        "update audit_sessionclosing set float_minor = 1",
        "update audit_sessionclosing set state = 'declined'",
        "delete from audit_sessionclosing",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert LoggedStream.objects.filter(pk=dead.stream.pk).exists()
