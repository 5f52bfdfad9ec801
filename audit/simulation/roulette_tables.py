"""Simulated roulette: French, where the player decides about a zero, and American, with its order of payments."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.session import PLAYERS, Player, Session
from settlement.fr.art_57_1_american_roulette import PAYMENT_ORDER
from settlement.layouts import LAYOUT_37, LAYOUT_38, SIMPLE_CHANCES, Layout, winning_chances

MULTIPLE = ["plein", "cheval", "transversale", "carre", "sixain"]
TWELVES = {"douzaine": 1, "colonne": 1, "deux_douzaines": 2, "deux_colonnes": 2}
EVERY_BET = [*MULTIPLE, *TWELVES, *SIMPLE_CHANCES]

COLOURS = ["blue", "green", "orange", "pink", "purple", "red", "white", "yellow"]
CHIP = 400
"""The value of a chip, in minor units. It can be halved four times, so four zeros leave no fraction."""

MAX_FINISH_COUPS = 200


class _Roulette(Session):
    """What both roulettes do: take stakes, call, spin, pay."""

    layout: ClassVar[Layout]

    def take_stakes(self) -> None:
        for player in self.players:
            if self.chance.random() < player.zeal:
                for _ in range(self.chance.randint(1, 4)):
                    self.stake(player)

    def stake(self, player: Player) -> None:
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
            data["colour"] = player.colour
        self.writer.place(bet, CHIP * player.boldness * self.chance.randint(1, 3), player=player.name, **data)

    def call(self) -> None:
        if not self.inject("no-more-bets-missing"):
            self.writer.write("no_more_bets", actor="croupier-1")
            if self.inject("wager-after-no-more-bets"):
                self.stake(self.players[0])

    def land(self) -> str:
        """Write where the ball settles and return the pocket."""
        pocket = self.chance.choice(self.layout.wheel)
        self.writer.write("ball.settled", wait_s=self.chance.uniform(4, 9), actor="croupier-1", pocket=pocket)
        return pocket


class FrenchRoulette(_Roulette):
    """Art. 54."""

    game: ClassVar[str] = "french_roulette"
    ruleset: ClassVar[str] = "fr-roulette"
    layout: ClassVar[Layout] = LAYOUT_37
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "seating"]

    def open(self) -> None:
        self.write_opener()
        habits = [*EVERY_BET, *SIMPLE_CHANCES]
        self.seat_players(self.chance.sample(PLAYERS, k=self.chance.randint(4, 9)), habits)

    def play_coup(self) -> None:
        self.irregular_between_coups()
        self.take_stakes()
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
        self.call()
        self.land()
        self.settle()

    def _decide_zero(self) -> None:
        for wager_id in list(self.writer.table.awaiting):
            if self.inject("zero-decision-missing"):
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
    layout: ClassVar[Layout] = LAYOUT_38

    def open(self) -> None:
        self.alone = self.chance.random() < 0.5 or "stacks-not-rebuilt" in self.irregularities
        staff = [{"person": "chef-1", "role": "chef_de_table"}, {"person": "croupier-1", "role": "croupier"}]
        if not self.alone:
            staff.append({"person": "employe-1", "role": "employe"})
        self.write_opener(staff=staff)
        self.seat_players(self.chance.sample(PLAYERS, k=self.chance.randint(4, 7)), EVERY_BET)
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
        if not self.inject("wheel-direction-repeated"):
            self.clockwise = not self.clockwise
        wheel, ball = ("clockwise", "counterclockwise") if self.clockwise else ("counterclockwise", "clockwise")
        writer.write("wheel.spun", direction=wheel, by="croupier")
        along = self.inject("ball-same-direction-as-wheel")
        writer.write("ball.launched", direction=wheel if along else ball, by="croupier")
        self.take_stakes()
        fell = self.inject("result-after-fallen-chip")
        if fell or self.chance.random() < 0.02:
            writer.write("chip.fell_in_wheel")
            if not fell:
                writer.write("ball.retrieved")
                writer.write("ball.launched", direction=ball, by="croupier")
        self.call()
        pocket = self.land()
        self._announce(pocket)
        self.settle()

    def finish(self) -> None:
        """Do nothing: at American roulette every coup decides every wager."""

    def payment_order(self) -> list[str]:
        """Return the ids of the wagers due, player by player, each player's in the order of al. 9."""
        table = self.writer.table
        seats = {player.name: number for number, player in enumerate(self.players)}

        def rank(wager_id: str) -> tuple[int, int]:
            wager = table.wagers[wager_id]
            return seats[wager.player or ""], PAYMENT_ORDER[wager.bet]

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
        colour = self.writer.table.wagers[wager_id].colour
        if self.inject("payment-wrong-colour"):
            colour = "black"
        return {"colour": colour} if colour else {}

    def before_payment(self, wager_id: str, winnings: int) -> None:
        if not self.inject("payment-not-announced"):
            self.writer.write("payment.announced", wait_s=0.4, wager=wager_id, amount=winnings)

    def _announce(self, pocket: str) -> None:
        if self.inject("result-not-announced"):
            return
        announced = self.layout.wheel[0] if self.inject("announcement-mismatch") and pocket != "0" else pocket
        self.writer.write("result.announced", pocket=announced, chances=sorted(winning_chances(announced)))

    def _assign(self, player: Player, colour: str) -> None:
        self.writer.write("colour.assigned", player=player.name, colour=colour, value=CHIP, marker_from="chef_de_table")

    def _irregular_seating_and_chips(self) -> None:
        if self.inject("colour-shared"):
            self._assign(self.players[0], self.players[1].colour or "")
        if self.inject("chief-handled-chips"):
            self.writer.write("chips.handled", by="chef_de_table")
        if self.inject("seat-limit-exceeded"):
            guests = [f"Guest {number}" for number in range(len(self.players), 8)]
            for guest in guests:
                self.writer.write("player.seated", player=guest)
            for guest in guests:
                self.writer.write("player.left", player=guest)
