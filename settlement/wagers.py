"""Wagers at every game: placed and withdrawn. ``payouts`` has what changes hands for them.

A wager is decided once:

    wager.placed ──► open ──► won, lost                              by a throw or a spin
               │      │  └──► withdrawn                              by the player, where the article lets him
               │      └─────► awaiting_decision, imprisoned, …       by a zero: see ``fr.art_54_roulette``
               └────────────► void                                   never in play; its stake is due back

The articles decide what is due. Whether it was paid, in time and to the minor unit, is judged by ``verdicts``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from settlement.acts import lying_with, note_change, place_late, wrong
from settlement.calls import report_near, take_back, timing
from settlement.catalogue import RULES
from settlement.events import WagerPlaced, WagerWithdrawn
from settlement.finding import Fact
from settlement.findings import find
from settlement.kinds import Kind, Withdrawal
from settlement.payouts import adopt, avoid, is_described_by, lift, note_left_up
from settlement.seats import owner_of
from settlement.spelling import likely_word
from settlement.state import Act, StakeChange, Table, Wager


def place_on(kinds: Mapping[str, Kind], *, is_closed_list: bool = True) -> Callable[[Table, WagerPlaced], Wager | None]:
    """Return what places a wager where ``kinds`` are played: the wager, or None if its id is in use and it is ignored.

    ``is_closed_list``: no bet is permitted but ``kinds``. Else any other is out of scope, and not adjudicated.
    """
    kind_of = dict(kinds).get  # looked up faster than in a MappingProxyType

    def place(table: Table, event: WagerPlaced) -> Wager | None:
        data = event.data
        seq, wager_id, bet, stake = event.seq, data.wager, data.bet, data.stake
        known = table.wagers.get(wager_id)
        if known is not None:
            return _place_again(table, event, known, kinds)
        wager = Wager(wager_id, bet, stake, stake, seq, data.player or owner_of(table, data), data.seat or None)
        wager.changed_by = seq
        wager.throws_before = table.throws
        wager.call_before = table.last_call
        if data.left_up_from:
            wager.left_up_from = data.left_up_from
        if data.colour:
            wager.colour = data.colour
        table.wagers[wager_id] = wager
        if table.strangers:
            adopt(table, wager)
        kind = kind_of(bet)
        if kind is None and not is_closed_list:
            wager.status = "out_of_scope"
            if bet not in table.bets_out_of_scope:
                table.bets_out_of_scope.append(bet)
            if data.left_up_from:
                note_left_up(table, wager, seq)  # the stake that it plays with is not owed
            return wager
        ledger = table.ledger
        ledger.stakes += stake
        if kind is None:
            likely = likely_word(bet, kinds, {name: each.names for name, each in kinds.items()})
            find(table, "wager-not-permitted", seq, wager=wager, expected=likely, recorded=bet)
            in_play = False
        else:
            in_play = kind.accept(table, event, wager)
        if data.left_up_from:
            note_left_up(table, wager, seq)
        session = table.session
        assert session is not None, "only the opener comes before it"
        if table.call:
            in_play = _is_in_time(table, event, wager) and in_play
        elif session.calls:
            table.stake_changes.append(StakeChange("wager.placed", seq, event.occurred_at, wager_id))
        if in_play:
            table.live[wager_id] = None
        else:
            wager.status = "void"
            wager.stake_due = stake
            ledger.returned += stake
        # A usual stake needs nothing more; for any other ``_check_stake`` decides what to report. What a player has on
        # one combination together is no more than all that is open.
        limit = session.maximum.get(bet)
        if (
            stake < session.minimum
            or data.medium != "chips"
            or table.acts
            or (
                limit is not None
                and stake + ledger.stakes + ledger.commissions - ledger.returned - ledger.collected > limit
            )
        ):
            _check_stake(table, event, wager)
        return wager

    return place


def _place_again(table: Table, event: WagerPlaced, known: Wager, kinds: Mapping[str, Kind]) -> Wager | None:
    """Take the description of a wager that a payout has opened; report any other placement under an id in use."""
    data, placed = event.data, known.placed_by
    if table.left_up and is_described_by(table, known, data):
        _describe(table, event, known, kinds[data.bet])
        return known
    find(
        table,
        "wager-id-reused",
        placed,
        event.seq,
        wager_id=data.wager,
        bet=data.bet,
        stake=data.stake,
        placed_seq=placed,
    )
    return None


def _describe(table: Table, event: WagerPlaced, wager: Wager, kind: Kind) -> None:
    """Take the description of a wager that a payout of this coup has opened. Its stake never left the layout."""
    data, seq = event.data, event.seq
    table.ledger.stakes += data.stake - wager.stake
    if wager.status == "void":
        table.ledger.returned -= wager.stake
    wager.stake = wager.standing = data.stake
    wager.player = data.player or wager.player or owner_of(table, data)
    wager.seat = data.seat or wager.seat
    wager.colour = data.colour or wager.colour
    wager.placed_by = wager.changed_by = seq
    table.left_up[wager.id] = replace(table.left_up[wager.id], seq=seq, described=True)
    _check_stake(table, event, wager)
    if kind.accept(table, event, wager):
        wager.status = "open"
        wager.stake_due = 0
        table.live[wager.id] = None
    else:
        avoid(table, wager)


def _is_in_time(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """Report a stake near the call or after it. Return whether it is in play."""
    match timing(table, event.occurred_at):
        case "near":
            report_near(table, wager, event.occurred_at, event.type, table.call, event.seq)
        case "late":
            place_late(table, wager, table.call, event.seq, back=wager.stake)
            return False
    return True


def _check_stake(table: Table, event: WagerPlaced, wager: Wager) -> None:
    """Report a stake outside the limits, which bind all stakes of a player on one combination, or one not in chips."""
    session = table.open_session()
    data = event.data
    others = lying_with(table, wager) if wager.status == "open" else []
    total = data.stake + sum(other.standing for other in others)
    if total < session.minimum:
        _find_out_of_limits(table, wager, "minimum", session.minimum, total, len(others))
    elif session.maximum and total > session.maximum.get(data.bet, total):
        _find_out_of_limits(table, wager, "maximum", session.maximum[data.bet], total, len(others))
    elif table.acts:
        note_change(table, wager, event.seq)
    if data.medium != "chips" and data.medium != "plaques":
        find(table, "non-chip-stake", event.seq, wager=wager, medium=data.medium)


def _find_out_of_limits(table: Table, wager: Wager, bound: str, limit: int, total: int, others: int) -> None:
    wrong(
        table,
        f"wager.placed {wager.id}",
        "stake-out-of-limits",
        wager.placed_by,
        wager=wager,
        expected=limit,
        recorded=total,
        bound=bound,
        others=others or None,
    )


def withdraw(table: Table, event: WagerWithdrawn, kinds: Mapping[str, Kind]) -> None:
    """Withdraw a stake or a part of it. A stake that the player may not take is judged when the coup ends: he may put
    it back.

    A stake that is his is lifted: it was decided for him, or never in play. At a zero, the half is his for the taking.
    """
    wager = table.wagers.get(event.data.wager)
    if wager is None or wager.status in ("withdrawn", "out_of_scope"):
        if wager is not None and wager.status == "withdrawn":
            _remember_until_call(table, event, wager, 0)
        return
    seq = event.seq
    requested = event.data.amount
    amount = requested if isinstance(requested, int) else wager.standing
    when = timing(table, event.occurred_at)
    if not wager.undecided:
        facts: dict[str, Fact] = {"decided_seq": wager.decided_by, "status": wager.status}
        act = Act("withdrawal-of-decided-wager", amount, _evidence(wager, wager.decided_by or 0, seq), facts)
        lift(table, wager, seq, amount, replace(act, is_lifting=wager.status != "lost"))
        return
    amount = min(amount, wager.standing)
    acts = _acts_on(table, wager, kinds[wager.bet].withdrawal, seq, amount, is_late=when == "late")
    if acts:
        lift(table, wager, seq, amount, *acts)
        return
    _report_early(table, seq, wager, kinds[wager.bet].withdrawal, amount)
    if when == "near":
        report_near(table, wager, event.occurred_at, event.type, table.call, seq)
    _remember_until_call(table, event, wager, amount)
    take_back(table, wager, seq, amount)


def _acts_on(
    table: Table, wager: Wager, withdrawal: Withdrawal, seq: int, amount: int, *, is_late: bool
) -> tuple[Act, ...]:
    """Return what forbids to withdraw ``amount`` of an undecided stake now, in minor units; nothing if it is lawful."""
    acts: list[Act] = []
    if is_late:
        evidence = _evidence(wager, table.call, seq)
        acts.append(Act("withdrawal-after-no-more-bets", amount, evidence, {"call_seq": table.call}))
    if wager.status in ("imprisoned", "awaiting_decision"):
        evidence = _evidence(wager, wager.zero_by, seq)
        acts.append(Act("imprisoned-stake-withdrawn", amount, evidence, {"zeros": wager.zeros}))
    elif withdrawal == "never":
        is_immediate = wager.throws_before == table.throws and wager.call_before == table.last_call
        severity = RULES["contract-wager-withdrawn"].exceptional_severity if is_immediate else None
        acts.append(Act("contract-wager-withdrawn", amount, _evidence(wager, seq), {}, severity))
    return tuple(acts)


def _evidence(wager: Wager, *seqs: int) -> tuple[int, ...]:
    return tuple(seq for seq in (wager.placed_by, *seqs) if seq)


def _report_early(table: Table, seq: int, wager: Wager, withdrawal: Withdrawal, amount: int) -> None:
    """Report a withdrawal that takes effect although the article has something against it."""
    placed = wager.placed_by
    match withdrawal:
        case "one_roll":
            find(table, "one-roll-wager-withdrawn", placed, seq, wager=wager, recorded=amount)
        case "after_throw" if wager.throws_before == table.throws:
            find(table, "withdrawal-not-after-indecisive-roll", placed, seq, wager=wager, recorded=amount)


def _remember_until_call(table: Table, event: WagerWithdrawn, wager: Wager, amount: int) -> None:
    """Keep a withdrawal that took back ``amount`` until the call, which may come to be before it by the clock."""
    if table.call or not table.open_session().calls:
        return
    requested = event.data.amount
    wanted = requested if isinstance(requested, int) else 0
    change = StakeChange(
        "wager.withdrawn", event.seq, event.occurred_at, wager.id, amount, wanted, was_swept=wager.is_swept
    )
    table.stake_changes.append(change)
