"""Counts in what a command prints, and amounts of what-if runs without a sign."""

from __future__ import annotations

import pytest

from audit.adjudication.what_if import Total
from audit.management.commands.replay import _paid_otherwise
from audit.management.counted import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("stream",), "0 streams"),
        (1, ("stream",), "1 stream"),
        (2_000, ("stream",), "2,000 streams"),
        (1, ("batch", "batches"), "1 batch"),
        (2, ("batch", "batches"), "2 batches"),
    ],
)
def test_a_count_agrees_with_its_noun(number: int, words: tuple[str, ...], text: str) -> None:
    assert counted(number, *words) == text


@pytest.mark.parametrize(
    ("rule", "text"),
    [("payout-underpaid", "€8.64 owed to players → €0.00"), ("dice-set-not-six", "")],
)
def test_what_a_what_if_run_pays_otherwise_has_no_sign(rule: str, text: str) -> None:
    assert _paid_otherwise(Total(rule, "EUR", before_minor=-864, after_minor=0)) == text
