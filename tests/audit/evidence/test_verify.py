"""The verifier accepts a sound bundle on every Python, and refuses every changed byte.

Every byte of a bundle is changed, in the ZIP and in each unpacked file. Then a forger who remakes manifest and ZIP, and
lacks only the private key, changes every byte of what the signature covers.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.event_store import merkle
from audit.evidence import verify
from audit.evidence.bundle import bundle_of
from audit.evidence.verify import Unverified, checks, files_in, manifest_of, zip_of
from audit.transparency.signed_notes import Checkpoint, Signer
from cabochon_witness.notes import CosigningKey
from tests.audit.evidence.materials import ORIGIN, SIGNER, small_material

BUNDLE = bundle_of(small_material())
FILES = files_in(BUNDLE)
VKEY = str(SIGNER.verifier)
VERIFIER = Path(verify.__file__)


def holds(files: dict[str, bytes], vkey: str | None = VKEY) -> bool:
    try:
        for _ in checks(files, vkey):
            continue
    except Unverified:
        return False
    return True


def forged(**changed: bytes) -> dict[str, bytes]:
    """Return the files as a forger leaves them: some changed, the manifest remade."""
    files = FILES | {name.replace("__", "."): raw for name, raw in changed.items()}
    return files | {"MANIFEST.sha256": manifest_of(files)}


def flipped(raw: bytes, position: int, bits: int) -> bytes:
    return raw[:position] + bytes([raw[position] ^ bits]) + raw[position + 1 :]


def test_the_bundle_holds() -> None:
    assert holds(FILES)
    assert holds(FILES, None)
    assert list(FILES) == sorted(FILES)


# Any byte -----------------------------------------------------------------------------------------------------------


EVERY = [37, pytest.param(1, marks=pytest.mark.faults)]
"""How far the bytes that are tried lie apart: a prime, so that no field of the formats is passed over."""


@pytest.mark.parametrize("step", EVERY)
def test_every_byte_of_the_zip_counts(step: int) -> None:
    for position in range(0, len(BUNDLE), step):
        with pytest.raises(Unverified):
            files_in(flipped(BUNDLE, position, 1 << position % 8))


@pytest.mark.parametrize("bits", [1, pytest.param(8, marks=pytest.mark.faults)])
def test_every_bit_of_the_structure_of_the_zip_counts(bits: int) -> None:
    """In the short form one bit of each byte, another one from byte to byte."""
    contents = set()
    for raw in FILES.values():
        start = BUNDLE.index(raw)
        contents.update(range(start, start + len(raw)))
    structure = [position for position in range(len(BUNDLE)) if position not in contents]
    assert len(structure) == 76 * len(FILES) + 22 + 2 * sum(map(len, FILES))
    for position in structure:
        for bit in range(position, position + bits):
            with pytest.raises(Unverified):
                files_in(flipped(BUNDLE, position, 1 << bit % 8))


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("name", FILES)
def test_every_byte_of_an_unpacked_file_counts(name: str, step: int) -> None:
    for position in range(0, len(FILES[name]), step):
        assert not holds(FILES | {name: flipped(FILES[name], position, 1 << position % 8)}), position


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("name", ["checkpoint", "events.ndjson", "batches.json", "keys.json"])
def test_every_byte_of_what_is_signed_counts_even_if_manifest_and_zip_are_remade(name: str, step: int) -> None:
    for position in range(0, len(FILES[name]), step):
        files = FILES | {name: flipped(FILES[name], position, 1 << position % 8)}
        assert not holds(files | {"MANIFEST.sha256": manifest_of(files)}), position


@pytest.mark.parametrize("name", ["law/fr-art-55-8.txt"])
def test_every_byte_of_the_law_counts_even_if_the_manifest_is_remade(name: str) -> None:
    content = json.loads(FILES["finding.json"])
    for position in range(len(FILES[name])):
        with pytest.raises(Unverified):
            verify.check_law(FILES | {name: flipped(FILES[name], position, 1 << position % 8)}, content)


@given(st.data())
def test_a_removed_or_added_byte_counts(data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(BUNDLE) - 1))
    more = data.draw(st.binary(min_size=1, max_size=4))
    for changed in (
        BUNDLE[:position] + BUNDLE[position + 1 :],
        BUNDLE[:position] + more + BUNDLE[position:],
        BUNDLE + more,
    ):
        with pytest.raises(Unverified):
            files_in(changed)


# A part of it ---------------------------------------------------------------------------------------------------------


def why_not(files: dict[str, bytes]) -> str:
    """Return why the verifier refuses files; "" if everything holds."""
    try:
        for _ in checks(files, VKEY):
            continue
    except Unverified as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing_cut_off_or_in_another_order_is_named(name: str) -> None:
    lines_of_it = FILES[name].splitlines(keepends=True)
    middle = len(lines_of_it) // 2
    parts = {
        "half": FILES[name][: len(FILES[name]) // 2],
        "all but the last byte": FILES[name][:-1],
        "no byte": b"",
        "without a line in the middle": b"".join([*lines_of_it[:middle], *lines_of_it[middle + 1 :]]),
        "another order": b"".join(reversed(lines_of_it)),
    }
    for what, raw in parts.items():
        if raw != FILES[name]:  # a text of law may be of one line
            assert name in why_not(FILES | {name: raw}), what
    assert f"{name} is missing" in why_not({each: raw for each, raw in FILES.items() if each != name})


def test_the_files_of_a_zip_are_named_too_if_it_was_made_anew_without_one() -> None:
    for name in FILES:
        assert f"{name} is missing" in why_not(files_in(zip_of({each: FILES[each] for each in FILES if each != name})))
    turned = dict(reversed(FILES.items()))
    assert files_in(zip_of(turned)) == FILES, "a ZIP has one order, however its files come"


# Careful forgeries --------------------------------------------------------------------------------------------------


def lines() -> list[bytes]:
    return FILES["events.ndjson"].splitlines(keepends=True)


def finding_json(**changed: Any) -> bytes:
    return verify.indented(json.loads(FILES["finding.json"]) | changed)


def with_finding(**changed: Any) -> bytes:
    return finding_json(finding=json.loads(FILES["finding.json"])["finding"] | changed)


def entries(change: Callable[[list[dict[str, Any]]], object]) -> bytes:
    batches = json.loads(FILES["batches.json"])["batches"]
    change(batches)
    return verify.indented({"batches": batches})


def signed_by_another() -> dict[str, bytes]:
    """Return a bundle in which everything holds, under a key that has the log's name but is not its key."""
    return files_in(bundle_of(small_material(signer=Signer(ORIGIN, bytes(32)))))


def with_another_tree() -> dict[str, bytes]:
    """Return the bundle with a root that the right key signed, of a tree without its batches."""
    leaves = [merkle.leaf(b"%d" % number) for number in range(23)]
    return forged(checkpoint=SIGNER.note(Checkpoint(ORIGIN, 23, merkle.root(leaves)).text()).encode())


FORGERIES: dict[str, tuple[dict[str, bytes], str]] = {
    "an event left out": (forged(events__ndjson=b"".join(lines()[:3] + lines()[4:])), "does not have as many events"),
    "the last event left out": (forged(events__ndjson=b"".join(lines()[:-1])), "does not have as many events"),
    "an event twice": (forged(events__ndjson=b"".join([*lines(), lines()[-1]])), "events that are in no batch"),
    "two events exchanged": (
        forged(events__ndjson=b"".join([*lines()[:3], lines()[4], lines()[3]])),
        "event 7 is where 6 should be",
    ),
    "a stake changed": (
        forged(events__ndjson=FILES["events.ndjson"].replace(b'"stake":1000', b'"stake":1001')),
        "the root",
    ),
    "a space in an event": (
        forged(events__ndjson=FILES["events.ndjson"].replace(b'"seq":7', b'"seq": 7')),
        "event 7 is not in its canonical form",
    ),
    "no line break at the end": (forged(events__ndjson=FILES["events.ndjson"][:-1]), "truncated"),
    "no events": (forged(events__ndjson=b""), "truncated"),
    "no batches": (forged(batches__json=entries(list.clear)), "events that are in no batch"),
    "a batch left out": (forged(batches__json=entries(lambda all: all.pop(1))), "does not follow"),
    "a batch received at another time": (
        forged(batches__json=entries(lambda all: all[2].update(entry=all[2]["entry"].replace("22:04", "22:05")))),
        "the batch of event 6 of deauville.C1.2026-11-19.1 is not in the tree",
    ),
    "a batch at another index": (forged(batches__json=entries(lambda all: all[2].update(index=16))), "not in the tree"),
    "a path that is longer": (
        forged(batches__json=entries(lambda all: all[0]["path"].append("00" * 32))),
        "not in the tree",
    ),
    "a hash in capitals": (
        forged(batches__json=entries(lambda all: all[0].update(path=[each.upper() for each in all[0]["path"]]))),
        "not in the tree",
    ),
    "another tree": (with_another_tree(), "the batch of event 1 of deauville.C1.2026-11-19.1 is not in the tree"),
    "another key of the same name": (signed_by_another(), "not signed by the key given with --key"),
    "another key in the bundle": (
        forged(keys__json=signed_by_another()["keys.json"]),
        "not signed by the keys of keys.json",
    ),
    "another origin": (
        forged(keys__json=verify.indented({"keys": [VKEY], "origin": "evidence.test/other"})),
        "not a signed note of this log",
    ),
    "an extra key": (forged(keys__json=verify.indented({"keys": [VKEY, VKEY], "origin": ORIGIN})), "in their order"),
    "no key": (forged(keys__json=verify.indented({"keys": [], "origin": ORIGIN})), "not signed by the keys"),
    "a malformed key": (
        forged(keys__json=verify.indented({"keys": ["a+b+c"], "origin": ORIGIN})),
        "is not a public key",
    ),
    "a key that is not text": (forged(keys__json=verify.indented({"keys": [7], "origin": ORIGIN})), "has a wrong type"),
    "no signature": (forged(checkpoint=FILES["checkpoint"].split(b"\n\n")[0] + b"\n\n"), "not a signed note"),
    "a wrong difference": (forged(finding__json=finding_json(difference=1)), "the difference is not"),
    "a figure that is not the one in its text": (
        forged(finding__json=verify.indented(json.loads(with_finding(recorded=6_000)) | {"difference": 5_000})),
        "recorded is not the amount in its text",
    ),
    "another message": (
        forged(finding__json=with_finding(message={"en": "Nothing.", "fr": "Rien."})),
        "verdict.en.txt does not say what finding.json says: Nothing.",
    ),
    "another verdict": (
        forged(verdict__fr__txt=FILES["verdict.fr.txt"].replace(b"50,00", b"40,00")),
        "verdict.fr.txt does not say",
    ),
    "missing evidence": (forged(finding__json=with_finding(evidence=[6, 7, 99])), "an event that proves"),
    "evidence without the event itself": (forged(finding__json=with_finding(evidence=[6])), "do not include its own"),
    "another casino": (forged(finding__json=finding_json(casino="enghien")), "casino is not the one"),
    "another stream": (forged(finding__json=finding_json(stream="x")), "of another stream"),
    "other readings": (
        forged(finding__json=finding_json(readings={"digest": "0" * 64, "values": {}})),
        "do not have their digest",
    ),
    "another law": (forged(**{"law/fr-art-55-8__txt": b"Tout est permis."}), "is not the text that finding.json names"),
    "a quotation that is not in the law": (
        forged(finding__json=FILES["finding.json"].replace(b'"start": 210', b'"start": 209')),
        "does not have the quoted words",
    ),
    "an extra text of law": (forged(**{"law/fr-art-54__txt": b""}), "not those that the finding quotes"),
    "another format": (
        forged(finding__json=finding_json(format="cabochon-evidence/v2")),
        "of the format cabochon-evidence/v2",
    ),
    "a finding in another format": (
        forged(finding__json=json.dumps(json.loads(FILES["finding.json"])).encode()),
        "not formatted as in a bundle",
    ),
    "a finding with a name twice": (
        forged(finding__json=FILES["finding.json"].replace(b"{", b'{"casino": "x",', 1)),
        "a name is given twice",
    ),
    "a fraction": (forged(finding__json=finding_json(difference=1.5)), "1.5 is not an integer"),
    "not JSON": (forged(finding__json=b"{"), "finding.json is not the JSON"),
    "deeply nested JSON": (forged(finding__json=b"[" * 200_000), "finding.json"),
    "a list": (forged(finding__json=b"[]\n"), "does not have the fields"),
    "a lone surrogate": (forged(finding__json=b'"\\ud800"\n'), "does not have the fields"),
    "not UTF-8": (forged(events__ndjson=b"\xff\n"), "line 1 of events.ndjson"),
    "an extra file": (forged(notes__txt=b""), "notes.txt is not a file of a bundle"),
    "a missing file": ({name: raw for name, raw in FILES.items() if name != "checkpoint"}, "checkpoint is missing"),
    "a manifest with an extra line": (
        FILES | {"MANIFEST.sha256": FILES["MANIFEST.sha256"] + b"0" * 64 + b"  other\n"},
        "other is missing, and MANIFEST.sha256 has its digest",
    ),
    "a manifest with a line twice": (
        FILES | {"MANIFEST.sha256": FILES["MANIFEST.sha256"] + FILES["MANIFEST.sha256"].splitlines(keepends=True)[0]},
        "a line twice, another order, or another end",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_with_the_reason(name: str) -> None:
    files, why = FORGERIES[name]
    with pytest.raises(Unverified) as refused:
        list(checks(files, VKEY))
    assert why in str(refused.value)


WITNESS = CosigningKey("witness.example/w1", b"w" * 32)
OTHER_WITNESS = CosigningKey("witness.example/w2", b"v" * 32)


def cosigned(*witnesses: CosigningKey, time_s: int = 1_700_000_000, at_front: bool = False) -> dict[str, bytes]:
    """Return the bundle with cosignatures that the code of the witness made, which shares nothing with the verifier."""
    note = FILES["checkpoint"].decode()
    text, _, signatures = note.partition("\n\n")
    lines = "".join(each.cosign(f"{text}\n", time_s) for each in witnesses)
    content = f"{text}\n\n{lines}{signatures}" if at_front else note + lines
    return forged(checkpoint=content.encode())


def test_a_cosignature_is_checked_where_its_witness_is_given_and_passed_over_elsewhere() -> None:
    files = cosigned(OTHER_WITNESS, WITNESS)
    assert holds(files)
    printed = list(checks(files, VKEY, [str(WITNESS.public), str(OTHER_WITNESS.public)]))
    assert "witness: witness.example/w1 cosigned the checkpoint at 2023-11-14 22:13:20 UTC" in printed
    assert "witness: witness.example/w2 cosigned the checkpoint at 2023-11-14 22:13:20 UTC" in printed


def wrong_cosignature() -> dict[str, bytes]:
    """Return the bundle with a cosignature of the witness on another checkpoint."""
    line = WITNESS.cosign("evidence.test/log\n7\n" + "A" * 43 + "=\n", 1_700_000_000)
    return forged(checkpoint=FILES["checkpoint"] + line.encode())


UNWITNESSED: dict[str, tuple[dict[str, bytes], str, str]] = {
    "no cosignature": (FILES, str(WITNESS.public), "is not cosigned by the witness witness.example/w1"),
    "another's": (cosigned(OTHER_WITNESS), str(WITNESS.public), "is not cosigned by the witness witness.example/w1"),
    "of another checkpoint": (wrong_cosignature(), str(WITNESS.public), "is not over this checkpoint"),
    "a time beyond all calendars": (cosigned(WITNESS, time_s=1 << 62), str(WITNESS.public), "is not over this"),
    "the log's own key": (cosigned(WITNESS), VKEY, "is not a public key"),
    "twice": (cosigned(WITNESS, WITNESS), str(WITNESS.public), "each once"),
    "before the log's signature": (cosigned(WITNESS, at_front=True), str(WITNESS.public), "in their order"),
    "a malformed key": (cosigned(WITNESS), "a+b+c", "is not a public key"),
}


@pytest.mark.parametrize("name", UNWITNESSED)
def test_a_bundle_that_the_witness_did_not_cosign_is_refused_with_the_reason(name: str) -> None:
    files, vkey, why = UNWITNESSED[name]
    with pytest.raises(Unverified) as refused:
        list(checks(files, VKEY, [vkey]))
    assert why in str(refused.value)


def test_the_command_takes_a_key_and_witnesses_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zip_of(cosigned(WITNESS)))

    def run(*options: str) -> tuple[int, str]:
        words = [sys.executable, str(VERIFIER), *options, str(tmp_path / "b.zip")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    key, witness = ("--key", VKEY), ("--witness", str(WITNESS.public))
    for options in (key + witness, witness + key):
        status, printed = run(*options)
        assert status == 0
        assert "ok      witness: witness.example/w1 cosigned" in printed
        assert "TAKE CARE" not in printed
    assert run(*witness)[0] == 0
    status, printed = run(*key, "--witness", str(OTHER_WITNESS.public))
    assert (status, printed.splitlines()[-1][:6]) == (1, "FAILED")


def test_another_key_is_accepted_only_if_no_key_is_given() -> None:
    assert holds(signed_by_another(), None)
    assert not holds(signed_by_another(), VKEY)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda each: (
            st.lists(each)
            | st.dictionaries(
                st.sampled_from(["batches", "entry", "index", "path", "keys", "origin", "finding", "law"]), each
            )
        ),
        max_leaves=20,
    )
)
def test_any_other_json_is_refused_and_raises_nothing_else(value: object) -> None:
    for name in ("finding.json", "batches.json", "keys.json"):
        files = FILES | {name: verify.indented(value)}
        assert not holds(files | {"MANIFEST.sha256": manifest_of(files)})


@given(st.data())
def test_any_value_of_any_field_raises_nothing_but_unverified(data: st.DataObject) -> None:
    document = json.loads(FILES["finding.json"])
    name = data.draw(st.sampled_from(sorted(document)))
    document[name] = data.draw(st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.just({}))
    files = FILES | {"finding.json": verify.indented(document)}
    holds(files | {"MANIFEST.sha256": manifest_of(files)})  # which raises nothing but Unverified


# As a regulator runs it ---------------------------------------------------------------------------------------------


def run(*arguments: object, at: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the verifier alone: without our packages, site-packages or a home folder."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(VERIFIER), *map(str, arguments)],
        cwd=at,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.zip"
    path.write_bytes(BUNDLE)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, raw in FILES.items():
        path = tmp_path / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return tmp_path / "unpacked"


def test_it_accepts_a_bundle_and_prints_the_verdict_in_both_languages(bundle: Path) -> None:
    done = run("--key", VKEY, bundle)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok      ") == 8
    for language in ("en", "fr"):
        lines = FILES[f"verdict.{language}.txt"].decode()[:-1].split("\n")
        assert "".join(f"  | {line}\n" for line in lines) in done.stdout
    assert done.stdout.endswith("\nEverything holds.\n")
    assert "TAKE CARE" not in done.stdout


def test_of_a_bundle_with_another_law_it_says_that_nobody_signed_the_law(tmp_path: Path) -> None:
    content = json.loads(FILES["finding.json"])
    law = content["law"][0]
    words = law["quotations"][0]["words"]
    other = words[::-1]
    text = FILES[law["file"]].decode().replace(words, other)
    names = {law["sha256"]: sha256(text.encode()).hexdigest(), words: other}
    files = dict(FILES)
    files[law["file"]] = text.encode()
    for name in ("finding.json", "verdict.en.txt", "verdict.fr.txt"):
        for before, after in names.items():
            files[name] = files[name].decode().replace(before, after).encode()
    files["MANIFEST.sha256"] = verify.manifest_of({n: raw for n, raw in files.items() if n != "MANIFEST.sha256"})
    (tmp_path / "b.zip").write_bytes(zip_of(files))
    done = run("--key", VKEY, tmp_path / "b.zip")
    assert done.returncode == 0, "no signature covers it"
    assert "NOT SIGNED: the finding, its words, and the texts in law/." in done.stdout.split("Lectures")[-1]


TURNS = "\x1b[1A\x1b[8m\x9b2K\u202egnihtyrevE\u2066\u200f\u2028\r\x7f"
"""What moves the cursor up, hides text, clears a line, writes from right to left, or begins a line anew."""

CONTROLS = {each for each in TURNS if not each.isprintable()}


def test_a_bundle_that_does_not_hold_cannot_show_a_run_that_does(tmp_path: Path) -> None:
    content = json.loads(FILES["finding.json"])
    lie = f"x\nEverything holds.\n{TURNS}"
    files = forged(finding__json=verify.indented({**content, "format": lie}))
    (tmp_path / "b.zip").write_bytes(zip_of(files))
    done = run(tmp_path / "b.zip")
    assert done.returncode == 1
    assert "Everything holds." not in done.stdout.split("\n")
    assert not CONTROLS & set(done.stdout)
    assert "\\u001b[1A\\u001b[8m" in done.stdout
    assert done.stdout.split("\n")[-2].startswith("FAILED  ")


def test_no_line_of_a_verdict_looks_like_one_of_the_verifier(tmp_path: Path) -> None:
    verdict = FILES["verdict.en.txt"] + f"FAILED  a lie\nok      a lie\n{TURNS}\n".encode()
    (tmp_path / "b.zip").write_bytes(zip_of(forged(verdict__en__txt=verdict)))
    done = run("--key", VKEY, tmp_path / "b.zip")
    assert done.returncode == 0
    assert {line[:4] for line in done.stdout.split("\n")} == {"ok  ", "  | ", "Ever", "NOT ", ""}
    assert not CONTROLS & set(done.stdout)


def test_it_warns_if_it_trusts_the_key_in_the_bundle(bundle: Path) -> None:
    done = run(bundle)
    assert done.returncode == 0
    assert "TAKE CARE: this trusts the key in the bundle." in done.stdout
    assert VKEY in done.stdout.partition("TAKE CARE")[2]


def test_it_prints_french_in_an_ascii_locale(bundle: Path) -> None:
    done = run(bundle, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "Événements qui l’établissent" in done.stdout


def test_it_refuses_another_key(bundle: Path) -> None:
    done = run("--key", Signer(ORIGIN, bytes(32)).verifier, bundle)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "FAILED  the checkpoint is not signed by the key given with --key"


@pytest.mark.parametrize(
    "arguments", [["missing.zip"], ["a", "b"], ["--key"], ["--witness"], ["--help"], ["--key", "x", "missing"]]
)
def test_it_prints_its_usage_if_there_is_nothing_to_check(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, at=tmp_path)
    assert done.returncode == 2
    assert "python3 verify.py [--key VKEY] [--witness VKEY] BUNDLE.zip" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("size", [3, pytest.param(20, marks=pytest.mark.faults)])
def test_it_refuses_a_sample_of_changed_bytes(bundle: Path, size: int) -> None:
    positions = random.Random(20261119).sample(range(len(BUNDLE)), size)
    for position in [0, 10, *positions, len(BUNDLE) - 1]:
        bundle.write_bytes(flipped(BUNDLE, position, 1))
        done = run(bundle)
        assert (done.returncode, done.stderr) == (1, ""), position
        assert done.stdout.splitlines()[-1].startswith("FAILED  "), position


def test_it_says_that_a_bundle_was_cut_off(bundle: Path) -> None:
    for size in (len(BUNDLE) - 1, len(BUNDLE) // 2, BUNDLE.index(b"law/") + 4, 0):
        bundle.write_bytes(BUNDLE[:size])
        done = run(bundle)
        assert (done.returncode, done.stderr) == (1, ""), size
        assert done.stdout.startswith("FAILED  the file does not end as a bundle does: it was cut off"), size


def test_the_copy_in_an_unpacked_bundle_verifies_it(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "--key", VKEY], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("--key", VKEY, folder).returncode == 0


@pytest.mark.parametrize("case", ["an extra file", "a missing file", "a link", "a changed file"])
def test_it_refuses_a_folder_that_is_not_exactly_the_bundle(folder: Path, case: str) -> None:
    match case:
        case "an extra file":
            (folder / "law" / "more.txt").write_bytes(b"")
        case "a missing file":
            (folder / "README.fr.txt").unlink()
        case "a link":
            (folder / "checkpoint").rename(folder.parent / "checkpoint")
            (folder / "checkpoint").symlink_to(folder.parent / "checkpoint")
        case "a changed file":
            (folder / "verify.py").write_bytes(FILES["verify.py"] + b"\n")
    done = run(folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("FAILED  ")


def test_the_manifest_is_one_that_sha256sum_reads(folder: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "MANIFEST.sha256"], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.count(b": OK\n") == len(FILES) - 1


def test_it_needs_nothing_but_the_standard_library_of_python_3_9(bundle: Path) -> None:
    ast.parse(VERIFIER.read_text(), feature_version=(3, 9))
    tried = 0
    for name in ("python3.9", "python3.10", "python3.11", "python3.12", "python3.13"):
        try:
            done = subprocess.run([name, "-I", VERIFIER, bundle], capture_output=True, check=False)
        except OSError:
            continue
        if b"Everything holds." in done.stdout:
            tried += 1
        else:
            assert b"command exists in these Python versions" in done.stderr, done.stderr
    assert tried >= 1


def test_zip_and_folder_have_the_same_files(folder: Path) -> None:
    assert zip_of(verify.files_under(folder)) == BUNDLE


# Its trees ----------------------------------------------------------------------------------------------------------


def test_its_trees_are_those_of_the_log() -> None:
    leaves = [merkle.leaf(b"%d" % number) for number in range(70)]
    for size in range(1, 71):
        root = verify.root_of(leaves[:size])
        assert root == merkle.root(leaves[:size])
        for index in range(size):
            path = merkle.inclusion(index, size, lambda low, high: merkle.root(leaves[low:high]))
            assert verify.root_by_path(leaves[index], index, size, path) == root
            assert verify.root_by_path(leaves[index], index, size, [*path, root]) is None
            if path:
                assert verify.root_by_path(leaves[index], index, size, path[1:]) is None
