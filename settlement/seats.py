"""Whose a stake is: found once, when it is laid, and kept with the wager as ``Wager.player``.

A stake belongs to

    the player whom the event names
    else whoever owned the stake it was left up from
    else whoever sat in its seat, then
    else the one player of its colour
    else nobody known: then ``Wager.seat`` is all there is

So a player who changes seats takes his stakes along, and whoever sits down later inherits none. Nobody looks at the
seats again: base and odds, the line stake, the order of payment, limits and the money of a night read the wager.
"""

from __future__ import annotations

from settlement.events import PlayerLeft, PlayerSeated
from settlement.events.stakes import WagerPlacedData
from settlement.state import Table, Wager


def take_seat(table: Table, event: PlayerSeated) -> None:
    """Seat a player. The former player of the seat sits there no longer, whether an event shows his leaving or not."""
    seat, player = event.data.seat, event.data.player
    if not seat:
        return
    for other in [other for other, taken in table.seat_of.items() if taken == seat and other != player]:
        del table.seat_of[other]
    table.seat_of[player] = seat


def leave_seat(table: Table, event: PlayerLeft) -> None:
    """Free the seat of a player who leaves. His stakes stay his."""
    table.seat_of.pop(event.data.player, None)


def player_at(table: Table, seat: str | None) -> str | None:
    """Return who is known to sit at ``seat`` now."""
    if seat is None:
        return None
    seated = next((player for player, taken in table.seat_of.items() if taken == seat), None)
    return seated or (table.dice.player if seat == table.dice.shooter else None)


def owner_of(table: Table, data: WagerPlacedData) -> str | None:
    """Return the player to whom a stake belongs that is laid now, None if nobody is known."""
    if data.player:
        return data.player
    if data.left_up_from:
        source = table.wagers.get(data.left_up_from)
        if source is not None and source.player is not None:
            return source.player
    if data.seat:
        seated = player_at(table, data.seat)
        if seated is not None:
            return seated
    if data.colour:
        players = table.colours.get(data.colour, {})
        if len(players) == 1:
            return next(iter(players))
    return None


def is_laid_by(wager: Wager, player: str | None, seat: str | None) -> bool:
    """Whether ``wager`` is the stake of ``player``; where he or its owner is not known, whether it is of ``seat``."""
    if wager.player is not None and player is not None:
        return wager.player == player
    return seat is not None and wager.seat == seat


def may_be_of_one(one: Wager, other: Wager) -> bool:
    """Whether nothing shows that two stakes are of two players."""
    if one.player is not None and other.player is not None:
        return one.player == other.player
    return one.seat is None or other.seat is None or one.seat == other.seat
