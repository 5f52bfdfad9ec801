"""The state of a table between two events: everything that a replay remembers.

All of it is plain data, so that it can be saved after any event and restored (a snapshot); field names are part of that
format. The articles change it. ``deciding`` and ``findings`` have what they share: to win, to lose, to give back, and
to report a finding.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct, field

from settlement.entries import Account as Account
from settlement.entries import Act as Act
from settlement.entries import Move as Move
from settlement.entries import PendingAct as PendingAct
from settlement.finding import Finding, FindingRef
from settlement.money import Rounding

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
    "out_of_scope",  # a bet that the text does not speak of: not adjudicated
]


S = TypeVar("S", bound=Struct)

UNDECIDED = ("open", "awaiting_decision", "imprisoned")
"""The statuses of a wager that is still in play."""

GAINS_NOTHING = frozenset((*UNDECIDED, "void", "withdrawn", "out_of_scope"))
"""The statuses of a wager by which nobody has won or lost anything: no draw has decided its stake."""


def _assigned_by_slot(struct: type[S]) -> type[S]:
    """Let the fields of ``struct`` be assigned as those of any class with slots, in a third of the time.

    msgspec has a function of its own for it, which only tells the garbage collector when a field becomes a container.
    It need not know: what is marked so is plain data, of which no part refers back to the whole. A replay assigns some
    ten fields for each event.
    """
    struct.__setattr__ = object.__setattr__  # type: ignore[method-assign]
    struct.__delattr__ = object.__delattr__  # type: ignore[method-assign]  # both are one function of a type
    return struct


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
    call_tolerance_ms: int
    commission_unit: int
    seat_limit: int | None
    result_slip_s: int
    settled: tuple[str, ...] = ()  # the readings that the register itself decides

    # Four of the families again, as flags: they are tested at nearly every event.
    calls: bool
    collections: bool
    custody: bool
    wheel: bool


@_assigned_by_slot
class Wager(Struct, array_like=True, gc=False):
    """One stake on one chance, from its placement to its payout.

    ``stake`` is what was placed, ``standing`` what is left of it after withdrawals; all amounts are in minor units.
    ``player`` is whose it is (``seats.owner_of``), None if that is not known; ``seat`` is where it was laid from.
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

    throws_before: int = 0  # the last throw before it, a voided one included
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
    account: Account | None = None
    is_swept: bool = False  # lies in the bank, lost or not

    payer: str | None = None  # who made its last payout: None if there was none, "" if nobody knows who
    void_by: tuple[FindingRef, ...] = ()  # the findings that made it void

    @property
    def undecided(self) -> bool:
        return self.status in UNDECIDED


class StakeChange(Struct, frozen=True, array_like=True, gc=False):
    """What was done to a wager before the call of a coup, kept until the call: its clock may be later.

    ``amount`` is what a withdrawal took back, in minor units, ``requested`` what it was to take back, 0 for all. For a
    move they are the number before it, and the throws that the wager had seen on that number. ``was_swept``: the stake
    was in the bank before it.
    """

    type: str
    seq: int
    at: datetime
    wager: str
    amount: int = 0
    requested: int = 0
    was_swept: bool = False


class LeftUp(Struct, frozen=True, array_like=True, gc=False):
    """A wager of this coup that plays with the stake of another, ``source``. ``seq`` is the event that says so.

    ``continues``: the payout of ``source`` said it. ``described``: a ``wager.placed`` has described it since.
    """

    source: str
    seq: int
    continues: bool = False
    described: bool = False


@_assigned_by_slot
class Ledger(Struct, gc=False):
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


@_assigned_by_slot
class DiceCustody(Struct, gc=False):
    """Who holds the dice, and which: art. 55-7."""

    first_offer: int = 0
    offer: int = 0  # the event of the last offer
    shooter: str | None = None  # the last seat offered
    player: str | None = None  # who sits there, if the offer or the seating says so
    declined: bool = False
    removed: bool = False
    left: bool = False
    throws: int = 0  # in this shooter's turn, voided ones included
    violations: list[int] = []  # of the throwing rules, in this turn
    successor_excused: bool = False
    seven_out: int = 0  # the throw that lost the dice, until they are offered again
    set_introduced: int = 0
    dice: list[str] = []
    selected_by: int = 0
    selected: list[str] = []


class EarlyPayment(Struct, frozen=True, array_like=True, gc=False):
    """A payment made while ``lying`` lost stakes had not been swept; ``player`` and ``payer`` as far as known."""

    seq: int
    lying: int
    player: str | None = None
    payer: str = ""


@_assigned_by_slot
class WheelCoup(Struct, gc=False):
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
    early: list[EarlyPayment] = []  # payments since then, while others still lay
    players_paid: list[str] = []
    ranks_paid: dict[str, int] = {}
    paid_by: dict[str, int] = {}
    last_coup: int = 0
    results_since_last_coup: int = 0
    turned: bool = False  # the wheel, since the last counted result
    launched: bool = False  # the ball, since then or since the spin was voided


class ColourValue(Struct, frozen=True):
    """The value of one chip of a colour, in minor units; None if nobody declared it."""

    value: int | None
    assigned_by: int


class ActedOn(Struct):
    """An event that a correction, an annulment or a voiding names, as far as they are judged by it."""

    kind: Literal["opener", "close", "result", "call", "other"]
    touches: list[str]  # the wagers it concerns
    fits: list[int] = []  # the corrections whose data fit its type
    removed: int = 0  # the change by which it never happened
    call: int = 0  # the call that stood before it
    called_at: datetime | None = None
    type: str = ""
    at: datetime | None = None
    reads: dict[int, list[int | str]] = {}  # by change: the fields that differ by it, or the result it takes away
    counts: bool = False  # a result that decided something
    is_announced: bool = False


class Difference(Struct):
    """A comparison with the same stream under one other condition: without a change, or under the session's own params.

    ``table`` is the state there; None while it is no other than here, but for the wagers ``apart``. ``only_here`` and
    ``only_there`` are the findings raised since. ``finding`` is what it is told in.
    """

    table: Table | None
    finding: Finding | None = None
    waits: bool = False  # the change waits for its approval
    revised: bool = False  # the finding says more than when it was last taken
    entry: int = 0  # the event that reads otherwise by the change
    cause: FindingRef | None = None  # what names the finding of the change, None if it has no effect here
    has_consequences: bool = False  # findings here hold only by the change
    apart: list[Wager] = []
    absent: list[str] = []  # ids of wagers that were never placed there
    only_here: list[FindingRef] = []
    only_there: list[FindingRef] = []
    ended_at: int = 0  # the event at which the comparison was given up, 0 if it was not


@_assigned_by_slot
class Table(Struct, gc=False):
    """Everything that a replay remembers between two events."""

    stream: str = ""
    ruleset: str | None = None
    session: Session | None = None
    events: int = 0
    next_seq: int = 1
    last_seq: int = 0  # of the last event folded; a declared loss may put next_seq further on
    after_loss: bool = False
    loss: FindingRef | None = None  # the first loss that was found
    clock: datetime | None = None
    opened_by: int = 0
    closed_by: int = 0
    coups_end_by: Literal["result", "close"] = "result"

    wagers: dict[str, Wager] = {}
    live: dict[str, None] = {}  # ids of undecided wagers, in order of placement
    due: dict[str, None] = {}  # decided with something to pay, not paid, not yet missed
    swept: dict[str, None] = {}  # lost since the last result, not yet collected
    zero_by: int = 0  # the last zero
    awaiting: dict[str, None] = {}  # simple chances hit by a zero, waiting for the player's choice
    findings: list[Finding] = []
    amended: list[Finding] = []  # given before, and now other than they were
    ledger: Ledger = field(default_factory=Ledger)

    call: int = 0  # the standing "Rien ne va plus", 0 when bets are open
    called_at: datetime | None = None
    last_call: int = 0
    stake_changes: list[StakeChange] = []  # since the last result, before the call, where calls are observed
    last_result: int = 0
    result: str = ""  # the last throw or pocket: "3-4", "17"

    coup_began: int = 0  # the last counted result or close
    moved: dict[str, None] = {}  # wagers whose money is judged when the coup ends
    left_up: dict[str, LeftUp] = {}  # by the id of the wager that plays on
    taken: dict[str, int] = {}  # swept in this coup without being lost, and by which event
    strangers: dict[str, Account] = {}  # of ids under which nothing was placed
    disputes: dict[int, str | None] = {}  # dispute.opened -> its wager
    disputed_by: dict[int, str] = {}  # dispute.opened -> its player
    settled: list[int] = []  # the disputes that were settled
    acts: dict[str, PendingAct] = {}  # that were wrong in this coup, by event type and what it is about

    point: int | None = None
    point_set_by: int = 0
    point_marked: bool = False
    marker_found: bool = False  # point-marker-missing was raised for this point
    throws: int = 0  # the last throw, a voided one included
    last_throw: int = 0
    voided_by: int = 0  # the last throw, where it was voided
    voiding_flags: list[str] = []
    travelling: dict[str, None] = {}  # come wagers on their way to a number, not recorded as moved yet
    off_and_on: dict[str, None] = {}  # come wagers that the last throw decided on their number
    moves_seen: bool = False
    dice: DiceCustody = field(default_factory=DiceCustody)
    dice_before: DiceCustody | None = None  # before the first offer since the last throw that was wrong

    wheel: WheelCoup = field(default_factory=WheelCoup)
    staff: list[tuple[str, str]] = []
    seated: list[str] = []
    seat_of: dict[str, str] = {}  # by player
    standing: list[str] = []  # players without a seat who were found to be too many
    staff_judged: bool = False  # at a coup, and it has not changed since
    chief_missed: bool = False  # there was no chef de table at the last coup, and it was found
    croupier_missed: bool = False  # likewise no croupier
    staff_exceeded: bool = False  # likewise too many of one role
    colours: dict[str, dict[str, ColourValue]] = {}  # colour -> player -> what it stands for
    tallies: dict[str, int] = {}  # what a ruleset counts over the session, by names of its own
    bets_out_of_scope: list[str] = []  # the words of the bets that the text does not speak of
    corrections: list[dict[str, int | str]] = []
    announced: list[int] = []  # the changes to earlier events that were known in advance
    held: list[int] = []  # those of them that are known to have no effect
    found: list[int] = []  # those that turned out to have none, which this reading still gives them
    acted_on: dict[int, ActedOn] = {}  # by seq
    counted: int = 0  # the last counted result, followed where there are changes to earlier events
    money: list[tuple[int, str]] = []  # paid, taken back or swept since: event and wager
    last_money: dict[str, int] = {}  # the last such event of each wager that a change may touch, 0 for none
    read: int = 0  # the last result, whether it counted or not, followed likewise
    differences: dict[int, Difference] = {}  # by the seq of the change; 0: the session's own params

    on_duty: str | None = None  # the croupier; None if there are several, or none is known
    first_of: dict[str, tuple[int, FindingRef]] = {}  # by incidents.lasting: since which event, and its first finding
    no_results: list[FindingRef] = []  # the pockets or dice that cannot be, of this coup
    found_at_once: list[Finding] = []  # of this coup, whose cause may turn out to be a payout judged when it ends

    def open_session(self) -> Session:
        """Return the session, which every event after the opener has."""
        assert self.session is not None
        return self.session

    def sees(self, family: str) -> bool:
        """Whether the session observes ``family``: only then is the absence of an event a fact."""
        return family in self.open_session().observes
