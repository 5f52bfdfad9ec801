"""The sequencer: every batch has one leaf, and every tree it signs extends the one before."""

from __future__ import annotations

import json
from io import StringIO
from itertools import pairwise
from pathlib import Path

import metamorphic_log
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from audit.event_store import binary_copy, merkle
from audit.management.commands import sequence
from audit.management.counted import counted
from audit.models import Finding
from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import export, name_of
from audit.transparency.integrity_findings import report_tampering
from audit.transparency.pending import Left
from audit.transparency.sequencer import Fenced, Forked, Sequencer, catch_up
from tests import citus
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, several_streams, verified

pytestmark = pytest.mark.usefixtures("own_database")


@pytest.fixture(autouse=True)
def _own_export_folder(settings: Settings, tmp_path: Path) -> None:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]


def vkeys() -> list[str]:
    return [str(verifier) for verifier in signing_keys.verifiers("checkpoint")]


def test_every_batch_has_one_leaf_and_the_tree_extends_itself(tenant: Tenant) -> None:
    seal()
    before = tree.size()
    several_streams(tenant, sizes=[[3, 4], [1, 1, 1, 5], [2]])
    rows = binary_copy.execute("select log_index from log.leaf order by log_index", ())
    assert [index for (index,) in rows] == list(range(len(rows)))
    assert tree.size() == before + 7
    assert binary_copy.execute("select count(*) from log.outbox", ()) == [(0,)]
    checkpoints = list(tree.checkpoints())
    assert checkpoints[-1].size == tree.size()
    for earlier, later in pairwise(checkpoints):
        path = merkle.consistency(earlier.size, later.size, tree.root_of)
        metamorphic_log.checkpoint_verify_consistency(earlier.note, later.note, vkeys(), path)
    assert verified().faults == []


def test_an_independent_verifier_accepts_what_the_api_proves(tenant: Tenant) -> None:
    [name] = several_streams(tenant, sizes=[[6, 7]])
    note = tenant.ask("log/checkpoint").content.decode()
    published = tenant.client.get("/api/v1/log/key").json()  # without a key: it is public
    vkeys = [key["vkey"] for key in published["keys"] if key["purpose"] == "checkpoint"]
    for seq in (1, 6, 7, 13):
        proof = tenant.ask(f"log/inclusion?stream={name}&seq={seq}").json()
        assert proof["checkpoint"] == note
        batch = json.loads(proof["batch"]["entry"])
        metamorphic_log.verify_inclusion(
            proof["batch"]["index"],
            proof["batch"]["size"],
            merkle.leaf(proof["event"].encode()),
            [bytes.fromhex(sibling) for sibling in proof["batch"]["path"]],
            bytes.fromhex(batch["root"]),
        )
        metamorphic_log.checkpoint_verify_inclusion(
            note,
            vkeys,
            proof["log"]["index"],
            merkle.leaf(proof["batch"]["entry"].encode()),
            [bytes.fromhex(sibling) for sibling in proof["log"]["path"]],
        )
        assert (batch["stream"], json.loads(proof["event"])["seq"]) == (name, seq)


def test_an_independent_verifier_accepts_a_consistency_proof_of_the_api(tenant: Tenant) -> None:
    several_streams(tenant, sizes=[[2, 2, 2]])
    old, new = list(tree.checkpoints())[-3], list(tree.checkpoints())[-1]
    proof = tenant.ask(f"log/consistency?from={old.size}").json()
    assert (proof["from"], proof["to"]) == (old.size, new.size)
    path = [bytes.fromhex(sibling) for sibling in proof["path"]]
    metamorphic_log.checkpoint_verify_consistency(old.note, new.note, vkeys(), path)
    assert tenant.ask(f"log/checkpoint?size={old.size}").content.decode() == old.note


def test_what_does_not_exist_is_not_proved(tenant: Tenant) -> None:
    [name] = several_streams(tenant, sizes=[[2]])
    answers = {
        "log/inclusion?stream=nowhere&seq=1": 404,
        "log/inclusion?seq=1": 404,
        f"log/inclusion?stream={name}&seq=99": 404,
        f"log/inclusion?stream={name}": 404,
        f"log/inclusion?stream={name}&seq=-1": 422,
        f"log/inclusion?stream={name}&seq=1&size=999999": 404,
        "log/consistency?from=2&to=999999": 404,
        "log/consistency?to=1": 404,
        "log/consistency?from=x": 422,
        "log/checkpoint?size=999999": 404,
    }
    assert {path: tenant.ask(path).status_code for path in answers} == answers


def test_a_batch_that_is_not_sealed_yet_is_a_409(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 2))
    response = tenant.ask(f"log/inclusion?stream={stream}&seq=1")
    assert (response.status_code, response.json()["code"]) == (409, "not-sealed")
    seal()
    assert tenant.ask(f"log/inclusion?stream={stream}&seq=1").status_code == 200


def test_a_second_sequencer_is_fenced_and_continues_after_a_reload(tenant: Tenant) -> None:
    first, second = seal(), seal()
    name = several_streams(tenant, sizes=[[2]])[0]
    assert second.frontier.size < tree.size()
    sent = tenant.session(name, 4)
    tenant.send(name, sent)
    with pytest.raises(Fenced):
        second.round()
    second.load()
    assert second.round() == 1
    tenant.send(name, tenant.session(name, 5))
    with pytest.raises(Fenced):
        first.round()
    seal()
    assert verified().faults == []


def test_the_command_that_is_fenced_says_so_in_one_line_and_fails(
    tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def after_another(sequencer: Sequencer) -> int:
        tenant.send(stream, tenant.session(stream, 2))
        seal()
        tenant.send(stream, tenant.session(stream, 4))
        return catch_up(sequencer)

    monkeypatch.setattr(sequence, "catch_up", after_another)
    try:
        with pytest.raises(
            CommandError, match=r"^another sequencer has appended to the tree: run this again\.$"
        ) as raised:
            call_command("sequence", "--once")
    finally:
        binary_copy.execute("select pg_advisory_unlock_all()", ())  # which ends with the process elsewhere
    assert raised.value.returncode == 1
    monkeypatch.undo()
    printed = StringIO()
    call_command("sequence", "--once", stdout=printed)
    binary_copy.execute("select pg_advisory_unlock_all()", ())
    assert printed.getvalue() == f"sealed: {counted(tree.size(), 'batch', 'batches')}\n"


@pytest.mark.superuser
def test_a_batch_that_was_changed_before_its_seal_is_not_sealed_and_a_finding_opens(
    tenant: Tenant, stream: str, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    seal()
    tenant.send(stream, tenant.session(stream, 3))
    with connection.cursor() as cursor:
        _as_superuser(cursor)
        cursor.execute("update log.event set envelope = '{}' where seq = 2 and envelope ->> 'stream' = %s", [stream])
    reported: list[Left] = []
    sequencer = Sequencer(reported.append)
    sequencer.load()
    before = tree.size()
    with django_capture_on_commit_callbacks(execute=True):
        assert catch_up(sequencer) == 0
    [left] = reported
    assert left.pending is not None
    assert (left.pending.stream.name, left.key[1], left.cause) == (stream, 1, "altered")
    assert tree.size() == before
    others = several_streams(tenant, sizes=[[2]])
    assert tenant.ask(f"log/inclusion?stream={others[0]}&seq=1").status_code == 200
    assert verified().faults[0].stream == stream


@pytest.mark.superuser
def test_nothing_is_signed_on_a_tree_that_lost_leaves_under_a_checkpoint(tenant: Tenant, tmp_path: Path) -> None:
    several_streams(tenant, sizes=[[1, 1, 1]])
    newest = tree.newest_checkpoint()
    assert newest is not None
    export(newest, str(tmp_path / "checkpoints"))
    assert (tmp_path / "checkpoints" / name_of(newest.size)).read_text() == newest.note
    with connection.cursor() as cursor:
        _as_superuser(cursor)
        cursor.execute("delete from log.leaf where log_index = %s", [newest.size - 1])
        cursor.execute("delete from log.checkpoint where size = %s", [newest.size])
    with pytest.raises(Forked):
        Sequencer(lambda left: None).load()


def test_reporting_a_tampered_batch_is_idempotent(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 3))
    [(stream_id,)] = binary_copy.execute("select stream_id from log.stream where name = %b::text", (stream,))
    for _ in range(2):
        report_tampering(stream_id, 1, expected=bytes(32), recorded=bytes(range(32)))
    [finding] = Finding.objects.filter(stream_id=stream_id, rule="log-tampered")
    assert (finding.severity, finding.expected, finding.seq) == ("critical", "00" * 32, 1)
    assert bytes(range(32)).hex() in finding.as_value().message("en")


def _as_superuser(cursor: CursorWrapper) -> None:
    """Disable what refuses changes, as a superuser can."""
    citus.let_a_superuser_attack(cursor)
    for statement in (
        "alter event trigger log_no_change disable",
        *(f"alter table log.{table} disable trigger user" for table in ("event", "leaf", "checkpoint")),
    ):
        cursor.execute(statement)
