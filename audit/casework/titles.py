"""What an incident is called everywhere: by its verdict, which says who, what and how much; never by its rule alone.

a question about a person   “Pascale Perrin won €9,032 on €760 in 2 nights”
somebody owes               “The house owes p0412 €180”, “p0412 was overpaid €2”
any other money             “Result of a count differs: €300 less than recorded”
no money                    what happened, in the words of the rule
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from audit.casework.debts import stake_of_incident
from audit.casework.priority import QUESTIONS
from audit.casework.stakes import Stake
from audit.casework.urgency import facts_of
from audit.models import Finding
from audit.presentation import count, finding_title, labelled, money_in_prose, short_name


def incident_title(finding: Finding, stake: Stake | None = None) -> str:
    """Return the verdict of a finding, with names where ``named`` has them.

    ``stake`` is the money that its line or page shows; without one it is that of its incident, of ``with_money`` or by
    a query. One of ``with_priority`` says what is known of its whole question; any other what it says itself.
    """
    if finding.rule in QUESTIONS:
        return _of_question(finding)
    stake = stake_of_incident(finding, _player(finding)) if stake is None else stake
    if stake.side:
        return debt_title(stake)
    happened = finding_title(finding.rule)
    return labelled(happened, stake.text) if stake.amount else happened


def second_line(finding: Finding, title: str) -> str:
    """Return the title of the rule, for a second line beneath ``title``; "" where that says it already."""
    happened = finding_title(finding.rule)
    return "" if happened in title else happened


def debt_title(stake: Stake) -> str:
    """Return who owes whom how much. ``stake`` has a side."""
    return owes(stake) % {"player": debtor_or_creditor(stake), "amount": stake.amount}


def owes(stake: Stake) -> str:
    """Return who owes whom as a sentence with places for the player and the amount. ``stake`` has a side."""
    if stake.side == "player":
        return gettext("The house owes %(player)s %(amount)s")
    if stake.is_overpaid:
        return gettext("%(player)s was overpaid %(amount)s")
    return gettext("%(player)s owes the house %(amount)s")


def debtor_or_creditor(stake: Stake) -> str:
    """Return the player of ``owes`` as its sentence names him."""
    who = stake.who or gettext("an unknown player")
    begins = owes(stake).startswith("%(player)s")
    return capfirst(who) if begins and stake.who in ("", gettext("several players")) else who


def _player(finding: Finding) -> str:
    return short_name(finding.named.get("player", ""), finding.player) if finding.player else ""


def _of_question(finding: Finding) -> str:
    who = _player(finding)
    if not who:
        who = short_name(finding.named.get("croupier", ""), finding.croupier) if finding.croupier else ""
    return question_title(finding.rule, facts_of(finding), who, finding.currency)


def question_title(rule: str, facts: Mapping[str, Any], who: str, currency: str) -> str:
    """Return the title of a question about ``who``, whom a page names so: “Ada Roux won €9,032 on €760 in 2 nights”.

    ``facts`` may have ``nights``, ``staked``, and ``won`` or ``lost``, amounts in minor units of ``currency``.
    """
    happened = finding_title(rule)
    return _of_play(facts, who, currency) or (labelled(who, happened) if who else happened)


def _of_play(facts: Mapping[str, Any], who: str, currency: str) -> str:
    """Return what somebody won or lost as a sentence; "" where a finding does not say it."""
    nights, staked, won, lost = (facts.get(each) for each in ("nights", "staked", "won", "lost"))
    amount = won if isinstance(won, int) else lost
    if not (who and isinstance(nights, int) and isinstance(staked, int) and isinstance(amount, int)):
        return ""
    if isinstance(won, int):
        says = ngettext(
            "%(who)s won %(amount)s on %(staked)s in %(nights)s night",
            "%(who)s won %(amount)s on %(staked)s in %(nights)s nights",
            nights,
        )
    else:
        says = ngettext(
            "%(who)s lost %(amount)s on %(staked)s in %(nights)s night",
            "%(who)s lost %(amount)s on %(staked)s in %(nights)s nights",
            nights,
        )
    sums = {"amount": money_in_prose(amount, currency), "staked": money_in_prose(staked, currency)}
    return says % {"who": who, "nights": count(nights), **sums}
