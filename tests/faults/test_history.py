"""The checker of histories: silent on a right one, and for each rule there is a history that breaks it and no other."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from audit.event_store import merkle
from tests.audit.sessions import event, opener
from tests.faults.history import RULES, History, Key, Request, Tree, canonical, violations

STREAM = "s"


class Signer:
    """A private key, made of one byte, and how the log signs with it."""

    def __init__(self, name: str, seed: int) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        public = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key = Key(name, sha256(name.encode() + b"\n\x01" + public).digest()[:4], public)

    def sign(self, signed: bytes) -> str:
        return base64.b64encode(self.key.id + self.private.sign(signed)).decode()


class Record:
    """A record that does everything as it should, in memory; a test then changes its history.

    Seven events in three requests, the second of which is sent twice; a checkpoint after each of them.
    """

    def __init__(self) -> None:
        self.receipts = Signer("casino.example/log/receipts", 1)
        self.log = Signer("casino.example/log", 2)
        self.tree = Tree()
        self.moment = 0
        self.chain = bytes(32)
        self.events = [opener(STREAM, casino="c"), *(event(STREAM, seq) for seq in range(2, 8))]
        self.history = History(stored={STREAM: []}, checkpoint_keys=[self.log.key], receipt_keys=[self.receipts.key])
        for low, high in ((0, 3), (3, 5), (5, 7)):
            self.send(self.events[low:high])
            self.publish()
        self.history.requests.insert(2, replace(self.history.requests[1], began=20, ended=21, status=200))
        for moment, request in enumerate(self.history.requests):
            self.history.requests[moment] = replace(request, began=2 * moment, ended=2 * moment + 1)
        self.ask(8)
        found = {"rule": "payout-overpaid", "seq": 3}
        self.history.findings, self.history.clean = {STREAM: [found]}, {STREAM: [dict(found)]}

    def send(self, events: list[dict[str, Any]], *, sent: list[dict[str, Any]] | None = None) -> None:
        stored = [canonical(each) for each in events]
        self.history.stored[STREAM] += [(each["seq"], raw) for each, raw in zip(events, stored, strict=True)]
        root = merkle.root(merkle.leaves(stored))
        first, last = events[0]["seq"], events[-1]["seq"]
        self.chain = sha256(self.chain + root + first.to_bytes(8) + len(events).to_bytes(8)).digest()
        batch = {
            "first_seq": first,
            "last_seq": last,
            "next_seq": last + 1,
            "root": root.hex(),
            "chain": self.chain.hex(),
            "received_at": "2026-11-19T20:00:00.000000Z",
            "stream": STREAM,
        }
        entry = json.dumps(batch | {"count": len(events)}).encode()
        self.history.entries.append(entry)
        self.tree.add(entry)
        self.history.requests.append(
            Request(STREAM, tuple(sent or events), 0, 0, 201, batch | {"signature": self.signed(batch)})
        )

    def signed(self, receipt: dict[str, Any]) -> str:
        text = json.dumps(receipt, sort_keys=True, separators=(",", ":")).encode()
        return self.receipts.sign(b"cabochon-receipt/v1\n" + text)

    def publish(self, *, size: int | None = None, root: bytes | None = None) -> None:
        text = f"casino.example/log\n{size or self.tree.size}\n{base64.b64encode(root or self.tree.root()).decode()}\n"
        self.history.checkpoints.append(f"{text}\n— casino.example/log {self.log.sign(text.encode())}\n")

    def ask(self, next_seq: int, *, moment: int = 90) -> None:
        self.history.requests.append(Request(STREAM, (), moment, moment + 1, 200, {"next_seq": next_seq}))

    def refuse(self, status: int, events: list[dict[str, Any]], **answer: Any) -> None:
        self.history.requests.append(Request(STREAM, tuple(events), 95, 96, status, answer))

    def replace_request(self, index: int, **changed: Any) -> None:
        self.history.requests[index] = replace(self.history.requests[index], **changed)

    def store_anew(self, events: list[dict[str, Any]], batches: list[list[dict[str, Any]]]) -> None:
        """Have a record that agrees with itself and has these batches; the requests stay those that were sent."""
        requests = self.history.requests
        self.tree, self.chain, self.history.requests = Tree(), bytes(32), []
        self.history.entries, self.history.checkpoints, self.history.stored = [], [], {STREAM: []}
        for batch in batches:
            self.send(batch)
            self.publish()
        receipts = {request.answer["first_seq"]: request.answer for request in self.history.requests}
        self.history.requests = [
            replace(each, answer=receipts.get(each.answer.get("first_seq"), each.answer)) for each in requests
        ]
        assert [seq for seq, _ in self.history.stored[STREAM]] == [each["seq"] for each in events]


def lost(record: Record) -> None:
    """The last batch was acknowledged, and the record never heard of it."""
    record.store_anew(record.events[:5], [record.events[:3], record.events[3:5]])
    record.history.requests[-1] = replace(record.history.requests[-1], answer={"next_seq": 6}, began=4, ended=5)


def altered(record: Record) -> None:
    """An event is stored as it was not sent; root, chain and tree are those of what was sent."""
    seq, raw = record.history.stored[STREAM][4]
    record.history.stored[STREAM][4] = (seq, raw.replace(b"no_more_bets", b"wheel.spun"))


def twice(record: Record) -> None:
    record.history.stored[STREAM].insert(3, record.history.stored[STREAM][2])


def unsent(record: Record) -> None:
    """The record has a batch more than anybody sent."""
    record.send([event(STREAM, 8)])
    record.history.requests.pop()
    record.publish()


def acknowledged_and_replaced(record: Record) -> None:
    """What was acknowledged is not there, but what another request had under its number."""
    record.replace_request(0, events=(*record.events[:2], record.events[2] | {"actor": "croupier-1"}))
    record.history.requests.append(Request(STREAM, tuple(record.events[:3]), 0, 1))


def jumped(record: Record) -> None:
    """The second request had numbers above the next one, and was taken all the same."""
    moved = [each | {"seq": each["seq"] + 10} for each in record.events[3:]]
    record.history.requests = []
    record.history.stored[STREAM] = []
    record.history.entries, record.history.checkpoints = [], []
    record.tree, record.chain = Tree(), bytes(32)
    record.send(record.events[:3])
    record.send(moved)
    record.publish()


def refused_stored(record: Record) -> None:
    record.replace_request(3, status=422, answer={"code": "invalid"})


def divided(record: Record) -> None:
    """Of a request that was never answered the first half is stored."""
    record.history.requests = record.history.requests[:3]
    record.history.requests.append(Request(STREAM, tuple(record.events[5:]), 8, 9, None))
    record.store_anew(record.events[:6], [record.events[:3], record.events[3:5], record.events[5:6]])


def acknowledged_anew(record: Record) -> None:
    record.replace_request(2, status=201)


def receipt_changed(record: Record) -> None:
    receipt = {**record.history.requests[2].answer, "received_at": "2026-11-19T21:00:00.000000Z"}
    del receipt["signature"]
    record.replace_request(2, answer=receipt | {"signature": record.signed(receipt)})


def receipt_signature(record: Record) -> None:
    record.history.receipt_keys = [Signer("casino.example/log/receipts", 3).key]


def receipt_unsealed(record: Record) -> None:
    """The receipt of the last batch is signed, and says another instant than its leaf."""
    receipt = {**record.history.requests[3].answer, "received_at": "2026-11-19T21:00:00.000000Z"}
    del receipt["signature"]
    record.replace_request(3, answer=receipt | {"signature": record.signed(receipt)})


def under_no_checkpoint(record: Record) -> None:
    record.history.checkpoints.pop()


def resealed(record: Record, index: int, **changed: Any) -> None:
    """Change the entry of a leaf, and the receipt and the checkpoints with it: the record agrees with itself."""
    batches = [json.loads(entry) for entry in record.history.entries]
    batches[index] |= changed
    record.history.entries = [json.dumps(batch).encode() for batch in batches]
    record.tree, record.history.checkpoints = Tree(), []
    for entry in record.history.entries:
        record.tree.add(entry)
        record.publish()
    for number, request in enumerate(record.history.requests):
        if request.answer.get("first_seq") == batches[index]["first_seq"]:
            receipt = {name: value for name, value in request.answer.items() if name != "signature"} | changed
            record.replace_request(number, answer=receipt | {"signature": record.signed(receipt)})


def wrong_root(record: Record) -> None:
    """The last batch: its root is not that of its events, its chain is that of this root."""
    previous = bytes.fromhex(json.loads(record.history.entries[1])["chain"])
    chain = sha256(previous + bytes(32) + (6).to_bytes(8) + (2).to_bytes(8)).hexdigest()
    resealed(record, 2, root=bytes(32).hex(), chain=chain)


def wrong_chain(record: Record) -> None:
    resealed(record, 2, chain=bytes(32).hex())


def unsealed(record: Record) -> None:
    """The last batch has no leaf, and no one has a receipt for it."""
    record.history.requests[3] = replace(record.history.requests[3], status=None, answer={})
    record.history.entries.pop()
    record.history.checkpoints.pop()


def leaf_of_nothing(record: Record) -> None:
    """A leaf is of events that nobody sent and nobody stored."""
    batch = json.loads(record.history.entries[-1]) | {"first_seq": 8, "last_seq": 8, "count": 1, "next_seq": 9}
    record.history.entries.append(json.dumps(batch).encode())
    record.tree.add(record.history.entries[-1])
    record.publish()


def leaf_of_another(record: Record) -> None:
    record.history.entries.append(record.history.entries[-1].replace(b'"s"', b'"another"'))


def checkpoint_signature(record: Record) -> None:
    record.history.checkpoint_keys = [Signer("casino.example/log", 3).key]


def forked(record: Record) -> None:
    """Two trees of one size were signed."""
    record.publish(root=bytes(32))


def ahead(record: Record) -> None:
    """A tree of more leaves than there are was signed: the log is an older one."""
    record.publish(size=record.tree.size + 1)


def smaller(record: Record) -> None:
    record.history.checkpoints.append(record.history.checkpoints[0])


def next_too_small(record: Record) -> None:
    record.ask(6)


def next_too_large(record: Record) -> None:
    record.refuse(409, [event(STREAM, 12)], code="gap", next_seq=9)


def conflict(record: Record) -> None:
    record.refuse(409, [record.events[3]], code="conflict", seq=4)


def finding_missing(record: Record) -> None:
    record.history.findings[STREAM].clear()


def finding_twice(record: Record) -> None:
    record.history.findings[STREAM] *= 2


BROKEN: list[tuple[str, Callable[[Record], None]]] = [
    ("lost", lost),
    ("altered", altered),
    ("altered", acknowledged_and_replaced),
    ("twice", twice),
    ("unsent", unsent),
    ("jumped", jumped),
    ("refused-stored", refused_stored),
    ("divided", divided),
    ("acknowledged-anew", acknowledged_anew),
    ("receipt-changed", receipt_changed),
    ("receipt-signature", receipt_signature),
    ("receipt-unsealed", receipt_unsealed),
    ("receipt-unsealed", under_no_checkpoint),
    ("root", wrong_root),
    ("chain", wrong_chain),
    ("unsealed", unsealed),
    ("leaf-of-nothing", leaf_of_nothing),
    ("leaf-of-nothing", leaf_of_another),
    ("checkpoint-signature", checkpoint_signature),
    ("checkpoint-root", forked),
    ("checkpoint-root", ahead),
    ("checkpoint-size", smaller),
    ("next-seq", next_too_small),
    ("next-seq", next_too_large),
    ("conflict", conflict),
    ("findings", finding_missing),
    ("findings", finding_twice),
]


def test_a_right_history_breaks_no_rule() -> None:
    assert violations(Record().history) == []


@pytest.mark.parametrize("rule, broken", BROKEN, ids=lambda each: each if isinstance(each, str) else each.__name__)
def test_a_broken_history_breaks_one_rule_and_no_other(rule: str, broken: Callable[[Record], None]) -> None:
    record = Record()
    broken(record)
    assert {violation.rule for violation in violations(record.history)} == {rule}, violations(record.history)


def test_every_rule_has_a_broken_history() -> None:
    assert {rule for rule, _ in BROKEN} == RULES.keys()


def test_what_was_never_answered_may_be_stored_or_not() -> None:
    record = Record()
    record.replace_request(3, status=503, answer={"code": "unavailable"})
    assert violations(record.history) == []
    record.history.requests.append(Request(STREAM, (event(STREAM, 8),), 97, 98))
    assert violations(record.history) == []


@pytest.mark.parametrize("size", range(20))
def test_the_tree_has_the_root_of_the_specification_at_every_size(size: int) -> None:
    entries = [bytes([n]) for n in range(size)]
    tree = Tree()
    for entry in entries:
        tree.add(entry)
    assert tree.root() == _of_rfc_6962(entries)


def _of_rfc_6962(entries: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word by word."""
    if not entries:
        return sha256(b"").digest()
    if len(entries) == 1:
        return sha256(b"\0" + entries[0]).digest()
    k = 1
    while k * 2 < len(entries):
        k *= 2
    return sha256(b"\1" + _of_rfc_6962(entries[:k]) + _of_rfc_6962(entries[k:])).digest()
