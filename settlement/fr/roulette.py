"""The rulesets *fr-roulette* and *fr-american-roulette*: art. 54 and 57-1, and which of them looks at which event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from settlement import acts, claims, payouts, wagers
from settlement.calls import reopen
from settlement.catalogue.american_roulette import ANNOUNCEMENTS, PAYMENTS, WHEEL
from settlement.catalogue.american_table import SEATS_AND_COLOURS, STAFF
from settlement.catalogue.roulette import ROULETTE
from settlement.catalogue.rule import WAGER, Wording
from settlement.events import (
    BallLaunched,
    BallRetrieved,
    BallSettled,
    ChipFellInWheel,
    ChipsHandled,
    ColourAssigned,
    DisputeSettled,
    Envelope,
    LastCoupAnnounced,
    OrphanRecorded,
    PaymentAnnounced,
    PayoutMade,
    PayoutRecovered,
    PlayerLeft,
    PlayerSeated,
    ResultAnnounced,
    SessionClosed,
    SpinVoided,
    StacksRebuilt,
    StakesCollected,
    WagerPlaced,
    WagerWithdrawn,
    WheelSpun,
    ZeroDecided,
)
from settlement.findings import find
from settlement.fr import american_table
from settlement.fr import art_54_roulette as art_54
from settlement.fr import art_57_1_american_roulette as art_57_1
from settlement.fr.clauses import of_every_game
from settlement.law import ARRETE_1959
from settlement.layouts import LAYOUT_37, LAYOUT_38, Layout
from settlement.play import closing, stakes
from settlement.ruleset import Handler, Ruleset
from settlement.state import Table, Wager
from settlement.verdicts import end_coup


def _settle_on(layout: Layout) -> Callable[[Table, BallSettled], None]:
    pockets = frozenset(layout.wheel)

    def settle(table: Table, event: BallSettled) -> None:
        seq = event.seq
        pocket = event.data.pocket
        is_counted = pocket in pockets
        if is_counted:
            end_coup(table, seq)
            art_54.imprison_undecided(table, seq)
        table.result = pocket
        art_54.check_last_coup(table, seq, pocket)
        art_57_1.check_call(table, seq, pocket)
        if is_counted:
            art_54.settle_pocket(table, seq, pocket, pocket in layout.zeros)
        else:
            find(table, "invalid-pocket", seq, recorded=pocket, pockets=len(pockets))
        table.last_result = seq
        reopen(table)

    return settle


def _reading_choice(move: Handler) -> Callable[[Table, Any], Any]:
    """Return a handler of movements of chips that reads from them what the player chose at a zero."""

    def move_and_read(table: Table, event: PayoutMade | PayoutRecovered | WagerWithdrawn) -> Any:
        moved = move(table, event)
        if table.zero_by and table.zero_by == table.coup_began:
            art_54.read_choice(table, event.data.wager, event.seq)
        return moved

    return move_and_read


def _sweep_and_read(sweep: Handler) -> Callable[[Table, Any], Any]:
    """Return a handler of sweeps: what was swept was not taken at the zero, whatever was said before."""

    def sweep_and_read(table: Table, event: StakesCollected) -> None:
        sweep(table, event)
        if table.zero_by and table.zero_by == table.coup_began:
            for wager_id in event.data.wagers:
                art_54.read_choice(table, wager_id, event.seq)

    return sweep_and_read


def _settle_and_read(settle: Handler) -> Callable[[Table, Any], Any]:
    """Return a handler of settlements, which are movements of the wager that their dispute names."""

    def settle_and_read(table: Table, event: DisputeSettled) -> None:
        settle(table, event)
        art_54.read_choice(table, table.disputes.get(event.data.opened) or "", event.seq)

    return settle_and_read


def _roulette(layout: Layout) -> dict[type[Envelope], Handler]:
    kinds = art_54.kinds_on(layout)
    of_chips = stakes(kinds)
    return {
        **of_chips,
        **{kind: _reading_choice(of_chips[kind]) for kind in (PayoutMade, PayoutRecovered, WagerWithdrawn)},
        StakesCollected: _sweep_and_read(of_chips[StakesCollected]),
        DisputeSettled: _settle_and_read(of_chips[DisputeSettled]),
        OrphanRecorded: claims.record_orphan,
        SessionClosed: closing(art_54.report_missing_decisions),
        ZeroDecided: art_54.decide_zero,
        LastCoupAnnounced: art_54.announce_last_coup,
        SpinVoided: art_57_1.void_spin,
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
    pockets = frozenset(LAYOUT_38.wheel)

    def settle_and_turn(table: Table, event: BallSettled) -> None:
        seq, pocket = event.seq, event.data.pocket
        art_57_1.check_fallen_chip(table, seq, pocket)
        if pocket in pockets:
            art_57_1.check_manoeuvre(table, seq, pocket)
        american_table.check_staff(table, seq)
        settle(table, event)
        art_57_1.begin_coup(table, event)

    return settle_and_turn


def _place_in_colour(place_wager: Callable[[Table, WagerPlaced], Wager | None]) -> Handler:
    def place_in_colour(table: Table, event: WagerPlaced) -> None:
        wager = place_wager(table, event)
        if wager is None:
            return
        if wager.colour is not None:
            art_57_1.check_stake_in_colour(table, event, wager)
        american_table.check_unseated_player(table, event, wager)

    return place_in_colour


def _pay_in_order(pay: Callable[[Table, PayoutMade], Wager | None]) -> Handler:
    def pay_in_order(table: Table, event: PayoutMade) -> None:
        is_first = payouts.is_first_payout(table, event)
        art_57_1.check_payment(table, event, pay(table, event), is_first)

    return pay_in_order


def _recover(table: Table, event: PayoutRecovered) -> None:
    if table.acts:
        acts.note_recovery(table, event)
    payouts.recover(table, event)


def _sweep_in_order(table: Table, event: StakesCollected) -> None:
    lying = len(table.swept)
    payouts.collect(table, event)
    if table.wheel.early and len(table.swept) < lying:
        art_57_1.report_early_payments(table)


_CALL = ("art. 57-1 al. 6",)
_OPPOSITES = ((("rouge",), ("noir",)), (("pair",), ("impair",)), (("manque",), ("passe",)))
_CLAUSES: Mapping[str, tuple[str, ...] | None] = MappingProxyType(
    {
        **of_every_game("art. 54 intro", _CALL),
        "wager-left-open": ("art. 54 last al.",),
        "stake-not-returned": ("art. 54 al. 4", WAGER),
    }
)
_RULES = (*ROULETTE, *WHEEL, *ANNOUNCEMENTS, *PAYMENTS, *SEATS_AND_COLOURS, *STAFF)

FR_ROULETTE = Ruleset(
    name="fr-roulette",
    game="french_roulette",
    title=Wording("French roulette", "Roulette française"),
    game_title=Wording("French roulette", "Roulette française"),
    game_name=Wording("French roulette", "la roulette française"),
    instrument=ARRETE_1959,
    kinds=art_54.kinds_on(LAYOUT_37),
    closed_list="art. 54 intro",
    rules=_RULES,
    clauses=_CLAUSES,
    articles=("settlement.law_coverage.art_54:ART_54",),
    handlers=MappingProxyType({**_roulette(LAYOUT_37), BallSettled: _settle_at_french_wheel()}),
    result=BallSettled,
    state_of_play=art_54.state_of_play,
    has_decisions=True,
    layout=LAYOUT_37,
    equipment="wheel",
    opposites=_OPPOSITES,
    fixed=MappingProxyType({"zero_rule": "choice"}),  # art. 54 B
    chances="settlement.night.roulette:CHANCES",
    felt="audit.felt.roulette:FRENCH",
    simulator="audit.simulation.roulette_tables:FrenchRoulette",
)

FR_AMERICAN_ROULETTE = Ruleset(
    name="fr-american-roulette",
    game="american_roulette",
    title=Wording("American roulette", "Roulette américaine"),
    game_title=Wording("American roulette", "Roulette américaine"),
    game_name=Wording("American roulette", "la roulette américaine"),
    instrument=ARRETE_1959,
    kinds=art_54.kinds_on(LAYOUT_38),
    closed_list="art. 54 intro",
    rules=_RULES,
    clauses=_CLAUSES,
    articles=("settlement.law_coverage.art_54:ART_54", "settlement.law_coverage.art_57_1:ART_57_1"),
    handlers=MappingProxyType(
        {
            **_roulette(LAYOUT_38),
            WagerPlaced: _place_in_colour(wagers.place_on(art_54.kinds_on(LAYOUT_38))),
            PayoutMade: _pay_in_order(_reading_choice(payouts.pay_on(art_54.kinds_on(LAYOUT_38)))),
            StakesCollected: _sweep_in_order,
            BallSettled: _settle_at_american_wheel(),
            WheelSpun: art_57_1.spin_wheel,
            BallLaunched: art_57_1.launch_ball,
            StacksRebuilt: art_57_1.rebuild_stacks,
            ResultAnnounced: art_57_1.announce_result,
            PaymentAnnounced: art_57_1.announce_payment,
            PayoutRecovered: _reading_choice(_recover),
            ColourAssigned: art_57_1.assign_colour,
            PlayerSeated: american_table.seat_player,
            PlayerLeft: american_table.free_seat,
            ChipsHandled: american_table.handle_chips,
        }
    ),
    result=BallSettled,
    opening=american_table.check_opening_staff,
    state_of_play=art_54.state_of_play,
    has_decisions=True,
    layout=LAYOUT_38,
    equipment="wheel",
    opposites=_OPPOSITES,
    zero_rule="lose",
    seat_limit=7,
    seat_limit_doubled=14,
    chances="settlement.night.roulette:CHANCES",
    felt="audit.felt.roulette:AMERICAN",
    simulator="audit.simulation.roulette_tables:AmericanRoulette",
)
