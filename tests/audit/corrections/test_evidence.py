"""The evidence of a finding carries the decisions about corrections, so that whoever replays it finds the same."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from audit.corrections import decisions
from audit.evidence import verify
from audit.evidence.bundle import Unproven
from audit.evidence.gather import evidence_of, material_of
from audit.models import Finding, LoggedStream, Officer
from audit.transparency.proofs import NotSealed
from settlement import adjudicate
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, finding_of, replayed
from tests.audit.transparency.sealed import seal
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db


def unpacked(finding: Finding) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(evidence_of(finding).raw)) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def replayed_by_a_regulator(files: dict[str, bytes]) -> list[dict[str, Any]]:
    approved = json.loads(files["finding.json"])["corrections"]["approved"]
    answer = adjudicate(files["events.ndjson"].splitlines(), readings={}, approved=approved)
    return [finding.as_dict() for finding in answer.findings]


def without_consequences(finding: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in finding.items() if name != "consequences"}


@pytest.mark.parametrize("decide", [None, CorrectionsDesk.approved, CorrectionsDesk.refused])
def test_whoever_replays_a_bundle_finds_what_it_says(decide: Callable[[CorrectionsDesk, int], None] | None) -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    if decide is not None:
        decide(desk, stream_id)
        replayed(stream_id)
    seal()
    for finding in Finding.objects.standing().filter(stream_id=stream_id):
        files = unpacked(finding)
        content = json.loads(files["finding.json"])
        assert without_consequences(content["finding"]) in map(without_consequences, replayed_by_a_regulator(files))
        assert list(verify.checks(files))


def test_it_names_the_officers_and_their_entries_of_the_audit_trail() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    before = Finding.objects.standing().get(stream_id=stream_id, rule="payout-overpaid")
    seal()
    first = evidence_of(before).raw
    desk.approved(stream_id)
    replayed(stream_id)
    seal()
    before.refresh_from_db()
    assert before.status == "superseded"
    assert evidence_of(before).raw == first, "a finding is proven as its run read the stream"
    material = material_of(finding_of(stream_id))
    assert material.approved == [CORRECTION]
    entries = {(each.type, each.actor): each.seq for each in desk.trail()}
    assert [(each["officer"], each["decision"], each["entry"]["seq"]) for each in material.decisions] == [
        (officer.username, "countersigned", entries["correction.countersigned", officer.username])
        for officer in (desk.officer, desk.second)
    ]


def decisions_in(files: dict[str, bytes]) -> list[dict[str, Any]]:
    decisions: list[dict[str, Any]] = json.loads(files["finding.json"])["corrections"]["decisions"]
    return decisions


def test_each_decision_is_there_as_the_audit_trail_has_it_with_its_proof() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    desk.approved(stream_id)
    replayed(stream_id)
    seal()
    logged = {each.seq: each for each in desk.trail()}
    decisions = decisions_in(unpacked(finding_of(stream_id)))
    assert [each["decision"] for each in decisions] == ["countersigned", "countersigned"]
    for each in decisions:
        entry = logged[each["entry"]["seq"]]
        event = json.loads(each["entry"]["event"])
        assert (event["actor"], event["type"], event["data"]["reason"]) == (entry.actor, entry.type, entry.reason)
        assert each["officer"] == entry.actor


def test_a_refusal_and_a_first_countersignature_are_there_too() -> None:
    desk = CorrectionsDesk()
    refused, waiting = desk.session("s"), desk.session("t", table="T2")
    decisions.countersign(desk.officer, LoggedStream.objects.get(pk=refused), CORRECTION, reason="seen on video")
    desk.refused(refused)
    decisions.countersign(desk.officer, LoggedStream.objects.get(pk=waiting), CORRECTION, reason="seen on video")
    seal()
    for stream_id, verdicts in ((refused, ["countersigned", "refused"]), (waiting, ["countersigned"])):
        files = unpacked(finding_of(stream_id))
        assert [each["decision"] for each in decisions_in(files)] == verdicts
        assert json.loads(files["finding.json"])["corrections"]["approved"] == []
        assert list(verify.checks(files))


def test_a_finding_that_rests_on_an_approval_has_a_bundle_once_the_approval_is_sealed() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    seal()
    desk.approved(stream_id)
    replayed(stream_id)
    with pytest.raises(NotSealed):
        evidence_of(finding_of(stream_id))
    seal()
    first = evidence_of(finding_of(stream_id)).raw
    desk.refused(desk.session("t", table="T2"))
    seal()
    assert evidence_of(finding_of(stream_id)).raw == first


@pytest.mark.superuser
def test_an_officer_who_has_another_name_now_is_named_as_in_the_audit_trail() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    desk.approved(stream_id)
    replayed(stream_id)
    seal()
    first = evidence_of(finding_of(stream_id)).raw
    with without_triggers():
        Officer.objects.filter(pk=desk.second.pk).update(username="renamed")
    assert evidence_of(finding_of(stream_id)).raw == first


LACKED = {
    "delete from audit_correctiondecision where number = 2": "not countersigned by two officers",
    "update audit_correctiondecision set entry_seq = 99 where number = 2": "has no entry 99",
    "update audit_correctiondecision set entry_stream = 'nowhere' where number = 2": "no audit trail nowhere",
}


@pytest.mark.superuser
def test_a_decision_that_the_record_lacks_makes_no_bundle() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    desk.approved(stream_id)
    replayed(stream_id)
    seal()
    for change, why in LACKED.items():
        with transaction.atomic():
            with without_triggers(), connection.cursor() as cursor:
                cursor.execute(change)
                assert cursor.rowcount == 1
            with pytest.raises(Unproven, match=why):
                evidence_of(finding_of(stream_id))
            transaction.set_rollback(True)


def test_a_correction_that_one_officer_countersigned_twice_does_not_verify() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s")
    desk.approved(stream_id)
    replayed(stream_id)
    seal()
    files = unpacked(finding_of(stream_id))
    content = json.loads(files["finding.json"])
    for decision in content["corrections"]["decisions"]:
        decision["officer"] = "one"
    files["finding.json"] = verify.indented(content)
    files.pop("MANIFEST.sha256")
    files["MANIFEST.sha256"] = verify.manifest_of(files)
    with pytest.raises(verify.Unverified, match="is not what the audit trail says"):
        list(verify.checks(files))
