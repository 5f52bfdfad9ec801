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

from settlement.events import (
    DiceDeclined,
    DiceOffered,
    DiceSelected,
    DiceSetIntroduced,
    DiceThrown,
    DiceTouched,
    ShooterRemoved,
    ThrowVoided,
)
from settlement.state import Table, find

CHANGES_DICE = ("chef_de_partie", "chef_de_table", "opening")
"""Al. 6: who may decide on a change; before a come-out a shooter may as well (al. 4)."""

EXCUSES_CHANGE = frozenset({"broken", "off_table"})
"""Al. 5: what leaves the table with fewer than two good dice."""

TOUCHES_DICE = ("examine", "fell_off_table")
"""Al. 2: «sauf pour les examiner ou les ramasser lorsqu'ils sont tombés de la table»."""


def offer(table: Table, event: DiceOffered) -> None:
    """Offer the dice: al. 2, and the turn that ends here: art. 55-8 A 1°."""
    session = table.open_session()
    if not session.custody:
        return
    dice = table.dice
    seq = event.seq
    seat = event.data.seat
    seats = session.seats
    if not dice.offer:
        if seats and seat != seats[0]:
            find(
                table,
                "first-shooter-not-left-of-croupiers",
                seq,
                expected=seats[0],
                recorded=seat,
            )
        dice.first_offer = seq
    else:
        due = _next_clockwise(seats, dice.shooter)
        if due is not None and seat != due:
            find(
                table,
                "dice-not-offered-clockwise",
                dice.offer,
                seq,
                expected=due,
                recorded=seat,
                after_seat=dice.shooter,
            )
        if dice.throws and not (dice.seven_out or dice.declined or dice.removed) and seat != dice.shooter:
            find(table, "dice-passed-without-seven-out", dice.offer, seq, recorded=seat, shooter=dice.shooter)
    dice.successor_excused = table.point is not None and (dice.removed or dice.successor_excused)
    dice.offer = seq
    dice.shooter = seat
    dice.declined = dice.removed = False
    dice.throws = dice.seven_out = 0
    dice.violations = []


def decline(table: Table, event: DiceDeclined) -> None:
    """Remember that the shooter declined his turn: al. 2."""
    if event.data.seat == table.dice.shooter:
        table.dice.declined = True


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
    session = table.open_session()
    seq = event.seq
    data = event.data
    if session.custody:
        _check_custody(table, event)
        _check_line_wager(table, event)
    if session.calls:
        _check_call(table, event)
        if table.called_at is not None:
            delay_s = int((event.occurred_at - table.called_at).total_seconds())
            if (event.occurred_at - table.called_at).total_seconds() > session.throw_delay_s:
                find(
                    table,
                    "throw-delayed",
                    table.call,
                    seq,
                    expected=session.throw_delay_s,
                    recorded=delay_s,
                    call_seq=table.call,
                )
    if data.flags and "rubbed_or_held" in data.flags:
        find(table, "dice-rubbed-or-held", seq, shooter=data.seat or table.dice.shooter)


def check_voided_throw(table: Table, event: ThrowVoided) -> None:
    """Check what holds for a voided throw too: al. 2, 3, 6."""
    session = table.open_session()
    if session.custody:
        _check_custody(table, event)
        if _by_the_shooter(table, event):
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


def _next_clockwise(seats: tuple[str, ...], seat: str | None) -> str | None:
    """Return the seat after ``seat``; None if the session did not list it among its seats."""
    if seat not in seats:
        return None
    return seats[(seats.index(seat) + 1) % len(seats)]


def _check_custody(table: Table, event: DiceThrown | ThrowVoided) -> None:
    seq = event.seq
    data = event.data
    dice = table.dice
    if data.seat and (data.seat != dice.shooter or dice.declined or dice.removed):
        find(
            table,
            "throw-by-non-shooter",
            dice.offer,
            seq,
            expected=dice.shooter,
            recorded=data.seat,
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
    if isinstance(data.dice, list) and sorted(data.dice) != sorted(dice.selected):
        find(
            table,
            "unselected-dice-thrown",
            dice.selected_by,
            seq,
            dice=list(data.dice),
            selected_dice=list(dice.selected),
        )
    if _by_the_shooter(table, event):
        dice.throws += 1


def _by_the_shooter(table: Table, event: DiceThrown | ThrowVoided) -> bool:
    """Whether the throw belongs to the turn of the last seat offered: the event names no other seat."""
    return not event.data.seat or event.data.seat == table.dice.shooter


def _check_line_wager(table: Table, event: DiceThrown) -> None:
    """Al. 7: «Le tireur doit avoir déposé une mise […] avant de jeter les dés»."""
    seat = event.data.seat or table.dice.shooter
    if seat is None or table.dice.successor_excused:
        return
    wagers = table.wagers
    if not any(wagers[live].seat == seat and wagers[live].bet in ("win", "dont_win") for live in table.live):
        find(table, "shooter-without-line-wager", table.dice.offer, event.seq, shooter=seat)


def _check_call(table: Table, event: DiceThrown | ThrowVoided) -> None:
    if not table.call:
        find(table, "throw-without-no-more-bets", table.last_throw, event.seq)
