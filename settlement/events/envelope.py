"""The envelope of every event, and the types of the values in its data.

Amounts are integers in minor units of the session's currency, from 0 to 2^53 − 1, so that every JSON reader on the way
keeps them exact. There are no floats. ``UNSET`` is a field that was not sent.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal, TypeAlias

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
    """What every event carries, whatever its type."""

    type: ClassVar[str]

    stream: str
    seq: Seq
    occurred_at: Moment
    v: Literal[1] = 1
    actor: str | UnsetType = UNSET
