"""Sessions of French roulette (art. 54) and of American roulette (art. 57-1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.seasons_apart.law import ORDER, SIMPLE, WHEELS, Spot, Wager, dozens, drawn_spot, plein, winnings
from benchmarks.seasons_apart.people import Player
from benchmarks.seasons_apart.session import Session

DIRECTIONS = ("clockwise", "counterclockwise")


class Roulette(Session):
    """French roulette: the ball alone, and the prison."""

    game = "french_roulette"
    betting = 70
    """Seconds from the first stakes to the call, about."""
    last = False

    def opening(self) -> dict[str, Any]:
        return {"wheel": self.equipment}

    @property
    def wheel(self) -> list[str]:
        return WHEELS[self.table.ruleset]

    def outcomes(self) -> list[str]:
        return self.wheel

    def finish(self) -> Iterator[int]:
        self.last = True
        self.tape.add("last_coup.announced", after=3000)
        self.coup()
        yield self.tape.now

    def coup(self) -> None:
        self.launch()
        self.stakes()
        while True:
            pocket = self.fallen()
            for scheme in self.schemes:
                scheme.before_call(self, pocket)
            self.tape.add("no_more_bets", actor=self.croupier, after=self.rng.randint(1500, 6000))
            self.lay_late()
            for scheme in self.schemes:
                scheme.late(self, pocket)
            self.tape.now += self.rng.randint(4000, 9000)
            if not self.voided(pocket):
                break
            self.launch(again=True)
        self.settled(self.recorded(pocket))
        self.afterwards()
        self.tape.now += self.rng.randint(4000, 12000)

    def launch(self, *, again: bool = False) -> None:
        """Set wheel and ball in motion, or the ball ``again``; seen at American roulette alone."""

    def fallen(self) -> str:
        weights = next((found for scheme in self.schemes if (found := scheme.weights(self))), None)
        return self.rng.choices(self.wheel, weights)[0] if weights else self.rng.choice(self.wheel)

    def voided(self, pocket: str) -> bool:
        """Void the spin before its result, rarely, or because a scheme wants it."""
        if not any(scheme.voids(self, pocket) for scheme in self.schemes) and not self.mishap(0.003):
            return False
        reason = self.rng.choice(("ball_left_wheel", "foreign_object", "mechanical"))
        self.tape.add("spin.voided", actor=self.croupier, announced_by="croupier", reason=reason)
        self.tape.now += 15_000
        return True

    def recorded(self, pocket: str) -> str:
        """Record the result, mistyped now and then, and return what it is in the end."""
        keyed = pocket
        if self.mishap(0.0008):
            keyed = str(max(1, int(pocket) - 1))
        seq = self.tape.add("ball.settled", actor=self.croupier, pocket=keyed)
        if keyed != pocket:
            self.correct(seq, self.rng.randint(2500, 8000), pocket=pocket)
            self.note("mishap", "mistyped result", seq=seq + 1)
        for scheme in self.schemes:
            if wanted := scheme.corrects(self, pocket):
                pocket = wanted
                self.correct(seq, self.rng.randint(3000, 9000), pocket=pocket)
        return pocket

    def stakes(self) -> None:
        start = self.tape.now
        for player in list(self.present):
            guest = self.casino.players[player]
            if self.rng.random() < 0.85:
                for _ in range(self.rng.choice((1, 1, 2, 3))):
                    stake = guest.unit * self.rng.choice((1, 1, 1, 2, 3))
                    self.lay(player, stake, after=self.rng.randint(300, 4000), **self.any_bet(guest))
        for scheme in self.schemes:
            scheme.stakes(self)
        self.tape.now = max(self.tape.now, start + self.rng.randint(self.betting - 25, self.betting + 10) * 1000)

    def any_bet(self, guest: Player) -> dict[str, Any]:
        return on(self.rng.choice(guest.spots) if self.rng.random() < 0.8 else drawn_spot(self.rng))

    def winning(self, outcome: str) -> dict[str, Any]:
        number = int(outcome)
        if number == 0 or self.rng.random() < 0.4:
            return on(plein(outcome))
        return on(
            dozens(*self.rng.choice((("douzaine", [(number + 11) // 12]), ("colonne", [(number - 1) % 3 + 1]))), 4)
        )

    def would_lose(self, wager: Wager, outcome: str) -> bool:
        return bool(wager.spot) and outcome not in wager.spot.pockets  # type: ignore[union-attr]

    def halves(self, wager: Wager, pocket: str) -> bool:
        """Whether the pocket asks the player for a choice."""
        return pocket == "0" and wager.bet in SIMPLE

    def settled(self, pocket: str) -> None:
        won, lost, halved = [], [], []
        for wager in self.live.values():
            if self.halves(wager, pocket):
                wager.zeros += 1
                halved.append(wager)
            elif self.would_lose(wager, pocket):
                lost.append(wager)
            else:
                won.append(wager)
        self.sweep(lost)
        for wager in halved:
            half = self.casino.players[wager.player].takes_half
            if not self.last:
                self.tape.add("zero.decided", after=2000, wager=wager.name, choice="half" if half else "prison")
            if self.last or half:
                self.pay(wager, 0, wager.stake >> wager.zeros)
        for wager in sorted(won, key=lambda w: (w.player, ORDER.index(w.bet))):
            if wager.zeros:
                self.pay(wager, 0, wager.stake >> wager.zeros - 1)
            else:
                self.pay(wager, winnings(wager), wager.stake)


class AmericanRoulette(Roulette):
    """American roulette: two zeros that take everything, and the wheel is seen."""

    game = "american_roulette"
    families = ("wheel",)
    betting = 50
    hard = 1.5
    spins = 0

    def launch(self, *, again: bool = False) -> None:
        if not again:
            self.spins += 1
            self.tape.add("wheel.spun", after=2000, direction=DIRECTIONS[self.spins % 2], by="croupier")
        self.tape.add("ball.launched", after=3000, direction=DIRECTIONS[1 - self.spins % 2], by="croupier")

    def halves(self, wager: Wager, pocket: str) -> bool:
        return False

    def recorded(self, pocket: str) -> str:
        pocket = super().recorded(pocket)
        chances = [name for name, numbers in SIMPLE.items() if int(pocket) in numbers]
        self.tape.add("result.announced", actor=self.croupier, after=1000, pocket=pocket, chances=chances)
        return pocket


def on(spot: Spot) -> dict[str, Any]:
    """Return the arguments with which a stake is laid on a place."""
    return {"bet": spot.bet, "spot": spot}
