"""The order to the cage to pay a player what the house owes: number, who, how much, why, and two signatures, on a page.

It is made of the stored order, so every copy has the same number and the same amount.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from audit.casework.payment_orders import findings_of
from audit.desk.findings.marked_law import marked_text
from audit.exports.pdf import render_pdf
from audit.models import Finding, PaymentOrder
from audit.persons.directory import Directory
from audit.presentation import date_time, language, local, money, night_of, officer_name, provision, reference
from settlement.provisions import deciding_first

TEMPLATE = Path(__file__).with_name("payment_order.typ")


def payment_order(order: PaymentOrder, directory: Directory) -> bytes:
    """Return an order as PDF in the active language. ``directory`` has the player's name, if any."""
    return render_pdf(TEMPLATE, _data(order, directory))


def _data(order: PaymentOrder, directory: Directory) -> dict[str, Any]:
    casino, day, claims = (
        order.casino,
        local(order.ordered_at, order.casino).date(),
        findings_of(order.case_id, order.debtor, order.player),
    )
    own = dict.fromkeys((label, each.rule) for each in claims for label in _cited(each) if label)
    clauses = [text for label, rule in own if (text := marked_text(label, rule)) is not None]
    tables = dict.fromkeys(each.table.code for each in claims if each.table is not None)
    facts = [
        (gettext("Finding"), ", ".join(dict.fromkeys(reference(each) for each in claims))),
        (gettext("Table"), ", ".join(tables)),
        *((gettext("Night"), night) for night in dict.fromkeys(_night(each) for each in claims)),
        *((gettext("Happened"), happened) for happened in dict.fromkeys(_happened(each) for each in claims)),
        *((gettext("Why"), each.as_value().message(language())) for each in claims),
        (
            gettext("Ordered by"),
            f"{officer_name(order.ordered_by)}, {date_time(order.ordered_at, casino, with_year=True)}",
        ),
    ]
    if order.approved_by is not None and order.approved_at is not None:
        at = date_time(order.approved_at, casino, with_year=True)
        facts.append((gettext("Approved by"), f"{officer_name(order.approved_by)}, {at}"))
    return {
        "lang": language(),
        "title": f"{gettext('Payment order')} {order.reference}",
        "date": [day.year, day.month, day.day],
        "heading": gettext("Payment order"),
        "reference": order.reference,
        "casino": casino.name or casino.code,
        "pay": gettext("To be paid to"),
        "payees": [
            [
                directory.player(order.player) if order.player else gettext("an unknown player"),
                money(order.amount, order.currency),
            ]
        ],
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
        "note": gettext("Drawn up from the record by Cabochon, which keeps this order under its number."),
    }


def _cited(finding: Finding) -> Sequence[str]:
    cited = finding.provisions or [finding.provision]
    return deciding_first(cited, finding.rule, finding.ruleset, finding.facts.get("bet"))


def _night(finding: Finding) -> str:
    return night_of(finding.gaming_day, with_year=True)


def _happened(finding: Finding) -> str:
    return date_time(finding.occurred_at, finding.casino, seconds=True, with_year=True)
