"""The money of the players of one session: a projection of its stream, which is read once.

It is the projection of the session's figures, and notes on the way who bought chips, who staked and who won. Whose a
stake is, its wager says: see ``seats``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec.structs import replace

from settlement.catalogue import RULES
from settlement.eprocess.observations import Look, Mark, Observations, Payout
from settlement.events import (
    BuyInRecorded,
    DisputeOpened,
    DisputeSettled,
    Envelope,
    Event,
    GoodwillPaid,
    TipGiven,
    WagerPlaced,
)
from settlement.families import observed
from settlement.finding import Finding
from settlement.interceptors import Fold
from settlement.night.bridge import LineSum, WagerLine, Win
from settlement.night.figures import SessionProjection, Sums
from settlement.night.notes import Notes, Opener
from settlement.persons.exchanges import NOBODY, Exchange, of_buy_in, of_cash_stake
from settlement.persons.opposing import Coups
from settlement.persons.stream_money import Play, Rack, StreamMoney
from settlement.seats import owner_of
from settlement.state import Wager
from settlement.sums import Sum

FOLLOWS_CHIPS = frozenset({"wagers", "results", "payouts", "bank"})
"""The event families without which nobody can say what a rack should hold."""

CHIPS = ("chips", "plaques")

PUT_RIGHT = ("act-put-right", "payout-put-right")
"""The rules about what was put right in time."""


class PersonNotes(Notes, omit_defaults=True):
    """What is noted of some events of a session, with the money of its players; amounts in minor units.

    ``given`` is who got goodwill, by event; ``disputed_by`` who opened a dispute, and ``settled`` which dispute a
    settlement is of, by event. ``variances`` are those of the luck of each player's stakes. ``other_media``: something
    else than chips was staked. ``marks`` has of each finding the mark that it is by what is known now, if it is one.
    """

    exchanges: list[Exchange] = []
    tips: dict[str, int] = {}
    given: dict[int, str] = {}
    disputed_by: dict[int, str] = {}
    settled: dict[int, int] = {}
    variances: dict[str, Sum] = {}
    other_media: bool = False
    marks: dict[str, Mark | None] = {}

    def add(self, later: PersonNotes) -> None:  # type: ignore[override]  # notes of one kind are added up
        super().add(later)
        self.exchanges += later.exchanges
        for player, amount in later.tips.items():
            self.tips[player] = self.tips.get(player, 0) + amount
        self.given |= later.given
        self.disputed_by |= later.disputed_by
        self.settled |= later.settled
        for player, variance in later.variances.items():
            self.variances.setdefault(player, Sum()).add_all(variance)
        self.other_media |= later.other_media
        self.marks |= later.marks

    def given_to(self) -> dict[str, str]:
        """Return who got goodwill or had a dispute settled, by the name of the line of that money."""
        to = {f"#{seq}": player for seq, player in self.given.items()}
        for seq, opened in self.settled.items():
            to[f"#{seq}"] = self.disputed_by.get(opened, NOBODY) if opened < seq else NOBODY
        return to


class PersonsProjection(SessionProjection):
    """The figures of one session (``figures``), and the money of its players (``money``), from one reading.

    The arguments are those of ``SessionProjection``. Without ``follows_luck`` nobody's luck has a variance.
    """

    notes: PersonNotes

    @staticmethod
    def new_notes() -> PersonNotes:
        return PersonNotes()

    def _noters(self, *, follows_luck: bool) -> list[Mapping[type[Envelope], Callable[[Any], None]]]:
        own: dict[type[Envelope], Callable[[Any], None]] = {
            BuyInRecorded: self._exchange,
            WagerPlaced: self._stake,
            TipGiven: self._tip,
            GoodwillPaid: self._give,
            DisputeOpened: self._dispute,
            DisputeSettled: self._settle,
        }
        return [own, *super()._noters(follows_luck=follows_luck)]

    def sums(self) -> PersonSums:
        """Return what the lines add up to, by player."""
        return cast(PersonSums, super().sums())

    def _new_sums(self) -> PersonSums:
        return PersonSums(self.state.table.ruleset, self.notes)

    @property
    def evidence(self) -> Observations:
        """What the ledger is fed of the session, through the last event fed; nothing without ``follows_luck``."""
        stream = self.state.table.stream
        paid = self.sums().paid
        payouts = [Payout(f"{stream}#{coup}", croupier, error) for (coup, croupier), error in paid.items()]
        marks = [mark for mark in self.notes.marks.values() if mark is not None]
        return replace(self.notes.observations, payouts=sorted(payouts), marks=sorted(marks))

    def money(self) -> StreamMoney:
        """Return what is kept of the session, through the last event fed."""
        sums, notes = self.sums(), self.notes
        opener, closer = notes.opener, notes.closer
        players = sums.plays()
        for player, amount in notes.tips.items():
            players.setdefault(player, Play()).tips = amount
        for player, variance in notes.variances.items():
            players.setdefault(player, Play()).variance = variance.value()
        money = StreamMoney(
            stream=self.state.table.stream,
            closed_by=closer.seq if closer else 0,
            exchanges=list(notes.exchanges),
            players=dict(sorted(players.items())),
            pairs=sums.coups.pairs(),
            slips=list(notes.slips),
        )
        if opener is not None:
            money.casino, money.table, money.currency = opener.casino, opener.table, opener.currency
            money.gaming_day, money.ruleset = opener.gaming_day, opener.ruleset
            money.opened_at = opener.opened_at
            money.sees_wagers = "wagers" in observed(opener.observes) and not notes.lost
            money.rack = self._rack(opener, sum(play.recorded for play in players.values()))
        return money

    def _rack(self, opener: Opener, recorded: int) -> Rack:
        table, notes = self.state.table, self.notes
        return Rack(
            opening=opener.float,
            fills=notes.fills,
            credits=notes.credits,
            buy_ins=notes.buy_ins,
            recorded=recorded,
            closing=notes.closer.float if notes.closer else None,
            is_followed=table.session is not None
            and observed(opener.observes) >= FOLLOWS_CHIPS
            and not notes.other_media
            and not notes.lost
            and not table.bets_out_of_scope,
        )

    # What the draws do to each player

    def _draw(self, event: Event, fold: Fold) -> Look | None:
        """Note a draw, and the variance of what it could have changed with each player."""
        look = super()._draw(event, fold)
        if look is not None:
            for player, ahead in look.players.items():
                self.notes.variances.setdefault(player, Sum()).add(ahead.squares, ahead.per)
        return look

    # Notes: of each event as it is after its corrections, in order; and of what it was found to complete

    def note_findings(self) -> None:
        """Note what the ledger is fed of the findings that the state has now."""
        for finding in self.state.new_findings:
            self.notes.marks[f"{finding.rule} {finding.seq} {finding.wager or ''}"] = _mark_of(finding)

    def _exchange(self, event: BuyInRecorded) -> None:
        self.notes.exchanges.append(of_buy_in(event, self._table))

    def _stake(self, event: WagerPlaced) -> None:
        data = event.data
        if data.medium not in CHIPS:
            self.notes.other_media = True
            if data.medium == "cash" and not data.left_up_from:
                player = owner_of(self.state.table, data)  # the wager is not there yet: events are noted before
                self.notes.exchanges.append(of_cash_stake(event, self._table, player or NOBODY))

    def _tip(self, event: TipGiven) -> None:
        tips, player = self.notes.tips, event.data.player or NOBODY
        tips[player] = tips.get(player, 0) + event.data.amount

    def _give(self, event: GoodwillPaid) -> None:
        self.notes.given[event.seq] = event.data.player or NOBODY

    def _dispute(self, event: DisputeOpened) -> None:
        self.notes.disputed_by[event.seq] = event.data.player or NOBODY

    def _settle(self, event: DisputeSettled) -> None:
        self.notes.settled[event.seq] = event.data.opened


def _mark_of(finding: Finding) -> Mark | None:
    """Return what the ledger is fed of a finding; None if it names no croupier, or says nothing of its own.

    That is a consequence of another, what was put right in time, and what rests on a state after a loss of events or on
    the record alone.
    """
    is_of_its_own = not (finding.causes or finding.after_loss or finding.rule in PUT_RIGHT)
    if not finding.croupier or not is_of_its_own or RULES[finding.rule].raised_by != "engine":
        return None
    return Mark(finding.seq, finding.rule, finding.croupier, finding.player or "")


class PersonSums(Sums):
    """What the lines of a session add up to, with the coups that two players shared, and the errors of each croupier.

    ``paid`` is by coup and croupier: the wagers that one paid in one coup together, and the sum of their errors.
    """

    def __init__(self, ruleset: str | None, notes: PersonNotes) -> None:
        super().__init__()
        self.coups = Coups(ruleset)
        self.paid: Counter[tuple[int, str]] = Counter()
        self._payers = notes.paid
        self._given_to = notes.given_to()
        self._apart: Counter[str] = Counter()  # lines of money apart from wagers, by player

    def add(self, line: WagerLine, wager: Wager | None, player: str = NOBODY) -> int:
        """Add one line, and return its payout error. The player of a wager is in it."""
        if wager is None:
            player = self._given_to.get(line.wager, NOBODY)
            self._apart[player] += 1
        else:
            player = wager.player or NOBODY
            self.coups.add(wager, player)
        error = super().add(line, wager, player)
        croupier, seq = self._payers.get(line.wager, (NOBODY, 0))
        if croupier:
            coup = wager.decided_by if wager is not None else None
            self.paid[coup or seq, croupier] += error
        return error

    def plays(self) -> dict[str, Play]:
        """Return the play of each player, without tips and the variance of his luck."""
        of_players: dict[str, LineSum] = {}
        for (_bet, player), each in self.lines.items():
            of_players.setdefault(player, LineSum()).add_all(each)
        return {
            player: Play(
                wagers=whole.lines - self._apart[player],
                handle=whole.stakes,
                undecided=whole.undecided + whole.imprisoned,
                theoretical=whole.theoretical.value(),
                adjudicated=Win(*whole.adjudicated).total,
                recorded=Win(*whole.recorded).total,
                unadjudicated=whole.unadjudicated,
                carried=whole.carried.value(),
                returned=whole.returned,
            )
            for player, whole in of_players.items()
        }
