"""A session at one table, whatever is played: staff, guests, stakes, payments, honest mistakes, the count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.seasons_apart.law import CONTRACTS, Spot, Wager
from benchmarks.seasons_apart.people import CLOSES, MINUTE, OPENS, Night, Player, Table
from benchmarks.seasons_apart.tape import Tape

if TYPE_CHECKING:
    from benchmarks.seasons_apart.floor import Casino
    from benchmarks.seasons_apart.scheme import Scheme

FAMILIES = ["bank", "calls", "collections", "decisions", "payouts", "results", "seating", "staff", "wagers"]
FLOAT = 3_000_000


class Session:
    """One table on one night. Money is in minor units; the clock is the tape's."""

    game = ""
    families: Sequence[str] = ()
    hard = 1.0
    """How much harder than at French roulette it is to pay."""

    def __init__(self, casino: Casino, night: Night, table: Table, schemes: Sequence[Scheme], rng: Random) -> None:
        self.casino, self.night, self.table, self.schemes, self.rng = casino, night, table, schemes, rng
        self.tape = Tape(f"apart.{table.code}.{night.day}.1", night.day, night.next_day, OPENS)
        self.shifts, self.chefs = list(night.shifts[table.code]), list(night.chefs[table.code])
        self.crew = night.crews[table.code]
        self.croupier, self.chef, self.stickman = self.shifts.pop(0).croupier, self.chefs.pop(0)[1], self.crew[1]
        self.equipment = night.equipment[table.code]
        self.rack, self.drop, self.named, self.slips = FLOAT, 0, 0, 0
        self.live: dict[str, Wager] = {}
        self.present: dict[str, int] = {}
        self.overlooked: list[Wager] = []
        self.disputed: list[tuple[Wager, int]] = []

    # The evening

    def run(self) -> Iterator[int]:
        """Play the evening and yield the clock after every coup."""
        staff = [{"person": self.chef, "role": "chef_de_table"}, {"person": self.croupier, "role": "croupier"}]
        if self.table.craps:
            staff.append({"person": self.stickman, "role": "stickman"})
        self.tape.add(
            "session.opened",
            actor=self.chef,
            casino="apart",
            table=self.table.code,
            gaming_day=self.night.day,
            game=self.game,
            ruleset=self.table.ruleset,
            currency="EUR",
            float=FLOAT,
            minimum=200,
            observes=sorted([*FAMILIES, *self.families]),
            staff=staff,
            **self.opening(),
        )
        self.prepare()
        while self.tape.now < CLOSES:
            self.relieve()
            self.welcome()
            self.say_goodbye()
            if self.present:
                self.coup()
            else:
                self.tape.now += MINUTE
            yield self.tape.now
        yield from self.finish()
        self.say_goodbye(everybody=True)
        self.sweep([])
        self.close()

    def opening(self) -> dict[str, Any]:
        raise NotImplementedError

    def prepare(self) -> None:
        """Do what comes before the first coup."""

    def coup(self) -> None:
        raise NotImplementedError

    def finish(self) -> Iterator[int]:
        raise NotImplementedError

    def would_lose(self, wager: Wager, outcome: Any) -> bool:
        raise NotImplementedError

    def outcomes(self) -> Sequence[Any]:
        """Return every outcome of a coup."""
        raise NotImplementedError

    def winning(self, outcome: Any) -> dict[str, Any] | None:
        """Return a bet, as ``lay`` takes it, that wins by ``outcome``."""
        raise NotImplementedError

    def close(self) -> None:
        closer, counted = self.night.closers[self.table.code], self.rack
        if self.mishap(0.04):
            counted += self.rng.choice((-1, 1)) * self.rng.choice((500, 1000, 2500))
            self.note("mishap", "miscount")
        for scheme in self.schemes:
            counted = scheme.counts(self, counted, closer)
        self.tape.add("session.closed", actor=closer, after=10 * MINUTE, float=counted)

    def relieve(self) -> None:
        if self.chefs and self.tape.now >= self.chefs[0][0]:
            self.chef = self.replaced(self.chef, self.chefs.pop(0)[1], "chef_de_table")
        if self.shifts and self.tape.now >= self.shifts[0].start:
            next_ = self.shifts.pop(0).croupier
            if self.table.craps:  # a stickman follows, so that nobody has two roles
                self.tape.add("staff.relieved", person=self.stickman, role="stickman", after=500)
            self.croupier = self.replaced(self.croupier, next_, "croupier")
            self.stickman = self.crew[(self.crew.index(next_) + 1) % 3]
            if self.table.craps:
                self.tape.add("staff.assigned", person=self.stickman, role="stickman", after=500)

    def replaced(self, old: str, new: str, role: str) -> str:
        self.tape.add("staff.relieved", person=old, role=role, after=500)
        self.tape.add("staff.assigned", person=new, role=role, after=1500)
        return new

    # Guests

    def welcome(self) -> None:
        for visit, player in self.casino.arriving(self.table.code, self.tape.now):
            if len(self.present) < 7:
                guest = self.casino.players[player]
                self.tape.add("player.seated", player=player, after=1000, **self.seat(player))
                self.present[player] = visit.until
                if guest.purse < 10 * guest.unit:
                    self.buy(guest, 20 * guest.unit)
            else:
                self.casino.leaves(player, self.tape.now)

    def seat(self, player: str) -> dict[str, Any]:
        """Return the fields that say where a guest sits."""
        return {}

    def say_goodbye(self, *, everybody: bool = False) -> None:
        busy = {wager.player for wager in self.live.values()}
        for player, until in list(self.present.items()):
            broke = self.casino.players[player].purse == 0
            if player not in busy and (everybody or broke or until <= self.tape.now) and self.may_leave(player):
                del self.present[player]
                self.tape.add("player.left", player=player, after=700)
                self.casino.leaves(player, self.tape.now)

    def may_leave(self, player: str) -> bool:
        return True

    def buy(self, guest: Player, amount: int) -> None:
        """Let a guest buy chips, at the table or at the desk, whatever the habit."""
        guest.purse += amount
        if guest.buys_at_desk:
            self.casino.exchange(self.tape.now, "in", amount, guest.name)
            return
        self.drop += amount
        self.rack -= amount
        means = self.rng.choice(("cash", "cash", "cash", "card"))
        self.tape.add("buy_in.recorded", actor=self.croupier, after=2000, player=guest.name, amount=amount, means=means)

    # Stakes

    def lay(
        self,
        player: str,
        stake: int,
        bet: str,
        *,
        spot: Spot | None = None,
        number: int | None = None,
        after: int = 1000,
        **extra: Any,
    ) -> Wager | None:
        """Place a stake, or none where the guest has no chips and buys none; ``extra`` are more fields of the event."""
        guest = self.casino.players[player]
        need = stake + extra.get("commission", 0)
        if guest.purse < need:
            if guest.rebuys >= 4:
                return None
            guest.rebuys += 1
            self.buy(guest, 20 * max(guest.unit, need // 4))
        guest.purse -= need
        self.rack += need - stake
        self.named += 1
        wager = Wager(f"w{self.named}", bet, stake, player, spot, number, extra=extra)
        self.live[wager.name] = wager
        shown = number if bet in ("hardway", "right_bet", "wrong_bet", "buy_bet", "lay_bet") else None
        fields = dict(spot.fields) if spot else {}
        self.tape.add(
            "wager.placed",
            after=after,
            wager=wager.name,
            bet=bet,
            stake=stake,
            player=player,
            number=shown,
            **self.seat(player),
            **fields,
            **extra,
        )
        return wager

    def take_back(self, wager: Wager) -> None:
        self.tape.add("wager.withdrawn", after=600, wager=wager.name)
        self.casino.players[wager.player].purse += self.live.pop(wager.name).stake

    def lay_late(self) -> None:
        """Lay a stake after the call, once in a while: mostly it is pushed back, now and then it is left to play."""
        left = self.mishap(0.0015)
        if (left or self.mishap(0.01)) and self.present:
            guest = self.casino.players[self.rng.choice(list(self.present))]
            bet = self.any_bet(guest)
            if bet is None or bet["bet"] in CONTRACTS:
                return
            wager = self.lay(guest.name, guest.unit, after=self.rng.randint(700, 1500), **bet)
            if wager and left:
                self.note("mishap", "late stake", wager)
            elif wager:
                self.take_back(wager)

    def any_bet(self, guest: Player) -> dict[str, Any] | None:
        """Return a bet that the guest likes and the moment permits, as ``lay`` takes it."""
        raise NotImplementedError

    # Money

    def pay(self, wager: Wager, won: int, back: int) -> None:
        """Pay ``won`` and hand ``back`` of the stake, unless a scheme or a slip makes it something else."""
        paid, handed = won, back
        for scheme in self.schemes:
            paid, handed = scheme.pays(self, wager, paid, handed)
        rate = self.casino.staff.slips[self.croupier] * self.night.fatigue * self.hard
        slip = won and (paid, handed) == (won, back) and self.mishap(rate)
        if slip:
            paid = self.slipped(wager, won)
        self.hand(wager, paid, handed)
        self.rack += wager.stake - back  # the rest of a stake that a zero halved
        self.live.pop(wager.name, None)
        if slip and paid != won:
            self.note("mishap", "wrong payment", wager)
            self.notice(wager, paid - won)

    def hand(self, wager: Wager, won: int, back: int) -> None:
        self.rack -= won
        self.casino.players[wager.player].purse += won + back
        self.tape.add(
            "payout.made",
            actor=self.croupier,
            after=self.rng.randint(1500, 3500),
            wager=wager.name,
            winnings=won,
            stake_returned=back,
        )

    def slipped(self, wager: Wager, won: int) -> int:
        step = self.rng.choice((wager.stake, 500, max(100, won // 1000 * 100)))
        return max(0, won + self.rng.choice((-1, 1)) * step)

    def notice(self, wager: Wager, over: int) -> None:
        """See a wrong payment at once, let the player complain, or see nothing."""
        if self.rng.random() < 0.6:
            if over < 0:
                self.hand(wager, -over, 0)
            else:
                self.rack += over
                self.casino.players[wager.player].purse -= over
                self.tape.add("payout.recovered", actor=self.croupier, after=2500, wager=wager.name, winnings=over)
        elif over < 0 and self.rng.random() < 0.6:
            self.disputed.append((wager, -over))

    def sweep(self, losers: Sequence[Wager]) -> None:
        """Collect the stakes that lost, with those that were overlooked before."""
        swept, self.overlooked = self.overlooked, []
        for wager in losers:
            self.live.pop(wager.name, None)
            how = next((how for scheme in self.schemes if (how := scheme.spares(self, wager))), None)
            guest = self.casino.players[wager.player]
            if how is None and swept and self.mishap(0.0003):
                self.overlooked.append(wager)
                self.note("mishap", "loser overlooked", wager)
            elif how is None:
                swept.append(wager)
            else:
                guest.purse += wager.stake
                if how == "lifted":
                    self.tape.add("wager.withdrawn", after=900, wager=wager.name)
                elif how == "handed":
                    self.tape.add(
                        "payout.made",
                        actor=self.croupier,
                        after=900,
                        wager=wager.name,
                        winnings=0,
                        stake_returned=wager.stake,
                    )
        if swept:
            self.rack += sum(wager.stake for wager in swept)
            self.tape.add("stakes.collected", actor=self.croupier, after=4000, wagers=[wager.name for wager in swept])

    def afterwards(self) -> None:
        """Settle disputes, be generous now and then, and fill the rack."""
        for wager, amount in self.disputed:
            self.settle(wager.player, amount, wager, approver=self.chef)
        self.disputed = []
        if self.present and self.mishap(0.0004):
            self.goodwill(self.rng.choice(list(self.present)), self.rng.choice((500, 1000, 2000)), self.chef)
        for scheme in self.schemes:
            scheme.after(self)
        while self.rack < FLOAT // 4:
            self.move_chips("bank.filled", FLOAT // 2)
        if self.rack > 2 * FLOAT:
            self.move_chips("bank.credited", FLOAT)

    def move_chips(self, kind: str, amount: int) -> None:
        self.slips += 1
        self.rack += amount if kind == "bank.filled" else -amount
        slip = f"{self.night.number}.{self.table.code}.{self.slips}"
        self.tape.add(kind, actor=self.chef, after=5000, amount=amount, slip=slip)

    def settle(self, player: str, amount: int, wager: Wager | None, approver: str) -> None:
        """Open a dispute and settle it."""
        about = wager.name if wager else None
        opened = self.tape.add("dispute.opened", actor=self.croupier, after=4000, wager=about, player=player)
        self.tape.add(
            "dispute.settled", actor=self.croupier, after=9000, opened=opened, amount=amount, approved_by=approver
        )
        self.given(player, amount)

    def goodwill(self, player: str, amount: int, approver: str) -> None:
        reason = self.rng.choice(("spilled drink", "long wait", "misunderstanding"))
        given = {"player": player, "amount": amount, "approved_by": approver, "reason": reason}
        self.tape.add("goodwill.paid", actor=self.croupier, after=5000, **given)
        self.given(player, amount)

    def given(self, player: str, amount: int) -> None:
        self.rack -= amount
        self.casino.players[player].purse += amount

    def correct(self, seq: int, after: int, **data: Any) -> None:
        """Put the data of a result right, or wrong."""
        whole = {name: value for name, value in data.items() if value is not None}
        entry = {"corrects": seq, "data": whole, "reason": "entered wrongly", "approved_by": self.chef}
        self.tape.add("entry.corrected", actor=self.croupier, after=after, **entry)

    # Mistakes

    def mishap(self, rate: float) -> bool:
        """Whether an honest mistake happens; none where the season has none."""
        return self.rng.random() < rate * self.casino.mishaps

    def note(self, cause: str, what: str, wager: Wager | None = None, seq: int | None = None) -> None:
        self.casino.note(cause, what, self.tape.stream, wager.name if wager else None, seq or len(self.tape.events))
