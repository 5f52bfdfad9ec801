"""Frauds that surveillance sees and a record hardly shows, each with a strength; and every fraud by its name.

runners        a croupier aims at the nine pockets of an accomplice, who is another one each night (part of his spins)
dice-slider    a shooter slides one die, which shows a six, and throws the other: sevens stay as they are (part)
walking-chips  a guest buys, stakes nothing, and hands his chips to runners who cash them below the threshold (minor
               units of a visit)
structuring    four buy just under the threshold within minutes, and one of their friends cashes it all (minor units of
               each)
friendly-void  «Coup nul» when a friend of the croupier has lost (part of what he loses)
closer         chips go missing from the rack whenever one croupier closes it (minor units)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audit.simulation.frauds import (
    CHIP,
    Aimed,
    Collusion,
    FalseFill,
    Fraud,
    LateVoid,
    Laundering,
    LoadedDice,
    PastPosting,
    Rota,
    Section,
    Signature,
    Skim,
    TiltedWheel,
    seat_last,
)
from audit.simulation.plan import Guest, Plan
from audit.simulation.played_table import PlayedTable

LOW = 18
"""The highest number of *manque*."""


class Runners(Section):
    """A section whose accomplice is somebody new each night: no player is ever lucky for long."""

    name = "runners"
    strength_by_default = 0.2

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.croupier})

    def is_named_by(self, subject: str) -> bool:
        return super().is_named_by(subject) or any(part.startswith("p91") for part in subject.split(", "))

    def arrange(self, plan: Plan) -> None:
        self.player = f"p91{plan.night:02}"
        super().arrange(plan)


class DiceSlider(Fraud):
    name = "dice-slider"
    strength_by_default = 0.3
    letter = "C"
    player = "p9006"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and self._visits(night)

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, Guest(self.player, 2, 400_000))

    def faces(self, session: PlayedTable, fair: list[int]) -> list[int]:
        seat = session.writer.table.dice.shooter
        throws = any(player.seat == seat and player.name == self.player for player in session.players)
        return [6, fair[1]] if throws and session.chance.random() < self.strength else fair


class _Handed(Fraud):
    """Chips that change hands before they are cashed, once a week."""

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and (night - self.begins) % 7 == 0

    def hand_over(self, session: PlayedTable, givers: Sequence[str], takers: Sequence[str]) -> None:
        """Divide the chips of ``givers`` among ``takers``, the last of whom has what does not divide."""
        stacks = session.writer.stacks
        whole = sum(stacks.pop(giver, 0) for giver in givers)
        share = whole // len(takers) // 1_000 * 1_000
        for taker in takers:
            stacks[taker] += share
        stacks[takers[-1]] += whole - share * len(takers)


class WalkingChips(_Handed):
    name = "walking-chips"
    strength_by_default = 600_000
    player = "p9007"
    runners = ("p9021", "p9022", "p9023", "p9024")

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player, *self.runners})

    def arrange(self, plan: Plan) -> None:
        tens = int(self.strength) // 10_000  # of euros: what he buys when he sits down
        seat_last(plan, Guest(self.player, tens, int(self.strength), plays=False))

    def between_coups(self, session: PlayedTable) -> None:
        if session.coup == session.coups:
            self.hand_over(session, [self.player], self.runners)


class Structuring(_Handed):
    name = "structuring"
    strength_by_default = 195_000
    players = ("p9011", "p9012", "p9013", "p9014")
    friend = "p9010"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.friend, *self.players})

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, *(Guest(player, 1, 10_000, plays=False) for player in self.players))

    def between_coups(self, session: PlayedTable) -> None:
        if session.coup == 2:
            amount = int(self.strength) - 10_000  # with what each bought when he sat down
            for player in self.players:
                session.bought += amount
                session.writer.stacks[player] += amount
                session.writer.write("buy_in.recorded", player=player, amount=amount, means="cash", wait_s=40)
        elif session.coup == session.coups:
            self.hand_over(session, self.players, [self.friend])


class FriendlyVoid(Aimed):
    name = "friendly-void"
    strength_by_default = 0.3
    player = "p9008"
    stake = 5 * CHIP

    def __init__(self, strength: float | None = None, *, begins: int = 7) -> None:
        super().__init__(strength, begins=begins)
        self.staked = ("", 0)  # the last stream and coup in which the friend staked

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player, self.croupier})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and self._visits(night)

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, Guest(self.player, 4, 800_000, plays=False))

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        coup = (session.writer.stream, session.coup)
        if self.is_on_duty(session) and self.staked != coup:
            self.staked = coup
            session.writer.place("manque", self.stake, player=self.player)

    def voids(self, session: PlayedTable, landed: str) -> bool:
        has_lost = self.staked == (session.writer.stream, session.coup) and not 1 <= int(landed) <= LOW
        return has_lost and session.chance.random() < self.strength


class Closer(Aimed):
    name = "closer"
    strength_by_default = 10_000

    def arrange(self, plan: Plan) -> None:
        self.missing_from_rack = 0

    def between_coups(self, session: PlayedTable) -> None:
        if session.coup == session.coups:
            self.missing_from_rack = int(self.strength) if self.is_on_duty(session) else 0


FRAUDS: Mapping[str, type[Fraud]] = {
    each.name: each
    for each in (
        PastPosting,
        Collusion,
        Signature,
        LoadedDice,
        TiltedWheel,
        Section,
        Skim,
        Laundering,
        FalseFill,
        LateVoid,
        Runners,
        DiceSlider,
        WalkingChips,
        Structuring,
        FriendlyVoid,
        Closer,
    )
}
"""By name."""
