"""Controls in texts are refused wherever they are, and the quick look never passes one over."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement import ShapeError
from settlement.codec import canonical
from settlement.plain_texts import are_surely_plain, refuse_controls
from tests.settlement.streams import event

TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = {"\N{LEFT-TO-RIGHT MARK}", "\N{RIGHT-TO-LEFT MARK}", "\N{ARABIC LETTER MARK}"}


def is_control(each: str) -> bool:
    """Say what Unicode's tables say, not what the module does."""
    turns = unicodedata.bidirectional(each) in TURNING or each in MARKS
    return unicodedata.category(each) == "Cc" or turns


def envelope_of(text: str) -> bytes:
    return canonical(event("s", 3, "x.acme.note", text=[{"of": text}]))


def is_refused(text: str) -> bool:
    try:
        refuse_controls(envelope_of(text))
    except ShapeError:
        return True
    return False


@pytest.mark.parametrize("step", [64, pytest.param(1, marks=pytest.mark.faults)])
def test_each_control_of_unicode_is_refused_and_no_other_character(step: int) -> None:
    """The short form has each control, the characters around it, and of the others every so many."""
    codes = [code for code in range(1, 0x11000) if not 0xD800 <= code < 0xE000]
    controls = {code for code in codes if is_control(chr(code))}
    around = {code + by for code in controls for by in (-1, 0, 1)}
    for code in codes:
        if code % step and code not in around:
            continue
        assert is_refused(f"a{chr(code)}b") == is_control(chr(code)), f"U+{code:04X}"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_the_quick_look_passes_no_control_over(text: str) -> None:
    if any(map(is_control, text)):
        assert not are_surely_plain([envelope_of("plain"), envelope_of(text)])


@pytest.mark.parametrize(
    "text", ["\\\\n", "\\u001b", 'a "quoted" \\', "«\N{NO-BREAK SPACE}Zoé’s\N{NARROW NO-BREAK SPACE}»"]
)
def test_backslashes_quotation_marks_and_french_are_no_controls(text: str) -> None:
    refuse_controls(envelope_of(text))


def test_a_name_of_a_field_is_a_text() -> None:
    with pytest.raises(ShapeError, match=r"/data: .*U\+0007"):
        refuse_controls(json.dumps({"data": {"a\x07": 1}}).encode())
