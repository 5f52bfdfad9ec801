"""Nights that a change to the register touches: signed versions stay as they are, and a new one says what differs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AdjudicationRun, NightReport, NightState, RegisterEntry, RunCause, SessionFigures
from audit.reconciliation import runs
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from audit.register import touched
from tests.audit.reconciliation.played import DAY, MORNING, record, session
from tests.audit.register.register_desk import RegisterDesk, replayed
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def played(desk: RegisterDesk, coups: int = 60) -> int:
    """Record a session of American roulette, without a count; return its stream's id."""
    stream_id = record(desk.casino, session(desk.casino, "T1", ruleset="fr-american-roulette", coups=coups))
    seal()
    return stream_id


def reconciled(desk: RegisterDesk) -> NightReport:
    (report,) = runs.reconcile(desk.casino, DAY, actor="test", now=MORNING)
    return report


def signed(desk: RegisterDesk, report: NightReport) -> NightReport:
    for code in missing_signoff_exceptions(report):
        add_signoff_exception(report, code, "known", officer=desk.one)
    sign(report, officer=desk.one, now=MORNING)
    return sign(report, officer=desk.other, now=MORNING)


def test_a_backdated_change_makes_a_new_version_of_a_signed_night_which_stays_signed(desk: RegisterDesk) -> None:
    stream_id = played(desk)
    first = signed(desk, reconciled(desk))
    content = bytes(first.content)
    assert runs.due(MORNING + timedelta(days=1)) == [] or (desk.casino, DAY) not in runs.due(MORNING)
    desk.decided("zero_rule", "half", ruleset="fr-american-roulette", reason="the house refunds half")
    replayed(stream_id)
    assert AdjudicationRun.objects.get(stream_id=stream_id, state="complete").cause == RunCause.REGISTER
    assert (desk.casino, DAY) in runs.due(timezone.now())
    second = reconciled(desk)
    first.refresh_from_db()
    assert (first.state, bytes(first.content)) == (NightState.CLOSED, content)
    assert (second.version, second.reviewed_by) == (2, None)
    reasons = {reason for row in second.sheet for reason in row["reasons"]}
    who = f"({desk.one.username}, {desk.other.username})"
    assert reasons == {f'register: zero_rule = "half", version 1 {who}'}
    assert (desk.casino, DAY) not in runs.due(timezone.now())


def test_the_sheet_of_a_version_names_the_changes_since_the_version_before_and_no_earlier_one(
    desk: RegisterDesk,
) -> None:
    stream_id = played(desk)
    reconciled(desk)
    desk.decided("zero_rule", "half", ruleset="fr-american-roulette")
    replayed(stream_id)
    reconciled(desk)
    desk.decided("zero_rule", "lose", ruleset="fr-american-roulette")
    replayed(stream_id)
    third = reconciled(desk)
    assert third.version == 3
    reasons = {reason for row in third.sheet for reason in row["reasons"]}
    assert reasons == {f'register: zero_rule = "lose", version 2 ({desk.one.username}, {desk.other.username})'}


def test_figures_are_stored_once_for_what_the_register_says(desk: RegisterDesk) -> None:
    stream_id = played(desk)
    reconciled(desk)
    desk.decided("throw_delay_s", 20)
    reconciled(desk)
    assert SessionFigures.objects.filter(stream=stream_id).count() == 1, "a reading of dice says nothing of a wheel"
    desk.decided("zero_rule", "half", ruleset="fr-american-roulette")
    reconciled(desk)
    assert SessionFigures.objects.filter(stream=stream_id).count() == 2


def test_a_proposal_says_which_sessions_and_signed_nights_it_touches(desk: RegisterDesk) -> None:
    stream_id = played(desk, coups=5)
    signed(desk, reconciled(desk))
    entry = desk.proposed("zero_rule", "half", ruleset="fr-american-roulette")
    assert list(touched.streams_of(entry).values_list("pk", flat=True)) == [stream_id]
    assert touched.signed_nights(entry) == [DAY]
    for other in (
        desk.proposed("zero_rule", "half", ruleset="fr-american-roulette", table=desk.table("T2")),
        desk.proposed("seat_limit", 6, first_day=DAY + timedelta(days=1)),
        desk.proposed("payout_unit", 2, last_day=DAY - timedelta(days=1)),
        desk.proposed("throw_delay_s", 20),
    ):
        assert (touched.streams_of(other).count(), touched.signed_nights(other)) == (0, []), other.reading
    assert RegisterEntry.objects.filter(casino=desk.casino, state="waiting").count() == 5
