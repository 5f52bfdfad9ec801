"""What must not be a fault: whatever a casino does, at every moment at which somebody may verify."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from audit.adjudication import promotion, replay
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.casework import actions
from audit.corrections import decisions
from audit.models import Adjudication, AdjudicationRun, Finding, LoggedStream, Officer, RunState, WhatIf
from audit.register import entries
from settlement import ENGINE_VERSION
from tests import citus
from tests.audit.corrections.corrections_desk import CORRECTION, replayed
from tests.audit.projections.record import CLOSED, COMMITTED, Casino, derived, faults, of_a_session, whole_record
from tests.audit.reconciliation.played import record
from tests.audit.register.register_desk import LONG_AGO
from tests.audit.tables import TOUCHED_WRONGLY, dice_changed_in_mid_series, dice_touched_wrongly, numbered, touched_for
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(bool(citus.COORDINATOR), reason="a cluster has one database for all tests")
def test_nothing_is_verified_but_what_these_tests_wrote() -> None:
    assert not LoggedStream.objects.exists()
    assert derived().figures.findings == 0
    assert not COMMITTED


@pytest.fixture
def casino() -> Casino:
    return Casino()


def assert_holds(*, deep: bool = True) -> None:
    """Verify, by the roots that the log keeps and by adjudicating again, which leaves out none of the other checks."""
    assert faults(deep=deep) == []


@pytest.mark.faults
def test_two_whole_records_hold_together_each_alone_with_renamed_officers_and_reconciled_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    casinos = [whole_record(), whole_record()]
    assert_holds(deep=False)
    assert derived().figures.findings > 2 * 25
    for casino in casinos:
        assert faults(casino.casino.pk) == []
        call_command("verify", "--casino", casino.tenant.code)
        assert "Everything holds." in capsys.readouterr().out

    # An officer who is called otherwise now did what they did.
    casino = casinos[0]
    before = [officer.get_username() for officer in (casino.officer, casino.second, casino.director)]
    for officer in (casino.officer, casino.second, casino.director):
        with connection.cursor() as cursor:
            cursor.execute(
                "update audit_officer set first_name = 'Ada', last_name = 'Roche-Müller' where id = %s", [officer.pk]
            )
        officer.refresh_from_db()
    assert [officer.get_username() for officer in (casino.officer, casino.second, casino.director)] == before
    assert_holds(deep=False)

    # A night is reconciled again, before and after there is something to say.
    signed = casino.reconciled()
    assert (signed.version, signed.state) == (2, "closed")
    assert_holds(deep=False)
    again = casino.played("later")
    casino.close_case(casino.cases_of(again)[0])
    seal()
    restated = casino.reconciled()
    assert restated.version == 3
    assert_holds(deep=False)


@pytest.mark.parametrize("steps", in_short([2, 1, 3], every=3))
def test_a_session_that_is_half_read_holds(casino: Casino, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    stream = casino.name("half")
    opener = casino.tenant.opener(stream)
    events = of_a_session(opener, dice_changed_in_mid_series(casino.tenant, stream))
    assert casino.tenant.post(stream, events).status_code == 201
    monkeypatch.setattr(replay, "STEP_EVENTS", 4)
    for _ in range(steps):
        replay.advance(casino.tenant.stream(stream).stream_id)
        assert_holds()
    assert AdjudicationRun.objects.get(stream__name=stream).state == RunState.RUNNING
    replayed(casino.tenant.stream(stream).stream_id)
    assert_holds()


def test_a_run_that_replaces_another_holds_at_each_of_its_steps(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = casino.name("touched")
    events = dice_touched_wrongly(casino.tenant, stream)
    assert casino.tenant.post(stream, events).status_code == 201
    stream_id = casino.tenant.stream(stream).stream_id
    replayed(stream_id)
    assert Finding.objects.standing().filter(stream=stream_id, rule=TOUCHED_WRONGLY[0]).exists()
    assert casino.tenant.post(stream, [touched_for(events, "examine", seq=9)]).status_code == 201
    assert_holds()
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    behind, steps = True, 0
    while behind:
        progress = replay.advance(stream_id)
        assert_holds()
        behind, steps = progress is not None and progress.behind, steps + 1
    assert steps > 3
    assert not Finding.objects.standing().filter(stream=stream_id, rule=TOUCHED_WRONGLY[0]).exists()
    closing = numbered(events[0], *[("no_more_bets", {})] * 8, CLOSED)[-1]
    assert casino.tenant.post(stream, [closing]).status_code == 201
    assert_holds()
    replayed(stream_id)
    assert_holds()


@pytest.mark.faults
def test_a_run_that_is_overtaken_before_it_takes_over_holds_at_each_step(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has found already is taken back with it: no root of it may be the newest that the log has."""
    stream = casino.name("overtaken")
    events = dice_touched_wrongly(casino.tenant, stream)
    assert casino.tenant.post(stream, events).status_code == 201
    stream_id = casino.tenant.stream(stream).stream_id
    replayed(stream_id)
    opened = {"corrects": 1, "data": {**events[0]["data"], "float": 1}, "reason": "misread", "approved_by": "chef-4"}
    waits = numbered(events[0], *[("x", {})] * 8, ("entry.corrected", opened))[-1]
    assert casino.tenant.post(stream, [touched_for(events, "custom", seq=9), waits]).status_code == 201
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    while not Finding.objects.filter(stream=stream_id, run__number=2).exists():
        assert replay.advance(stream_id) is not None
        assert_holds()
    assert AdjudicationRun.objects.get(stream=stream_id, number=2).completed_at is None
    assert casino.tenant.post(stream, [touched_for(events, "examine", seq=11)]).status_code == 201
    behind = True
    while behind:
        progress = replay.advance(stream_id)
        assert_holds()
        behind = progress is not None and progress.behind
    # The third reads without what waits; so does the fifth, once the fourth has found it with the last correction.
    taken_over = AdjudicationRun.objects.filter(stream=stream_id).exclude(completed_at=None)
    assert list(taken_over.order_by("number").values_list("number", flat=True)) == [1, 3, 5]
    assert not Finding.objects.standing().filter(stream=stream_id, rule=TOUCHED_WRONGLY[0]).exists()


def reversed_sets(value: Any) -> Any:
    """Return a saved state with what each session observes in reverse order, in comparisons as well."""
    if isinstance(value, list):
        return [reversed_sets(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: each[::-1] if key == "observes" else reversed_sets(each) for key, each in value.items()}


def test_what_a_session_observes_has_no_order_in_a_comparison_either(casino: Casino) -> None:
    stream = casino.name("compared")
    events = dice_touched_wrongly(casino.tenant, stream)
    assert casino.tenant.post(stream, [*events, touched_for(events, "examine", seq=9)]).status_code == 201
    replayed(casino.tenant.stream(stream).stream_id)
    [snapshot] = Adjudication.objects.filter(stream__name=stream)
    saved = json.loads(bytes(snapshot.state))
    observed = [
        saved["session"],
        *(each["table"]["session"] for each in saved["differences"].values() if each["table"]),
    ]
    assert len(observed) > 1
    assert all(len(each["observes"]) > 1 for each in observed)
    snapshot.state = json.dumps(reversed_sets(saved), separators=(",", ":")).encode()
    snapshot.save()
    assert_holds()


def test_each_step_from_a_correction_that_waits_to_one_that_is_approved_holds(casino: Casino) -> None:
    stream_id = casino.corrected("decided")
    assert_holds(deep=False)
    for officer in (casino.officer, casino.second):
        decisions.countersign(officer, casino.tenant.stream(casino.name("decided")), CORRECTION, reason="seen")
        assert_holds(deep=False)
    while (progress := replay.advance(stream_id)) is not None and progress.behind:
        assert_holds()
    assert Finding.objects.filter(stream=stream_id, status="superseded").exists()
    assert_holds()


def test_a_promotion_holds_before_it_and_after_it(casino: Casino, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(replay, "ENGINE_VERSION", "1")
        stream_id = casino.played("earlier")
        casino.played("earlier-open", closed=False)
    assert {row.engine_version for row in Finding.objects.filter(stream=stream_id)} == {"1"}
    assert_holds()
    selection = Selection(casino=casino.tenant.code)
    what_if = what_if_runs.begin("next", readings={}, selection=selection, actor="test")
    for each in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, each)
        assert_holds()
    what_if_runs.end(what_if)
    promotion.promote(WhatIf.objects.get(pk=what_if.pk), casino.second)
    assert_holds()
    replayed(stream_id)
    assert {row.engine_version for row in Finding.objects.standing().filter(stream=stream_id)} == {ENGINE_VERSION}
    assert_holds()


def test_each_action_on_a_case_holds(casino: Casino) -> None:
    case_id, *_ = casino.cases_of(casino.played("worked"))
    done: list[tuple[Officer, str, dict[str, Any]]] = [
        (casino.officer, "take", {}),
        (casino.officer, "release", {}),
        (casino.other, "assign", {"assignee": casino.officer}),
        (casino.officer, "comment", {"reason": "  camera 4 \n"}),
        (casino.officer, "answer", {"reason": "I did not see it"}),
        (casino.officer, "propose", {"reason": "it « shows »", "outcome": "confirmed"}),
        (casino.officer, "withdraw", {}),
        (casino.officer, "propose", {"reason": "it shows", "outcome": "confirmed"}),
        (casino.second, "send_back", {"reason": "which camera?"}),
        (casino.officer, "propose", {"reason": "camera 4", "outcome": "explained"}),
        (casino.second, "approve", {}),
        (casino.officer, "comment", {"reason": "filed"}),
        (casino.other, "reopen", {"reason": "again"}),
    ]
    for officer, name, values in done:
        actions.perform(case_id, officer, name, **values)
        with pytest.raises(actions.ActionRefused):
            actions.perform(case_id, casino.auditor, name, **values)
        assert_holds(deep=False)


def test_each_step_of_an_entry_of_the_register_holds(casino: Casino) -> None:
    stream_id = casino.played("read-again")
    proposed = casino.propose("payout_unit", 100, first_day=LONG_AGO)
    assert_holds()
    entries.approve(casino.director, proposed.pk)
    assert_holds()
    replayed(stream_id)
    assert_holds()
    again = casino.propose("payout_unit", None, reason="a mistake")
    assert_holds()
    entries.decline(casino.director, again.pk, reason="it is in force")
    assert_holds()


def test_events_after_a_close_hold(casino: Casino) -> None:
    stream = casino.name("late")
    events = of_a_session(casino.tenant.opener(stream), dice_changed_in_mid_series(casino.tenant, stream))
    assert casino.tenant.post(stream, events).status_code == 201
    replayed(casino.tenant.stream(stream).stream_id)
    after = numbered(events[0], *[("no_more_bets", {})] * len(events))[-1]
    record(casino.casino, [after])
    assert_holds()
    replayed(casino.tenant.stream(stream).stream_id)
    assert_holds()
