"""What a table system meets at a sandbox, and what of it reaches nobody else: receipts, findings, nights, proofs."""

from __future__ import annotations

import base64
import json
from datetime import UTC, date, datetime
from io import StringIO

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.management import CommandError, call_command
from django.http import HttpResponse

from audit.adjudication import what_if
from audit.adjudication.replay import advance
from audit.adjudication.what_if import Selection
from audit.archive import months
from audit.models import Case, Casino, Finding, LoggedStream, NightRun, SessionFigures
from audit.projections.verify import verify_derived
from audit.reconciliation import runs, schedule
from audit.tasks import night_close, night_reconcile
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome
from settlement.rulesets import RULESETS
from tests.audit.tables import TOUCHED_WRONGLY, Tenant, dice_touched_wrongly


@pytest.fixture
def sandbox(db: None) -> Tenant:
    return Tenant("harbour-sandbox", tables=("T1", "C1"), is_sandbox=True)


def is_signed(receipt: dict[str, object], context: bytes) -> bool:
    """Return whether a key for receipts signed this receipt in a context."""
    raw = base64.b64decode(str(receipt["signature"]))
    content = {name: value for name, value in receipt.items() if name != "signature"}
    signed = context + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    public = next(key.verifier.public for key in signing_keys.public_keys() if key.verifier.key_id == raw[:4])
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(raw[4:], signed)
    except InvalidSignature:
        return False
    return True


def test_a_receipt_of_a_sandbox_says_so_and_cannot_be_one_of_a_casino(sandbox: Tenant, stream: str) -> None:
    first = sandbox.send(stream, sandbox.session(stream, 4)).json()
    # The usual request of a casino is answered in front of Django; its receipt is of the same kind.
    for receipt in (first, sandbox.send(stream, sandbox.session(stream, 9)[4:]).json()):
        assert receipt["sandbox"] is True
        assert is_signed(receipt, b"cabochon-sandbox-receipt/v1\n")
        without = {name: value for name, value in receipt.items() if name != "sandbox"}
        for forged in (receipt, without):
            assert not is_signed(forged, b"cabochon-receipt/v1\n")
    again = sandbox.send(stream, sandbox.session(stream, 4))
    assert (again.status_code, again.json()) == (200, first)


def test_a_receipt_of_a_casino_says_nothing_of_sandboxes(tenant: Tenant, stream: str) -> None:
    receipt = tenant.send(stream, tenant.session(stream, 4)).json()
    assert "sandbox" not in receipt
    assert is_signed(receipt, b"cabochon-receipt/v1\n")


def test_a_key_opens_streams_of_its_own_casino_alone(sandbox: Tenant, tenant: Tenant, stream: str) -> None:
    for key, other in ((sandbox, tenant), (tenant, sandbox)):
        answer = key.send(stream, other.session(stream, 4))
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert f"'{key.code}'" in answer.json()["detail"]
        assert not LoggedStream.objects.filter(casino=other.casino, name=stream).exists()
    assert "it is of the sandbox 'harbour-sandbox'" in sandbox.send(stream, tenant.session(stream, 4)).json()["detail"]


def test_a_key_says_what_it_is(sandbox: Tenant, tenant: Tenant) -> None:
    assert sandbox.ask("key").json()["sandbox"] is True
    own = tenant.ask("key").json()
    assert (own["casino"], own["sandbox"], own["tables"], own["every_table"]) == (
        tenant.code,
        False,
        ["C1", "R1"],
        True,
    )
    limited = Tenant("limited", tables=("T1", "T2"), limited_to=("T2",))
    assert (limited.ask("key").json()["tables"], limited.ask("key").json()["every_table"]) == (["T2"], False)
    assert "secret" not in own
    assert tenant.secret not in json.dumps(own)


@pytest.fixture
def adjudicated(sandbox: Tenant, stream: str) -> LoggedStream:
    assert sandbox.send(stream, dice_touched_wrongly(sandbox, stream)).status_code == 201
    logged = sandbox.stream(stream)
    advance(logged.pk)
    return logged


def test_findings_of_a_sandbox_are_seen_by_its_key_and_open_no_case(sandbox: Tenant, adjudicated: LoggedStream) -> None:
    found = sandbox.ask("findings").json()["results"]
    assert [(each["rule"], each["seq"]) for each in found] == [TOUCHED_WRONGLY]
    assert found[0]["priority"] is None
    assert Finding.objects.standing().filter(casino=sandbox.casino).count() == 1
    assert not Case.objects.filter(casino=sandbox.casino).exists()
    assert sandbox.ask(f"streams/{adjudicated.name}").json()["verdict"] == "irregular"
    assert sandbox.ask(f"streams/{adjudicated.name}").json()["sandbox"] is True


def test_nothing_of_a_sandbox_is_kept_or_proved(sandbox: Tenant, adjudicated: LoggedStream, code_of: object) -> None:
    derived = verify_derived(None, Outcome())
    assert [fault for fault in derived.faults if fault.stream == adjudicated.name] == []
    assert not LoggedStream.objects.filter(casino=sandbox.casino, is_of_desk=True).exists()
    for path in (f"log/inclusion?stream={adjudicated.name}&seq=1", f"findings/{_only_finding(sandbox)}/bundle"):
        answer: HttpResponse = sandbox.ask(path)
        assert (answer.status_code, answer.json()["code"]) == (409, "sandbox"), path
        assert "sandbox" in answer.json()["detail"]


def _only_finding(sandbox: Tenant) -> int:
    return int(Finding.objects.get(casino=sandbox.casino).pk)


def test_a_sandbox_has_no_night(sandbox: Tenant, adjudicated: LoggedStream) -> None:
    later = datetime(2027, 1, 31, tzinfo=UTC)
    assert [casino for casino, _day in runs.due(later) if casino == sandbox.casino] == []
    with pytest.raises(runs.NoNights):
        runs.begin(sandbox.casino, date(2026, 11, 19), actor="test")
    night_reconcile(casino_id=sandbox.casino.pk, day="2026-11-19")
    night_close(stream_id=adjudicated.pk)
    assert not NightRun.objects.filter(casino=sandbox.casino).exists()
    assert not SessionFigures.objects.filter(stream=adjudicated).exists()
    assert sandbox.code not in [night.code for night in schedule.nights()]
    with pytest.raises(CommandError, match="is a sandbox"):
        call_command("reconcile", "--casino", sandbox.code, "--day", "2026-11-19")


def test_a_sandbox_is_in_no_archive_and_in_no_what_if_run_of_all(sandbox: Tenant, tenant: Tenant, stream: str) -> None:
    day, month = "1994-03-05", date(1994, 3, 1)  # of no other test
    opener = {"gaming_day": day, "observes": []}
    sandbox.send(stream, [sandbox.opener(stream, **opener)])
    assert month not in months.candidates(date(2027, 1, 1))
    tenant.send(stream, [tenant.opener(stream, **opener, table="C1")])
    assert month in months.candidates(date(2027, 1, 1))
    run = what_if.begin("all", readings={}, selection=Selection(), actor="test")
    chosen = what_if.streams_of(run)
    assert sandbox.stream(stream).pk not in chosen
    assert tenant.stream(stream).pk in chosen


def made(*options: str) -> str:
    printed = StringIO()
    call_command("createkey", *options, stdout=printed, stderr=StringIO())
    return printed.getvalue().strip()


def test_createkey_makes_a_sandbox_and_never_makes_one_of_a_casino(db: None, tenant: Tenant) -> None:
    made("--sandbox", "--casino", "try-out", "--table", "T1")
    assert Casino.objects.get(code="try-out").is_sandbox
    made("--sandbox", "--casino", "try-out")
    with pytest.raises(CommandError, match="never becomes a sandbox"):
        made("--sandbox", "--casino", tenant.code)
    with pytest.raises(CommandError, match=r"is a sandbox\. Add --sandbox"):
        made("--casino", "try-out")


def test_the_command_lists_sandboxes_and_empties_one(sandbox: Tenant, tenant: Tenant, stream: str) -> None:
    def run(*options: str) -> str:
        printed = StringIO()
        call_command("sandbox", *options, stdout=printed)
        return printed.getvalue()

    sandbox.send(stream, sandbox.session(stream, 4))
    assert "harbour-sandbox  1 stream\n" in run()
    assert tenant.code not in run()
    assert (
        run("--empty", sandbox.code) == "'harbour-sandbox' is empty: 1 stream, 4 events and 0 findings were deleted.\n"
    )
    assert "harbour-sandbox  0 streams\n" in run()
    for code, message in ((tenant.code, "not a sandbox"), ("nowhere", "There is no casino")):
        with pytest.raises(CommandError, match=message):
            run("--empty", code)


def test_an_unknown_ruleset_is_refused_with_the_list_and_at_a_casino_recorded(
    sandbox: Tenant, tenant: Tenant, stream: str
) -> None:
    for key in (sandbox, tenant):
        session = key.session(stream, 1)
        session[0]["data"] |= {"ruleset": "uk-roulette", "game": "roulette"}
        answer = key.post(stream, session)
        if key is tenant:
            assert answer.status_code == 201
            continue
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
        [error] = answer.json()["errors"]
        assert error["pointer"] == "/0/data/ruleset"
        assert all(f"'{name}'" in error["detail"] for name in RULESETS)
        assert not LoggedStream.objects.filter(casino=key.casino, name=stream).exists()
