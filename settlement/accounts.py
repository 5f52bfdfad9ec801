"""What a wager's account comes to: what was paid, what is due back, and which part of it plays on as another wager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from settlement.ruleset import kind_of
from settlement.state import Account, LeftUp, Move, Table, Wager, find


class Sums(NamedTuple):
    """Of a wager's dues, in minor units: the part of the stake that plays on, and of the winnings that was pressed.

    ``retaken`` is a stake that was handed back, and taken again for the wager left up. ``seq`` is the last event that
    left anything up in this coup.
    """

    plays_on: int = 0
    pressed: int = 0
    retaken: int = 0
    seq: int = 0


NONE_LEFT_UP = Sums()


def known_sums(wager: Wager) -> Sums:
    account = wager.account
    return Sums(account.plays_on, account.pressed) if account is not None else NONE_LEFT_UP


def settlement_of(wager: Wager) -> tuple[int, int]:
    """Return the winnings and the stake that were paid towards what is due, net."""
    account = wager.account
    if account is None:
        return wager.winnings_paid, wager.stake_paid
    return wager.winnings_paid - account.aside_winnings, wager.stake_paid - account.aside_stake


def whole_due_of(wager: Wager) -> int:
    """Return the stake due back; of one withdrawn in parts, without those that payouts handed back while it played."""
    account = wager.account
    return account.taken if wager.status == "withdrawn" and account is not None and account.taken else wager.stake_due


def stake_due_of(wager: Wager, account: Account, handed: int, plays_on: int) -> int:
    """Return the stake due back, what plays on included, where ``handed`` was handed back.

    Of parts withdrawn one by one, those that the player did not lift himself: what is handed back shows which.
    """
    whole, gone = whole_due_of(wager), handed + plays_on
    if wager.status != "withdrawn" or handed <= 0 or gone > whole:
        return whole
    is_of_parts = handed <= account.owing or is_part(account, handed) or is_part(account, gone)
    return gone if is_of_parts else whole


def kept_of(wager: Wager, handed: int, plays_on: int) -> int:
    """Return what the house has kept of a stake that was withdrawn, of which ``handed`` was handed back."""
    account = wager.account or Account()
    if handed > 0 and stake_due_of(wager, account, handed, plays_on) != handed + plays_on:
        return max(0, whole_due_of(wager) - handed - plays_on)
    return still_owing(wager, account, handed, plays_on)


def still_owing(wager: Wager, account: Account, handed: int, plays_on: int) -> int:
    """Return what is left of ``account.owing`` of a stake that was withdrawn: handed back, or playing on, it is not."""
    rest = whole_due_of(wager) - max(0, handed) - plays_on
    return max(0, min(rest, account.owing - made_good(account, max(0, handed))))


def is_part(account: Account, stake: int) -> bool:
    """Whether ``stake`` is what was withdrawn and not handed back so far: all of it, the last part, or those before."""
    return stake > 0 and stake in (account.taken, account.last_taken, account.taken - account.last_taken)


def made_good(account: Account, stake: int) -> int:
    """Return how much of what is owing a ``stake`` handed back makes good; nothing if it is just the last part."""
    if stake == account.last_taken and stake not in (account.owing, account.taken):
        return 0
    return min(stake, account.owing)


def left_owing(account: Account, stake: int) -> int:
    """Return what is owing of the parts withdrawn once ``stake`` of them is handed back.

    Less than a part shows that the player lifted none of them, unless it is of what was owing before.
    """
    if stake <= account.owing or is_part(account, stake):
        return account.owing - made_good(account, stake)
    return max(0, account.taken - stake)


def net(moves: Sequence[Move]) -> tuple[int, int]:
    return sum(move.winnings for move in moves), sum(move.stake for move in moves)


def amounts(move: Move) -> tuple[int, int]:
    return move.winnings, move.stake


def less(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] - other[0], one[1] - other[1]


def is_between(after: int, before: int) -> bool:
    """Whether a balance moved towards zero, and not beyond."""
    return 0 <= after <= before or before <= after <= 0


def is_payment(table: Table, wager: Wager, winnings: int) -> bool:
    """Whether a payout is a payment of this coup, of which art. 57-1 al. 8 and 9 say how and in which order it is made.

    A stake that was taken back, or never in play, is only handed over; what an earlier coup left unpaid is made good.
    """
    if wager.decided_by is not None and wager.decided_by < table.coup_began:
        return False
    return winnings > 0 or wager.status in ("won", "lost")


def evidence_of(wager: Wager, moves: Sequence[Move]) -> list[int]:
    """Return the decision, if it came before the last movement of money, and all movements, that one last."""
    seqs = [move.seq for move in moves]
    decided = wager.decided_by or 0
    return [decided, *seqs] if decided < seqs[-1] else seqs


def left_up_sums(table: Table) -> dict[str, Sums]:
    """Return what plays on of each wager from which one was left up in this coup; report stakes that cannot."""
    left_up: dict[str, Sums] = {}
    for wager_id, link in table.left_up.items():
        wager, source = table.wagers[wager_id], table.wagers[link.source]
        if source.status == "lost":  # reported where it was left up: nothing of it can play on
            continue
        before = left_up.get(source.id) or known_sums(source)
        left_up[source.id], beyond = _spread(source, wager, before, link)
        if beyond and source.status in ("won", "released"):
            find(
                table,
                "left-up-stake-mismatch",
                source.decided_by or 0,
                link.seq,
                wager=wager,
                expected=wager.stake - beyond,
                recorded=wager.stake,
                left_up_from=source.id,
            )
    return left_up


def _spread(source: Wager, wager: Wager, sums: Sums, link: LeftUp) -> tuple[Sums, int]:
    """Return ``sums`` with the stake of ``wager``, left up from ``source`` as ``link`` says.

    And what of it neither stake nor winnings account for.
    """
    stake = wager.stake
    winnings, handed = settlement_of(source)
    due = whole_due_of(source)
    plays_on = min(stake, max(0, due - handed - sums.plays_on))
    rest = stake - plays_on
    retaken = pressed = 0
    if rest:
        if not link.continues and not plays_on:
            retaken = min(rest, max(0, min(handed, due) - sums.retaken))
            rest -= retaken
        pressed = min(rest, max(0, source.winnings_due - winnings - sums.pressed))
    return (
        Sums(
            sums.plays_on + plays_on,
            sums.pressed + pressed,
            # What was handed back for a void one may be staked again.
            sums.retaken if wager.status == "void" else sums.retaken + retaken,
            max(link.seq, sums.seq),
        ),
        rest - pressed,
    )


def require_commission(table: Table, wager: Wager) -> None:
    """Find a bet with a commission that a payout left up and no placement has described: nobody paid it anew."""
    kind = kind_of(table, wager)
    if kind is None or not kind.takes_commission:
        return
    source = table.wagers[wager.left_up_from or ""]
    decided = source.decided_by or 0
    find(table, "commission-not-renewed", decided, wager.placed_by, wager=wager, left_up_from=source.id)
