"""The scripts: short sessions at one table, each with one thing that goes wrong in a casino.

A step is one thing that happens at the table, in words for whoever plays it, and the event that has to be in the record
for it. Amounts are in minor units: 12.50 is 1250.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "wagers": ("wager.placed", "wager.withdrawn", "wager.switched", "wager.moved"),
    "results": ("dice.thrown", "throw.voided", "ball.settled", "spin.voided", "boule.settled", "boule.voided"),
    "decisions": ("zero.decided",),
    "payouts": ("payout.made", "payout.recovered"),
    "calls": ("no_more_bets",),
    "custody": (
        *("dice.offered", "dice.declined", "dice.selected", "dice.set_introduced", "dice.touched"),
        "shooter.removed",
    ),
    "marker": ("point.marked",),
    "wheel": ("wheel.spun", "ball.launched", "chip.fell_in_wheel", "ball.retrieved"),
    "announcements": ("result.announced", "payment.announced"),
    "collections": ("stakes.collected",),
    "seating": ("player.seated", "player.left"),
    "colours": ("colour.assigned",),
    "handling": ("chips.handled", "stacks.rebuilt"),
    "staff": ("staff.assigned", "staff.relieved"),
    "bank": ("bank.filled", "bank.credited", "buy_in.recorded"),
}
"""The events of each family that a session may list under ``observes``."""

ALWAYS_SEEN = frozenset({"wagers", "results", "decisions", "payouts"})
"""What a table observes whose ``observes`` lists none of these."""


@dataclass(frozen=True)
class Step:
    """One thing that happens at the table, and what its event has to say. ``data`` is what is compared."""

    what: str
    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Game:
    """A game as the scripts play it: an even-money bet, a result by which it wins and one by which it loses."""

    name: str
    ruleset: str
    bet: str
    wins: Step
    loses: Step


GAMES: Mapping[str, Game] = {
    "craps": Game(
        "craps",
        "fr-craps",
        "win",
        Step("The dice come to rest on 4 and 3: a natural", "dice.thrown", {"faces": [4, 3]}),
        Step("The dice come to rest on 1 and 1: craps", "dice.thrown", {"faces": [1, 1]}),
    ),
    "french_roulette": Game(
        "french_roulette",
        "fr-roulette",
        "rouge",
        Step("The ball comes to rest in 9, red", "ball.settled", {"pocket": "9"}),
        Step("The ball comes to rest in 10, black", "ball.settled", {"pocket": "10"}),
    ),
    "boule": Game(
        "boule",
        "fr-boule",
        "rouge",
        Step("The ball comes to rest in 3, red", "boule.settled", {"number": 3}),
        Step("The ball comes to rest in 2, black", "boule.settled", {"number": 2}),
    ),
}


@dataclass(frozen=True)
class Script:
    """What is played and what is expected. ``findings`` have to be there, ``allowed`` may be; any other is a fault.

    ``what_happens`` says what is done to the table system while it plays. ``checks`` names what is looked at beyond the
    steps: see ``judge``.
    """

    name: str
    title: str
    what_happens: str
    findings: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    checks: tuple[str, ...] = ()
    may_lack: bool = False  # whether steps may be missing, because the script has events lost


SCRIPTS: tuple[Script, ...] = (
    Script("orderly", "An orderly session", "Nothing goes wrong."),
    Script(
        "lossy",
        "Events are lost for good",
        "After the first payout, delete from the table system what it has recorded of the second stake and has not sent"
        " yet, as a broken disk would. It has to declare the loss with events.lost, and go on.",
        findings=frozenset({"events-lost"}),
        checks=("lost",),
        may_lack=True,
    ),
    Script(
        "offline",
        "Offline for two hours",
        "Cut the network before the session begins and play it with the line down; connect again two hours later. Each"
        " event has to keep the time at which it happened.",
        checks=("kept-time",),
    ),
    Script(
        "clock",
        "A clock that is wrong",
        "Set the clock of the table system ten minutes ahead before the session, and leave it so to the end. The table"
        " system sends what its clock says and repairs nothing; the record notices.",
        findings=frozenset({"clock-ahead"}),
        allowed=frozenset({"clock-went-back"}),
    ),
    Script(
        "rotation",
        "The key is rotated in the middle",
        "After the first payout, give the table system another key of the same sandbox and revoke the first"
        " (createkey --rotate). Nothing is restarted, nothing is missing.",
        checks=("two-keys",),
    ),
    Script(
        "repeated",
        "The same request again",
        "Cut the connection just after a request was sent and before its answer comes, so that the table system has to"
        " send the same again. Nothing may stand twice.",
        checks=("several-batches",),
    ),
    Script(
        "sequence",
        "A number that is not next",
        "After the first payout, kill the table system and start it again. It goes on with the number that the record"
        " takes next, and renumbers nothing.",
        checks=("several-batches",),
    ),
    Script(
        "misspelt",
        "A field that is misspelt",
        "Have the table system send the first stake as 'stak' once: the record refuses it and stores nothing. Correct"
        " the field, and send it under the same number.",
    ),
    Script(
        "amounts",
        "12.50 in minor units",
        "Nothing goes wrong; the second stake is 12.50, which is 1250 minor units and no other number.",
        checks=("integers",),
    ),
)
"""The scripts, in the order in which they are played."""


def steps_of(game: Game) -> list[Step]:
    """Return what happens at the table in every script."""
    return [
        Step("The table opens", "session.opened", {"game": game.name, "currency": "EUR", "float": 5_000_000}),
        Step(f"Player p1 stakes 10.00 on {game.bet}", "wager.placed", {"bet": game.bet, "stake": 1000, "player": "p1"}),
        game.wins,
        Step("p1 is paid 10.00 and has the stake back", "payout.made", {"winnings": 1000, "stake_returned": 1000}),
        Step(f"Player p1 stakes 12.50 on {game.bet}", "wager.placed", {"bet": game.bet, "stake": 1250, "player": "p1"}),
        game.loses,
        Step("The table closes; the rack has 50002.50", "session.closed", {"float": 5_000_250}),
    ]
