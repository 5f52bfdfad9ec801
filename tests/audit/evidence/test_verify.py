"""The verifier: what holds is accepted by every Python there is, and no changed byte is.

Every byte of a bundle is changed, of the ZIP and of each file where it is unpacked. Then a forger who makes manifest
and ZIP anew, and lacks only the private key, changes every byte of what the signature covers.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
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
from tests.audit.evidence.made import ORIGIN, SIGNER, a_small_one

BUNDLE = bundle_of(a_small_one())
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
    """Return the files as a forger leaves them: some changed, the manifest made anew."""
    files = FILES | {name.replace("__", "."): raw for name, raw in changed.items()}
    return files | {"MANIFEST.sha256": manifest_of(files)}


def flipped(raw: bytes, place: int, bits: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :]


def test_the_bundle_holds() -> None:
    assert holds(FILES)
    assert holds(FILES, None)
    assert list(FILES) == sorted(FILES)


# Any byte -----------------------------------------------------------------------------------------------------------


def test_every_byte_of_the_zip_counts() -> None:
    for place in range(len(BUNDLE)):
        with pytest.raises(Unverified):
            files_in(flipped(BUNDLE, place, 1 << place % 8))


def test_every_bit_of_the_structure_of_the_zip_counts() -> None:
    contents = set()
    for raw in FILES.values():
        start = BUNDLE.index(raw)
        contents.update(range(start, start + len(raw)))
    structure = [place for place in range(len(BUNDLE)) if place not in contents]
    assert len(structure) == 76 * len(FILES) + 22 + 2 * sum(map(len, FILES))
    for place in structure:
        for bit in range(8):
            with pytest.raises(Unverified):
                files_in(flipped(BUNDLE, place, 1 << bit))


@pytest.mark.parametrize("name", FILES)
def test_every_byte_of_an_unpacked_file_counts(name: str) -> None:
    for place in range(len(FILES[name])):
        assert not holds(FILES | {name: flipped(FILES[name], place, 1 << place % 8)}), place


@pytest.mark.parametrize("name", ["checkpoint", "events.ndjson", "batches.json", "keys.json"])
def test_every_byte_of_what_is_signed_counts_even_where_manifest_and_zip_are_made_anew(name: str) -> None:
    for place in range(len(FILES[name])):
        files = FILES | {name: flipped(FILES[name], place, 1 << place % 8)}
        assert not holds(files | {"MANIFEST.sha256": manifest_of(files)}), place


@pytest.mark.parametrize("name", ["law/fr-art-55-8.txt"])
def test_every_byte_of_the_law_counts_even_where_the_manifest_is_made_anew(name: str) -> None:
    said = json.loads(FILES["finding.json"])
    for place in range(len(FILES[name])):
        with pytest.raises(Unverified):
            verify.check_law(FILES | {name: flipped(FILES[name], place, 1 << place % 8)}, said)


@given(st.data())
def test_a_byte_that_goes_or_comes_counts(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(BUNDLE) - 1))
    more = data.draw(st.binary(min_size=1, max_size=4))
    for changed in (BUNDLE[:place] + BUNDLE[place + 1 :], BUNDLE[:place] + more + BUNDLE[place:], BUNDLE + more):
        with pytest.raises(Unverified):
            files_in(changed)


# Forgeries that are well made ---------------------------------------------------------------------------------------


def lines() -> list[bytes]:
    return FILES["events.ndjson"].splitlines(keepends=True)


def said(**changed: Any) -> bytes:
    return verify.spread(json.loads(FILES["finding.json"]) | changed)


def found(**changed: Any) -> bytes:
    return said(finding=json.loads(FILES["finding.json"])["finding"] | changed)


def entries(change: Callable[[list[dict[str, Any]]], object]) -> bytes:
    batches = json.loads(FILES["batches.json"])["batches"]
    change(batches)
    return verify.spread({"batches": batches})


def signed_by_another() -> dict[str, bytes]:
    """Return a bundle in which everything holds, under a key that is not the log's but bears its name."""
    return files_in(bundle_of(a_small_one(signer=Signer(ORIGIN, bytes(32)))))


def with_another_tree() -> dict[str, bytes]:
    """Return the bundle with a root that the right key has signed, of a tree without its batches."""
    leaves = [merkle.leaf(b"%d" % number) for number in range(23)]
    return forged(checkpoint=SIGNER.note(Checkpoint(ORIGIN, 23, merkle.root(leaves)).text()).encode())


FORGERIES: dict[str, tuple[dict[str, bytes], str]] = {
    "an event left out": (forged(events__ndjson=b"".join(lines()[:3] + lines()[4:])), "has not as many events"),
    "the last event left out": (forged(events__ndjson=b"".join(lines()[:-1])), "has not as many events"),
    "an event twice": (forged(events__ndjson=b"".join([*lines(), lines()[-1]])), "events that no batch has"),
    "two events exchanged": (
        forged(events__ndjson=b"".join([*lines()[:3], lines()[4], lines()[3]])),
        "event 7 stands where 6 should",
    ),
    "a stake changed": (
        forged(events__ndjson=FILES["events.ndjson"].replace(b'"stake":1000', b'"stake":1001')),
        "the root",
    ),
    "a space in an event": (
        forged(events__ndjson=FILES["events.ndjson"].replace(b'"seq":7', b'"seq": 7')),
        "event 7 is not in its canonical form",
    ),
    "no line break at the end": (forged(events__ndjson=FILES["events.ndjson"][:-1]), "cut short"),
    "no events": (forged(events__ndjson=b""), "cut short"),
    "no batches": (forged(batches__json=entries(list.clear)), "events that no batch has"),
    "a batch left out": (forged(batches__json=entries(lambda all: all.pop(1))), "does not follow"),
    "a batch that came at another time": (
        forged(batches__json=entries(lambda all: all[2].update(entry=all[2]["entry"].replace("22:04", "22:05")))),
        "the batch of event 6 is not in the tree",
    ),
    "a batch at another place": (forged(batches__json=entries(lambda all: all[2].update(index=16))), "not in the tree"),
    "a path that is longer": (
        forged(batches__json=entries(lambda all: all[0]["path"].append("00" * 32))),
        "not in the tree",
    ),
    "a hash in capitals": (
        forged(batches__json=entries(lambda all: all[0].update(path=[each.upper() for each in all[0]["path"]]))),
        "not in the tree",
    ),
    "another tree": (with_another_tree(), "the batch of event 1 is not in the tree"),
    "another key of the same name": (signed_by_another(), "not signed by the key given with --key"),
    "another key in the bundle": (
        forged(keys__json=signed_by_another()["keys.json"]),
        "not signed by the keys of keys.json",
    ),
    "another origin": (
        forged(keys__json=verify.spread({"keys": [VKEY], "origin": "evidence.test/other"})),
        "no signed note of this log",
    ),
    "one key more": (forged(keys__json=verify.spread({"keys": [VKEY, VKEY], "origin": ORIGIN})), "in their order"),
    "no key": (forged(keys__json=verify.spread({"keys": [], "origin": ORIGIN})), "not signed by the keys"),
    "a key that is none": (forged(keys__json=verify.spread({"keys": ["a+b+c"], "origin": ORIGIN})), "is no public key"),
    "a key that is no text": (forged(keys__json=verify.spread({"keys": [7], "origin": ORIGIN})), "of a wrong type"),
    "no signature": (forged(checkpoint=FILES["checkpoint"].split(b"\n\n")[0] + b"\n\n"), "no signed note"),
    "a difference that is none": (forged(finding__json=said(difference=1)), "the difference is not"),
    "a figure that is not the one in words": (
        forged(finding__json=verify.spread(json.loads(found(recorded=6_000)) | {"difference": 5_000})),
        "recorded is not the amount that is written out",
    ),
    "another message": (
        forged(finding__json=found(message={"en": "Nothing.", "fr": "Rien."})),
        "verdict.en.txt does not say what finding.json says: Nothing.",
    ),
    "another verdict": (
        forged(verdict__fr__txt=FILES["verdict.fr.txt"].replace(b"50,00", b"40,00")),
        "verdict.fr.txt does not say",
    ),
    "evidence that is not there": (forged(finding__json=found(evidence=[6, 7, 99])), "an event that proves"),
    "evidence without the event itself": (forged(finding__json=found(evidence=[6])), "do not include its own"),
    "another casino": (forged(finding__json=said(casino="enghien")), "casino is not the one"),
    "another stream": (forged(finding__json=said(stream="x")), "of another stream"),
    "other readings": (
        forged(finding__json=said(readings={"digest": "0" * 64, "values": {}})),
        "not those of their digest",
    ),
    "another law": (forged(**{"law/fr-art-55-8__txt": b"Tout est permis."}), "is not the text that finding.json names"),
    "words that the law has not": (
        forged(finding__json=FILES["finding.json"].replace(b'"start": 175', b'"start": 174')),
        "has not the words quoted",
    ),
    "one law more": (forged(**{"law/fr-art-54__txt": b""}), "not those that the finding quotes"),
    "another format": (forged(finding__json=said(format="cabochon-evidence/v2")), "of the format cabochon-evidence/v2"),
    "a finding written otherwise": (
        forged(finding__json=json.dumps(json.loads(FILES["finding.json"])).encode()),
        "not written as bundles write it",
    ),
    "a finding with a name twice": (
        forged(finding__json=FILES["finding.json"].replace(b"{", b'{"casino": "x",', 1)),
        "a name is given twice",
    ),
    "a fraction": (forged(finding__json=said(difference=1.5)), "1.5 is no whole number"),
    "no JSON": (forged(finding__json=b"{"), "finding.json is not the JSON"),
    "bottomless JSON": (forged(finding__json=b"[" * 200_000), "finding.json"),
    "a list": (forged(finding__json=b"[]\n"), "has not the fields"),
    "half a character": (forged(finding__json=b'"\\ud800"\n'), "has not the fields"),
    "no text": (forged(events__ndjson=b"\xff\n"), "line 1 of events.ndjson"),
    "one file more": (forged(notes__txt=b""), "notes.txt is not of a bundle"),
    "one file less": ({name: raw for name, raw in FILES.items() if name != "checkpoint"}, "checkpoint is missing"),
    "a manifest of its own": (
        FILES | {"MANIFEST.sha256": FILES["MANIFEST.sha256"] + b"0" * 64 + b"  other\n"},
        "these files and no others",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_in_clear_words(name: str) -> None:
    files, why = FORGERIES[name]
    with pytest.raises(Unverified) as refused:
        list(checks(files, VKEY))
    assert why in str(refused.value)


def test_a_key_of_another_is_accepted_only_where_none_is_asked_for() -> None:
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
def test_whatever_json_a_file_has_it_is_refused_and_nothing_else_happens(value: object) -> None:
    for name in ("finding.json", "batches.json", "keys.json"):
        files = FILES | {name: verify.spread(value)}
        assert not holds(files | {"MANIFEST.sha256": manifest_of(files)})


@given(st.data())
def test_whatever_one_field_says_it_is_refused_or_changes_nothing_that_is_signed(data: st.DataObject) -> None:
    document = json.loads(FILES["finding.json"])
    name = data.draw(st.sampled_from(sorted(document)))
    document[name] = data.draw(st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.just({}))
    files = FILES | {"finding.json": verify.spread(document)}
    holds(files | {"MANIFEST.sha256": manifest_of(files)})  # which raises nothing but Unverified


# As a regulator runs it ---------------------------------------------------------------------------------------------


def run(*arguments: object, at: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the verifier by itself: without our packages, without a site, without a home."""
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


def test_it_accepts_a_bundle_and_says_the_verdict_in_both_languages(bundle: Path) -> None:
    done = run("--key", VKEY, bundle)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok      ") == 7
    assert FILES["verdict.en.txt"].decode() in done.stdout
    assert FILES["verdict.fr.txt"].decode() in done.stdout
    assert done.stdout.endswith("\nEverything holds.\n")
    assert "TAKE CARE" not in done.stdout


def test_it_warns_where_it_trusts_the_key_of_the_bundle(bundle: Path) -> None:
    done = run(bundle)
    assert done.returncode == 0
    assert "TAKE CARE: this trusts the key in the bundle." in done.stdout
    assert VKEY in done.stdout.partition("TAKE CARE")[2]


def test_it_writes_french_where_the_locale_knows_only_ascii(bundle: Path) -> None:
    done = run(bundle, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "Événements qui l’établissent" in done.stdout


def test_it_refuses_the_key_of_another(bundle: Path) -> None:
    done = run("--key", Signer(ORIGIN, bytes(32)).verifier, bundle)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "FAILED  the checkpoint is not signed by the key given with --key"


@pytest.mark.parametrize("arguments", [["missing.zip"], ["a", "b"], ["--key"], ["--help"], ["--key", "x", "missing"]])
def test_it_says_how_it_is_used_where_there_is_nothing_to_check(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, at=tmp_path)
    assert done.returncode == 2
    assert "python3 verify.py [--key VKEY] BUNDLE.zip" in done.stdout
    assert done.stderr == ""


def test_it_refuses_a_sample_of_changed_bytes(bundle: Path) -> None:
    places = random.Random(20261119).sample(range(len(BUNDLE)), 20)
    for place in [0, 10, *places, len(BUNDLE) - 1]:
        bundle.write_bytes(flipped(BUNDLE, place, 1))
        done = run(bundle)
        assert (done.returncode, done.stderr) == (1, ""), place
        assert done.stdout.splitlines()[-1].startswith("FAILED  "), place


def test_it_runs_inside_the_folder_by_the_copy_that_lies_there(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "--key", VKEY], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("--key", VKEY, folder).returncode == 0


@pytest.mark.parametrize("case", ["a file more", "a file less", "a link", "a changed file"])
def test_it_refuses_a_folder_that_is_not_just_the_bundle(folder: Path, case: str) -> None:
    match case:
        case "a file more":
            (folder / "law" / "more.txt").write_bytes(b"")
        case "a file less":
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


def test_zip_and_folder_have_one_form(folder: Path) -> None:
    assert zip_of(verify.files_under(folder)) == BUNDLE


# Its trees ----------------------------------------------------------------------------------------------------------


def test_its_trees_are_the_logs() -> None:
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
