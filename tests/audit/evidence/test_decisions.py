"""The verifier checks what officers decided about corrections: each by its entry of the log, an approval by two."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from audit.evidence import verify
from audit.evidence.bundle import Unproven, bundle_of
from audit.evidence.verify import Unverified, checks, files_in
from tests.audit.evidence.materials import CORRECTION, SIGNER, approved_material, decided

FILES = files_in(bundle_of(approved_material()))
VKEY = str(SIGNER.verifier)

Change = Callable[[list[dict[str, Any]]], object]


def test_a_bundle_with_decisions_holds() -> None:
    [line] = [line for line in checks(FILES, VKEY) if line.startswith("decisions")]
    assert line == "decisions: 2 about corrections, each in the audit trail; approved are [6]"


def with_decisions(change: Change, approved: list[int] | None = None) -> dict[str, bytes]:
    """Return the bundle as a forger leaves it who remakes manifest and ZIP, and lacks only the private key."""
    content = json.loads(FILES["finding.json"])
    change(content["corrections"]["decisions"])
    content["corrections"]["approved"] = [CORRECTION] if approved is None else approved
    files = FILES | {"finding.json": verify.indented(content)}
    return files | {"MANIFEST.sha256": verify.manifest_of(files)}


def of_batch(old: str, new: str) -> Change:
    def change(decisions: list[dict[str, Any]]) -> None:
        batch = decisions[1]["entry"]["batch"]
        assert old in batch["entry"]
        batch["entry"] = batch["entry"].replace(old, new)

    return change


def renamed_in_both(decisions: list[dict[str, Any]]) -> None:
    """Have another officer decide, in what the bundle says and in the entry."""
    second = decisions[1]
    second["entry"]["event"] = second["entry"]["event"].replace("denis", "emile")
    second["officer"] = "emile"


NOT_THE_TRAIL = "is not what the audit trail says"
NOT_TWO = f"correction {CORRECTION} is not countersigned by two officers"

FORGERIES: dict[str, tuple[Change, str]] = {
    "another officer": (lambda all: all[1].update(officer="emile"), NOT_THE_TRAIL),
    "another officer in the entry": (renamed_in_both, NOT_THE_TRAIL),
    "another reason": (lambda all: all[0].update(reason="no reason"), NOT_THE_TRAIL),
    "another time": (lambda all: all[0].update(decided_at="2026-11-20T10:16:00.000000Z"), NOT_THE_TRAIL),
    "another decision": (lambda all: all[0].update(decision="refused"), NOT_THE_TRAIL),
    "another correction": (lambda all: all[0].update(correction=5), NOT_THE_TRAIL),
    "another number of the entry": (lambda all: all[0]["entry"].update(seq=3), NOT_THE_TRAIL),
    "another desk": (lambda all: all[0]["entry"].update(stream="deauville.desk.2026-11-21"), NOT_THE_TRAIL),
    "the proof of another entry": (lambda all: all[0]["entry"].update(batch=all[1]["entry"]["batch"]), NOT_THE_TRAIL),
    "another path": (lambda all: all[0]["entry"]["batch"].update(path=[]), "is not in the tree"),
    "another index": (lambda all: all[0]["entry"]["batch"].update(index=3), "is not in the tree"),
    "an entry of another casino": (of_batch('"casino":3', '"casino":4'), "is not in the tree"),
    "the second left out": (lambda all: all.pop(), NOT_TWO),
    "the first twice": (lambda all: all.__setitem__(1, all[0]), NOT_TWO),
    "all left out": (list.clear, NOT_TWO),
    "a field left out": (lambda all: all[0].pop("reason"), "does not have the fields"),
    "no proof": (lambda all: all[0]["entry"].pop("batch"), "does not have the fields"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_decision_that_was_altered_or_left_out_is_named(name: str) -> None:
    change, why = FORGERIES[name]
    with pytest.raises(Unverified) as refused:
        list(checks(with_decisions(change), VKEY))
    assert why in str(refused.value)
    if why == NOT_THE_TRAIL:
        assert "about correction" in str(refused.value)


def test_a_correction_that_nobody_decided_about_is_not_approved() -> None:
    with pytest.raises(Unverified, match="correction 4 is not countersigned by two officers"):
        list(checks(with_decisions(lambda all: None, approved=[4, CORRECTION]), VKEY))


SIGNED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one officer twice": ([decided(1, "claire"), decided(2, "claire")], NOT_TWO),
    "one officer": ([decided(1, "claire")], NOT_TWO),
    "a refusal after it": ([decided(1, "claire"), decided(2, "denis"), decided(3, "anne", "refused")], NOT_TWO),
    "a refusal instead": ([decided(1, "claire"), decided(2, "denis", "refused")], NOT_TWO),
    "whoever recorded it": ([decided(1, "claire"), decided(2, "Croupier")], "recorded or approved"),
    "whoever approved it at the table": ([decided(1, "chef"), decided(2, "denis")], "recorded or approved"),
    "another session": ([decided(1, "claire", session="s"), decided(2, "denis")], NOT_THE_TRAIL),
    "no correction": (
        [decided(1, "claire"), decided(2, "denis"), decided(3, "anne", correction=3)],
        "no correction here",
    ),
    "more in the entry": ([decided(1, "claire"), decided(2, "denis", decision="countersigned")], NOT_THE_TRAIL),
}
"""Entries that are in the signed log and do not approve the correction."""


@pytest.mark.parametrize("name", SIGNED)
def test_entries_of_the_log_that_do_not_approve_a_correction_make_no_bundle(name: str) -> None:
    trail, why = SIGNED[name]
    with pytest.raises(Unproven) as refused:
        bundle_of(approved_material(*trail))
    assert why in str(refused.value)


def test_an_event_of_a_table_system_is_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.audit.evidence.materials.NO_KEY", 11)
    with pytest.raises(Unproven, match=NOT_THE_TRAIL):
        bundle_of(approved_material())


def test_an_entry_of_another_casino_is_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.audit.evidence.materials.CASINO_OF_DESK", 4)
    with pytest.raises(Unproven, match=NOT_THE_TRAIL):
        bundle_of(approved_material())


def test_a_refusal_is_in_the_bundle_of_a_finding_that_does_not_rest_on_it() -> None:
    material = approved_material(decided(1, "anne", "refused"), rule="entry-corrected", approved=[])
    lines = list(checks(files_in(bundle_of(material)), VKEY))
    assert "decisions: 1 about corrections, each in the audit trail; approved are []" in lines
