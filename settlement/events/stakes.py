"""Events of stakes and payouts, at every game."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType

from settlement.events.envelope import Amount, Data, Envelope, Id, Integer, Medium, NoData, Seq, Stake

Marker: TypeAlias = Literal["wrong_bet", "buy", "lay"]
"""What is put on a stake, to tell it from another at the same spot."""


class WagerPlacedData(Data, frozen=True, omit_defaults=True, gc=False):
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
    marker: Marker | UnsetType = UNSET
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
    continues_as: Id | UnsetType = UNSET


class PayoutMade(Envelope, frozen=True, gc=False, tag="payout.made"):
    data: PayoutMadeData


class PayoutRecoveredData(Data, frozen=True, gc=False):
    wager: Id
    winnings: Amount = 0
    stake: Amount = 0
    reason: str | UnsetType = UNSET


class PayoutRecovered(Envelope, frozen=True, gc=False, tag="payout.recovered"):
    data: PayoutRecoveredData


class TipGivenData(Data, frozen=True, gc=False):
    amount: Amount
    player: Id | UnsetType = UNSET


class TipGiven(Envelope, frozen=True, gc=False, tag="tip.given"):
    data: TipGivenData


class GoodwillPaidData(Data, frozen=True, gc=False):
    amount: Amount
    reason: str
    player: Id | UnsetType = UNSET
    approved_by: Id | UnsetType = UNSET


class GoodwillPaid(Envelope, frozen=True, gc=False, tag="goodwill.paid"):
    data: GoodwillPaidData


class DisputeOpenedData(Data, frozen=True, gc=False):
    wager: Id | UnsetType = UNSET
    player: Id | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class DisputeOpened(Envelope, frozen=True, gc=False, tag="dispute.opened"):
    data: DisputeOpenedData


class DisputeSettledData(Data, frozen=True, gc=False):
    """``opened`` is the seq of the dispute; ``amount`` in minor units is what ``by`` paid to the other side."""

    opened: Seq
    amount: Amount = 0
    approved_by: Id | UnsetType = UNSET
    by: Literal["house", "player"] = "house"


class DisputeSettled(Envelope, frozen=True, gc=False, tag="dispute.settled"):
    data: DisputeSettledData


class OrphanRecordedData(Data, frozen=True, gc=False):
    amount: Amount
    wager: Id | UnsetType = UNSET
    slip: str | UnsetType = UNSET


class OrphanRecorded(Envelope, frozen=True, gc=False, tag="orphan.recorded"):
    data: OrphanRecordedData
