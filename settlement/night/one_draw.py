"""Games in which one draw decides every stake: each bet wins on some of the outcomes, and loses on the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

from settlement.money import Odds
from settlement.night.chances import CACHE_SIZE, Chances, Outlook, Priced, Readings, outlook_of, part_of
from settlement.ruleset import RULESETS
from settlement.state import Session, Table, Wager


class OneDraw(Chances):
    """The mathematics of such a game.

    ``ways`` has every outcome, as ``Table.result`` names it, and in how many equally likely ways it comes. ``odds``
    says at which odds a bet wins on an outcome, None where it loses: it asks the record of the bet, so that nothing is
    coded twice. It is given the bet, the outcome and, of a bet that names one, its number.
    """

    def __init__(self, ways: Mapping[str, int], odds: Callable[..., Odds | None]) -> None:
        self._ways = tuple(ways.values())
        self._odds = odds
        self._index = {outcome: index for index, outcome in enumerate(ways)}
        self._given_back = lru_cache(CACHE_SIZE)(self._given_back_now)
        self._charged = lru_cache(CACHE_SIZE)(self._charged_now)
        self._outlook = lru_cache(CACHE_SIZE)(self._outlook_now)

    def _given_back_now(self, unit: int | None, bet: str, number: int | None, stake: int) -> tuple[Fraction, ...]:
        """Return what a stake gets back, winnings included, at each outcome."""
        named = () if number is None else (number,)
        at = [self._odds(bet, outcome, *named) for outcome in self._index]
        return tuple(Fraction(0) if odds is None else stake + part_of(stake, odds, unit) for odds in at)

    def ways(self, ruleset: str) -> tuple[int, ...]:
        return self._ways

    def value(self, unit: int | None, bet: str, number: int | None, stake: int) -> Fraction:
        """Return the value of ``stake`` minor units before the draw; ``unit`` is that of payouts, None for exactly."""
        back = self._given_back(unit, bet, number, stake)
        total = sum((ways * each for ways, each in zip(self._ways, back, strict=True)), Fraction(0))
        return total / sum(self._ways)

    def charged(self, session: Session, wager: Wager) -> Fraction:
        return self._charged(session.payout_unit, wager.bet, wager.number, wager.standing)

    def _charged_now(self, unit: int | None, bet: str, number: int | None, stake: int) -> Fraction:
        return stake - self.value(unit, bet, number, stake)

    def present_value(self, session: Session, wager: Wager) -> Fraction:
        return self.value(session.payout_unit, wager.bet, wager.number, wager.standing)

    def _outlook_now(self, unit: int | None, bet: str, number: int | None, stake: int) -> Outlook:
        now = self.value(unit, bet, number, stake)
        return outlook_of((now - back for back in self._given_back(unit, bet, number, stake)), self._ways)

    def outlook(self, table: Table, readings: Readings, wager: Wager) -> Outlook:
        return self._outlook(readings.payout_unit, wager.bet, wager.number, wager.standing)

    def outcome_of(self, ruleset: str, result: str) -> int:
        return self._index[result]

    def edges(self, readings: Readings) -> Mapping[Priced, Fraction]:
        kinds = RULESETS[readings.ruleset].kinds.values()
        placed = (Priced(kind.bet, number) for kind in kinds for number in kind.numbers or (None,))
        return {priced: 1 - self.value(None, priced.bet, priced.number, 1) for priced in placed}
