"""The head of a finding's page: its verdict in words, and the sum that leads there. Who owes whom, never a sign."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.models import Finding
from audit.presentation import Stake, finding_title, money_in_prose, value
from settlement.account_findings import OF_WINNINGS
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount_in_prose
from settlement.differences import PAID


@dataclass(frozen=True, slots=True)
class Term:
    """One of the figures of a verdict. ``side`` is who loses by it, "" for what was due and what was paid."""

    label: str
    figure: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``title`` says who owes whom how much, else what happened; ``rule_title`` is "" where it already says that.

    ``terms`` are what was due and paid, and what remains; or what was expected and recorded. Empty: neither is known.
    """

    title: SafeString
    plain_title: str
    rule_title: str
    terms: tuple[Term, ...]
    is_difference: bool  # the last term is what the first two differ by


def verdict_of(finding: Finding, stake: Stake, player: str) -> Verdict:
    """Return the verdict of ``finding``. ``player`` is the player concerned as the title names persons, or ""."""
    happened = finding_title(finding.rule)
    sentence = _owes(finding, stake) if stake.side else ""
    if not sentence:
        return Verdict(SafeString(escape(happened)), happened, "", *_terms(finding, stake))
    amount = money_in_prose(abs(finding.difference or 0), finding.currency)
    marked = format_html('<em class="{}">{}</em>', stake.side, amount)
    nobody = gettext("an unknown player")
    who = player or (capfirst(nobody) if sentence.startswith("%(player)s") else nobody)
    title = mark_safe(escape(sentence) % {"player": escape(who), "amount": marked})  # both are escaped
    return Verdict(title, sentence % {"player": who, "amount": amount}, happened, *_terms(finding, stake))


def _owes(finding: Finding, stake: Stake) -> str:
    """Return who owes whom as a sentence with places for the player and the amount."""
    if stake.side == "player":
        return gettext("The house owes %(player)s %(amount)s")
    if finding.rule in PAID:
        return gettext("%(player)s was overpaid %(amount)s")
    return gettext("%(player)s owes the house %(amount)s")


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
            return (*terms, Term(_remains(finding, stake), stake.amount, stake.side)), True
        return tuple(terms), False
    pairs = ((gettext("Expected by the rules"), expected), (gettext("Recorded by the table"), recorded))
    terms = [Term(label, figure) for label, figure in pairs if figure]
    if stake.amount and stake.side:
        terms.append(Term(_remains(finding, stake), stake.amount, stake.side))
    return tuple(terms), False


def _remains(finding: Finding, stake: Stake) -> str:
    """Return what the money of a finding is, without naming anybody."""
    if stake.side == "player":
        return gettext("Owed to the player")
    if stake.side == "bank":
        return gettext("Overpaid to the player") if finding.rule in PAID else gettext("Owed by the player")
    return stake.words[:1].upper() + stake.words[1:]
