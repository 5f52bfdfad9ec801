"""The event contract: what a table system sends, as types.

An event is an *envelope* (which stream, which number, which type, when, who) around *data* whose fields depend on
the type. Both are msgspec Structs, so one pass over the bytes parses, checks the shape and builds the object:

    wager.placed ──► WagerPlaced(stream=…, seq=…, occurred_at=…, data=WagerPlacedData(wager=…, bet=…, stake=…))

Shape is all that is judged here: a throw of ``[7, 2]``, an unknown bet or a stake after the call is well-shaped,
happened, and is for the rules to judge. ``UNSET`` is a field that was not sent; ``null`` is accepted nowhere but in
the ``value`` of a colour.

Amounts are integers in minor units of the session's currency, from 0 to 2^53 − 1, so that every JSON reader on the
way holds them exactly. There are no floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MAX_INTEGER = 2**53 - 1
"""Largest integer every JSON reader keeps exactly (RFC 7493, section 2.2)."""

MAX_EVENT_BYTES = 32 * 1024
"""Largest event accepted, in bytes as sent."""

MAX_DEPTH = 32
"""Deepest nesting accepted: far more than any event needs, far less than any reader's stack."""

STREAM_NAME = re.compile(r"[A-Za-z0-9._:-]{1,100}")

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


class ShapeError(ValueError):
    """An event whose shape is not the contract's.

    ``pointer`` is the JSON Pointer (RFC 6901) of the fault inside the event, ``""`` for the whole of it;
    ``reason`` says what is wrong there.
    """

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or 'event'}: {reason}")
        self.reason = reason
        self.pointer = pointer


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


# Session and bank


class StaffMember(Data, frozen=True, gc=False):
    person: Id
    role: Role


class Params(Data, frozen=True, gc=False):
    """Readings of the law that a session may set for itself: see ``readings``."""

    payout_unit: Stake = 1
    commission_rounding: Literal["ceil", "floor", "nearest"] = "ceil"
    commission_refunded_on_withdrawal: bool = False
    zero_rule: Literal["choice", "half", "lose"] | UnsetType = UNSET
    release_value: Literal["halving", "full"] = "halving"
    throw_delay_s: Amount = 10
    seat_limit: Amount | UnsetType = UNSET
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


# Wagers and payouts


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


# Craps


class SeatData(Data, frozen=True, gc=False):
    seat: Id


class DiceOffered(Envelope, frozen=True, gc=False, tag="dice.offered"):
    data: SeatData


class DiceDeclined(Envelope, frozen=True, gc=False, tag="dice.declined"):
    data: SeatData


class DiceSetIntroducedData(Data, frozen=True, gc=False):
    dice: list[Id]
    decided_by: Role
    announced: bool
    cause: Literal["broken", "lost"] | UnsetType = UNSET


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
    dice: list[Id] | UnsetType = UNSET
    total: Integer | UnsetType = UNSET
    flags: list[ThrowFlag] | UnsetType = UNSET


class DiceThrown(Envelope, frozen=True, gc=False, tag="dice.thrown"):
    data: DiceThrownData


class ThrowVoidedData(Data, frozen=True, gc=False):
    announced_by: Role
    flags: list[ThrowFlag]
    faces: tuple[Integer, Integer] | UnsetType = UNSET
    seat: Id | UnsetType = UNSET
    dice: list[Id] | UnsetType = UNSET


class ThrowVoided(Envelope, frozen=True, gc=False, tag="throw.voided"):
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


# Roulette


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
    data: PocketData


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

# The fast path: shape of every field, but neither the stream's name nor what `checked` looks at.
decode_fast = msgspec.json.Decoder(Event).decode

_CHECKED = (EventsLost, EntryCorrected)
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')

_decode_any = msgspec.json.Decoder().decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def decode(raw: bytes | str) -> Event:
    """Return the event that ``raw`` is the JSON of. Raise ``ShapeError`` where it is none."""
    raw = in_bytes(raw)
    if len(raw) > MAX_EVENT_BYTES:
        raise ShapeError(f"is larger than {MAX_EVENT_BYTES} bytes")
    try:
        event: Event = decode_fast(raw)
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ShapeError(f"is not valid JSON: {error}") from None
    return checked(event, raw)


def in_bytes(raw: bytes | str) -> bytes:
    """Return ``raw`` in UTF-8. Raise ``ShapeError`` for half a character, which UTF-8 cannot write."""
    try:
        return raw.encode() if isinstance(raw, str) else raw
    except UnicodeEncodeError:
        raise ShapeError("is not valid Unicode") from None


def decode_all(lines: Iterable[bytes]) -> list[Event]:
    """Return the events that ``lines`` are the JSON of: ``decode`` for many events of one stream, in half the time.

    Raise ``ShapeError`` at the first that is none.
    """
    events: list[Event] = []
    append = events.append
    fast = decode_fast
    stream = None
    for raw in lines:
        try:
            event = fast(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            event = decode(raw)
        # What `checked` looks at, each by the cheapest test that lets the usual event pass.
        if event.stream != stream or type(event) in _CHECKED or len(raw) > MAX_EVENT_BYTES or b"u0000" in raw:
            event = decode(raw)
            stream = event.stream
        append(event)
    return events


def checked(event: Event, raw: bytes) -> Event:
    """Return ``event`` if what a type cannot say about its shape holds too. Raise ``ShapeError`` otherwise."""
    if not STREAM_NAME.fullmatch(event.stream):
        raise ShapeError("is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)", "/stream")
    # A new case here belongs into _CHECKED too.
    match event:
        case EventsLost(seq=seq, data=data) if data.through < seq:
            raise ShapeError("is below the event's own seq", "/data/through")
        case EntryCorrected(data=data):
            _refuse_inexact(data.data, "/data/data")
    if b"u0000" in raw:
        _refuse_nul(_decode_any(raw), "")
    return event


def canonical(raw: bytes) -> bytes:
    """Return the canonical form (RFC 8785) of the event in ``raw``: what is hashed, stored and compared.

    Everything stays as it was sent, ``occurred_at`` with its own offset included; ``v`` and ``data`` are written out
    where they were left to their defaults. Raise ``ShapeError`` for what ``decode`` refuses and for a name that is
    given twice in one object, which readers understand differently (RFC 7493, section 2.3).
    """
    return decode_canonical(raw)[1]


def decode_canonical(raw: bytes) -> tuple[Event, bytes]:
    """Return the event in ``raw`` and its canonical form: ``decode`` and ``canonical`` in one reading."""
    event = decode(raw)
    envelope = _decode_any(raw)
    defaulted = ("v" not in envelope) + ("data" not in envelope)
    envelope.setdefault("v", 1)
    envelope.setdefault("data", {})
    # Keys are ASCII and numbers integers by now: sorting bytes and writing digits is all that RFC 8785 asks.
    written: bytes = _encode_sorted(envelope)
    # As many names as were written: none came twice. Escapes, and space before a colon, would spoil the count.
    if raw.count(b'":') != written.count(b'":') - defaulted or b"\\u" in raw or _SPACED_COLON.search(raw):
        _refuse_doubles(raw)
    return event, written


def next_seq_after(event: Event) -> int:
    """Return the number that follows ``event`` in its stream: after a declared loss, the first that is not lost."""
    if isinstance(event, EventsLost):
        return max(event.seq, event.data.through) + 1
    return event.seq + 1


def read_data(kind: type[Envelope], data: Mapping[str, Any]) -> Data:
    """Return ``data`` as the fields of an event of type ``kind``. Raise ``ShapeError`` where it has another shape."""
    try:
        return msgspec.convert(data, DATA_OF[kind])
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None


_POINTED = re.compile(r"(?P<reason>.*?)(?: - at `(?:key in )?\$?(?P<path>[^`]*)`)?\Z", re.DOTALL)


def _shape_error(error: msgspec.ValidationError) -> ShapeError:
    """Say what msgspec says, with its path (``$.data.faces[0]``) as a JSON Pointer (``/data/faces/0``)."""
    match = _POINTED.match(str(error))
    assert match is not None
    # msgspec does not name the key of a mapping's bad value: "[...]". Point at the mapping.
    path = re.sub(r"\[(\d+)\]", r".\1", (match["path"] or "").replace("[...]", ""))
    return ShapeError(match["reason"].replace("`", "'"), path.replace(".", "/"))


def _refuse_inexact(value: object, pointer: str) -> None:
    """Raise ``ShapeError`` for a number that is no exact integer, anywhere in ``value``, and for bottomless nesting."""
    if pointer.count("/") > MAX_DEPTH:
        raise ShapeError(f"is nested deeper than {MAX_DEPTH} levels", "/data/data")
    match value:
        case float():
            raise ShapeError("is no integer", pointer)
        case int() if abs(value) > MAX_INTEGER:
            raise ShapeError(f"is beyond {MAX_INTEGER}", pointer)
        case dict():
            for key, item in value.items():
                if not key.isascii():
                    raise ShapeError("is no field of any event", f"{pointer}/{_escaped(key)}")
                _refuse_inexact(item, f"{pointer}/{_escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_inexact(item, f"{pointer}/{index}")


def _refuse_nul(value: object, pointer: str) -> None:
    """Raise ``ShapeError`` for the character NUL, which no text column can hold, anywhere in ``value``."""
    match value:
        case str() if "\0" in value:
            raise ShapeError("has the character NUL", pointer)
        case dict():
            for key, item in value.items():
                _refuse_nul(key, pointer)
                _refuse_nul(item, f"{pointer}/{_escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_nul(item, f"{pointer}/{index}")


def _refuse_doubles(raw: bytes) -> None:
    """Raise ``ShapeError`` for an object in ``raw`` that gives one name twice."""
    # The standard library's reader is the one that shows a document's names before they are merged.
    import json

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        named: dict[str, object] = {}
        for name, value in pairs:
            if name in named:
                raise ShapeError(f"gives the name '{name}' twice")
            named[name] = value
        return named

    json.loads(raw, object_pairs_hook=unique)


def _escaped(name: str) -> str:
    """Return ``name`` as one reference token of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
