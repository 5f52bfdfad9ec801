"""A table system that signs its batches: the bytes that it signs by code of its own, at the door, and held for good.

What is signed is made here from the documents alone, with ``hashlib`` and ``json``: RFC 8785 is the sorted JSON of
integers and ASCII text, and the root is RFC 6962's.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Sequence
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from audit.access import keys
from audit.adjudication.replay import advance
from audit.api import recording
from audit.evidence import verify as bundle_verifier
from audit.evidence.gather import evidence_of
from audit.models import ApiKey, Finding, Role
from audit.projections.signers import wrong_signers
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.audit.transparency.forger import unguard
from tests.audit.transparency.sealed import seal, verified

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db]

DOCS = Path(__file__).parents[3] / "docs"

SMALL_ORDER = base64.b64encode(bytes([1]) + bytes(31)).decode()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1, as it is written there."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_of(leaves[:split]) + root_of(leaves[split:])).digest()


class Signing:
    """A casino whose table system signs."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.private = Ed25519PrivateKey.generate()
        self.public = self.private.public_key().public_bytes_raw()
        scopes = list(self.tenant.key.scopes)
        self.key, self.secret = keys.make(
            keys.COMMAND, casino=self.tenant.casino, name="signs", scopes=scopes, public_key=self.public
        )
        self.tenant.key, self.tenant.secret = self.key, self.secret
        self.stream = f"signed-{self.tenant.code}"
        self.events = dice_changed_in_mid_series(self.tenant, self.stream)

    def to_sign(self, events: Sequence[dict[str, Any]], **changed: Any) -> bytes:
        canonical = [json.dumps({"v": 1, **each}, sort_keys=True, separators=(",", ":")) for each in events]
        root = root_of([sha256(b"\0" + each.encode()).digest() for each in canonical]).hex()
        content = {"stream": self.stream, "first_seq": events[0]["seq"], "count": len(events), "root": root}
        content |= {"key": self.secret.split("_")[1], **changed}
        return b"cabochon-batch/v1\n" + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()

    def signature(self, events: Sequence[dict[str, Any]], **changed: Any) -> str:
        return base64.b64encode(self.private.sign(self.to_sign(events, **changed))).decode()

    def send(self, events: Sequence[dict[str, Any]], signature: str | None = None) -> Any:
        headers = {} if signature is None else {"Cabochon-Signature": signature}
        return self.tenant.send(self.stream, list(events), **headers)

    def sent(self) -> None:
        """Send its session in two batches, and seal them."""
        for part in (self.events[:3], self.events[3:]):
            assert self.send(part, self.signature(part)).status_code == 201
        seal()

    def faults(self) -> list[str]:
        return [fault.what for fault in wrong_signers(self.tenant.casino.pk)]


@pytest.fixture
def signing() -> Signing:
    return Signing()


def test_a_signed_batch_is_stored_with_its_signature_and_the_receipt_shows_it(signing: Signing) -> None:
    signature = signing.signature(signing.events)
    answer = signing.send(signing.events, signature)
    assert answer.status_code == 201
    assert answer.json()["batch_signature"] == signature
    seal()
    assert verified().faults == []
    assert signing.faults() == []
    proof = signing.tenant.ask(f"log/inclusion?stream={signing.stream}&seq=1").json()
    assert json.loads(proof["batch"]["entry"])["signature"] == signature


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "",
        "x",
        "é",
        base64.b64encode(bytes(64)).decode(),
        base64.b64encode(bytes(63)).decode(),
        "another key",
        "other events",
        "fewer events",
        "another stream",
        "another number",
        "the key of another",
        "without the first line",
    ],
)
def test_an_unsigned_or_wrongly_signed_batch_is_refused_and_told_what_to_sign(
    signing: Signing, wrong: str | None
) -> None:
    events = signing.events
    match wrong:
        case "another key":
            signature = base64.b64encode(Ed25519PrivateKey.generate().sign(signing.to_sign(events))).decode()
        case "other events":
            signature = signing.signature([*events[:-1], {**events[-1], "data": {"faces": [6, 6]}}])
        case "fewer events":
            signature = signing.signature(events[:-1])
        case "another stream":
            signature = signing.signature(events, stream="other")
        case "another number":
            signature = signing.signature(events, first_seq=2)
        case "the key of another":
            signature = signing.signature(events, key="0" * 12)
        case "without the first line":
            content = signing.to_sign(events).partition(b"\n")[2]
            signature = base64.b64encode(signing.private.sign(content)).decode()
        case _:
            signature = wrong
    answer = signing.send(events, signature)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["next_seq"]) == (422, "unsigned", 1)
    assert problem["to_sign"].encode() == signing.to_sign(events)
    assert signing.tenant.ask(f"streams/{signing.stream}").status_code == 404, "nothing was stored"


def test_a_resend_is_answered_as_before_whatever_its_signature(signing: Signing) -> None:
    first = signing.send(signing.events, signing.signature(signing.events))
    for signature in (signing.signature(signing.events), None, base64.b64encode(bytes(64)).decode()):
        again = signing.send(signing.events, signature)
        assert (again.status_code, again.json()) == (200, first.json())


def test_what_is_new_of_a_request_is_what_is_signed(signing: Signing) -> None:
    head, rest = signing.events[:4], signing.events[4:]
    assert signing.send(head, signing.signature(head)).status_code == 201
    over_all = signing.send(signing.events, signing.signature(signing.events))
    assert (over_all.status_code, over_all.json()["next_seq"]) == (422, 5)
    assert signing.send(signing.events, signing.signature(rest)).status_code == 201


def test_several_streams_in_one_request_are_not_for_a_key_that_signs(signing: Signing) -> None:
    headers = signing.tenant.headers() | {"Cabochon-Signature": signing.signature(signing.events)}
    answer = signing.tenant.client.post(
        "/api/v1/events", json.dumps(signing.events), content_type="application/json", headers=headers
    )
    [result] = answer.json()["results"]
    assert (result["status"], result["problem"]["code"]) == (422, "unsigned")


def test_a_dry_run_asks_for_the_signature_too(signing: Signing) -> None:
    address = f"/api/v1/streams/{signing.stream}/events?dry_run=true"
    for signature, status in ((None, 422), (signing.signature(signing.events), 201)):
        headers = signing.tenant.headers() | ({"Cabochon-Signature": signature} if signature else {})
        answer = signing.tenant.client.post(
            address, json.dumps(signing.events), content_type="application/json", headers=headers
        )
        assert answer.status_code == status


def test_a_key_that_does_not_sign_goes_on_and_its_signatures_are_not_kept(signing: Signing) -> None:
    plain = Tenant()
    events = dice_changed_in_mid_series(plain, f"plain-{plain.code}")
    answer = plain.send(f"plain-{plain.code}", events, **{"Cabochon-Signature": signing.signature(events)})
    assert answer.status_code == 201
    assert "batch_signature" not in answer.json()
    assert [fault.what for fault in wrong_signers(plain.casino.pk)] == []


def test_the_recording_leaves_a_key_that_signs_to_django(signing: Signing) -> None:
    signing.sent()
    path = recording.Recorder()
    sender = {"HTTP_AUTHORIZATION": f"Bearer {signing.secret}", "REMOTE_ADDR": "10.0.0.1"}
    assert path._key(sender, time.monotonic()) is None


# The key ----------------------------------------------------------------------------------------------------------


def test_a_public_key_never_changes(signing: Signing) -> None:
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    for value in (other, None):
        with pytest.raises(DatabaseError, match="does not change"), transaction.atomic():
            ApiKey.objects.filter(pk=signing.key.pk).update(public_key=value)
    plain = Tenant().key
    with pytest.raises(DatabaseError, match="does not change"), transaction.atomic():
        ApiKey.objects.filter(pk=plain.pk).update(public_key=other)


def test_the_key_that_follows_signs_as_well(signing: Signing) -> None:
    _before, after, _secret = keys.rotate(keys.COMMAND, signing.key.pk)
    assert bytes(after.public_key or b"") == signing.public
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    _before, last, _secret = keys.rotate(keys.COMMAND, after.pk, public_key=other)
    assert bytes(last.public_key or b"") == other
    assert signing.faults() == []


def test_the_command_and_the_desk_take_a_public_key(signing: Signing) -> None:
    public = base64.b64encode(signing.public).decode()
    out = StringIO()
    call_command("createkey", casino=signing.tenant.code, name="by command", public_key=public, stdout=out)
    created = ApiKey.of_secret(out.getvalue().strip())
    assert created is not None
    assert bytes(created.public_key or b"") == signing.public
    for bad in ("x", SMALL_ORDER, base64.b64encode(bytes(31)).decode()):
        with pytest.raises(CommandError, match="no Ed25519 public key"):
            call_command("createkey", casino=signing.tenant.code, public_key=bad)


# What stays ---------------------------------------------------------------------------------------------------------


FORGED = {
    "the signature taken away": "update log.batch set signature = null where stream_id = {stream} and first_seq = 4",
    "another signature": "update log.batch set signature = decode(repeat('01', 64), 'hex') where stream_id = {stream}",
    "another public key": "update audit_apikey set public_key = decode(repeat('02', 32), 'hex') where id = {key}",
    "no public key": "update audit_apikey set public_key = null where id = {key}",
    "another prefix": "update audit_apikey set prefix = 'abc' where id = {key}",
    "the key deleted": "delete from audit_apikey where id = {key}",
    "a public key for a key that has none": "update audit_apikey set public_key = decode(repeat('02', 32), 'hex')"
    " where id = {other}",
    "an unsigned batch": "insert into log.batch select stream_id, 99, 99, 100, 1, root, chain, key_id, received_at,"
    " null from log.batch where stream_id = {stream} and first_seq = 1",
}


@pytest.mark.superuser
@pytest.mark.parametrize("statement", FORGED.values(), ids=FORGED)
def test_whoever_exchanges_a_key_or_a_signature_is_named(signing: Signing, statement: str) -> None:
    signing.sent()
    assert signing.faults() == []
    other, _secret = ApiKey.make(casino=signing.tenant.casino, name="other", scopes=[])
    stream_id = signing.tenant.stream(signing.stream).stream_id
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        unguard(cursor)
        cursor.execute("alter table audit_apikey disable trigger user")
        cursor.execute("set local session_replication_role = replica")
        cursor.execute("select to_char(gaming_day, 'YYYYMM') from log.stream where stream_id = %s", [stream_id])
        [(month,)] = cursor.fetchall()
        cursor.execute(f"alter table log.batch_{month} disable trigger user")
        cursor.execute(statement.format(stream=stream_id, key=signing.key.pk, other=other.pk))
        assert cursor.rowcount > 0
        cursor.execute("set local session_replication_role = origin")
    assert signing.faults()


def test_a_bundle_proves_who_signed(signing: Signing) -> None:
    signing.sent()
    while (progress := advance(signing.tenant.stream(signing.stream).pk)) is not None and progress.behind:
        pass
    seal()
    finding = Finding.objects.filter(stream__name=signing.stream, status="standing").order_by("-seq")[0]
    files = bundle_verifier.files_in(evidence_of(finding).raw)
    lines = list(bundle_verifier.checks(files))
    assert "signatures: 2 of 2 batches are signed by their table system, as the trail says" in lines
    other = base64.b64encode(bytes(range(32))).decode()
    keys_json = json.loads(files["keys.json"])
    public = base64.b64encode(signing.public).decode()
    altered = {
        "another public key": files["keys.json"].decode().replace(public, other),
        "no signer": bundle_verifier.indented({**keys_json, "signers": []}).decode(),
    }
    for name, text in altered.items():
        assert text.encode() != files["keys.json"], name
        forged = {**files, "keys.json": text.encode()}
        forged["MANIFEST.sha256"] = bundle_verifier.manifest_of(forged)
        with pytest.raises(bundle_verifier.Unverified):
            list(bundle_verifier.checks(forged))


def test_the_example_of_the_documents_is_accepted(signing: Signing) -> None:
    text = (DOCS / "ingestion.md").read_text(encoding="utf-8")
    [example] = [code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "cabochon-batch/v1" in code]
    names: dict[str, Any] = {}
    exec(example, names)  # our own document
    signature = names["signature_of"](signing.private, signing.secret, signing.events)
    assert signature == signing.signature(signing.events)
    assert signing.send(signing.events, signature).status_code == 201


def test_the_page_of_keys_shows_what_a_key_signs_with(signing: Signing) -> None:
    keeper = hired(signing.tenant, Role.ADMINISTRATOR, "keeper")
    page = client_of(keeper).get(f"/admin/audit/apikey/{signing.key.pk}/change/").content.decode()
    assert base64.b64encode(signing.public).decode() in page.replace("&#x27;", "'")
