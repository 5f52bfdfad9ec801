"""A log for the tests of the witness: leaves of our own, checkpoints signed with a key of our own."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from audit.event_store import merkle
from audit.transparency.signed_notes import Checkpoint, Signer
from cabochon_witness.notes import LOG_KEY, PublicKey

ORIGIN = "casino.example/log"


@dataclass
class Log:
    """A log of leaves. ``fork`` gives another one with the same key, whose leaves differ from an index on."""

    leaves: list[bytes] = field(default_factory=lambda: [merkle.leaf(b"%d" % number) for number in range(300)])
    seed: bytes = b"k" * 32
    origin: str = ORIGIN

    @property
    def signer(self) -> Signer:
        return Signer(self.origin, self.seed)

    @property
    def key(self) -> PublicKey:
        return PublicKey.parse(str(self.signer.verifier), LOG_KEY)

    def root_of(self, low: int, high: int) -> bytes:
        return merkle.root(self.leaves[low:high])

    def note(self, size: int) -> str:
        return self.signer.note(Checkpoint(self.origin, size, self.root_of(0, size)).text())

    def proof(self, old: int, size: int) -> list[bytes]:
        return merkle.consistency(old, size, self.root_of) if old else []

    def request(self, old: int, size: int, proof: list[bytes] | None = None) -> bytes:
        hashes = self.proof(old, size) if proof is None else proof
        encoded = "".join(f"{base64.b64encode(each).decode()}\n" for each in hashes)
        return f"old {old}\n{encoded}\n{self.note(size)}".encode()

    def fork(self, index: int) -> Log:
        others = [merkle.leaf(b"other %d" % number) for number in range(index, len(self.leaves))]
        return Log([*self.leaves[:index], *others], self.seed, self.origin)
