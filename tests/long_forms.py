"""Which cases of a test `make test` runs, and which only `make faults`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def in_short(cases: Iterable[Any], *, every: int = 1, further: Iterable[Any] = ()) -> list[Any]:
    """Return the cases of a test, tuples where it has several arguments: each but the first of every so many is left to
    ``make faults``, and so are ``further`` ones."""
    chosen = [case if number % every == 0 else _left_to_faults(case) for number, case in enumerate(cases)]
    return [*chosen, *map(_left_to_faults, further)]


def _left_to_faults(case: Any) -> Any:
    if hasattr(case, "marks"):  # it is a pytest.param already
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.faults])
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.faults)
