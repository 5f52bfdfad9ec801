"""The bundle: its content, the same bytes on every machine, and one for every rule that can be found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from audit.evidence.bundle import Unproven, bundle_of
from audit.evidence.verify import checks, files_in, indented, manifest_of
from settlement import ENGINE_VERSION, adjudicate
from settlement.law import LAW_TEXTS
from settlement.provisions import PROVISIONS
from tests.audit.evidence.materials import SIGNER, enveloped, material, overpaid, small_material
from tests.long_forms import in_short

ROOT = Path(__file__).resolve().parents[3]

BUNDLE = bundle_of(small_material())
FILES = files_in(BUNDLE)
CONTENT = json.loads(FILES["finding.json"])


def test_the_finding_is_as_in_the_contract_with_where_it_was_found() -> None:
    answer = adjudicate(FILES["events.ndjson"].splitlines()).as_dict()
    assert CONTENT["finding"] == next(each for each in answer["findings"] if each["rule"] == "payout-overpaid")
    assert {
        name: CONTENT[name] for name in ("stream", "casino", "table", "gaming_day", "ruleset", "engine_version")
    } == {
        "stream": "deauville.C1.2026-11-19.1",
        "casino": "deauville",
        "table": "C1",
        "gaming_day": "2026-11-19",
        "ruleset": "fr-craps",
        "engine_version": ENGINE_VERSION,
    }
    assert CONTENT["readings"]["values"]["commission_rounding"] == "ceil"


def test_the_law_is_included_word_for_word_with_its_digest_and_the_span_quoted() -> None:
    [text] = CONTENT["law"]
    raw = FILES[text["file"]]
    assert raw == LAW_TEXTS["fr-art-55-8"].content.encode()
    assert text["sha256"] == sha256(raw).hexdigest() == LAW_TEXTS["fr-art-55-8"].sha256
    quoted = [raw.decode()[each["start"] : each["end"]] for each in text["quotations"]]
    assert quoted == [  # the sentences that say when the bet wins, and what it pays
        "Cette chance gagne avec 7 ou 11, perd avec 2, 3 ou 12.",
        "La mise sur win est ensuite gagnante si le point se répète, perdante si le 7 sort ou en attente pour tout "
        "autre chiffre.",
        *PROVISIONS["art. 55-8 A intro"].quotes,
    ]


def test_the_bundle_says_which_sentences_of_the_law_were_checked_in_the_session() -> None:
    covered = {each["words"]: each for each in CONTENT["coverage"]}
    offered = next(each for words, each in covered.items() if words.startswith("Les dés sont proposés"))
    assert (offered["state"], offered["lacking"]) == ("not checked", ["custody"])
    assert offered["silent"] == offered["rules"]
    assert offered["words"] == LAW_TEXTS["fr-art-55-7"].content[offered["start"] : offered["end"]].strip()
    horn = next(each for words, each in covered.items() if words.startswith("8° Le horn"))
    assert (horn["state"], horn["silent"], horn["lacking"]) == ("checked", [], [])
    assert next(each for words, each in covered.items() if words.startswith("Ils doivent rouler"))["state"] == "checked"


def test_a_bundle_of_before_that_says_nothing_of_sentences_still_holds() -> None:
    content = {name: value for name, value in CONTENT.items() if name != "coverage"}
    files = {**FILES, "finding.json": indented(content)}
    files["MANIFEST.sha256"] = manifest_of({name: raw for name, raw in files.items() if name != "MANIFEST.sha256"})
    assert list(checks(files))


def test_the_verdict_says_expected_recorded_difference_and_clause_in_both_languages() -> None:
    english = FILES["verdict.en.txt"].decode()
    for text in (
        "Paid too much (critical)",
        "The house paid €40.00 too much.",
        "Expected by the rules: €10.00\nRecorded by the table: €50.00\nDifference: €40.00\n",
        "Clause: art. 55-8 A 1°, art. 55-8 A intro\narrêté du 14 mai 2007, art. 55-8",
        "Events that prove it: 6, 7\n",
        "Events had been lost before this one",
    ):
        assert text in english
    french = FILES["verdict.fr.txt"].decode().replace("\N{NO-BREAK SPACE}", " ")
    for text in (
        "Paiement excessif (critique)",
        "La banque a payé 40,00 € de trop.",
        "Attendu selon les règles : 10,00 €\nEnregistré par la table : 50,00 €\nÉcart : 40,00 €\n",
        "Disposition : art. 55-8 A 1°, art. 55-8 A intro\n",
        "« Cette chance gagne avec 7 ou 11, perd avec 2, 3 ou 12. »",
    ):
        assert text in french


BUILD = """
import sys
from tests.audit.evidence.materials import small_material
from audit.evidence.bundle import bundle_of
sys.stdout.buffer.write(bundle_of(small_material()))
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
        pytest.param(
            {"TZ": "America/Montreal", "LC_ALL": "fr_CA.UTF-8", "PYTHONHASHSEED": "2", "PYTHONUTF8": "0"},
            marks=pytest.mark.faults,
        ),
        pytest.param(
            {"TZ": "UTC", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "3", "PYTHONOPTIMIZE": "1"},
            marks=pytest.mark.faults,
        ),
    ],
    ids=lambda environment: environment["TZ"],
)
def test_the_same_finding_gives_the_same_bytes_on_every_machine(environment: dict[str, str]) -> None:
    built = subprocess.run(
        [sys.executable, "-c", f"import os; os.umask(0o77)\n{BUILD}"],
        cwd=ROOT,
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        check=True,
    )
    assert built.stdout == BUNDLE


@pytest.mark.parametrize("sizes", [[5], [1, 1, 1, 1, 1], [4, 1]])
@pytest.mark.parametrize("others", [0, 1, 70])
def test_events_are_proved_whatever_their_batches(sizes: list[int], others: int) -> None:
    files = files_in(bundle_of(material(overpaid(), rule="payout-overpaid", sizes=sizes, others=others)))
    assert len(json.loads(files["batches.json"])["batches"]) == len(sizes)


CASES = [json.loads(line) for line in (ROOT / "tests" / "conformance" / "cases.jsonl").read_text().splitlines()]


def first_of_each_rule() -> dict[str, dict[str, Any]]:
    """Return, for each rule that a conformance case breaks, the first session that breaks it and could be recorded.

    The record accepts no gap but a declared one, and one event for each number; a session begins with its opener.
    """
    first: dict[str, dict[str, Any]] = {}
    for case in CASES:
        events = case["events"]
        next_seq = 1
        for event in events:
            if event["seq"] != next_seq:
                break
            next_seq = event["data"]["through"] + 1 if event["type"] == "events.lost" else next_seq + 1
        else:
            if events[0]["type"] == "session.opened":
                for finding in case["expected"]["findings"]:
                    first.setdefault(finding["rule"], case)
    return first


RULE_CASES = first_of_each_rule()


def test_the_sessions_break_nearly_every_rule() -> None:
    assert len(RULE_CASES) > 80


@pytest.mark.parametrize("rule", in_short(RULE_CASES, every=3))
def test_a_finding_of_every_rule_makes_a_bundle_that_holds(rule: str) -> None:
    sent = [{"data": {}, "v": 1} | event for event in RULE_CASES[rule]["events"]]
    files = files_in(bundle_of(material(sent, rule=rule, sizes=[len(sent)])))
    content = json.loads(files["finding.json"])
    answered = adjudicate(map(json.dumps, sent)).as_dict()["findings"]
    # What follows from a finding is known of a whole answer alone.
    assert content["finding"] in [each | {"consequences": []} for each in answered]
    assert bool(content["law"]) != bool(content["no_text"]), "a clause, or why there is none"


def test_material_that_does_not_prove_the_finding_makes_no_bundle() -> None:
    sound = small_material()
    with pytest.raises(Unproven, match="the root of its entry"):
        bundle_of(replace(sound, envelopes=[*enveloped(overpaid()[:-1]), sound.envelopes[-1].replace(b"50", b"51")]))
    with pytest.raises(Unproven, match="not in the tree"):
        bundle_of(replace(sound, batches=[*sound.batches[:-1], replace(sound.batches[-1], path=[])]))
    with pytest.raises(Unproven, match="an event that proves"):
        bundle_of(replace(sound, finding=_with_evidence(sound.finding, (6, 7, 8))))


def _with_evidence(finding: Any, evidence: tuple[int, ...]) -> Any:
    return type(finding)(
        **{name: getattr(finding, name) for name in finding.__struct_fields__} | {"evidence": evidence}
    )


def test_the_bundle_contains_the_verifier_that_checks_it() -> None:
    assert FILES["verify.py"] == (ROOT / "audit" / "evidence" / "verify.py").read_bytes()
    assert list(checks(FILES, str(SIGNER.verifier)))


def test_the_verdict_says_what_is_owed_now_and_by_whom() -> None:
    owed = CONTENT["finding"]["owed"]
    assert owed["by"] == "player"
    for language, words in (("en", "by the player to the house"), ("fr", "par le joueur à la banque")):
        assert CONTENT["written"][language]["owed"].endswith(words)
        assert CONTENT["written"][language]["owed"] in FILES[f"verdict.{language}.txt"].decode()
