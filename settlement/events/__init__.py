"""The event contract: what a table system sends, as types.

An event is an *envelope* (which stream, which number, which type, when, who) around *data* whose fields depend on
the type. Both are msgspec Structs, so one pass over the bytes parses, checks the shape and builds the object:

    wager.placed ──► WagerPlaced(stream=…, seq=…, occurred_at=…, data=WagerPlacedData(wager=…, bet=…, stake=…))

``session``, ``stakes``, ``craps`` and ``roulette`` hold the types; ``settlement.codec`` reads them from bytes.

Only the shape is checked here: a throw of ``[7, 2]``, an unknown bet or a stake after the call is well-shaped,
happened, and is for the rules to judge. ``UNSET`` is a field that was not sent; ``null`` is accepted only in the
``value`` of a colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast, get_args

import msgspec

from settlement.events.craps import (
    DiceDeclined,
    DiceOffered,
    DiceSelected,
    DiceSetIntroduced,
    DiceThrown,
    DiceTouched,
    PointMarked,
    ShooterRemoved,
    ThrowVoided,
)
from settlement.events.envelope import Data, Envelope
from settlement.events.roulette import (
    BallLaunched,
    BallRetrieved,
    BallSettled,
    ChipFellInWheel,
    ChipsHandled,
    ColourAssigned,
    LastCoupAnnounced,
    ResultAnnounced,
    StacksRebuilt,
    WheelSpun,
    ZeroDecided,
)
from settlement.events.session import (
    BankCredited,
    BankFilled,
    BuyInRecorded,
    CashDeskRecorded,
    CountClosed,
    CountOpened,
    DropCounted,
    EntryCorrected,
    EventsLost,
    Params,
    PlayerLeft,
    PlayerSeated,
    SessionClosed,
    SessionOpened,
    StaffAssigned,
    StaffRelieved,
)
from settlement.events.stakes import (
    NoMoreBets,
    PaymentAnnounced,
    PayoutMade,
    StakesCollected,
    WagerMoved,
    WagerPlaced,
    WagerSwitched,
    WagerWithdrawn,
)

__all__ = [
    "DATA_OF",
    "OPENERS",
    "TYPES",
    "BallLaunched",
    "BallRetrieved",
    "BallSettled",
    "BankCredited",
    "BankFilled",
    "BuyInRecorded",
    "CashDeskRecorded",
    "ChipFellInWheel",
    "ChipsHandled",
    "ColourAssigned",
    "CountClosed",
    "CountOpened",
    "Data",
    "DiceDeclined",
    "DiceOffered",
    "DiceSelected",
    "DiceSetIntroduced",
    "DiceThrown",
    "DiceTouched",
    "DropCounted",
    "EntryCorrected",
    "Envelope",
    "Event",
    "EventsLost",
    "LastCoupAnnounced",
    "NoMoreBets",
    "Params",
    "PaymentAnnounced",
    "PayoutMade",
    "PlayerLeft",
    "PlayerSeated",
    "PointMarked",
    "ResultAnnounced",
    "SessionClosed",
    "SessionOpened",
    "ShooterRemoved",
    "StacksRebuilt",
    "StaffAssigned",
    "StaffRelieved",
    "StakesCollected",
    "ThrowVoided",
    "WagerMoved",
    "WagerPlaced",
    "WagerSwitched",
    "WagerWithdrawn",
    "WheelSpun",
    "ZeroDecided",
]

Event: TypeAlias = (
    SessionOpened
    | SessionClosed
    | StaffAssigned
    | StaffRelieved
    | PlayerSeated
    | PlayerLeft
    | BankFilled
    | BankCredited
    | BuyInRecorded
    | EventsLost
    | EntryCorrected
    | CountOpened
    | DropCounted
    | CashDeskRecorded
    | CountClosed
    | WagerPlaced
    | WagerWithdrawn
    | WagerSwitched
    | WagerMoved
    | NoMoreBets
    | StakesCollected
    | PaymentAnnounced
    | PayoutMade
    | DiceOffered
    | DiceDeclined
    | DiceSetIntroduced
    | DiceSelected
    | DiceTouched
    | DiceThrown
    | ThrowVoided
    | PointMarked
    | ShooterRemoved
    | WheelSpun
    | BallLaunched
    | ChipFellInWheel
    | BallRetrieved
    | BallSettled
    | ResultAnnounced
    | ZeroDecided
    | LastCoupAnnounced
    | StacksRebuilt
    | ColourAssigned
    | ChipsHandled
)

TYPES: Mapping[str, type[Envelope]] = {cast(str, cls.__struct_config__.tag): cls for cls in get_args(Event)}
"""Every event type by its name on the wire."""

DATA_OF: Mapping[type[Envelope], type[Data]] = {
    cls: next(f.type for f in msgspec.structs.fields(cls) if f.name == "data") for cls in TYPES.values()
}
"""The shape of each event type's ``data``."""

OPENERS = (SessionOpened, CountOpened)
"""The types a stream may begin with."""

for _name, _cls in TYPES.items():
    _cls.type = _name
del _name, _cls
