"""At the record a correction after money moved has no effect until two officers approve it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from audit.access.scope import Scope
from audit.adjudication import replay, what_if
from audit.adjudication.preview import new_findings
from audit.adjudication.replay import advance
from audit.adjudication.results import answer_of, standing, wager_of
from audit.adjudication.stream_reader import state_at
from audit.adjudication.table_state import state_after
from audit.corrections import decisions
from audit.corrections.superseding import look_up_corrections
from audit.desk.tables.corrections import corrections_to
from audit.event_store import read
from audit.exports.findings import findings_by_id, findings_sheet
from audit.models import AdjudicationRun, Finding, LoggedStream, RunCause
from settlement import ENGINE_VERSION, adjudicate
from settlement.codec import decode_one_stored
from tests.audit.corrections.corrections_desk import (
    CORRECTION,
    WAGER,
    CorrectionsDesk,
    finding_of,
    replayed,
    rules,
    run_of,
)
from tests.audit.tables import numbered
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

WRONG = {"payout-overpaid", "stake-not-returned"}
"""What is found in ``CorrectionsDesk.session`` without its correction."""


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def dirty(desk: CorrectionsDesk) -> set[int]:
    own = set(LoggedStream.objects.filter(casino=desk.casino).values_list("stream_id", flat=True))
    return own & set(read.dirty_streams(ENGINE_VERSION, limit=10_000))


def whole(stream_id: int, approved: list[int] | None) -> dict[str, Any]:
    """Return what the library answers to the stored events, with those corrections in effect."""
    return adjudicate([raw for _seq, raw in read.whole(stream_id)], readings={}, approved=approved).as_dict()


def answered(stream_id: int) -> dict[str, Any]:
    adjudication = standing(stream_id)
    assert adjudication is not None
    return answer_of(adjudication).as_dict()


def test_a_correction_after_money_moved_waits_and_has_no_effect(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    assert rules(stream_id) >= WRONG
    finding = finding_of(stream_id)
    assert (finding.severity, finding.facts["waits"]) == ("major", "waits")
    assert "two officers" in finding.as_value().message("en")
    assert dirty(desk) == set()
    assert answered(stream_id) == whole(stream_id, [])


def test_approved_by_two_officers_it_takes_effect_and_supersedes_what_it_hides(desk: CorrectionsDesk) -> None:
    stream_id, other_id = desk.session("s"), desk.session("t", table="T2")
    desk.approved(stream_id)
    assert dirty(desk) == {stream_id}
    assert rules(stream_id) >= WRONG, "what stands goes on to stand until it is read again"
    replayed(stream_id)
    assert dirty(desk) == set()
    assert not rules(stream_id) & WRONG
    assert rules(other_id) >= WRONG
    assert "waits" not in {name for name, value in finding_of(stream_id).facts.items() if value}
    run = run_of(stream_id)
    assert (run.cause, run.approved) == (RunCause.APPROVAL, [CORRECTION])
    gone = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert (gone.status, gone.superseded_by_run) == ("superseded", run)
    assert answered(stream_id) == whole(stream_id, [CORRECTION])


def test_one_countersignature_changes_nothing(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    decisions.countersign(desk.second, LoggedStream.objects.get(pk=stream_id), CORRECTION, reason="seen")
    assert dirty(desk) == set()
    replayed(stream_id)
    assert rules(stream_id) >= WRONG


def test_a_refused_one_never_takes_effect_and_another_may_be_sent_and_approved(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    desk.refused(stream_id)
    assert dirty(desk) == set()
    again = numbered(
        desk.tenant.opener("s"),
        *[("dice.thrown", {"faces": [1, 1]})] * 5,
        ("entry.corrected", {"corrects": 2, "data": {**WAGER, "stake": 1200}, "reason": "r", "approved_by": "c"}),
    )[-1:]
    assert desk.tenant.post("s", again).status_code == 201
    replayed(stream_id)
    assert rules(stream_id) >= WRONG
    assert {each["seq"] for each in Finding.objects.standing().filter(facts__waits="waits").values("seq")} >= {6, 7}
    desk.approved(stream_id, 7)
    replayed(stream_id)
    assert not rules(stream_id) & WRONG
    assert finding_of(stream_id).facts["waits"] == "waits"
    assert answered(stream_id) == whole(stream_id, [7])


@pytest.mark.parametrize("size", in_short([2, 1, 3], every=3))
def test_steps_of_any_length_find_what_the_library_finds(
    desk: CorrectionsDesk, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", size)
    stream_id = desk.session("s")
    assert answered(stream_id) == whole(stream_id, [])
    desk.approved(stream_id)
    assert rules(stream_id) >= WRONG
    advance(stream_id)
    assert rules(stream_id) >= WRONG, "pending until the run is complete"
    replayed(stream_id)
    assert answered(stream_id) == whole(stream_id, [CORRECTION])


def test_an_informational_correction_takes_effect_at_once(desk: CorrectionsDesk) -> None:
    events = numbered(
        desk.tenant.opener("s", observes=[]),
        ("wager.placed", WAGER),
        ("entry.corrected", {"corrects": 2, "data": {**WAGER, "stake": 1200}, "reason": "r", "approved_by": "c"}),
        ("dice.thrown", {"faces": [2, 4]}),
        ("payout.made", {"wager": "w1", "winnings": 1400, "stake_returned": 1200}),
        ("dice.thrown", {"faces": [1, 2]}),
    )
    assert desk.tenant.post("s", events).status_code == 201
    stream_id = desk.tenant.stream("s").stream_id
    replayed(stream_id)
    assert not rules(stream_id) & WRONG
    assert wager_of(stream_id, "w1").stake == 1200  # type: ignore[union-attr]


def test_the_table_and_the_events_page_are_without_it_even_before_replay_has_read_it(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s", is_replayed=False)
    (placed,) = [decode_one_stored(raw) for raw in read.events_at(stream_id, [2]).values()]
    for _ in range(2):
        assert state_at(stream_id, 3).table.wagers["w1"].stake == 1000
        assert state_after(stream_id, 3, max_events=100).table.wagers["w1"].stake == 1000
        assert corrections_to(stream_id, [placed])[2].event is None
        replayed(stream_id)
    desk.approved(stream_id)
    replayed(stream_id)
    assert state_at(stream_id, 3).table.wagers["w1"].stake == 1200
    assert corrections_to(stream_id, [placed])[2].event is not None


def test_a_dry_run_says_that_it_would_wait(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    late = numbered(
        desk.tenant.opener("s"),
        *[("dice.thrown", {"faces": [1, 1]})] * 5,
        ("entry.corrected", {"corrects": 2, "data": {**WAGER, "stake": 1200}, "reason": "r", "approved_by": "c"}),
    )[-1:]
    assert desk.tenant.post("s", late).status_code == 201
    found = new_findings(stream_id, max_events=100)
    assert [(each.rule, each.seq, each.facts["waits"]) for each in found] == [("entry-corrected", 7, "waits")]


def test_a_what_if_run_waits_for_the_same_officers(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    selection = what_if.Selection(desk.casino.code)
    before = what_if.begin(f"before-{desk.casino.code}", readings={}, selection=selection, actor="x")
    what_if.replay_one(before, stream_id)
    assert list(what_if.difference(before)) == []
    desk.approved(stream_id)
    replayed(stream_id)
    after = what_if.begin(f"after-{desk.casino.code}", readings={}, selection=selection, actor="x")
    what_if.replay_one(after, stream_id)
    assert list(what_if.difference(after)) == []


def test_a_run_from_before_there_were_approvals_is_replaced_and_its_corrections_wait(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    AdjudicationRun.objects.filter(stream_id=stream_id).update(approved=None)
    assert dirty(desk) == {stream_id}
    replayed(stream_id)
    assert (run_of(stream_id).cause, run_of(stream_id).approved) == (RunCause.APPROVAL, [])
    assert dirty(desk) == set()
    assert rules(stream_id) >= WRONG


def test_the_interface_says_that_a_finding_waits_and_who_decided(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")

    def answer() -> dict[str, Any]:
        listed = json.loads(desk.tenant.ask("findings?rule=entry-corrected&status=standing").content)["results"]
        (finding,) = listed
        return dict(finding["correction"])

    assert answer() == {"state": "waiting", "decisions": []}
    desk.approved(stream_id)
    replayed(stream_id)
    after = answer()
    assert after["state"] == "approved"
    assert [(each["verdict"], each["officer"]) for each in after["decisions"]] == [
        ("countersigned", desk.officer.username),
        ("countersigned", desk.second.username),
    ]
    others = json.loads(desk.tenant.ask("findings?rule=payout-overpaid&status=superseded").content)["results"]
    assert others[0]["correction"] is None
    assert (others[0]["superseded_by"]["cause"], others[0]["superseded_by"]["approved"]) == ("approval", [CORRECTION])


def test_a_refused_correction_says_by_whom_and_one_that_waits_says_so(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    finding = finding_of(stream_id)
    client = Client()
    client.force_login(desk.director)

    def shown(language: str = "en") -> str:
        address = reverse("admin:audit_finding_change", args=(finding.pk,))
        return client.get(address, headers={"accept-language": language}).content.decode()

    def exported() -> str:
        with override("en"):
            sheet = findings_sheet(findings_by_id([finding.pk], Scope(None)))
        return str(dict(zip([column.name for column in sheet.columns], sheet.rows[0], strict=True))["message"])

    engine_says = "Without the approval of two officers it has no effect."
    assert finding.as_value().message("en").endswith(engine_says)
    assert f"{engine_says} It waits for two officers." in shown()
    decisions.countersign(desk.second, finding.stream, CORRECTION, reason="seen")
    assert f"{engine_says} {desk.second.username} has countersigned it; it waits for another officer." in shown()
    desk.refused(stream_id)
    assert re.search(
        rf"{engine_says} It was refused by {desk.director.username}, \d+ \w+, \d\d:\d\d C\w+\.</p>", shown()
    )
    assert f"Elle a été refusée par {desk.director.username}, le " in shown("fr")
    assert f"It was refused by {desk.director.username}, " in exported()
    assert "waits for" not in exported()


def test_one_countersignature_lets_a_correction_have_no_effect_even_where_the_stream_is_read_again() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    decisions.countersign(desk.officer, LoggedStream.objects.get(pk=stream_id), CORRECTION, reason="seen on video")
    assert decisions.approved_in(stream_id) == []
    assert decisions.decided_of([stream_id]) == {stream_id: decisions.Decided()}
    replayed(stream_id)
    assert run_of(stream_id).approved == []
    assert "payout-overpaid" in rules(stream_id)


def test_of_two_corrections_that_would_hide_a_finding_the_approved_one_took_it_away() -> None:
    desk = CorrectionsDesk()
    again = {"corrects": 2, "data": {**WAGER, "stake": 1200}, "reason": "misread", "approved_by": "chief"}
    stream_id = desk.session("s", ("entry.corrected", again))
    overpaid = Finding.objects.standing().get(stream_id=stream_id, rule="payout-overpaid")
    waiting = [finding_of(stream_id, seq).as_value().hides for seq in (CORRECTION, CORRECTION + 1)]
    assert all(overpaid.as_value().ref in hides for hides in waiting), "either would hide it"
    desk.approved(stream_id, CORRECTION + 1)
    replayed(stream_id)
    overpaid.refresh_from_db()
    assert overpaid.status == "superseded"
    look_up_corrections([overpaid])
    assert overpaid.removed_by == {CORRECTION + 1: "entry.corrected"}
