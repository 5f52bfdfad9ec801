"""What a projection notes of the events of one session, and what it remembers between two of them.

    events of a step ─► ``Notes``, added to those of the steps before ─┐
    ``Memory``, of the last step ──────────────────────────────────────┼─► figures, money, evidence
    wagers ────────────────────────────────────────────────────────────┘

Notes add up: those of some events, and those of the events after them, are the notes of all of them. So a session that
comes in many steps is read once, and nothing of an earlier step is read to note another. Both are stored between steps:
field names are part of that format.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from msgspec import Struct, field

from settlement.eprocess.observations import Draws
from settlement.events import SessionClosed, SessionOpened
from settlement.night.duty import DutyClock

BUY_INS_LISTED = 500
"""Buy-ins whose events are listed; all are summed."""


class Slip(Struct, frozen=True):
    """One fill or credit: its event, its ``kind`` ("fill" or "credit"), its slip, its amount in minor units."""

    seq: int
    kind: str
    slip: str
    amount: int


class Concession(Struct, frozen=True):
    """Money apart from payouts, ``amount`` in minor units: its event and its ``kind``.

    "goodwill" and "dispute" are the house's, below zero if the player paid; "tip" is the staff's, "orphan" a stake kept
    at the cash desk for its owner: neither is in any win.
    """

    seq: int
    kind: str
    amount: int


class Opener(Struct, frozen=True):
    """What the figures have of ``session.opened``; the opening ``float`` in minor units."""

    casino: str
    table: str
    game: str
    ruleset: str
    gaming_day: str
    currency: str
    float: int
    opened_at: str
    observes: list[str]

    @classmethod
    def of(cls, event: SessionOpened) -> Opener:
        data = event.data
        return cls(
            data.casino,
            data.table,
            data.game,
            data.ruleset,
            data.gaming_day.isoformat(),
            data.currency,
            data.float,
            event.occurred_at.isoformat(),
            list(data.observes),
        )


class Closer(Struct, frozen=True):
    """What the figures have of ``session.closed``; the closing ``float`` in minor units."""

    seq: int
    at: str
    float: int

    @classmethod
    def of(cls, event: SessionClosed) -> Closer:
        return cls(event.seq, event.occurred_at.isoformat(), event.data.float)


class Notes(Draws, omit_defaults=True):
    """What is noted of some events of a session, beside its draws; amounts in minor units.

    ``paid`` has of each wager that was paid who paid it last, and at which event; ``payers`` everybody who paid it, of
    those that several paid. ``of_strangers`` is the money for wagers that were never placed. ``draws`` are those of
    ``Figures``.
    """

    opener: Opener | None = None
    closer: Closer | None = None
    fills: int = 0
    credits: int = 0
    buy_ins: int = 0
    slips: list[Slip] = []
    buy_in_seqs: list[int] = []
    lost: list[tuple[int, int]] = []
    concessions: list[Concession] = []
    of_strangers: dict[str, int] = {}
    draws: list[list[int | str]] = []
    paid: dict[str, tuple[str, int]] = {}
    payers: dict[str, list[str]] = {}

    def add(self, later: Notes) -> None:
        """Add what was noted of the events after these; ``later`` is not to be used any more."""
        self.add_draws(later)
        self.opener = self.opener or later.opener
        self.closer = later.closer or self.closer
        self.fills += later.fills
        self.credits += later.credits
        self.buy_ins += later.buy_ins
        self.slips += later.slips
        self.buy_in_seqs += later.buy_in_seqs[: BUY_INS_LISTED - len(self.buy_in_seqs)]
        self.lost += later.lost
        self.concessions += later.concessions
        for wager_id, amount in later.of_strangers.items():
            self.of_strangers[wager_id] = self.of_strangers.get(wager_id, 0) + amount
        self.draws += later.draws
        for wager_id, paid in later.paid.items():
            payers = later.payers.get(wager_id)
            if wager_id in self.paid:
                for payer in payers or paid[:1]:
                    self._note_payer(wager_id, payer)
            elif payers is not None:
                self.payers[wager_id] = payers
            self.paid[wager_id] = paid

    def note_payout(self, wager_id: str, payer: str, seq: int) -> None:
        """Note who paid a wager, at event ``seq``."""
        self._note_payer(wager_id, payer)
        self.paid[wager_id] = (payer, seq)

    def _note_payer(self, wager_id: str, payer: str) -> None:
        before = self.paid.get(wager_id)
        if before is None or before[0] == payer:
            return
        payers = self.payers.setdefault(wager_id, [before[0]])
        if payer not in payers:
            payers.append(payer)

    def payouts(self) -> Counter[str]:
        """Return how many wagers everybody has paid. A wager that several paid counts for each of them."""
        once = Counter(payer for payer, _seq in self.paid.values())
        for wager_id, payers in self.payers.items():
            once.update(payers)
            once[self.paid[wager_id][0]] -= 1
        return once


class Memory(Struct):
    """What the projection of a session remembers between two events, beside the state: no more than what is open.

    ``table`` is the code of its table; ``dice_set`` and ``placed_at`` are those of ``eprocess.observations.Recorder``,
    of the wagers that something is pending on.
    """

    duty: DutyClock = field(default_factory=DutyClock)
    table: str = ""
    dice_set: str = ""
    placed_at: dict[str, datetime] = {}
