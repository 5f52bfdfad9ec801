"""From one engine version to the next: what stands stays until a what-if run of the new version is promoted."""

from __future__ import annotations

import json
from datetime import date

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from audit.adjudication import promotion, replay, runs
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.event_store import audit_trail, read
from audit.models import Finding, Role, RunCause, WhatIf, WhatIfFinding
from audit.register import entries
from audit.register.entries import Proposal
from settlement import ENGINE_VERSION
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.corrections.corrections_desk import approve
from tests.audit.event_store.test_audit_trail import entries_today
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db(transaction=True)

EARLIER = "1"


@pytest.fixture
def tenant(monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """A casino whose stream ``s`` an earlier version of the engine has read to its end."""
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    with monkeypatch.context() as earlier:
        earlier.setattr(replay, "ENGINE_VERSION", EARLIER)
        read_to_the_end(tenant)
    assert {finding.engine_version for finding in standing(tenant)} == {EARLIER}
    return tenant


def read_to_the_end(tenant: Tenant) -> None:
    while (progress := replay.advance(tenant.stream("s").stream_id)) and progress.behind:
        pass


def standing(tenant: Tenant) -> list[Finding]:
    return list(Finding.objects.standing().filter(casino=tenant.casino))


def decide(tenant: Tenant, ruleset: str) -> None:
    """Have two officers decide that a ruleset is played with chips of five."""
    ada, bob = (hired(tenant, role, f"{role}-{ruleset}") for role in (Role.SECOND, Role.DIRECTOR))
    day = tenant.stream("s").gaming_day
    proposal = Proposal(reading="payout_unit", value=5, first_day=day, ruleset=ruleset, reason="chips of five")
    entries.approve(bob, entries.propose(ada, tenant.casino, proposal).pk)


def is_dirty(tenant: Tenant) -> bool:
    return tenant.stream("s").stream_id in read.dirty_streams(ENGINE_VERSION, limit=10_000)


def ended(tenant: Tenant, *, actor: str = "test", **readings: object) -> WhatIf:
    """Run a what-if by the version that runs, to its end."""
    selection = Selection(casino=tenant.code)
    what_if = what_if_runs.begin("to the next", readings=readings, selection=selection, actor=actor)
    for stream_id in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, stream_id)
    what_if_runs.end(what_if)
    return WhatIf.objects.get(pk=what_if.pk)


def test_what_an_earlier_version_found_stands_until_a_what_if_is_promoted(tenant: Tenant) -> None:
    before = {finding.pk: finding.case_id for finding in standing(tenant)}
    assert not is_dirty(tenant), "nothing is read again because another version runs"
    what_if = ended(tenant)
    WhatIfFinding.objects.filter(what_if=what_if, rule="payout-overpaid").update(expected=600)
    assert not is_dirty(tenant), "nobody has promoted the run"
    [change] = what_if_runs.difference(what_if)
    assert (change.kind, change.rule) == ("changed", "payout-overpaid")
    assert {finding.pk for finding in standing(tenant)} == set(before)
    second = hired(tenant, Role.SECOND, "second")
    promotion.promote(what_if, second)
    what_if.refresh_from_db()
    assert (what_if.promoted_by, what_if.promoted_at is not None) == (second.get_username(), True)
    [entry] = [each for each in entries_today(tenant.casino.pk) if each.type == "what_if.promoted"]
    assert (entry.actor, entry.data["engine_version"], entry.data["streams"]) == (
        second.get_username(),
        ENGINE_VERSION,
        1,
    )
    assert is_dirty(tenant)
    read_to_the_end(tenant)
    assert not is_dirty(tenant)
    after = standing(tenant)
    assert {finding.engine_version for finding in after} == {ENGINE_VERSION}
    assert {finding.case_id for finding in after} == set(before.values()), "what is found again keeps its case"
    gone = Finding.objects.filter(pk__in=before)
    assert {each.status for each in gone} == {"superseded"}
    assert {each.superseded_by_run.cause for each in gone if each.superseded_by_run} == {RunCause.ENGINE}


def test_a_stream_that_goes_on_is_read_by_the_version_that_runs(tenant: Tenant) -> None:
    closed = numbered(tenant.opener("s"), *[("x", {})] * 12, ("session.closed", {"float": 1}))[13:]
    assert tenant.post("s", closed).status_code == 201
    assert is_dirty(tenant)
    read_to_the_end(tenant)
    assert {finding.engine_version for finding in standing(tenant)} == {ENGINE_VERSION}


def test_an_entry_of_the_register_that_touches_a_stream_has_it_read_again(tenant: Tenant) -> None:
    decide(tenant, "fr-roulette")
    assert not is_dirty(tenant), "of another game"
    decide(tenant, "fr-craps")
    assert is_dirty(tenant)


@pytest.mark.parametrize("change", ["register", "approval"])
def test_an_earlier_version_leaves_a_stream_that_another_reads_as_it_is(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """During a deployment workers of both versions run: the later one follows what officers decide."""
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    correction = {"corrects": 12, "data": right, "reason": "misread", "approved_by": "chef-4"}
    corrected = numbered(tenant.opener("s"), *[("x", {})] * 12, ("entry.corrected", correction))[13:]
    assert tenant.post("s", corrected).status_code == 201
    stream_id = tenant.stream("s").stream_id
    monkeypatch.setattr(replay, "STEP_EVENTS", 4)
    with monkeypatch.context() as earlier:
        earlier.setattr(replay, "ENGINE_VERSION", EARLIER)
        read_to_the_end(tenant)
    assert replay.advance(stream_id) == replay.Progress(folded=4, cursor=4, behind=True)
    if change == "register":
        decide(tenant, "fr-craps")
    else:
        approve(tenant.casino, stream_id, 14)
    monkeypatch.setattr(replay, "ENGINE_VERSION", EARLIER)
    assert replay.advance(stream_id) == replay.Progress(folded=0, cursor=14, behind=False)


def test_a_run_that_an_earlier_version_had_not_ended_is_not_left_as_it_is(tenant: Tenant) -> None:
    assert runs.record_failure(tenant.stream("s").stream_id, EARLIER, ValueError("of the earlier version"))
    assert is_dirty(tenant)


def test_only_a_whole_run_of_this_version_without_readings_is_promoted(tenant: Tenant) -> None:
    second = hired(tenant, Role.SECOND, "second")

    def refused(what_if: WhatIf) -> str:
        with pytest.raises(promotion.PromotionRefused) as refusal:
            promotion.promote(what_if, second)
        return str(refusal.value)

    what_if = ended(tenant)
    WhatIf.objects.filter(pk=what_if.pk).update(streams=2)
    assert refused(WhatIf.objects.get(pk=what_if.pk)) == "This run has not read all of its streams."
    what_if_runs.streams_of(what_if)
    selection = Selection(casino=tenant.code)
    other = what_if_runs.begin("half", readings={"payout_unit": 5}, selection=selection, actor="test")
    assert "readings of its own" in refused(other)
    old = WhatIf.objects.create(
        name="old", casino=tenant.casino, selection={"casino": tenant.code}, engine_version=EARLIER, started_by="x"
    )
    assert "a different version" in refused(old)
    promotion.promote(WhatIf.objects.get(pk=what_if.pk), second)
    assert refused(what_if) == "This run has been promoted."


def test_whoever_started_a_run_does_not_promote_it_nor_does_anybody_without_the_role(tenant: Tenant) -> None:
    starter = hired(tenant, Role.SECOND, "starter")
    what_if = ended(tenant, actor=starter.get_username())
    for officer in (starter, hired(tenant, Role.OFFICER, "officer"), hired(Tenant(), Role.SECOND, "elsewhere")):
        assert not promotion.may_promote(officer, what_if)
        with pytest.raises(promotion.PromotionRefused):
            promotion.promote(what_if, officer)
    refused = [each.actor for each in entries_today(tenant.casino.pk) if each.type == "what_if.promotion_refused"]
    assert len(refused) == 3
    assert not is_dirty(tenant)
    assert promotion.may_promote(hired(tenant, Role.DIRECTOR, "director"), what_if)


def test_the_page_says_which_versions_are_compared_and_promotes(tenant: Tenant) -> None:
    what_if = ended(tenant)
    second = client_of(hired(tenant, Role.SECOND, "second"))
    address = reverse("admin:audit_whatif_change", args=(what_if.pk,))
    page = second.get(address).content.decode()
    assert f"made by version {ENGINE_VERSION} of the engine; the findings that stand are those of version 1" in page
    assert ">Promote</button>" in page
    officer = client_of(hired(tenant, Role.OFFICER, "officer")).get(address).content.decode()
    assert ">Promote</button>" not in officer
    assert "Another officer must promote" in officer
    assert second.get(f"{address.removesuffix('change/')}promote/").status_code == 405
    answer = second.post(f"{address.removesuffix('change/')}promote/", follow=True).content.decode()
    assert "Promoted by second-" in answer
    read_to_the_end(tenant)
    again = second.get(address).content.decode()
    assert "those of version" not in again


@pytest.mark.superuser
def test_a_run_of_an_earlier_version_is_marked_on_its_page(tenant: Tenant) -> None:
    what_if = ended(tenant)
    read_to_the_end(tenant)
    WhatIf.objects.filter(pk=what_if.pk).update(engine_version=EARLIER)
    page = client_of(hired(tenant, Role.SECOND, "second")).get(f"/admin/audit/whatif/{what_if.pk}/change/")
    words = f"made by version 1 of the engine; the findings that stand are those of version {ENGINE_VERSION}"
    assert words in page.content.decode()
    assert ">Promote</button>" not in page.content.decode()


def test_the_command_promotes_and_says_why_not(tenant: Tenant, capsys: pytest.CaptureFixture[str]) -> None:
    ended(tenant)
    call_command("replay", "--promote", "to the next", "--casino", tenant.code)
    assert f"1 stream to read again by engine version {ENGINE_VERSION}" in capsys.readouterr().out
    assert is_dirty(tenant)
    with pytest.raises(CommandError, match="has been promoted"):
        call_command("replay", "--promote", "to the next", "--casino", tenant.code)
    with pytest.raises(CommandError, match="There is no what-if run 'none'"):
        call_command("replay", "--promote", "none")


def test_casinos_have_what_ifs_of_the_same_name_apart(tenant: Tenant, capsys: pytest.CaptureFixture[str]) -> None:
    other = Tenant()
    one = ended(tenant)
    two = what_if_runs.begin("to the next", readings={}, selection=Selection(casino=other.code), actor="test")
    assert one.pk != two.pk
    assert (one.casino, two.casino) == (tenant.casino, other.casino)
    with pytest.raises(CommandError, match="add --casino"):
        call_command("replay", "--diff", "to the next")
    call_command("replay", "--diff", "to the next", "--casino", tenant.code, "--format", "json")
    assert json.loads(capsys.readouterr().out) == []


def test_a_download_of_the_difference_is_in_the_trail_of_the_casinos_concerned(tenant: Tenant) -> None:
    second, address = client_of(hired(tenant, Role.SECOND, "second")), "/admin/audit/whatif/{}/difference.csv"
    before = len(exported(audit_trail.INSTALLATION))
    of_one = ended(tenant)
    second.get(address.format(of_one.pk))
    of_all = what_if_runs.begin(f"all {tenant.code}", readings={}, selection=Selection(), actor="test")
    what_if_runs.replay_one(of_all, tenant.stream("s").stream_id)
    second.get(address.format(of_all.pk))
    assert exported(tenant.casino.pk) == [of_one.name, of_all.name]
    assert len(exported(audit_trail.INSTALLATION)) == before


def exported(casino_id: int) -> list[str]:
    return [each.data["named"] for each in entries_today(casino_id) if each.type == "difference.exported"]


def test_days_and_rulesets_of_a_promoted_run_are_the_ones_that_are_read_again(tenant: Tenant) -> None:
    selection = Selection(casino=tenant.code, first_day=date(2030, 1, 1))
    what_if = what_if_runs.begin("of no day", readings={}, selection=selection, actor="test")
    what_if_runs.end(what_if)
    promotion.promote(WhatIf.objects.get(pk=what_if.pk), hired(tenant, Role.SECOND, "second"))
    assert not is_dirty(tenant)
