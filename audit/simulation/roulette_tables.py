"""Simulated roulette: French, where the player decides about a zero, and American, with its order of payments."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.human import Human
from audit.simulation.played_table import Player
from audit.simulation.session import GUESTS, BallGame
from settlement.fr.art_57_1_american_roulette import PAYMENT_ORDER
from settlement.layouts import LAYOUT_37, LAYOUT_38, SIMPLE_CHANCES, Layout, winning_chances
from settlement.state import Wager

MULTIPLE = ["plein", "cheval", "transversale", "carre", "sixain"]
TWELVES = {"douzaine": 1, "colonne": 1, "deux_douzaines": 2, "deux_colonnes": 2}
EVERY_BET = [*MULTIPLE, *TWELVES, *SIMPLE_CHANCES]

COLOURS = ["blue", "green", "orange", "pink", "purple", "red", "white"]
UNASSIGNED = "yellow"
CHIP = 400
"""The value of a chip, in minor units. It can be halved four times, so four zeros leave no fraction."""

SECTORS: list[list[tuple[str, tuple[str, ...]]]] = [
    # Tiers du cylindre
    [("cheval", pair) for pair in (("5", "8"), ("10", "11"), ("13", "16"), ("23", "24"), ("27", "30"), ("33", "36"))],
    # Orphelins
    [("plein", ("1",)), *(("cheval", pair) for pair in (("6", "9"), ("14", "17"), ("17", "20"), ("31", "34")))],
    # Voisins du zéro, without its two stakes on the transversale and the carré
    [("cheval", pair) for pair in (("4", "7"), ("12", "15"), ("18", "21"), ("19", "22"), ("32", "35"))],
]
"""What players announce at French roulette: the stakes of each sector."""

CHIEF: dict[str, Any] = {"person": "chef-1", "role": "chef_de_table"}

SEATS = 7
"""At an American table that is not double."""

MAX_FINISH_COUPS = 200


class _Roulette(BallGame):
    """What both roulettes do: take stakes, call, spin, pay."""

    layout: ClassVar[Layout]
    uncalled: ClassVar[str] = "no-more-bets-missing"
    most_stakes: ClassVar[int] = 4

    @property
    def wheel(self) -> list[str]:
        return list(self.layout.wheel)

    def stake(self, player: Player, **wait: float) -> None:
        bet = self.chance.choice(player.habits)
        data: dict[str, Any] = {}
        if bet in MULTIPLE:
            data["numbers"] = list(self.chance.choice(sorted(self.layout.shapes[bet].values())))
        elif bet in TWELVES:
            first = self.chance.randint(1, 4 - TWELVES[bet])
            data["which"] = list(range(first, first + TWELVES[bet]))
            if TWELVES[bet] == 2 and self.inject("combination-not-permitted"):
                data["which"] = [1, 3]
        if player.colour is not None:
            data["colour"] = UNASSIGNED if self.inject("wager-with-unassigned-colour") else player.colour
        stake = CHIP * player.boldness * self.chance.randint(1, 3)
        if player.colour is not None and self.inject("stake-not-multiple-of-colour-value"):
            stake += CHIP // 2
        whose = {} if player.colour is None and self.does("player not seen") else {"player": player.name}
        self.place(bet, stake, **whose, **data, **wait)

    def land(self) -> str:
        """Write where the ball settles and return the pocket."""
        while self.evening is not None and self.evening.fraud.voids(self, self.coming):
            self.writer.write("spin.voided", actor="croupier-1", announced_by="croupier", reason="ball_left_wheel")
            self.play_again()
        pocket = self.coming or self.chance.choice(self.layout.wheel)
        wait_s = self.chance.uniform(4, 9)
        if self.human is None or not self._land_by_whim(self.human, pocket, wait_s):
            self.writer.write("ball.settled", wait_s=wait_s, actor="croupier-1", pocket=pocket)
        return pocket

    def _land_by_whim(self, human: Human, pocket: str, wait_s: float) -> bool:
        """Void the spin first, or read its pocket wrongly. Return whether ``pocket`` is written."""
        writer, other = self.writer, human.chance.choice(self.layout.wheel)
        if self.does("number taken back"):
            writer.may_be_undone()
            voids = writer.write("ball.settled", wait_s=wait_s, actor="croupier-1", pocket=other)["seq"]
            about = {"announced_by": "croupier", "reason": "foreign_object", "approved_by": CHIEF["person"]}
            writer.write("spin.voided", actor="croupier-1", voids=voids, **about)
            self.play_again()
        elif self.does("spin void"):
            writer.write("spin.voided", announced_by="croupier", reason="ball_left_wheel")
            self.play_again()
        return human.reads("ball.settled", wait_s, {"pocket": pocket}, {"pocket": other})

    def take_back_some(self, first_seq: int) -> None:
        """Let players lift some of the stakes that they placed since event ``first_seq``, whole or in part."""
        for wager in self.writer.live:
            if wager.placed_by < first_seq or wager.left_up_from or not self.does("lifted before the call"):
                continue
            assert self.human is not None
            standing = wager.standing
            chips = standing // CHIP
            part: dict[str, Any] = {}
            if chips > 1 and self.human.chance.random() < 0.5:
                part = {"amount": CHIP * self.human.chance.randrange(1, chips)}
            self.writer.write("wager.withdrawn", wager=wager.id, **part)
            if self.human.chance.random() < 0.3:
                self.writer.pay(wager, winnings=0, stake=part.get("amount", standing))

    def unit_of(self, wager: Wager) -> int:
        return CHIP

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        player = next((player for player in self.players if player.name == wager.player), None)
        if player is None or self.coup >= self.coups:
            return None
        data: dict[str, Any] = {"player": player.name}
        if wager.pockets:
            data["numbers"] = list(wager.pockets)
        if wager.which:
            data["which"] = list(wager.which)
        if player.colour is not None:
            data["colour"] = player.colour
        return data


class FrenchRoulette(_Roulette):
    """Art. 54."""

    game: ClassVar[str] = "french_roulette"
    ruleset: ClassVar[str] = "fr-roulette"
    letter: ClassVar[str] = "R"
    tables_in_mix: ClassVar[int] = 2
    limited: ClassVar[tuple[str, ...]] = ("plein", "rouge", "noir")
    layout: ClassVar[Layout] = LAYOUT_37
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "seating"]

    def open(self) -> None:
        self.put_off: list[str] = []  # stakes whose players say only in the next coup what a zero is to do with them
        self.write_opener()
        habits = [*EVERY_BET, *SIMPLE_CHANCES]
        self.seat_players(self.newcomers(4, 9), habits)

    def play_coup(self) -> None:
        self.irregular_between_coups()
        first = self.writer.next_seq
        self.take_stakes()
        if self.human is not None:
            self._announce_bets()
            self.take_back_some(first)
            self.human.decides_late(self.put_off)
            self.put_off = []
        self.call()
        if self.inject("imprisoned-stake-withdrawn"):
            self._withdraw_a_prisoner()
        self.land()
        self._decide_zero()
        self.settle()

    def finish(self) -> None:
        """Announce and play the last coup, so that no stake stays in prison."""
        if self.inject("imprisoned-at-close"):
            self._leave_a_prisoner()
            return
        self.writer.write("last_coup.announced", actor="croupier-1")
        if self.human is not None:
            self.take_stakes()
        self.call()
        self.land()
        for wager_id in list(self.writer.table.due):
            is_refunded = self.writer.table.wagers[wager_id].status == "refunded_last_coup"
            if is_refunded and self.does("half said at the last coup"):
                self.writer.write("zero.decided", wager=wager_id, choice="half")
        self.settle()

    def _announce_bets(self) -> None:
        """Have a player announce a sector of the wheel: the croupier places every stake of it."""
        if not self.does("bets announced together"):
            return
        assert self.human is not None
        player = self.human.chance.choice(self.players)
        for bet, numbers in self.human.chance.choice(SECTORS):
            self.place(bet, CHIP * player.boldness, player=player.name, numbers=list(numbers), wait_s=0.4)

    def _decide_zero(self) -> None:
        if self.writer.table.awaiting and self.coup < self.coups and self.does("decided late"):
            self.put_off = list(self.writer.table.awaiting)
            return
        for wager_id in list(self.writer.table.awaiting):
            if self.inject("zero-decision-missing"):
                continue
            if self.human is not None and self.human.decides_zero(self.writer.table.wagers[wager_id]):
                continue
            choice = self.chance.choice(["half", "prison", "prison"])
            self.writer.write("zero.decided", wager=wager_id, choice=choice)

    def _withdraw_a_prisoner(self) -> None:
        prisoners = [wager for wager in self.writer.live if wager.status == "imprisoned"]
        if prisoners:
            self.writer.write("wager.withdrawn", wager=prisoners[0].id)
        else:
            self.irregularities.append(self.injected.pop()[0])

    def _leave_a_prisoner(self) -> None:
        """Place a wager that a zero imprisons, and close while it is in prison."""
        player = self.players[0]
        self.writer.place("rouge", CHIP, player=player.name)
        self.call()
        self.writer.write("ball.settled", actor="croupier-1", pocket="0")
        for wager_id in list(self.writer.table.awaiting):
            self.writer.write("zero.decided", wager=wager_id, choice="prison")
        self.settle()


class AmericanRoulette(_Roulette):
    """Art. 57-1."""

    game: ClassVar[str] = "american_roulette"
    ruleset: ClassVar[str] = "fr-american-roulette"
    letter: ClassVar[str] = "A"
    tables_in_mix: ClassVar[int] = 2
    limited: ClassVar[tuple[str, ...]] = ("plein", "rouge", "noir")
    layout: ClassVar[Layout] = LAYOUT_38
    seats: ClassVar[int] = SEATS
    pays_in_order: ClassVar[bool] = True
    lets_leave_with_stakes: ClassVar[bool] = False  # the colour would be nobody's
    has_croupiers: ClassVar[bool] = True

    def open(self) -> None:
        self.alone = self.chance.random() < 0.5 or "stacks-not-rebuilt" in self.irregularities
        staff = [CHIEF, {"person": "croupier-1", "role": "croupier"}]
        if not self.alone:
            staff.append({"person": "employe-1", "role": "employe"})
        self.write_opener(staff=staff)
        self.seat_players(self.newcomers(4, 7), EVERY_BET)
        for player, colour in zip(self.players, COLOURS, strict=False):
            player.colour = colour
            self._assign(player, colour)
        self.clockwise = True

    def play_coup(self) -> None:
        writer = self.writer
        self.irregular_between_coups()
        self._irregular_seating_and_chips()
        if self.alone and not self.inject("stacks-not-rebuilt"):
            writer.write("stacks.rebuilt")
        repeated = self.inject("wheel-direction-repeated")
        if not repeated:
            self.clockwise = not self.clockwise
        wheel, ball = self._directions()
        writer.write("wheel.spun", direction=wheel, by="croupier")
        along = self.inject("ball-same-direction-as-wheel")
        writer.write("ball.launched", direction=wheel if along else ball, by="croupier")
        first = writer.next_seq
        self.take_stakes()
        self.take_back_some(first)
        fell = self.inject("result-after-fallen-chip")
        # A ball that is launched again puts right how it was launched first.
        if fell or (self.chance.random() < 0.02 and not along and not repeated):
            writer.write("chip.fell_in_wheel")
            if not fell:
                writer.write("ball.retrieved")
                writer.write("ball.launched", direction=ball, by="croupier")
        self.call()
        if self.inject("table-without-chief"):
            writer.write("staff.relieved", **self._chief())
        pocket = self.land()
        self._announce(pocket)
        self.settle()
        if writer.table.chief_missed:
            writer.write("staff.assigned", **self._chief())

    def _chief(self) -> dict[str, Any]:
        return CHIEF if self.human is None else {**CHIEF, "person": self.human.chief}

    def _directions(self) -> tuple[str, str]:
        return ("clockwise", "counterclockwise") if self.clockwise else ("counterclockwise", "clockwise")

    def play_again(self) -> None:
        wheel, ball = self._directions()
        self.writer.write("wheel.spun", direction=wheel, by="croupier")
        self.writer.write("ball.launched", direction=ball, by="croupier")
        self.call()

    def _free_colours(self) -> list[str]:
        return [colour for colour in COLOURS if colour not in self.writer.table.colours]

    def free_seats(self) -> list[str]:
        return super().free_seats() if self._free_colours() else []

    def let_in(self, seat: str) -> None:
        super().let_in(seat)
        player = next(player for player in self.players if player.seat == seat)
        player.colour = self._free_colours()[0]
        self._assign(player, player.colour)

    def finish(self) -> None:
        """Do nothing: at American roulette every coup decides every wager."""

    def payment_order(self) -> list[str]:
        """Return the ids of the wagers due, player by player, each player's in the order of al. 9."""
        table = self.writer.table
        seats = {player.name: number for number, player in enumerate(self.players)}

        def rank(wager_id: str) -> tuple[int, int]:
            wager = table.wagers[wager_id]
            return seats.get(wager.player or "", len(seats)), PAYMENT_ORDER[wager.bet]

        order = sorted(table.due, key=rank)
        players = [table.wagers[wager_id].player for wager_id in order]
        if len(order) > 2 and players[0] == players[1] != players[-1] and self.inject("payments-interleaved"):
            return [order[0], order[-1], *order[1:-1]]
        first, second = (table.wagers[wager_id] for wager_id in order[:2]) if len(order) > 1 else (None, None)
        in_one = first is not None and second is not None and first.player == second.player
        in_order = in_one and first and second and PAYMENT_ORDER[first.bet] < PAYMENT_ORDER[second.bet]
        if in_order and self.inject("payment-order-violated"):
            return [order[1], order[0], *order[2:]]
        return order

    def payment_data(self, wager_id: str) -> dict[str, Any]:
        wager = self.writer.table.wagers[wager_id]
        colour = next((player.colour for player in self.players if player.name == wager.player), None)
        if self.inject("payment-wrong-colour"):
            colour = "black"
        return {"colour": colour} if colour else {}

    def before_payment(self, wager_id: str, winnings: int) -> None:
        if not self.inject("payment-not-announced"):
            self.writer.write("payment.announced", wait_s=0.4, wager=wager_id, amount=winnings)

    def _announce(self, pocket: str) -> None:
        if self.inject("result-not-announced"):
            return
        other = self.layout.wheel[0]
        announced = other if pocket != other and self.inject("announcement-mismatch") else pocket
        self.writer.write("result.announced", pocket=announced, chances=sorted(winning_chances(announced)))

    def _assign(self, player: Player, colour: str) -> None:
        self.writer.write("colour.assigned", player=player.name, colour=colour, value=CHIP, marker_from="chef_de_table")

    def _irregular_seating_and_chips(self) -> None:
        if self.inject("colour-shared"):
            self._assign(self.players[0], self.players[1].colour or "")
        if self.inject("chief-handled-chips"):
            self.writer.write("chips.handled", by="chef_de_table")
        if self.inject("seat-limit-exceeded"):
            self._seat_guests(SEATS + 1)
        if self.inject("unseated-player-over-limit"):
            self._seat_guests(SEATS, standing=GUESTS[-1])

    def _seat_guests(self, players: int, *, standing: str = "") -> None:
        """Fill the table to ``players`` for a moment, in which ``standing`` stakes on red without a seat, if named."""
        guests = GUESTS[: players - len(self.players)]
        for guest in guests:
            self.writer.write("player.seated", player=guest)
        if standing:
            self.writer.place("rouge", CHIP, player=standing)
        for guest in guests:
            self.writer.write("player.left", player=guest)
