"""The accounts of all wagers of a stream, entry by entry. What is due to a wager, the table of its game says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tests.settlement.second_reading.chips import Chips
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

    def is_alike(self, wager: Any, data: dict[str, Any]) -> bool: ...


class Book:
    """A table, and the account of each of its wagers."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.accounts: dict[str, Chips] = {}
        self.disputes: dict[int, str | None] = {}
        """The wager that each dispute names."""
        self.continued: set[str] = set()
        """The wagers that a payout of this coup lets play on, and nothing has described."""
        self.links: list[tuple[str, str, bool]] = []
        """From which wager a stake was left up in this coup, which plays on, and whether a payout says so."""
        self.laid_anew: dict[str, int] = {}
        """What was handed back of a wager in this coup, and laid again on one that was left up from it."""

    def enter(self, events: Events) -> None:
        for event in events:
            if self.table.is_result(event) or event["type"] == "session.closed":
                self.end_coup()
            self.enter_one(event)
            if self.table.is_result(event):
                self.table.note_held(self)

    def end_coup(self) -> None:
        self.table.read_from_chips(self)
        for source, name, is_continued in self.links:
            self.leave_up(source, name, is_continued=is_continued)
        self.links, self.continued, self.laid_anew = [], set(), {}
        for name, chips in self.accounts.items():
            if self.is_undecided(name):
                chips.known = chips.handed_back

    def enter_one(self, event: dict[str, Any]) -> None:
        name = event["data"].get("wager", "")
        before = self.standing(name)
        is_new = name not in self.table.wagers
        self.table.apply(event, self)
        if name in self.table.wagers:
            self.account(name)
        self.move(event, before, is_new=is_new)

    def standing(self, name: str) -> int:
        """Return what stands of a wager: nothing, once it was withdrawn."""
        wager = self.wager(name)
        return 0 if wager is None or wager.status == "withdrawn" else wager.stake

    def wager(self, name: str) -> Wager | None:
        return self.table.wagers.get(name)

    def account(self, name: str) -> Chips:
        """Return the account of a wager. What was paid to its name before it was laid stays in it."""
        return self.accounts.setdefault(name, Chips())

    def move(self, event: dict[str, Any], before: int, *, is_new: bool) -> None:
        data = event["data"]
        wager = self.wager(data.get("wager", ""))
        match event["type"]:
            # Practice: it continues "a wager of the same bet and numbers"; any other reuses its name.
            case "wager.placed" if data["wager"] in self.continued and self.table.is_alike(wager, data):
                self.describe(data)
            case "wager.placed" if is_new and "left_up_from" in data:
                self.note_link(data["left_up_from"], data["wager"], is_continued=False)
            case "wager.withdrawn" if data["wager"] in self.table.wagers:
                self.withdraw(data["wager"], data.get("amount"), before)
            case "stakes.collected":
                for name in dict.fromkeys(data["wagers"]):
                    self.sweep(name)
            case "payout.made":
                self.pay(data)
            case "payout.recovered":
                self.account(data["wager"]).recover(
                    data.get("winnings", 0), data.get("stake", 0), is_undecided=self.is_undecided(data["wager"])
                )
            case "dispute.opened":
                self.disputes[event["seq"]] = data.get("wager")
            case "dispute.settled":
                self.settle(data)

    def is_undecided(self, name: str) -> bool:
        wager = self.wager(name)
        return wager is not None and wager.status in UNDECIDED

    def withdraw(self, name: str, amount: int | None, before: int) -> None:
        chips, lawful = self.accounts[name], before - self.standing(name)
        if lawful:
            chips.withdrawn += lawful
        else:
            chips.lifted += min(before if amount is None else amount, chips.lies(before))

    def sweep(self, name: str) -> None:
        wager = self.wager(name)
        if wager is not None:
            stake = wager.laid if wager.status == "withdrawn" else wager.stake
            self.accounts[name].sweep(stake, wager.status)

    def pay(self, data: dict[str, Any]) -> None:
        chips = self.account(data["wager"])
        chips.hand_back(
            data["winnings"],
            data["stake_returned"],
            self.standing(data["wager"]),
            is_undecided=self.is_undecided(data["wager"]),
        )
        name = data.get("continues_as")
        wager = self.wager(data["wager"])
        if name is None or wager is None or wager.status in UNDECIDED or self.wager(name) is not None:
            return
        # Practice: it "plays on with the stake that was not handed back".
        left = self.stake_of(wager) - (chips.net if wager.status in ("withdrawn", "void") else chips.of_the_end())
        if left > 0:
            self.table.play_on(wager, name, left)
            self.account(name)
            self.continued.add(name)
            self.note_link(data["wager"], name, is_continued=True)

    def stake_of(self, wager: Wager) -> int:
        """Return the stake that can play on, due or not: of a lost wager that plays on, the house is short."""
        return wager.stake if wager.status == "lost" else wager.stake_due

    def describe(self, data: dict[str, Any]) -> None:
        """Take the stake that plays on from the wager.placed that describes it."""
        self.continued.remove(data["wager"])
        wager = self.table.wagers[data["wager"]]
        wager.stake = wager.laid = data["stake"]
        if "working" in data:
            wager.is_working = data["working"]  # the player says otherwise than he did
        if "commission" in data and wager.status == "void":
            wager.status = "open"  # At Québec: "accepted after the player has paid a commission".
        wager.stake_due = wager.stake if wager.status == "void" else 0

    def note_link(self, source: str, name: str, *, is_continued: bool) -> None:
        wager = self.wager(source)
        if wager is not None and source != name and wager.status != "lost":
            self.links.append((source, name, is_continued))

    def leave_up(self, source: str, name: str, *, is_continued: bool) -> None:
        """Let the stake of a decided wager play on: what was not handed back, and winnings that were not paid.

        "An increase paid out of winnings due and not handed over." What was handed back is laid anew by the player.
        """
        old, new, chips = self.table.wagers[source], self.table.wagers[name], self.accounts[source]
        if old.status in (*UNDECIDED, "lost"):
            return
        handed_back = max(0, chips.net if old.status in ("withdrawn", "void") else chips.of_the_end())
        # "A stake that was handed back and plays on as well is held twice": the payout says that it plays on.
        gone = chips.playing_on + (0 if is_continued else handed_back)
        stays = min(new.laid, max(0, old.stake_due - gone))
        chips.playing_on += stays
        wanted = new.laid - stays
        if not stays and not is_continued:
            anew = min(wanted, max(0, min(handed_back, old.stake_due) - self.laid_anew.get(source, 0)))
            self.laid_anew[source] = self.laid_anew.get(source, 0) + (0 if new.status == "void" else anew)
            wanted -= anew
        chips.money += min(wanted, max(0, old.winnings_due - max(0, chips.money)))

    def settle(self, data: dict[str, Any]) -> None:
        name = self.disputes.get(data["opened"])
        # Practice: "without it the second has no effect" (``approved_by``).
        if name is None or "approved_by" not in data:
            return
        amount = data.get("amount", 0) * (-1 if data.get("by") == "player" else 1)
        self.account(name).money += amount

    def due_to(self, name: str) -> int:
        """Return what the law gives the player out of a wager: of an undecided one the part lawfully withdrawn."""
        wager = self.wager(name)
        if wager is None:
            return 0
        is_whole = wager.status in ("void", "withdrawn")
        return wager.winnings_due + wager.stake_due + (0 if is_whole else wager.laid - wager.stake)

    def due(self) -> dict[str, Due]:
        return {name: Due(one.status, one.winnings_due, one.stake_due) for name, one in self.table.wagers.items()}
