"""Which reading to try: the readings that may be set, as a list, and the form that starts a what-if run of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from audit.desk.jobs.admin import MAY_START
from audit.desk.jobs.job_form import EVERY_CASINO
from audit.desk.scoped_admin import scope_of
from audit.models import JobKind
from audit.presentation import date_time, language, provision
from audit.register.readings import KINDS, named_values
from settlement.readings import READINGS

SHOWN = 6
"""Readings that the list shows at once; the others unfold."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A reading that may be set: the clauses it is about, how it is read by default, and which values there are.

    ``named`` are those of one that has a few, each with its words.
    """

    name: str
    title: str
    clauses: str
    decision: str
    reason: str
    values: str
    named: list[tuple[str, str]]


def choice_context(request: HttpRequest, chosen: str) -> dict[str, Any]:
    """Return what the list and the form show, with reading ``chosen`` first; nothing for who may not start a run."""
    scope = scope_of(request, MAY_START[JobKind.WHAT_IF])
    casinos = scope.casinos()
    if not scope.is_everywhere and not casinos:
        return {"choices": []}
    choices = sorted(
        (_choice(name) for name, reading in READINGS.items() if reading.values is not None),
        key=lambda each: each.name != chosen,
    )
    return {
        "choices": choices[:SHOWN],
        "more_choices": choices[SHOWN:],
        "chosen": next((each for each in choices if each.name == chosen), None),
        "casinos": casinos,
        "every_casino": EVERY_CASINO if scope.is_everywhere else "",
        "proposed_name": f"{_title(chosen)}, {date_time(timezone.now(), None, seconds=True)}",
    }


def is_settable(name: str) -> bool:
    """Return whether a what-if run may set a reading."""
    return name in READINGS and READINGS[name].values is not None


def _choice(name: str) -> Choice:
    reading, active = READINGS[name], language()
    return Choice(
        name,
        _title(name),
        ", ".join(map(provision, reading.leaves_open)),
        reading.decision.in_language(active),
        reading.reason.in_language(active),
        reading.values.in_language(active) if reading.values is not None else "",
        named_values(name),
    )


def _title(name: str) -> str:
    return str(KINDS[name].title) if name in KINDS else name
