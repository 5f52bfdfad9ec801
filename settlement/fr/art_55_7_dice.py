"""Art. 55-7: the dice and the shooter.

Law       Arrêté, art. 55-7 «Fonctionnement du craps»; for the seven-out, art. 55-8 A 1°, last sentence.
In force  The text bears no date; its numbering is that of the arrêté of 14 May 2007.
Scope     Who may throw, with which dice, when. No wager is settled here.
Missing   Al. 1 (the number of players is not limited) gives no rule.

One turn at the dice:

    offered ──► declined ─────────────────────────────┐
       │                                              ▼
       └──► throws … ──► seven-out, or removed ──► offered to the next seat clockwise

Dice come into service as a set of six, announced; the shooter takes two and the four others stay in view, boxed.
While a point stands nobody may have them changed. The one excuse, left to review, is a throw just voided because a
die broke or left the table.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec.structs import replace

from settlement import acts
from settlement.catalogue import RULES
from settlement.events import (
    DiceDeclined,
    DiceOffered,
    DiceSelected,
    DiceSetIntroduced,
    DiceThrown,
    DiceTouched,
    PlayerLeft,
    ShooterRemoved,
    ThrowVoided,
)
from settlement.findings import find
from settlement.seats import is_laid_by, leave_seat
from settlement.state import DiceCustody, Table

CHANGES_DICE = ("chef_de_partie", "chef_de_table", "opening")
"""Al. 6: who may decide on a change; before a come-out a shooter may as well (al. 4)."""

EXCUSES_CHANGE = frozenset({"broken", "off_table"})
"""Al. 5: what leaves the table with fewer than two good dice."""

Fault: TypeAlias = tuple[str, dict[str, Any]]
"""What is wrong with an offer: the rule, and the facts of its finding."""

TOUCHES_DICE = ("examine", "fell_off_table")
"""Al. 2: «sauf pour les examiner ou les ramasser lorsqu'ils sont tombés de la table»."""


VIOLATIONS = frozenset(
    {"wrong_direction", "short_of_far_end", "no_wall_contact", "slid", "off_table", "rubbed_or_held"}
)
"""Al. 3 and 5: what a shooter can be blamed for. Broken dice, and where good dice come to rest, are nobody's fault."""


def offer(table: Table, event: DiceOffered) -> None:
    """Offer the dice: al. 2, and the turn that ends here: art. 55-8 A 1°.

    Of several offers before a throw the last counts: it is judged by the turn before the first that was wrong.
    """
    if not table.open_session().custody:
        return
    seq = event.seq
    seat, player = _turn(table, event.data.seat or None, event.data.player or None)
    faults = (
        _faults_of_offer(table, seat, player) if table.dice_before is None else _faults_anew(table, seq, seat, player)
    )
    dice = table.dice
    adds = bool(faults) and table.dice_before is not None and _is_given_up(dice)
    for rule, facts in faults:
        acts.wrong(table, acts.OFFER, rule, dice.offer, seq, recorded=seat or player, adds=adds, **facts)
    if faults and table.dice_before is None and acts.OFFER in table.acts:
        table.dice_before = replace(dice)
    if not faults and _holds_the_dice(table, seat, player):
        dice.offer = seq
        return
    if not dice.offer:
        dice.first_offer = seq
    # Al. 7 binds who throws with a stake of his own; who takes over a series inherits the point.
    dice.successor_excused = table.point is not None and (_is_given_up(dice) or dice.successor_excused)
    dice.offer = seq
    dice.shooter = seat
    dice.player = player
    dice.declined = dice.removed = dice.left = False
    dice.throws = dice.seven_out = 0
    dice.violations = []


def decline(table: Table, event: DiceDeclined) -> None:
    """Remember that the shooter declined his turn, or gave the dice up in the midst of it: al. 2."""
    if _is_shooter(table, event.data.seat or None, event.data.player or None):
        table.dice.declined = True


def free_seat(table: Table, event: PlayerLeft) -> None:
    """Free the seat of a player who leaves. If he is the shooter, his turn is over."""
    dice = table.dice
    if dice.offer and _is_shooter(table, event.data.seat or None, event.data.player):
        dice.left = True
    leave_seat(table, event)


def remove_shooter(table: Table, event: ShooterRemoved) -> None:
    """End the turn of a shooter who breaks the rules of the throw repeatedly: al. 5."""
    if not table.open_session().custody:
        return
    seq = event.seq
    data = event.data
    dice = table.dice
    violations = dice.violations if data.seat == dice.shooter else []
    if len(violations) < 2:
        find(
            table,
            "shooter-removed-without-repeated-violation",
            *violations,
            seq,
            expected=2,
            recorded=len(violations),
            shooter=data.seat,
        )
    if data.by != "chef_de_table":
        find(
            table,
            "shooter-removed-by-wrong-role",
            seq,
            expected="chef_de_table",
            recorded=data.by,
            shooter=data.seat,
        )
    if data.seat == dice.shooter:
        dice.removed = True


def check_throw(table: Table, event: DiceThrown) -> None:
    """Check who throws what, and when: al. 2, 3, 6, 7. Before the throw decides anything."""
    session = table.session
    assert session is not None, "only the opener comes before it"
    seq = event.seq
    data = event.data
    is_violation = False
    if session.custody:
        _check_custody(table, event)
        _check_line_wager(table, event)
    if session.calls:
        if table.called_at is None:
            _check_call(table, event)
        else:
            delay_s = (event.occurred_at - table.called_at).total_seconds()
            if delay_s > session.throw_delay_s:
                is_violation = True
                find(
                    table,
                    "throw-delayed",
                    table.call,
                    seq,
                    expected=session.throw_delay_s,
                    recorded=int(delay_s),
                    call_seq=table.call,
                )
    if data.flags and "rubbed_or_held" in data.flags:
        is_violation = True
        find(table, "dice-rubbed-or-held", seq, shooter=data.seat or table.dice.shooter or data.player or None)
    if is_violation and session.custody and _by_the_shooter(table, event):
        table.dice.violations.append(seq)


def check_voided_throw(table: Table, event: ThrowVoided) -> None:
    """Check what holds for a voided throw too: al. 2, 3, 6."""
    session = table.open_session()
    if session.custody:
        _check_custody(table, event)
        if _by_the_shooter(table, event) and not VIOLATIONS.isdisjoint(event.data.flags):
            table.dice.violations.append(event.seq)
    if session.calls:
        _check_call(table, event)


def follow_point(table: Table, seq: int, total: int | None) -> None:
    """Follow seven-outs and the ends of series. Called before the throw changes the point."""
    if table.point is None or total is None:
        return
    if total == 7:
        table.dice.seven_out = seq
    if total in (7, table.point):
        table.dice.successor_excused = False


def introduce_set(table: Table, event: DiceSetIntroduced) -> None:
    """Put six dice into service: al. 4, 5, 6."""
    if not table.open_session().custody:
        return
    seq = event.seq
    data = event.data
    dice = table.dice
    if table.point is not None:
        # One voided throw excuses one new set; a second set after it is a change like any other.
        just_voided = table.voided_by > dice.set_introduced
        if just_voided and data.cause and not EXCUSES_CHANGE.isdisjoint(table.voiding_flags):
            find(
                table,
                "dice-replaced-during-point-series-with-cause",
                table.point_set_by,
                table.voided_by,
                seq,
                point=table.point,
                cause=data.cause,
                voided_seq=table.voided_by,
                flags=table.voiding_flags,
            )
        else:
            find(
                table,
                "dice-changed-during-point-series",
                dice.set_introduced,
                table.point_set_by,
                seq,
                severity=_severity_of_change(data.decided_by),
                point=table.point,
                point_seq=table.point_set_by,
                by=data.decided_by,
                dice=list(data.dice),
            )
    shooter_may = data.decided_by == "shooter" and table.point is None
    if data.decided_by not in CHANGES_DICE and not shooter_may:
        find(table, "dice-change-not-authorised", seq, recorded=data.decided_by, point=table.point)
    if not data.announced and data.decided_by != "opening":
        find(table, "dice-change-not-announced", seq, by=data.decided_by)
    if len(data.dice) != 6 or len(set(data.dice)) != 6:
        find(
            table,
            "dice-set-not-six",
            seq,
            expected=6,
            recorded=len(set(data.dice)),
            dice=list(data.dice),
        )
    dice.set_introduced = seq
    dice.dice = list(data.dice)
    dice.selected = []
    dice.selected_by = 0


def select_dice(table: Table, event: DiceSelected) -> None:
    """Take two dice for the shooter; the others stay boxed in view: al. 6."""
    if not table.open_session().custody:
        return
    seq = event.seq
    data = event.data
    dice = table.dice
    chosen = set(data.dice)
    in_service = set(dice.dice)
    if table.point is not None and dice.selected and not chosen <= set(dice.selected):
        _find_others_selected(table, event)
    if dice.offer and not _is_shooter(table, data.seat, None):
        expected = dice.shooter or dice.player
        find(table, "dice-selected-by-another", dice.offer, seq, expected=expected, recorded=data.seat)
    if len(data.dice) != 2 or len(chosen) != 2 or (in_service and not chosen <= in_service):
        find(
            table,
            "dice-selection-not-two",
            dice.set_introduced,
            seq,
            expected=2,
            recorded=len(chosen & in_service) if in_service else len(chosen),
            dice=list(data.dice),
            shooter=data.seat,
        )
    unboxed = in_service - chosen - set(data.boxed)
    if unboxed:
        find(
            table,
            "dice-remainder-not-boxed",
            dice.set_introduced,
            seq,
            unboxed_dice=sorted(unboxed),
        )
    dice.selected = list(data.dice)
    dice.selected_by = seq


def touch_dice(table: Table, event: DiceTouched) -> None:
    """Al. 2: the stickman passes the dice with his stick and avoids touching them."""
    data = event.data
    if data.by == "stickman" and data.cause not in TOUCHES_DICE:
        find(table, "dice-touched-without-cause", event.seq, recorded=data.cause)


def _turn(table: Table, seat: str | None, player: str | None) -> tuple[str | None, str | None]:
    """Return the seat and the player of a turn, each known from the other by the seating if it is not given."""
    if seat is None and player is not None:
        seat = table.seat_of.get(player)
    if player is None and seat is not None:
        for each, taken in table.seat_of.items():
            if taken == seat:
                return seat, each
    return seat, player


def _is_shooter(table: Table, seat: str | None, player: str | None) -> bool:
    """Whether a seat or a player is the last one offered. A player of whom nothing is known may be."""
    dice = table.dice
    if seat is None or dice.shooter is None:
        seat, player = _turn(table, seat, player)
    if seat is not None and dice.shooter is not None:
        return seat == dice.shooter
    if player is not None and dice.player is not None:
        return player == dice.player
    return bool(dice.offer) and seat is None


def _is_given_up(dice: DiceCustody) -> bool:
    return dice.declined or dice.removed or dice.left


def _holds_the_dice(table: Table, seat: str | None, player: str | None) -> bool:
    """Whether the dice are offered to the player whose turn it is: he has had them all along."""
    dice = table.dice
    return bool(dice.offer) and not dice.seven_out and not _is_given_up(dice) and _is_shooter(table, seat, player)


def _with_the_dice_of(now: DiceCustody, turn: DiceCustody) -> DiceCustody:
    """Return the turn of ``turn`` with the dice that are in service now."""
    return replace(
        turn,
        set_introduced=now.set_introduced,
        dice=now.dice,
        selected_by=now.selected_by,
        selected=now.selected,
        violations=list(turn.violations),
    )


def _faults_anew(table: Table, seq: int, seat: str | None, player: str | None) -> list[Fault]:
    """Judge an offer after one that was wrong: by the turn before that, or by the wrong one, if it was refused."""
    now, before = table.dice, table.dice_before
    assert before is not None
    table.dice = _with_the_dice_of(now, before)
    faults = _faults_of_offer(table, seat, player)
    if not faults:
        acts.right(table, acts.OFFER, seq)
        table.dice_before = None
    elif _is_given_up(now):
        table.dice = now
        faults = _faults_of_offer(table, seat, player)
    return faults


def _faults_of_offer(table: Table, seat: str | None, player: str | None) -> list[Fault]:
    """Return what is wrong with an offer to ``seat`` or ``player``: the rule, whom it passes over, and other facts."""
    dice = table.dice
    seats = table.open_session().seats
    if not dice.offer:
        passed = _first_taken(table, seats[: seats.index(seat)] if seat in seats else ())
        return [] if passed is None else [("first-shooter-not-left-of-croupiers", {"expected": passed})]
    if _holds_the_dice(table, seat, player):
        return []
    faults: list[Fault] = []
    passed = _first_taken(table, _between(seats, dice.shooter, seat))
    if passed is not None:
        faults.append(("dice-not-offered-clockwise", {"expected": passed, "after_seat": dice.shooter}))
    if dice.throws and not dice.seven_out and not _is_given_up(dice) and not _is_shooter(table, seat, player):
        faults.append(("dice-passed-without-seven-out", {"shooter": dice.shooter or dice.player}))
    return faults


def _between(seats: tuple[str, ...], last: str | None, seat: str | None) -> tuple[str, ...]:
    """Return the seats that an offer to ``seat`` passes over, clockwise from ``last``; none if one is not listed."""
    if last not in seats or seat not in seats:
        return ()
    turned = seats[seats.index(last) + 1 :] + seats[: seats.index(last) + 1]
    return turned[: turned.index(seat)]


def _first_taken(table: Table, seats: tuple[str, ...]) -> str | None:
    """Return the first of ``seats`` that is known to be taken: by the seating, else by a stake that lies before it."""
    if not seats:
        return None
    if "seating" in table.open_session().observes:
        taken = set(table.seat_of.values())
    else:
        taken = {seat for live in table.live if (seat := table.wagers[live].seat) is not None}
    return next((seat for seat in seats if seat in taken), None)


def _severity_of_change(decided_by: str) -> str | None:
    """Al. 4 binds the shooter, and al. 6 lets the chefs change dice «après un certain nombre de séries»."""
    is_chefs = decided_by in ("chef_de_partie", "chef_de_table")
    return RULES["dice-changed-during-point-series"].exceptional_severity if is_chefs else None


def _find_others_selected(table: Table, event: DiceSelected) -> None:
    """Al. 4, 6: find that other dice than the two of this series were taken out of the box."""
    seq, dice = event.seq, table.dice
    if table.voided_by > dice.selected_by and not EXCUSES_CHANGE.isdisjoint(table.voiding_flags):
        find(
            table,
            "dice-replaced-during-point-series-with-cause",
            table.point_set_by,
            table.voided_by,
            seq,
            point=table.point,
            cause="broken" if "broken" in table.voiding_flags else "lost",
            voided_seq=table.voided_by,
            flags=table.voiding_flags,
        )
        return
    find(
        table,
        "dice-changed-during-point-series",
        dice.selected_by,
        table.point_set_by,
        seq,
        point=table.point,
        point_seq=table.point_set_by,
        dice=list(event.data.dice),
    )


def _check_custody(table: Table, event: DiceThrown | ThrowVoided) -> None:
    seq = event.seq
    data = event.data
    dice = table.dice
    by_the_shooter = _by_the_shooter(table, event)
    if not by_the_shooter or ((data.seat or data.player) and _is_given_up(dice)):
        find(
            table,
            "throw-by-non-shooter",
            dice.offer,
            seq,
            expected=dice.shooter or dice.player,
            recorded=data.seat or data.player or None,
        )
    if dice.seven_out:
        find(
            table,
            "shooter-kept-dice-after-seven-out",
            dice.seven_out,
            seq,
            shooter=data.seat or dice.shooter,
            seven_out_seq=dice.seven_out,
        )
    if isinstance(data.dice, list) and data.dice != dice.selected and sorted(data.dice) != sorted(dice.selected):
        find(
            table,
            "unselected-dice-thrown",
            dice.selected_by,
            seq,
            dice=list(data.dice),
            selected_dice=list(dice.selected),
        )
    if by_the_shooter:
        dice.throws += 1


def _by_the_shooter(table: Table, event: DiceThrown | ThrowVoided) -> bool:
    """Whether the throw belongs to the turn of the last seat offered: the event names nobody else."""
    data, shooter = event.data, table.dice.shooter
    if data.seat and shooter is not None:  # as it is at nearly every throw
        return data.seat == shooter
    return not (data.seat or data.player) or _is_shooter(table, data.seat or None, data.player or None)


def _check_line_wager(table: Table, event: DiceThrown) -> None:
    """Al. 7: «Le tireur doit avoir déposé une mise […] avant de jeter les dés»; his by seat or by player."""
    data, dice = event.data, table.dice
    if dice.successor_excused:
        return
    if data.seat or data.player:
        seat, player = _turn(table, data.seat or None, data.player or None)
    else:
        seat, player = dice.shooter, dice.player
    if seat is not None and seat == dice.shooter:
        player = player or dice.player
    if seat is None and player is None:
        return
    wagers = table.wagers
    for live in table.live:
        wager = wagers[live]
        if wager.bet in ("win", "dont_win") and is_laid_by(wager, player, seat):
            return
    find(table, "shooter-without-line-wager", dice.offer, event.seq, shooter=seat or player)


def _check_call(table: Table, event: DiceThrown | ThrowVoided) -> None:
    if not table.call:
        find(table, "throw-without-no-more-bets", table.last_throw, event.seq)
