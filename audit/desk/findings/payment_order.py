"""The order to the cage to pay a player what the house owes: one page, with who, how much, why, and two signatures."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from audit.desk.findings.marked_law import marked_text
from audit.exports.pdf import render_pdf
from audit.models import Finding, Officer
from audit.presentation import date_time, language, local, money, night_of, officer_name, provision, reference
from settlement.provisions import deciding_first

TEMPLATE = Path(__file__).with_name("payment_order.typ")


def is_payable(finding: Finding) -> bool:
    """Return whether the house still owes what the finding is about to a player."""
    owed = finding.as_value().owed
    return owed is not None and owed.by == "house" and finding.put_right_by is None


def payment_order(finding: Finding, officer: Officer, player: str, made_at: datetime) -> bytes:
    """Return the order as PDF in the active language. ``player`` is whom it pays as ``officer`` may name them."""
    return render_pdf(TEMPLATE, _data(finding, officer, player, made_at))


def _data(finding: Finding, officer: Officer, player: str, made_at: datetime) -> dict[str, Any]:
    casino, day = finding.casino, local(made_at, finding.casino).date()
    value = finding.as_value()
    owed = value.owed
    assert owed is not None, "a payable finding says who owes"
    table = finding.table.code if finding.table is not None else ""
    own = deciding_first(
        finding.provisions or [finding.provision], finding.rule, finding.ruleset, finding.facts.get("bet")
    )
    clauses = [text for label in own if label and (text := marked_text(label, finding.rule)) is not None]
    facts = [
        (gettext("Table"), table),
        (gettext("Night"), night_of(finding.gaming_day, with_year=True)),
        (gettext("Happened"), date_time(finding.occurred_at, casino, seconds=True, with_year=True)),
        (gettext("Why"), value.message(language())),
        (gettext("Ordered by"), f"{officer_name(officer)}, {date_time(made_at, casino, with_year=True)}"),
    ]
    return {
        "lang": language(),
        "title": f"{gettext('Payment order')} {reference(finding)}",
        "date": [day.year, day.month, day.day],
        "heading": gettext("Payment order"),
        "reference": reference(finding),
        "casino": casino.name or casino.code,
        "pay": gettext("To be paid to"),
        "player": player or gettext("an unknown player"),
        "amount": money(owed.amount, finding.currency),
        "facts": [list(fact) for fact in facts if fact[1]],
        "clauses": [
            {
                "label": f"{provision(clause.text.instrument.cited_as)}, {provision(clause.label)}",
                "text": " ".join(
                    run.text for paragraph in clause.paragraphs for run in paragraph.runs if run.is_marked
                ),
            }
            for clause in clauses
        ],
        "signatures": [gettext("For the cage: name, date, signature"), gettext("The player: name, date, signature")],
        "note": gettext("Drawn up from the record by Cabochon; the case keeps a note of it."),
    }
