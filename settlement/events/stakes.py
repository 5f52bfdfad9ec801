"""Events of stakes and payouts, at every game."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from settlement.events.envelope import Amount, Data, Envelope, Id, Integer, Medium, NoData, Stake


class WagerPlacedData(Data, frozen=True, gc=False):
    wager: Id
    bet: str
    stake: Stake
    player: Id | UnsetType = UNSET
    seat: Id | UnsetType = UNSET
    number: Integer | UnsetType = UNSET
    numbers: list[str] | UnsetType = UNSET
    which: list[Integer] | UnsetType = UNSET
    base: Id | UnsetType = UNSET
    commission: Amount | UnsetType = UNSET
    marker: Literal["wrong_bet", "buy", "lay"] | UnsetType = UNSET
    working: bool | UnsetType = UNSET
    left_up_from: Id | UnsetType = UNSET
    colour: Id | UnsetType = UNSET
    medium: Medium = "chips"


class WagerPlaced(Envelope, frozen=True, gc=False, tag="wager.placed"):
    data: WagerPlacedData


class WagerWithdrawnData(Data, frozen=True, gc=False):
    wager: Id
    amount: Amount | UnsetType = UNSET


class WagerWithdrawn(Envelope, frozen=True, gc=False, tag="wager.withdrawn"):
    data: WagerWithdrawnData


class WagerSwitchedData(Data, frozen=True, gc=False):
    wager: Id
    working: bool


class WagerSwitched(Envelope, frozen=True, gc=False, tag="wager.switched"):
    data: WagerSwitchedData


class WagerMovedData(Data, frozen=True, gc=False):
    wager: Id
    number: Integer


class WagerMoved(Envelope, frozen=True, gc=False, tag="wager.moved"):
    data: WagerMovedData


class NoMoreBets(Envelope, frozen=True, gc=False, tag="no_more_bets"):
    data: NoData = NoData()


class StakesCollectedData(Data, frozen=True, gc=False):
    wagers: list[Id]


class StakesCollected(Envelope, frozen=True, gc=False, tag="stakes.collected"):
    data: StakesCollectedData


class PaymentAnnouncedData(Data, frozen=True, gc=False):
    wager: Id
    amount: Amount


class PaymentAnnounced(Envelope, frozen=True, gc=False, tag="payment.announced"):
    data: PaymentAnnouncedData


class PayoutMadeData(Data, frozen=True, gc=False):
    wager: Id
    winnings: Amount
    stake_returned: Amount
    colour: Id | UnsetType = UNSET


class PayoutMade(Envelope, frozen=True, gc=False, tag="payout.made"):
    data: PayoutMadeData
