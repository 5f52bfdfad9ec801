"""The format in ``docs/evidence.md``: another verifier, written from that page alone, comes to the same result.

It shares nothing with ours: the ZIP is read by ``zipfile``, signatures are checked by ``cryptography``, trees are the
recursive definition of RFC 6962, and a path is followed from the root downwards.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.evidence import verify
from audit.evidence.bundle import bundle_of
from audit.evidence.verify import files_in, zip_of
from tests.audit.evidence.materials import SIGNER, approved_material, material, overpaid, small_material

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "evidence.md").read_text()


def split(size: int) -> int:
    left = 1
    while left * 2 < size:
        left *= 2
    return left


def tree_hash(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return sha256(b"\0" + leaves[0]).digest()
    left = split(len(leaves))
    return sha256(b"\1" + tree_hash(leaves[:left]) + tree_hash(leaves[left:])).digest()


def path_hash(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    if size == 1:
        assert path == []
        return sha256(b"\0" + leaf).digest()
    left, (*lower, sibling) = split(size), path
    if index < left:
        return sha256(b"\1" + path_hash(leaf, index, left, lower) + sibling).digest()
    return sha256(b"\1" + sibling + path_hash(leaf, index - left, size - left, lower)).digest()


def signed_tree(note: bytes, vkey: str) -> tuple[int, bytes]:
    text, _, signatures = note.partition(b"\n\n")
    name, key_id, key = vkey.split("+", 2)
    typed = b64decode(key)
    assert sha256(name.encode() + b"\n" + typed).hexdigest()[:8] == key_id
    lines = [line.split(" ") for line in signatures.decode().splitlines()]
    [signature] = [b64decode(encoded) for dash, signer, encoded in lines if (dash, signer) == ("—", name)]
    assert signature[:4].hex() == key_id
    Ed25519PublicKey.from_public_bytes(typed[1:]).verify(signature[4:], text + b"\n")
    _, size, root = text.decode().split("\n")
    return int(size), b64decode(root)


def another_verifier(raw: bytes, vkey: str) -> dict[str, Any]:
    """Check everything under the signature, and the law. Return the content of ``finding.json``."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for line in files.pop("MANIFEST.sha256").decode().splitlines():
        digest, name = line.split("  ")
        assert sha256(files[name]).hexdigest() == digest
    size, root = signed_tree(files["checkpoint"], vkey)
    lines = files["events.ndjson"].split(b"\n")[:-1]
    chain, next_seq = bytes(32), 1
    for batch in json.loads(files["batches.json"])["batches"]:
        entry = json.loads(batch["entry"])
        own, lines = lines[: entry["count"]], lines[entry["count"] :]
        assert entry["first_seq"] == next_seq
        for line in own:
            event = json.loads(line)
            assert event["seq"] == next_seq
            next_seq = (event["data"]["through"] if event["type"] == "events.lost" else next_seq) + 1
        assert entry["next_seq"] == next_seq
        assert tree_hash(own).hex() == entry["root"]
        numbers = entry["first_seq"].to_bytes(8, "big") + entry["count"].to_bytes(8, "big")
        chain = sha256(chain + bytes.fromhex(entry["root"]) + numbers).digest()
        assert chain.hex() == entry["chain"]
        path = [bytes.fromhex(sibling) for sibling in batch["path"]]
        assert path_hash(batch["entry"].encode(), batch["index"], size, path) == root
    assert lines == []
    content: dict[str, Any] = json.loads(files["finding.json"])
    another_verifier_of_decisions(
        content, json.loads(json.loads(files["batches.json"])["batches"][0]["entry"]), size, root
    )
    for text in content["law"]:
        assert sha256(files[text["file"]]).hexdigest() == text["sha256"]
        for quotation in text["quotations"]:
            assert files[text["file"]].decode()[quotation["start"] : quotation["end"]] == quotation["words"]
    return content


def another_verifier_of_decisions(content: dict[str, Any], of_session: dict[str, Any], size: int, root: bytes) -> None:
    officers: dict[int, set[str]] = {}
    for decision in content["corrections"]["decisions"]:
        entry, batch = decision["entry"], decision["entry"]["batch"]
        logged = json.loads(batch["entry"])
        assert (logged["casino"], logged["key"], logged["count"]) == (of_session["casino"], 0, 1)
        assert (logged["stream"], logged["first_seq"]) == (entry["stream"], entry["seq"])
        assert sha256(b"\0" + entry["event"].encode()).hexdigest() == logged["root"]
        path = [bytes.fromhex(sibling) for sibling in batch["path"]]
        assert path_hash(batch["entry"].encode(), batch["index"], size, path) == root
        assert json.loads(entry["event"]) == {
            "actor": decision["officer"],
            "data": {
                "correction": decision["correction"],
                "reason": decision["reason"],
                "session": content["stream"],
            },
            "occurred_at": decision["decided_at"],
            "seq": entry["seq"],
            "stream": entry["stream"],
            "type": f"correction.{decision['decision']}",
            "v": 1,
        }
        officers.setdefault(decision["correction"], set()).add(decision["officer"])
    assert all(len(officers[seq]) == 2 for seq in content["corrections"]["approved"])


VKEY = str(SIGNER.verifier)


@pytest.mark.parametrize("others", [0, 1, 2, 61])
def test_a_verifier_written_from_the_page_accepts_it(others: int) -> None:
    raw = bundle_of(material(overpaid(), rule="payout-overpaid", sizes=[1, 3, 1], others=others))
    assert another_verifier(raw, VKEY)["difference"] == 4_000


def test_a_verifier_written_from_the_page_refuses_what_ours_refuses() -> None:
    files = files_in(bundle_of(small_material()))
    forged = {
        "events.ndjson": files["events.ndjson"].replace(b'"stake":1000', b'"stake":1001'),
        "checkpoint": files["checkpoint"].replace(b"\n23\n", b"\n24\n"),
        "batches.json": files["batches.json"].replace(b'"index": 5', b'"index": 4'),
        "law/fr-art-55-8.txt": files["law/fr-art-55-8.txt"].replace("égalité".encode(), b"2 pour 1"),
    }
    for name, raw in forged.items():
        assert raw != files[name]
        changed = files | {name: raw}
        changed["MANIFEST.sha256"] = verify.manifest_of(changed)
        with pytest.raises((AssertionError, InvalidSignature)):
            another_verifier(zip_of(changed), VKEY)
        with pytest.raises(verify.Unverified):
            list(verify.checks(changed, VKEY))


def test_a_verifier_written_from_the_page_accepts_decisions_and_refuses_altered_ones() -> None:
    raw = bundle_of(approved_material())
    assert len(another_verifier(raw, VKEY)["corrections"]["decisions"]) == 2
    files = files_in(raw)
    files["finding.json"] = files["finding.json"].replace(b"denis", b"emile")
    files["MANIFEST.sha256"] = verify.manifest_of(files)
    with pytest.raises(AssertionError):
        another_verifier(zip_of(files), VKEY)


def test_the_page_names_every_file_and_every_field() -> None:
    files = files_in(bundle_of(approved_material()))
    for name in files:
        assert f"`{name}`" in PAGE or name.startswith("law/"), name
    entry = json.loads(json.loads(files["batches.json"])["batches"][0]["entry"])
    content = json.loads(files["finding.json"])
    [decision, _second] = content["corrections"]["decisions"]
    of_corrections = (*content["corrections"], *decision, *decision["entry"], *decision["entry"]["batch"])
    of_law = (*content["law"][0], *content["law"][0]["quotations"][0])
    for name in (*entry, *content, *content["finding"], *of_law, *of_corrections):
        assert re.search(rf"`{name}`", PAGE), name
    assert verify.FORMAT in PAGE
