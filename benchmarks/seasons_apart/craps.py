"""Sessions of French craps (art. 55-7, 55-8) and of Québec's place bets (s. 95.17)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.seasons_apart.law import CONTRACTS, ON_NUMBER, ONE_ROLL, Wager, decided, winnings
from benchmarks.seasons_apart.people import Player, drawn_bet
from benchmarks.seasons_apart.session import Session

POINTS = (4, 5, 6, 8, 9, 10)
SEATS = [f"s{at}" for at in range(1, 8)]
DICE = tuple[int, int]


class Craps(Session):
    """French craps: the dice pass clockwise, and the shooter holds a stake on the line."""

    game = "craps"
    families = ("custody", "marker")
    hard = 4.0
    closing = False

    def opening(self) -> dict[str, Any]:
        return {"dice_set": self.equipment, "seats": SEATS}

    def prepare(self) -> None:
        self.point: int | None = None
        self.shooter: str | None = None
        self.seats: dict[str, str] = {}
        self.offered = -1
        self.pair: list[str] = []
        if "custody" in self.families:
            self.tape.add(
                "dice.set_introduced",
                after=60_000,
                dice=self.six(),
                decided_by="opening",
                announced=True,
                set=self.equipment,
            )

    def outcomes(self) -> list[DICE]:
        return [(first, second) for first in range(1, 7) for second in range(1, 7)]

    def six(self) -> list[str]:
        return [f"{self.equipment}.{at}" for at in range(1, 7)]

    def finish(self) -> Iterator[int]:
        """Go on without new bets until nothing lies any more."""
        self.closing = True
        while self.live:
            self.take_down(list(self.live.values()))
            if self.live:
                self.relieve()
                self.coup()
            yield self.tape.now

    def take_down(self, wagers: list[Wager]) -> None:
        """Withdraw what may be withdrawn: what an indecisive throw has left."""
        for wager in wagers:
            if wager.throws and wager.bet not in CONTRACTS:
                self.take_back(wager)

    def seat(self, player: str) -> dict[str, Any]:
        if player not in self.seats:
            self.seats[player] = next(seat for seat in SEATS if seat not in self.seats.values())
        return {"seat": self.seats[player]}

    def may_leave(self, player: str) -> bool:
        if player == self.shooter:
            if self.point is not None and not self.closing:
                return False
            self.pass_on(declined=True)
        self.seats.pop(player)
        return True

    # The shooter

    def pass_on(self, *, declined: bool = False) -> None:
        if declined and self.shooter and "custody" in self.families:
            self.tape.add("dice.declined", after=800, player=self.shooter, seat=self.seats[self.shooter])
        self.shooter = None

    def offer(self) -> None:
        """Offer the dice clockwise until somebody takes them and stakes on the line; else nobody shoots."""
        taken = {seat: player for player, seat in self.seats.items()}
        for step in range(1, 2 * len(SEATS) + 1):
            at = (self.offered + step) % len(SEATS)
            player = taken.get(SEATS[at])
            if player is None:
                continue
            self.tape.add("dice.offered", actor=self.stickman, after=2000, seat=SEATS[at], player=player)
            if (step <= len(SEATS) and self.rng.random() < 0.15) or not self.on_the_line(player):
                self.tape.add("dice.declined", after=1500, seat=SEATS[at], player=player)
                continue
            self.offered, self.shooter = at, player
            self.pair = self.rng.sample(self.six(), 2)
            boxed = [die for die in self.six() if die not in self.pair]
            self.tape.add("dice.selected", after=1500, seat=SEATS[at], dice=self.pair, boxed=boxed)
            return

    def on_the_line(self, player: str) -> bool:
        """Whether a player has a stake on the line, or lays one now."""
        if any(wager.player == player and wager.bet in ("win", "dont_win") for wager in self.live.values()):
            return True
        guest, bet = self.casino.players[player], "win" if self.rng.random() < 0.85 else "dont_win"
        if guest.purse < guest.unit:
            self.buy(guest, 20 * guest.unit)
        return self.lay(player, guest.unit, bet) is not None

    def ready(self) -> bool:
        """Whether somebody is going to throw."""
        if self.shooter and self.point is None and not self.on_the_line(self.shooter):
            self.pass_on(declined=True)
        if self.shooter is None:
            self.offer()
        return self.shooter is not None

    # A throw

    def coup(self) -> None:
        if not self.ready():
            self.tape.now += 60_000
            return
        if not self.closing:
            self.stakes()
        while True:
            faces = next((found for scheme in self.schemes if (found := scheme.faces(self))), None) or self.fair()
            for scheme in self.schemes:
                scheme.before_call(self, faces)
            self.tape.add("no_more_bets", actor=self.stickman, after=self.rng.randint(1500, 5000))
            if not self.closing:
                self.lay_late()
                for scheme in self.schemes:
                    scheme.late(self, faces)
            self.tape.now += self.rng.randint(1500, 4000)
            if not self.voided(faces):
                break
        self.settled(self.recorded(faces))
        self.afterwards()
        self.tape.now += self.rng.randint(3000, 9000)

    def fair(self) -> DICE:
        return self.rng.randint(1, 6), self.rng.randint(1, 6)

    def thrower(self) -> dict[str, Any]:
        seat = self.seats.get(self.shooter or "")
        return {"player": self.shooter, "seat": seat, "dice": self.pair or None}

    def voided(self, faces: DICE) -> bool:
        wanted = [flag for scheme in self.schemes if (flag := scheme.voids(self, faces))]
        if not wanted and not self.mishap(0.008):
            return False
        flag = (
            wanted[0]
            if wanted and isinstance(wanted[0], str)
            else self.rng.choice(("off_table", "short_of_far_end", "no_wall_contact", "straddling", "on_chip"))
        )
        self.tape.add(
            "throw.voided",
            actor=self.stickman,
            announced_by="stickman",
            flags=[flag],
            faces=list(faces),
            **self.thrower(),
        )
        self.tape.now += 5000
        return True

    def recorded(self, faces: DICE) -> DICE:
        """Record the throw, mistyped now and then, and return what it is in the end."""
        keyed = faces
        if self.mishap(0.0008):
            keyed = (faces[0], faces[1] % 6 + 1)
        seq = self.tape.add("dice.thrown", actor=self.stickman, faces=list(keyed), **self.thrower())
        if keyed != faces:
            self.correct(seq, self.rng.randint(2500, 8000), faces=list(faces), **self.thrower())
            self.note("mishap", "mistyped result", seq=seq + 1)
        for scheme in self.schemes:
            if wanted := scheme.corrects(self, faces):
                faces = wanted
                self.correct(seq, self.rng.randint(3000, 9000), faces=list(faces), **self.thrower())
        return faces

    def stakes(self) -> None:
        for player, until in self.present.items():
            guest = self.casino.players[player]
            mine = [wager for wager in self.live.values() if wager.player == player]
            if until <= self.tape.now:
                self.take_down(mine)
                continue
            if len(mine) < 4 and self.rng.random() < 0.5 and (bet := self.any_bet(guest)):
                stake = guest.unit * self.rng.choice((1, 1, 2))
                self.lay(
                    player, 3 * stake if bet["bet"] in ON_NUMBER else stake, after=self.rng.randint(300, 3000), **bet
                )
            line = next((wager for wager in mine if wager.bet == "win" and self.point), None)
            if line and self.rng.random() < 0.2 and not any(wager.extra.get("base") == line.name for wager in mine):
                self.lay(player, 2 * line.stake, "win_odds", number=self.point, base=line.name)
            if (
                mine
                and self.rng.random() < 0.02
                and mine[0].throws
                and mine[0].bet in ("right_bet", "hardway", "big_6")
            ):
                self.take_back(mine[0])
        for scheme in self.schemes:
            scheme.stakes(self)
        self.tape.now += self.rng.randint(8000, 20_000)

    def any_bet(self, guest: Player) -> dict[str, Any] | None:
        bet, number = (
            self.rng.choice(guest.bets) if self.rng.random() < 0.7 else drawn_bet(self.rng, self.table.ruleset)
        )
        if (self.point is None and bet == "come") or (self.point is not None and bet in ("win", "dont_win")):
            return None
        return {"bet": bet, "number": number, **({"marker": "wrong_bet"} if bet == "wrong_bet" else {})}

    def winning(self, outcome: DICE) -> dict[str, Any] | None:
        total = sum(outcome)
        if total in POINTS:
            return {"bet": "right_bet", "number": total}
        return {"bet": next(bet for bet in ("seven", "eleven", "any_craps") if total in ONE_ROLL[bet])}

    def would_lose(self, wager: Wager, outcome: DICE) -> bool:
        return self.decision(wager, outcome) == "lost"

    def decision(self, wager: Wager, faces: DICE) -> str:
        return decided(wager, faces, self.point)

    def settled(self, faces: DICE) -> None:
        total = sum(faces)
        won, lost, moved = [], [], []
        for wager in self.live.values():
            wager.throws += 1
            match self.decision(wager, faces):
                case "won":
                    won.append(wager)
                case "lost":
                    lost.append(wager)
                case "moves" if wager.bet == "come":
                    moved.append(wager)
        self.sweep(lost)
        for wager in won:
            self.pay(wager, winnings(wager, total), wager.stake)
        for wager in moved:
            wager.number = total
            self.tape.add("wager.moved", actor=self.croupier, after=1500, wager=wager.name, number=total)
        if self.point is None and total in POINTS:
            self.point = total
            self.tape.add("point.marked", actor=self.croupier, after=1000, number=total)
        elif self.point is not None and total in (7, self.point):
            self.point = None
            if total == 7:
                self.pass_on()


class QuebecCraps(Craps):
    """Québec: three place bets alone; who throws is named, and nothing more is seen of the dice."""

    families = ("marker",)
    hard = 3.0

    def opening(self) -> dict[str, Any]:
        return {"dice_set": self.equipment}

    def ready(self) -> bool:
        if self.shooter is None and self.seats:
            self.offered += 1
            self.shooter = sorted(self.seats)[self.offered % len(self.seats)]
        return self.shooter is not None

    def any_bet(self, guest: Player) -> dict[str, Any] | None:
        bet, number = drawn_bet(self.rng, "qc-craps")
        return {"bet": bet, "number": number}

    def lay(self, player: str, stake: int, bet: str, **more: Any) -> Wager | None:
        if bet in ("buy_bet", "lay_bet"):
            stake = -(-stake // 600) * 600  # divides by all odds, so that 5 % of them is exact
            taxed = stake if bet == "buy_bet" else winnings(Wager("", bet, stake, player, None, more["number"]))
            more |= {"marker": bet[:-4], "commission": taxed // 20}
        return super().lay(player, stake, bet, **more)

    def winning(self, outcome: DICE) -> dict[str, Any] | None:
        total = sum(outcome)
        if total in POINTS and self.point is not None:
            return {"bet": "right_bet", "number": total}
        return {"bet": "lay_bet", "number": 4} if total == 7 else None

    def decision(self, wager: Wager, faces: DICE) -> str:
        return decided(wager, faces, self.point, off=self.point is None)
