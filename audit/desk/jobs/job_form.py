"""The two forms that start a background job: what an officer may ask for, and what a job gets as its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils.translation import gettext, ngettext

from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.models import Casino, GamingTable, Job, JobKind, Officer
from audit.models.jobs import OPEN
from settlement import RULESETS, ShapeError

MAX_OPEN = 5
"""Jobs that one officer may have waiting or running."""

MAX_VALUE = 1_000
"""Characters of a value in a form."""

EVERY_CASINO = "*"
"""The value of a form's casino that stands for all of them. Superusers alone may choose it."""


class InvalidRequest(Exception):
    """The form cannot be carried out. The text is for the officer."""


def job_params(kind: JobKind, form: Mapping[str, str], officer: Officer, casino: Casino | None) -> dict[str, Any]:
    """Return the parameters of a job that a form asks for. Start the what-if run if it asks for one.

    ``casino`` None is every casino. Raise ``InvalidRequest``.
    """
    if Job.objects.filter(officer=officer, state__in=OPEN).count() >= MAX_OPEN:
        raise InvalidRequest(
            ngettext(
                "You already have %(count)d job waiting or running. Wait for it to end, or stop it.",
                "You already have %(count)d jobs waiting or running. Wait for one to end, or stop one.",
                MAX_OPEN,
            )
            % {"count": MAX_OPEN}
        )
    days = _days(form)
    return days | _start_what_if(form, casino, days, officer) if kind == JobKind.WHAT_IF else days


def cleaned(form: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a posted form without NUL characters and surrounding blanks, cut to ``MAX_VALUE``."""
    return {name: str(value).replace("\0", "").strip()[:MAX_VALUE] for name, value in form.items()}


def _days(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the first and the last gaming day of a form as ISO dates; a day that was left empty is left out."""
    days: dict[str, Any] = {}
    for name in ("first_day", "last_day"):
        if form.get(name):
            try:
                days[name] = date.fromisoformat(form[name]).isoformat()
            except ValueError:
                raise InvalidRequest(gettext("“%(day)s” is not a date.") % {"day": form[name][:40]}) from None
    return days


def _start_what_if(
    form: Mapping[str, str], casino: Casino | None, days: Mapping[str, str], officer: Officer
) -> dict[str, Any]:
    """Start the what-if run of a form and return what its job needs to know of it."""
    ruleset = form.get("ruleset") or None
    if ruleset is not None and ruleset not in RULESETS:
        raise InvalidRequest(gettext("There is no such ruleset."))
    name = form.get("name", "")[:100]
    if not name:
        raise InvalidRequest(gettext("Give the what-if run a name."))
    first, last = (date.fromisoformat(days[each]) if each in days else None for each in ("first_day", "last_day"))
    tables = _tables(form, casino)
    try:
        readings = what_if_runs.parse_readings(_readings_text(form))
        selection = Selection(casino.code if casino else None, first, last, ruleset, tables)
        what_if_runs.begin(name, readings=readings, selection=selection, actor=officer.get_username())
    except (what_if_runs.WhatIfRejected, ShapeError) as error:
        raise InvalidRequest(str(error)) from None
    return {"name": name, "readings": readings, "ruleset": ruleset, "tables": list(tables)}


def _tables(form: Mapping[str, str], casino: Casino | None) -> tuple[str, ...]:
    """Return the codes of the tables that a form chooses, () for every table of the casino."""
    codes = tuple(dict.fromkeys(filter(None, (part.strip() for part in form.get("tables", "").split(",")))))
    if not codes:
        return ()
    if casino is None:
        raise InvalidRequest(gettext("Choose the casino that these tables belong to."))
    known = set(GamingTable.objects.filter(casino=casino, code__in=codes).values_list("code", flat=True))
    for code in codes:
        if code not in known:
            words = {"casino": str(casino), "table": code[:40]}
            raise InvalidRequest(gettext("%(casino)s has no table “%(table)s”.") % words)
    return codes


def _readings_text(form: Mapping[str, str]) -> str:
    """Return the readings of a form as ``NAME=VALUE, …``: those that were typed, or the one that was chosen."""
    chosen = form.get("reading", "")
    if not chosen:
        return form.get("readings", "")
    if not form.get("value"):
        raise InvalidRequest(gettext("Give the value under which to read the text."))
    return f"{chosen}={form['value']}"
