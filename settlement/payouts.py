"""What changes hands for a wager: payouts, recoveries, and stakes that play on as another wager.

A payout of all that is due, the first of its wager, settles it here and now. Anything else is entered in the wager's
account, which is judged when the coup ends: see ``verdicts``.

    payout.made ──► all that is due, at once ──────────────────────────────► settled
              └───► anything else, or again ──► account ◄── payout.recovered
                                                  ▲
            stakes.collected, of one not lost ────┤
            continues_as, left_up_from ───────────┘ the stake that is not handed back plays on
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from settlement import acts
from settlement.account_findings import LYING
from settlement.accounts import find_left_up, handed_back, handed_since
from settlement.events import PayoutMade, PayoutRecovered, StakesCollected, WagerPlaced
from settlement.events.stakes import WagerPlacedData
from settlement.finding import Fact
from settlement.findings import find
from settlement.kinds import Kind
from settlement.staff import payer
from settlement.state import Account, Act, LeftUp, Move, Table, Wager


def account_of(table: Table, wager: Wager) -> Account:
    """Return the account of ``wager``; open it, with what was paid in this coup, if it has none."""
    account = wager.account
    if account is None:
        account = wager.account = Account()
        if wager.status == "withdrawn":
            account.withdrawn = wager.stake
        if wager.paid_by > table.coup_began:
            account.moves = (Move(wager.paid_by, wager.winnings_due, wager.stake_due),)
            table.moved[wager.id] = None
    return account


def is_payment(table: Table, wager: Wager, winnings: int) -> bool:
    """Whether a payout is a payment of this coup, of which art. 57-1 al. 8 and 9 say how and in which order it is made.

    A stake that was taken back, or never in play, is only handed over; what an earlier coup left unpaid is made good.
    """
    if wager.decided_by is not None and wager.decided_by < table.coup_began:
        return False
    return winnings > 0 or wager.status in ("won", "lost")


def pay_on(kinds: Mapping[str, Kind]) -> Callable[[Table, PayoutMade], Wager | None]:
    """Return what takes one payout where ``kinds`` are played: the wager it names, None if there is none of that id."""

    def pay(table: Table, event: PayoutMade) -> Wager | None:
        data = event.data
        wager_id = data.wager
        wager = table.wagers.get(wager_id)
        if wager is None:
            paid_by = payer(table, event.actor or None)
            enter(table, wager_id, Move(event.seq, data.winnings, data.stake_returned, payer=paid_by))
            return None
        wager.payer = payer(table, event.actor) if event.actor else table.on_duty or ""
        if (
            wager_id in table.due
            and data.winnings == wager.winnings_due
            and data.stake_returned == wager.stake_due
            and wager.account is None
            and not data.continues_as
        ):
            del table.due[wager_id]
            wager.winnings_paid += data.winnings
            wager.stake_paid += data.stake_returned
            wager.paid_by = wager.changed_by = event.seq
            return wager
        _enter_payout(table, event, wager)
        if data.continues_as:
            _continue(table, event, wager, data.continues_as, kinds)
        return wager

    return pay


def is_first_payout(table: Table, event: PayoutMade) -> bool:
    """Whether a payout is the first of its wager in this coup: what completes it is no payment of its own."""
    wager = table.wagers.get(event.data.wager)
    if wager is None:
        return True
    if wager.account is not None:
        return not any(move.is_payment for move in wager.account.moves)
    return wager.paid_by <= table.coup_began


def recover(table: Table, event: PayoutRecovered) -> None:
    """Take back from the player what was paid to him."""
    enter(table, event.data.wager, Move(event.seq, -event.data.winnings, -event.data.stake))


def _enter_payout(table: Table, event: PayoutMade, wager: Wager) -> None:
    data, seq = event.data, event.seq
    if not wager.undecided:
        enter(table, wager.id, Move(seq, data.winnings, data.stake_returned))
        wager.paid_by = wager.paid_by or seq
        return
    breach = settles_no_decision(table, wager, event.type)
    if breach is None and wager.status == "open" and table.last_result > wager.placed_by:
        breach = "push-paid", table.last_result, {"result_seq": table.last_result, "result": table.result}
    rule, by, facts = breach or ("payout-without-result", wager.placed_by, {})
    enter(table, wager.id, Move(seq, data.winnings, data.stake_returned, rule=rule, by=by, facts=facts))


def enter(table: Table, wager_id: str, move: Move) -> None:
    """Enter ``move`` in an account, which is judged when the coup ends, if the text speaks of the wager's bet.

    Nobody need have placed a wager of that id.
    """
    wager = table.wagers.get(wager_id)
    if wager is None:
        account = table.strangers.setdefault(wager_id, Account())
        account.moves = (*account.moves, move)
        return
    paid_before = wager.stake_paid
    wager.winnings_paid += move.winnings
    wager.stake_paid += move.stake
    wager.changed_by = move.seq
    if wager.status == "out_of_scope":
        return
    account = account_of(table, wager)
    account.moves = (*account.moves, move)
    is_whole = paid_before - account.put_back + account.lifted <= account.withdrawn  # all that stands lay there
    account.settled += move.settled
    if move.stake < 0:
        _note_recovered(wager, account, -move.stake)
    elif wager.undecided and wager.is_swept and is_whole and not move.winnings and move.stake == wager.standing:
        wager.is_swept = False  # it lies again where it lay
        account.put_back += move.stake
        account.moves = (*account.moves[:-1], replace(move, put_back=move.stake))
    table.moved[wager.id] = None
    if move.is_payment:
        table.due.pop(wager.id, None)


def _note_recovered(wager: Wager, account: Account, stake: int) -> None:
    """Keep apart what the house has of a stake, or the player put in; else what was handed back lies there again."""
    is_decided = not wager.undecided and not account.before_half  # the half at a zero may still be taken back
    if not is_decided:
        account.laid_again += min(stake, account.lifted - account.laid_again)
    if is_decided or account.withdrawn or account.lifted:
        account.recovered += stake
    else:
        account.recovered = max(account.recovered, account.put_back - wager.stake_paid)


def lift(table: Table, wager: Wager, seq: int, amount: int, *acts: Act) -> None:
    """Enter that the player took ``amount`` of a stake, in minor units; ``acts`` are judged when the coup ends."""
    account = account_of(table, wager)
    in_bank = min(account.recovered - account.laid_again, handed_back(wager, account))
    gone = account.lifted - account.laid_again + in_bank
    amount = 0 if wager.is_swept else min(amount, max(0, wager.standing - gone))
    if amount:
        enter(table, wager.id, Move(seq, lifted=amount))
        account.lifted += amount
    if not wager.is_swept:  # nobody takes what lies in the bank
        account.acts = (*account.acts, *acts)
    table.moved[wager.id] = None
    wager.changed_by = seq


def adopt(table: Table, wager: Wager) -> None:
    """Let what changed hands under the id of ``wager`` before it was placed be in its account."""
    account = table.strangers.pop(wager.id, None)
    if account is None:
        return
    moves, account.moves = account.moves, ()
    wager.account = account
    wager.winnings_paid = account.debt
    for move in moves:
        enter(table, wager.id, replace(move, rule="payout-without-result", by=wager.placed_by))


def settles_no_decision(table: Table, wager: Wager, event_type: str) -> tuple[str, int, dict[str, Fact]] | None:
    """Return the rule that settling ``wager`` breaks, the throw that shows it, and facts; None if it breaks none.

    The last throw was voided, or decided nothing for the wager: barred, or a come-out on which it was off.
    """
    if table.voided_by:
        return "void-throw-settled", table.voided_by, {"voided_seq": table.voided_by, "event_type": event_type}
    last = table.last_result if wager.status == "open" else 0
    if last and last == wager.barred_by:
        return "barred-number-settled", last, {"barred_seq": last, "event_type": event_type}
    if last and last == wager.off_by:
        return "inactive-wager-settled", last, {"come_out_seq": last, "event_type": event_type, "result": table.result}
    return None


# Sweeps


def collect(table: Table, event: StakesCollected) -> None:
    """Sweep the stakes that the croupier collects as lost. One that had not lost may still be put right."""
    if table.acts:
        acts.note_sweep(table, event)
    seq, collections, swept = event.seq, table.open_session().collections, table.swept
    for wager_id in dict.fromkeys(event.data.wagers):
        wager = table.wagers.get(wager_id)
        if wager is None:
            if collections:
                find(table, "winning-wager-collected", seq, wager_id=wager_id, status="unknown")
        elif wager.status == "lost":
            wager.is_swept = True
            if wager_id in swept:
                del swept[wager_id]
                # A stake lost in an earlier coup does not show that this coup was collected.
                table.wheel.collected = True
            if wager.account is not None:
                _sweep_account(table, wager, wager.account, seq)
        elif wager.status != "out_of_scope":
            breach = settles_no_decision(table, wager, event.type)
            if breach is None and not collections:
                continue
            account = account_of(table, wager)
            _lay_there(wager, account)
            lay_there = wager.stake if wager.status == "withdrawn" else wager.standing
            gone = wager.stake_paid - account.put_back + account.lifted
            wager.is_swept = gone < lay_there  # an empty spot is not swept
            wager.changed_by = table.taken[wager_id] = seq
            if breach is not None:
                rule, by, facts = breach
                account.acts = (*account.acts, Act(rule, 0, (by, seq), facts))


def _lay_there(wager: Wager, account: Account) -> None:
    """Take it that a stake that was swept lay there: one that was taken whole is back, unless he has paid for it."""
    if wager.status == "withdrawn":
        account.withdrawn = account.lifted = 0
    elif account.lifted - account.recovered >= wager.standing and wager.winnings_paid + account.settled >= 0:
        account.lifted = account.recovered
        account.moves = tuple(move for move in account.moves if not move.lifted)


def _sweep_account(table: Table, wager: Wager, account: Account, seq: int) -> None:
    """Note in the account of a loser that its stake was swept."""
    _lay_there(wager, account)
    table.moved[wager.id] = None
    wager.changed_by = seq
    lay = [claim for claim in account.claims if claim.rule == LYING and claim.put_right_by is None]
    account.claims = tuple(claim.put_right(seq) if claim in lay else claim for claim in account.claims)
    table.amended += [claim.put_right(seq) for claim in lay]


# Stakes that play on


def note_left_up(table: Table, wager: Wager, seq: int) -> None:
    """Note that ``wager`` plays with the stake of the one it was left up from, if there is such a stake."""
    source = table.wagers.get(wager.left_up_from or "")
    if source is None or source is wager or source.status == "lost":
        find_left_up(table, wager, None if source is wager else source, seq, expected=0)
    elif source.status != "out_of_scope":
        table.left_up[wager.id] = LeftUp(source.id, seq)
        all_due = source.winnings_due + source.stake_due
        if wager.stake == all_due or (source.status != "won" and wager.stake > all_due):
            table.due.pop(source.id, None)  # all that is due plays on: no payout is expected


def _continue(table: Table, event: PayoutMade, source: Wager, wager_id: str, kinds: Mapping[str, Kind]) -> None:
    """Open the wager that plays on with the stake of ``source`` that this payout did not hand back."""
    seq, known = event.seq, table.wagers.get(wager_id)
    if known is not None:
        # It was described before the payout, or is another wager altogether.
        if known.left_up_from != source.id or known.placed_by < table.coup_began:
            find(table, "wager-id-reused", known.placed_by, seq, wager_id=wager_id, placed_seq=known.placed_by)
        return
    if source.undecided or source.status == "out_of_scope":  # it plays on itself
        return
    kind, due = kinds.get(source.bet), source.standing if source.status == "lost" else source.stake_due
    kept = due - handed_since(source)
    if kept <= 0:
        return
    wager = Wager(
        *(wager_id, source.bet, kept, kept, seq, source.player, source.seat),
        changed_by=seq,
        throws_before=table.throws,
        call_before=table.last_call,
        left_up_from=source.id,
        colour=source.colour,
        number=None if kind is not None and kind.travels else source.number,
        pockets=source.pockets,
        which=source.which,
        base=source.base,
        working=source.working,
    )
    table.wagers[wager_id] = wager
    adopt(table, wager)
    table.ledger.stakes += kept
    note_left_up(table, wager, seq)
    table.left_up[wager_id] = LeftUp(source.id, seq, continues=True)
    # A commission is paid by the placement that describes the wager: until then it does not play.
    if kind is not None and not kind.takes_commission and kind.accept(table, _as_placed(event, wager, kind), wager):
        table.live[wager_id] = None
    else:
        avoid(table, wager)


def _as_placed(event: PayoutMade, wager: Wager, kind: Kind) -> WagerPlaced:
    """Return the placement that a payout with ``continues_as`` stands for."""
    numbers, which = list(wager.pockets), list(wager.which)
    known = {"number": wager.number, "base": wager.base, "numbers": numbers, "which": which, "marker": kind.marker}
    named: dict[str, Any] = {name: value for name, value in known.items() if value}
    data = WagerPlacedData(wager=wager.id, bet=wager.bet, stake=wager.stake, **named)
    return WagerPlaced(stream=event.stream, seq=event.seq, occurred_at=event.occurred_at, data=data)


def is_described_by(table: Table, wager: Wager, data: WagerPlacedData) -> bool:
    """Whether ``data`` describes ``wager``, which a payout of this coup has opened: the same bet and numbers."""
    link = table.left_up.get(wager.id)
    if link is None or not link.continues or link.described or data.bet != wager.bet:
        return False
    # A void wager has no number of its own: whatever number the placement names describes it.
    if isinstance(data.number, int) and wager.number not in (None, data.number):
        return False
    if data.numbers and frozenset(data.numbers) != frozenset(wager.pockets):
        return False
    return not data.which or tuple(sorted(data.which)) == wager.which


def avoid(table: Table, wager: Wager) -> None:
    """Make ``wager`` void: its stake is due back."""
    wager.status = "void"
    wager.stake_due = wager.standing
    table.ledger.returned += wager.standing
    table.live.pop(wager.id, None)
