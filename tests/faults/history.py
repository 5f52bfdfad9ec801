"""A history, and what must hold of it: who sent what, what was answered, and what is there afterwards.

Written from the documents alone: ``docs/events.md``, ``docs/ingestion.md``, ``docs/log.md``, RFC 6962, RFC 8032, C2SP
signed-note and tlog-checkpoint. Of the code under test it uses nothing: hashes are ``hashlib``'s, signatures those of
``cryptography``. What a clean run of the stored events finds is given to it.

    requests and answers ─┐
    stored events         ├─► violations: a rule, and what breaks it
    entries, checkpoints  │
    findings              ┘

A request that was never answered, or answered by 503, may have been stored or not; a client that does not know sends it
again. So nothing follows from it alone, but what is stored must still be of a request, whole.

``RULES`` lists every rule; ``test_history.py`` has a history for each that breaks this rule and no other.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Event = dict[str, Any]

RULES = {
    "lost": "an acknowledged event is stored at its number",
    "altered": "what is stored are the canonical bytes of what was sent",
    "twice": "a number is stored once, and numbers ascend",
    "unsent": "what is stored was sent by somebody",
    "jumped": "numbers are contiguous from 1",
    "refused-stored": "of a request that was refused by 4xx nothing is stored",
    "divided": "a batch is what was new of one request, through its last event",
    "acknowledged-anew": "a request of which all was acknowledged before is answered by 200",
    "receipt-changed": "a batch has one receipt, whenever it is asked for",
    "receipt-signature": "a receipt is signed by a key of receipts",
    "receipt-unsealed": "the batch of a receipt is a leaf, with the same root, chain and instant, under a checkpoint",
    "root": "the root of a batch is that of its stored events (RFC 6962)",
    "chain": "the chain of a batch follows from the batch before it",
    "unsealed": "every stored event is in the batch of one leaf",
    "leaf-of-nothing": "every leaf is of a batch whose events are stored",
    "checkpoint-signature": "a checkpoint is signed by a key of the log",
    "checkpoint-root": "a checkpoint has the root that the leaves give at its size",
    "checkpoint-size": "no checkpoint is smaller than one before it",
    "next-seq": "a number that is said to come next is after all that was acknowledged, and not after what is stored",
    "conflict": "a conflict is with other content that is stored",
    "findings": "findings are those of a clean run over the stored events",
}


class Violation(NamedTuple):
    rule: str
    what: str


class Key(NamedTuple):
    """A public key of the log: its name, its id of four bytes, and 32 bytes of Ed25519."""

    name: str
    id: bytes
    public: bytes

    def has_signed(self, signature: bytes, signed: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, signed)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Request:
    """A request to store events, or, without events, for where a stream is.

    ``began`` and ``ended`` are moments of one clock that only ever advances. ``status`` is None if no answer came.
    """

    stream: str
    events: tuple[Event, ...]
    began: int
    ended: int
    status: int | None = None
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def is_acknowledged(self) -> bool:
        return bool(self.events) and self.status in (200, 201)

    @property
    def is_refused(self) -> bool:
        return self.status is not None and 400 <= self.status < 500


class Tree:
    """A tree of RFC 6962 as its full subtrees, largest first: it grows by a leaf, and has a root at every size."""

    def __init__(self, size: int = 0, subtrees: Iterable[bytes] = ()) -> None:
        self.size = size
        self.subtrees = list(subtrees)

    def copy(self) -> Tree:
        return Tree(self.size, self.subtrees)

    def add(self, entry: bytes) -> None:
        self.add_hash(sha256(b"\0" + entry).digest())

    def add_hash(self, leaf: bytes) -> None:
        self.subtrees.append(leaf)
        self.size += 1
        filled = self.size
        while filled % 2 == 0:
            right, left = self.subtrees.pop(), self.subtrees.pop()
            self.subtrees.append(sha256(b"\1" + left + right).digest())
            filled //= 2

    def root(self) -> bytes:
        if not self.subtrees:
            return sha256(b"").digest()
        root, *larger = reversed(self.subtrees)
        for left in larger:
            root = sha256(b"\1" + left + root).digest()
        return root


@dataclass
class History:
    """What happened, and what is there afterwards, when everything that was stored is sealed and replayed.

    ``stored`` has, for each stream, numbers and bytes as they are read. ``entries`` are those of the leaves that came
    to ``before``; of streams that only ``others`` names, nothing but the tree is judged. ``checkpoints`` are the notes
    in the order in which they were published. ``findings`` and ``clean`` are, for each stream, what stands and what a
    run over the stored events finds.
    """

    requests: list[Request] = field(default_factory=list)
    stored: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    entries: list[bytes] = field(default_factory=list)
    before: Tree = field(default_factory=Tree)
    others: frozenset[str] = frozenset()
    checkpoints: list[str] = field(default_factory=list)
    checkpoint_keys: list[Key] = field(default_factory=list)
    receipt_keys: list[Key] = field(default_factory=list)
    findings: dict[str, list[Event]] = field(default_factory=dict)
    clean: dict[str, list[Event]] = field(default_factory=dict)


def canonical(event: Event) -> bytes:
    """Return the canonical bytes of an event (RFC 8785; names of ASCII, no fractions), with the defaults filled in."""
    return _canonical({"v": 1, "data": {}} | event)


def violations(history: History) -> list[Violation]:
    """Return everything in a history that breaks a rule, in the order of ``RULES``."""
    found = [*_Streams(history).violations(), *_checkpoints(history), *_findings(history)]
    order = list(RULES)
    return sorted(found, key=lambda violation: order.index(violation.rule))


def _canonical(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class _Streams:
    """The rules about requests, events, batches and receipts."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.stored = {stream: dict(events) for stream, events in history.stored.items()}
        self.batches: dict[str, list[tuple[dict[str, Any], int]]] = {}
        for index, entry in enumerate(history.entries, start=history.before.size):
            batch = json.loads(entry)
            self.batches.setdefault(batch["stream"], []).append((batch, index))
        self.sent: dict[str, list[Request]] = {}
        for request in history.requests:
            self.sent.setdefault(request.stream, []).append(request)

    def violations(self) -> Iterator[Violation]:
        for request in self.history.requests:
            if request.is_acknowledged:
                yield from self._acknowledged(request)
            elif request.is_refused:
                yield from self._refused(request)
            yield from self._next_seqs(request)
        yield from self._receipts()
        for stream, events in self.history.stored.items():
            yield from self._events(stream, events)
            yield from self._batches(stream)
        for stream in self.batches.keys() - self.stored.keys() - self.history.others:
            yield Violation("leaf-of-nothing", f"a leaf is of {stream}, which is not stored")

    # Events

    def _events(self, stream: str, events: list[tuple[int, bytes]]) -> Iterator[Violation]:
        seqs = [seq for seq, _ in events]
        if any(later <= earlier for earlier, later in itertools.pairwise(seqs)):
            yield Violation("twice", f"the numbers of {stream} do not ascend")
        expected = 1
        for seq, raw in sorted(self.stored[stream].items()):
            if seq != expected:
                yield Violation("jumped", f"{stream} has {seq} after {expected - 1}")
            event = json.loads(raw)
            expected = event["data"]["through"] + 1 if event["type"] == "events.lost" else seq + 1
            contents = [each for sent in self.sent.get(stream, ()) for each in sent.events if each["seq"] == seq]
            if not contents:
                yield Violation("unsent", f"{stream}/{seq} was sent by nobody")
            elif raw not in [canonical(each) for each in contents]:
                yield Violation("altered", f"{stream}/{seq} is stored as nobody sent it")

    def _acknowledged(self, request: Request) -> Iterator[Violation]:
        stored = self.stored.get(request.stream, {})
        for event in request.events:
            if event["seq"] not in stored:
                yield Violation("lost", f"{request.stream}/{event['seq']} was acknowledged and is not stored")
            elif stored[event["seq"]] != canonical(event) and self._is_of_a_request(request.stream, event["seq"]):
                yield Violation("altered", f"{request.stream}/{event['seq']} was acknowledged with other content")
        if request.status == 201 and request.events[-1]["seq"] < self._acknowledged_before(request):
            yield Violation("acknowledged-anew", f"{request.stream}/{request.events[-1]['seq']} is stored anew")

    def _is_of_a_request(self, stream: str, seq: int) -> bool:
        """Whether what is stored was sent; what was not is a violation of its own."""
        raw = self.stored[stream][seq]
        return any(canonical(each) == raw for sent in self.sent.get(stream, ()) for each in sent.events)

    def _refused(self, request: Request) -> Iterator[Violation]:
        stored = self.stored.get(request.stream, {})
        elsewhere = {
            canonical(event)
            for sent in self.sent[request.stream]
            if sent is not request and not sent.is_refused
            for event in sent.events
        }
        for event in request.events:
            raw = canonical(event)
            if stored.get(event["seq"]) == raw and raw not in elsewhere:
                yield Violation("refused-stored", f"{request.stream}/{event['seq']} was refused and is stored")
        if request.answer.get("code") == "conflict":
            seq = request.answer["seq"]
            mine = [canonical(event) for event in request.events if event["seq"] == seq]
            if not mine or stored.get(seq) in (None, *mine):
                yield Violation("conflict", f"{request.stream}/{seq} conflicts with nothing")

    def _acknowledged_before(self, request: Request) -> int:
        """Return the number after the last that was acknowledged before a request began."""
        return max(
            (
                sent.events[-1]["seq"] + 1
                for sent in self.sent[request.stream]
                if sent.is_acknowledged and sent.ended < request.began
            ),
            default=1,
        )

    def _next_seqs(self, request: Request) -> Iterator[Violation]:
        """What an answer that stores nothing says of the stream."""
        if request.is_acknowledged or "next_seq" not in request.answer:
            return
        next_seq = request.answer["next_seq"]
        if next_seq < self._acknowledged_before(request):
            yield Violation("next-seq", f"{request.stream} takes {next_seq} next, below what was acknowledged")
        stored = self.stored.get(request.stream, {})
        if next_seq > max((_next(raw, seq) for seq, raw in stored.items()), default=1):
            yield Violation("next-seq", f"{request.stream} takes {next_seq} next, and what is before it is not stored")

    # Receipts and batches

    def _receipts(self) -> Iterator[Violation]:
        first: dict[tuple[str, int], dict[str, Any]] = {}
        sizes = [_opened(note)[0] for note in self.history.checkpoints]
        for request in self.history.requests:
            if not request.is_acknowledged:
                continue
            receipt = request.answer
            name = (receipt["stream"], receipt["first_seq"])
            if first.setdefault(name, receipt) != receipt:
                yield Violation("receipt-changed", f"{name[0]}/{name[1]} has two receipts")
                continue
            if not _is_signed(receipt, self.history.receipt_keys):
                yield Violation("receipt-signature", f"the receipt of {name[0]}/{name[1]}")
            leaf = next((each for each in self.batches.get(name[0], ()) if each[0]["first_seq"] == name[1]), None)
            same = ("last_seq", "next_seq", "root", "chain", "received_at")
            if leaf is None:
                if self.stored.get(name[0], {}).get(name[1]) is not None and not self._has_unsealed(name[0]):
                    yield Violation("receipt-unsealed", f"{name[0]}/{name[1]} has no leaf")
            elif [leaf[0][each] for each in same] != [receipt[each] for each in same]:
                yield Violation("receipt-unsealed", f"the leaf of {name[0]}/{name[1]} is of another batch")
            elif not any(size > leaf[1] for size in sizes):
                yield Violation("receipt-unsealed", f"{name[0]}/{name[1]} is under no checkpoint")

    def _was_sent(self, stream: str, seq: int) -> bool:
        """Whether a request that was not refused has this number; what none has is a violation of its own."""
        return any(
            each["seq"] == seq for sent in self.sent.get(stream, ()) if not sent.is_refused for each in sent.events
        )

    def _has_unsealed(self, stream: str) -> bool:
        covered = {seq for batch, _ in self.batches.get(stream, ()) for seq in _range(batch)}
        return not self.stored[stream].keys() <= covered

    def _batches(self, stream: str) -> Iterator[Violation]:
        stored, chain, covered = self.stored[stream], bytes(32), Counter[int]()
        for batch, _index in self.batches.get(stream, ()):
            where = f"{stream}/{batch['first_seq']}–{batch['last_seq']}"
            seqs = [seq for seq in _range(batch) if seq in stored]
            if len(seqs) != batch["count"]:
                yield Violation("leaf-of-nothing", f"of {where} {len(seqs)} events are stored")
                continue
            covered.update(seqs)
            tree = Tree()
            for seq in seqs:
                tree.add(stored[seq])
            if tree.root().hex() != batch["root"] and all(self._is_of_a_request(stream, seq) for seq in seqs):
                yield Violation("root", where)
            root = bytes.fromhex(batch["root"])
            numbers = batch["first_seq"].to_bytes(8) + batch["count"].to_bytes(8)
            chain = sha256(chain + root + numbers).digest()
            if chain.hex() != batch["chain"]:
                yield Violation("chain", where)
                chain = bytes.fromhex(batch["chain"])
            if all(self._was_sent(stream, seq) for seq in seqs) and not any(
                _is_new_of(batch, sent) for sent in self.sent[stream]
            ):
                yield Violation("divided", f"{where} is of no request")
        if any(covered[seq] != 1 for seq in stored):
            yield Violation("unsealed", f"events of {stream} are in no leaf, or in several")


def _range(batch: dict[str, Any]) -> range:
    return range(batch["first_seq"], batch["last_seq"] + 1)


def _next(raw: bytes, seq: int) -> int:
    event = json.loads(raw)
    return int(event["data"]["through"]) + 1 if event["type"] == "events.lost" else seq + 1


def _is_new_of(batch: dict[str, Any], request: Request) -> bool:
    """Whether a batch may be what was new of a request: all of it from some event on. Any order is one order."""
    if request.is_refused or not request.events:
        return False
    seqs = sorted(event["seq"] for event in request.events)
    new = [seq for seq in seqs if seq >= batch["first_seq"]]
    return len(new) == batch["count"] and (new[0], new[-1]) == (batch["first_seq"], batch["last_seq"])


def _is_signed(receipt: dict[str, Any], keys: Sequence[Key]) -> bool:
    signature = base64.b64decode(receipt["signature"])
    signed = b"cabochon-receipt/v1\n" + _canonical({k: v for k, v in receipt.items() if k != "signature"})
    return any(key.id == signature[:4] and key.has_signed(signature[4:], signed) for key in keys)


# The tree


def _opened(note: str) -> tuple[int, bytes]:
    """Return size and root of a checkpoint."""
    _origin, size, root = note.split("\n")[:3]
    return int(size), base64.b64decode(root)


def _note_is_signed(note: str, keys: Sequence[Key]) -> bool:
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        _dash, name, encoded = line.split(" ")
        signature = base64.b64decode(encoded)
        for key in keys:
            if (key.name, key.id) == (name, signature[:4]) and key.has_signed(signature[4:], f"{text}\n".encode()):
                return True
    return False


def _checkpoints(history: History) -> Iterator[Violation]:
    tree = history.before.copy()
    roots = {tree.size: tree.root()}
    for entry in history.entries:
        tree.add(entry)
        roots[tree.size] = tree.root()
    largest = 0
    for note in history.checkpoints:
        size, root = _opened(note)
        if not _note_is_signed(note, history.checkpoint_keys):
            yield Violation("checkpoint-signature", f"of {size} leaves")
        if size >= history.before.size and roots.get(size) != root:
            yield Violation("checkpoint-root", f"of {size} leaves; there are {tree.size}")
        if size < largest:
            yield Violation("checkpoint-size", f"of {size} leaves after one of {largest}")
        largest = max(largest, size)


def _findings(history: History) -> Iterator[Violation]:
    for stream, clean in history.clean.items():
        standing = Counter(map(_canonical, history.findings.get(stream, ())))
        expected = Counter(map(_canonical, clean))
        for raw in standing - expected:
            yield Violation("findings", f"{stream} has {raw.decode()}, which a clean run does not find")
        for raw in expected - standing:
            yield Violation("findings", f"{stream} lacks {raw.decode()}")
