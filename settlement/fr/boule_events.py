"""The events of la boule: the ball at rest, and a throw that decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from msgspec import UNSET, UnsetType

from settlement.events.envelope import Data, Envelope, EventType, Id, Integer, Seq


class BouleSettledData(Data, frozen=True, gc=False):
    """The number in which the ball rests. ``person`` is the employee who threw it, unset if nobody knows."""

    number: Integer
    person: Id | UnsetType = UNSET


class BouleSettled(Envelope, frozen=True, gc=False, tag="boule.settled"):
    """The result of a coup."""

    is_result: ClassVar[bool] = True
    shows: ClassVar[str | None] = "number"
    sentence: ClassVar[tuple[str, str] | None] = (
        "The ball rests in {number}[, thrown by {person}]",
        "La boule s’arrête sur le {number}[, lancée par {person}]",
    )
    meanings: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "": "The ball of la boule came to rest: a result.",
            "number": "the number in which it rests, 1 to 9",
            "person": "the employee who threw it: a person. Without one nothing is known of the turns",
        }
    )

    data: BouleSettledData


class BouleVoidedData(Data, frozen=True, gc=False):
    """``voids`` is the seq of the result just counted, if that one is void; ``approved_by`` is who approved it."""

    reason: str
    voids: Seq | UnsetType = UNSET
    approved_by: Id | UnsetType = UNSET


class BouleVoided(Envelope, frozen=True, gc=False, tag="boule.voided"):
    """A throw that decides nothing: a ball that left the apparatus. Betting is open again in the same coup."""

    voids_result: ClassVar[EventType | None] = BouleSettled
    sentence: ClassVar[tuple[str, str] | None] = ("The throw is void: {reason}", "Le coup est annulé : {reason}")
    meanings: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "": "A throw of la boule decides nothing. Betting reopens; it is still the same coup.",
            "reason": "why, a text",
            "voids": "seq of the result that was counted, if one was",
            "approved_by": "who approved it: a person; without it, `voids` is critical if an outcome changes",
        }
    )

    data: BouleVoidedData
