"""S. 95.17: the "Place Bets" of Québec craps.

Law       By-law respecting casino games, CQLR c. S-13.1, r. 3, s. 95.17.
In force  Until 2011-10-13, when r. 3.1 replaced it; its s. 11 sends the rules of play to a document kept at the table.
Scope     The three bets of the section, their commissions, and the come-out on which two of them are off.
Missing   Every other bet of craps: the section closes the list of place bets, not of the game. Such a wager is out of
          scope: not adjudicated, and named among what is unchecked. The point is followed as at any craps table,
          because "come out" needs it.

A right or buy bet is off on every come-out unless the player indicates otherwise; what he indicates holds until he
says otherwise or the wager is decided, for the text sets no end. A bet that is off is not a push: no throw touches it,
not even a 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.calls import report_near, timing
from settlement.craps import POINT_NUMBERS
from settlement.events import DiceThrown, WagerPlaced, WagerSwitched
from settlement.findings import find
from settlement.fr.art_55_8_wagers import CrapsKind, OddsTable, accept_number, by_number, right, wrong
from settlement.money import EVEN, Odds, five_per_cent
from settlement.state import StakeChange, Table, Wager

RIGHT_BET: OddsTable = by_number(Odds(7, 6), Odds(7, 5), Odds(9, 5))  # (1)
BUY_BET: OddsTable = by_number(Odds(6, 5), Odds(3, 2), Odds(2, 1))  # (2)
LAY_BET: OddsTable = by_number(Odds(5, 6), Odds(2, 3), Odds(1, 2))  # (3)

OFF_ON_COME_OUT = ("right_bet", "buy_bet")
"""(1), (2): "is not active during a come out roll unless otherwise indicated by the player"."""


def settle_throw(table: Table, event: DiceThrown, total: int) -> None:
    """Settle every live wager that is not off."""
    seq = event.seq
    come_out = table.point is None
    if not come_out and total != 7 and total not in POINT_NUMBERS:
        return
    wagers = table.wagers
    for wager in [wagers[live] for live in table.live]:
        if come_out and wager.bet in OFF_ON_COME_OUT and not wager.working:
            wager.off_by = seq
        elif total == 7 or total == wager.number:  # any other throw leaves it where it is
            RESOLVE[wager.bet](table, wager, seq, total, False)


def switch(table: Table, event: WagerSwitched) -> None:
    """Switch a right or buy bet on or off for the come-out; after the call, from the next throw on.

    Until the call one that was taken back is switched as well: the call may show that it was taken back too late.
    """
    wager = table.wagers.get(event.data.wager)
    if wager is None or wager.bet not in OFF_ON_COME_OUT:
        return
    if wager.status != "open" and (table.call or wager.status != "withdrawn"):
        return
    working = event.data.working
    when = timing(table, event.occurred_at)
    wager.changed_by = event.seq
    if when == "late":
        switch_to = "on" if working else "off"
        find(table, "working-call-late", table.call, event.seq, wager=wager, call_seq=table.call, switch=switch_to)
        wager.switched_late = working
        return
    if when == "near":
        report_near(table, wager, event.occurred_at, event.type, table.call, event.seq)
    elif not table.call and table.open_session().calls and wager.working != working:
        table.stake_changes.append(StakeChange("wager.switched", event.seq, event.occurred_at, wager.id))
    wager.working = working


def take_late_switches(table: Table) -> None:
    """After a throw: let the switches that came after its call take effect."""
    wagers = table.wagers
    for live in table.live:
        wager = wagers[live]
        if wager.switched_late is not None:
            wager.working = wager.switched_late
            wager.switched_late = None


def _accept_right(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    commission = event.data.commission or 0
    _take_commission(table, wager, commission)
    wager.working = event.data.working is True
    if commission:
        find(table, "undue-commission", event.seq, wager=wager, expected=0, recorded=commission)
    return accept_number(table, event, wager)


def _accept_buy(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    wager.working = event.data.working is True
    in_play = accept_number(table, event, wager)
    if event.data.marker != "buy":
        _find_marker_missing(table, event, wager, "buy")
    return _commission_paid(table, event, wager, EVEN) and in_play


def _accept_lay(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    in_play = accept_number(table, event, wager)
    if event.data.marker != "lay":
        _find_marker_missing(table, event, wager, "lay")
    return _commission_paid(table, event, wager, LAY_BET.get(wager.number or 0)) and in_play


def _find_marker_missing(table: Table, event: WagerPlaced, wager: Wager, marker: str) -> None:
    recorded = event.data.marker or None
    find(table, "wager-marker-missing", event.seq, wager=wager, expected=marker, recorded=recorded)


def _commission_paid(table: Table, event: WagerPlaced, wager: Wager, base: Odds | None) -> bool:
    """Check the commission: 5 % of ``base`` of the stake. Return whether one was paid, right or wrong.

    ``base`` is None if the bet names no valid number, so that what it can win is unknown.
    """
    paid = event.data.commission or 0
    _take_commission(table, wager, paid)
    session = table.open_session()
    due = None
    if base is not None:
        due = five_per_cent(wager.stake, base, session.commission_rounding, session.commission_unit)
    if paid == due:
        return True
    commission_on = None if base is None else wager.stake * base.pays // base.per
    if paid:
        if due is not None:
            find(
                table,
                "commission-amount-mismatch",
                event.seq,
                wager=wager,
                expected=due,
                recorded=paid,
                commission_on=commission_on,
            )
        return True
    left_up = table.wagers.get(wager.left_up_from or "")
    if left_up is not None and left_up.status == "won":
        find(
            table,
            "commission-not-renewed",
            left_up.decided_by or 0,
            event.seq,
            wager=wager,
            expected=due,
            left_up_from=left_up.id,
            commission_on=commission_on,
        )
    else:
        find(table, "commission-not-paid", event.seq, wager=wager, expected=due, commission_on=commission_on)
    return False


def _take_commission(table: Table, wager: Wager, commission: int) -> None:
    wager.commission = commission
    table.ledger.commissions += commission
    table.ledger.commissions_kept += commission


KINDS: Mapping[str, CrapsKind] = MappingProxyType(
    {
        "right_bet": CrapsKind(
            bet="right_bet",
            word="right bet",
            usual=("place bet to win", "pari sur le numéro"),
            shape="number",
            numbers=POINT_NUMBERS,
            withdrawal="after_throw",
            accept=_accept_right,
            resolve=right(RIGHT_BET),
            odds=RIGHT_BET,
            clause="s. 95.17 (1)",
            withdrawn_under="s. 95.17 intro",
        ),
        "buy_bet": CrapsKind(
            bet="buy_bet",
            word="buy bet",
            usual=("buy", "achat du numéro"),
            shape="number",
            numbers=POINT_NUMBERS,
            withdrawal="after_throw",
            takes_commission=True,
            marker="buy",
            accept=_accept_buy,
            resolve=right(BUY_BET),
            odds=BUY_BET,
            clause="s. 95.17 (2)",
            withdrawn_under="s. 95.17 intro",
        ),
        "lay_bet": CrapsKind(
            bet="lay_bet",
            word="lay bet",
            usual=("lay", "pari contre, avec commission"),
            shape="number",
            numbers=POINT_NUMBERS,
            withdrawal="after_throw",
            takes_commission=True,
            marker="lay",
            accept=_accept_lay,
            resolve=wrong(LAY_BET),
            odds=LAY_BET,
            clause="s. 95.17 (3)",
            withdrawn_under="s. 95.17 intro",
        ),
    }
)
"""The three wagers of the section."""

RESOLVE = {bet: kind.resolve for bet, kind in KINDS.items()}
"""What a throw does to each of them: looked up for every live wager at every throw."""
