"""Payments that another reading of the law would call right.

Law       The text is silent on what a zero does to a simple chance at American roulette (art. 57-1), and does not say
          whether a stake freed from prison is worth all of it (art. 54 B 2°): ``zero_rule`` and ``release_value``.

Where such a reading alone makes the difference the table broke no text: the finding is major, not critical, and names
the reading. Where the house's register itself says how the gap is read the table broke the house's rule, and it stays.
"""

from __future__ import annotations

from msgspec.structs import replace

from settlement.finding import Finding
from settlement.money import EVEN, Odds, share
from settlement.ruleset import RULESETS
from settlement.state import Table, Wager


def other_reading(table: Table, wager: Wager, winnings: int, stake: int) -> str | None:
    """Return the reading under another value of which ``winnings`` and ``stake``, as paid, were due to ``wager``."""
    session = table.open_session()
    ruleset = RULESETS[session.ruleset]
    kind = ruleset.kinds.get(wager.bet)
    if winnings or kind is None or not kind.zeros:
        return None
    decided = {*ruleset.fixed, *session.settled}  # by the text, by the register
    if (
        "zero_rule" not in decided
        and wager.result in kind.zeros
        and wager.status in ("lost", "refunded_half")
        and not table.wheel.last_coup
    ):
        others = (0, _share(table, wager, 1)) if wager.status == "refunded_half" else (_share(table, wager, 1),)
        if stake in others and stake != wager.stake_due:
            return "zero_rule"
    if wager.status == "released" and "release_value" not in decided:
        others = (wager.standing, _share(table, wager, wager.zeros - 1))
        if stake in others and stake != wager.stake_due:
            return "release_value"
    return None


def soften(table: Table, wager: Wager, winnings: int, stake: int, found: list[Finding]) -> list[Finding]:
    """Return ``found`` on the money of ``wager``, major where another reading makes what was paid, in all, right."""
    if not any(finding.severity == "critical" for finding in found):
        return found
    reading = other_reading(table, wager, winnings, stake)
    if reading is None:
        return found
    return [
        replace(finding, severity="major", facts=finding.facts | {"reading": reading})
        if finding.severity == "critical" and finding.wager == wager.id
        else finding
        for finding in found
    ]


def _share(table: Table, wager: Wager, halvings: int) -> int:
    part = EVEN if not halvings else Odds(1, 2 ** min(halvings, 64))
    return wager.standing if part == EVEN else share(wager.standing, part, table.open_session().payout_unit)[0]
