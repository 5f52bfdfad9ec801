"""Lists of a report that are limited: how many rows there were, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from audit.presentation import count


def not_kept_note(content: Mapping[str, Any], section: str) -> str:
    """Return a sentence about the comparisons, errors or stakes that a report does not keep; "" if it keeps all.

    A report keeps a limited number. Its twelve lines count all of them.
    """
    if section == "lines":
        return lines_not_kept(content["lines"])
    line, fact = {"errors": ("payouts", "errors"), "standing": ("standing", "stakes")}.get(section, ("", ""))
    lines = [each for each in content["lines"] if each["code"] == line]
    counted = sum(row["facts"].get(fact, 0) for each in lines for row in each["rows"])
    kept = len(content[section]) if lines else 0
    return _first(kept, counted)


def lines_not_kept(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the comparisons that some of the twelve lines do not keep; "" if they keep all."""
    kept = sum(len(each["rows"]) for each in lines)
    return _first(kept, kept + sum(each["left_off"] for each in lines))


def _first(kept: int, counted: int) -> str:
    if counted <= kept:
        return ""
    says = gettext("The report keeps the first %(kept)s of %(number)s. The workbook has no more of them.")
    return says % {"kept": count(kept), "number": count(counted)}
