"""The money of the players of one session: a projection of its stream, which is read once.

It is the projection of the session's figures, and notes on the way who bought chips, who staked and who won. Whose a
stake is, its wager says: see ``seats``.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from settlement.catalogue import RULES
from settlement.corrections import Change
from settlement.eprocess.observations import Look, Mark, Observations, Payout
from settlement.events import (
    BuyInRecorded,
    DisputeOpened,
    DisputeSettled,
    Envelope,
    Event,
    GoodwillPaid,
    SessionOpened,
    TipGiven,
    WagerPlaced,
)
from settlement.families import observed
from settlement.finding import Finding
from settlement.interceptors import Fold
from settlement.night.bridge import WagerLine
from settlement.night.figures import SessionProjection
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


class PersonsProjection(SessionProjection):
    """The figures of one session (``figures``), and the money of its players (``money``), from one reading.

    The arguments are those of ``SessionProjection``. Without ``follows_luck`` nobody's luck has a variance.
    """

    def __init__(
        self,
        corrections: Iterable[Change] = (),
        *,
        readings: Mapping[str, Any] | None = None,
        held: Collection[int] = (),
        follows_luck: bool = True,
    ) -> None:
        super().__init__(corrections, readings=readings, held=held, follows_luck=follows_luck)
        self._exchanges: list[Exchange] = []
        self._tips: Counter[str] = Counter()
        self._given_to: dict[str, str] = {}  # goodwill and disputes, by the name of their line
        self._disputed_by: dict[int, str] = {}
        self._variances: defaultdict[str, Sum] = defaultdict(Sum)  # by player
        self._tally: Tally | None = None
        self._table = ""
        self._only_chips = True

    def _noters(self, *, follows_luck: bool) -> list[Mapping[type[Envelope], Callable[[Any], None]]]:
        own: dict[type[Envelope], Callable[[Any], None]] = {
            SessionOpened: self._name_table,
            BuyInRecorded: self._exchange,
            WagerPlaced: self._stake,
            TipGiven: self._tip,
            GoodwillPaid: self._give,
            DisputeOpened: self._dispute,
            DisputeSettled: self._settle,
        }
        return [own, *super()._noters(follows_luck=follows_luck)]

    def feed(self, page: Sequence[Event]) -> None:
        """Read the next events of the stream."""
        super().feed(page)
        self._tally = None

    def lines(self) -> Iterator[tuple[WagerLine, Wager | None]]:
        """Yield what ``SessionProjection.lines`` yields, and tally it by player on the way."""
        tally = Tally(self.state.table.ruleset)
        for line, wager in super().lines():
            tally.add(line, wager, self._player_of(line, wager))
            self._add_payout(tally, line, wager)
            yield line, wager
        self._tally = tally

    def _add_payout(self, tally: Tally, line: WagerLine, wager: Wager | None) -> None:
        """Count a wager that was paid: those of one croupier in one coup together, with the sum of their errors."""
        croupier, seq = self._payer.get(line.wager, (NOBODY, 0))
        if croupier:
            coup = wager.decided_by if wager is not None else None
            tally.paid[coup or seq, croupier] += line.payout_error

    @property
    def evidence(self) -> Observations:
        """What the ledger is fed of the session, through the last event fed; nothing without ``follows_luck``."""
        tally = self._tallied()
        stream = self.state.table.stream
        payouts = [Payout(f"{stream}#{coup}", croupier, error) for (coup, croupier), error in tally.paid.items()]
        marks = [mark for finding in self._findings.values() if (mark := _mark_of(finding)) is not None]
        return replace(self._process.observations, payouts=sorted(payouts), marks=sorted(marks))

    def _tallied(self) -> Tally:
        if self._tally is None:
            deque(self.lines(), maxlen=0)
        assert self._tally is not None, "reading every line leaves a tally"
        return self._tally

    def money(self) -> StreamMoney:
        """Return what is kept of the session, through the last event fed."""
        tally = self._tallied()
        players = {player: sums.play() for player, sums in tally.players.items()}
        for player, amount in self._tips.items():
            players.setdefault(player, Play()).tips = amount
        for player, variance in self._variances.items():
            players.setdefault(player, Play()).variance = variance.value()
        recorded = sum(play.recorded for play in players.values())
        money = StreamMoney(
            stream=self.state.table.stream,
            closed_by=self._closer.seq if self._closer else 0,
            exchanges=list(self._exchanges),
            players=dict(sorted(players.items())),
            pairs=tally.coups.pairs(),
            slips=list(self._slips),
        )
        if self._opener is not None:
            data = self._opener.data
            money.casino, money.table, money.currency = data.casino, data.table, data.currency
            money.gaming_day, money.ruleset = data.gaming_day.isoformat(), data.ruleset
            money.opened_at = self._opener.occurred_at.isoformat()
            money.sees_wagers = "wagers" in observed(data.observes) and not self._lost
            money.rack = self._rack(data.float, recorded, observed(data.observes))
        return money

    def _rack(self, opening: int, recorded: int, families: frozenset[str]) -> Rack:
        table = self.state.table
        return Rack(
            opening=opening,
            fills=self._fills,
            credits=self._credits,
            buy_ins=self._buy_ins,
            recorded=recorded,
            closing=self._closer.data.float if self._closer else None,
            is_followed=table.session is not None
            and families >= FOLLOWS_CHIPS
            and self._only_chips
            and not self._lost
            and not table.bets_out_of_scope,
        )

    def _player_of(self, line: WagerLine, wager: Wager | None) -> str:
        if wager is None:
            return self._given_to.get(line.wager, NOBODY)
        return wager.player or NOBODY

    # What the draws do to each player

    def _draw(self, event: Event, fold: Fold) -> Look | None:
        """Note a draw, and the variance of what it could have changed with each player."""
        look = super()._draw(event, fold)
        if look is not None:
            for player, ahead in look.players.items():
                self._variances[player].add(ahead.squares, ahead.per)
        return look

    # Notes: of each event as it is after its corrections, in order

    def _name_table(self, event: SessionOpened) -> None:
        if event.seq == 1:
            self._table = event.data.table

    def _exchange(self, event: BuyInRecorded) -> None:
        self._exchanges.append(of_buy_in(event, self._table))

    def _stake(self, event: WagerPlaced) -> None:
        data = event.data
        if data.medium not in CHIPS:
            self._only_chips = False
            if data.medium == "cash" and not data.left_up_from:
                player = owner_of(self.state.table, data)  # the wager is not there yet: events are noted before
                self._exchanges.append(of_cash_stake(event, self._table, player or NOBODY))

    def _tip(self, event: TipGiven) -> None:
        self._tips[event.data.player or NOBODY] += event.data.amount

    def _give(self, event: GoodwillPaid) -> None:
        self._given_to[f"#{event.seq}"] = event.data.player or NOBODY

    def _dispute(self, event: DisputeOpened) -> None:
        self._disputed_by[event.seq] = event.data.player or NOBODY

    def _settle(self, event: DisputeSettled) -> None:
        self._given_to[f"#{event.seq}"] = self._disputed_by.get(event.data.opened, NOBODY)


def _mark_of(finding: Finding) -> Mark | None:
    """Return what the ledger is fed of a finding; None if it names no croupier, or says nothing of its own.

    That is a consequence of another, what was put right in time, and what rests on a state after a loss of events or on
    the record alone.
    """
    is_of_its_own = not (finding.causes or finding.after_loss or finding.rule in PUT_RIGHT)
    if not finding.croupier or not is_of_its_own or RULES[finding.rule].raised_by != "engine":
        return None
    return Mark(finding.seq, finding.rule, finding.croupier, finding.player or "")


class Sums:
    """The play of one player while its lines are added."""

    __slots__ = ("carried", "theoretical", "whole")

    def __init__(self) -> None:
        self.whole = Play()
        self.theoretical = Sum()
        self.carried = Sum()

    def play(self) -> Play:
        return replace(self.whole, theoretical=self.theoretical.value(), carried=self.carried.value())


class Tally:
    """The lines of a session by player, and the coups that two of them shared."""

    __slots__ = ("coups", "paid", "players")

    def __init__(self, ruleset: str | None) -> None:
        self.players: dict[str, Sums] = {}
        self.coups = Coups(ruleset)
        self.paid: Counter[tuple[int, str]] = Counter()  # by coup and croupier, the sum of the errors

    def add(self, line: WagerLine, wager: Wager | None, player: str) -> None:
        """Count one line of ``player``; ``wager`` is None for money apart from wagers."""
        sums = self.players.get(player)
        if sums is None:
            sums = self.players[player] = Sums()
        play = sums.whole
        play.handle += line.decided
        play.undecided += line.undecided + line.imprisoned
        play.returned += line.decided - max(0, line.recorded.total)
        play.adjudicated += line.adjudicated.total
        play.recorded += line.recorded.total
        play.unadjudicated += line.unadjudicated
        sums.theoretical.add(line.theoretical.numerator, line.theoretical.denominator)
        if line.carried:
            sums.carried.add(line.carried.numerator, line.carried.denominator)
        if wager is not None:
            play.wagers += 1
            self.coups.add(wager, player)
