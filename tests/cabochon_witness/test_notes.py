"""Notes and cosignatures, against what others have signed; consistency proofs, against another verifier."""

from __future__ import annotations

import base64

import metamorphic_log
import pytest

from audit.evidence import verify
from audit.transparency.cosignatures import WitnessKey
from cabochon_witness.merkle import EMPTY_ROOT, extends
from cabochon_witness.notes import LOG_KEY, WITNESS_KEY, BadNote, Checkpoint, CosigningKey, NotSigned, PublicKey
from tests.cabochon_witness.logs import Log

# A checkpoint of a log of certificates, published with its cosignatures; the keys as their owners publish them.
PUBLISHED = """\
arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
"""  # noqa: E501
LOG = "arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f"
WITNESSES = [
    "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
    "witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO",
]

SIZES = [*range(1, 34), 63, 64, 65, 127, 128, 129, 255, 256, 257]


def test_a_published_checkpoint_is_signed_by_its_log() -> None:
    [line] = Checkpoint.parse(PUBLISHED).signed_by([PublicKey.parse(LOG, LOG_KEY)])
    assert "ui8GwCF1" in line


@pytest.mark.parametrize("vkey", WITNESSES)
def test_published_cosignatures_hold_and_give_their_time(vkey: str) -> None:
    key = PublicKey.parse(vkey, WITNESS_KEY)
    assert Checkpoint.parse(PUBLISHED).cosigned_at(key) == 1_779_573_024
    assert Checkpoint.parse(PUBLISHED.replace("1432088532", "1432088533")).cosigned_at(key) is None


@pytest.mark.parametrize("vkey", WITNESSES)
def test_the_record_and_the_verifier_of_bundles_read_the_published_cosignatures_too(vkey: str) -> None:
    text, _, lines = PUBLISHED.partition("\n\n")
    key = WitnessKey.parse(vkey)
    assert [time_s for line in lines.splitlines() if (time_s := key.time_of(line, f"{text}\n"))] == [1_779_573_024]
    signatures = [(line.split(" ")[1], base64.b64decode(line.split(" ")[2])) for line in lines.splitlines()]
    seen = verify.cosigned_at(verify.key_of(vkey, 4), signatures, f"{text}\n".encode())
    assert seen == "2026-05-23 21:50:24 UTC"
    with pytest.raises(verify.Unverified):
        verify.cosigned_at(verify.key_of(vkey, 4), signatures, f"{text}x\n".encode())


def test_a_checkpoint_of_another_text_is_not_signed() -> None:
    with pytest.raises(NotSigned):
        Checkpoint.parse(PUBLISHED.replace("\n14", "\n15")).signed_by([PublicKey.parse(LOG, LOG_KEY)])


def test_a_cosignature_binds_its_time() -> None:
    key = CosigningKey("witness.example/w1", b"w" * 32)
    note = Log().note(7)
    line = key.cosign(Checkpoint.parse(note).text, 1_700_000_000)
    assert Checkpoint.parse(note + line).cosigned_at(key.public) == 1_700_000_000
    id_and_time = key.public.key_id + (1_700_000_001).to_bytes(8, "big")
    other = Checkpoint.parse(note + _with_head(line, id_and_time))
    assert other.cosigned_at(key.public) is None


def _with_head(line: str, head: bytes) -> str:
    name, encoded = line.split(" ")[1:]
    raw = base64.b64decode(encoded)
    return f"— {name} {base64.b64encode(head + raw[len(head) :]).decode()}\n"


def test_a_key_is_read_from_its_file_and_no_other_content() -> None:
    key = CosigningKey("witness.example/w1", b"w" * 32)
    assert CosigningKey.from_file(key.as_file()).public == key.public
    assert PublicKey.parse(str(key.public), WITNESS_KEY) == key.public
    damaged = key.as_file().replace("+KEY+witness", "+KEY+another")
    for content in ("", "PRIVATE+KEY+a+b+c", damaged, key.as_file().replace("B", "C")):
        with pytest.raises(BadNote):
            CosigningKey.from_file(content)
    with pytest.raises(BadNote):
        PublicKey.parse(LOG, WITNESS_KEY)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n\n",
        "a\n1\n",
        PUBLISHED.replace("\n1432088532", "\n01432088532"),
        PUBLISHED.replace("\n1432088532", "\n9999999999999999999"),
        PUBLISHED.replace("4Ro=", "4Rp="),
        PUBLISHED.rstrip("\n"),
        PUBLISHED + "— witness.example AAAA\n",
        PUBLISHED + "- witness.example AAAAAAAA\n",
        PUBLISHED + "— witness.example AAAAAAAAAA\n" * 64,
    ],
    ids=range(10),
)
def test_a_malformed_note_is_not_a_checkpoint(note: str) -> None:
    with pytest.raises(BadNote):
        Checkpoint.parse(note)


@pytest.mark.parametrize("size", SIZES)
def test_a_consistency_proof_holds_where_another_verifier_says_so(size: int) -> None:
    log = Log()
    for old in {1, 2, 3, size // 2, size - 1, size} & set(range(1, size + 1)):
        roots, proof = (log.root_of(0, old), log.root_of(0, size)), log.proof(old, size)
        wrong = [proof[:-1], [*proof, log.leaves[0]], proof[::-1], [*proof[1:]], [], [log.leaves[0], *proof]]
        for each in (proof, *wrong, *([*proof[:i], log.leaves[-1], *proof[i + 1 :]] for i in range(len(proof)))):
            try:
                metamorphic_log.verify_consistency(old, size, each, *roots)
                holds = True
            except metamorphic_log.VerifyError:
                holds = False
            assert extends(old, roots[0], size, roots[1], each) == holds, (old, size, each)
        assert extends(old, roots[0], size, roots[1], proof)
        assert not extends(old, log.leaves[-1], size, roots[1], proof)
        assert not extends(old, roots[0], size, log.leaves[-1], proof)


def test_every_tree_extends_the_empty_one_without_a_proof() -> None:
    log = Log()
    assert extends(0, EMPTY_ROOT, 5, log.root_of(0, 5), [])
    assert not extends(0, EMPTY_ROOT, 5, log.root_of(0, 5), [log.leaves[0]])
    assert not extends(6, log.root_of(0, 6), 5, log.root_of(0, 5), [log.leaves[0]])
