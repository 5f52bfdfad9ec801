"""The ruleset *qc-craps*: s. 95.17, and what it does with which event, in which order."""

from __future__ import annotations

from types import MappingProxyType

from settlement import acts, craps
from settlement.catalogue.craps_dice import THROWS
from settlement.catalogue.craps_wagers import CRAPS_WAGERS
from settlement.catalogue.quebec import QUEBEC
from settlement.catalogue.rule import Wording
from settlement.events import DiceThrown, PointMarked, SessionClosed, ThrowVoided, WagerSwitched
from settlement.law import BY_LAW_R_3
from settlement.play import closing, stakes
from settlement.qc import s_95_17_place_bets as s_95_17
from settlement.ruleset import Ruleset
from settlement.state import Table
from settlement.verdicts import end_coup


def _throw_in_quebec(table: Table, event: DiceThrown) -> None:
    seq = event.seq
    # What most throws have no need of is not even called.
    if table.acts:
        acts.end(table, *acts.OF_THROW)
    if table.point is not None:
        craps.check_marker(table, seq)
    if event.data.flags:
        craps.check_flags(table, event)
    total = craps.valid_total(table, event)
    if total is not None:
        end_coup(table, seq)
    craps.note_result(table, event)
    if total is not None:
        s_95_17.settle_throw(table, event, total)
    craps.end_throw(table, event, total)
    s_95_17.take_late_switches(table)


def _void_in_quebec(table: Table, event: ThrowVoided) -> None:
    if table.acts:
        acts.end(table, *acts.OF_THROW)
    craps.void_throw(table, event)
    s_95_17.take_late_switches(table)


QC_CRAPS = Ruleset(
    name="qc-craps",
    game="craps",
    title=Wording("craps, Québec", "craps, Québec"),
    game_title=Wording("Craps", "Craps"),
    game_name=Wording("craps", "le craps"),
    instrument=BY_LAW_R_3,
    kinds=s_95_17.KINDS,
    closed_list="s. 95.17 intro",
    is_closed=False,  # S. 95.17 lists the place bets, and not what else is played at craps.
    rules=(*THROWS, *CRAPS_WAGERS, *QUEBEC),
    clauses=MappingProxyType(
        {
            "ruleset-not-in-force": ("r. 3.1",),
            "wager-not-permitted": None,
            "stake-out-of-limits": ("r. 3 s. 3",),
            "non-chip-stake": ("r. 3 s. 4–5",),
            "identification-due": None,
            "reportable-cash": ("SOR/2002-184 s. 70", "SOR/2002-184 s. 71"),
        }
    ),
    articles=("settlement.law_coverage.s_95_17:S_95_17",),
    handlers=MappingProxyType(
        {
            **stakes(s_95_17.KINDS, is_closed_list=False),
            SessionClosed: closing(),
            DiceThrown: _throw_in_quebec,
            ThrowVoided: _void_in_quebec,
            PointMarked: craps.mark_point,
            WagerSwitched: s_95_17.switch,
        }
    ),
    result=DiceThrown,
    state_of_play=craps.state_of_play,
    equipment="dice",
    opposites=((("right_bet", "buy_bet"), ("lay_bet",)),),
    chances="settlement.night.craps:CHANCES",
    felt="audit.felt.craps:QUEBEC",
    simulator="audit.simulation.quebec_craps:QuebecCraps",
)
