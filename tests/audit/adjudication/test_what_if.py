"""What-if runs: other readings give other findings, and the standing findings are untouched."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from audit.adjudication import replay
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection, Total, WhatIfRejected
from audit.event_store import audit_trail
from audit.exports.csv_injection import guarded
from audit.exports.what_if_difference import write_csv
from audit.models import Finding, Officer, WhatIf, WhatIfFinding
from settlement import ShapeError, adjudicate
from tests.audit.corrections.corrections_desk import approve
from tests.audit.event_store.test_audit_trail import entries_today
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db(transaction=True)

AMERICAN = {"game": "american_roulette", "ruleset": "fr-american-roulette"}
"""The game whose text is silent on what a zero asks: the register says, by default that it takes simple chances."""


@pytest.fixture
def tenant() -> Tenant:
    """A casino with a table of American roulette at which a zero takes a simple chance, and a craps table."""
    tenant = Tenant()
    opener = tenant.opener("r", **AMERICAN, observes=[])
    coup = [
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1000, "player": "Anna"}),
        ("ball.settled", {"pocket": "0"}),
        ("ball.settled", {"pocket": "1"}),
    ]
    assert tenant.post("r", numbered(opener, *coup)).status_code == 201
    assert tenant.post("c", dice_changed_in_mid_series(tenant, "c")).status_code == 201
    for name in ("r", "c"):
        while (progress := replay.advance(tenant.stream(name).stream_id)) and progress.behind:
            pass
    return tenant


def replayed(tenant: Tenant, name: str, **readings: object) -> WhatIf:
    what_if = what_if_runs.begin(name, readings=readings, selection=Selection(casino=tenant.code), actor="test")
    for stream_id in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, stream_id)
    return what_if


def standing(tenant: Tenant) -> list[tuple[str, int, bool]]:
    found = Finding.objects.filter(casino=tenant.casino).order_by("pk")
    return [(finding.rule, finding.seq, finding.superseded_at is None) for finding in found]


def test_a_run_finds_what_the_engine_finds_under_its_readings_and_the_standing_findings_stay(tenant: Tenant) -> None:
    before = standing(tenant)
    what_if = replayed(tenant, f"half-{tenant.code}", zero_rule="half")
    assert standing(tenant) == before
    opener = tenant.opener("r", **AMERICAN, observes=[], params={"zero_rule": "half"})
    events = [opener, *tenant.get("/streams/r/events").json()["events"][1:]]
    expected = adjudicate([json.dumps(event) for event in events]).findings
    found = WhatIfFinding.objects.filter(what_if=what_if, stream_id=tenant.stream("r").stream_id).order_by(
        "seq", "rule"
    )
    assert [row.as_dict() for row in found] == [finding.as_dict() for finding in expected]
    assert [(finding.rule, finding.seq) for finding in expected] == [("payout-missing", 4)]
    changes = list(what_if_runs.difference(what_if))
    assert {(change.kind, change.stream) for change in changes} == {("appeared", "r")}
    assert len(changes) == len(expected)
    assert what_if_runs.completed_streams(what_if) == 2


def test_the_same_readings_give_no_difference(tenant: Tenant) -> None:
    assert list(what_if_runs.difference(replayed(tenant, f"same-{tenant.code}"))) == []


def test_a_stopped_run_is_resumed_at_its_cursor(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    name = f"stopped-{tenant.code}"
    begun = what_if_runs.begin(
        name, readings={"zero_rule": "half"}, selection=Selection(casino=tenant.code), actor="test"
    )
    replay.advance(tenant.stream("r").stream_id, begun)  # and then it is killed
    what_if = replayed(tenant, name, zero_rule="half")
    assert what_if.pk == begun.pk
    whole = replayed(tenant, f"whole-{tenant.code}", zero_rule="half")
    assert [change.rule for change in what_if_runs.difference(what_if)] == [
        change.rule for change in what_if_runs.difference(whole)
    ]


def test_a_correction_leaves_no_finding_of_the_run_before_it(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entry = {"corrects": 12, "data": right, "reason": "misread chip", "approved_by": "chef-4"}
    tenant.post("c", numbered(tenant.opener("c"), *[("x", {})] * 12, ("entry.corrected", entry))[13:])
    stream_id = tenant.stream("c").stream_id
    while (progress := replay.advance(stream_id)) and progress.behind:
        pass
    approve(tenant.casino, stream_id, 14)
    while (progress := replay.advance(stream_id)) and progress.behind:
        pass
    monkeypatch.setattr(replay, "STEP_EVENTS", 4)
    what_if = replayed(tenant, f"corrected-{tenant.code}")
    found = WhatIfFinding.objects.filter(what_if=what_if, stream_id=stream_id)
    assert [row.rule for row in found] == ["dice-changed-during-point-series", "entry-corrected"]
    assert list(what_if_runs.difference(what_if)) == []


def test_only_money_is_added_up() -> None:
    finding = {"severity": "major", "expected": 7, "recorded": 9, "provision": ""}
    common = {"stream": "s", "stream_id": 1, "finding_id": None, "casino_id": 1, "seq": 2, "wager": ""}
    changes = [
        what_if_runs.Change(kind="appeared", rule=rule, currency="EUR", before=None, after=finding, **common)  # type: ignore[arg-type]
        for rule in ("seat-limit-exceeded", "payout-overpaid", "payout-overpaid")
    ]
    assert [(total.rule, total.appeared, total.after_minor) for total in what_if_runs.totals(changes)] == [
        ("payout-overpaid", 2, 4),
        ("seat-limit-exceeded", 1, 0),
    ]


def test_an_unknown_casino_an_unknown_reading_and_a_taken_name_are_refused(tenant: Tenant) -> None:
    nowhere, here = Selection(casino="nowhere"), Selection(casino=tenant.code)
    with pytest.raises(WhatIfRejected):
        what_if_runs.begin("x", readings={}, selection=nowhere, actor="test")
    for readings in ({"zero_rule": "twice"}, {"no_reading": 1}, {"payout_unit": 0}):
        with pytest.raises(ShapeError):
            what_if_runs.begin("x", readings=readings, selection=here, actor="test")
    what_if_runs.begin(f"n-{tenant.code}", readings={}, selection=here, actor="test")
    with pytest.raises(WhatIfRejected):
        what_if_runs.begin(f"n-{tenant.code}", readings={"zero_rule": "half"}, selection=here, actor="test")


def test_the_command_replays_in_several_processes_and_writes_the_difference(
    tenant: Tenant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"command-{tenant.code}"
    call_command("replay", "--what-if", name, "--readings", "zero_rule=half", "--casino", tenant.code)
    assert "appeared" in capsys.readouterr().out
    call_command("replay", "--diff", name, "--output", str(tmp_path / "d.csv"))
    lines = list(csv.DictReader(io.StringIO((tmp_path / "d.csv").read_text())))
    assert {line["kind"] for line in lines} == {"appeared"}
    call_command("replay", "--diff", name, "--format", "json", "--output", str(tmp_path / "d.json"))
    assert len(json.loads((tmp_path / "d.json").read_text())) == len(lines)
    call_command("replay", "--stream", "r", "--casino", tenant.code)
    assert "adjudicated through 4" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Invalid enum value"):
        call_command("replay", "--what-if", "x", "--readings", "zero_rule=x", "--casino", tenant.code)
    with pytest.raises(CommandError, match="no what-if run"):
        call_command("replay", "--diff", "nothing")


def test_the_page_shows_the_difference_of_the_officers_own_casinos(tenant: Tenant) -> None:
    other = Tenant()
    what_if = what_if_runs.begin(
        f"page-{tenant.code}", readings={"zero_rule": "half"}, selection=Selection(), actor="test"
    )
    what_if_runs.replay_one(what_if, tenant.stream("r").stream_id)
    found = next(what_if_runs.difference(what_if))
    page = reverse("admin:audit_whatif_change", args=(what_if.pk,))
    for at, is_shown in ((tenant, True), (other, False)):
        officer = Officer.objects.create_user(f"o-{at.code}", is_staff=True)
        officer.casinos.set([at.casino])
        client = Client()
        client.force_login(officer)
        text = client.get(page, headers={"accept-language": "en"}).content.decode()
        assert (found.rule in text) is is_shown
        listed = client.get(reverse("admin:audit_whatif_changelist"))
        assert what_if.name in listed.content.decode()
        file = client.get(reverse("admin:audit_whatif_file", args=(what_if.pk, "csv"))).content.decode()
        assert ("appeared" in file) is is_shown
        own = what_if_runs.begin(
            f"own-{tenant.code}", readings={}, selection=Selection(casino=tenant.code), actor="test"
        )
        address = reverse("admin:audit_whatif_change", args=(own.pk,))
        assert (client.get(address).status_code == 200) is is_shown
    stranger = Client()
    assert stranger.get(page).status_code == 302


@pytest.mark.parametrize("text, cell", [("=1+1", "'=1+1"), ("-2", "'-2"), ("w1", "w1"), (-2, -2), ("", "")])
def test_no_cell_of_a_file_is_a_formula(text: object, cell: object) -> None:
    assert guarded(text) == cell


def zero_at_roulette(tenant: Tenant, stream: str, *, returned: int) -> list[dict[str, object]]:
    """Return two coups: on a zero the player gets back ``returned`` of 1,000."""
    return numbered(
        tenant.opener(stream, **AMERICAN, observes=[]),
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1000, "player": "Anna"}),
        ("ball.settled", {"pocket": "0"}),
        ("payout.made", {"wager": "w1", "winnings": 0, "stake_returned": returned}),
        ("ball.settled", {"pocket": "1"}),
    )


def recorded(tenant: Tenant, sent: list[dict[str, object]]) -> int:
    """Record a session, replay it and return its stream's id."""
    assert tenant.post(str(sent[0]["stream"]), sent).status_code == 201
    stream_id = tenant.stream(str(sent[0]["stream"])).stream_id
    while (progress := replay.advance(stream_id)) and progress.behind:
        pass
    return stream_id


def test_a_difference_tells_what_was_found_before_and_after(tenant: Tenant) -> None:
    stream_id = recorded(tenant, zero_at_roulette(tenant, "n", returned=1000))
    what_if = replayed(tenant, f"both-{tenant.code}", zero_rule="half")
    changes = [change for change in what_if_runs.difference(what_if) if change.stream == "n"]
    assert [(change.kind, change.seq, change.rule) for change in changes] == [
        ("appeared", 4, "half-refund-mismatch"),
        ("disappeared", 4, "losing-wager-paid"),
    ]
    new, gone = changes
    finding = Finding.objects.get(stream_id=stream_id, rule="losing-wager-paid")
    assert (gone.finding_id, new.finding_id) == (finding.pk, None)
    for change in changes:
        assert (change.stream_id, change.casino_id) == (stream_id, tenant.casino.pk)
        assert (change.wager, change.currency) == ("w1", "EUR")
    overpaid = {"severity": "critical", "recorded": 1000}
    assert (gone.before, gone.after) == (overpaid | {"expected": 0, "provision": "art. 54 B"}, None)
    assert (new.before, new.after) == (None, overpaid | {"expected": 500, "provision": "art. 54 B 1°"})
    assert what_if_runs.totals(changes) == [
        Total("half-refund-mismatch", "EUR", appeared=1, after_minor=500),
        Total("losing-wager-paid", "EUR", disappeared=1, before_minor=1000),
    ]
    assert list(what_if_runs.difference(what_if, [tenant.casino.pk + 1_000_000])) == []
    assert gone in what_if_runs.difference(what_if, [tenant.casino.pk])
    file = io.StringIO()
    write_csv(changes, file)
    [appeared, disappeared] = csv.DictReader(io.StringIO(file.getvalue()))
    assert (appeared["after_expected"], appeared["after_recorded"], appeared["currency"]) == ("5.00", "10.00", "EUR")
    assert (disappeared["before_expected"], disappeared["before_recorded"]) == ("0.00", "10.00")


@pytest.mark.superuser
def test_a_finding_whose_amount_differs_is_changed(tenant: Tenant) -> None:
    stream_id = tenant.stream("c").stream_id
    what_if = replayed(tenant, f"changed-{tenant.code}")
    with without_triggers():
        Finding.objects.filter(stream_id=stream_id, rule="payout-overpaid").update(expected=600)
    [change] = what_if_runs.difference(what_if)
    assert change.before is not None
    assert change.after is not None
    assert (change.kind, change.before["expected"], change.after["expected"]) == ("changed", 600, 700)
    [total] = what_if_runs.totals([change])
    assert total == Total("payout-overpaid", "EUR", changed=1, before_minor=300, after_minor=200)


def test_a_run_selects_streams_by_casino_day_and_ruleset(tenant: Tenant) -> None:
    other = Tenant()
    ids = {
        "r": tenant.stream("r").stream_id,
        "c": tenant.stream("c").stream_id,
        "later": recorded(tenant, [tenant.opener("later", gaming_day="2026-11-21")]),
        "elsewhere": recorded(other, [other.opener("elsewhere", gaming_day="2026-11-20")]),
    }

    def selected(**limits: object) -> set[str]:
        name = f"selection-{tenant.code}-{limits}"[:100]
        what_if = what_if_runs.begin(name, readings={}, selection=Selection(**limits), actor="test")  # type: ignore[arg-type]
        stream_ids = what_if_runs.streams_of(what_if)
        what_if.refresh_from_db()
        assert what_if.streams == len(stream_ids)
        return {name for name, stream_id in ids.items() if stream_id in stream_ids}

    assert selected() == {"r", "c", "later", "elsewhere"}
    assert selected(casino=tenant.code) == {"r", "c", "later"}
    assert selected(ruleset="fr-american-roulette") == {"r"}
    assert selected(casino=tenant.code, ruleset="fr-craps") == {"c", "later"}
    assert selected(first_day=date(2026, 11, 20)) == {"later", "elsewhere"}
    assert selected(last_day=date(2026, 11, 20)) == {"r", "c", "elsewhere"}
    assert selected(first_day=date(2026, 11, 19), last_day=date(2026, 11, 19)) == {"r", "c"}


def test_the_start_of_a_run_is_recorded_once(tenant: Tenant) -> None:
    name = f"started-{tenant.code}"
    for _ in range(2):
        what_if = what_if_runs.begin(
            name, readings={"zero_rule": "half"}, selection=Selection(casino=tenant.code), actor="claire"
        )
    assert (what_if.started_by, what_if.readings) == ("claire", {"zero_rule": "half"})
    assert what_if.selection == {"casino": tenant.code}
    [entry] = [each for each in entries_today(tenant.casino.pk) if each.type == "replay.started"]
    assert (entry.actor, entry.data) == ("claire", {"name": name, "readings": {"zero_rule": "half"}})
    everywhere = f"everywhere-{tenant.code}"
    what_if_runs.begin(everywhere, readings={}, selection=Selection(), actor="claire")
    started = [each.data for each in entries_today(audit_trail.INSTALLATION) if each.type == "replay.started"]
    assert {"name": everywhere, "readings": {}} in started


def test_readings_are_written_as_names_and_values() -> None:
    readings = what_if_runs.parse_readings("zero_rule=half, payout_unit = 5,,odds=[1")
    assert readings == {"zero_rule": "half", "payout_unit": 5, "odds": "[1"}
    assert what_if_runs.parse_readings("") == {}
    with pytest.raises(WhatIfRejected, match=r"^'zero_rule' is not NAME=VALUE$"):
        what_if_runs.parse_readings("payout_unit=5,zero_rule")


def test_a_refused_run_says_why(tenant: Tenant) -> None:
    with pytest.raises(WhatIfRejected, match=r"^There is no casino 'nowhere'\.$"):
        what_if_runs.begin("x", readings={}, selection=Selection(casino="nowhere"), actor="test")
    name = f"taken-{tenant.code}"
    what_if_runs.begin(name, readings={}, selection=Selection(casino=tenant.code), actor="test")
    for selection in (
        Selection(casino=tenant.code, first_day=date(2026, 1, 1)),
        Selection(casino=tenant.code, ruleset="fr-craps"),
    ):
        with pytest.raises(WhatIfRejected, match=rf"^'{name}' is a replay of other streams or under other readings\.$"):
            what_if_runs.begin(name, readings={}, selection=selection, actor="test")


def test_the_progress_and_the_end_of_a_run_are_counted(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 5)
    selection = Selection(casino=tenant.code, ruleset="fr-craps")
    what_if = what_if_runs.begin(f"counted-{tenant.code}", readings={}, selection=selection, actor="test")
    folded: list[int] = []
    assert what_if_runs.completed_streams(what_if) == 0
    what_if_runs.replay_one(what_if, tenant.stream("c").stream_id, folded.append)
    assert (folded, what_if_runs.completed_streams(what_if)) == ([5, 5, 3], 1)
    assert what_if.ended_at is None
    what_if_runs.end(what_if)
    what_if.refresh_from_db()
    assert what_if.ended_at is not None


@pytest.mark.parametrize("expected, recorded", [(600, None), (None, 600), ("3-4", 600), (600, "3-4")])
def test_a_difference_of_amounts_needs_both(expected: object, recorded: object) -> None:
    assert what_if_runs._excess_minor({"expected": expected, "recorded": recorded}) == 0
    assert what_if_runs._excess_minor({"expected": 600, "recorded": 700}) == 100
