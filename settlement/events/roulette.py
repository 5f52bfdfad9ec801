"""Events of the wheel, and of the manners that American roulette prescribes."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from settlement.events.envelope import Amount, Data, Direction, Envelope, EventType, Id, NoData, Role, Seq


class DirectionData(Data, frozen=True, gc=False):
    direction: Direction
    by: Role | UnsetType = UNSET


class WheelSpun(Envelope, frozen=True, gc=False, tag="wheel.spun"):
    data: DirectionData


class BallLaunched(Envelope, frozen=True, gc=False, tag="ball.launched"):
    data: DirectionData


class ChipFellInWheel(Envelope, frozen=True, gc=False, tag="chip.fell_in_wheel"):
    data: NoData = NoData()


class BallRetrieved(Envelope, frozen=True, gc=False, tag="ball.retrieved"):
    data: NoData = NoData()


class PocketData(Data, frozen=True, gc=False):
    pocket: str


class BallSettled(Envelope, frozen=True, gc=False, tag="ball.settled"):
    is_result: ClassVar[bool] = True
    shows: ClassVar[str | None] = "pocket"

    data: PocketData


class SpinVoidedData(Data, frozen=True, gc=False):
    """Why a spin decides nothing; ``voids`` names the result that was counted, if one was.

    ``approved_by`` is who approved that a result which counted is taken away.
    """

    announced_by: Role
    reason: str
    voids: Seq | UnsetType = UNSET
    approved_by: Id | UnsetType = UNSET


class SpinVoided(Envelope, frozen=True, gc=False, tag="spin.voided"):
    voids_result: ClassVar[EventType | None] = BallSettled

    data: SpinVoidedData


class ResultAnnouncedData(Data, frozen=True, gc=False):
    pocket: str
    chances: list[str]


class ResultAnnounced(Envelope, frozen=True, gc=False, tag="result.announced"):
    data: ResultAnnouncedData


class ZeroDecidedData(Data, frozen=True, gc=False):
    wager: Id
    choice: Literal["half", "prison"]


class ZeroDecided(Envelope, frozen=True, gc=False, tag="zero.decided"):
    data: ZeroDecidedData


class LastCoupAnnounced(Envelope, frozen=True, gc=False, tag="last_coup.announced"):
    data: NoData = NoData()


class StacksRebuilt(Envelope, frozen=True, gc=False, tag="stacks.rebuilt"):
    data: NoData = NoData()


class ColourAssignedData(Data, frozen=True, gc=False):
    player: Id
    colour: Id
    value: Amount | None
    marker_from: Role | UnsetType = UNSET


class ColourAssigned(Envelope, frozen=True, gc=False, tag="colour.assigned"):
    data: ColourAssignedData


class ChipsHandledData(Data, frozen=True, gc=False):
    by: Role


class ChipsHandled(Envelope, frozen=True, gc=False, tag="chips.handled"):
    data: ChipsHandledData
