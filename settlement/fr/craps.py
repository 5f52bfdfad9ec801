"""The ruleset *fr-craps*: art. 55-7 and 55-8, and which of them looks at which event, in which order."""

from __future__ import annotations

from types import MappingProxyType

from settlement import acts, craps
from settlement.catalogue.craps_dice import SHOOTER, THROWS
from settlement.catalogue.craps_sets import DICE_SETS
from settlement.catalogue.craps_wagers import CRAPS_WAGERS
from settlement.catalogue.rule import WAGER, Wording
from settlement.events import (
    DiceDeclined,
    DiceOffered,
    DiceSelected,
    DiceSetIntroduced,
    DiceThrown,
    DiceTouched,
    PlayerLeft,
    PointMarked,
    SessionClosed,
    ShooterRemoved,
    ThrowVoided,
    WagerMoved,
)
from settlement.fr import art_55_7_dice as art_55_7
from settlement.fr import art_55_8_wagers, craps_bets
from settlement.fr.clauses import of_every_game
from settlement.law import ARRETE_2007
from settlement.play import closing, stakes
from settlement.ruleset import Ruleset
from settlement.state import Table
from settlement.verdicts import end_coup


def _throw_in_france(table: Table, event: DiceThrown) -> None:
    seq = event.seq
    # What most throws have no need of is not even called.
    if table.acts:
        acts.end(table, *acts.OF_THROW)
    if table.point is not None:
        craps.check_marker(table, seq)
    if table.travelling:
        art_55_8_wagers.check_moves(table, seq)
    art_55_7.check_throw(table, event)
    if event.data.flags:
        craps.check_flags(table, event)
    total = craps.valid_total(table, event)
    if total is not None:
        end_coup(table, seq)
    craps.note_result(table, event)
    art_55_7.follow_point(table, seq, total)
    if table.off_and_on:
        table.off_and_on.clear()
    if total is not None:
        craps_bets.settle_throw(table, event, total)
    craps.end_throw(table, event, total)


def _void_in_france(table: Table, event: ThrowVoided) -> None:
    if table.acts:
        acts.end(table, *acts.OF_THROW)
    art_55_7.check_voided_throw(table, event)
    craps.void_throw(table, event)


_CALL = ("art. 55-7 al. 7",)

FR_CRAPS = Ruleset(
    name="fr-craps",
    game="craps",
    title=Wording("craps, France", "craps, France"),
    game_title=Wording("Craps", "Craps"),
    game_name=Wording("craps", "le craps"),
    instrument=ARRETE_2007,
    kinds=craps_bets.KINDS,
    closed_list="art. 55-8 intro",
    rules=(*SHOOTER, *THROWS, *DICE_SETS, *CRAPS_WAGERS),
    clauses=MappingProxyType(
        {
            **of_every_game("art. 55-8 intro", _CALL),
            "wager-left-open": (WAGER, "art. 55-8 A after 4°"),
        }
    ),
    articles=("settlement.law_coverage.art_55_7:ART_55_7", "settlement.law_coverage.art_55_8:ART_55_8"),
    handlers=MappingProxyType(
        {
            **stakes(craps_bets.KINDS),
            SessionClosed: closing(art_55_8_wagers.check_moves),
            DiceThrown: _throw_in_france,
            ThrowVoided: _void_in_france,
            PointMarked: craps.mark_point,
            WagerMoved: art_55_8_wagers.move,
            DiceOffered: art_55_7.offer,
            DiceDeclined: art_55_7.decline,
            DiceSetIntroduced: art_55_7.introduce_set,
            DiceSelected: art_55_7.select_dice,
            DiceTouched: art_55_7.touch_dice,
            ShooterRemoved: art_55_7.remove_shooter,
            PlayerLeft: art_55_7.free_seat,
        }
    ),
    result=DiceThrown,
    state_of_play=craps.state_of_play,
    equipment="dice",
    opposites=(
        (("win",), ("dont_win",)),
        (("come",), ("dont_come",)),
        (("under_7",), ("over_7",)),
        (("right_bet",), ("wrong_bet",)),
    ),
    chances="settlement.night.craps:CHANCES",
    felt="audit.felt.craps:FRENCH",
    simulator="audit.simulation.craps_tables:FrenchCraps",
)
