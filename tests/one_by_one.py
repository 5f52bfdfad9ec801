"""Checks of hundreds of cases that are one test each: pytest takes longer with a test than they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def one_by_one(cases: Iterable[Any], name: Callable[[Any], str] = str) -> Callable[[Callable[[Any], None]], Any]:
    """Make one test of a check of each case. It fails with the error of each case that does, and its name."""
    every = list(cases)
    assert every, "a test of nothing"

    def of(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            errors = []
            for case in every:
                try:
                    check(case)
                except Exception as error:
                    error.add_note(f"of {name(case)}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(every)} fail", errors)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return of
