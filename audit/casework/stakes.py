"""How the money of a finding, and of an incident, is written: who owes whom how much now, never with a sign."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from audit.casework.urgency import facts_of
from audit.models import Finding
from audit.models.adjudication import Severity
from audit.presentation import WriteMoney, money_in_prose
from settlement.catalogue.money import DIFFERENCE, amount_about
from settlement.differences import PAID


def money_at_stake(finding: Finding, player: str = "", write: WriteMoney = money_in_prose) -> str:
    """Return who owes whom how much now, without a sign: “€864 owed to p0412”; "" if no money is concerned.

    ``player`` is the player concerned as the page names persons, "" for the id; ``write`` is ``money`` in a table.
    """
    return "" if finding.difference is None else stake_of(finding, player, write).text


@dataclass(frozen=True, slots=True)
class Stake:
    """What a finding, or an incident, is about in money, without a sign: ``side`` is who loses, "player", "bank" or ""
    for nobody. A difference made good has words and no amount.

    ``who`` is the player to whom or by whom it is owed, "" if unknown; ``is_overpaid``: he owes it because he
    was paid too much.
    """

    side: str
    amount: str
    words: str
    who: str = ""
    is_overpaid: bool = False
    is_made_good: bool = False

    @property
    def text(self) -> str:
        """The amount and the words: “€864 owed to p0412”."""
        return f"{self.amount} {self.words}".strip()

    def with_other_side(self, amount: str) -> Stake:
        """Return it with what the other side is owed by the same incident."""
        if self.side == "player":
            words = gettext("%(words)s; %(amount)s owed to the house")
        else:
            words = gettext("%(words)s; %(amount)s owed to players")
        return replace(self, words=words % {"words": self.words, "amount": amount})


def stake_of(finding: Finding, player: str = "", write: WriteMoney = money_in_prose) -> Stake:
    """Return the money of a finding, its amount apart from the words: what is owed now, not what was found.

    The rest is as for ``money_at_stake``.
    """
    if finding.difference is None:
        return _no_debt(finding, write)
    is_information = finding.severity == Severity.INFO
    if finding.owed and not is_information:
        owed = finding.owed
        if finding.cleared >= owed["amount"]:
            return no_stake(is_cleared=True)
        return stake_of_claims(
            owed["by"],
            owed["amount"] - finding.cleared,
            abs(finding.difference),
            finding.currency,
            rules={finding.rule},
            who=player or finding.player,
            write=write,
        )
    if not finding.difference or finding.put_right_by is not None:
        is_settled = finding.put_right_by is not None and bool(finding.difference or is_information)
        return no_stake(is_settled=is_settled)
    return Stake("", write(abs(finding.difference), finding.currency), _not_owed(finding))


def _not_owed(finding: Finding) -> str:
    """Return what is said of a difference that nobody owes, after its amount."""
    if finding.difference is not None and finding.difference > 0:
        return gettext("too much, not owed")
    return gettext("short, not owed") if finding.player else gettext("short, player not recorded")


def _no_debt(finding: Finding, write: WriteMoney) -> Stake:
    """Return the money of a finding that is no debt: a variance of a count, or what a player won beyond chance."""
    expected, recorded = finding.expected, finding.recorded
    beyond = facts_of(finding).get("beyond_chance")
    if isinstance(beyond, int) and beyond:
        words = gettext("won beyond chance") if beyond > 0 else gettext("lost beyond chance")
        return Stake("", write(abs(beyond), finding.currency), words)
    amount = amount_about(finding.rule, expected, recorded, finding.facts)
    if not amount:
        return Stake("", "", gettext("no amount"))
    words = gettext("recorded")
    if finding.rule in DIFFERENCE and isinstance(recorded, int) and isinstance(expected, int):
        words = gettext("more than expected") if recorded > expected else gettext("less than expected")
    return Stake("", write(amount, finding.currency), words)


def no_stake(*, is_settled: bool = False, is_cleared: bool = False) -> Stake:
    """Return the money of what is made good: put right at the table, settled with the player, or by officers."""
    if is_cleared:
        return Stake("", "", gettext("paid, waived or kept"), is_made_good=True)
    return Stake("", "", gettext("settled") if is_settled else gettext("put right"), is_made_good=True)


def stake_of_claims(
    by: str,
    amount: int,
    found: int,
    currency: str,
    *,
    rules: Collection[str],
    who: str,
    is_of_several: bool = False,
    write: WriteMoney = money_in_prose,
) -> Stake:
    """Return what ``by``, "house" or "player", owes now, in minor units. ``found`` is what it owed when it was found.

    ``rules`` are those of the findings; ``who`` is the player, "" if unknown or if there are several.
    """
    if by == "house":
        words = gettext("owed to %(player)s") if who else gettext("owed to an unknown player")
        words = gettext("owed to players") if is_of_several else words
    elif PAID.issuperset(rules):
        words = gettext("overpaid to %(player)s") if who else gettext("overpaid")
    else:
        words = gettext("owed by %(player)s") if who else gettext("owed by an unknown player")
        words = gettext("owed by players") if is_of_several else words
    words %= {"player": who}
    if 0 < amount < found:
        words = gettext("%(words)s, partly paid") % {"words": words}
    is_overpaid = by == "player" and PAID.issuperset(rules)
    whom = gettext("several players") if is_of_several else who
    return Stake("player" if by == "house" else "bank", write(amount, currency), words, whom, is_overpaid)
