"""Building the bundle of a finding from plain values: the same values give the same bytes, on any machine.

    finding ─► finding.json, verdict.*.txt, law/*.txt ─┐
    events, batches, checkpoint, keys ─────────────────┼─► MANIFEST.sha256 ─► verified ─► one ZIP
    verify.py, README.*.txt ───────────────────────────┘

A bundle contains no clock time, no address, and no database id that is not in the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any

from audit.evidence import verify, wording
from settlement import AnotherStream, Finding, NeedsReplay, State
from settlement.catalogue import RULES, Language, Rule, Wording
from settlement.catalogue.sentences import amount, format_fact
from settlement.codec import decode_stored
from settlement.engine import READINGS
from settlement.law import LAW_TEXTS, Citation
from settlement.law_coverage.quoted import quoted
from settlement.law_coverage.session import SessionSentence
from settlement.provisions import PROVISIONS
from settlement.streams import fold

LANGUAGES: tuple[Language, ...] = ("en", "fr")


class Unproven(Exception):
    """The record does not prove the finding: its bundle would not verify."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBatch:
    """A batch in the tree: its entry, the index of its leaf, its path to the root of the checkpoint."""

    entry: bytes
    index: int
    path: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The input of a bundle.

    ``casino`` and ``table`` are as the first event names them; ``table`` is None for a count room. ``readings`` are the
    parameters of the adjudication that made the finding, or None if they are not known. ``coverage`` is what of the law
    was checked in the session. ``approved`` are the corrections among the events that officers had approved, None where
    every one took effect, and ``decisions`` what officers decided about corrections among them, as ``finding.json`` has
    it, with the entries of the audit trail and their proofs. ``keys`` are those
    that signed the checkpoint, in the order of its signatures, as ``name+id+base64``; cosignatures of witnesses follow
    in the checkpoint itself. ``signers`` are the table systems that signed batches: the id of each API key, and the
    entry of the audit trail that says its public key, with its proof.
    """

    finding: Finding
    stream: str
    casino: str
    table: str | None
    gaming_day: str
    currency: str
    ruleset: str
    engine_version: str
    readings_digest: str
    readings: Mapping[str, Any] | None
    coverage: Sequence[SessionSentence]
    approved: Sequence[int] | None
    decisions: Sequence[Mapping[str, Any]]
    envelopes: Sequence[bytes]
    batches: Sequence[SealedBatch]
    origin: str
    checkpoint: str
    keys: Sequence[str]
    signers: Sequence[Mapping[str, Any]] = ()


def bundle_of(material: Material) -> bytes:
    """Return the bundle, a ZIP. Raise ``Unproven`` if the verifier refuses it."""
    content = finding_json(material)
    files = {
        "README.en.txt": _data("README.en.txt"),
        "README.fr.txt": _data("README.fr.txt"),
        "batches.json": verify.indented({"batches": [_batch(batch) for batch in material.batches]}),
        "checkpoint": material.checkpoint.encode(),
        "events.ndjson": b"".join(envelope + b"\n" for envelope in material.envelopes),
        "finding.json": verify.indented(content),
        "keys.json": verify.indented(_keys(material)),
        "verify.py": _data("verify.py"),
        **{f"verdict.{language}.txt": wording.verdict(content, language) for language in LANGUAGES},
        **{text["file"]: LAW_TEXTS[_text_id(text["file"])].content.encode() for text in content["law"]},
    }
    files["MANIFEST.sha256"] = verify.manifest_of(files)
    try:
        for _ in verify.checks(files):
            continue
    except verify.Unverified as reason:
        raise Unproven(str(reason)) from None
    return verify.zip_of(files)


def refold(
    envelopes: Sequence[bytes], readings: Mapping[str, Any] | None, approved: Collection[int] | None = None
) -> State:
    """Fold events as a replay does, with their corrections known beforehand. Raise ``Unproven`` if they do not fold.

    ``readings`` are those of the house register; None: the session's own parameters decide. ``approved`` are the
    corrections that officers approved, by seq; None: every one takes effect.
    """
    events = decode_stored(b"[%b]" % b",".join(envelopes))
    try:
        return fold(events, readings, approved)
    except (NeedsReplay, AnotherStream) as error:
        raise Unproven(str(error)) from error


def readings_of(state: State) -> dict[str, Any]:
    """Return the parameters that a session is adjudicated with, by name; empty for a count."""
    session = state.table.session
    return {} if session is None else {name: getattr(session, name) for name in READINGS}


def finding_json(material: Material) -> dict[str, Any]:
    """Return the content of ``finding.json``: see ``docs/evidence.md``."""
    finding, rule = material.finding, RULES[material.finding.rule]
    is_money = rule.expected_is == rule.recorded_is == "money"
    expected, recorded = finding.expected, finding.recorded
    difference = recorded - expected if is_money and type(expected) is type(recorded) is int else None
    law, no_text = _law(finding.provisions or (finding.provision,), rule)
    return {
        "format": verify.FORMAT,
        "stream": material.stream,
        "casino": material.casino,
        "table": material.table,
        "gaming_day": material.gaming_day,
        "currency": material.currency,
        "ruleset": material.ruleset,
        "engine_version": material.engine_version,
        "corrections": {
            "approved": None if material.approved is None else list(material.approved),
            "decisions": [dict(each) for each in material.decisions],
        },
        "readings": {"digest": material.readings_digest, "values": material.readings},
        "rule": {"title": _both(rule.title), "explanation": _both(rule.explanation)},
        "finding": finding.as_dict(),
        "kinds": {
            "expected": rule.expected_is,
            "recorded": rule.recorded_is,
            "difference": None if difference is None else "money",
        },
        "difference": difference,
        "written": {language: _amounts(finding, rule, difference, language) for language in LANGUAGES},
        "law": law,
        "no_text": no_text,
        "coverage": [_covered(each) for each in material.coverage],
    }


def _covered(each: SessionSentence) -> dict[str, Any]:
    sentence = each.sentence
    return {
        "file": f"law/{LAW_TEXTS[sentence.text].file}",
        "start": sentence.start,
        "end": sentence.end,
        "words": LAW_TEXTS[sentence.text].content[sentence.start : sentence.end].strip(),
        "state": each.state,
        "rules": list(sentence.rules),
        "silent": list(each.silent),
        "lacking": list(each.lacking),
        "readings": list(sentence.readings),
    }


def _amounts(finding: Finding, rule: Rule, difference: int | None, language: Language) -> dict[str, str | None]:
    currency = finding.currency
    return {
        "expected": format_fact(finding.expected, rule.expected_is, language, currency),
        "recorded": format_fact(finding.recorded, rule.recorded_is, language, currency),
        "difference": None if difference is None else amount(abs(difference), currency, language),
        "owed": _owed(finding, language),
    }


def _owed(finding: Finding, language: Language) -> str | None:
    """Return what is owed at the finding, in words; None where nothing is. Information owes nothing."""
    if finding.owed is None or finding.severity == "info":
        return None
    text = amount(finding.owed.amount, finding.currency, language)
    return wording.OWED_BY[finding.owed.by].in_language(language).format(text)


def _law(labels: Iterable[str | None], rule: Rule) -> tuple[list[dict[str, Any]], dict[str, str] | None]:
    """Return the sentences that ``rule`` quotes of provisions, by text, or, if there are none, why not, if known."""
    cited = [label for label in labels if label]
    provisions = [PROVISIONS[label] for label in cited if label in PROVISIONS]
    citations = list(quoted(rule.name, cited))
    if citations:
        citations.sort(key=lambda citation: citation.text_id)  # stable: as they are cited within one text
        by_text = groupby(citations, key=lambda citation: citation.text_id)
        return [_text(text_id, list(of_text)) for text_id, of_text in by_text], None
    missing = next((provision.text_missing for provision in provisions if provision.text_missing), None)
    if missing:
        return [], dict(missing)
    return [], _both(rule.reason) if rule.reason else None


def _text(text_id: str, citations: Sequence[Citation]) -> dict[str, Any]:
    text = LAW_TEXTS[text_id]
    return {
        "file": f"law/{text.file}",
        "sha256": text.sha256,
        "language": text.language,
        "article": text.article,
        "title": text.title,
        "instrument": text.instrument.cited_as,
        "quotations": [
            {"start": citation.start, "end": citation.end, "words": citation.quote} for citation in citations
        ],
    }


def _text_id(file: str) -> str:
    return file.removeprefix("law/").removesuffix(".txt")


def _keys(material: Material) -> dict[str, Any]:
    """Return the content of ``keys.json``; without ``signers`` where no table system signed, as it was before."""
    signers = {"signers": [dict(each) for each in material.signers]} if material.signers else {}
    return {"keys": list(material.keys), "origin": material.origin, **signers}


def _batch(batch: SealedBatch) -> dict[str, Any]:
    return {"entry": batch.entry.decode(), "index": batch.index, "path": [sibling.hex() for sibling in batch.path]}


def _both(wording: Wording) -> dict[str, str]:
    return {"en": wording.en, "fr": wording.fr}


def _data(name: str) -> bytes:
    return resources.files("audit.evidence").joinpath(name).read_bytes()
