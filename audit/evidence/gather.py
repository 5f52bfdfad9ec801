"""From a stored finding to its bundle: the events that prove it, under the first checkpoint that covers them.

    finding ─► events through its batch ─► folded again: is it found? ─► proofs to one checkpoint ─► bundle
                        ▲                              │ no
                        └──────── through the next batch ◄──────────────┘

Events, decisions about corrections and checkpoint follow from the log alone, which only grows: the same finding gives
the same bytes for ever. A finding of another engine version, or an integrity finding, is not folded again.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from audit.adjudication.results import standing_approvals, standing_readings
from audit.adjudication.stream_reader import Readings
from audit.event_store import read
from audit.evidence.bundle import Material, SealedBatch, Unproven, bundle_of, readings_of, refold
from audit.evidence.decided import entries_of, proven_decisions
from audit.evidence.signers import proven_signers, registrations
from audit.models import Finding
from audit.register import in_force
from audit.transparency import proofs, signing_keys
from audit.transparency.cosignatures import cosigned_note
from audit.transparency.signed_notes import signers_in
from settlement import ENGINE_VERSION, NeedsReplay, State
from settlement import Finding as FindingValue
from settlement.catalogue import RULES
from settlement.codec import decode_one_stored, decode_stored
from settlement.incidents import with_consequences


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
    approved = _approved_of(finding)
    last_seq = decode_one_stored(envelopes[-1]).seq
    if approved is not None:
        approved = [seq for seq in approved if seq <= last_seq]
    entries = entries_of(finding.stream_id, last_seq)
    needed = [(each.desk_id, each.seq) for each in entries if each.correction in (approved or ())]
    signers = registrations(finding.casino_id, finding.stream_id, last_seq)
    needed += [(each.desk_id, each.seq) for each in signers]
    proven = proofs.prove_through(finding.stream_id, last_seq, with_entries=needed)
    note = cosigned_note(proven[0].checkpoint)
    opener = msgspec.json.decode(envelopes[0])["data"]
    return Material(
        finding=_with_consequences(value, state),
        stream=decode_one_stored(envelopes[0]).stream,
        casino=opener["casino"],
        table=opener.get("table"),
        gaming_day=opener["gaming_day"],
        currency=opener["currency"],
        ruleset=finding.ruleset,
        engine_version=finding.engine_version,
        readings_digest=finding.readings_digest,
        readings=readings_of(state) if state.readings_digest == finding.readings_digest else None,
        coverage=state.adjudication().coverage(),
        approved=approved,
        decisions=list(proven_decisions(entries, proven[0].checkpoint)),
        envelopes=envelopes,
        batches=[SealedBatch(entry=proof.entry, index=proof.index, path=proof.path) for proof in proven],
        origin=note.partition("\n")[0],
        checkpoint=note,
        signers=list(proven_signers(signers, proven[0].checkpoint)),
        keys=[str(verifier) for verifier in signers_in(note, signing_keys.verifiers("checkpoint"))],
    )


def _proving_events(finding: Finding, value: FindingValue) -> tuple[list[bytes], State]:
    """Return the events that a bundle has to contain, and their folded state.

    They go through the finding's batch, or through the batch of the first later event with which it is found: the end
    of its coup, a correction. Of a finding of another version of the engine it is the end of its coup. Raise
    ``Unproven`` if it is never found.
    """
    batch = read.batch_holding(finding.stream_id, finding.seq)
    if batch is None:
        raise Unproven(f"the record has no event {finding.seq} of this stream")
    readings, approved = _readings_of(finding), _approved_of(finding)
    envelopes = _through(finding.stream_id, batch.last_seq)
    state = refold(envelopes, readings, approved)
    is_of_engine = RULES[finding.rule].raised_by == "engine"
    is_of_this = finding.engine_version == ENGINE_VERSION
    while is_of_engine and not _leads_to(state, finding, value if is_of_this else None):
        batch = read.batch_holding(finding.stream_id, batch.last_seq + 1)
        if batch is None:
            if is_of_this:
                raise Unproven("the recorded events do not lead to this finding")
            break
        more = read.slice_of(finding.stream_id, after=batch.first_seq - 1, limit=batch.last_seq - batch.first_seq + 1)
        envelopes += (later := [envelope for _seq, envelope in more])
        try:
            state.feed_all(decode_stored(b"[%b]" % b",".join(later)))
        except NeedsReplay:  # a correction
            state = refold(envelopes, readings, approved)
    return envelopes, state


def _leads_to(state: State, finding: Finding, value: FindingValue | None) -> bool:
    """Whether what was folded leads to a finding: it is found; of another version (None), its coup has ended."""
    if value is None:
        return state.table.coup_began > finding.seq
    return any(each.as_dict() == value.as_dict() for each in state.findings(under_way=False))


def _with_consequences(value: FindingValue, state: State) -> FindingValue:
    """Return a finding with its consequences among the events of its bundle, which stay the same for ever."""
    linked = with_consequences(sorted(state.findings(), key=lambda each: each.order))
    own = next((each for each in linked if each.ref == value.ref), value)
    return replace(value, consequences=own.consequences)


def _readings_of(finding: Finding) -> Readings:
    """Return what the run that found it read by; for a finding of no run, what the stream is read by now."""
    if finding.run is None:
        return standing_readings(finding.stream_id)
    return in_force.readings_of(finding.stream_id, finding.run.register_version)


def _approved_of(finding: Finding) -> list[int] | None:
    """Return the corrections that the run that found it took for approved; for a finding of no run, the stream's."""
    return standing_approvals(finding.stream_id) if finding.run is None else finding.run.approved


def _through(stream_id: int, last_seq: int) -> list[bytes]:
    events = takewhile(lambda event: event[0] <= last_seq, read.whole(stream_id))
    return [envelope for _, envelope in events]
