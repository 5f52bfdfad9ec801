"""The head of a finding's page: its verdict in words, and the sum that leads there. Words name debtor and creditor,
and no sign does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from audit.casework.debts import claim_of
from audit.casework.priority import QUESTIONS
from audit.casework.stakes import Stake
from audit.casework.titles import debtor_or_creditor, incident_title, owes, second_line
from audit.models import Finding
from audit.presentation import value
from settlement.account_findings import OF_WINNINGS
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount_in_prose


@dataclass(frozen=True, slots=True)
class Term:
    """One of the figures of a verdict. ``side`` is who loses by it, "" for what was due and what was paid."""

    label: str
    figure: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``title`` is what the incident is called everywhere; ``rule_title`` is "" where it already says that.

    ``terms`` are what was due and paid, and what remains; or what was expected and recorded. Empty: neither is known.
    ``claims`` are the other findings of the incident at which its claim stands, where it does not stand at this one.
    """

    title: SafeString
    plain_title: str
    rule_title: str
    terms: tuple[Term, ...]
    is_difference: bool  # the last term is what the first two differ by
    claims: Sequence[Finding] = ()

    @property
    def claim_words(self) -> str:
        """Return what stands before the references of ``claims``."""
        return ngettext("The claim of this incident is at", "The claims of this incident are at", len(self.claims))


def verdict_of(finding: Finding, stake: Stake, incident: Iterable[Finding] = ()) -> Verdict:
    """Return the verdict of ``finding``. ``incident`` are the other findings of its incident.

    ``stake`` is the money of the incident where the finding is its cause, else that of the finding.
    """
    called = incident_title(finding, stake)
    claims = [each for each in incident if claim_of(each) is not None] if not finding.owed else []
    title = SafeString(escape(called))
    if stake.side and finding.rule not in QUESTIONS:
        marked = format_html('<em class="{}">{}</em>', stake.side, stake.amount)
        words = {"player": escape(debtor_or_creditor(stake)), "amount": marked}
        title = mark_safe(escape(owes(stake)) % words)  # both are escaped
    return Verdict(title, called, second_line(finding, called), *_terms(finding, stake), claims)


def _terms(finding: Finding, stake: Stake) -> tuple[tuple[Term, ...], bool]:
    rule, currency = RULES[finding.rule], finding.currency
    expected = value(finding.expected, rule.expected_is, currency, amount_in_prose)
    recorded = value(finding.recorded, rule.recorded_is, currency, amount_in_prose)
    if rule.expected_is == rule.recorded_is == "money":
        of_winnings = finding.rule in OF_WINNINGS
        due = gettext("Winnings due") if of_winnings else gettext("Due")
        paid = gettext("Winnings paid") if of_winnings else gettext("Paid")
        terms = [Term(due, expected or ""), Term(paid, recorded or "")]
        terms = [term for term in terms if term.figure]
        if len(terms) == 2 and stake.amount:
            return (*terms, Term(_remains(stake), stake.amount, stake.side)), _is_difference(finding)
        if not terms and stake.side:
            terms.append(Term(_remains(stake), stake.amount, stake.side))
        return tuple(terms), False
    pairs = ((gettext("Expected by the rules"), expected), (gettext("Recorded by the table"), recorded))
    terms = [Term(label, figure) for label, figure in pairs if figure]
    if stake.amount and stake.side:
        terms.append(Term(_remains(stake), stake.amount, stake.side))
    return tuple(terms), False


def _is_difference(finding: Finding) -> bool:
    """Return whether what is owed now is what the two amounts of a finding differ by: not once a part is paid."""
    expected, recorded = finding.expected, finding.recorded
    remains = finding.owed["amount"] - finding.cleared if finding.owed else abs(finding.difference or 0)
    return isinstance(expected, int) and isinstance(recorded, int) and abs(recorded - expected) == remains


def _remains(stake: Stake) -> str:
    """Return what the money of a finding is, without naming anybody."""
    if stake.side == "player":
        return gettext("Owed to the player")
    if stake.side == "bank":
        return gettext("Overpaid to the player") if stake.is_overpaid else gettext("Owed by the player")
    return stake.words[:1].upper() + stake.words[1:]
