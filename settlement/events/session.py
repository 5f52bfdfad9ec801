"""Events of a session and its bank, of the people at the table, and of the count room."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from settlement.events.envelope import (
    Amount,
    Currency,
    Data,
    Envelope,
    Family,
    Id,
    Means,
    NoData,
    Role,
    Seq,
    Stake,
)

# Session and bank


class StaffMember(Data, frozen=True, gc=False):
    person: Id
    role: Role


class Params(Data, frozen=True, gc=False):
    """Readings of the law that a session may set for itself: see ``readings``."""

    payout_unit: Stake | UnsetType = UNSET
    commission_rounding: Literal["ceil", "floor", "nearest"] | UnsetType = UNSET
    commission_refunded_on_withdrawal: bool | UnsetType = UNSET
    zero_rule: Literal["choice", "half", "lose"] | UnsetType = UNSET
    release_value: Literal["halving", "full"] | UnsetType = UNSET
    throw_delay_s: Amount | UnsetType = UNSET
    call_tolerance_ms: Amount | UnsetType = UNSET
    commission_unit: Stake | UnsetType = UNSET
    seat_limit: Amount | UnsetType = UNSET
    result_slip_s: Amount | UnsetType = UNSET
    maximum: dict[Annotated[str, Meta(pattern=r"^[a-z0-9_]{1,40}\Z")], Amount] | UnsetType = UNSET


class SessionOpenedData(Data, frozen=True, gc=False):
    casino: Id
    table: Id
    gaming_day: date
    game: str
    ruleset: str
    currency: Currency
    float: Amount
    observes: list[Family]
    minimum: Amount | UnsetType = UNSET
    params: Params | UnsetType = UNSET
    seats: list[Id] | UnsetType = UNSET
    staff: list[StaffMember] | UnsetType = UNSET
    double_table: bool | UnsetType = UNSET
    croupier: Id | UnsetType = UNSET
    wheel: Id | UnsetType = UNSET
    dice_set: Id | UnsetType = UNSET


class SessionOpened(Envelope, frozen=True, gc=False, tag="session.opened"):
    data: SessionOpenedData


class FloatData(Data, frozen=True, gc=False):
    float: Amount


class SessionClosed(Envelope, frozen=True, gc=False, tag="session.closed"):
    data: FloatData


class StaffAssigned(Envelope, frozen=True, gc=False, tag="staff.assigned"):
    data: StaffMember


class StaffRelieved(Envelope, frozen=True, gc=False, tag="staff.relieved"):
    data: StaffMember


class PlayerData(Data, frozen=True, gc=False):
    player: Id
    seat: Id | UnsetType = UNSET


class PlayerSeated(Envelope, frozen=True, gc=False, tag="player.seated"):
    data: PlayerData


class PlayerLeft(Envelope, frozen=True, gc=False, tag="player.left"):
    data: PlayerData


class SlipData(Data, frozen=True, gc=False):
    amount: Amount
    slip: str


class BankFilled(Envelope, frozen=True, gc=False, tag="bank.filled"):
    data: SlipData


class BankCredited(Envelope, frozen=True, gc=False, tag="bank.credited"):
    data: SlipData


class BuyInData(Data, frozen=True, gc=False):
    amount: Amount
    means: Means
    player: Id | UnsetType = UNSET


class BuyInRecorded(Envelope, frozen=True, gc=False, tag="buy_in.recorded"):
    data: BuyInData


class EventsLostData(Data, frozen=True, gc=False):
    through: Seq
    reason: str


class EventsLost(Envelope, frozen=True, gc=False, tag="events.lost"):
    data: EventsLostData


class EntryCorrectedData(Data, frozen=True, gc=False):
    corrects: Seq
    data: dict[str, Any]
    reason: str
    approved_by: Id


class EntryCorrected(Envelope, frozen=True, gc=False, tag="entry.corrected"):
    data: EntryCorrectedData


class EntryAnnulledData(Data, frozen=True, gc=False):
    annuls: Seq
    reason: str
    approved_by: Id


class EntryAnnulled(Envelope, frozen=True, gc=False, tag="entry.annulled"):
    data: EntryAnnulledData


# Count room


class CountOpenedData(Data, frozen=True, gc=False):
    casino: Id
    gaming_day: date
    currency: Currency


class CountOpened(Envelope, frozen=True, gc=False, tag="count.opened"):
    data: CountOpenedData


class DropCountedData(Data, frozen=True, gc=False):
    session: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,100}\Z")]
    amount: Amount
    counted_by: list[Id]


class DropCounted(Envelope, frozen=True, gc=False, tag="drop.counted"):
    data: DropCountedData


class CashDeskData(Data, frozen=True, gc=False):
    direction: Literal["in", "out"]
    amount: Amount
    means: Means
    player: Id | UnsetType = UNSET


class CashDeskRecorded(Envelope, frozen=True, gc=False, tag="cash_desk.recorded"):
    data: CashDeskData


class CountClosed(Envelope, frozen=True, gc=False, tag="count.closed"):
    data: NoData = NoData()
