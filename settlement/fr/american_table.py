"""Who sits at a table of American roulette, and who works there: art. 57-1 al. 3 to 5."""

from __future__ import annotations

from settlement.events import ChipsHandled, PlayerLeft, PlayerSeated, WagerPlaced
from settlement.findings import find
from settlement.seats import leave_seat, take_seat
from settlement.state import Table, Wager


def seat_player(table: Table, event: PlayerSeated) -> None:
    """Count the players at the table: al. 3."""
    player = event.data.player
    if player not in table.seated:
        table.seated.append(player)
    take_seat(table, event)
    if player in table.standing:
        table.standing.remove(player)
    session = table.open_session()
    limit = session.seat_limit
    if limit is not None and len(table.seated) > limit and "seating" in session.observes:
        find(
            table,
            "seat-limit-exceeded",
            event.seq,
            expected=limit,
            recorded=len(table.seated),
            player=player,
        )


def free_seat(table: Table, event: PlayerLeft) -> None:
    """Free the seat and the colours of a player who leaves."""
    player = event.data.player
    if player in table.seated:
        table.seated.remove(player)
    if player in table.standing:
        table.standing.remove(player)
    leave_seat(table, event)
    for colour, players in list(table.colours.items()):
        players.pop(player, None)
        if not players:
            del table.colours[colour]


def check_unseated_player(table: Table, event: WagerPlaced, wager: Wager) -> None:
    """Al. 3: find, once, a player who plays without a seat where every seat of the table is taken."""
    player = wager.player
    if player is None or player in table.seated:
        return
    session = table.open_session()
    limit = session.seat_limit
    if limit is None or "seating" not in session.observes:
        return
    if len(table.seated) >= limit and player not in table.standing:
        table.standing.append(player)
        recorded = len(table.seated) + len(table.standing)
        find(table, "unseated-player-over-limit", event.seq, wager=wager, expected=limit, recorded=recorded)


def check_staff(table: Table, seq: int) -> None:
    """Al. 4: find, each once while it lasts, a coup without a chef de table or a croupier, or with too many staff."""
    if table.staff_judged:
        return
    table.staff_judged = True
    if "staff" not in table.open_session().observes:
        return
    chiefs, croupiers, employes = _staff(table)
    if not chiefs and not table.chief_missed:
        find(table, "table-without-chief", seq)
    if not croupiers and not table.croupier_missed:
        find(table, "table-without-croupier", seq)
    is_exceeded = max(chiefs, croupiers, employes) > 1
    if is_exceeded and not table.staff_exceeded:
        _find_staffing(table, seq)
    table.chief_missed, table.croupier_missed, table.staff_exceeded = not chiefs, not croupiers, is_exceeded


def check_opening_staff(table: Table, seq: int) -> None:
    """Al. 4: «un chef de table, un croupier et, éventuellement, un employé», before the first coup."""
    if "staff" not in table.open_session().observes:
        return
    chiefs, croupiers, employes = _staff(table)
    if chiefs != 1 or croupiers != 1 or employes > 1:
        _find_staffing(table, seq)


def handle_chips(table: Table, event: ChipsHandled) -> None:
    """Al. 5: the chef de table «ne manipule ni jetons ni plaques en cours de partie»."""
    is_play = table.wheel.settled_by and not table.closed_by
    if event.data.by == "chef_de_table" and is_play:
        find(table, "chief-handled-chips", event.seq, recorded=event.data.by)


def _staff(table: Table) -> tuple[int, int, int]:
    """Return how many chefs de table, croupiers and employés work at the table."""
    roles = [role for _, role in table.staff]
    return roles.count("chef_de_table"), roles.count("croupier"), roles.count("employe")


def _find_staffing(table: Table, seq: int) -> None:
    chiefs, croupiers, employes = _staff(table)
    find(table, "staffing-invalid", seq, chefs_de_table=chiefs, croupiers=croupiers, employes=employes)
