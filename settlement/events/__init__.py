"""The event contract: what a table system sends, as types.

An event is an *envelope* (which stream, which number, which type, when, who) around *data* whose fields depend on
the type. Both are msgspec Structs, so one pass over the bytes parses, checks the shape and builds the object:

    wager.placed ──► WagerPlaced(stream=…, seq=…, occurred_at=…, data=WagerPlacedData(wager=…, bet=…, stake=…))

``session``, ``stakes``, ``craps`` and ``roulette`` hold the types; ``settlement.codec`` reads them from bytes.

A type that begins with ``x.`` is an integrator's own: ``extension``. Any envelope may bring an object ``ext`` likewise.

Only the shape is checked here: a throw of ``[7, 2]``, an unknown bet or a stake after the call is well-shaped,
happened, and is for the rules to judge. ``UNSET`` is a field that was not sent; ``null`` is accepted only in the
``value`` of a colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias, cast, get_args

import msgspec

from settlement import registries
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
from settlement.events.envelope import Data, Envelope, Voiding
from settlement.events.extension import ExtensionEvent
from settlement.events.roulette import (
    BallLaunched,
    BallRetrieved,
    BallSettled,
    ChipFellInWheel,
    ChipsHandled,
    ColourAssigned,
    LastCoupAnnounced,
    ResultAnnounced,
    SpinVoided,
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
    EntryAnnulled,
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
    DisputeOpened,
    DisputeSettled,
    GoodwillPaid,
    NoMoreBets,
    OrphanRecorded,
    PaymentAnnounced,
    PayoutMade,
    PayoutRecovered,
    StakesCollected,
    TipGiven,
    WagerMoved,
    WagerPlaced,
    WagerSwitched,
    WagerWithdrawn,
)

__all__ = [
    "DATA_OF",
    "OPENERS",
    "TYPES",
    "VOIDS",
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
    "ContractEvent",
    "CountClosed",
    "CountOpened",
    "Data",
    "DiceDeclined",
    "DiceOffered",
    "DiceSelected",
    "DiceSetIntroduced",
    "DiceThrown",
    "DiceTouched",
    "DisputeOpened",
    "DisputeSettled",
    "DropCounted",
    "EntryAnnulled",
    "EntryCorrected",
    "Envelope",
    "Event",
    "EventsLost",
    "ExtensionEvent",
    "GoodwillPaid",
    "LastCoupAnnounced",
    "NoMoreBets",
    "OrphanRecorded",
    "Params",
    "PaymentAnnounced",
    "PayoutMade",
    "PayoutRecovered",
    "PlayerLeft",
    "PlayerSeated",
    "PointMarked",
    "ResultAnnounced",
    "SessionClosed",
    "SessionOpened",
    "ShooterRemoved",
    "SpinVoided",
    "StacksRebuilt",
    "StaffAssigned",
    "StaffRelieved",
    "StakesCollected",
    "ThrowVoided",
    "TipGiven",
    "Voiding",
    "WagerMoved",
    "WagerPlaced",
    "WagerSwitched",
    "WagerWithdrawn",
    "WheelSpun",
    "ZeroDecided",
]

ContractEvent: TypeAlias = (
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
    | EntryAnnulled
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
    | PayoutRecovered
    | TipGiven
    | GoodwillPaid
    | DisputeOpened
    | DisputeSettled
    | OrphanRecorded
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
    | SpinVoided
    | BallSettled
    | ResultAnnounced
    | ZeroDecided
    | LastCoupAnnounced
    | StacksRebuilt
    | ColourAssigned
    | ChipsHandled
)
"""An event of a type that the contract has."""

Event: TypeAlias = ContractEvent | ExtensionEvent

_types: dict[str, type[Envelope]] = registries.table(
    {cast(str, cls.__struct_config__.tag): cls for cls in get_args(ContractEvent)}
)
TYPES: Mapping[str, type[Envelope]] = MappingProxyType(_types)
"""Every event type by its name on the wire: those of the contract, then those that rulesets bring."""


def _data_of(cls: type[Envelope]) -> type[Data]:
    return cast("type[Data]", next(f.type for f in msgspec.structs.fields(cls) if f.name == "data"))


_shapes: dict[type[Envelope], type[Data]] = registries.table({cls: _data_of(cls) for cls in _types.values()})
DATA_OF: Mapping[type[Envelope], type[Data]] = MappingProxyType(_shapes)
"""The shape of each event type's ``data``."""

_voids: dict[type[Envelope], type[Envelope]] = registries.table(
    {cls: cls.voids_result for cls in _types.values() if cls.voids_result is not None}
)
VOIDS: Mapping[type[Envelope], type[Envelope]] = MappingProxyType(_voids)
"""The event types that may void a result, and the type of result that each voids."""

OPENERS = (SessionOpened, CountOpened)
"""The types a stream may begin with."""

for _name, _cls in TYPES.items():
    _cls.type = _name
del _name, _cls


def add_type(cls: type[Envelope], ruleset: str) -> None:
    """Take an event type of a ruleset's own. Raise ``ValueError`` if its name is not free, or if it has no sentence."""
    name = cast(str, cls.__struct_config__.tag)
    if name.startswith("x."):
        raise ValueError(f"{name!r} is not free for a ruleset's own event")
    if cls.voids_result is not None and not name.endswith(".voided"):
        raise ValueError(f"{name!r} voids a result, so that its name has to end in '.voided'")
    if cls.sentence is None:
        raise ValueError(f"{name!r} has no sentence to show it by")
    registries.add(_types, name, cls, "an event type")
    registries.add(_shapes, cls, _data_of(cls), "an event type")
    if cls.voids_result is not None:
        registries.add(_voids, cls, cls.voids_result, "an event type")
    cls.type = name
    cls.ruleset = ruleset
