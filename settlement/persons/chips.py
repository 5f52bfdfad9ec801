"""Questions about chips: from where they came that somebody cashed, and where those are that somebody bought.

    chips-from-elsewhere   cashed beyond all that he can have had
    chips-pooled           several cash chips that were not theirs, together what another bought and still should have
    chips-outstanding      bought, and for a month neither cashed nor staked

A stake that nobody is known to have laid, and chips that nobody is known to have bought, may have been anybody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from msgspec import Struct

from settlement.persons.day import Day, Person
from settlement.persons.exchanges import NOBODY, Exchange
from settlement.persons.holdings import Holdings, left_with, unnamed
from settlement.persons.money_finding import MoneyFinding, finding_of
from settlement.persons.thresholds import (
    MINIMAL_PLAY_PERCENT,
    OUTSTANDING_AFTER,
    PLAYED_TIMES,
    POOLED_AT_MOST,
    POOLED_FOREIGN_PERCENT,
    POOLED_LEAST_PERCENT,
    POOLED_NEAR_OF_BUYERS_PERCENT,
    POOLED_NEAR_PERCENT,
    POOLED_PLAYERS,
    POOLED_WITHIN,
)


def from_elsewhere(day: Day, threshold: int | None, holdings: Holdings) -> Iterator[MoneyFinding]:
    """Yield a question about each player who cashed at least ``threshold`` more than he can have had.

    Of somebody who bought or staked it has to be several times as much.
    """
    if threshold is None:
        return
    for player, person in day.persons.items():
        exchanges = _of(day, player)
        last = max((index for index, each in enumerate(exchanges) if each.direction == "out"), default=-1)
        excess = _excess(day, person, holdings, exchanges[last]) if last >= 0 else 0
        has_played = person.total_bought or person.cash_staked or person.play.wagers
        if not excess or excess < threshold * (PLAYED_TIMES if has_played else 1):
            continue
        yield finding_of(
            "chips-from-elsewhere",
            day,
            exchanges[: last + 1],
            expected=person.total_cashed - excess,
            recorded=person.total_cashed,
            player=player,
        )


def _excess(day: Day, person: Person, holdings: Holdings, last: Exchange) -> int:
    """Return by how much what a player cashed is certainly more than he had, 0 if it need not be.

    He cashed nothing after ``last``, so he cashed no chips that nobody known bought later.
    """
    kept, today = holdings.of(person.player).most, left_with(day, person.player).most
    if person.player == NOBODY or kept is None or today is None:
        return 0
    late = sum(each.amount for each in _of(day, NOBODY) if each.direction == "in" and each.at > last.at)
    return min(person.total_cashed, max(0, late - kept - today))


class _Runner(Struct, frozen=True):
    """Somebody who cashed ``foreign`` chips, which were not his: likely by ``exchange``; he may have bought others."""

    player: str
    foreign: int
    exchange: Exchange
    has_bought: bool


class _Source(NamedTuple):
    """A player who may have bought the chips that ``group`` cashed: the less they differ (``off``), the likelier."""

    off: int
    player: str
    group: list[_Runner]


def pooled(day: Day, threshold: int | None, holdings: Holdings) -> Iterator[MoneyFinding]:
    """Yield a question about each group that cashed, at one desk, just what another player still should have.

    Each of the group stays below ``threshold``. The other bought chips for at least ``threshold``.
    """
    if threshold is None or not day.shows_all_play:
        return
    runners: dict[str, list[_Runner]] = {}
    for person in day.persons.values():
        runner = _runner(day, person, threshold, holdings)
        if runner is not None:
            runners.setdefault(runner.exchange.where, []).append(runner)
    sources = [each for each in day.persons.values() if each.player != NOBODY and each.total_bought >= threshold]
    found = [
        source
        for at_desk in runners.values()
        for group in _in_a_row(sorted(at_desk, key=lambda each: each.exchange.order), unnamed(day))
        for source in _sources(day, group, sources)
    ]
    named: set[str] = set()
    for source in sorted(found, key=lambda each: each[:2]):
        names = {source.player, *(each.player for each in source.group)}
        if named.isdisjoint(names):
            named |= names
            yield _pooled_by(day, source)


def _runner(day: Day, person: Person, threshold: int, holdings: Holdings) -> _Runner | None:
    """Return what somebody cashed below ``threshold`` that he neither bought, won nor kept; None if it is no runner's.

    A player who bought nothing and played all the same plays with chips that a friend bought.
    """
    kept = holdings.of(person.player)
    foreign = min(person.total_cashed, -person.chips_left - kept.least)
    if person.player == NOBODY or kept.most is None or not threshold * POOLED_LEAST_PERCENT <= foreign * 100:
        return None
    has_bought = person.total_bought + person.cash_staked > 0
    handle = person.play.handle + person.play.undecided
    out = [each for each in _of(day, person.player) if each.direction == "out" and each.amount < threshold]
    is_a_friend = not has_bought and handle * 100 >= person.total_cashed * MINIMAL_PLAY_PERCENT
    if foreign >= threshold or not out or is_a_friend:
        return None
    nearest = min(out, key=lambda each: (abs(each.amount - foreign), each.order))
    return _Runner(person.player, foreign, nearest, has_bought)


def _in_a_row(runners: Sequence[_Runner], unnamed: int) -> Iterator[list[_Runner]]:
    """Yield every group of those who cashed closely one after the other, if what was not theirs is most of it.

    Chips that nobody is known to have had may have been theirs, but of one of them only: ``unnamed`` is how many.
    """
    for first, began in enumerate(runners):
        group, last, together = [began], began, began.foreign
        for each in runners[first + 1 : first + POOLED_AT_MOST]:
            if each.exchange.at - last.exchange.at > POOLED_WITHIN:
                break
            group, last, together = [*group, each], each, together + each.foreign
            if len(group) >= POOLED_PLAYERS and (together - unnamed) * 100 >= together * POOLED_FOREIGN_PERCENT:
                yield group


def _sources(day: Day, group: list[_Runner], bought: Iterable[Person]) -> Iterator[_Source]:
    """Yield who of those that ``bought`` before should still have nearly what the group cashed."""
    together, names = sum(each.foreign for each in group), {each.player for each in group}
    near = POOLED_NEAR_PERCENT if not any(each.has_bought for each in group) else POOLED_NEAR_OF_BUYERS_PERCENT
    for person in bought:
        off = abs(person.chips_left - together)
        if off * 100 <= person.chips_left * (100 - near) and person.player not in names:
            first = next(each for each in _of(day, person.player) if each.direction == "in")
            if first.at < group[0].exchange.at:
                yield _Source(off, person.player, group)


def _pooled_by(day: Day, source: _Source) -> MoneyFinding:
    group = source.group
    bought = [each for each in _of(day, source.player) if each.direction == "in" and each.at < group[-1].exchange.at]
    return finding_of(
        "chips-pooled",
        day,
        [*bought, *(each.exchange for each in group)],
        expected=day.persons[source.player].chips_left,
        recorded=sum(each.foreign for each in group),
        player=source.player,
        players=[each.player for each in group],
    )


def outstanding(day: Day, threshold: int | None, holdings: Holdings) -> Iterator[MoneyFinding]:
    """Yield the question about chips for at least ``threshold`` that nobody has brought back for a month.

    It is asked once, on the gaming day on which the month is over, at the last stream that closed. If the chips outside
    racks and desks have grown by less since then, others brought them back, and nothing is asked here.
    """
    closed = [part for part in day.parts if part.is_closed]
    if threshold is None or not closed or not holdings.last_day:
        return
    last = date.fromisoformat(day.gaming_day) - OUTSTANDING_AFTER
    first = date.fromisoformat(holdings.last_day) - OUTSTANDING_AFTER
    found = []
    for holding in holdings.last_seen(first, last):
        is_new = date.fromisoformat(holding.last_day) > first
        outside = holdings.grown_since(holding.last_day) + day.chips_outstanding
        if is_new and holding.player not in day.persons and threshold <= min(holding.chips.least, outside):
            found.append((holding, outside))
    if not found:
        return
    (most, outside), *others = sorted(found, key=lambda each: (-each[0].chips.least, each[0].player))
    yield MoneyFinding(
        rule="chips-outstanding",
        stream=closed[-1].stream,
        seq=closed[-1].closed_by,
        evidence=(closed[-1].closed_by,),
        currency=day.currency,
        player=most.player,
        expected=0,
        recorded=most.chips.least,
        facts={
            "player": most.player,
            "bought_on": most.last_day,
            "outside": outside,
            "gaming_day": day.gaming_day,
            **({"players": [holding.player for holding, _outside in others]} if others else {}),
        },
    )


def _of(day: Day, player: str) -> list[Exchange]:
    return [each for each in day.exchanges if each.player == player and not each.is_stake]
