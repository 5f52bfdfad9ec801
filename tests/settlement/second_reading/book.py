"""The accounts of all wagers of a stream, entry by entry. What is due to a wager, the table of its game says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tests.settlement.second_reading.chips import Account, Chips
from tests.settlement.second_reading.practice import Due, Events, Wager

UNDECIDED = ("open", "awaiting_decision", "imprisoned")


class Table(Protocol):
    """A table of one game, which knows what is due to each wager."""

    unit: int

    @property
    def wagers(self) -> Mapping[str, Any]: ...

    def is_result(self, event: dict[str, Any]) -> bool: ...

    def apply(self, event: dict[str, Any], book: Book) -> None: ...

    def read_from_chips(self, book: Book) -> None: ...

    def note_held(self, book: Book) -> None: ...

    def play_on(self, wager: Any, name: str, stake: int) -> None: ...


class Book:
    """A table, and the account of each of its wagers."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.accounts: dict[str, Account] = {}
        self.disputes: dict[int, str | None] = {}
        """The wager that each dispute names."""
        self.continued: dict[str, str] = {}
        """The wagers that a payout of this coup lets play on, by their new names."""
        self.left: dict[str, int] = {}
        """The stakes that were not handed back, of those wagers."""

    def enter(self, events: Events) -> None:
        for event in events:
            if self.table.is_result(event) or event["type"] == "session.closed":
                self.end_coup()
            self.enter_one(event)
            if self.table.is_result(event):
                self.table.note_held(self)

    def end_coup(self) -> None:
        self.table.read_from_chips(self)
        self.continued, self.left = {}, {}
        for name, account in self.accounts.items():
            for chips in account.answers if self.is_undecided(name) else []:
                chips.handed_back = 0
            if any(chips.pressed for chips in account.answers):
                due = self.due_to(name)
                for chips in account.answers:
                    chips.press(due)

    def enter_one(self, event: dict[str, Any]) -> None:
        name = event["data"].get("wager", "")
        wager = self.wager(name)
        standing = wager.stake if wager else 0
        known = set(self.table.wagers)
        self.table.apply(event, self)
        for new in self.table.wagers.keys() - known:
            self.open_account(new, self.table.wagers[new].laid)
        self.move(event, standing, is_new=name not in known)

    def wager(self, name: str) -> Wager | None:
        return self.table.wagers.get(name)

    def account(self, name: str) -> Account:
        """Return the account of a wager. An unknown one has nothing on the felt."""
        return self.accounts.setdefault(name, Account())

    def open_account(self, name: str, laid: int) -> None:
        """Open the account of a wager. What was paid to its name before it was laid stays in it."""
        for chips in self.account(name).answers:
            chips.laid += laid
            chips.felt += laid

    def move(self, event: dict[str, Any], standing: int, *, is_new: bool) -> None:
        data = event["data"]
        match event["type"]:
            case "wager.placed" if data["wager"] in self.continued:
                self.describe(data)
            case "wager.placed" if is_new and "left_up_from" in data:
                self.leave_up(data)
            case "wager.withdrawn":
                if data["wager"] in self.accounts:
                    amount = data.get("amount")
                    self.accounts[data["wager"]].each(lambda chips: chips.withdraw(amount, standing))
            case "stakes.collected":
                for name in data["wagers"]:
                    if name in self.accounts:
                        self.accounts[name].each(Chips.sweep)
            case "payout.made":
                self.pay(data)
            case "payout.recovered":
                winnings, stake = data.get("winnings", 0), data.get("stake", 0)
                is_undecided = self.is_undecided(data["wager"])
                self.account(data["wager"]).each(
                    lambda chips: chips.recover(winnings, stake, is_undecided=is_undecided)
                )
            case "dispute.opened":
                self.disputes[event["seq"]] = data.get("wager")
            case "dispute.settled":
                self.settle(data)

    def is_undecided(self, name: str) -> bool:
        wager = self.wager(name)
        return wager is not None and wager.status in UNDECIDED

    def pay(self, data: dict[str, Any]) -> None:
        account = self.account(data["wager"])
        account.each(lambda chips: chips.add(data["winnings"]))
        account.each(lambda chips: chips.hand_back(data["stake_returned"]))
        name = data.get("continues_as")
        wager = self.wager(data["wager"])
        if name is None or wager is None or self.wager(name) is not None:
            return
        # Practice: it "plays on with the stake that was not handed back".
        handed_back = max(0, account.answers[0].handed_back)
        left = self.left[name] = max(0, self.stake_of(wager) - handed_back)
        self.continued[name] = data["wager"]
        if left > 0:
            self.table.play_on(wager, name, left)
            self.open_account(name, left)
            account.each(lambda chips: chips.play_on(left))

    def stake_of(self, wager: Wager) -> int:
        """Return the stake that can play on, due or not: of a lost wager that plays on, the house is short."""
        return wager.stake if wager.status == "lost" else wager.stake_due

    def describe(self, data: dict[str, Any]) -> None:
        """Take the stake that plays on from the wager.placed that describes it."""
        name, stake = data["wager"], data["stake"]
        source = self.continued.pop(name)
        left = self.left.pop(name)
        stake_due = self.stake_of(self.table.wagers[source])
        wager = self.table.wagers[name]
        self.open_account(name, stake - wager.laid)
        wager.stake = wager.laid = stake
        if "commission" in data and wager.status == "void":
            wager.status = "open"  # At Québec: "accepted after the player has paid a commission".
        wager.stake_due = stake if wager.status == "void" else 0
        for chips in self.account(source).answers:
            # Account: "a stake that was handed back and plays on as well is held twice".
            chips.play_on(min(stake, max(left, stake_due)) - left)
            chips.pressed += max(0, stake - max(left, stake_due))

    def leave_up(self, data: dict[str, Any]) -> None:
        """Let the stake of a decided wager play on. What was handed back is laid again by the player."""
        source = self.wager(data["left_up_from"])
        if source is None or source.status in (*UNDECIDED, "lost"):
            return
        for chips in self.account(data["left_up_from"]).answers:
            kept = min(data["stake"], chips.felt, source.stake_due)
            chips.pressed += max(0, data["stake"] - kept - max(0, chips.back))
            chips.play_on(kept)

    def settle(self, data: dict[str, Any]) -> None:
        name = self.disputes.get(data["opened"])
        # Practice: "without it the second has no effect" (``approved_by``).
        if name is None or "approved_by" not in data:
            return
        amount = data.get("amount", 0) * (-1 if data.get("by") == "player" else 1)
        self.account(name).each(lambda chips: chips.add(amount))

    def due_to(self, name: str) -> int:
        """Return what the law gives the player out of a wager: of an undecided one the part lawfully withdrawn."""
        wager = self.wager(name)
        if wager is None:
            return 0
        is_whole = wager.status in ("void", "withdrawn")
        return wager.winnings_due + wager.stake_due + (0 if is_whole else wager.laid - wager.stake)

    def due(self) -> dict[str, Due]:
        return {name: Due(one.status, one.winnings_due, one.stake_due) for name, one in self.table.wagers.items()}
