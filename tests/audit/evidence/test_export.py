"""Exporting a bundle: by the API, at the desk, by the command; who may, and what the audit trail records."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from audit.adjudication.replay import advance
from audit.api import evidence
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.evidence.gather import Bundle, evidence_of, material_of
from audit.evidence.verify import checks, files_in
from audit.models import Finding, LoggedStream, Membership, Officer, Role
from audit.transparency import cosignatures, proofs, signing_keys, tree
from audit.transparency.cosignatures import WitnessKey
from cabochon_witness.notes import CosigningKey
from settlement import adjudicate
from tests.audit.conftest import make_tenant
from tests.audit.corrections.corrections_desk import approve, replayed
from tests.audit.event_store.test_audit_trail import entries_today, officer_of
from tests.audit.sessions import Event, event, opener, unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.roles import without_triggers

UNKNOWN_ID = 2**31 - 1


def overpaid(tenant: Tenant, stream: str, *, table: str = "C1") -> list[Event]:
    return [
        opener(stream, casino=tenant.casino.code, table=table, observes=[]),
        event(stream, 2, "wager.placed", wager="w1", bet="win", stake=1_000),
        event(stream, 3, "dice.thrown", faces=[4, 3]),
        event(stream, 4, "payout.made", wager="w1", winnings=5_000, stake_returned=1_000),
        event(stream, 5, "dice.thrown", faces=[1, 2]),
    ]


def record(tenant: Tenant, sent: list[Event], *sizes: int) -> None:
    """Send events in batches of these sizes, the rest in one, and replay them."""
    stream, first = str(sent[0]["stream"]), 0
    for size in (*sizes, len(sent)):
        if batch := sent[first : first + size]:
            assert tenant.send(stream, batch).status_code == 201
        first += size
    stream_id = LoggedStream.objects.get(casino=tenant.casino, name=stream).stream_id
    while (progress := advance(stream_id)) and progress.behind:
        continue


def finding_of(tenant: Tenant, rule: str = "payout-overpaid") -> Finding:
    return Finding.objects.get(casino=tenant.casino, rule=rule)


@pytest.fixture
def finding(tenant: Tenant, stream: str) -> Finding:
    """A finding in the third of four batches, of which the last ends its coup: sealed, with more sealed after it."""
    record(tenant, overpaid(tenant, stream), 1, 2, 1)
    seal()
    audit_trail.record("claire", "test.recorded", casino_id=tenant.casino.pk, data={})
    seal()
    return finding_of(tenant)


def exports(tenant: Tenant) -> list[AuditEntry]:
    """Return the audit trail's entries of exported evidence."""
    return [entry for entry in entries_today(tenant.casino.pk) if entry.type == "evidence.exported"]


def verified(raw: bytes) -> dict[str, bytes]:
    """Return the files of a bundle that its verifier accepts under the log's published key."""
    files = files_in(raw)
    [verifier] = {str(key) for key in signing_keys.verifiers("checkpoint")} & set(
        json.loads(files["keys.json"])["keys"]
    )
    assert list(checks(files, verifier))
    return files


# By the API ---------------------------------------------------------------------------------------------------------


def bundle(tenant: Tenant, finding: Finding, **headers: str) -> HttpResponse:
    return tenant.ask(f"findings/{finding.pk}/bundle", **headers)


def test_the_api_exports_a_bundle_that_holds(tenant: Tenant, finding: Finding) -> None:
    answer = bundle(tenant, finding)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert answer["ETag"] == f'"{sha256(answer.content).hexdigest()}"'
    assert answer["Content-Disposition"] == f'attachment; filename="cabochon-finding-{finding.pk}.zip"'
    files = verified(answer.content)
    assert [json.loads(line)["seq"] for line in files["events.ndjson"].splitlines()] == [1, 2, 3, 4, 5]
    listed = tenant.ask(f"findings/{finding.pk}").json()
    assert json.loads(files["finding.json"])["finding"].items() <= listed.items()


def test_a_key_is_served_one_bundle_at_a_time_and_nobody_waits_for_it(
    tenant: Tenant, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = make_tenant()
    meanwhile: list[HttpResponse] = []

    def slow(requested: Finding) -> Bundle:
        monkeypatch.setattr(evidence, "evidence_of", evidence_of)
        meanwhile.extend((bundle(tenant, finding), bundle(others, finding)))
        return evidence_of(requested)

    monkeypatch.setattr(evidence, "evidence_of", slow)
    assert bundle(tenant, finding).status_code == 200
    assert [answer.status_code for answer in meanwhile] == [429, 404], "the finding is none of the other casino's"
    assert (meanwhile[0]["Retry-After"], meanwhile[0].json()["code"]) == ("1", "throttled")
    assert bundle(tenant, finding).status_code == 200
    monkeypatch.setattr(evidence, "evidence_of", lambda _: 1 / 0)
    assert bundle(tenant, finding).status_code == 500
    monkeypatch.setattr(evidence, "evidence_of", evidence_of)
    assert bundle(tenant, finding).status_code == 200, "one that failed is not served any more"


def test_bundles_use_a_third_of_the_budget_of_a_key_and_then_it_waits(
    tenant: Tenant, finding: Finding, settings: Settings
) -> None:
    settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S = 1e-4, 1.5
    evidence._budget.cache_clear()
    assert bundle(tenant, finding).status_code == 200
    evidence._budget(1e-4, 1.5).charge(f"key:{tenant.key.pk}", 0.5)
    refused = bundle(tenant, finding)
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert int(refused["Retry-After"]) > 100
    assert tenant.ask(f"findings/{finding.pk}").status_code == 200, "the budget for all else is not used up"


def test_a_budget_is_looked_at_when_no_other_bundle_of_the_key_can_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ended after the look and before the next began would have cost nothing yet."""
    looked: list[bool] = []
    wait_s = evidence.Buckets.wait_s

    def look(buckets: evidence.Buckets, identity: str) -> float:
        looked.append(evidence._lock.locked())
        return wait_s(buckets, identity)

    monkeypatch.setattr(evidence.Buckets, "wait_s", look)
    with evidence.limited(0):
        pass
    assert looked == [True]


def test_bundles_fill_a_third_of_a_budget_again_at_a_fifth_of_its_rate() -> None:
    evidence._budget.cache_clear()
    budget = evidence._budget(0.001, 3.0)
    budget.charge("key:0", 2.0)
    assert 4_900 < budget.wait_s("key:0") <= 5_000


def test_adjudicating_the_bundles_events_gives_the_finding(
    tenant: Tenant, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = verified(bundle(tenant, finding).content)
    content = json.loads(files["finding.json"])
    assert content["finding"] in adjudicate(files["events.ndjson"].splitlines()).as_dict()["findings"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(files["events.ndjson"])))
    printed = io.StringIO()
    call_command("adjudicate", "-", "--json", stdout=printed)
    assert content["finding"] in json.loads(printed.getvalue())["findings"]


def test_every_export_is_recorded(tenant: Tenant, finding: Finding) -> None:
    answer = bundle(tenant, finding)
    [entry] = exports(tenant)
    assert entry.actor == f"key:{tenant.key.pk}"
    assert entry.data == {
        "id": finding.pk,
        "rule": "payout-overpaid",
        "seq": 4,
        "sha256": sha256(answer.content).hexdigest(),
        "stream": finding.stream.name,
    }
    again = bundle(tenant, finding, **{"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert len(exports(tenant)) == 1


def test_the_bytes_stay_the_same_however_the_log_grows(
    tenant: Tenant, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process forgets the new key with this test, as the database does.
    monkeypatch.setattr(signing_keys, "_keyring", signing_keys._Keyring())
    first = bundle(tenant, finding).content
    stream = finding.stream.name
    tenant.send(stream, [event(stream, 6, "dice.thrown", faces=[5, 5])])
    seal()
    signing_keys.create("checkpoint", reason="rotated", at_once=True)
    tenant.send(stream, [event(stream, 7, "dice.thrown", faces=[5, 5])])
    seal()
    tenant.casino.code = tenant.casino.name = "renamed"
    tenant.casino.save()
    assert bundle(tenant, finding).content == first


def test_a_bundle_is_under_the_smallest_checkpoint_that_covers_it(tenant: Tenant, finding: Finding) -> None:
    size = int(files_in(bundle(tenant, finding).content)["checkpoint"].split(b"\n")[1])
    index = tree.index_of(finding.stream_id, 5)
    assert index is not None
    sizes = [checkpoint.size for checkpoint in tree.checkpoints() if checkpoint.size > index]
    assert size == sizes[0] < sizes[-1]


def test_there_is_no_bundle_before_the_batch_is_sealed(
    tenant: Tenant, stream: str, code_of: Callable[[HttpResponse], tuple[int, str]]
) -> None:
    record(tenant, overpaid(tenant, stream))
    assert code_of(bundle(tenant, finding_of(tenant))) == (409, "not-sealed")
    assert exports(tenant) == []
    seal()
    assert bundle(tenant, finding_of(tenant)).status_code == 200


@pytest.mark.superuser
def test_altered_events_are_not_exported(
    tenant: Tenant, finding: Finding, code_of: Callable[[HttpResponse], tuple[int, str]]
) -> None:
    with connection.cursor() as cursor:
        for guard in ("log_no_change", "log_no_drop"):
            cursor.execute(f"alter event trigger {guard} disable")
        cursor.execute("alter table log.event disable trigger user")
        cursor.execute(
            "update log.event set envelope = replace(envelope::text, '[4,3]', '[5,2]')::json"
            " where stream_id = %s and seq = 3",
            (finding.stream_id,),
        )
        assert cursor.rowcount == 1
    assert code_of(bundle(tenant, finding)) == (409, "unproven")


@pytest.mark.superuser
def test_a_finding_that_the_events_do_not_lead_to_is_not_exported(
    tenant: Tenant, finding: Finding, code_of: Callable[[HttpResponse], tuple[int, str]]
) -> None:
    with without_triggers():
        Finding.objects.filter(pk=finding.pk).update(expected=2_000)
    answer = bundle(tenant, finding)
    assert code_of(answer) == (409, "unproven")
    assert "do not lead to this finding" in answer.json()["detail"]


def test_a_bundle_is_for_the_keys_of_its_casino_and_table(
    tenant: Tenant, finding: Finding, code_of: Callable[[HttpResponse], tuple[int, str]]
) -> None:
    assert code_of(bundle(make_tenant(), finding)) == (404, "not-found")
    tenant.key.tables.set(tenant.casino.tables.filter(code="R1"))
    assert code_of(bundle(tenant, finding)) == (404, "not-found")
    tenant.key.tables.set(tenant.casino.tables.filter(code="C1"))
    assert bundle(tenant, finding).status_code == 200
    tenant.key.scopes = ["streams:read", "events:write", "reports:read"]
    tenant.key.save()
    assert code_of(bundle(tenant, finding)) == (403, "forbidden")
    tenant.secret = "cab_000000000000_" + "x" * 43
    assert code_of(bundle(tenant, finding)) == (401, "unauthenticated")


def test_an_unknown_finding_has_no_bundle(tenant: Tenant, code_of: Callable[[HttpResponse], tuple[int, str]]) -> None:
    assert code_of(tenant.ask(f"findings/{UNKNOWN_ID}/bundle")) == (404, "not-found")


# Its content --------------------------------------------------------------------------------------------------------


def test_the_bundle_of_a_finding_made_by_a_correction_goes_through_that_correction(tenant: Tenant, stream: str) -> None:
    sent = overpaid(tenant, stream)[:3]
    sent += [event(stream, 4, "payout.made", wager="w1", winnings=1_000, stake_returned=1_000)]
    sent += [event(stream, 5, "dice.thrown", faces=[1, 2]), event(stream, 6, "no_more_bets")]
    right = {"wager": "w1", "winnings": 5_000, "stake_returned": 1_000}
    sent += [
        event(stream, 7, "entry.corrected", corrects=4, data=right, reason="read wrongly", approved_by="chef"),
        event(stream, 8, "no_more_bets"),
    ]
    record(tenant, sent, 3, 1, 1, 1, 1)
    stream_id = tenant.stream(stream).stream_id
    replayed(stream_id)
    approve(tenant.casino, stream_id, 7)
    replayed(stream_id)
    seal()
    finding = finding_of(tenant)
    assert finding.seq == 4
    files = verified(evidence_of(finding).raw)
    assert len(files["events.ndjson"].splitlines()) == 7, "the correction is in, later events are not"
    assert (
        json.loads(files["finding.json"])["finding"]
        in (adjudicate(files["events.ndjson"].splitlines(), approved=[7]).as_dict()["findings"])
    )


def test_a_superseded_finding_is_still_proved(tenant: Tenant, stream: str) -> None:
    sent = overpaid(tenant, stream)
    record(tenant, sent, 4)
    right = {"wager": "w1", "winnings": 1_000, "stake_returned": 1_000}
    tenant.send(
        stream, [event(stream, 6, "entry.corrected", corrects=4, data=right, reason="slip", approved_by="chef")]
    )
    stream_id = tenant.stream(stream).stream_id
    replayed(stream_id)
    assert finding_of(tenant).superseded_at is None, "the correction waits"
    approve(tenant.casino, stream_id, 6)
    replayed(stream_id)
    seal()
    assert finding_of(tenant).superseded_at is not None
    files = verified(evidence_of(finding_of(tenant)).raw)
    assert len(files["events.ndjson"].splitlines()) == 5, "through the result that ends the coup"


def test_an_integrity_finding_has_a_bundle(tenant: Tenant, stream: str) -> None:
    sent = overpaid(tenant, stream)
    record(tenant, sent)
    assert tenant.send(stream, [sent[3] | {"actor": "another"}]).status_code == 409
    record(tenant, [event(stream, 6, "session.closed", float=0), event(stream, 7, "no_more_bets")])
    seal()
    for rule in ("sequence-conflict", "late-after-close"):
        content = json.loads(verified(evidence_of(finding_of(tenant, rule)).raw)["finding.json"])
        assert content["finding"]["rule"] == rule
        assert content["no_text"]["fr"].startswith("Cette règle porte sur l’enregistrement lui-même")


@pytest.mark.parametrize("count", [20, pytest.param(128, marks=pytest.mark.faults)])
def test_a_stream_of_many_batches_between_others_is_proved_batch_by_batch(tenant: Tenant, count: int) -> None:
    streams = [unique_name() for _ in range(3)]
    for stream in streams:
        record(tenant, [*overpaid(tenant, stream), *(event(stream, seq) for seq in range(6, count + 2))], *[1] * count)
    seal()
    for finding in Finding.objects.filter(casino=tenant.casino, rule="payout-overpaid"):
        verified(evidence_of(finding).raw)
    last = Finding.objects.filter(casino=tenant.casino, stream__name=streams[-1]).order_by("-seq").first()
    assert last is not None
    proven = proofs.prove_through(last.stream_id, count + 1)
    assert len(proven) == count + 1
    for proof in proven:
        alone = proofs.prove_batch(last.stream_id, proof.batch, proof.checkpoint)
        assert (alone.entry, alone.index, alone.path) == (proof.entry, proof.index, proof.path)


def test_its_material_comes_from_the_record_alone(finding: Finding) -> None:
    material = material_of(finding)
    assert material.casino == finding.casino.code
    assert material.table == "C1"
    assert len(material.batches) == 4, "through the batch that ends the coup"
    assert material.readings is not None


# At the desk --------------------------------------------------------------------------------------------------------


def at_the_desk(client: Client, finding: Finding, **extra: object) -> HttpResponse:
    return client.post(reverse("admin:audit_finding_evidence", args=(finding.pk,)), **extra)  # type: ignore[arg-type]


def test_an_officer_downloads_it_from_the_page_of_the_finding(tenant: Tenant, finding: Finding) -> None:
    client = officer_of(tenant)
    page = client.get(reverse("admin:audit_finding_change", args=(finding.pk,))).content.decode()
    assert f'action="{reverse("admin:audit_finding_evidence", args=(finding.pk,))}"' in page
    answer = at_the_desk(client, finding)
    assert answer["Content-Type"] == "application/zip"
    assert answer.content == evidence_of(finding).raw
    [entry] = exports(tenant)
    assert (entry.actor, entry.data["sha256"]) == ("claire", sha256(answer.content).hexdigest())


def test_only_a_post_downloads_it(tenant: Tenant, finding: Finding) -> None:
    client = officer_of(tenant)
    assert client.get(reverse("admin:audit_finding_evidence", args=(finding.pk,))).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.login(username="claire", password="right horse")
    assert at_the_desk(strict, finding).status_code == 403
    assert exports(tenant) == []


def test_nobody_else_downloads_it(tenant: Tenant, finding: Finding) -> None:
    assert at_the_desk(Client(), finding).status_code == 302
    assert at_the_desk(officer_of(make_tenant()), finding).status_code == 404


def test_an_officer_who_may_not_see_findings_downloads_none(tenant: Tenant, finding: Finding) -> None:
    administrator = Officer.objects.create_user("keys", is_staff=True)
    Membership.objects.create(officer=administrator, casino=tenant.casino, role=Role.ADMINISTRATOR)
    client = Client()
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    assert at_the_desk(client, finding).status_code == 403


@pytest.mark.parametrize(
    ("language", "message"),
    [("en", "not under a signed checkpoint yet"), ("fr", "pas encore sous un point de contrôle signé")],
)
def test_before_the_batch_is_sealed_the_desk_says_so(tenant: Tenant, stream: str, language: str, message: str) -> None:
    record(tenant, overpaid(tenant, stream))
    answer = at_the_desk(officer_of(tenant), finding_of(tenant), follow=True, headers={"accept-language": language})
    assert answer.status_code == 200
    assert message in answer.content.decode()


# By the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_the_same_file(tenant: Tenant, finding: Finding, tmp_path: Path) -> None:
    path = tmp_path / "evidence.zip"
    call_command("evidence", "--finding", str(finding.pk), "--output", str(path), "--reason", "asked for by the police")
    assert path.read_bytes() == evidence_of(finding).raw
    [entry] = exports(tenant)
    assert (entry.actor, entry.reason) == ("manage.py evidence", "asked for by the police")


def test_the_command_reports_errors(tenant: Tenant, stream: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"There is no finding {UNKNOWN_ID}"):
        call_command("evidence", "--finding", str(UNKNOWN_ID))
    record(tenant, overpaid(tenant, stream))
    number = str(finding_of(tenant).pk)
    with pytest.raises(CommandError, match="not under a checkpoint yet"):
        call_command("evidence", "--finding", number)
    seal()
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("evidence", "--finding", number, "--output", str(tmp_path / "nowhere" / "a.zip"))


def test_a_bundle_has_the_smallest_checkpoint_that_a_witness_cosigned_and_its_cosignature(
    tenant: Tenant, finding: Finding
) -> None:
    before = evidence_of(finding)
    witness = CosigningKey("witness.example/w1", b"w" * 32)
    newest = tree.newest_checkpoint()
    assert newest is not None
    assert material_of(finding).checkpoint != newest.note, "a smaller one covers the finding"
    text = cosignatures.text_of(newest.note)
    line = witness.cosign(text, 1_700_000_000).removesuffix("\n")
    cosignatures.keep(newest, WitnessKey.parse(str(witness.public)), line, 1_700_000_000)
    bundle = evidence_of(finding)
    files = files_in(bundle.raw)
    assert files["checkpoint"].decode() == f"{newest.note}{line}\n"
    assert list(checks(files, None, [str(witness.public)]))
    assert bundle.digest != before.digest
    audit_trail.record("claire", "test.recorded", casino_id=tenant.casino.pk, data={})
    seal()
    assert evidence_of(finding).digest == bundle.digest, "what is cosigned later changes nothing"
