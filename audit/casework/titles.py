"""What an incident is called: by its verdict where it is a question about a person, else by what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import ngettext

from audit.casework.priority import QUESTIONS
from audit.models import Finding
from audit.presentation import WriteMoney, count, finding_title, labelled, money_in_prose, short_name


def incident_title(finding: Finding, write: WriteMoney = money_in_prose) -> str:
    """Return the title of a finding, with names where ``named`` has them: “Ada Roux won €9,032 on €760 in 2 nights”.

    One of ``with_priority`` says what is known of its whole incident; any other what it says itself.
    """
    happened = finding_title(finding.rule)
    if finding.rule not in QUESTIONS:
        return happened
    who = short_name(finding.named.get("player", ""), finding.player) if finding.player else ""
    if not who:
        who = short_name(finding.named.get("croupier", ""), finding.croupier) if finding.croupier else ""
    facts: Mapping[str, Any] = finding.__dict__.get("question_facts") or finding.facts
    return _of_play(facts, who, finding.currency, write) or (labelled(who, happened) if who else happened)


def _of_play(facts: Mapping[str, Any], who: str, currency: str, write: WriteMoney) -> str:
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
    sums = {"amount": write(amount, currency), "staked": write(staked, currency)}
    return says % {"who": who, "nights": count(nights), **sums}
