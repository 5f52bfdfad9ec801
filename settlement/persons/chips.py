"""Questions about chips: from where they came that somebody cashed, and where those are that somebody bought.

    chips-from-elsewhere   cashed beyond all that he can have had
    chips-pooled           several cash chips that were not theirs, together what another bought and still should have
    chips-outstanding      bought, and for a month neither cashed nor staked

A stake that nobody is known to have laid, and chips that nobody is known to have bought, may have been anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct

from settlement.persons.day import Day, Person
from settlement.persons.exchanges import NOBODY, Exchange
from settlement.persons.holdings import Holdings, left_with
from settlement.persons.money_finding import MoneyFinding, finding_of
from settlement.persons.thresholds import (
    MINIMAL_PLAY_PERCENT,
    OUTSTANDING_AFTER,
    PLAYED_TIMES,
    POOLED_FOREIGN_PERCENT,
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
        excess = _excess(day, person, holdings)
        has_played = person.total_bought or person.cash_staked or person.play.wagers
        if excess < threshold * (PLAYED_TIMES if has_played else 1):
            continue
        exchanges = _of(day, player)
        last = max(index for index, each in enumerate(exchanges) if each.direction == "out")
        yield finding_of(
            "chips-from-elsewhere",
            day,
            exchanges[: last + 1],
            expected=person.total_cashed - excess,
            recorded=person.total_cashed,
            player=player,
        )


def _excess(day: Day, person: Person, holdings: Holdings) -> int:
    """Return by how much what a player cashed is certainly more than he had, 0 if it need not be."""
    if person.player == NOBODY or not person.total_cashed:
        return 0
    kept, today = holdings.of(person.player).most, left_with(day, person.player).most
    return 0 if kept is None or today is None else min(person.total_cashed, max(0, -(kept + today)))


class _Runner(Struct, frozen=True):
    """Somebody who cashed chips that were not his: how much of it, and his last exchange."""

    player: str
    excess: int
    last: Exchange


def pooled(day: Day, threshold: int | None, holdings: Holdings) -> Iterator[MoneyFinding]:
    """Yield a question about each group that cashed, at one desk, just what another player still should have.

    Each of the group stays below ``threshold`` and hardly played: friends for whom somebody buys play with it. The
    other bought chips for at least ``threshold``.
    """
    if threshold is None:
        return
    runners: dict[str, list[_Runner]] = {}
    for player, person in day.persons.items():
        excess, cashed = _excess(day, person, holdings), person.total_cashed
        hardly_played = (person.play.handle + person.play.undecided) * 100 < cashed * MINIMAL_PLAY_PERCENT
        if cashed < threshold and hardly_played and excess * 100 >= cashed * POOLED_FOREIGN_PERCENT:
            last = [each for each in _of(day, player) if each.direction == "out"][-1]
            runners.setdefault(last.where, []).append(_Runner(player, excess, last))
    for _where, at_desk in sorted(runners.items()):
        for group in _in_a_row(sorted(at_desk, key=lambda each: each.last.order)):
            yield from _pooled_by(day, group, threshold)


def _in_a_row(runners: Sequence[_Runner]) -> Iterator[list[_Runner]]:
    """Yield those who cashed closely one after the other, if there are enough of them."""
    group: list[_Runner] = []
    for each in runners:
        if group and each.last.at - group[-1].last.at > POOLED_WITHIN:
            if len(group) >= POOLED_PLAYERS:
                yield group
            group = []
        group.append(each)
    if len(group) >= POOLED_PLAYERS:
        yield group


def _pooled_by(day: Day, group: Sequence[_Runner], threshold: int) -> Iterator[MoneyFinding]:
    """Yield the question about a group, if what it cashed is nearly what one player should still have."""
    together, names = sum(each.excess for each in group), {each.player for each in group}
    near = []
    for player, person in day.persons.items():
        if player == NOBODY or player in names or person.total_bought < threshold:
            continue
        bought = [each for each in _of(day, player) if each.direction == "in"]
        off = abs(person.chips_left - together)
        if bought[0].at < group[0].last.at and off * 100 <= person.chips_left * (100 - POOLED_NEAR_PERCENT):
            near.append((off, player))
    if not near:
        return
    _off, source = min(near)
    bought = [each for each in _of(day, source) if each.direction == "in" and each.at < group[-1].last.at]
    yield finding_of(
        "chips-pooled",
        day,
        [*bought, *(each.last for each in group)],
        expected=day.persons[source].chips_left,
        recorded=together,
        player=source,
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
