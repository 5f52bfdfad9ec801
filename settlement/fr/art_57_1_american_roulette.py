"""Art. 57-1: the course of American roulette.

Law       Arrêté of 23 December 1959, art. 57-1 «Fonctionnement de la roulette dite américaine».
In force  The text bears no date.
Scope     Wheel and ball, the call, the announcement, the order of payment, colours; seats and staff are in
          ``american_table``, the combinations and their odds are art. 54's. Its al. 1 and 6, on pockets and on the
          call, are applied at both roulettes.
Missing   The dimensions of the material (al. 1), which no event shows.

One coup:

    wheel.spun, against the coup before ─► ball.launched, against the wheel ─► «Rien ne va plus» ─► ball.settled
         ▲                                                                                             │
         │          chip fell: stop, retrieve, launch again; same coup, betting open again             ▼
         └── every winner paid ◄── player by player, dearest odds last ◄── losers collected ◄── result announced
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement import acts
from settlement.calls import reopen
from settlement.catalogue import RULES
from settlement.events import (
    BallLaunched,
    BallRetrieved,
    BallSettled,
    ChipFellInWheel,
    ColourAssigned,
    PaymentAnnounced,
    PayoutMade,
    ResultAnnounced,
    SpinVoided,
    StacksRebuilt,
    WagerPlaced,
    WheelSpun,
)
from settlement.findings import find
from settlement.layouts import winning_chances
from settlement.payouts import is_payment
from settlement.staff import payer
from settlement.state import ColourValue, EarlyPayment, Table, Wager

COLOURS = 10
"""Al. 2: «Dix boîtes ou compartiments transparents»."""

_RANKS = (
    ("colonne", "deux_colonnes"), ("passe",), ("impair",), ("noir",), ("rouge",), ("pair",), ("manque",),
    ("douzaine", "deux_douzaines"), ("transversale", "sixain"), ("carre",), ("cheval",), ("plein",),
)  # fmt: skip
PAYMENT_ORDER: Mapping[str, int] = MappingProxyType(
    {bet: rank for rank, bets in enumerate(_RANKS, start=1) for bet in bets}
)
"""Al. 9; the three bets it leaves out rank with the bet they resemble: reading payment_order_of_three_bets."""


# Wheel and ball: al. 6


def spin_wheel(table: Table, event: WheelSpun) -> None:
    """Check the direction of the wheel, and that the winners of the coup before were paid."""
    seq = event.seq
    data = event.data
    coup = table.wheel
    _check_announced(table, seq)
    _check_croupier(table, event)
    if table.open_session().wheel:
        if data.direction != coup.direction_before:
            if table.acts:
                acts.right(table, acts.WHEEL, seq)
        elif not coup.chip_fell:
            acts.wrong(
                table,
                acts.WHEEL,
                "wheel-direction-repeated",
                coup.spun_before,
                seq,
                recorded=data.direction,
                previous_seq=coup.spun_before,
            )
        unpaid = [wager_id for wager_id in table.due if table.wagers[wager_id].status == "won"]
        if unpaid and not coup.delay_found:
            coup.delay_found = True
            find(
                table,
                "spin-before-payments-complete",
                coup.settled_by,
                seq,
                unpaid=unpaid,
                result_seq=coup.settled_by,
            )
    coup.direction = data.direction
    coup.spun_by = seq
    coup.turned = True


def launch_ball(table: Table, event: BallLaunched) -> None:
    """Check the direction of the ball and the piles of chips. A ball launched again begins the spin anew."""
    seq = event.seq
    data = event.data
    coup = table.wheel
    session = table.open_session()
    _check_croupier(table, event)
    if session.wheel and data.direction == coup.direction:
        acts.wrong(
            table,
            acts.BALL,
            "ball-same-direction-as-wheel",
            coup.spun_by,
            seq,
            recorded=data.direction,
            spun_seq=coup.spun_by,
        )
    elif table.acts:
        acts.right(table, acts.BALL, seq)
        if coup.launched_by:
            acts.right(table, acts.WHEEL, seq)
    is_play = coup.settled_by and not table.closed_by  # from the first coup on
    if is_play and not coup.stacks_rebuilt and "handling" in session.observes:
        is_alone = not any(role == "employe" for _, role in table.staff)
        if is_alone:
            find(table, "stacks-not-rebuilt", coup.settled_by, seq)
    note_launch(table, event)


def note_launch(table: Table, event: BallLaunched) -> None:
    """Follow the ball: after a chip fell it is taken back and launched again. For both roulettes."""
    coup = table.wheel
    coup.launched_by = event.seq
    coup.launched = True
    if coup.chip_fell and coup.ball_retrieved:
        coup.chip_fell = 0
        coup.ball_retrieved = False


def void_spin(table: Table, event: SpinVoided) -> None:
    """Void a spin: it decides nothing, and betting is open again in the same coup. For both roulettes."""
    coup = table.wheel
    coup.direction = None
    coup.spun_by = coup.launched_by = coup.chip_fell = 0
    coup.ball_retrieved = coup.launched = False  # the wheel turns on
    reopen(table)
    for kind in acts.OF_SPIN:
        acts.right(table, kind, event.seq)


def drop_chip(table: Table, event: ChipFellInWheel) -> None:
    """Stop the game for a chip in the turning wheel: betting is open again, and the ball is to be launched again."""
    table.wheel.chip_fell = event.seq
    table.wheel.ball_retrieved = False
    reopen(table)


def retrieve_ball(table: Table, event: BallRetrieved) -> None:
    """Remember that the ball was taken back."""
    table.wheel.ball_retrieved = True


def rebuild_stacks(table: Table, event: StacksRebuilt) -> None:
    """Remember that the stacks of colour chips were rebuilt."""
    table.wheel.stacks_rebuilt = True


def check_call(table: Table, seq: int, pocket: str) -> None:
    """Find a result without a «Rien ne va plus» before it. For both roulettes."""
    session = table.open_session()
    if not session.calls:
        return
    call = table.call
    if table.wheel.chip_fell and table.last_call > table.last_result:  # what is wrong is that no ball was launched anew
        call = call or table.last_call
    if not call or (session.wheel and call < table.wheel.launched_by):
        find(table, "no-more-bets-missing", table.wheel.launched_by, seq, recorded=pocket)


def check_manoeuvre(table: Table, seq: int, pocket: str) -> None:
    """Al. 6: find a counted result of a wheel that was not turned for it, or of a ball that was not launched."""
    coup = table.wheel
    turned, launched = coup.turned, coup.launched
    coup.turned = coup.launched = False
    if (turned and launched) or not table.open_session().wheel:
        return
    if not (turned or launched or table.coup_began):
        return  # the session was opened while the wheel ran for its first coup
    if not turned:
        find(table, "wheel-not-spun", coup.spun_before, seq, recorded=pocket)
    if not launched:
        find(table, "ball-not-launched", coup.spun_by, seq, recorded=pocket)


def check_fallen_chip(table: Table, seq: int, pocket: str) -> None:
    """Find a result of a ball that had to be launched again."""
    if table.open_session().wheel and table.wheel.chip_fell:
        fell = table.wheel.chip_fell
        find(table, "result-after-fallen-chip", fell, seq, recorded=pocket, chip_seq=fell)


def begin_coup(table: Table, event: BallSettled) -> None:
    """Begin the next coup; remember of this one what the next is compared with."""
    if table.acts:
        acts.end(table, *acts.OF_SPIN)
    coup = table.wheel
    # None if the spin was not recorded: then the direction of the next cannot be judged.
    coup.direction_before = coup.direction
    coup.spun_before = coup.spun_by
    coup.direction = None
    coup.spun_by = coup.launched_by = coup.chip_fell = 0
    coup.ball_retrieved = coup.stacks_rebuilt = False
    coup.pocket = event.data.pocket
    coup.settled_by = event.seq
    coup.announced = coup.silence_found = coup.delay_found = coup.collected = False
    coup.early = []
    coup.players_paid = []
    coup.ranks_paid = {}
    coup.paid_by = {}


# Announcement: al. 7


def announce_result(table: Table, event: ResultAnnounced) -> None:
    """Check the number and the simple chances that the croupier announces."""
    coup = table.wheel
    data = event.data
    coup.announced = True
    chances = winning_chances(coup.pocket or "")
    if data.pocket != coup.pocket or set(data.chances) != chances:
        acts.wrong(
            table,
            acts.RESULT,
            "announcement-mismatch",
            coup.settled_by,
            event.seq,
            expected=" ".join([coup.pocket or "", *sorted(chances)]).strip(),
            recorded=" ".join([data.pocket, *data.chances]),
            result_seq=coup.settled_by,
        )
    elif table.acts:
        acts.right(table, acts.RESULT, event.seq)


# Payment: al. 8, 9


def announce_payment(table: Table, event: PaymentAnnounced) -> None:
    """Remember the amount that the croupier announces: the last before he pays counts."""
    wager = table.wagers.get(event.data.wager)
    if wager is None:
        return
    if wager.announced is not None and wager.announced_by > table.coup_began:
        if wager.paid_by > table.coup_began:
            return
        acts.announce_again(table, wager, event.seq, event.data.amount)
    wager.announced = event.data.amount
    wager.announced_by = wager.changed_by = event.seq


def check_payment(table: Table, event: PayoutMade, wager: Wager | None, is_first: bool) -> None:
    """Check how one payout was made. Its amount is judged when the coup ends."""
    seq = event.seq
    session = table.open_session()
    if wager is not None and wager.player is not None:
        _check_colour(table, event, wager, wager.player)
    if wager is not None and not is_payment(table, wager, event.data.winnings):
        return
    _check_announced(table, seq)
    if table.acts:
        acts.close(table, acts.RESULT)
    if session.collections and table.swept:
        _note_early_payment(table, event, wager)
    if wager is None:
        return
    paid = event.data.winnings
    if wager.announced is not None:
        if wager.announced != paid:
            table.moved[wager.id] = None  # what completes it may still come
    elif is_first and "announcements" in session.observes:
        find(table, "payment-not-announced", seq, wager=wager, recorded=paid)
    if is_first and wager.colour is not None and wager.status == "won" and not event.data.colour:
        _find_without_colour(table, seq, wager)
    payee = wager.player or wager.seat
    if payee is not None and is_first:
        _check_order(table, seq, wager, payee)


def report_early_payments(table: Table) -> None:
    """Al. 8: find the payments that were made before a lost stake, which is swept now. Others had been before them."""
    coup = table.wheel
    for payment in coup.early:
        find(
            table,
            "payment-before-collection",
            coup.settled_by,
            payment.seq,
            severity=RULES["payment-before-collection"].exceptional_severity,
            croupier=payment.payer,
            player=payment.player,
            lying=payment.lying,
            result_seq=coup.settled_by,
        )
    coup.early = []


# Colours: al. 2


def assign_colour(table: Table, event: ColourAssigned) -> None:
    """Assign a player the chips of one colour, at the value he declares: al. 2."""
    seq = event.seq
    data = event.data
    players = table.colours.get(data.colour, {})
    before = players.get(data.player)
    others = [player for player in players if player != data.player]
    if others:
        find(
            table,
            "colour-shared",
            seq,
            colour=data.colour,
            player=data.player,
            owner=others[0],
        )
    if data.value is None:
        find(table, "colour-value-undeclared", seq, colour=data.colour, player=data.player)
    else:
        _check_value(table, event, before)
    if data.marker_from and data.marker_from != "chef_de_table":
        find(
            table,
            "marker-not-from-chief",
            seq,
            expected="chef_de_table",
            recorded=data.marker_from,
            colour=data.colour,
        )
    in_use = len(table.colours)
    if not players and in_use >= COLOURS and "colours" in table.open_session().observes:
        find(
            table,
            "colour-limit-exceeded",
            seq,
            expected=COLOURS,
            recorded=in_use + 1,
            colour=data.colour,
        )
    # Without a new declaration the player's last one stays valid.
    declared = before if data.value is None and before is not None else ColourValue(data.value, seq)
    table.colours.setdefault(data.colour, {})[data.player] = declared


def check_stake_in_colour(table: Table, event: WagerPlaced, wager: Wager) -> None:
    """Find a stake in the colour of nobody or of another player, or of no whole number of its chips: al. 2."""
    colour = event.data.colour
    owners = table.colours.get(colour) if colour else None
    if "colours" in table.open_session().observes:
        if not owners:
            find(table, "wager-with-unassigned-colour", event.seq, wager=wager, colour=colour or None)
            return
        owner = owners.get(wager.player or "") or (next(iter(owners.values())) if len(owners) == 1 else None)
        if owner is not None and owner.value and event.data.stake % owner.value:
            find(
                table,
                "stake-not-multiple-of-colour-value",
                owner.assigned_by,
                event.seq,
                wager=wager,
                expected=owner.value,
                recorded=event.data.stake,
                colour=colour or None,
            )
    if owners and wager.player is not None and wager.player not in owners:
        find(
            table,
            "wager-with-foreign-colour",
            event.seq,
            wager=wager,
            colour=colour or None,
            owner=next(iter(owners)),
        )


def _note_early_payment(table: Table, event: PayoutMade, wager: Wager | None) -> None:
    """Find a payment before any loser was swept. After the first, it is found if another is swept later."""
    coup, lying = table.wheel, len(table.swept)
    if coup.collected:
        player, paid_by = (wager.player, wager.payer) if wager is not None else (None, None)
        coup.early.append(EarlyPayment(event.seq, lying, player, paid_by or payer(table, event.actor or None)))
        return
    find(
        table,
        "payment-before-collection",
        coup.settled_by,
        event.seq,
        about=wager,
        losers=lying,
        result_seq=coup.settled_by,
    )


def _check_croupier(table: Table, event: WheelSpun | BallLaunched) -> None:
    by = event.data.by
    if by and by != "croupier":
        find(table, "spin-by-non-croupier", event.seq, expected="croupier", recorded=by, event_type=event.type)


def _check_announced(table: Table, seq: int) -> None:
    """Find, once, a result that was not announced before the first payout or the next spin."""
    coup = table.wheel
    if not coup.settled_by or coup.announced or coup.silence_found:
        return
    if "announcements" in table.open_session().observes:
        coup.silence_found = True
        find(table, "result-not-announced", coup.settled_by, seq, expected=coup.pocket, result_seq=coup.settled_by)


def _check_order(table: Table, seq: int, wager: Wager, player: str) -> None:
    """Al. 8: «procède par joueur»; al. 9: the order within one player."""
    coup = table.wheel
    if player in coup.players_paid and coup.players_paid[-1] != player:
        between = coup.players_paid[-1]
        find(
            table,
            "payments-interleaved",
            coup.paid_by[between],
            seq,
            about=wager,
            player=player,
            player_before=between,
        )
    if player not in coup.players_paid or coup.players_paid[-1] != player:
        coup.players_paid.append(player)
    rank = PAYMENT_ORDER.get(wager.bet)
    if rank is not None:
        if rank < coup.ranks_paid.get(player, 0):
            paid_before = next(bet for bet, each in PAYMENT_ORDER.items() if each == coup.ranks_paid[player])
            find(
                table,
                "payment-order-violated",
                coup.paid_by.get(player, 0),
                seq,
                about=wager,
                player=player,
                bet=wager.bet,
                bet_before=paid_before,
            )
        coup.ranks_paid[player] = rank
    coup.paid_by[player] = seq


def _check_colour(table: Table, event: PayoutMade, wager: Wager, player: str) -> None:
    data = event.data
    colour = data.colour
    if not colour:
        return
    if player in table.colours.get(colour, {}):
        if table.acts:
            acts.right(table, f"{event.type} {wager.id}", event.seq)
        return
    own = [known for known, players in table.colours.items() if player in players]
    if own:
        acts.wrong(
            table,
            f"{event.type} {wager.id}",
            "payment-wrong-colour",
            event.seq,
            wager=wager,
            expected=own[0],
            recorded=colour,
            back=data.winnings or data.stake_returned,
        )


def _find_without_colour(table: Table, seq: int, wager: Wager) -> None:
    """Al. 9: find a winning stake, laid in colour chips, that is paid in none; not what completes a payment."""
    own = next((colour for colour, players in table.colours.items() if wager.player in players), None)
    if own is not None and "colours" in table.open_session().observes:
        find(table, "payment-without-colour", seq, wager=wager, expected=own)


def _check_value(table: Table, event: ColourAssigned, before: ColourValue | None) -> None:
    data = event.data
    if before is not None and before.value is not None and before.value != data.value:
        find(
            table,
            "colour-value-changed",
            before.assigned_by,
            event.seq,
            expected=before.value,
            recorded=data.value,
            colour=data.colour,
            player=data.player,
            assigned_seq=before.assigned_by,
        )
