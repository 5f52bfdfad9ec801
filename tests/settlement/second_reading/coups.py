"""Random streams of art. 54 and art. 55-8: every bet of both lists, what is off them, and stakes late and withdrawn.

A stream is a list of events as the contract writes them. A seed gives the same stream always. Nothing here knows what
is due: the generator remembers what it placed only to come back to it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.settlement.second_reading.practice import Events

OPENED_AT = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)

PLAYERS = ["p1", "p1", "p1", "p2"]

# Awkward on purpose: what no odds of the law divide, the smallest amounts, and large ones.
STAKES = [1, 2, 3, 5, 7, 11, 99, 100, 101, 500, 583, 700, 999, 1000, 1001, 1100, 2500, 3333, 10_000, 123_457, 10**9 + 7]


LINES = ("win", "dont_win", "come", "dont_come")


class Session:
    """A session that is being written, coup by coup."""

    game: str
    ruleset: str

    def __init__(self, seed: int, *, practice: bool) -> None:
        self.rng = Random(seed)
        self.practice = practice
        """Whether to write what only practice judges: see ``stream``."""
        self.events: Events = []
        self.stream = f"reading.T1.{seed}"
        self.clock_ms = 0
        self.ids = 0
        self.recent: list[dict[str, Any]] = []
        """The data of the last wagers placed."""
        self.observes = ["calls"]
        self.unit = self.rng.choice([1, 1, 1, 5, 100])
        self.params: dict[str, Any] = {"payout_unit": self.unit} if self.unit > 1 else {}

    def open(self) -> None:
        self.put(
            "session.opened",
            0,
            casino="reading",
            table="T1",
            gaming_day="2026-11-21",
            game=self.game,
            ruleset=self.ruleset,
            currency="EUR",
            float=10**12,
            minimum=self.unit,
            observes=self.observes,
            params=self.params,
        )

    def put(self, type_: str, at_ms: int, **data: Any) -> None:
        at = OPENED_AT + timedelta(milliseconds=at_ms)
        event = {"stream": self.stream, "seq": len(self.events) + 1, "type": type_, "data": data}
        self.events.append(event | {"occurred_at": at.isoformat(timespec="milliseconds")})

    def new_id(self) -> str:
        self.ids += 1
        return f"w{self.ids}"

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def stake(self) -> int:
        return self.rng.choice([stake for stake in STAKES if stake >= self.unit])

    def coup(self) -> None:
        """Write one coup: what is laid and lifted about the call, the call, and what ends it."""
        self.betting()
        if self.chance(6):
            self.void()
            self.betting()
        if self.chance(2):
            self.no_result()
        self.clock_ms += 1000
        self.result()
        self.clock_ms += 1000
        self.after_result()

    def betting(self) -> None:
        """Lay and lift about the call. Before and after it by number, and before and after it by the clock."""
        self.clock_ms += 20_000
        call_ms = self.clock_ms
        is_called = self.chance(90)
        for _ in range(self.rng.choice([0, 1, 2, 3, 4])):
            self.one_action(call_ms + self.offset_ms(usually=-self.rng.randrange(1, 9000)))
        if is_called:
            self.put("no_more_bets", call_ms)
            for _ in range(self.rng.choice([0, 0, 0, 0, 0, 1, 2])):
                self.one_action(call_ms + self.offset_ms(usually=self.rng.randrange(501, 4000)))
        self.clock_ms += 5000

    def offset_ms(self, *, usually: int) -> int:
        if self.chance(80) or not self.practice:
            return usually
        return self.rng.choice([-4000, -1, 0, 1, 499, 500, 501, 502, 1500])

    def one_action(self, at_ms: int) -> None:
        if self.chance(75) or not self.recent:
            self.place(at_ms)
        else:
            self.touch(at_ms, self.rng.choice(self.recent))

    def place(self, at_ms: int) -> None:
        data = {"wager": self.new_id(), "stake": self.stake(), "player": self.rng.choice(PLAYERS), **self.any_bet()}
        if self.recent and self.chance(3):
            data["left_up_from"] = self.rng.choice(self.recent)["wager"]
        if self.recent and self.chance(1) and not self.practice:
            # Of the same name again, which only practice gives a sense, where a stake plays on.
            self.put("wager.placed", at_ms, **data | {"wager": self.rng.choice(self.recent)["wager"]})
            return
        self.put("wager.placed", at_ms, **data)
        self.recent = [*self.recent[-11:], data]

    def touch(self, at_ms: int, wager: dict[str, Any]) -> None:
        """Withdraw a wager or a part of it."""
        amount = {"amount": self.rng.randrange(1, wager["stake"] + 3)} if self.chance(40) else {}
        self.put("wager.withdrawn", at_ms, wager=wager["wager"], **amount)

    def pay(self, wager: str, winnings: int, returned: int, **more: Any) -> None:
        self.put("payout.made", self.clock_ms, wager=wager, winnings=winnings, stake_returned=returned, **more)

    def place_alone(self, bet: dict[str, Any]) -> dict[str, Any]:
        """Lay a wager well before a call, which nothing touches before the result that follows at once."""
        self.clock_ms += 20_000
        data = {"wager": self.new_id(), "stake": self.stake(), "player": "p1", **bet}
        self.put("wager.placed", self.clock_ms - 9000, **data)
        self.put("no_more_bets", self.clock_ms)
        self.clock_ms += 3000
        return data

    def continue_as_another(self, wager: dict[str, Any], winnings: int, stake_due: int) -> None:
        """Pay a wager that has won or is free, and let a part of its stake or all of it play on."""
        self.clock_ms += 1000
        name = self.new_id()
        returned = self.rng.choice([0, stake_due // 3])
        self.pay(wager["wager"], winnings, returned, continues_as=name)
        self.recent = [*self.recent[-11:], {**wager, "wager": name, "stake": stake_due - returned}]

    def last_coup(self) -> None:
        """Write the last coup of the session."""
        self.coup()

    def left_lying(self) -> None:
        """Write a coup of a wager that is sure to win, and whose stake is left lying."""
        raise NotImplementedError

    def any_bet(self) -> dict[str, Any]:
        """Return a bet with its fields."""
        raise NotImplementedError

    def void(self) -> None:
        """Write what was called void."""
        raise NotImplementedError

    def no_result(self) -> None:
        """Write a result that the law does not know."""
        raise NotImplementedError

    def result(self) -> None:
        """Write a counted result."""
        raise NotImplementedError

    def after_result(self) -> None:
        """Write what follows a result."""


class Roulette(Session):
    game = "french_roulette"
    ruleset = "fr-roulette"

    def __init__(self, seed: int, *, practice: bool) -> None:
        super().__init__(seed, practice=practice)
        self.zero_percent = self.rng.choice([3, 25, 60])
        self.pocket = ""
        if self.chance(15):
            self.params["release_value"] = "full"

    def any_bet(self) -> dict[str, Any]:
        rng = self.rng
        bet = rng.choice(
            ["pair", "impair", "manque", "passe", "rouge", "noir"] * 3
            + ["plein", "cheval", "transversale", "carre", "sixain"] * 2
            + ["douzaine", "colonne", "deux_douzaines", "deux_colonnes", "off_the_list"]
        )
        if bet == "off_the_list":
            return rng.choice(
                [
                    {"bet": "voisins_du_zero"},
                    {"bet": "plein", "numbers": ["00"]},
                    {"bet": "plein", "numbers": ["3", "4"]},
                    {"bet": "cheval", "numbers": ["1", "36"]},
                    {"bet": "cheval", "numbers": ["3", "4"]},
                    {"bet": "cheval", "numbers": ["0", "4"]},
                    {"bet": "transversale", "numbers": ["2", "3", "4"]},
                    {"bet": "transversale", "numbers": ["0", "1", "3"]},
                    {"bet": "carre", "numbers": ["3", "4", "6", "7"]},
                    {"bet": "carre", "numbers": ["0", "1", "2", "4"]},
                    {"bet": "sixain", "numbers": ["2", "3", "4", "5", "6", "7"]},
                    {"bet": "sixain", "numbers": ["0", "1", "2", "3", "4", "5"]},
                    {"bet": "douzaine", "which": [4]},
                    {"bet": "douzaine", "which": [1, 2]},
                    {"bet": "deux_colonnes", "which": [2]},
                    {"bet": "deux_douzaines", "which": [2, 2]},
                    {"bet": "deux_douzaines", "which": [1, 2, 3]},
                    {"bet": "deux_douzaines", "which": [1, 3]},
                    {"bet": "deux_colonnes", "which": [3, 1]},
                ]
            )
        if bet in ("douzaine", "colonne"):
            return {"bet": bet, "which": [rng.choice([1, 2, 3])]}
        if bet in ("deux_douzaines", "deux_colonnes"):
            return {"bet": bet, "which": rng.choice([[1, 2], [2, 3], [2, 1], [3, 2]])}
        numbers = self.numbers_of(bet)
        return {"bet": bet, "numbers": numbers} if numbers else {"bet": bet}

    def numbers_of(self, bet: str) -> list[str]:
        """Return numbers that lie together on the cloth, in any order."""
        rng = self.rng
        row = rng.randrange(12) * 3 + 1
        last = min(row, 31)
        column = rng.randrange(2)
        with_zero = self.chance(25)
        match bet:
            case "plein":
                numbers = [0] if with_zero else [rng.randrange(37)]
            case "cheval" if with_zero:
                numbers = [0, rng.choice([1, 2, 3])]
            case "cheval":
                across, along = [row + column, row + column + 1], [last + column, last + column + 3]
                numbers = rng.choice([across, along, [last + 2, last + 5]])
            case "transversale":
                numbers = rng.choice([[0, 1, 2], [0, 2, 3]]) if with_zero else [row, row + 1, row + 2]
            case "carre" if with_zero:
                numbers = [0, 1, 2, 3]
            case "carre":
                first = last + column
                numbers = [first, first + 1, first + 3, first + 4]
            case "sixain":
                numbers = list(range(last, last + 6))
            case _:
                numbers = []
        rng.shuffle(numbers)
        return [str(number) for number in numbers]

    def void(self) -> None:
        reason = self.rng.choice(["ball_left_wheel", "foreign_object", "mechanical"])
        if self.practice:
            self.put("spin.voided", self.clock_ms, announced_by="croupier", reason=reason)

    def no_result(self) -> None:
        self.put("ball.settled", self.clock_ms, pocket="00")

    def result(self) -> None:
        self.pocket = "0" if self.chance(self.zero_percent) else str(self.rng.randrange(37))
        self.put("ball.settled", self.clock_ms, pocket=self.pocket)

    def after_result(self) -> None:
        for wager in self.recent:
            if self.chance(35) and (self.pocket == "0" or self.chance(4)):
                self.answer_zero(wager)

    def answer_zero(self, wager: dict[str, Any]) -> None:
        """Let a player choose, by word or by chips, once or twice, of a wager that may have nothing to choose."""
        half = wager["stake"] // (2 ** self.rng.choice([1, 1, 1, 2, 3]) * self.unit) * self.unit
        match self.rng.randrange(6):
            case 0 | 1:
                self.decide(wager, "half")
            case 2 | 3:
                self.decide(wager, "prison")
            case 4:
                if self.practice:
                    self.decide(wager, self.rng.choice(["half", "prison"]))
                self.decide(wager, self.rng.choice(["half", "prison"]))
            case _ if half > 0:
                if not self.practice:
                    self.decide(wager, "half")
                self.pay(wager["wager"], 0, half)
                if self.chance(30):
                    self.decide(wager, "half")

    def decide(self, wager: dict[str, Any], choice: str) -> None:
        self.put("zero.decided", self.clock_ms, wager=wager["wager"], choice=choice)

    def last_coup(self) -> None:
        self.put("last_coup.announced", self.clock_ms)
        self.coup()

    def left_lying(self) -> None:
        numbers = [str(self.rng.randrange(37))] if self.chance(50) else []
        bet = (
            {"bet": "plein", "numbers": numbers} if numbers else {"bet": self.rng.choice(["rouge", "impair", "manque"])}
        )
        wager = self.place_alone(bet)
        if numbers:
            self.put("ball.settled", self.clock_ms, pocket=numbers[0])
            self.continue_as_another(wager, wager["stake"] * 35, wager["stake"])
            return
        # To prison for one zero, then free with 1, which is red, odd and low.
        self.put("ball.settled", self.clock_ms, pocket="0")
        self.decide(wager, "prison")
        self.clock_ms += 20_000
        self.put("ball.settled", self.clock_ms, pocket="1")
        self.continue_as_another(wager, 0, wager["stake"])


class American(Roulette):
    game = "american_roulette"
    ruleset = "fr-american-roulette"

    def __init__(self, seed: int, *, practice: bool) -> None:
        super().__init__(seed, practice=practice)
        rule = self.rng.choice(["", "lose", "half", "choice"])
        if rule:
            self.params["zero_rule"] = rule

    def numbers_of(self, bet: str) -> list[str]:
        numbers = super().numbers_of(bet)
        at_double_zero = [["00"], ["0", "00"], ["2", "00"], ["00", "3"], ["00", "2", "3"], ["0", "00", "2"]]
        fitting = [one for one in at_double_zero if len(one) == len(numbers)]
        return self.rng.choice(fitting) if fitting and self.chance(15) else numbers

    def no_result(self) -> None:
        self.put("ball.settled", self.clock_ms, pocket="37")

    def result(self) -> None:
        super().result()
        if self.pocket == "0" and self.chance(50):
            self.events[-1]["data"]["pocket"] = "00"

    def left_lying(self) -> None:
        number = self.rng.choice(["00", "0", "17"])
        wager = self.place_alone({"bet": "plein", "numbers": [number]})
        self.put("ball.settled", self.clock_ms, pocket=number)
        self.continue_as_another(wager, wager["stake"] * 35, wager["stake"])


class Craps(Session):
    game = "craps"
    ruleset = "fr-craps"

    def __init__(self, seed: int, *, practice: bool) -> None:
        super().__init__(seed, practice=practice)
        self.point: int | None = None
        self.numbers: dict[str, int | None] = {}
        """The number that each line bet travelled to, as far as the generator knows."""

    def any_bet(self) -> dict[str, Any]:
        rng = self.rng
        category = rng.choice("LLLLOOOOSBBDDDD") if not self.chance(3) else "-"
        match category:
            case "L":
                return {"bet": self.line_bet()}
            case "O":
                return self.odds_bet()
            case "S":
                return {"bet": rng.choice(["field", "big_6", "big_8", "under_7", "over_7"])}
            case "B":
                bets = ["hardway", "seven", "eleven", "any_craps", "craps_2", "craps_3", "craps_12", "horn"]
                bet = rng.choice([*bets, "hardway", "hardway"])
                return {"bet": bet, "number": rng.choice([4, 6, 8, 10])} if bet == "hardway" else {"bet": bet}
            case "D":
                if self.chance(50):
                    return {"bet": "right_bet", "number": rng.choice([4, 5, 6, 8, 9, 10])}
                marker = {"marker": "wrong_bet"} if self.chance(90) else {}
                return {"bet": "wrong_bet", "number": rng.choice([4, 5, 6, 8, 9, 10]), **marker}
        return rng.choice(
            [
                {"bet": "hop"},
                {"bet": "buy_bet", "number": 4},
                {"bet": "hardway", "number": 5},
                {"bet": "hardway"},
                {"bet": "right_bet", "number": 7},
                {"bet": "wrong_bet", "number": 11},
                {"bet": "right_bet"},
                {"bet": "win_odds"},
                {"bet": "come_odds", "base": "nobody", "number": 4},
            ]
        )

    def line_bet(self) -> str:
        usual = ["win", "dont_win"] if self.point is None else ["come", "dont_come"]
        unusual = ["come", "dont_come"] if self.point is None else ["win", "dont_win"]
        return self.rng.choice(unusual if self.chance(6) else usual)

    def odds_bet(self) -> dict[str, Any]:
        """Return odds, most often behind a wager of the right kind whose number is known."""
        every_line = [wager for wager in self.recent if wager["bet"] in LINES]
        known = [wager for wager in every_line if self.numbers.get(wager["wager"])]
        if not every_line or (not known and self.chance(85)):
            return {"bet": self.line_bet()}
        base = self.rng.choice(known) if known and self.chance(94) else self.rng.choice(every_line)
        bet = f"{base['bet']}_odds" if not self.chance(4) else "come_odds"
        number = self.numbers.get(base["wager"])
        if self.practice and self.chance(3):
            number = self.rng.choice([4, 5, 6, 8, 9, 10])
        is_come = bet in ("come_odds", "dont_come_odds")
        data = {"bet": bet, "base": base["wager"], **({"number": number} if number and is_come else {})}
        return data if self.chance(4) else data | {"player": base["player"]}

    def place(self, at_ms: int) -> None:
        super().place(at_ms)
        placed = self.recent[-1]
        if placed["bet"] in LINES:
            self.numbers.setdefault(placed["wager"], None)

    def touch(self, at_ms: int, wager: dict[str, Any]) -> None:
        is_place_bet = wager["bet"] in ("right_bet", "wrong_bet") and self.practice
        if is_place_bet and self.chance(25) and self.is_of_an_earlier_coup(wager):
            self.put("wager.moved", at_ms, wager=wager["wager"], number=self.rng.choice([4, 5, 6, 8, 9, 10]))
        elif self.chance(10):
            self.put("wager.switched", at_ms, wager=wager["wager"], working=False)
        else:
            super().touch(at_ms, wager)

    def is_of_an_earlier_coup(self, wager: dict[str, Any]) -> bool:
        for event in reversed(self.events):
            if event["type"] == "dice.thrown" and "flags" not in event["data"]:
                return all(1 <= face <= 6 for face in event["data"]["faces"])
            if event["data"].get("wager") == wager["wager"]:
                return False
        return False

    def void(self) -> None:
        flags = self.rng.choice([["slid"], ["off_table"], ["broken", "on_chip"]])
        faces = {"faces": [3, 4]} if self.chance(50) else {}
        self.put("throw.voided", self.clock_ms, announced_by="stickman", flags=flags, **faces)

    def no_result(self) -> None:
        if self.chance(50):
            self.put("dice.thrown", self.clock_ms, faces=self.rng.choice([[7, 2], [0, 4], [3, 8]]))
        else:
            flag = self.rng.choice(["slid", "off_table", "no_wall_contact", "stacked", "on_chip", "wrong_direction"])
            self.throw(self.faces(), flags=[flag])

    def faces(self) -> list[int]:
        if self.chance(25):
            double = self.rng.randrange(1, 7)
            return [double, double]
        return [self.rng.randrange(1, 7), self.rng.randrange(1, 7)]

    def result(self) -> None:
        self.throw(self.faces(), **({"flags": ["rubbed_or_held"]} if self.chance(2) else {}))

    def throw(self, faces: list[int], **more: Any) -> None:
        self.put("dice.thrown", self.clock_ms, faces=faces, **more)
        total = sum(faces)
        for name, number in list(self.numbers.items()):
            if total == 7 or total == number:
                del self.numbers[name]
            elif number is None and total in (4, 5, 6, 8, 9, 10):
                self.numbers[name] = total
                if self.chance(10):
                    self.put("wager.moved", self.clock_ms, wager=name, number=total)
        if self.point is None and total in (4, 5, 6, 8, 9, 10):
            self.point = total
        elif total in (7, self.point):
            self.point = None

    def left_lying(self) -> None:
        number = self.rng.choice([4, 5, 6, 8, 9, 10])
        if self.chance(50):
            wager = self.place_alone({"bet": "right_bet", "number": number})
            self.throw([number - 3, 3] if number < 9 else [number - 6, 6])
            self.continue_as_another(wager, wager["stake"], wager["stake"])
        else:
            wager = self.place_alone({"bet": "wrong_bet", "number": number, "marker": "wrong_bet"})
            self.throw([3, 4])
            self.continue_as_another(wager, wager["stake"], wager["stake"])


class Quebec(Craps):
    ruleset = "qc-craps"

    def any_bet(self) -> dict[str, Any]:
        number = self.rng.choice([4, 5, 6, 8, 9, 10] * 4 + [7])
        bet = self.rng.choice(["right_bet", "right_bet", "buy_bet", "lay_bet"])
        data: dict[str, Any] = {"bet": bet, "number": number}
        if bet != "right_bet":
            data["marker"] = bet.removesuffix("_bet")
            if not self.chance(5):
                data["commission"] = self.rng.choice([1, 5, 50])
        elif self.chance(30):
            data["working"] = self.chance(70)
        return data

    def touch(self, at_ms: int, wager: dict[str, Any]) -> None:
        if self.chance(50):
            self.put("wager.switched", at_ms, wager=wager["wager"], working=self.chance(50))
        else:
            Session.touch(self, at_ms, wager)

    def left_lying(self) -> None:
        number = self.rng.choice([4, 5, 6, 8, 9, 10])
        wager = self.place_alone({"bet": "right_bet", "number": number, "working": True})
        self.throw([number - 3, 3] if number < 9 else [number - 6, 6])
        self.continue_as_another(wager, wager["stake"], wager["stake"])


def stream(seed: int, *, practice: bool) -> tuple[Session, int]:
    """Return the session of a seed, written to its end, and its number of coups. Even seeds are roulette, odd craps.

    With ``practice`` also what only the second edition of the contract judges: clocks that disagree with the numbers,
    voided spins, stakes that play on under another name, a half that only the chips say, place bets that are moved.
    """
    session = (Craps if seed % 2 else Roulette)(seed, practice=practice)
    session.open()
    coups = session.rng.randrange(1, 30)
    for _ in range(coups):
        if practice and session.chance(4):
            session.left_lying()
        session.coup()
    if session.chance(60):
        session.last_coup()
        coups += 1
    if session.chance(70):
        session.clock_ms += 1000
        session.put("session.closed", session.clock_ms, float=10**12)
    return session, coups
