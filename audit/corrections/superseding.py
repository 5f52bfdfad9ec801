"""Which corrections took a finding away: those that hide it, and not any that the run merely knew.

The run that superseded a finding knows every correction before it, those that wait too, and may have begun because of
one that changes something else. The findings that a correction takes away are a fact of the finding about it
(``hides``), once it has an effect. Where no such fact names the finding (two corrections hide it together, a throw
just counted was declared void without a finding, a comparison ended early), it is what the run was the first to read
with an effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from audit.event_store import read
from audit.models import CORRECTION_RULES, AdjudicationRun, CorrectionDecision, Finding, RunCause
from settlement.codec import decode_one_stored
from settlement.corrections import target_of
from settlement.finding import FindingRef

WITHOUT_EFFECT = "correction-without-effect"

BY_CORRECTION = (RunCause.CORRECTION, RunCause.APPROVAL)
"""The causes of runs that supersede findings because of corrections."""


def look_up_corrections(findings: Iterable[Finding]) -> None:
    """Put the corrections that took each of ``findings`` away into its ``removed_by``, in order."""
    gone = [each for each in findings if _is_by_correction(each)]
    if not gone:
        return
    stream_ids = {each.stream_id for each in gone}
    about = _about_corrections(stream_ids)
    types = {stream_id: _types_of(stream_id) for stream_id in stream_ids}
    for finding in gone:
        of_stream, known = about.get(finding.stream_id, []), types[finding.stream_id]
        seqs = _hiding(finding, of_stream) or _first_read_with(finding, of_stream, known)
        finding.removed_by = {seq: known[seq] for seq in seqs if seq in known}


def newly_approved_by(run: AdjudicationRun) -> list[int]:
    """Return the corrections that ``run`` was the first to take for approved, by seq."""
    before = run.replaces.approved if run.replaces is not None else None
    return sorted(set(run.approved or ()) - set(before or ()))


def decisions_behind(finding: Finding) -> dict[int, list[CorrectionDecision]]:
    """Return the decisions about each correction in ``finding.removed_by``, none for one that needed no officers."""
    found: dict[int, list[CorrectionDecision]] = {seq: [] for seq in finding.removed_by}
    rows = CorrectionDecision.objects.filter(stream=finding.stream_id, seq__in=found).order_by("seq", "number")
    for decision in rows.select_related("officer") if found else ():
        found[decision.seq].append(decision)
    return found


def _is_by_correction(finding: Finding) -> bool:
    run = finding.superseded_by_run
    return run is not None and run.pk != finding.run_id and run.cause in BY_CORRECTION


def _about_corrections(stream_ids: Collection[int]) -> Mapping[int, list[Finding]]:
    """Return the findings about corrections of streams, of whatever run, by stream."""
    found: dict[int, list[Finding]] = {}
    rules = (*CORRECTION_RULES, WITHOUT_EFFECT)
    for row in Finding.objects.filter(stream__in=stream_ids, rule__in=rules).order_by("seq", "pk"):
        found.setdefault(row.stream_id, []).append(row)
    return found


def _hiding(finding: Finding, about: Iterable[Finding]) -> list[int]:
    """Return the corrections in effect whose findings say that they hide ``finding``."""
    ref = FindingRef(finding.rule, finding.seq, finding.wager or None)
    return sorted({each.seq for each in about if _has_effect(each) and ref in each.as_value().hides})


def _types_of(stream_id: int) -> dict[int, str]:
    """Return the types of a stream's corrections by seq, in order."""
    changes = map(decode_one_stored, read.corrections_of(stream_id))
    return {each.seq: each.type for each in changes if target_of(each) is not None}


def _has_effect(about: Finding) -> bool:
    return about.rule != WITHOUT_EFFECT and about.facts.get("waits") != "waits"


def _first_read_with(finding: Finding, about: Iterable[Finding], known: Iterable[int]) -> list[int]:
    """Return the corrections that the run that superseded ``finding`` was the first to read, and that have an effect.

    An approval began it: what was approved. Else what it was the first to know, less what waits or changes nothing.
    """
    run = finding.superseded_by_run
    assert run is not None, "looked at before"
    if approved := newly_approved_by(run):
        return approved
    if finding.stood_at is None and finding.run is not None:  # overtaken: by what its own run did not know
        return [seq for seq in known if finding.run.corrections_through < seq <= run.corrections_through]
    before = run.replaces.corrections_through if run.replaces is not None else 0
    idle = {each.seq for each in about if not _has_effect(each)} - set(run.approved or ())
    return [seq for seq in known if before < seq <= run.corrections_through and seq not in idle]
