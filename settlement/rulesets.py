"""The four rulesets: for each, which articles look at which event, and in which order.

A ruleset is an instrument of law applied to a game. Another instrument is another ruleset, never an edit of this table,
so that what was adjudicated under one keeps its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from settlement import craps, wagers
from settlement.catalogue import RULES
from settlement.events import (
    BallLaunched,
    BallRetrieved,
    BallSettled,
    ChipFellInWheel,
    ChipsHandled,
    ColourAssigned,
    DiceDeclined,
    DiceOffered,
    DiceSelected,
    DiceSetIntroduced,
    DiceThrown,
    DiceTouched,
    Envelope,
    LastCoupAnnounced,
    NoMoreBets,
    PaymentAnnounced,
    PayoutMade,
    PlayerLeft,
    PlayerSeated,
    PointMarked,
    ResultAnnounced,
    SessionClosed,
    ShooterRemoved,
    StacksRebuilt,
    StaffAssigned,
    StaffRelieved,
    StakesCollected,
    ThrowVoided,
    WagerMoved,
    WagerPlaced,
    WagerSwitched,
    WagerWithdrawn,
    WheelSpun,
    ZeroDecided,
)
from settlement.fr import art_54_roulette as art_54
from settlement.fr import art_55_7_dice as art_55_7
from settlement.fr import art_55_8_wagers as art_55_8
from settlement.fr import art_57_1_american_roulette as art_57_1
from settlement.law import ARRETE_1959, ARRETE_2007, BY_LAW_R_3, Instrument
from settlement.layouts import LAYOUT_37, LAYOUT_38, Layout
from settlement.qc import s_95_17_place_bets as s_95_17
from settlement.state import Table, find

Handler: TypeAlias = Callable[[Table, Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """One ruleset.

    ``handlers`` maps each event type to what it does; an event of any other type does nothing. ``kinds`` is the closed
    list of bets. ``layout`` is None at craps. ``seat_limit`` and ``seat_limit_doubled`` are those of art. 57-1 al. 3,
    None at games without one.
    """

    name: str
    game: str
    instrument: Instrument
    handlers: Mapping[type[Envelope], Handler]
    kinds: Mapping[str, wagers.Kind]
    layout: Layout | None = None
    zero_rule: str = "choice"
    seat_limit: int | None = None
    seat_limit_doubled: int | None = None

    @property
    def families(self) -> frozenset[str]:
        """The families of events that rules of this ruleset need."""
        return frozenset(
            rule.needs
            for rule in RULES.values()
            if rule.needs and rule.raised_by == "engine" and self.name in rule.rulesets
        )


# Events that every game knows


def _stakes(kinds: Mapping[str, wagers.Kind]) -> dict[type[Envelope], Handler]:
    def place(table: Table, event: WagerPlaced) -> None:
        wagers.place(table, event, kinds)

    def withdraw(table: Table, event: WagerWithdrawn) -> None:
        wagers.withdraw(table, event, kinds)

    return {
        WagerPlaced: place,
        WagerWithdrawn: withdraw,
        StakesCollected: wagers.collect,
        PayoutMade: wagers.pay,
        NoMoreBets: craps.call_no_more_bets,
        StaffAssigned: art_57_1.change_staff,
        StaffRelieved: art_57_1.change_staff,
    }


def close(table: Table, event: SessionClosed) -> None:
    """Find what the session leaves open: unpaid, uncollected, undecided; and check the ledger."""
    seq = event.seq
    wagers.find_unsettled_wagers(table, seq)
    art_55_8.check_moves(table, seq)
    art_54.report_missing_decisions(table, seq)
    standing = 0
    for wager_id in table.live:
        wager = table.wagers[wager_id]
        standing += wager.standing
        if wager.status == "imprisoned":
            find(table, "imprisoned-at-close", wager.placed_by, wager.zero_by, seq, wager=wager, zeros=wager.zeros)
        else:
            find(table, "wager-left-open", wager.placed_by, wager.zero_by, seq, wager=wager, status=wager.status)
    imbalance = table.ledger.imbalance(standing)
    if imbalance:
        find(table, "ledger-imbalance", seq, expected=0, recorded=imbalance)
    table.last_result = seq
    table.closed_by = seq


# Craps


def _throw_in_france(table: Table, event: DiceThrown) -> None:
    seq = event.seq
    craps.begin_throw(table, event)
    art_55_8.check_moves(table, seq)
    art_55_7.check_throw(table, event)
    craps.check_flags(table, event)
    total = craps.valid_total(table, event)
    art_55_7.follow_point(table, seq, total)
    if total is not None:
        art_55_8.settle_throw(table, event, total)
    craps.end_throw(table, event, total)


def _void_in_france(table: Table, event: ThrowVoided) -> None:
    art_55_7.check_voided_throw(table, event)
    craps.void_throw(table, event)


def _throw_in_quebec(table: Table, event: DiceThrown) -> None:
    craps.begin_throw(table, event)
    craps.check_flags(table, event)
    total = craps.valid_total(table, event)
    point = table.point
    if total is not None:
        s_95_17.settle_throw(table, event, total)
    craps.end_throw(table, event, total)
    s_95_17.end_switches(table, point)


def _void_in_quebec(table: Table, event: ThrowVoided) -> None:
    craps.void_throw(table, event)
    s_95_17.end_switches(table, table.point)


FR_CRAPS = Ruleset(
    name="fr-craps",
    game="craps",
    instrument=ARRETE_2007,
    kinds=art_55_8.KINDS,
    handlers=MappingProxyType(
        {
            **_stakes(art_55_8.KINDS),
            SessionClosed: close,
            DiceThrown: _throw_in_france,
            ThrowVoided: _void_in_france,
            PointMarked: craps.mark_point,
            WagerMoved: art_55_8.move,
            DiceOffered: art_55_7.offer,
            DiceDeclined: art_55_7.decline,
            DiceSetIntroduced: art_55_7.introduce_set,
            DiceSelected: art_55_7.select_dice,
            DiceTouched: art_55_7.touch_dice,
            ShooterRemoved: art_55_7.remove_shooter,
        }
    ),
)

QC_CRAPS = Ruleset(
    name="qc-craps",
    game="craps",
    instrument=BY_LAW_R_3,
    kinds=s_95_17.KINDS,
    handlers=MappingProxyType(
        {
            **_stakes(s_95_17.KINDS),
            SessionClosed: close,
            DiceThrown: _throw_in_quebec,
            ThrowVoided: _void_in_quebec,
            PointMarked: craps.mark_point,
            WagerSwitched: s_95_17.switch,
        }
    ),
)


# Roulette


def _settle_on(layout: Layout) -> Callable[[Table, BallSettled], None]:
    pockets = frozenset(layout.wheel)

    def settle(table: Table, event: BallSettled) -> None:
        seq = event.seq
        pocket = event.data.pocket
        wagers.find_unsettled_wagers(table, seq)
        table.result = pocket
        art_54.imprison_undecided(table, seq)
        art_54.check_last_coup(table, seq, pocket)
        art_57_1.check_call(table, seq, pocket)
        if pocket in pockets:
            art_54.settle_pocket(table, seq, pocket, pocket in layout.zeros)
        else:
            find(table, "invalid-pocket", seq, recorded=pocket, pockets=len(pockets))
        table.last_result = seq
        table.call = 0
        table.called_at = None

    return settle


def _roulette(layout: Layout) -> dict[type[Envelope], Handler]:
    return {
        **_stakes(art_54.kinds_on(layout)),
        SessionClosed: close,
        ZeroDecided: art_54.decide_zero,
        LastCoupAnnounced: art_54.announce_last_coup,
        BallLaunched: art_57_1.note_launch,
        ChipFellInWheel: art_57_1.drop_chip,
        BallRetrieved: art_57_1.retrieve_ball,
    }


def _settle_at_french_wheel() -> Handler:
    settle = _settle_on(LAYOUT_37)

    def settle_and_turn(table: Table, event: BallSettled) -> None:
        settle(table, event)
        art_57_1.begin_coup(table, event)

    return settle_and_turn


def _settle_at_american_wheel() -> Handler:
    settle = _settle_on(LAYOUT_38)

    def settle_and_turn(table: Table, event: BallSettled) -> None:
        art_57_1.check_fallen_chip(table, event.seq, event.data.pocket)
        settle(table, event)
        art_57_1.begin_coup(table, event)

    return settle_and_turn


def _place_in_colour(kinds: Mapping[str, wagers.Kind]) -> Handler:
    def place(table: Table, event: WagerPlaced) -> None:
        wager = wagers.place(table, event, kinds)
        if wager is not None and wager.colour is not None:
            art_57_1.check_foreign_colour(table, event, wager)

    return place


def _pay_in_order(table: Table, event: PayoutMade) -> None:
    art_57_1.check_payment(table, event, wagers.pay(table, event))


FR_ROULETTE = Ruleset(
    name="fr-roulette",
    game="french_roulette",
    instrument=ARRETE_1959,
    kinds=art_54.kinds_on(LAYOUT_37),
    layout=LAYOUT_37,
    handlers=MappingProxyType({**_roulette(LAYOUT_37), BallSettled: _settle_at_french_wheel()}),
)

FR_AMERICAN_ROULETTE = Ruleset(
    name="fr-american-roulette",
    game="american_roulette",
    instrument=ARRETE_1959,
    kinds=art_54.kinds_on(LAYOUT_38),
    layout=LAYOUT_38,
    zero_rule="lose",
    seat_limit=7,
    seat_limit_doubled=14,
    handlers=MappingProxyType(
        {
            **_roulette(LAYOUT_38),
            WagerPlaced: _place_in_colour(art_54.kinds_on(LAYOUT_38)),
            PayoutMade: _pay_in_order,
            BallSettled: _settle_at_american_wheel(),
            WheelSpun: art_57_1.spin_wheel,
            BallLaunched: art_57_1.launch_ball,
            StacksRebuilt: art_57_1.rebuild_stacks,
            ResultAnnounced: art_57_1.announce_result,
            PaymentAnnounced: art_57_1.announce_payment,
            ColourAssigned: art_57_1.assign_colour,
            PlayerSeated: art_57_1.seat_player,
            PlayerLeft: art_57_1.free_seat,
            ChipsHandled: art_57_1.handle_chips,
        }
    ),
)

RULESETS: Mapping[str, Ruleset] = MappingProxyType(
    {ruleset.name: ruleset for ruleset in (FR_CRAPS, QC_CRAPS, FR_ROULETTE, FR_AMERICAN_ROULETTE)}
)
"""Every ruleset by its name."""
