"""Building the bundle of a finding from plain values: the same values give the same bytes, on any machine.

    finding ─► finding.json, verdict.*.txt, law/*.txt ─┐
    events, batches, checkpoint, keys ─────────────────┼─► MANIFEST.sha256 ─► verified ─► one ZIP
    verify.py, README.*.txt ───────────────────────────┘

A bundle contains no clock time, no address, and no database id that is not in the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any

from audit.evidence import verify, wording
from settlement import AnotherStream, Finding, NeedsReplay, State
from settlement.catalogue import RULES, Language, Rule, Wording
from settlement.catalogue.sentences import amount, format_fact
from settlement.codec import decode_all
from settlement.engine import READINGS
from settlement.events import EntryCorrected
from settlement.law import LAW_TEXTS, Citation
from settlement.provisions import PROVISIONS

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
    parameters of the adjudication that made the finding, or None if they are not known. ``keys`` are those that signed
    the checkpoint, in the order of its signatures, as ``name+id+base64``.
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
    envelopes: Sequence[bytes]
    batches: Sequence[SealedBatch]
    origin: str
    checkpoint: str
    keys: Sequence[str]


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
        "keys.json": verify.indented({"keys": list(material.keys), "origin": material.origin}),
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


def refold(envelopes: Sequence[bytes]) -> State:
    """Fold events as a replay does, with their corrections known beforehand. Raise ``Unproven`` if they do not fold."""
    events = decode_all(envelopes)
    state = State(event for event in events if isinstance(event, EntryCorrected))
    try:
        state.feed_all(events)
    except (NeedsReplay, AnotherStream) as error:
        raise Unproven(str(error)) from error
    return state


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
    law, no_text = _law(finding.provision, rule)
    return {
        "format": verify.FORMAT,
        "stream": material.stream,
        "casino": material.casino,
        "table": material.table,
        "gaming_day": material.gaming_day,
        "currency": material.currency,
        "ruleset": material.ruleset,
        "engine_version": material.engine_version,
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
    }


def _amounts(finding: Finding, rule: Rule, difference: int | None, language: Language) -> dict[str, str | None]:
    currency = finding.currency
    sign = "+" if difference is not None and difference > 0 else ""
    return {
        "expected": format_fact(finding.expected, rule.expected_is, language, currency),
        "recorded": format_fact(finding.recorded, rule.recorded_is, language, currency),
        "difference": None if difference is None else sign + amount(difference, currency, language),
    }


def _law(label: str | None, rule: Rule) -> tuple[list[dict[str, Any]], dict[str, str] | None]:
    """Return the texts that a provision quotes, or, if it quotes none, why not, in both languages if known."""
    provision = PROVISIONS.get(label or "")
    if provision is not None and provision.citations:
        by_text = groupby(provision.citations, key=lambda citation: citation.text_id)
        return [_text(text_id, list(citations)) for text_id, citations in by_text], None
    if provision is not None and provision.text_missing:
        return [], dict(provision.text_missing)
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


def _batch(batch: SealedBatch) -> dict[str, Any]:
    return {"entry": batch.entry.decode(), "index": batch.index, "path": [sibling.hex() for sibling in batch.path]}


def _both(wording: Wording) -> dict[str, str]:
    return {"en": wording.en, "fr": wording.fr}


def _data(name: str) -> bytes:
    return resources.files("audit.evidence").joinpath(name).read_bytes()
