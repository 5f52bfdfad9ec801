"""A test of many cases fails with the error of each that does, and runs the others."""

from __future__ import annotations

import pytest

from tests.one_by_one import one_by_one


def test_it_fails_with_every_case_that_does_and_names_it() -> None:
    seen = []

    def is_even(case: int) -> None:
        seen.append(case)
        assert case % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 4 fail") as failed:
        one_by_one([1, 2, 3, 4], lambda case: f"case {case}")(is_even)()
    assert seen == [1, 2, 3, 4]
    assert [error.__notes__ for error in failed.value.exceptions] == [["of case 1"], ["of case 3"]]
    one_by_one([2, 4])(is_even)()


def test_it_has_a_case() -> None:
    with pytest.raises(AssertionError, match="a test of nothing"):
        one_by_one([])
