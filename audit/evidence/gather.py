"""From a stored finding to its bundle: the events that prove it, under the first checkpoint that covers them.

    finding ─► events through its batch ─► folded again: is it found? ─► proofs to one checkpoint ─► bundle
                        ▲                              │ no
                        └── through the batch of the next correction ◄──┘

Events and checkpoint follow from the log alone, which only grows: the same finding gives the same bytes for ever. A
finding of another engine version, or an integrity finding, is not folded again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile

import msgspec

from audit.adjudication.stream_reader import corrections_of
from audit.event_store import read
from audit.evidence.bundle import Material, SealedBatch, Unproven, bundle_of, readings_of, refold
from audit.models import Finding
from audit.transparency import proofs, signing_keys
from audit.transparency.signed_notes import signers_in
from settlement import ENGINE_VERSION, State, decode
from settlement import Finding as FindingValue
from settlement.catalogue import RULES


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle as it is exported: its file name and its bytes."""

    name: str
    raw: bytes

    @property
    def digest(self) -> str:
        """SHA-256, 64 hex digits."""
        return sha256(self.raw).hexdigest()


def evidence_of(finding: Finding) -> Bundle:
    """Return the bundle of a finding.

    Raise ``NotSealed`` while no checkpoint covers its batch, ``Unproven`` if the record does not prove it.
    """
    return Bundle(f"cabochon-finding-{finding.pk}.zip", bundle_of(material_of(finding)))


def material_of(finding: Finding) -> Material:
    """Return the input of a finding's bundle. Raise as ``evidence_of``."""
    value = finding.as_value()
    envelopes, state = _proving_events(finding, value)
    proven = proofs.prove_through(finding.stream_id, decode(envelopes[-1]).seq)
    note = proven[0].checkpoint.note
    opener = msgspec.json.decode(envelopes[0])["data"]
    return Material(
        finding=value,
        stream=decode(envelopes[0]).stream,
        casino=opener["casino"],
        table=opener.get("table"),
        gaming_day=opener["gaming_day"],
        currency=opener["currency"],
        ruleset=finding.ruleset,
        engine_version=finding.engine_version,
        readings_digest=finding.readings_digest,
        readings=readings_of(state) if state.readings_digest == finding.readings_digest else None,
        envelopes=envelopes,
        batches=[SealedBatch(entry=proof.entry, index=proof.index, path=proof.path) for proof in proven],
        origin=note.partition("\n")[0],
        checkpoint=note,
        keys=[str(verifier) for verifier in signers_in(note, signing_keys.verifiers("checkpoint"))],
    )


def _proving_events(finding: Finding, value: FindingValue) -> tuple[list[bytes], State]:
    """Return the events that a bundle has to contain, and their folded state.

    They go through the finding's batch, or, if it is only found because an entry was corrected later, through the batch
    of the first correction with which it is found. Raise ``Unproven`` if it is never found.
    """
    batch = read.batch_holding(finding.stream_id, finding.seq)
    if batch is None:
        raise Unproven(f"the record has no event {finding.seq} of this stream")
    refolds = finding.engine_version == ENGINE_VERSION and RULES[finding.rule].raised_by == "engine"
    for last_seq in (batch.last_seq, *_correcting_batches(finding.stream_id, batch.last_seq)):
        envelopes = _through(finding.stream_id, last_seq)
        state = refold(envelopes)
        if not refolds or any(each.as_dict() == value.as_dict() for each in state.table.findings):
            return envelopes, state
    raise Unproven("the recorded events do not lead to this finding")


def _through(stream_id: int, last_seq: int) -> list[bytes]:
    events = takewhile(lambda event: event[0] <= last_seq, read.whole(stream_id))
    return [envelope for _, envelope in events]


def _correcting_batches(stream_id: int, seq: int) -> Iterator[int]:
    """Yield the last number of each batch after ``seq`` that has a correction."""
    last_seq = seq
    for correction in corrections_of(stream_id):
        if correction.seq > last_seq and (batch := read.batch_holding(stream_id, correction.seq)):
            last_seq = batch.last_seq
            yield last_seq
