"""Frauds at the tables: late stakes, payments, stakes unswept, voids, corrections, approvals, short counts."""

from __future__ import annotations

from typing import Any

from benchmarks.seasons_apart.law import Wager
from benchmarks.seasons_apart.people import Night, visits
from benchmarks.seasons_apart.scheme import Scheme
from benchmarks.seasons_apart.session import Session


class PastPoster(Scheme):
    """A player lays a winning stake after the call, under whoever deals; nobody sees it."""

    kind = "player"

    def draw(self) -> None:
        self.friend = self.casino.innocent_player()
        self.subject = (self.friend,)

    def arrange(self, night: Night) -> None:
        if self.rng.random() < 0.7:
            night.visits[self.friend] = visits(self.rng, sorted(self.tables))

    def ready(self, session: Session) -> bool:
        return self.friend in session.present and self.takes(0.03)

    def late(self, session: Session, outcome: Any) -> None:
        if self.ready(session):
            self.post(session, outcome, self.rng.randint(900, 4000))

    def post(self, session: Session, outcome: Any, after: int) -> None:
        if bet := session.winning(outcome):
            stake = 2 * self.casino.players[self.friend].unit
            if wager := session.lay(self.friend, stake, after=after, **bet):
                session.note(self.fraud, "late winner", wager)


class PastPosterPair(PastPoster):
    """A player lays late winning stakes, and one croupier lets them stand."""

    kind = "pair"
    draw = Scheme.draw
    arrange = Scheme.arrange

    def ready(self, session: Session) -> bool:
        return self.together(session) and self.takes(0.05)


class LateCall(PastPosterPair):
    """A croupier calls late, so that a friend stakes by the clock in time on what can be seen already."""

    def late(self, session: Session, outcome: Any) -> None:
        """Stake nothing after the call."""

    def before_call(self, session: Session, outcome: Any) -> None:
        if self.ready(session):
            self.post(session, outcome, self.rng.randint(2000, 9000))


class OverpaidFriend(Scheme):
    """A croupier pays a friend too much now and then."""

    def favoured(self, session: Session, wager: Wager) -> bool:
        return self.together(session) and wager.player == self.friend and self.takes(0.12)

    def pays(self, session: Session, wager: Wager, won: int, back: int) -> tuple[int, int]:
        if won and self.favoured(session, wager):
            session.note(self.fraud, "overpaid", wager)
            return won + self.more(wager, won), back
        return won, back

    def more(self, wager: Wager, won: int) -> int:
        return self.rng.choice((wager.stake, 2 * wager.stake, max(500, won // 500 * 100)))


class OverpaidALittle(OverpaidFriend):
    """A croupier pays a friend one small chip too much, often."""

    def favoured(self, session: Session, wager: Wager) -> bool:
        return self.together(session) and wager.player == self.friend and self.takes(0.4)

    def more(self, wager: Wager, won: int) -> int:
        return 100


class OverpaidRunners(OverpaidFriend):
    """A croupier overpays a runner, on every night another one."""

    kind = "croupier"

    def draw(self) -> None:
        self.croupier, self.friend = self.casino.innocent_croupier(), ""
        self.subject = (self.croupier,)

    def arrange(self, night: Night) -> None:
        shifts = [shift for shift in night.shifts_of(self.croupier) if shift.table in self.tables]
        here = [name for name, plan in night.visits.items() if any(v.table == s.table for v in plan for s in shifts)]
        self.friend = self.rng.choice(here) if here else ""


class UnsweptFriend(Scheme):
    """A croupier leaves losing stakes of a friend, who takes them from the felt."""

    how = "lies"

    def spares(self, session: Session, wager: Wager) -> str | None:
        if self.together(session) and wager.player == self.friend and self.takes(0.1):
            session.note(self.fraud, self.how, wager)
            return self.how
        return None


class LiftedFriend(UnsweptFriend):
    """A croupier lets a friend lift losing stakes, and the chips' sensor sees it."""

    how = "lifted"


class HandedFriend(UnsweptFriend):
    """A croupier hands losing stakes back to a friend."""

    how = "handed"


class Voided(Scheme):
    """A croupier voids what a friend would lose; at craps he has the stickman call it."""

    def voids(self, session: Session, outcome: Any) -> Any:
        if not self.together(session) or not self.takes(0.2):
            return None
        mine = [wager for wager in session.live.values() if wager.player == self.friend]
        bad = sum(w.stake for w in mine if session.would_lose(w, outcome))
        if not mine or 2 * bad <= sum(wager.stake for wager in mine):
            return None
        session.note(self.fraud, "voided", seq=len(session.tape.events) + 1)
        return self.rng.choice(("off_table", "on_chip", "straddling"))


class VoidedSpins(Voided):
    """A croupier voids spins on which a friend would have lost."""

    games = ("roulette",)


class VoidedThrows(Voided):
    """A croupier has throws voided on which a friend would have lost."""

    games = ("craps",)


class SettledFriend(Scheme):
    """A croupier enters disputes of a friend and settles them; the chef signs what he is given."""

    amounts = (1000, 2500, 5000)

    def after(self, session: Session) -> None:
        if self.together(session) and self.takes(0.03):
            self.enter(session, self.rng.choice(self.amounts))
            session.note(self.fraud, "given")

    def enter(self, session: Session, amount: int) -> None:
        session.settle(self.friend, amount, None, session.chef)


class GoodwillFriend(SettledFriend):
    """A croupier enters goodwill for a friend."""

    def enter(self, session: Session, amount: int) -> None:
        session.goodwill(self.friend, amount, session.chef)


class CorrectedFriend(Scheme):
    """A croupier corrects results to those on which a friend wins."""

    def corrects(self, session: Session, outcome: Any) -> Any:
        mine = [wager for wager in session.live.values() if wager.player == self.friend]
        if not self.together(session) or not mine or not self.takes(0.06):
            return None
        if not all(session.would_lose(wager, outcome) for wager in mine):
            return None
        others = session.outcomes()
        wanted = [other for other in others if not any(session.would_lose(wager, other) for wager in mine)]
        if not wanted:
            return None
        session.note(self.fraud, "corrected", seq=len(session.tape.events) + 1)
        return self.rng.choice(wanted)


class ApprovingInspector(Scheme):
    """An inspector approves what one croupier gives away, to whoever plays."""

    def draw(self) -> None:
        self.croupier, self.inspector = self.casino.innocent_croupier(), self.casino.innocent_inspector()
        self.subject = (self.inspector, self.croupier)

    def arrange(self, night: Night) -> None:
        """Let the inspector be chef where the croupier deals, on most nights."""
        shifts = night.shifts_of(self.croupier)
        if shifts and self.rng.random() < 0.7:
            for chefs in night.chefs.values():
                chefs[:] = [
                    (at, who if who != self.inspector else night.chefs[shifts[0].table][0][1]) for at, who in chefs
                ]
            night.chefs[shifts[0].table] = [(0, self.inspector)]

    def after(self, session: Session) -> None:
        here = session.croupier == self.croupier and session.chef == self.inspector
        if here and session.present and self.takes(0.04):
            player = self.rng.choice(sorted(session.present))
            give = self.rng.choice((session.goodwill, self.settled(session)))
            give(player, self.rng.choice((1000, 2000, 4000)), self.inspector)
            session.note(self.fraud, "approved")

    def settled(self, session: Session) -> Any:
        return lambda player, amount, approver: session.settle(player, amount, None, approver)


class ShortCloser(Scheme):
    """Somebody takes 100.00 whenever he counts a table at its end."""

    kind = "closer"
    amount = 10_000

    def draw(self) -> None:
        self.strength = 1.0
        self.closer = self.casino.innocent_inspector()
        self.subject = (self.closer,)

    def counts(self, session: Session, counted: int, closer: str) -> int:
        if closer != self.closer:
            return counted
        session.note(self.fraud, "short", seq=len(session.tape.events) + 1)
        return counted - self.amount


class ShortOnDuty(Scheme):
    """The count of a table is short when one croupier was of its crew, mostly by a chip or two."""

    kind = "croupier"

    def draw(self) -> None:
        self.croupier = self.casino.innocent_croupier()
        self.subject = (self.croupier,)

    def counts(self, session: Session, counted: int, closer: str) -> int:
        if self.croupier not in session.crew or not self.takes(0.6):
            return counted
        session.note(self.fraud, "short", seq=len(session.tape.events) + 1)
        return counted - self.rng.choice((2500, 5000, 10_000))
