"""Signed notes: the specification's own example, and hostile ones."""

from __future__ import annotations

import base64

import metamorphic_log
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.transparency.signed_notes import BadNote, Checkpoint, Signer, Verifier, open_checkpoint, open_note

ORIGIN = "cabochon.example/log"
SIGNER = Signer(ORIGIN, bytes(range(32)))
TREE = Checkpoint(ORIGIN, 20852163, bytes(range(32)))
NOTE = SIGNER.note(TREE.text())

# The example of the Go package golang.org/x/mod/sumdb/note, which C2SP signed-note standardised.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_a_note_of_another_implementation_opens_with_its_key() -> None:
    text = open_note(GO_NOTE, [Verifier.parse(GO_KEY)])
    assert text.startswith("If you think cryptography")
    assert text.endswith("is.\n")
    with pytest.raises(BadNote):
        open_note(GO_NOTE.replace("answer", "Answer"), [Verifier.parse(GO_KEY)])


def test_our_checkpoint_opens_here_and_in_another_implementation() -> None:
    assert open_checkpoint(NOTE, [SIGNER.verifier], origin=ORIGIN) == TREE
    head = metamorphic_log.checkpoint_verify(NOTE, [str(SIGNER.verifier)])
    assert (head.origin, head.size, head.root) == (ORIGIN, TREE.size, TREE.root)


@given(st.integers(0, len(NOTE.encode()) - 1), st.integers(1, 255))
def test_a_note_with_any_byte_changed_does_not_open(position: int, flip: int) -> None:
    changed = bytearray(NOTE.encode())
    changed[position] ^= flip
    try:
        text = bytes(changed).decode()
    except UnicodeDecodeError:
        return
    with pytest.raises(BadNote):
        open_checkpoint(text, [SIGNER.verifier], origin=ORIGIN)


def test_a_signature_has_one_spelling() -> None:
    assert NOTE.endswith("=\n")
    last = NOTE[-3]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    same_bytes = alphabet[alphabet.index(last) ^ 1]  # two of its bits are padding
    with pytest.raises(BadNote, match="not base64"):
        open_checkpoint(f"{NOTE[:-3]}{same_bytes}=\n", [SIGNER.verifier], origin=ORIGIN)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n\n",
        TREE.text(),
        TREE.text() + "\n",
        TREE.text() + "\n— x y\n",
        NOTE.rstrip("\n"),
        NOTE + "\n",
        NOTE.replace("— ", "- "),
        SIGNER.note(f"{ORIGIN}\n007\n{base64.b64encode(bytes(32)).decode()}\n"),
        SIGNER.note(f"{ORIGIN}\n7\n{base64.b64encode(bytes(31)).decode()}\n"),
        SIGNER.note(f"{ORIGIN}\n-7\n{base64.b64encode(bytes(32)).decode()}\n"),
        SIGNER.note(f"elsewhere.example/log\n7\n{base64.b64encode(bytes(32)).decode()}\n"),
        Signer(ORIGIN, bytes(32)).note(TREE.text()),
        Signer("another", bytes(range(32))).note(TREE.text()),
    ],
)
def test_anything_but_a_signed_checkpoint_of_this_log_is_refused(note: str) -> None:
    with pytest.raises(BadNote):
        open_checkpoint(note, [SIGNER.verifier], origin=ORIGIN)


def test_a_witness_may_sign_too() -> None:
    witness = Signer("witness.example", bytes(range(1, 33))).note(TREE.text()).rpartition("\n\n")[2]
    assert open_checkpoint(NOTE + witness, [SIGNER.verifier], origin=ORIGIN) == TREE


@pytest.mark.parametrize("key", ["", "a+b", "a+00000000+AQ==", str(SIGNER.verifier)[:-2], f"x{SIGNER.verifier}"])
def test_a_malformed_key_is_refused(key: str) -> None:
    with pytest.raises(BadNote):
        Verifier.parse(key)


def test_a_key_is_parsed_as_it_was_formatted() -> None:
    assert Verifier.parse(str(SIGNER.verifier)) == SIGNER.verifier
