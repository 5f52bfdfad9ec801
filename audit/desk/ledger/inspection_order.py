"""The order to inspect a wheel or a set of dice: one page, with what asks, what to look at, and room for what is found.

It says what the record asks and never what is to be found: who measures with an answer in mind finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from audit.desk.ledger.fit import ruleset_with
from audit.desk.tables.limits import equipment_id
from audit.exports.pdf import render_pdf
from audit.ledger.equipment import equipment_of
from audit.models import LedgerProcess, LoggedStream, Officer
from audit.presentation import date_time, day, language, local, officer_name
from settlement.catalogue.rule import Wording

TEMPLATE = Path(__file__).with_name("inspection_order.typ")

CHECKS: Mapping[str, Sequence[str | Promise]] = {
    "wheel": (
        gettext_lazy("Level of the bowl, at four places"),
        gettext_lazy("Spindle and bearing: play, and how the rotor runs"),
        gettext_lazy("Separators: height, and whether any is loose"),
        gettext_lazy("Pockets: depth, and what lies in them"),
        gettext_lazy("Ball track and deflectors: wear, marks"),
        gettext_lazy("Balls: diameter, weight, roundness"),
    ),
    "apparatus": (
        gettext_lazy("Level of the bowl, at four places"),
        gettext_lazy("Cups: depth, and what lies in them"),
        gettext_lazy("Slope and rim: wear, marks"),
        gettext_lazy("Balls: diameter, weight, roundness"),
    ),
    "dice": (
        gettext_lazy("Edges: length of all three, of each die"),
        gettext_lazy("Faces: flat, square to each other, pips as deep as they should be"),
        gettext_lazy("Marks: the serial number; both dice belong to one set"),
        gettext_lazy("Balance: in the caliper or in water, on each axis"),
        gettext_lazy("Corners and edges: wear, chips, anything stuck on"),
    ),
}
"""What is looked at, by what the equipment is called in English."""


def inspected(process: LedgerProcess) -> tuple[str, str] | None:
    """Return the kind, "wheel" or "dice", and the id of what is inspected where a process asks; None if nothing is."""
    if process.kind == "croupier-displacement":
        return "wheel", process.subject.partition(", ")[2]
    return equipment_of(process)


def inspection_order(process: LedgerProcess, context: Mapping[str, Any], officer: Officer, made_at: datetime) -> bytes:
    """Return the order as PDF in the active language, of a process with something to inspect.

    ``context`` is that of the page of the process.
    """
    return render_pdf(TEMPLATE, _data(process, context, officer, made_at))


def _data(process: LedgerProcess, context: Mapping[str, Any], officer: Officer, made_at: datetime) -> dict[str, Any]:
    of_process, casino = inspected(process), process.casino
    assert of_process is not None, "there is something to inspect"
    kind, id = of_process
    today = local(made_at, casino).date()
    ruleset = ruleset_with(process.variant) if kind == "wheel" else None
    name = ruleset.wheel_name if ruleset is not None else Wording(kind, gettext(kind))
    facts = [
        (gettext("Table"), ", ".join(_tables(context))),
        (gettext("Question"), context["asks"]),
        (gettext("Finding"), context["reference"]),
        (
            gettext("Its evidence"),
            gettext("%(evidence)s since %(day)s; threshold %(level)s.")
            % {
                "evidence": context["of_the_year"],
                "day": day(process.first_day, with_year=True),
                "level": context["asks_at"],
            },
        ),
        (
            gettext("By chance alone"),
            gettext("at most 1 in %(one_in)s would pass the threshold in a year if everything is in order") % context,
        ),
        (gettext("Ordered by"), f"{officer_name(officer)}, {date_time(made_at, casino, with_year=True)}"),
    ]
    return {
        "lang": language(),
        "title": f"{gettext('Inspection order')} {id}",
        "date": [today.year, today.month, today.day],
        "heading": gettext("Inspection order"),
        "reference": context["reference"],
        "casino": casino.name or casino.code,
        "inspect": gettext("To be inspected"),
        "what": f"{capfirst(name.in_language(language()))} {equipment_id(id)}",
        "facts": [list(fact) for fact in facts if fact[1]],
        "checks": [[str(each), "", ""] for each in CHECKS.get(name.en, CHECKS[kind])],
        "columns": [gettext("To check"), gettext("Measured"), gettext("In order")],
        "found": gettext("What was found; “nothing” is an answer"),
        "signatures": [gettext("Inspected by: name, date, signature"), gettext("In the presence of: name, signature")],
        "note": gettext("A question reports a pattern. It does not say why. Made from the record by Cabochon."),
    }


def _tables(context: Mapping[str, Any]) -> list[str]:
    """Return the codes of the tables whose sessions moved the process most: one query."""
    streams = [each["point"].batch.stream_id for each in context["moves"] if each["point"].batch.stream_id is not None]
    played = LoggedStream.objects.filter(pk__in=streams, table__isnull=False)
    return list(played.order_by("table__code").values_list("table__code", flat=True).distinct())
