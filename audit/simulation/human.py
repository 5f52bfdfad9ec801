"""What honest people do at a table: they err and put it right, change their minds, come and go, are seen too late.

A *deed* is one such thing, done at random where there is an occasion. None of them breaks the law: a human night has
findings for information and no others. The chance is apart from the table's, so that an orderly night is what it is
without any of this; a coup in which an irregularity was requested is left alone, so that nobody puts that right.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from audit.simulation.deeds import BELATED, DEEDS
from audit.simulation.played_table import PlayedTable
from settlement.accounts import odds_of
from settlement.state import Wager

FEWEST_PLAYERS = 4
CHIEF = "chef-1"


class Human:
    """The whims of one table. ``deeds`` counts what was done; ``is_belated``: some is put right after its coup only."""

    def __init__(self, session: PlayedTable, chance: random.Random, *, is_belated: bool = False) -> None:
        self.session = session
        self.chance = chance
        self.deeds = Counter[str]()
        self._chances = {**DEEDS, **BELATED} if is_belated else DEEDS
        self.swept_halves: list[str] = []
        self._on_duty = {"croupier": 1, "chef": 1}
        self._later: list[Callable[[], None]] = []
        self._disputes: list[Callable[[], None]] = []
        self._next_coup: list[tuple[int, Callable[[], None]]] = []
        self._ways: Mapping[str, Callable[[Wager], bool]] = {
            "rounded up": self._round_up,
            "overpaid and recovered": self._overpay,
            "underpaid and completed": self._underpay,
            "winnings and stake apart": self._pay_apart,
            "paid twice and recovered": self._pay_twice,
            "recovered in two": self._recover_in_two,
            "recovered too much": self._recover_too_much,
            "paid in three": self._pay_in_three,
            "paid by another": self._pay_by_another,
            "slow clock": self._pay_by_a_slow_clock,
            "announced again": self._announce_again,
            "payment read twice": self._pay_read_twice,
            "payment misread": self._pay_misread,
            "left lying": self._leave_lying,
            "pressed": self._press,
            "disputed": self._dispute,
            "completed in the next coup": self._complete_in_the_next_coup,
            "recovered in the next coup": self._recover_in_the_next_coup,
            "paid in the next coup": self._pay_in_the_next_coup,
        }

    def does(self, deed: str) -> bool:
        """Return whether to do ``deed`` now; never in a coup in which an irregularity was requested."""
        if self.session.disturbed == self.session.coup or self.chance.random() >= self._chances.get(deed, 0):
            return False
        self.deeds[deed] += 1
        return True

    def _undo(self, deed: str) -> bool:
        self.deeds[deed] -= 1
        return False

    # Money

    def pays(self, wager: Wager) -> bool:
        """Pay a wager that won in a way of its own. Return whether it was paid so."""
        return any(self.does(deed) and (way(wager) or self._undo(deed)) for deed, way in self._ways.items())

    def put_right(self) -> None:
        """Do what was put off until everybody was paid."""
        later, self._later = self._later, []
        for step in later:
            step()
        due = [step for coup, step in self._next_coup if coup < self.session.coup]
        self._next_coup = [each for each in self._next_coup if each[0] >= self.session.coup]
        for step in due:
            step()

    def _soon(self, step: Callable[[], None]) -> None:
        if self.chance.random() < 0.5:
            step()
        else:
            self._later.append(step)

    def _overpay(self, wager: Wager) -> bool:
        writer, winnings, extra = self.session.writer, wager.winnings_due, 100 * self.chance.randint(1, 9)
        self.session.before_payment(wager.id, winnings)
        writer.pay(wager, winnings=winnings + extra, **self.session.payment_data(wager.id))
        self._soon(lambda: writer.recover(wager, winnings=extra, reason="miscounted"))
        return True

    def _underpay(self, wager: Wager) -> bool:
        writer, winnings = self.session.writer, wager.winnings_due
        if winnings <= 100:
            return False
        self.session.before_payment(wager.id, winnings)
        writer.pay(wager, winnings=winnings - 100, **self.session.payment_data(wager.id))
        self._soon(lambda: writer.pay(wager, winnings=100, stake=0))
        return True

    def _pay_apart(self, wager: Wager) -> bool:
        writer, stake = self.session.writer, wager.stake_due
        self.session.before_payment(wager.id, wager.winnings_due)
        writer.pay(wager, stake=0, **self.session.payment_data(wager.id))
        self._soon(lambda: writer.pay(wager, winnings=0, stake=stake))
        return True

    def _pay_twice(self, wager: Wager) -> bool:
        writer, winnings, stake = self.session.writer, wager.winnings_due, wager.stake_due
        self.session.before_payment(wager.id, winnings)
        for _ in range(2):
            writer.pay(wager, winnings=winnings, stake=stake, **self.session.payment_data(wager.id))
        self._soon(lambda: writer.recover(wager, winnings=winnings, stake=stake))
        return True

    def _recover_in_two(self, wager: Wager) -> bool:
        writer, winnings = self.session.writer, wager.winnings_due
        self.session.before_payment(wager.id, winnings)
        writer.pay(wager, winnings=winnings + 500, **self.session.payment_data(wager.id))
        self._soon(lambda: writer.recover(wager, winnings=200))
        self._soon(lambda: writer.recover(wager, winnings=300))
        return True

    def _recover_too_much(self, wager: Wager) -> bool:
        writer, winnings = self.session.writer, wager.winnings_due
        self.session.before_payment(wager.id, winnings)
        writer.pay(wager, winnings=winnings + 300, **self.session.payment_data(wager.id))
        writer.recover(wager, winnings=500)
        self._soon(lambda: writer.pay(wager, winnings=200, stake=0))
        return True

    def _pay_in_three(self, wager: Wager) -> bool:
        writer, winnings, stake = self.session.writer, wager.winnings_due, wager.stake_due
        self.session.before_payment(wager.id, winnings)
        writer.pay(wager, winnings=winnings // 3, stake=0, **self.session.payment_data(wager.id))
        writer.pay(wager, winnings=winnings - winnings // 3, stake=0)
        self._soon(lambda: writer.pay(wager, winnings=0, stake=stake))
        return True

    def _pay_by_another(self, wager: Wager) -> bool:
        self.session.before_payment(wager.id, wager.winnings_due)
        self.session.writer.pay(wager, actor="croupier-3", **self.session.payment_data(wager.id))
        return True

    def _pay_by_a_slow_clock(self, wager: Wager) -> bool:
        behind_s = self.chance.uniform(0.2, 1.9)
        self.session.before_payment(wager.id, wager.winnings_due)
        self.session.writer.pay(wager, wait_s=-behind_s, **self.session.payment_data(wager.id))
        self.session.writer.let_pass(behind_s)  # the clock of one device is slow, not that of the call that follows
        return True

    def _announce_again(self, wager: Wager) -> bool:
        """Announce another amount, and the right one before it is paid."""
        if not self.session.pays_in_order:
            return False
        self.session.before_payment(wager.id, wager.winnings_due * 2)
        self.session.before_payment(wager.id, wager.winnings_due)
        self.session.writer.pay(wager, **self.session.payment_data(wager.id))
        return True

    def _round_up(self, wager: Wager) -> bool:
        """Pay the fraction of a cent, or leave it whole, in the player's favour."""
        odds = odds_of(wager)
        if not wager.standing * odds.pays % odds.per:
            return False
        winnings = wager.winnings_due + 1
        self.session.before_payment(wager.id, winnings)
        self.session.writer.pay(wager, winnings=winnings, **self.session.payment_data(wager.id))
        return True

    def _pay_read_twice(self, wager: Wager) -> bool:
        session, winnings, stake = self.session, wager.winnings_due, wager.stake_due
        session.before_payment(wager.id, winnings)
        session.writer.pay(wager, **session.payment_data(wager.id))
        session.writer.may_be_undone()
        session.writer.pay(wager, winnings=winnings, stake=stake, **session.payment_data(wager.id))
        session.writer.paid_out -= winnings  # it was paid once
        self._annul("read twice")
        return True

    def _pay_misread(self, wager: Wager) -> bool:
        session, winnings, stake = self.session, wager.winnings_due, wager.stake_due
        data = session.payment_data(wager.id)
        session.before_payment(wager.id, winnings)
        session.writer.may_be_undone()
        session.writer.pay(wager, winnings=winnings * 10, **data)
        session.writer.paid_out -= winnings * 9  # the right amount was paid
        self._correct({"wager": wager.id, "winnings": winnings, "stake_returned": stake, **data})
        return True

    def pay_a_loser(self, wager: Wager) -> None:
        writer = self.session.writer
        writer.pay(wager, winnings=500, stake=0)
        self._soon(lambda: writer.recover(wager, winnings=500, reason="had lost"))

    def _leave_lying(self, wager: Wager) -> bool:
        return self._play_on(wager, 0)

    def _press(self, wager: Wager) -> bool:
        most = min(3, wager.winnings_due // (self.session.unit_of(wager) or 1))
        return most > 0 and self._play_on(wager, self.session.unit_of(wager) * self.chance.randint(1, most))

    def _play_on(self, wager: Wager, pressed: int) -> bool:
        """Pay the winnings less ``pressed``, and let the stake play on with that on top."""
        session, writer = self.session, self.session.writer
        data = session.left_up_data(wager, wager.standing + pressed)
        if data is None:
            return False
        winnings, stake = wager.winnings_due - pressed, wager.standing + pressed
        session.before_payment(wager.id, winnings)
        named = self.chance.random() < 0.5
        name = writer.next_wager if named else ""
        paid = {**session.payment_data(wager.id), **({"continues_as": name} if named else {})}
        writer.pay(wager, winnings=winnings, stake=0, **paid)
        writer.paid_out += pressed  # went from the rack to the layout
        if named and not pressed and not data.get("commission"):
            writer.take_name()
        else:
            writer.place(wager.bet, stake, **data, **({} if named else {"left_up_from": wager.id}))
        return True

    def _dispute(self, wager: Wager) -> bool:
        """Pay too little, or too much; the two sides settle it, perhaps only after the next results."""
        session, writer, winnings = self.session, self.session.writer, wager.winnings_due
        if wager.account is not None and wager.account.claims:
            return False  # a settlement is for all that is wrong with a wager, not for one of two faults
        is_short = winnings > 100 and self.chance.random() < 0.6
        amount, by = (100, "house") if is_short else (200, "player")
        paid = winnings - 100 if is_short else winnings + 200
        session.before_payment(wager.id, paid)
        writer.pay(wager, winnings=paid, **session.payment_data(wager.id))
        player: dict[str, Any] = {"player": wager.player} if wager.player else {}
        opened = writer.write("dispute.opened", wager=wager.id, **player, reason="amount")["seq"]

        def settle() -> None:
            writer.paid_out += amount if by == "house" else -amount
            writer.write("dispute.settled", opened=opened, amount=amount, by=by, approved_by=CHIEF)

        if self.chance.random() < 0.5:
            settle()
        else:
            self._disputes.append(settle)
        return True

    # Money that is put right after the next result only

    def _in_the_next_coup(self, step: Callable[[], None]) -> bool:
        if self.session.coup >= self.session.coups:
            return False
        self._next_coup.append((self.session.coup, step))
        return True

    def _complete_in_the_next_coup(self, wager: Wager) -> bool:
        session, writer, winnings = self.session, self.session.writer, wager.winnings_due

        def complete() -> None:
            session.before_payment(wager.id, 100)
            writer.pay(wager, winnings=100, stake=0)

        if winnings <= 100 or not self._in_the_next_coup(complete):
            return False
        session.before_payment(wager.id, winnings - 100)
        writer.pay(wager, winnings=winnings - 100, **session.payment_data(wager.id))
        return True

    def _recover_in_the_next_coup(self, wager: Wager) -> bool:
        session, writer, winnings = self.session, self.session.writer, wager.winnings_due
        if not self._in_the_next_coup(lambda: writer.recover(wager, winnings=200, reason="miscounted")):
            return False
        session.before_payment(wager.id, winnings + 200)
        writer.pay(wager, winnings=winnings + 200, **session.payment_data(wager.id))
        return True

    def _pay_in_the_next_coup(self, wager: Wager) -> bool:
        winnings, stake, writer = wager.winnings_due, wager.stake_due, self.session.writer
        in_order = self.session.pays_in_order  # there the wheel must not spin before everybody is paid
        return not in_order and self._in_the_next_coup(lambda: writer.pay(wager, winnings=winnings, stake=stake))

    def between_coups(self) -> None:
        """Settle disputes; give, come and go."""
        session, writer = self.session, self.session.writer
        while self._disputes and (session.coup >= session.coups or self.chance.random() < 0.5):
            self._disputes.pop(0)()
        if self.does("dispute about nothing"):
            about: dict[str, Any] = {"player": self.chance.choice(session.players).name}
            known = list(writer.table.wagers)
            if known and self.chance.random() < 0.7:
                about = {"wager": self.chance.choice(known[-20:])}
            opened = writer.write("dispute.opened", **about, reason="says that it had won")["seq"]
            writer.write("dispute.settled", opened=opened, approved_by=CHIEF)
        if self.does("goodwill"):
            player = self.chance.choice(session.players).name
            writer.paid_out += 500
            writer.write("goodwill.paid", player=player, amount=500, approved_by=CHIEF, reason="drink spilt")
        lost = [wager for wager in list(writer.table.wagers.values())[-20:] if wager.status == "lost"]
        if lost and self.does("disputed and paid as goodwill"):
            wager = self.chance.choice(lost)
            whose: dict[str, Any] = {"player": wager.player} if wager.player else {}
            opened = writer.write("dispute.opened", wager=wager.id, **whose, reason="placed elsewhere")["seq"]
            writer.paid_out += wager.standing
            reason = f"stake of {wager.id}"
            writer.write("goodwill.paid", **whose, amount=wager.standing, approved_by=CHIEF, reason=reason)
            writer.write("dispute.settled", opened=opened, approved_by=CHIEF)
        if self.does("buys again"):
            session.buy_in(self.chance.choice(session.players), self.chance)
        if self.does("buy-in corrected in a later coup"):
            self._correct_a_buy_in()
        if self.does("integrator's event"):
            writer.write("x.demo.camera", frame=self.chance.randrange(10_000))
        if session.has_croupiers and self.does("croupiers change"):
            self._relieve("croupier", "croupier")
        if session.has_croupiers and self.does("chiefs change"):
            self._relieve("chef", "chef_de_table")
        self._come_and_go()

    def _relieve(self, who: str, role: str) -> None:
        number = self._on_duty[who]
        self._on_duty[who] = 3 - number
        self.session.writer.write("staff.relieved", person=f"{who}-{number}", role=role)
        self.session.writer.write("staff.assigned", person=f"{who}-{3 - number}", role=role)

    @property
    def chief(self) -> str:
        """The chef de table on duty."""
        return f"chef-{self._on_duty['chef']}"

    def _correct_a_buy_in(self) -> None:
        """Correct the last buy-in, of whichever coup, to what it was."""
        session, writer = self.session, self.session.writer
        event = next(each for each in reversed(writer.events) if each["type"] == "buy_in.recorded")
        data = {**event["data"], "amount": event["data"]["amount"] + 500}
        session.bought += 500
        writer.write("entry.corrected", corrects=event["seq"], data=data, reason="misread", approved_by=CHIEF)

    def settle_disputes(self) -> None:
        """Settle what is still disputed, before the close."""
        while self._disputes:
            self._disputes.pop(0)()

    def tip(self, wager: Wager) -> None:
        if wager.player and self.does("tip"):
            self.session.writer.write("tip.given", player=wager.player, amount=100 * self.chance.randint(1, 20))

    # People

    def _come_and_go(self) -> None:
        session = self.session
        if len(session.players) > FEWEST_PLAYERS and self.does("leaves"):
            staking = {wager.player for wager in session.writer.live}
            free = [player for player in session.players if player.name not in staking and not session.is_held(player)]
            if free:
                session.let_go(self.chance.choice(free))
        movable = [player for player in session.players if not session.is_held(player)]
        if session.lets_leave_with_stakes and movable:
            if len(session.players) > FEWEST_PLAYERS and self.does("leaves with stakes"):
                session.let_go(self.chance.choice(movable))
                return
            if session.free_seats() and self.does("changes seat"):
                session.change_seat(self.chance.choice(movable), self.chance.choice(session.free_seats()))
                return
        seats = session.free_seats()
        if seats and self.does("arrives"):
            session.let_in(self.chance.choice(seats))

    # Zero

    def decides_zero(self, wager: Wager) -> bool:
        """Say what happens to a stake that a zero hit, in a way of its own. Return whether it was done."""
        writer = self.session.writer
        if self.does("half paid unsaid"):
            sweeps = self.chance.choice(("no", "before", "after"))
            if sweeps == "before":
                writer.write("stakes.collected", wagers=[wager.id])
            elif sweeps == "after":
                self.swept_halves.append(wager.id)
            writer.pay(wager, winnings=0, stake=wager.standing // 2**wager.zeros)
            if self.chance.random() < 0.3:
                writer.write("zero.decided", wager=wager.id, choice="half")
            return True
        if self.does("other choice"):
            choices = ["half", "prison"] if self.chance.random() < 0.5 else ["prison", "half"]
            for choice in choices:
                writer.write("zero.decided", wager=wager.id, choice=choice)
            return True
        return False

    def decides_late(self, wagers: Iterable[str]) -> None:
        """Say what happens to stakes that a zero hit, when the next stakes are placed already."""
        writer = self.session.writer
        for wager_id in wagers:
            wager = writer.table.wagers[wager_id]
            choice = self.chance.choice(("half", "prison"))
            writer.write("zero.decided", wager=wager_id, choice=choice)
            if choice == "half":
                writer.pay(wager)

    def releases(self, wager: Wager) -> bool:
        """Let a stake that came out of prison be lifted, lie without an owner, or play on."""
        session, writer, stake = self.session, self.session.writer, wager.stake_due
        if self.does("released and lifted"):
            return True
        if self.does("released and orphaned"):
            writer.write("orphan.recorded", wager=wager.id, amount=stake, slip=session.next_slip())
            return True
        data = session.left_up_data(wager, stake)
        if data is not None and stake >= 400 and self.does("released and left lying"):
            writer.place(wager.bet, stake, left_up_from=wager.id, **data)
            return True
        return False

    # Sensors and readers

    def places(self, bet: str, stake: int, data: Mapping[str, Any]) -> bool:
        """Place a stake that is read wrongly first. Return whether it was placed."""
        writer = self.session.writer
        if self.does("stake misread"):
            writer.may_be_undone()
            placed = writer.place(bet, stake * 2, **data)
            right = {"wager": placed, "bet": bet, "stake": stake, **{k: v for k, v in data.items() if k != "wait_s"}}
            self._correct(right)
            return True
        if self.does("stake read twice"):
            writer.place(bet, stake, **data)
            writer.may_be_undone()
            writer.place(bet, stake, **data)
            self._annul("read twice")
            return True
        return False

    def reads(self, kind: str, wait_s: float, right: Mapping[str, Any], wrong: Mapping[str, Any]) -> bool:
        """Write a result that is read wrongly, or twice. Return whether it was written."""
        writer, actor = self.session.writer, self.session.reader
        if self.does("result misread"):
            writer.may_be_undone()
            writer.write(kind, wait_s=wait_s, actor=actor, **{**right, **wrong})
            self._correct(dict(right))
            return True
        # A second reading that would decide something more takes that from the players when it is annulled.
        is_harmless = right.get("pocket", str(right.get("number", 0))) not in ("0", "00")
        if self.does("result read twice" if is_harmless else "decision read twice"):
            writer.write(kind, wait_s=wait_s, actor=actor, **right)
            writer.may_be_undone()
            writer.write(kind, wait_s=0.3, actor=actor, **right)
            self._annul("read twice")
            return True
        return False

    def marks(self, kind: str, right: Mapping[str, Any], wrong: Mapping[str, Any], deed: str) -> bool:
        """Write what is read wrongly first, and corrected at once. Return whether it was written."""
        if not self.does(deed):
            return False
        self.session.writer.may_be_undone()
        self.session.writer.write(kind, **{**right, **wrong})
        self._correct(dict(right))
        return True

    def fills(self, kind: str, data: Mapping[str, Any]) -> None:
        """Have a slip that was just written read a second time."""
        if self.does("slip read twice"):
            self.session.writer.may_be_undone()
            self.session.writer.write(kind, **data)
            self._annul("read twice")

    def _correct(self, data: dict[str, Any]) -> None:
        corrects = self.session.writer.next_seq - 1
        self.session.writer.write("entry.corrected", corrects=corrects, data=data, reason="misread", approved_by=CHIEF)

    def _annul(self, reason: str) -> None:
        annuls = self.session.writer.next_seq - 1
        self.session.writer.write("entry.annulled", annuls=annuls, reason=reason, approved_by=CHIEF)
