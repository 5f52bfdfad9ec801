"""The envelope of every event, and the types of the values in its data.

Amounts are integers in minor units of the session's currency, from 0 to 2^53 − 1, so that every JSON reader on the way
keeps them exact. There are no floats. ``UNSET`` is a field that was not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

MAX_INTEGER = 2**53 - 1
"""Largest integer every JSON reader keeps exactly (RFC 7493, section 2.2)."""

Seq: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Stake: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Integer: TypeAlias = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Currency: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z")]
Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]

Role: TypeAlias = Literal["chef_de_partie", "chef_de_table", "croupier", "stickman", "employe", "shooter", "opening"]
Family: TypeAlias = Literal[
    "calls",
    "custody",
    "marker",
    "wheel",
    "announcements",
    "collections",
    "seating",
    "colours",
    "handling",
    "staff",
    "bank",
    "wagers",
    "results",
    "decisions",
    "payouts",
]
Means: TypeAlias = Literal["cash", "cheque", "card", "voucher"]
Medium: TypeAlias = Literal["chips", "plaques", "cash", "verbal", "credit"]
Direction: TypeAlias = Literal["clockwise", "counterclockwise"]
VoidingFlag: TypeAlias = Literal[
    "wrong_direction",
    "short_of_far_end",
    "no_wall_contact",
    "slid",
    "broken",
    "stacked",
    "straddling",
    "on_chip",
    "off_table",
]
ThrowFlag: TypeAlias = VoidingFlag | Literal["rubbed_or_held"]


class Data(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The fields of one event type."""


class NoData(Data, frozen=True, gc=False):
    """A type without fields."""


class Envelope(Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="type", kw_only=True):
    """What every event carries, whatever its type.

    ``ext`` is the integrator's own: kept and hashed with the event, shown, and never adjudicated.

    A type says what shared code has to know of it, so that none is named there. ``is_result``: it is a result, which
    ends a coup if it is counted. ``voids_result``: the type of result that it voids, if the ``voids`` of its data names
    one; None if it voids none. ``shows``: the
    field of its data with the result that the felt shows, if that is not the text of ``Table.result``; ``stays_shown``:
    until the next, for dice lie where they fell; otherwise until new stakes.

    One of a ruleset's own says which ``ruleset`` alone takes it, None for a type of the contract, and brings the
    ``sentence`` that pages show it by, a template in English and French. ``meanings`` are for whoever sends it: what
    each field of its data means, by its name, and under "" what happened.
    """

    type: ClassVar[str]
    is_result: ClassVar[bool] = False
    voids_result: ClassVar[EventType | None] = None
    shows: ClassVar[str | None] = None
    stays_shown: ClassVar[bool] = False
    ruleset: ClassVar[str | None] = None
    sentence: ClassVar[tuple[str, str] | None] = None
    meanings: ClassVar[Mapping[str, str]] = MappingProxyType({})

    stream: str
    seq: Seq
    occurred_at: Moment
    v: Literal[1] = 1
    actor: str | UnsetType = UNSET
    ext: dict[str, Any] | UnsetType = UNSET


EventType: TypeAlias = type[Envelope]
"""A type of event. Inside an envelope ``type`` is its name on the wire."""


class VoidingData(Protocol):
    """The data of an event that voids: ``voids`` is the seq of the last counted result, if that decides nothing.

    Where it takes away what somebody had won, an ``approved_by`` says who approved it: without one nobody did.
    """

    @property
    def voids(self) -> int | UnsetType: ...


class Voiding(Protocol):
    """An event whose type says ``voids_result``: what it was about decides nothing."""

    voids_result: ClassVar[EventType | None]

    @property
    def seq(self) -> int: ...
    @property
    def occurred_at(self) -> datetime: ...
    @property
    def actor(self) -> str | UnsetType: ...
    @property
    def data(self) -> VoidingData: ...
