"""Events of the dice."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from settlement.events.envelope import Data, Envelope, EventType, Id, Integer, Role, Seq, ThrowFlag


class TurnData(Data, frozen=True, gc=False):
    """Whose turn it is: a seat, a player, or both."""

    seat: Id | UnsetType = UNSET
    player: Id | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.seat is UNSET and self.player is UNSET:
            raise ValueError("seat or player is needed")


class DiceOffered(Envelope, frozen=True, gc=False, tag="dice.offered"):
    data: TurnData


class DiceDeclined(Envelope, frozen=True, gc=False, tag="dice.declined"):
    data: TurnData


class DiceSetIntroducedData(Data, frozen=True, gc=False):
    dice: list[Id]
    decided_by: Role
    announced: bool
    cause: Literal["broken", "lost"] | UnsetType = UNSET
    set: Id | UnsetType = UNSET


class DiceSetIntroduced(Envelope, frozen=True, gc=False, tag="dice.set_introduced"):
    data: DiceSetIntroducedData


class DiceSelectedData(Data, frozen=True, gc=False):
    seat: Id
    dice: list[Id]
    boxed: list[Id]


class DiceSelected(Envelope, frozen=True, gc=False, tag="dice.selected"):
    data: DiceSelectedData


class DiceTouchedData(Data, frozen=True, gc=False):
    by: Role
    cause: str


class DiceTouched(Envelope, frozen=True, gc=False, tag="dice.touched"):
    data: DiceTouchedData


class DiceThrownData(Data, frozen=True, gc=False):
    faces: tuple[Integer, Integer]
    seat: Id | UnsetType = UNSET
    player: Id | UnsetType = UNSET
    dice: list[Id] | UnsetType = UNSET
    total: Integer | UnsetType = UNSET
    flags: list[ThrowFlag] | UnsetType = UNSET


class DiceThrown(Envelope, frozen=True, gc=False, tag="dice.thrown"):
    is_result: ClassVar[bool] = True
    shows: ClassVar[str | None] = "faces"
    stays_shown: ClassVar[bool] = True

    data: DiceThrownData


class ThrowVoidedData(Data, frozen=True, gc=False):
    """Why a throw is «Coup nul»; ``voids`` and ``approved_by`` as of a voided spin."""

    announced_by: Role
    flags: list[ThrowFlag]
    faces: tuple[Integer, Integer] | UnsetType = UNSET
    seat: Id | UnsetType = UNSET
    player: Id | UnsetType = UNSET
    dice: list[Id] | UnsetType = UNSET
    voids: Seq | UnsetType = UNSET
    approved_by: Id | UnsetType = UNSET


class ThrowVoided(Envelope, frozen=True, gc=False, tag="throw.voided"):
    voids_result: ClassVar[EventType | None] = DiceThrown
    shows: ClassVar[str | None] = "faces"

    data: ThrowVoidedData


class NumberData(Data, frozen=True, gc=False):
    number: Integer


class PointMarked(Envelope, frozen=True, gc=False, tag="point.marked"):
    data: NumberData


class ShooterRemovedData(Data, frozen=True, gc=False):
    seat: Id
    by: Role


class ShooterRemoved(Envelope, frozen=True, gc=False, tag="shooter.removed"):
    data: ShooterRemovedData
