"""The register, then the default, decides at the record; a change of it reads the streams that it touches again."""

from __future__ import annotations

from typing import Any

import pytest

from audit.adjudication import replay, what_if
from audit.adjudication.preview import new_findings
from audit.adjudication.replay import advance
from audit.event_store import read
from audit.evidence.gather import evidence_of
from audit.models import Adjudication, AdjudicationRun, Finding, LoggedStream
from audit.register import touched
from settlement import ENGINE_VERSION
from tests.audit.register.register_desk import RegisterDesk, replayed
from tests.audit.tables import numbered
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


def session(desk: RegisterDesk, stream: str, *, table: str = "T1", winnings: int = 1166, **opener: Any) -> int:
    """Record a session in which a right bet of 10.00 on the six, for which 11.66 are due, is paid; return its id."""
    events = numbered(
        desk.tenant.opener(stream, table=table, observes=[], **opener),
        ("wager.placed", {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 1000}),
        ("dice.thrown", {"faces": [2, 4]}),
        ("payout.made", {"wager": "w1", "winnings": winnings, "stake_returned": 1000}),
        ("dice.thrown", {"faces": [1, 2]}),
    )
    assert desk.tenant.post(stream, events).status_code == 201
    return desk.tenant.stream(stream).stream_id


def money(stream_id: int) -> list[tuple[str, Any]]:
    """Return what stands of payments: the rule, and what was expected."""
    rows = Finding.objects.standing().filter(stream_id=stream_id, rule__startswith="payout-")
    return list(rows.order_by("rule").values_list("rule", "expected"))


def run_of(stream_id: int) -> AdjudicationRun:
    adjudication = Adjudication.objects.get(stream_id=stream_id, what_if=None, engine_version=ENGINE_VERSION)
    assert adjudication.run is not None
    return adjudication.run


def dirty(desk: RegisterDesk) -> set[int]:
    own = set(LoggedStream.objects.filter(casino=desk.casino).values_list("stream_id", flat=True))
    return own & set(read.dirty_streams(ENGINE_VERSION, limit=10_000))


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def test_the_register_decides_what_is_due_and_the_run_says_by_which_version(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    assert money(stream_id) == []
    assert run_of(stream_id).register_version == 1


def test_without_an_entry_the_default_decides_and_the_version_is_none_yet(desk: RegisterDesk) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    assert money(stream_id) == [("payout-underpaid", 1166)]
    assert run_of(stream_id).register_version == 0


def test_a_change_begins_a_run_in_the_streams_that_it_touches_and_supersedes_what_is_no_more(
    desk: RegisterDesk,
) -> None:
    touched_id, other_id = session(desk, "s", winnings=1100), session(desk, "t", table="T2", winnings=1100)
    for stream_id in (touched_id, other_id):
        replayed(stream_id)
    assert dirty(desk) == set()
    desk.decided("payout_unit", 100, table=desk.table("T1"))
    assert dirty(desk) == {touched_id, other_id}
    touched.agree()
    assert dirty(desk) == {touched_id}
    assert run_of(other_id).register_version == 1, "it says the same of this stream"
    replayed(touched_id)
    assert (dirty(desk), money(touched_id), money(other_id)) == (set(), [], [("payout-underpaid", 1166)])
    run = run_of(touched_id)
    assert (run.cause, run.number, run.register_version) == ("register", 2, 1)
    gone = Finding.objects.get(stream_id=touched_id, rule="payout-underpaid")
    assert (gone.status, gone.superseded_by_run, gone.stood_at is not None) == ("superseded", run, True)
    assert gone.case is not None, "it stood, and its case stays"


def test_findings_stand_until_the_run_by_the_new_register_is_complete(
    desk: RegisterDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    desk.decided("payout_unit", 100)
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    for _ in range(3):
        assert money(stream_id) == [("payout-underpaid", 1166)]
        advance(stream_id)
    replayed(stream_id)
    assert money(stream_id) == []


def test_a_run_under_way_follows_a_change_between_two_steps(
    desk: RegisterDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    stream_id = session(desk, "s", winnings=1100)
    advance(stream_id)
    desk.decided("payout_unit", 100)
    replayed(stream_id)
    assert money(stream_id) == []
    assert run_of(stream_id).register_version == 1


def test_a_change_that_says_the_same_of_a_stream_begins_no_run(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    desk.decided("payout_unit", 100, reason="confirmed by the new director")
    desk.decided("release_value", "full")
    replayed(stream_id)
    run = run_of(stream_id)
    assert (run.number, run.register_version) == (1, 3)
    assert dirty(desk) == set()


def test_a_change_that_is_taken_back_lets_the_first_findings_stand_again(desk: RegisterDesk) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    before = Finding.objects.get(stream_id=stream_id, rule="payout-underpaid")
    desk.decided("payout_unit", 100)
    replayed(stream_id)
    desk.decided("payout_unit", None)
    replayed(stream_id)
    assert Finding.objects.standing().get(stream_id=stream_id, rule="payout-underpaid").pk == before.pk
    assert run_of(stream_id).number == 3


def test_a_run_from_before_the_register_is_replaced(desk: RegisterDesk) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    AdjudicationRun.objects.filter(stream_id=stream_id).update(register_version=None)
    assert dirty(desk) == {stream_id}
    replayed(stream_id)
    assert (run_of(stream_id).cause, run_of(stream_id).register_version) == ("register", 0)


def test_a_what_if_run_reads_by_the_register_and_above_it_by_its_own_readings(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    selection = what_if.Selection(desk.casino.code)
    same = what_if.begin(f"same-{desk.casino.code}", readings={}, selection=selection, actor="x")
    other = what_if.begin(f"other-{desk.casino.code}", readings={"payout_unit": 1}, selection=selection, actor="x")
    for each in (same, other):
        what_if.replay_one(each, stream_id)
    assert list(what_if.difference(same)) == []
    assert [change.rule for change in what_if.difference(other)] != []


def test_a_dry_run_and_the_evidence_read_by_the_register_of_the_run(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    stream_id = session(desk, "s", winnings=1000)
    found = new_findings(stream_id, max_events=100)
    assert [each.expected for each in found if each.rule == "payout-underpaid"] == [1100]
    replayed(stream_id)
    row = Finding.objects.standing().get(stream_id=stream_id, rule="payout-underpaid")
    seal()
    assert row.expected == 1100
    assert evidence_of(row).raw
    desk.decided("payout_unit", 1)
    replayed(stream_id)
    row.refresh_from_db()
    assert row.status == "superseded"
    assert evidence_of(row).raw, "by the version of the run that found it"


def rules(stream_id: int) -> set[str]:
    return set(Finding.objects.standing().filter(stream_id=stream_id).values_list("rule", flat=True))


def test_what_a_session_declares_never_decides_and_is_found_where_it_differs(desk: RegisterDesk) -> None:
    first = session(desk, "s", winnings=1100, params={"payout_unit": 100})
    replayed(first)
    assert money(first) == [("payout-underpaid", 1166)], "the default decides"
    assert "params-differ-from-register" in rules(first)
    desk.decided("payout_unit", 100)
    replayed(first)
    assert money(first) == []
    assert "params-differ-from-register" not in rules(first)


def test_the_register_says_which_families_a_table_owes(desk: RegisterDesk) -> None:
    desk.decided("families", ["calls", "custody"], table=desk.table("T1"))
    stream_id, other_id = session(desk, "s"), session(desk, "t", table="T2")
    for each in (stream_id, other_id):
        replayed(each)
    assert "observes-less-than-owed" in rules(stream_id)
    assert "observes-less-than-owed" not in rules(other_id)
