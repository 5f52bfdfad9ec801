"""The house's register of readings, and what decides where it is silent or where a session declares otherwise.

    register given    the register, then the default; the session's own ``params`` never
    no register       the session's ``params``, then the default: for a file that is read by itself

No reading may contradict the text. An unlawful value is not used: the register's stands in for it if that is lawful,
else the default. ``minimum`` and ``maximum`` are facts of the table, which the register may only cap.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from settlement.codec import ShapeError
from settlement.events import Params, SessionOpened, WagerPlaced
from settlement.events.envelope import Amount, Currency, Family, Stake
from settlement.families import observed
from settlement.findings import find
from settlement.money import Rounding
from settlement.readings import READINGS as ALL_READINGS
from settlement.ruleset import Handler, Ruleset
from settlement.state import Session, Table

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "payout_unit": 1,
        "commission_rounding": "ceil",
        "commission_refunded_on_withdrawal": False,
        "release_value": "halving",
        "throw_delay_s": 10,
        "call_tolerance_ms": 500,
        "commission_unit": 1,
        "result_slip_s": 10,
    }
)
"""The readings that are the same for every ruleset, where nothing else decides."""

READINGS = (
    "payout_unit",
    "commission_rounding",
    "commission_refunded_on_withdrawal",
    "zero_rule",
    "release_value",
    "throw_delay_s",
    "call_tolerance_ms",
    "commission_unit",
    "seat_limit",
    "result_slip_s",
    "maximum",
)
"""The parameters of section 5, by name: the same stream under other readings has another answer."""

OF_MONEY = frozenset(READINGS) - {"throw_delay_s", "seat_limit", "result_slip_s", "maximum"}
"""The readings by which what is due to a wager may be another."""

MOST_TOLERANCE_MS = 1_000

MOST_SLIP_S = 30


class Register(Params, frozen=True, gc=False):
    """What the register may say of a table: readings, caps of its limits, and what it is.

    ``minimum`` and ``maximum`` cap what the session declares, in minor units. ``families`` are those it owes.
    What ends with ``_from`` is a threshold of the money of persons, by currency, in minor units: no session is read by
    it (``persons.thresholds``).
    """

    minimum: Amount | UnsetType = UNSET
    double_table: bool | UnsetType = UNSET
    families: list[Family] | UnsetType = UNSET
    identification_from: dict[Currency, Stake] | UnsetType = UNSET
    reportable_cash_from: dict[Currency, Stake] | UnsetType = UNSET
    chips_from_elsewhere_from: dict[Currency, Stake] | UnsetType = UNSET
    chips_outstanding_from: dict[Currency, Stake] | UnsetType = UNSET


class Resolved(Struct, frozen=True):
    """A session with every reading resolved, and what was wrong with those that it or the register gives.

    ``differs`` and ``unlawful`` are names of readings, each with the value declared and the one used; ``missing`` are
    families that the table owes and does not observe.
    """

    session: Session
    differs: dict[str, tuple[Any, Any]] = {}
    unlawful: dict[str, tuple[Any, Any]] = {}
    missing: tuple[str, ...] = ()


def checked(readings: Mapping[str, Any] | None) -> Register | None:
    """Return ``readings`` as a register. Raise ``ShapeError`` for a name or a value that there is not."""
    if readings is None:
        return None
    try:
        return msgspec.convert(dict(readings), Register)
    except msgspec.ValidationError as error:
        raise ShapeError(str(error)) from None


def is_lawful(name: str, value: Any, ruleset: Ruleset, *, is_double: bool, minimum: int) -> bool:
    """Whether a reading may have ``value``. ``minimum`` is the smallest stake in minor units, 0 if not declared."""
    match name:
        case _ if name in ruleset.fixed:
            return bool(value == ruleset.fixed[name])
        case "seat_limit":  # art. 57-1 al. 3
            most = ruleset.seat_limit_doubled if is_double else ruleset.seat_limit
            return most is None or value <= most
        case "payout_unit":
            return not minimum or cast(int, value) <= minimum
        case "call_tolerance_ms":
            return cast(int, value) <= MOST_TOLERANCE_MS
        case "result_slip_s":
            return cast(int, value) <= MOST_SLIP_S
        case _:
            return True


def resolve(event: SessionOpened, ruleset: Ruleset, register: Register | None) -> Resolved:
    """Return the session that ``event`` opens, as the register or, without one, its own params have it read."""
    data = event.data
    own = data.params or Params()
    is_double, minimum = data.double_table is True, data.minimum or 0
    if register is not None:
        is_double = register.double_table if isinstance(register.double_table, bool) else is_double
        minimum = min(minimum, register.minimum) if isinstance(register.minimum, int) else minimum
    defaults = {
        **DEFAULTS,
        "zero_rule": ruleset.zero_rule,
        "seat_limit": ruleset.seat_limit_doubled if is_double else ruleset.seat_limit,
    }
    values, differs, unlawful = {}, {}, {}
    for name, default in defaults.items():
        declared = getattr(own, name)
        kept = UNSET if register is None else getattr(register, name)
        if ruleset.name not in ALL_READINGS[name].rulesets:
            values[name] = default
            continue

        def lawful(value: Any, name: str = name) -> bool:
            return value is UNSET or is_lawful(name, value, ruleset, is_double=is_double, minimum=minimum)

        value = values[name] = kept if kept is not UNSET and lawful(kept) else default
        if not lawful(kept):
            unlawful[name] = (kept, value)
        elif not lawful(declared):
            unlawful[name] = (declared, value)
        elif declared is not UNSET and register is None:
            values[name] = declared
        elif declared is not UNSET and declared != value:
            differs[name] = (declared, value)
    if isinstance(data.double_table, bool) and data.double_table != is_double:
        differs["double_table"] = (data.double_table, is_double)
    families = () if register is None else register.families or ()
    observes = observed(data.observes)
    session = Session(
        casino=data.casino,
        table=data.table,
        gaming_day=data.gaming_day,
        game=data.game,
        ruleset=data.ruleset,
        currency=data.currency,
        observes=observes,
        minimum=minimum,
        maximum=_capped(own, register),
        seats=tuple(data.seats or ()),
        payout_unit=values["payout_unit"],
        commission_rounding=cast(Rounding, values["commission_rounding"]),
        commission_refunded_on_withdrawal=values["commission_refunded_on_withdrawal"],
        zero_rule=cast(Literal["choice", "half", "lose"], values["zero_rule"]),
        release_value=cast(Literal["halving", "full"], values["release_value"]),
        throw_delay_s=values["throw_delay_s"],
        call_tolerance_ms=values["call_tolerance_ms"],
        commission_unit=values["commission_unit"],
        seat_limit=values["seat_limit"],
        result_slip_s=values["result_slip_s"],
        settled=_settled(register),
        calls="calls" in observes,
        collections="collections" in observes,
        custody="custody" in observes,
        wheel="wheel" in observes,
    )
    return Resolved(session, differs, unlawful, tuple(sorted(set(families) - observes)))


def report(table: Table, seq: int, resolved: Resolved) -> None:
    """Report what is wrong with the readings of the session that event ``seq`` opened, each rule once."""
    if resolved.unlawful:
        _report_values(table, "parameter-unlawful", seq, resolved.unlawful)
    if resolved.differs:
        _report_values(table, "params-differ-from-register", seq, resolved.differs)
    if resolved.missing:
        find(table, "observes-less-than-owed", seq, families=list(resolved.missing))


def watched_unit(handlers: dict[type, Handler], session: Session, register: Register | None) -> None:
    """Without a minimum the payout unit is held against every stake: wrap the handler that places one, in place."""
    placed = handlers.get(WagerPlaced)
    if session.minimum or session.payout_unit == 1 or placed is None:
        return

    def place_and_compare(table: Table, event: WagerPlaced) -> None:
        placed(table, event)
        unit, stake = table.open_session().payout_unit, event.data.stake
        wager = table.wagers[event.data.wager]
        if stake >= unit or wager.id not in table.live or wager.placed_by != event.seq:
            return
        kept = register.payout_unit if register is not None else UNSET
        lawful = kept if isinstance(kept, int) and kept <= stake else 1
        find(
            table,
            "parameter-unlawful",
            event.seq,
            wager=wager,
            readings=["payout_unit"],
            recorded=str(unit),
            expected=str(lawful),
        )
        table.session = msgspec.structs.replace(table.open_session(), payout_unit=lawful)

    handlers[WagerPlaced] = place_and_compare


def _report_values(table: Table, rule: str, seq: int, values: Mapping[str, tuple[Any, Any]]) -> None:
    def text(index: int) -> str:
        pairs = [(name, _plain(value[index])) for name, value in values.items()]
        return pairs[0][1] if len(pairs) == 1 else ", ".join(f"{name}={value}" for name, value in pairs)

    find(table, rule, seq, readings=list(values), recorded=text(0), expected=text(1))


def _plain(value: Any) -> str:
    return msgspec.json.encode(value).decode().strip('"')


def _capped(own: Params, register: Register | None) -> dict[str, int]:
    """Return the most that may be staked, by bet: what the session declares, capped by the register."""
    declared: dict[str, int] = dict(own.maximum or {})
    caps: dict[str, int] = {} if register is None else dict(register.maximum or {})
    return declared | {bet: min(cap, declared.get(bet, cap)) for bet, cap in caps.items()}


def _settled(register: Register | None) -> tuple[str, ...]:
    """Return the readings that the register itself decides."""
    if register is None:
        return ()
    return tuple(name for name in (*DEFAULTS, "zero_rule") if getattr(register, name) is not UNSET)


def digest_of(session: Session | None) -> str:
    """Return the SHA-256 of the readings that a session is adjudicated under, 64 hex digits."""
    readings = {} if session is None else {name: getattr(session, name) for name in READINGS}
    return hashlib.sha256(msgspec.json.encode(readings, order="sorted")).hexdigest()
