"""An entry of the house register as lists and its page write it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from audit.models import RegisterEntry, RequestState
from audit.presentation import day, language, provision, ruleset_label
from audit.register.currency import currency_of
from audit.register.readings import KINDS, written
from settlement.readings import READINGS


def where_of(entry: RegisterEntry) -> str:
    table = _("table %(code)s") % {"code": entry.table.code} if entry.table is not None else _("every table")
    return f"{table}, {ruleset_label(entry.ruleset)}" if entry.ruleset else table


def days_of(entry: RegisterEntry) -> str:
    first = day(entry.first_day, with_year=True)
    if entry.last_day is None:
        return _("from %(first)s") % {"first": first}
    return _("%(first)s to %(last)s") % {"first": first, "last": day(entry.last_day, with_year=True)}


def state_of(entry: RegisterEntry) -> str:
    if entry.version is not None:
        return _("approved, version %(version)d") % {"version": entry.version}
    return str(RequestState(entry.state).label)


def left_open_by(name: str) -> str:
    """Return the clauses that leave a reading open, none broken over two lines; "" for what is no reading."""
    reading = READINGS.get(name)
    clauses = map(provision, reading.leaves_open) if reading is not None else ()
    return ", ".join(clause.replace(" ", "\N{NO-BREAK SPACE}") for clause in clauses)


def entry_line(entry: RegisterEntry) -> dict[str, Any]:
    """Return an entry as lists and its page show it."""
    reading = READINGS.get(entry.reading)
    today = entry.casino.gaming_day_at(timezone.now())
    return {
        "entry": entry,
        "title": KINDS[entry.reading].title,
        "value": written(entry.reading, entry.value, currency_of(entry.casino)),
        "where": where_of(entry),
        "days": days_of(entry),
        "state": state_of(entry),
        "is_backdated": entry.first_day <= entry.casino.gaming_day_at(entry.proposed_at),
        "is_over": entry.last_day is not None and entry.last_day < today,
        "leaves_open": left_open_by(entry.reading),
        "decision": reading.reason.in_language(language()) if reading else "",
    }
