"""The state of a table between two events: everything that a replay remembers.

All of it is plain data, so that it can be saved after any event and restored (a snapshot); field names are part of that
format. The articles change it; here is only what they share: to win, to lose, to give back, and to report a finding.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, TypeAlias

from msgspec import Struct, field

from settlement.catalogue import RULES
from settlement.catalogue.rule import WAGER, WITHDRAWAL, Rule
from settlement.finding import Fact, Finding
from settlement.money import EVEN, Odds, Rounding, share
from settlement.provisions import WITHDRAWAL_PROVISIONS, wager_provision

Status: TypeAlias = Literal[
    "open",
    "won",
    "lost",
    "withdrawn",
    "void",
    "awaiting_decision",
    "imprisoned",
    "released",
    "refunded_half",
    "refunded_last_coup",
]


UNDECIDED = ("open", "awaiting_decision", "imprisoned")
"""The statuses of a wager that is still in play."""


class Session(Struct, frozen=True, kw_only=True):
    """The content of ``session.opened``, with every reading resolved to its value. Amounts in minor units."""

    casino: str
    table: str
    gaming_day: date
    game: str
    ruleset: str
    currency: str
    observes: frozenset[str]
    minimum: int
    maximum: dict[str, int]
    seats: tuple[str, ...]
    payout_unit: int
    commission_rounding: Rounding
    commission_refunded_on_withdrawal: bool
    zero_rule: Literal["choice", "half", "lose"]
    release_value: Literal["halving", "full"]
    throw_delay_s: int
    seat_limit: int | None

    # Four of the families again, as flags: they are tested at nearly every event.
    calls: bool
    collections: bool
    custody: bool
    wheel: bool


class Wager(Struct, array_like=True, gc=False):
    """One stake on one chance, from its placement to its payout.

    ``stake`` is what was placed, ``standing`` what is left of it after withdrawals; all amounts are in minor units.
    ``number`` is the number it was placed on or has travelled to. Every ``…_by`` is the seq of an event, 0 or None if
    there was none.
    """

    id: str
    bet: str
    stake: int
    standing: int
    placed_by: int
    player: str | None = None
    seat: str | None = None
    status: Status = "open"
    winnings_due: int = 0
    stake_due: int = 0
    winnings_paid: int = 0
    stake_paid: int = 0
    decided_by: int | None = None
    odds: str | None = None  # at which it won, "7:6"
    result: str | None = None  # the throw or pocket that decided it: "3-4", "17"
    paid_by: int = 0
    changed_by: int = 0
    commission: int = 0
    number: int | None = None
    base: str | None = None
    left_up_from: str | None = None
    pockets: tuple[str, ...] = ()
    which: tuple[int, ...] = ()
    colour: str | None = None

    throws_before: int = 0
    call_before: int = 0
    travelled_by: int = 0  # the throw that sent a come or don't come to its number
    barred_by: int = 0  # the last first-throw 12 of a don't win or don't come
    off_by: int = 0  # the last come-out on which a Québec wager was off
    working: bool = False
    switched_late: bool | None = None
    zeros: int = 0
    zero_by: int = 0  # the last zero that hit it
    announced: int | None = None
    announced_by: int = 0

    @property
    def undecided(self) -> bool:
        return self.status in UNDECIDED


class Ledger(Struct):
    """Both sides of every movement of money that the rules order, in minor units.

    In: stakes, commissions and the bank's winnings. Out: stakes returned or collected, commissions kept or refunded,
    winnings credited to players. The difference must be the undecided stakes.
    """

    stakes: int = 0
    commissions: int = 0
    winnings_of_bank: int = 0
    returned: int = 0
    collected: int = 0
    commissions_kept: int = 0
    winnings_to_players: int = 0

    def imbalance(self, open_stakes: int) -> int:
        """Return by how much the two sides differ, undecided stakes counted; 0 unless the engine is at fault."""
        received = self.stakes + self.commissions + self.winnings_of_bank
        accounted = self.returned + self.collected + self.commissions_kept + self.winnings_to_players
        return received - accounted - open_stakes


class DiceCustody(Struct):
    """Who holds the dice, and which: art. 55-7."""

    first_offer: int = 0
    offer: int = 0  # the event of the last offer
    shooter: str | None = None  # the last seat offered
    declined: bool = False
    removed: bool = False
    throws: int = 0  # in this shooter's turn, voided ones included
    violations: list[int] = []
    successor_excused: bool = False
    seven_out: int = 0  # the throw that lost the dice, until they are offered again
    set_introduced: int = 0
    dice: list[str] = []
    selected_by: int = 0
    selected: list[str] = []


class WheelCoup(Struct):
    """The course of one coup, and what the next must remember of it: art. 57-1."""

    direction: str | None = None
    direction_before: str | None = None  # of the previous coup
    spun_by: int = 0
    spun_before: int = 0
    launched_by: int = 0
    chip_fell: int = 0
    ball_retrieved: bool = False
    stacks_rebuilt: bool = False
    pocket: str | None = None
    settled_by: int = 0
    announced: bool = False
    silence_found: bool = False  # result-not-announced was raised for this result
    delay_found: bool = False  # spin-before-payments-complete was raised for this coup
    collected: bool = False  # a lost stake of this coup was swept
    players_paid: list[str] = []
    ranks_paid: dict[str, int] = {}
    paid_by: dict[str, int] = {}
    last_coup: int = 0
    results_since_last_coup: int = 0


class ColourValue(Struct, frozen=True):
    """The value of one chip of a colour, in minor units; None if nobody declared it."""

    value: int | None
    assigned_by: int


class Table(Struct):
    """Everything that a replay remembers between two events."""

    stream: str = ""
    ruleset: str | None = None
    session: Session | None = None
    events: int = 0
    next_seq: int = 1
    last_seq: int = 0  # of the last event folded; a declared loss may put next_seq further on
    after_loss: bool = False
    clock: datetime | None = None
    closed_by: int = 0

    wagers: dict[str, Wager] = {}
    live: dict[str, None] = {}  # ids of undecided wagers, in order of placement
    due: dict[str, None] = {}  # decided with something to pay, not paid, not yet missed
    swept: dict[str, None] = {}  # lost since the last result, not yet collected
    awaiting: dict[str, None] = {}  # simple chances hit by a zero, waiting for the player's choice
    findings: list[Finding] = []
    ledger: Ledger = field(default_factory=Ledger)

    call: int = 0  # the standing "Rien ne va plus", 0 when bets are open
    called_at: datetime | None = None
    last_call: int = 0
    last_result: int = 0
    result: str = ""  # the last throw or pocket: "3-4", "17"

    point: int | None = None
    point_set_by: int = 0
    point_marked: bool = False
    marker_found: bool = False  # point-marker-missing was raised for this point
    throws: int = 0
    last_throw: int = 0
    voided_by: int = 0  # the last throw, where it was voided
    voiding_flags: list[str] = []
    travelling: dict[str, None] = {}  # come wagers on their way to a number, not recorded as moved yet
    moves_seen: bool = False
    dice: DiceCustody = field(default_factory=DiceCustody)

    wheel: WheelCoup = field(default_factory=WheelCoup)
    staff: list[tuple[str, str]] = []
    seated: list[str] = []
    colours: dict[str, dict[str, ColourValue]] = {}  # colour -> player -> what it stands for
    corrections: list[dict[str, int | str]] = []
    announced: list[int] = []  # the corrections that were known in advance

    def open_session(self) -> Session:
        """Return the session, which every event after the opener has."""
        assert self.session is not None
        return self.session


def find(
    table: Table,
    rule: str,
    *evidence: int,
    wager: Wager | None = None,
    wager_id: str | None = None,
    expected: int | str | None = None,
    recorded: int | str | None = None,
    severity: str | None = None,
    **facts: Fact,
) -> None:
    """Report a finding of ``rule``. The last of ``evidence`` is the event that completes it; zeros are left out.

    ``expected`` and ``recorded`` are amounts in minor units or text. ``severity`` overrides the rule's own.
    """
    known = RULES[rule]
    if wager is not None:
        wager_id = wager.id
        facts = {"bet": wager.bet, "stake": wager.standing, "player": wager.player, **_placement_of(wager), **facts}
    table.findings.append(
        Finding(
            rule=rule,
            severity=severity or known.severity,
            seq=evidence[-1],
            evidence=tuple(sorted({seq for seq in evidence if seq})),
            wager=wager_id,
            expected=expected,
            recorded=recorded,
            provision=_provision(known, table.ruleset, wager.bet if wager else None),
            after_loss=table.after_loss,
            facts=facts,
            currency=table.session.currency if table.session else "",
        )
    )


def _placement_of(wager: Wager) -> dict[str, Fact]:
    placement: dict[str, Fact] = {}
    if wager.number is not None:
        placement["number"] = wager.number
    if wager.pockets:
        placement["numbers"] = list(wager.pockets)
    if wager.which:
        placement["which"] = list(wager.which)
    return placement


def _provision(rule: Rule, ruleset: str | None, bet: str | None) -> str | None:
    """Return the label of the clause that ``rule`` rests on here: the rule's own, or the bet's."""
    label = rule.provision_in(ruleset)
    if ruleset is None or label not in (WAGER, WITHDRAWAL):
        return label
    if label == WITHDRAWAL and bet is not None and bet in WITHDRAWAL_PROVISIONS.get(ruleset, {}):
        return WITHDRAWAL_PROVISIONS[ruleset][bet]
    return wager_provision(ruleset, bet)


def win(table: Table, wager: Wager, seq: int, odds: Odds) -> None:
    """Let ``wager`` win at ``odds``: its winnings and what is left of its stake are due."""
    unit = table.open_session().payout_unit
    winnings, exact = share(wager.standing, odds, unit)
    wager.odds = str(odds)
    _decide(table, wager, seq, "won", winnings=winnings, stake=wager.standing)
    if not exact:
        find(
            table, "indivisible-stake", wager.placed_by, seq, wager=wager, expected=winnings, odds=wager.odds, unit=unit
        )


def lose(table: Table, wager: Wager, seq: int) -> None:
    """Let ``wager`` lose what is left of its stake."""
    wager.status = "lost"
    wager.decided_by = wager.changed_by = seq
    wager.result = table.result
    table.ledger.collected += wager.standing
    del table.live[wager.id]
    table.swept[wager.id] = None
    if table.travelling:
        table.travelling.pop(wager.id, None)


def give_back(table: Table, wager: Wager, seq: int, status: Status, part: Odds) -> None:
    """End ``wager`` without winnings and with ``part`` of its stake due; the house collects the rest.

    A whole stake is due to the minor unit, although no multiple of the payout unit: only parts are rounded.
    """
    unit = table.open_session().payout_unit
    stake, exact = share(wager.standing, part, unit)
    if part == EVEN:
        stake = wager.standing
    _decide(table, wager, seq, status, winnings=0, stake=stake)
    if not exact:
        find(table, "indivisible-stake", wager.placed_by, seq, wager=wager, expected=stake, odds=str(part), unit=unit)


def _decide(table: Table, wager: Wager, seq: int, status: Status, *, winnings: int, stake: int) -> None:
    wager.status = status
    wager.decided_by = wager.changed_by = seq
    wager.result = table.result
    wager.winnings_due = winnings
    wager.stake_due = stake
    ledger = table.ledger
    ledger.winnings_of_bank += winnings
    ledger.winnings_to_players += winnings
    ledger.returned += stake
    ledger.collected += wager.standing - stake
    del table.live[wager.id]
    if winnings or stake:
        table.due[wager.id] = None
    if table.travelling:
        table.travelling.pop(wager.id, None)
