"""The order to the cage to pay what the house owes by an incident: who, how much, why, and two signatures, on one page.

An order covers the whole incident and what it owes now. So no other order asks for the same money, and none asks for
what was paid in the meantime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from audit.casework.debts import claim_of, debt_of_incident
from audit.desk.findings.marked_law import marked_text
from audit.exports.pdf import render_pdf
from audit.models import Finding, Officer
from audit.persons.directory import Directory
from audit.presentation import date_time, language, local, money, night_of, officer_name, provision, reference
from settlement.provisions import deciding_first

TEMPLATE = Path(__file__).with_name("payment_order.typ")


def is_payable(finding: Finding) -> bool:
    """Return whether the house still owes something to players by the incident of a finding."""
    return bool(debt_of_incident(finding).payable)


def payment_order(finding: Finding, officer: Officer, directory: Directory, made_at: datetime) -> bytes:
    """Return the order of the incident of a finding as PDF in the active language: what the house owes now, to whom.

    ``directory`` has the names of the players whom ``officer`` may name.
    """
    return render_pdf(TEMPLATE, _data(finding, officer, directory, made_at))


def order_name(finding: Finding) -> str:
    """Return the name of the file of an order: the reference of the incident, whichever of its findings is shown."""
    return f"{reference(_head_of(finding))}.pdf"


def payees(finding: Finding) -> list[str]:
    """Return the ids of the players whom the order of the incident pays; "" for one that is not known."""
    return list(_sums(_owing(finding)))


def _owing(finding: Finding) -> list[Finding]:
    """Return the findings of the incident at which the house owes something, in order."""
    own = [finding]
    of_case = own if finding.case_id is None else Finding.objects.standing().filter(case=finding.case_id)
    claims = [each for each in of_case if (claim := claim_of(each)) is not None and claim.by == "house"]
    return sorted(claims, key=lambda each: (each.seq, each.rule, each.wager))


def _sums(claims: Iterable[Finding]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for each in claims:
        claim = claim_of(each)
        assert claim is not None, "a claim stands at each of them"
        sums[claim.player] += claim.amount
    return dict(sums)


def _head_of(finding: Finding) -> Finding:
    """Return the cause of an incident, which names it; the finding itself where the cause does not stand any more."""
    if finding.heads_case or finding.case_id is None:
        return finding
    return Finding.objects.standing().filter(case=finding.case_id, heads_case=True).first() or finding


def _data(finding: Finding, officer: Officer, directory: Directory, made_at: datetime) -> dict[str, Any]:
    casino, day = finding.casino, local(made_at, finding.casino).date()
    claims, head = _owing(finding), _head_of(finding)
    table = finding.table.code if finding.table is not None else ""
    own = dict.fromkeys((label, each.rule) for each in claims for label in _cited(each) if label)
    clauses = [text for label, rule in own if (text := marked_text(label, rule)) is not None]
    facts = [
        (gettext("Table"), table),
        (gettext("Night"), night_of(finding.gaming_day, with_year=True)),
        *((gettext("Happened"), happened) for happened in dict.fromkeys(_happened(each) for each in claims)),
        *((gettext("Why"), each.as_value().message(language())) for each in claims),
        (gettext("Ordered by"), f"{officer_name(officer)}, {date_time(made_at, casino, with_year=True)}"),
    ]
    return {
        "lang": language(),
        "title": f"{gettext('Payment order')} {reference(head)}",
        "date": [day.year, day.month, day.day],
        "heading": gettext("Payment order"),
        "reference": reference(head),
        "casino": casino.name or casino.code,
        "pay": gettext("To be paid to"),
        "payees": [
            [directory.player(code) if code else gettext("an unknown player"), money(amount, finding.currency)]
            for code, amount in _sums(claims).items()
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
        "note": gettext("Drawn up from the record by Cabochon; the case keeps a note of it."),
    }


def _cited(finding: Finding) -> Sequence[str]:
    cited = finding.provisions or [finding.provision]
    return deciding_first(cited, finding.rule, finding.ruleset, finding.facts.get("bet"))


def _happened(finding: Finding) -> str:
    return date_time(finding.occurred_at, finding.casino, seconds=True, with_year=True)
