"""What the rack really holds: chips followed by hand over a stream, without the bridge and without its sums.

    player's hand ──► pile on the layout ──► rack, where the house keeps it
          ▲                   │       └────► cash desk, where its owner has left it
          └───────────────────┴──── rack ──► what a payout gives comes from the pile, then from the rack

Of the law it takes only what is due. A stake that plays on is, in chips, one that is handed back and staked again: its
chips are counted out when the coup ends, by which the croupier may have handed them back after all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from settlement import Event, State
from settlement.accounts import settlement_of
from settlement.corrections import changes_in
from settlement.events import (
    BallSettled,
    BankCredited,
    BankFilled,
    BuyInRecorded,
    DiceThrown,
    DisputeOpened,
    DisputeSettled,
    GoodwillPaid,
    OrphanRecorded,
    PayoutMade,
    PayoutRecovered,
    SessionClosed,
    SessionOpened,
    StakesCollected,
    WagerPlaced,
    WagerWithdrawn,
)
from settlement.night.bridge import Bank, WagerLine
from settlement.night.figures import SessionProjection
from settlement.state import Account, Table, Wager


class Rack:
    """Chips of one table: in the rack, and on the layout by wager.

    A payout of a stake that was withdrawn before speaks of the chips that the player already has ``back``. So does one
    of the same coup that comes before the withdrawal, or that hands back just the part withdrawn.
    """

    def __init__(self) -> None:
        self.opening = self.chips = self.fills = self.credits = self.box = 0
        self.layout: dict[str, int] = defaultdict(int)
        self.back: dict[str, int] = defaultdict(int)
        self.from_pile: dict[str, int] = defaultdict(int)
        self.from_back: dict[str, int] = defaultdict(int)
        self.handed: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.staked_again: dict[str, str] = {}
        self.left_lying: set[str] = set()
        self.plays_on: dict[str, int] = defaultdict(int)
        self.pressed: dict[str, int] = defaultdict(int)
        self.disputes: dict[int, str] = {}
        self.orphaned: dict[str, int] = defaultdict(int)
        self.swept: set[str] = set()
        self.off_layout: set[str] = set()  # swept without being lost
        # Of this coup: what was handed over while the wager played, what was taken back, and how much of that the
        # rack had to make good because the pile was too small, or gave because a payout found too little there.
        self.won_now: dict[str, int] = defaultdict(int)
        self.handed_now: dict[str, int] = defaultdict(int)
        self.taken_now: dict[str, int] = defaultdict(int)
        self.made_good: dict[str, int] = defaultdict(int)
        self.out_of_rack: dict[str, int] = defaultdict(int)
        self.payouts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.handed_later: dict[str, int] = defaultdict(int)
        self.paid_early: set[str] = set()
        self.lent: dict[str, int] = defaultdict(int)  # made good, and the pile has not given it back so far
        # Of what was withdrawn, as a payout handed back less: now, given out again, and when nothing stood any more.
        self.kept: dict[str, int] = defaultdict(int)
        self.given_of_kept: dict[str, int] = defaultdict(int)
        self.kept_before: dict[str, int] = {}

    def watch(self, event: Event, table: Table, before: Wager | None) -> None:
        """Move the chips that ``event`` moves. ``table`` is as it is after it, ``before`` the wager as it was."""
        match event:
            case SessionOpened():
                self.opening = self.chips = event.data.float
            case BankFilled():
                self.fills += event.data.amount
                self.chips += event.data.amount
            case BankCredited():
                self.credits += event.data.amount
                self.chips -= event.data.amount
            case BuyInRecorded():
                self.box += event.data.amount
                self.chips -= event.data.amount
            case WagerPlaced() if table.wagers[event.data.wager].placed_by == event.seq:
                self._stake(table, table.wagers[event.data.wager], before)
            case WagerWithdrawn() if before is not None:
                self._take_back(table, table.wagers[event.data.wager], before.standing)
            case StakesCollected() if table.open_session().collections:
                on_layout = {wager_id for wager_id in event.data.wagers if self.layout[wager_id] > 0}
                self.swept.update(table.wagers.keys() & on_layout)  # of an empty spot nothing can be swept
                self.off_layout.update(table.taken.keys() & set(event.data.wagers))
            case PayoutMade() if event.data.wager not in table.wagers:
                self.chips -= event.data.winnings + event.data.stake_returned
            case PayoutRecovered() if event.data.wager not in table.wagers:
                self.chips += event.data.winnings + event.data.stake
            case PayoutMade():
                self._pay(event, table)
            case PayoutRecovered():
                self._recover(event, table)
            case _:
                self._move_apart(event, table)

    def _move_apart(self, event: Event, table: Table) -> None:
        match event:
            case GoodwillPaid():
                self.chips -= event.data.amount
            case DisputeOpened():
                self.disputes[event.seq] = ""
            case DisputeSettled(data=data) if data.approved_by and data.opened in self.disputes:
                self.chips -= data.amount if data.by == "house" else -data.amount
            case OrphanRecorded(data=data) if data.wager in table.wagers:
                self.orphaned[data.wager] += data.amount

    def _stake(self, table: Table, wager: Wager, before: Wager | None) -> None:
        self.chips += wager.commission - (before.commission if before else 0)
        self.layout[wager.id] = wager.stake
        source = table.wagers.get(wager.left_up_from or "", wager)
        if source is not wager and not source.undecided and source.status not in ("lost", "out_of_scope"):
            self.staked_again[wager.id] = source.id  # of one that was lost, or still plays, nothing can play on

    def _pay(self, event: PayoutMade, table: Table) -> None:
        data = event.data
        pile = self.back if table.wagers[data.wager].status == "withdrawn" else self.layout
        taken_too_much = max(0, -sum(stake for _winnings, stake in self.handed[data.wager]))
        if pile is self.back:  # apart from what was taken while it played
            taken_too_much = max(0, data.stake_returned - settlement_of(table.wagers[data.wager])[1])
        moved = min(pile[data.wager], max(0, data.stake_returned - taken_too_much))
        pile[data.wager] -= moved
        self.from_pile[data.wager] += moved
        self.handed[data.wager].append((data.winnings, data.stake_returned))
        self.won_now[data.wager] += data.winnings
        self.payouts[data.wager].append((data.winnings, data.stake_returned))
        if pile is self.layout:
            self.handed_now[data.wager] += data.stake_returned
            self.out_of_rack[data.wager] += data.stake_returned - moved
        else:
            self.from_back[data.wager] += moved
            self.handed_later[data.wager] += moved
            self._give_of_kept(data.wager, data.stake_returned - moved)
        if table.wagers[data.wager].undecided:
            self.paid_early.add(data.wager)
        self.chips -= data.winnings + data.stake_returned - moved
        opened = table.wagers.get(data.continues_as or "")
        if opened is not None and opened.placed_by == event.seq:
            self._stake(table, opened, None)
            self.left_lying.add(opened.id)  # the payout itself has left it there

    def _recover(self, event: PayoutRecovered, table: Table) -> None:
        """Take back first what the rack gave, then what came off the layout or was the player's already."""
        data = event.data
        given = sum(stake for _winnings, stake in self.handed[data.wager])
        pile_gave = self.from_pile[data.wager]
        undone = min(pile_gave, max(0, pile_gave - (given - data.stake)))
        self.from_pile[data.wager] -= undone
        if table.wagers[data.wager].status == "withdrawn":
            again_his = min(undone, self.from_back[data.wager])
            self.from_back[data.wager] -= again_his
            self.handed_later[data.wager] -= again_his
            self.back[data.wager] += again_his
            self.chips += data.winnings + data.stake - again_his
            self._give_of_kept(data.wager, -min(data.stake - again_his, self.given_of_kept[data.wager]))
        else:
            repaid = min(undone, self.lent[data.wager])
            self.lent[data.wager] -= repaid
            self.made_good[data.wager] = min(self.made_good[data.wager], self.lent[data.wager])
            self.layout[data.wager] += undone - repaid
            self.chips += data.winnings + data.stake - undone + repaid
            self.out_of_rack[data.wager] -= data.stake - undone
        self.handed[data.wager].append((-data.winnings, -data.stake))
        self.won_now[data.wager] -= data.winnings
        self.handed_now[data.wager] -= data.stake

    def _take_back(self, table: Table, wager: Wager, standing_before: int) -> None:
        back = standing_before - wager.standing
        self.back[wager.id] += back
        self.taken_now[wager.id] += back
        missing = max(0, back - self.layout[wager.id])
        self.made_good[wager.id] += missing
        self.lent[wager.id] += missing
        self.chips -= missing
        self.layout[wager.id] = max(0, self.layout[wager.id] - back)
        gone = back and wager.status == "withdrawn"
        if gone:
            self.kept_before[wager.id] = self.kept[wager.id]
        if gone and wager.commission and table.open_session().commission_refunded_on_withdrawal:
            self.chips -= wager.commission

    def end_coup(self, table: Table) -> None:
        """Count out the stakes that play on, and the winnings that were staked on top of them."""
        for wager_id, handed in self.handed_now.items():
            self._count_once(table.wagers[wager_id], handed)
        for wager_id, chips in self.handed_later.items():
            if wager_id in self.paid_early and self.won_now[wager_id]:
                # Winnings and stake of a wager that nothing had decided: none of it was the withdrawal.
                self.chips -= chips
                self.back[wager_id] += chips
                self.from_back[wager_id] -= chips  # what is recovered of it is the rack's again, not his own
                self.from_pile[wager_id] -= min(chips, self.from_pile[wager_id])
        for of_coup in (self.won_now, self.handed_now, self.taken_now, self.made_good, self.handed_later):
            of_coup.clear()
        self.out_of_rack.clear()
        self.payouts.clear()
        self.paid_early.clear()
        again: dict[str, int] = defaultdict(int)
        for wager_id, source_id in self.staked_again.items():
            source = table.wagers[source_id]
            self._play_on(source, table.wagers[wager_id], again)
        self.left_lying.clear()
        self.staked_again.clear()

    def _play_on(self, source: Wager, wager: Wager, again: dict[str, int]) -> None:
        """Leave on the layout, for ``wager``, what is due of ``source``: its pile first, the rest out of the rack."""
        winnings, handed = settlement_of(source)
        pile = self.back if source.status == "withdrawn" else self.layout
        is_in_parts = source.status == "withdrawn" and source.account is not None and source.account.taken
        due = source.account.taken if source.account is not None and is_in_parts else source.stake_due
        plays_on = min(wager.stake, max(0, due - handed - self.plays_on[source.id]))
        from_pile = min(pile[source.id], plays_on)
        pile[source.id] -= from_pile
        self._give_of_kept(source.id, plays_on - from_pile)
        self.plays_on[source.id] += plays_on
        in_hand = 0
        if not plays_on and wager.id not in self.left_lying:
            # The player stakes again what he was handed.
            in_hand = max(0, min(due, handed) - again[source.id])
            again[source.id] += min(in_hand, wager.stake) if wager.status != "void" else 0
        unpaid = max(0, source.winnings_due - winnings - self.pressed[source.id])
        pressed = min(unpaid, max(0, wager.stake - plays_on - in_hand))
        self.pressed[source.id] += pressed
        self.chips -= plays_on - from_pile + pressed

    def _count_once(self, wager: Wager, handed: int) -> None:
        """Undo one of a payout and a withdrawal that moved the same chips, of those ``handed`` over in this coup."""
        account = wager.account
        if wager.status == "withdrawn":
            chips = 0 if self.won_now[wager.id] else min(self.taken_now[wager.id], handed)
        elif (
            wager.undecided and wager.id in self.off_layout and handed == wager.standing and not self.won_now[wager.id]
        ):
            self._put_back(wager, handed)
            return
        elif account is None or not account.taken:
            return
        elif wager.undecided:
            if self.won_now[wager.id] or handed <= 0:
                return
            chips = min(handed, account.taken)
        else:
            winnings, stake = settlement_of(wager)
            is_apart = (winnings, stake - account.taken) == (wager.winnings_due, wager.stake_due)
            is_part = is_apart and (0, account.taken) in self.payouts[wager.id]
            chips = account.taken - self.kept[wager.id] if is_part else 0
        if chips <= 0:
            return
        out_of_rack = min(chips, self.made_good[wager.id] + max(0, self.out_of_rack[wager.id]))
        self.chips += out_of_rack
        self.lent[wager.id] -= min(out_of_rack, self.lent[wager.id])
        self.layout[wager.id] += chips - out_of_rack
        self.back[wager.id] -= chips
        if account is not None and wager.undecided:
            self._keep_or_give(wager.id, account, handed)
        if wager.status == "withdrawn":
            self.from_back[wager.id] += chips
        else:
            self.from_pile[wager.id] -= min(chips, self.from_pile[wager.id])
            self.handed[wager.id].append((0, -chips))

    def _keep_or_give(self, wager_id: str, account: Account, handed: int) -> None:
        """Keep in the rack what is left of the parts where less was ``handed`` back; give out what was kept before."""
        parts = (account.taken, account.last_taken, account.taken - account.last_taken)
        kept = self.kept[wager_id]
        is_last_alone = handed == account.last_taken and handed not in (kept, account.taken)
        left = kept if is_last_alone else max(0, kept - handed)
        if handed not in parts and handed > kept:
            left = max(0, account.taken - handed)
        self.chips += left - kept
        self.back[wager_id] -= left - kept
        self.kept[wager_id] = left

    def _give_of_kept(self, wager_id: str, chips: int) -> None:
        """Note which of the ``chips`` that the rack gave for a stake withdrawn it had kept of it; below zero: took."""
        given = min(chips, self.kept[wager_id])
        self.kept[wager_id] -= given
        self.given_of_kept[wager_id] += given

    def _keep_of_withdrawn(self, wager: Wager, undue: int) -> None:
        """Keep in the rack what no payout handed back of a stake withdrawn, if one handed back a piece of it.

        ``undue`` was handed over in the coup under way, and not as the withdrawal.
        """
        account = wager.account or Account()
        whole, kept = account.taken or wager.stake_due, self.kept[wager.id]
        before = self.kept_before.get(wager.id, 0)
        parts = (whole, account.last_taken, whole - account.last_taken)
        handed = settlement_of(wager)[1] - undue
        gone = handed + self.plays_on[wager.id]
        if handed > 0:  # what he had been paid too early is of it: the rack has lent nothing for that
            beyond = self.back[wager.id] + kept - max(0, whole - gone)
            not_lent = max(0, min(self.lent[wager.id], beyond))
            self.chips += not_lent
            self.back[wager.id] -= not_lent
        his = self.back[wager.id] + kept
        if handed <= 0:
            left = min(his, before)
        elif handed in parts or gone in parts or handed <= before:
            is_last_alone = handed == account.last_taken and handed not in (before, whole)
            left = min(his, before if is_last_alone else max(0, before - handed))
        else:
            left = his
        self.chips += left - kept
        self.back[wager.id] -= left - kept

    def _put_back(self, wager: Wager, stake: int) -> None:
        """Put back on the layout, from the rack, a ``stake`` that was swept: the player did not get it."""
        self.off_layout.discard(wager.id)
        self.chips += max(0, self.out_of_rack[wager.id])
        self.layout[wager.id] = stake
        self.from_pile[wager.id] -= min(stake, self.from_pile[wager.id])
        self.handed[wager.id].append((0, -stake))

    def clear(self, table: Table) -> None:
        """Bring into the rack what the house keeps of the stakes that are decided; push back what never played."""
        undue: dict[str, int] = defaultdict(int)
        for wager_id in self.paid_early:
            account = table.wagers[wager_id].account
            if self.won_now[wager_id] and account is not None:
                undue[wager_id] = sum(move.stake for move in account.moves)
        self.end_coup(table)
        for wager_id, wager in table.wagers.items():
            desk = self.orphaned[wager_id]
            touched = bool(wager.stake_paid or self.plays_on[wager_id]) or wager_id in self.swept
            pile = self.layout[wager_id]
            if wager.status == "withdrawn":
                self._keep_of_withdrawn(wager, undue[wager_id])
                self.chips -= max(0, desk - self.back[wager_id])
            elif wager.undecided or wager.status == "out_of_scope" or (wager.status == "void" and not touched):
                self.chips -= max(0, desk - pile)
            elif wager.status == "released" and not touched:
                self.chips += pile - max(wager.stake_due, desk)  # the player lifts what was freed
            else:
                self.chips += pile - desk


def counted(events: Sequence[Event], state: State | None = None) -> tuple[State, Rack]:
    """Play ``events`` and follow every chip; return where the law and the rack stand at the end."""
    state = state or State()
    rack = Rack()
    for event in events:
        table = state.table
        if isinstance(event, DiceThrown | BallSettled | SessionClosed) and table.session is not None:
            rack.end_coup(table)
        named = table.wagers.get(getattr(event.data, "wager", ""))
        before = _copy(named) if named is not None else None
        state.feed(event)
        if state.table.session is not None:
            rack.watch(event, state.table, before)
    rack.clear(state.table)
    return state, rack


def _copy(wager: Wager) -> Wager:
    return Wager(**{name: getattr(wager, name) for name in wager.__struct_fields__})


def bank_of(rack: Rack, currency: str) -> Bank:
    """Return the bank as it would be counted, to the chip."""
    return Bank(
        currency=currency,
        opening_float=rack.opening,
        fills=rack.fills,
        credits=rack.credits,
        closing_float=rack.chips,
        drop=rack.box,
        buy_ins=rack.box,
    )


def read(events: Sequence[Event], page: int = 1_000, **options: Any) -> SessionProjection:
    """Return the projection that has read ``events`` page by page."""
    projection = SessionProjection(changes_in(events), **options)
    for first in range(0, len(events), page):
        projection.feed(events[first : first + page])
    return projection


def lines_of(events: Sequence[Event]) -> list[WagerLine]:
    """Return the bridge of every wager, and of other money that the house gave."""
    return [line for line, _wager in read(events, follows_luck=False).lines()]
