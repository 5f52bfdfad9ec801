"""The account of a wager: what its player has had out of it, what the law gives him, and the debt that is left.

Source     The contract, third edition (account.md), section 1.

    held   winnings + stake handed back, lifted or playing on + settlements − recoveries
    due    what the law gives; of an undecided wager the part that was lawfully withdrawn
    debt   held − due: above zero the player owes it, below zero the house

A withdrawal and a stake handed back are one movement, as far as they agree, and a stake that is the player's may have
been lifted unseen. So there may be several amounts that he has had (``stakes_held``): the debt is the least of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from settlement.findings import find
from settlement.money import EVEN, Odds, halved, is_rounded_up
from settlement.ruleset import kind_of
from settlement.state import Account, LeftUp, Move, Table, Wager

OWN_AGAIN = ("void", "withdrawn", "released")
"""The statuses of a stake that is its player's, whole."""

NO_ACCOUNT = Account()


class LeftUpSums(NamedTuple):
    """Of a wager's dues, in minor units: the part of the stake that plays on, and of the winnings that was pressed.

    ``retaken`` is a stake that was handed back, and staked again for the wager left up. ``seq`` is the last event that
    left anything up in this coup.
    """

    plays_on: int = 0
    pressed: int = 0
    retaken: int = 0
    seq: int = 0


NONE_LEFT_UP = LeftUpSums()


class Balance(NamedTuple):
    """What the player has too much, in minor units, below zero what he is short of: in winnings, in stake, in all.

    ``debt`` is their sum with what disputes settled. ``rounded`` is what each part was rounded up in his favour, which
    nobody owes.
    """

    winnings: int
    stake: int
    debt: int
    rounded: tuple[int, int] = (0, 0)


def known_sums(wager: Wager) -> LeftUpSums:
    """Return what plays on since earlier coups."""
    account = wager.account
    return NONE_LEFT_UP if account is None else LeftUpSums(account.plays_on, account.pressed)


def stake_due_of(wager: Wager) -> int:
    """Return the stake due back, with the parts that were lawfully withdrawn."""
    account = wager.account
    if account is None or wager.status in ("void", "withdrawn"):
        return wager.stake_due
    return wager.stake_due + account.withdrawn


def balance(table: Table, wager: Wager, sums: LeftUpSums) -> Balance:
    """Return how what the player has had of ``wager`` stands to what is due."""
    account = wager.account or NO_ACCOUNT
    due = stake_due_of(wager)
    least, most = stake_held(wager, sums)
    winnings = wager.winnings_paid + sums.pressed - wager.winnings_due
    # The stake that he may have had of which the whole comes nearest to what is due.
    stake = min(max(due - winnings - account.settled, least), most) - due
    debt = winnings + stake + account.settled
    if not _is_rounded_up(table, wager, debt):
        return Balance(winnings, stake, debt)
    of_winnings, of_stake = (debt, 0) if winnings >= debt else (0, debt)
    return Balance(winnings - of_winnings, stake - of_stake, 0, (of_winnings, of_stake))


def _is_rounded_up(table: Table, wager: Wager, too_much: int) -> bool:
    """Whether ``too_much``, in minor units, is less than one unit above the exact winnings or part of a stake."""
    if too_much <= 0:
        return False
    unit = table.open_session().payout_unit
    if wager.status == "won":
        return is_rounded_up(wager.winnings_due + too_much, wager.standing, odds_of(wager), unit)
    part = part_of_stake(table, wager)
    return part != EVEN and is_rounded_up(wager.stake_due + too_much, wager.standing, part, unit)


def stake_held(wager: Wager, sums: LeftUpSums) -> tuple[int, int]:
    """Return the least and the most of the stake, in minor units, that the player may have had out of ``wager``.

    A withdrawal and a stake handed back are one movement, as far as they agree, or two. What is his to take may be
    lifted unseen, as a whole, if nothing of it was handed back.
    """
    account = wager.account or NO_ACCOUNT
    paid = handed_back(wager, account)
    handed = paid + sums.plays_on
    # What he had lifted may be withdrawn later on: nobody takes more than was laid, and came back or was paid for.
    paid_for = max(0, -wager.winnings_paid - sums.pressed - account.settled)
    taken = min(account.withdrawn + account.lifted, wager.stake + account.recovered + paid_for)
    least = max(account.lifted if paid else taken, handed)
    # His own stake plays on out of his hand.
    most = taken + (max(paid, handed - taken) if wager.status in OWN_AGAIN else handed)
    if is_his_to_take(wager) and paid <= account.early:
        came_back = min(account.recovered, paid + account.lifted)  # it lies there again
        most = max(most, stake_due_of(wager) + came_back)
    return least - account.recovered, most - account.recovered


def is_his_to_take(wager: Wager) -> bool:
    """Whether the player may take what is due back of ``wager`` without any event.

    A void or released stake that was not swept; the half that he chose at a zero, as the other half of that stake is
    swept. Where he has no choice, the house refunds the half.
    """
    if wager.status == "refunded_half":
        return wager.decided_by != wager.zero_by
    return wager.status in ("void", "released") and not wager.is_swept


def handed_back(wager: Wager, account: Account) -> int:
    """Return what payouts handed back of the stake, in minor units, whatever the house recovered of it."""
    return wager.stake_paid + account.recovered - account.put_back


def net(moves: Sequence[Move]) -> tuple[int, int]:
    """Return the winnings and the stake of several movements."""
    return sum(move.winnings for move in moves), sum(move.stake for move in moves)


def odds_of(wager: Wager) -> Odds:
    """Return the odds at which ``wager`` won."""
    return Odds.read(wager.odds) if wager.odds else EVEN


def part_of_stake(table: Table, wager: Wager) -> Odds:
    """Return the part of the stake that is due back: what a zero leaves of it, else all."""
    if wager.status in ("refunded_half", "refunded_last_coup"):
        return halved(wager.zeros)
    if wager.status == "released" and table.open_session().release_value == "halving":
        return halved(wager.zeros - 1)
    return EVEN


# Stakes that play on


def left_up_sums(table: Table) -> dict[str, LeftUpSums]:
    """Return what plays on of each wager from which one was left up in this coup; report stakes that cannot."""
    left_up: dict[str, LeftUpSums] = {}
    for wager_id, link in table.left_up.items():
        wager, source = table.wagers[wager_id], table.wagers[link.source]
        # Nothing of a lost stake can play on, as was reported; an undecided one plays itself, unless it came too late.
        if source.status == "lost" or source.undecided:
            continue
        before = left_up.get(source.id) or known_sums(source)
        left_up[source.id], beyond = _spread(source, wager, before, link)
        if beyond and source.status in ("won", "released"):
            find_left_up(table, wager, source, link.seq, expected=wager.stake - beyond)
    return left_up


def find_left_up(table: Table, wager: Wager, source: Wager | None, seq: int, *, expected: int) -> None:
    """Report, at event ``seq``, that ``source`` leaves no more than ``expected``, in minor units, for ``wager``."""
    decided = source.decided_by if source is not None else None
    amounts = {"expected": expected, "recorded": wager.stake}
    facts: dict[str, Any] = {**amounts, "left_up_from": wager.left_up_from}
    find(table, "left-up-stake-mismatch", decided or 0, seq, wager=wager, **facts)


def _spread(source: Wager, wager: Wager, sums: LeftUpSums, link: LeftUp) -> tuple[LeftUpSums, int]:
    """Return ``sums`` with the stake of ``wager``, left up from ``source`` as ``link`` says.

    And what of it neither stake nor winnings account for.
    """
    account = source.account or NO_ACCOUNT
    handed, due = max(0, handed_since(source)), source.stake_due
    # What a payout hands back of a stake that it lets play on is held twice.
    plays_on = min(wager.stake, max(0, due - sums.plays_on - (0 if link.continues else handed)))
    rest, retaken, pressed = wager.stake - plays_on, 0, 0
    if rest:
        if not link.continues and not plays_on:
            retaken = min(rest, max(0, min(handed, due) - sums.retaken))
        paid = max(0, source.winnings_paid + account.settled + sums.pressed)
        pressed = min(rest - retaken, max(0, source.winnings_due - paid))
    rest -= retaken + pressed
    if wager.status == "void":
        retaken = 0  # what was handed back for it may be staked again
    seq = max(link.seq, sums.seq)
    return LeftUpSums(sums.plays_on + plays_on, sums.pressed + pressed, sums.retaken + retaken, seq), rest


def handed_since(wager: Wager) -> int:
    """Return what of the stake due was handed back, in minor units: not the parts withdrawn while it played."""
    account = wager.account or NO_ACCOUNT
    handed = wager.stake_paid - account.put_back
    if wager.status in ("withdrawn", "void"):
        return handed
    return handed - min(max(0, handed), account.early, account.withdrawn)


def require_commission(table: Table, wager: Wager) -> None:
    """Find a bet with a commission that a payout left up and no placement has described: nobody paid it anew."""
    kind = kind_of(table, wager)
    if kind is not None and kind.takes_commission:
        source = table.wagers[wager.left_up_from or ""]
        decided = source.decided_by or 0
        find(table, "commission-not-renewed", decided, wager.placed_by, wager=wager, left_up_from=source.id)
