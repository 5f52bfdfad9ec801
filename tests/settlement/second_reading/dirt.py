"""Random streams in which money goes astray in every way that account.md knows, and is put right or not.

The coups are those of ``coups``; after each, every wager is paid, swept, lifted or forgotten, as the law has it or
not. A seed gives the same stream always. What is due is read by ``account``, only to pay it most often.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.settlement.second_reading import account
from tests.settlement.second_reading.book import Book
from tests.settlement.second_reading.boule import Boule
from tests.settlement.second_reading.chips import Chips
from tests.settlement.second_reading.coups import American, Craps, Quebec, Roulette, Session
from tests.settlement.second_reading.practice import Events

# Every family of money. A table that observes none of the others is silent about its dice, its wheel and its staff.
OBSERVES = ["calls", "collections", "decisions", "payouts", "results", "wagers"]

KINDS = {
    "won": {
        "paid right": 30,
        "paid in two parts": 3,
        "paid all as winnings": 2,
        "parts mixed up": 2,
        "parts mixed up and put right": 2,
        "winnings wrong": 4,
        "stake wrong": 3,
        "both wrong": 3,
        "paid twice": 3,
        "paid twice and put right": 2,
        "paid wrong and put right": 4,
        "not paid": 4,
        "swept": 3,
        "swept and paid": 3,
        "lifted and paid": 3,
        "lifted and handed back": 2,
        "rounded up": 3,
        "settled": 3,
        "left up": 3,
        "left up from": 3,
        "pressed": 2,
        "handed back and plays on": 1,
    },
    "lost": {
        "swept": 40,
        "not swept": 4,
        "paid": 3,
        "paid and taken back": 2,
        "handed back": 2,
        "lifted": 2,
        "lifted and handed back": 2,
        "lifted and swept": 2,
        "settled": 2,
        "recovered for nothing": 1,
    },
    "void": {
        "lifted unseen": 10,
        "lifted": 6,
        "handed back": 10,
        "half handed back": 4,
        "swept": 4,
        "swept and handed back": 4,
        "paid": 3,
        "lifted and handed back": 3,
        "settled": 2,
    },
    "withdrawn": {
        "gone": 20,
        "handed back": 6,
        "handed back in parts": 2,
        "too much handed back": 2,
        "swept": 2,
        "paid": 2,
    },
    "released": {
        "lifted unseen": 5,
        "handed back": 10,
        "lifted": 4,
        "swept": 2,
        "paid": 3,
        "orphaned": 2,
        "half handed back": 2,
        "left up": 2,
    },
    "half": {
        "handed back": 10,
        "lifted": 5,
        "lifted and handed back": 3,
        "swept and handed back": 4,
        "handed back and swept": 4,
        "swept": 2,
        "lifted unseen": 3,
        "600 of 1,000": 3,
        "handed back whole": 2,
    },
    "awaiting_decision": {
        "nothing": 8,
        "half handed out": 5,
        "half lifted": 5,
        "half lifted and swept": 3,
        "half swept and handed out": 3,
        "600 of 1,000": 4,
        "whole, then half taken": 3,
        "half twice": 2,
        "half rounded up": 2,
        "paid as won": 3,
        "swept": 2,
        "lifted whole": 2,
        "half settled": 1,
    },
    "imprisoned": {"nothing": 12, "lifted": 2, "handed back": 2, "paid": 2, "swept": 2, "half handed out": 2},
    "open": {
        "nothing": 60,
        "paid": 2,
        "handed back": 2,
        "handed back and put back": 2,
        "lifted": 2,
        "lifted and put back": 2,
        "swept": 1,
        "swept and handed back": 1,
        "settled": 1,
        "recovered for nothing": 1,
    },
}

LATER = {"not yet": 10, "put right": 6, "partly": 3, "too far": 3, "settled": 3, "settled too far": 1, "worse": 2}

ENTRIES = {
    "nothing": 40,
    "result corrected": 3,
    "result of an earlier coup corrected": 2,
    "result voided": 2,
    "result annulled": 1,
    "result read twice": 2,
    "payout corrected": 3,
    "payout annulled": 2,
    "correction annulled": 2,
    "withdrawal annulled": 1,
    "stake corrected": 1,
    "choice corrected": 1,
    "settlement annulled": 1,
    "goodwill": 2,
    "settled without a wager": 2,
    "settled twice": 2,
    "winner settled back": 2,
}

ANNULLED = {
    "payout annulled": ("payout.made", "payout.recovered"),
    "correction annulled": ("entry.corrected",),
    "withdrawal annulled": ("wager.withdrawn", "stakes.collected"),
    "settlement annulled": ("dispute.settled",),
}


class Dirt:
    """Writes what happens to the money of a session, coup by coup."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.rng = session.rng
        self.kinds: Counter[str] = Counter()
        """How often each kind of dirt was written: "status: kind"."""
        self.seen: set[str] = set()
        """The decided wagers that have been dealt with once."""
        self.disputes: list[tuple[int, str | None]] = []

    # What the stream says so far.

    def book(self) -> Book:
        events = account.standing(self.session.events)
        book = Book(account.TABLES[self.session.ruleset](events))
        book.enter(events)
        return book

    def last(self, *types: str) -> list[dict[str, Any]]:
        return [event for event in self.session.events if event["type"] in types]

    # The events, each with as much time as it needs.

    def put(self, type_: str, **data: Any) -> None:
        self.session.clock_ms += 200
        self.session.put(type_, self.session.clock_ms, **data)

    def pay(self, wager: str, winnings: int, stake: int, **more: Any) -> None:
        if winnings or stake or more:
            self.put("payout.made", wager=wager, winnings=max(0, winnings), stake_returned=max(0, stake), **more)

    def recover(self, wager: str, winnings: int, stake: int) -> None:
        parts = {name: amount for name, amount in (("winnings", winnings), ("stake", stake)) if amount > 0}
        if parts:
            self.put("payout.recovered", wager=wager, **parts)

    def sweep(self, *wagers: str) -> None:
        self.put("stakes.collected", wagers=list(wagers))

    def lift(self, wager: str, amount: int | None = None) -> None:
        if amount != 0:
            self.put("wager.withdrawn", wager=wager, **({} if amount is None else {"amount": amount}))

    def settle(self, wager: str | None, amount: int, **more: Any) -> None:
        self.put("dispute.opened", **({} if wager is None else {"wager": wager}), reason="short")
        opened = self.session.events[-1]["seq"]
        self.disputes.append((opened, wager))
        approved = {} if self.rng.randrange(20) == 0 else {"approved_by": "chef1"}
        self.put("dispute.settled", opened=opened, amount=amount, **approved, **more)

    def choose(self, of: dict[str, int]) -> str:
        return self.rng.choices(list(of), weights=list(of.values()))[0]

    def astray(self, amount: int) -> int:
        """Return an amount that is wrong, most often near a right one."""
        off = self.rng.choice([1, 7, max(1, amount // 2), amount, 3 * amount + 5])
        return max(0, amount + off * self.rng.choice([1, -1]))

    # One coup.

    def after_coup(self) -> None:
        book = self.book()
        fresh = [name for name, one in book.table.wagers.items() if name not in self.seen]
        self.rng.shuffle(fresh)
        losers = []
        for name in fresh:
            wager = book.table.wagers[name]
            status = "half" if wager.status.startswith("refunded") else wager.status
            if status in ("lost", "won", "void", "withdrawn", "half", "released"):
                self.seen.add(name)
            elif self.rng.randrange(3):
                continue
            kind = self.choose(KINDS[status])
            self.kinds[f"{status}: {kind}"] += 1
            if (status, kind) == ("lost", "swept"):
                losers.append(name)
            else:
                getattr(self, f"deal_{status}")(kind, name, wager)
        if losers:
            self.sweep(*losers)
        self.later(fresh)
        self.entries()

    def deal_won(self, kind: str, name: str, wager: Any) -> None:
        win, stake = wager.winnings_due, wager.stake_due
        match kind:
            case "paid right":
                self.pay(name, win, stake)
            case "paid in two parts":
                for winnings, returned in self.rng.sample([(win, 0), (0, stake)], 2):
                    self.pay(name, winnings, returned)
            case "paid all as winnings":
                self.pay(name, win + stake, 0)
            case "parts mixed up":
                part = self.rng.randrange(stake + 1)
                self.pay(name, win + part, stake - part)
            case "parts mixed up and put right":
                self.pay(name, win + stake, 0)
                self.recover(name, stake, 0)
                self.pay(name, 0, stake)
            case "winnings wrong":
                self.pay(name, self.astray(win), stake)
            case "stake wrong":
                self.pay(name, win, self.astray(stake))
            case "both wrong":
                self.pay(name, self.astray(win), self.astray(stake))
            case "paid twice":
                self.pay(name, win, stake)
                self.pay(name, win, stake)
                if self.rng.randrange(3) == 0:
                    self.recover(name, self.rng.randrange(win + 1), 0)
            case "paid twice and put right":
                self.pay(name, win, stake)
                self.pay(name, win, stake)
                self.recover(name, win, stake)
            case "paid wrong and put right":
                wrong, back = self.astray(win), self.astray(stake)
                self.pay(name, wrong, back)
                self.recover(name, wrong - win, back - stake)
                self.pay(name, max(0, win - wrong), max(0, stake - back))
            case _:
                self.deal_won_and_moved(kind, name, win, stake)

    def deal_won_and_moved(self, kind: str, name: str, win: int, stake: int) -> None:
        """Sweep, lift, settle or let play on what has won."""
        match kind:
            case "swept":
                self.sweep(name)
            case "swept and paid":
                self.sweep(name)
                self.pay(name, win, stake)
            case "lifted and paid":
                self.lift(name)
                self.pay(name, win, 0)
            case "lifted and handed back":
                part = self.rng.choice([None, stake // 3])
                self.lift(name, part)
                self.pay(name, win, stake if part is None else self.rng.choice([stake, stake - part]))
            case "rounded up":
                unit = self.session.unit
                self.pay(name, win + self.rng.choice([1, unit]), stake)
            case "settled":
                self.settle(name, self.rng.choice([win + stake, win, self.astray(win + stake)]))
            case "left up":
                self.session.continue_as_another(self.remembered(name), win, stake)
            case "left up from":
                self.pay(name, win, self.rng.choice([0, 0, stake]))
                self.place_again(name, self.rng.choice([stake, stake, max(1, stake // 2)]), left_up_from=name)
            case "pressed" | "handed back and plays on":
                is_pressed = kind == "pressed"
                press = min(win, max(1, stake // 2)) if is_pressed else 0
                new = self.session.new_id()
                self.pay(name, win - press, 0 if is_pressed else stake, continues_as=new)
                self.place_again(name, stake + press, wager=new)

    def remembered(self, name: str) -> dict[str, Any]:
        return next((data for data in self.session.recent if data["wager"] == name), {"wager": name, "bet": "rouge"})

    def place_again(self, name: str, stake: int, **more: Any) -> None:
        """Lay a stake on the same bet as that of ``name``."""
        data = next((one for one in self.session.recent if one["wager"] == name), None)
        if data is not None:
            if "number" in data:
                # It may have been moved.
                data = {**data, "number": getattr(self.book().table.wagers[name], "number", None) or data["number"]}
            laid = {**data, "wager": self.session.new_id(), "stake": stake, **more}
            self.put("wager.placed", **laid)
            self.session.recent = [*self.session.recent[-11:], laid]

    def deal_lost(self, kind: str, name: str, wager: Any) -> None:
        stake = wager.stake
        match kind:
            case "paid":
                self.pay(name, self.rng.choice([stake, 35 * stake]), self.rng.choice([0, stake]))
            case "paid and taken back":
                self.pay(name, stake, stake)
                self.recover(name, stake, stake)
            case "handed back":
                self.pay(name, 0, stake)
            case "lifted":
                self.lift(name, self.rng.choice([None, max(1, stake // 2)]))
            case "lifted and handed back":
                self.lift(name)
                self.pay(name, 0, stake)
            case "lifted and swept":
                self.lift(name)
                self.sweep(name)
            case "settled":
                self.settle(name, self.rng.choice([stake, 36 * stake]))
            case "recovered for nothing":
                self.recover(name, 0, stake)

    def deal_void(self, kind: str, name: str, wager: Any) -> None:
        stake = wager.laid
        match kind:
            case "lifted":
                self.lift(name)
            case "handed back":
                self.pay(name, 0, stake)
            case "half handed back":
                self.pay(name, 0, stake // 2)
                if self.rng.randrange(2):
                    self.sweep(name)
            case "swept":
                self.sweep(name)
            case "swept and handed back":
                self.sweep(name)
                self.pay(name, 0, self.rng.choice([stake, stake, self.astray(stake)]))
            case "paid":
                self.pay(name, stake, self.rng.choice([0, stake]))
            case "lifted and handed back":
                self.lift(name)
                self.pay(name, 0, stake)
            case "settled":
                self.settle(name, self.rng.choice([stake, 35 * stake]))

    def deal_withdrawn(self, kind: str, name: str, wager: Any) -> None:
        stake = wager.laid
        match kind:
            case "handed back":
                self.pay(name, 0, stake)
            case "handed back in parts":
                self.pay(name, 0, stake // 3)
                self.pay(name, 0, stake - stake // 3)
            case "too much handed back":
                self.pay(name, 0, stake + self.rng.choice([1, stake]))
            case "swept":
                self.sweep(name)
            case "paid":
                self.pay(name, stake, stake)

    def deal_released(self, kind: str, name: str, wager: Any) -> None:
        stake = wager.stake_due
        match kind:
            case "handed back":
                self.pay(name, 0, stake)
            case "half handed back":
                self.pay(name, 0, stake // 2)
            case "lifted":
                self.lift(name, stake)
            case "swept":
                self.sweep(name)
            case "paid":
                self.pay(name, stake, stake)
            case "orphaned":
                self.put("orphan.recorded", wager=name, amount=stake, slip="O-1")
            case "left up":
                self.place_again(name, max(1, stake), left_up_from=name)

    def deal_half(self, kind: str, name: str, wager: Any) -> None:
        half = wager.stake_due
        match kind:
            case "handed back":
                self.pay(name, 0, half)
            case "lifted":
                self.lift(name, half)
            case "lifted and handed back":
                self.lift(name, half)
                self.pay(name, 0, half)
            case "swept and handed back":
                self.sweep(name)
                self.pay(name, 0, half)
            case "handed back and swept":
                self.pay(name, 0, half)
                self.sweep(name)
            case "swept":
                self.sweep(name)
            case "600 of 1,000":
                self.pay(name, 0, wager.stake * 6 // 10)
            case "handed back whole":
                self.pay(name, 0, wager.stake)

    def deal_awaiting_decision(self, kind: str, name: str, wager: Any) -> None:
        unit, stake = self.session.unit, wager.stake
        half = int(wager.half // unit * unit)
        match kind:
            case "half handed out":
                self.pay(name, 0, half)
            case "half lifted":
                self.lift(name, half)
            case "half lifted and swept":
                self.lift(name, half)
                self.sweep(name)
            case "half swept and handed out":
                self.sweep(name)
                self.pay(name, 0, half)
            case "600 of 1,000":
                self.pay(name, 0, stake * 6 // 10)
            case "whole, then half taken":
                self.pay(name, 0, stake)
                self.recover(name, 0, stake - half)
            case "half twice":
                self.pay(name, 0, half)
                self.pay(name, 0, half)
            case "half rounded up":
                self.pay(name, 0, int(-(-wager.half // unit) * unit))
            case "paid as won":
                self.pay(name, stake, stake)
            case "swept":
                self.sweep(name)
            case "lifted whole":
                self.lift(name)
            case "half settled":
                self.settle(name, half)

    def deal_imprisoned(self, kind: str, name: str, wager: Any) -> None:
        match kind:
            case "half handed out":
                self.deal_awaiting_decision(kind, name, wager)
            case _:
                self.deal_open(kind, name, wager)

    def deal_open(self, kind: str, name: str, wager: Any) -> None:
        stake = wager.stake
        match kind:
            case "paid":
                self.pay(name, stake, stake)
            case "handed back":
                self.pay(name, 0, stake)
            case "handed back and put back":
                self.pay(name, 0, stake)
                self.recover(name, 0, stake)
            case "lifted":
                self.lift(name, self.rng.choice([None, max(1, stake // 2)]))
            case "lifted and put back":
                self.lift(name)
                self.recover(name, 0, stake)
            case "swept":
                self.sweep(name)
            case "swept and handed back":
                self.sweep(name)
                self.pay(name, 0, stake)
            case "settled":
                self.settle(name, stake)
            case "recovered for nothing":
                self.recover(name, 0, max(1, stake // 2))

    # What is made good, or worse, in a later coup.

    def later(self, fresh: list[str]) -> None:
        book = self.book()
        for name in list(book.accounts):
            balance = account.balance(book, name)
            is_undecided = name in fresh and book.is_undecided(name)
            if name in fresh and not is_undecided:
                continue
            if balance.debt != 0:
                kind = self.choose(LATER)
                self.kinds[f"later: {kind}"] += 1
                self.deal_later(kind, name, balance.debt)
            elif not is_undecided and self.is_lying(book, name) and self.rng.randrange(3) == 0:
                self.kinds["later: loser swept"] += 1
                self.sweep(name)

    def is_lying(self, book: Book, name: str) -> bool:
        wager = book.wager(name)
        return wager is not None and wager.status == "lost" and is_lying(book.accounts[name], wager.stake)

    def deal_later(self, kind: str, name: str, debt: int) -> None:
        size = abs(debt)
        match kind:
            case "put right" if debt < 0:
                part = self.rng.choice([0, size, self.rng.randrange(size + 1)])
                self.pay(name, part, size - part)
            case "put right":
                part = self.rng.choice([0, size, self.rng.randrange(size + 1)])
                self.recover(name, part, size - part)
            case "partly" if debt < 0:
                self.pay(name, size // 2, 0)
            case "partly":
                self.recover(name, size // 2, 0)
            case "too far" if debt < 0:
                self.pay(name, size + self.rng.choice([1, size]), 0)
            case "too far":
                self.recover(name, size + self.rng.choice([1, size]), 0)
            case "settled" | "settled too far":
                amount = size if kind == "settled" else 2 * size + 3
                self.settle(name, amount, **({} if debt < 0 else {"by": "player"}))
            case "worse" if debt < 0:
                self.recover(name, self.rng.choice([1, size]), 0)
            case "worse":
                self.pay(name, self.rng.choice([1, size]), 0)

    # What is corrected, annulled, called void, or paid to a player as well.

    def entries(self) -> None:
        kind = self.choose(ENTRIES)
        before = len(self.session.events)
        if kind in ANNULLED:
            for event in self.some(*ANNULLED[kind]):
                self.annul(event)
        elif kind.endswith("corrected"):
            self.correct_one(kind)
        else:
            self.undo_or_settle(kind)
        if len(self.session.events) > before:
            self.kinds[f"entries: {kind}"] += 1

    def correct_one(self, kind: str) -> None:
        match kind:
            case "result corrected":
                self.correct_result(self.results()[-1:])
            case "result of an earlier coup corrected":
                self.correct_result(self.results()[-6:-1])
            case "payout corrected":
                for event in self.some("payout.made"):
                    data = event["data"]
                    self.correct(event, data | {"winnings": self.astray(data["winnings"])})
            case "stake corrected":
                for event in self.some("wager.placed"):
                    self.correct(event, event["data"] | {"stake": self.session.stake()})
            case "choice corrected":
                for event in self.some("zero.decided"):
                    other = "half" if event["data"]["choice"] == "prison" else "prison"
                    self.correct(event, event["data"] | {"choice": other})

    def undo_or_settle(self, kind: str) -> None:
        match kind:
            case "result voided":
                self.void_result()
            case "result annulled":
                for event in self.results()[-1:]:
                    self.annul(event)
            case "result read twice":
                for event in self.results()[-1:]:
                    self.put(event["type"], **event["data"])
                    self.annul(self.session.events[-1])
            case "goodwill":
                self.put("goodwill.paid", amount=500, reason="kind", approved_by="chef1")
                self.put("tip.given", amount=100)
            case "settled without a wager":
                self.settle(None, 700)
            case "settled twice":
                for opened, wager in self.disputes[-1:]:
                    book = self.book()
                    debt = account.balance(book, wager).debt if wager in book.accounts else 0
                    amount = -debt if debt < 0 and self.rng.randrange(2) else 50
                    self.put("dispute.settled", opened=opened, amount=amount, approved_by="chef1")
            case "winner settled back":
                for event in self.some("payout.made"):
                    self.settle(event["data"]["wager"], max(1, event["data"]["winnings"]), by="player")

    def results(self) -> Events:
        """Return the results that stand."""
        events = account.standing(self.session.events)
        table = account.TABLES[self.session.ruleset](events)
        return [event for event in events if table.is_result(event)]

    def some(self, *types: str) -> Events:
        """Return one of the last events of these types, if any stands."""
        events = account.standing(self.session.events)
        found = [event for event in events if event["type"] in types][-5:]
        return [self.rng.choice(found)] if found else []

    def correct(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        self.put("entry.corrected", corrects=event["seq"], data=data, reason="keyed wrong", approved_by="chef1")

    def annul(self, event: dict[str, Any]) -> None:
        self.put("entry.annulled", annuls=event["seq"], reason="read twice", approved_by="chef1")

    def correct_result(self, results: Events) -> None:
        if not results:
            return
        event = self.rng.choice(results)
        if isinstance(self.session, Craps):
            data = event["data"] | {"faces": self.session.faces()}
        elif isinstance(self.session, Boule):
            data = {"number": self.rng.randrange(1, 10)}
        else:
            zeros = ["0", "00"] if isinstance(self.session, American) else ["0"]
            data = {"pocket": self.rng.choice([self.rng.choice(zeros), *map(str, self.rng.sample(range(37), 3))])}
        if data != event["data"]:
            self.correct(event, data)

    def void_result(self) -> None:
        events = account.standing(self.session.events)
        results = [event for event in events if event["type"] in account.VOIDS.values()]
        for event in results[-1:]:
            if isinstance(self.session, Craps):
                self.put("throw.voided", announced_by="stickman", flags=["slid"], voids=event["seq"])
            elif isinstance(self.session, Boule):
                self.put("boule.voided", reason="unsure", voids=event["seq"])
            else:
                self.put("spin.voided", announced_by="croupier", reason="unsure", voids=event["seq"])


def is_lying(chips: Chips, stake: int) -> bool:
    return chips.net == 0 and chips.lies(stake) > 0


def stream(seed: int) -> tuple[Session, int, Counter[str]]:
    """Return the session of a seed, written to its end, its number of coups, and the kinds of dirt in it.

    Even seeds are roulette, odd craps; of ten, one is American, one la boule and one of Québec. A stream ends with a
    result or a close: the last coup that has ended is judged.
    """
    games = {4: American, 5: Quebec, 8: Boule}
    session = games.get(seed % 10, Craps if seed % 2 else Roulette)(seed, practice=True)
    session.observes = OBSERVES
    session.open()
    dirt = Dirt(session)
    coups = session.rng.randrange(1, 25)
    for _ in range(coups):
        if session.chance(3):
            session.left_lying()
        session.coup()
        dirt.after_coup()
    if session.chance(40):
        session.last_coup()
        dirt.after_coup()
        coups += 1
    session.clock_ms += 1000
    if session.chance(60):
        session.put("session.closed", session.clock_ms, float=10**12)
    else:
        session.result()
    return session, coups, dirt.kinds
