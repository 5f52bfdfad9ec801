"""What is due from the exchanges of a gaming day, and the questions that its money asks.

A question is never an accusation. A question that rests on the absence of play comes only where all play was seen,
and where not even the stakes that nobody is known to have laid could be the player's.

No event of the contract records that a person was identified, so ``identified`` has to say who was; whoever is not
among them is found. ``chips`` has the questions about chips.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from settlement.finding import Fact
from settlement.persons.chips import from_elsewhere, outstanding, pooled
from settlement.persons.day import Day, Person, TableRack
from settlement.persons.exchanges import NOBODY, Direction, Exchange
from settlement.persons.holdings import Holdings
from settlement.persons.money_finding import MoneyFinding, finding_of
from settlement.persons.thresholds import (
    CASHED_PERCENT,
    DEFAULTS,
    GROUP_PERCENT,
    GROUP_PLAYERS,
    GROUP_WITHIN,
    MINIMAL_PLAY_PERCENT,
    NOBODY_PERCENT,
    NOBODY_WITHIN,
    OPPOSING_PERCENT,
    SHARED_COUPS,
    SPLIT_EXCHANGES,
    SPLIT_PERCENT,
    WINDOW,
    Thresholds,
)

By: TypeAlias = tuple[str, Direction]
"""A player and a direction: what is bought and what is cashed never add up."""


def findings_of(
    day: Day,
    thresholds: Thresholds = DEFAULTS,
    *,
    identified: Collection[str] = frozenset(),
    holdings: Holdings | None = None,
) -> list[MoneyFinding]:
    """Return the findings and questions of a gaming day, in order of stream, seq, rule and wager.

    ``identified`` are the players whose identity was verified: for them nothing is due and no splitting is asked about
    at the threshold of identification. ``holdings`` are the chips of the gaming days before; without them nobody is
    known to have kept any.
    """
    found: list[MoneyFinding] = []
    holdings = holdings or Holdings()
    identification = thresholds.identification_from.get(day.currency)
    reportable = thresholds.reportable_cash_from.get(day.currency)
    if identification:
        found += _identification(day, identification, identified)
        found += _split_identification(day, identification, reportable, identified)
        found += _split_by_group(day, identification, identified)
    if reportable:
        due = list(_reportable(day, reportable))
        found += due
        found += _split_reports(day, reportable, {(each.player, each.facts["exchange"]) for each in due})
    found += _minimal_play(day, thresholds.play_from(day.currency))
    found += from_elsewhere(day, thresholds.chips_from_elsewhere_from.get(day.currency), holdings)
    found += pooled(day, thresholds.play_from(day.currency), holdings)
    found += outstanding(day, thresholds.chips_outstanding_from.get(day.currency), holdings)
    found += _offsetting(day)
    found += _unmatched_slips(day)
    unique = {finding.order: finding for finding in reversed(found)}
    return sorted(unique.values(), key=lambda finding: finding.order)


def unchecked(day: Day, thresholds: Thresholds = DEFAULTS) -> list[str]:
    """Return what could not be checked: ``exchanges`` for want of a threshold, ``play`` that was not all seen."""
    missing = []
    if day.exchanges and thresholds.play_from(day.currency) is None:
        missing.append("exchanges")
    if not day.shows_all_play or day.unnamed_stakes:
        missing.append("play")
    return missing


# Identification: by gaming day, whatever the means


def _identification(day: Day, threshold: int, identified: Collection[str]) -> Iterator[MoneyFinding]:
    for (player, direction), exchanges in _by_player(_exchanged(day.exchanges)).items():
        if player in identified:
            continue
        for listed in [exchanges] if player != NOBODY else [[each] for each in exchanges]:
            reached = _reached(listed, threshold)
            if reached:
                yield _of_exchanges("identification-due", day, reached, threshold, direction)


def _reached(exchanges: Sequence[Exchange], threshold: int) -> list[Exchange]:
    """Return ``exchanges`` through the one that reaches ``threshold``; none if their sum stays below."""
    total = 0
    for index, exchange in enumerate(exchanges):
        total += exchange.amount
        if total >= threshold:
            return list(exchanges[: index + 1])
    return []


# Reportable cash: in 24 hours


def _reportable(day: Day, threshold: int) -> Iterator[MoneyFinding]:
    """Yield each exchange of the day that brings the 24 hours up to it to a further whole threshold."""
    streams = {part.stream for part in day.parts}
    for (player, direction), exchanges in _by_player(_reported(_with_earlier(day))).items():
        for last, window in _windows(exchanges):
            if last.stream not in streams:
                continue
            listed = [last] if player == NOBODY else window
            total = _sum(listed)
            if total // threshold > (total - last.amount) // threshold:
                yield _of_exchanges("reportable-cash", day, listed, threshold, direction)


def _reported(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """Yield what counts towards a report: what was received in cash, and whatever was paid out."""
    return (each for each in exchanges if each.direction == "out" or each.means == "cash")


def _windows(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, list[Exchange]]]:
    """Yield each exchange with all that lie in the 24 hours up to it, itself the last."""
    first = 0
    for index, exchange in enumerate(exchanges):
        while exchange.at - exchanges[first].at >= WINDOW:
            first += 1
        yield exchange, list(exchanges[first : index + 1])


# Splitting


def _split_identification(
    day: Day, threshold: int, together: int | None, identified: Collection[str]
) -> Iterator[MoneyFinding]:
    """Yield the splitting below the threshold of identification.

    The law counts that threshold by gaming day, so two nights below it are two nights below it: regulars have them
    every week. Over midnight it is asked about from ``together`` on, the amount that the law counts over 24 hours.
    """
    of_day = _by_player(_exchanged(day.exchanges))
    with_earlier = _by_player(_exchanged(_with_earlier(day)))
    days = {each.written: gaming_day for gaming_day, each in day.earlier}
    for (player, direction), exchanges in of_day.items():
        if player == NOBODY:
            yield from _split_by_nobody(day, exchanges, threshold, direction)
        elif player not in identified and _sum(exchanges) < threshold:
            across = _over_midnight(with_earlier[player, direction], days, threshold, together)
            if across:
                yield _split(day, across, threshold, direction, "midnight")
            elif _stops_below(exchanges, threshold):
                yield _split(day, exchanges, threshold, direction, "below")


def _split_reports(day: Day, threshold: int, due: Collection[tuple[str | None, Fact]]) -> Iterator[MoneyFinding]:
    of_day = _by_player(_reported(day.exchanges))
    with_earlier = _by_player(_reported(_with_earlier(day)))
    for (player, direction), exchanges in of_day.items():
        if player == NOBODY:
            yield from _split_by_nobody(day, exchanges, threshold, direction)
        elif (player, direction) not in due:
            window = next(window for last, window in _windows(with_earlier[player, direction]) if last is exchanges[-1])
            if _stops_below(window, threshold):
                yield _split(day, window, threshold, direction, "below")


def _over_midnight(
    exchanges: Sequence[Exchange], days: Mapping[str, str], threshold: int, together: int | None
) -> list[Exchange]:
    """Return the first 24 hours that reach ``together`` over gaming days which each stay below ``threshold``, or none.

    ``days`` has the gaming day of each earlier exchange.
    """
    if together is None:
        return []
    sums: dict[str, int] = {}
    for exchange in exchanges:
        gaming_day = days.get(exchange.written, "")
        sums[gaming_day] = sums.get(gaming_day, 0) + exchange.amount
    for last, window in _windows(exchanges):
        touched = {days.get(each.written, "") for each in window}
        is_of_day = last.written not in days
        if is_of_day and _sum(window) >= together and all(sums[each] < threshold for each in touched):
            return window
    return []


def _stops_below(exchanges: Sequence[Exchange], threshold: int) -> bool:
    total = _sum(exchanges)
    is_near = total < threshold and total * 100 >= threshold * SPLIT_PERCENT
    return is_near and len(exchanges) >= SPLIT_EXCHANGES and len({each.where for each in exchanges}) > 1


def _split_by_nobody(
    day: Day, exchanges: Sequence[Exchange], threshold: int, direction: Direction
) -> Iterator[MoneyFinding]:
    """Yield each time that exchanges near ``threshold`` by nobody known first come close together."""
    near = [each for each in exchanges if each.amount < threshold <= each.amount * 100 // NOBODY_PERCENT]
    group: list[Exchange] = []
    for exchange in near:
        if group and exchange.at - group[-1].at > NOBODY_WITHIN:
            group = []
        group.append(exchange)
        if len(group) == 2:
            yield _split(day, group, threshold, direction, "nobody")


def _split_by_group(day: Day, threshold: int, identified: Collection[str]) -> Iterator[MoneyFinding]:
    """Yield each time that enough named players in a row exchange just less than ``threshold`` at one desk or table.

    Who exchanges more of it on the same day is to be identified anyway, and hides nothing.
    """
    sums: dict[By, int] = {}
    for each in _exchanged(day.exchanges):
        sums[each.player, each.direction] = sums.get((each.player, each.direction), 0) + each.amount
    near: dict[tuple[str, Direction], list[Exchange]] = {}
    for each in _exchanged(day.exchanges):
        is_near = each.amount * 100 >= threshold * GROUP_PERCENT and sums[each.player, each.direction] < threshold
        if is_near and each.player != NOBODY and each.player not in identified:
            near.setdefault((each.where, each.direction), []).append(each)
    for (_where, direction), exchanges in near.items():
        for group in _close_together(exchanges):
            yield _split(day, group, threshold, direction, "group")


def _close_together(exchanges: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """Yield the first exchanges of each crowd, as many as are a group: those that go on after it are of the crowd."""
    group: list[Exchange] = []
    for each in exchanges:
        is_crowd = len(group) >= GROUP_PLAYERS
        if is_crowd and each.at - group[-1].at > GROUP_WITHIN:
            group = []
        elif not is_crowd:
            group = [other for other in group if each.at - other.at <= GROUP_WITHIN]
        group.append(each)
        if len(group) == GROUP_PLAYERS:
            yield list(group)


def _split(day: Day, exchanges: Sequence[Exchange], threshold: int, direction: Direction, pattern: str) -> MoneyFinding:
    players = [each.player for each in exchanges[:-1]] if pattern == "group" else []
    return _of_exchanges("threshold-splitting", day, exchanges, threshold, direction, pattern=pattern, players=players)


# Play


def _minimal_play(day: Day, play_from: int | None) -> Iterator[MoneyFinding]:
    if play_from is None or not day.shows_all_play:
        return
    for player, person in day.persons.items():
        if player == NOBODY or person.total_bought < play_from:
            continue
        most = person.play.handle + person.play.undecided + day.unnamed_stakes
        came_back, means = _came_back(person, most, play_from)
        if not came_back:
            continue
        exchanges = [each for each in day.exchanges if each.player == player and not each.is_stake]
        out = [each for each in exchanges if each.direction == "out"]
        listed = [each for each in exchanges if each.order <= out[-1].order]
        yield finding_of(
            "minimal-play",
            day,
            listed,
            expected=person.total_bought,
            recorded=came_back,
            player=player,
            staked=most,
            means=means,
        )


def _came_back(person: Person, staked: int, play_from: int) -> tuple[int, str | None]:
    """Return what a player who staked ``staked`` at most cashed after minimal play, 0 if it was not; and otherwise.

    Banknotes that come back as a cheque or a card are asked about as soon as the chips were staked less than once.
    """
    bought, cashed = person.total_bought, person.total_cashed
    if staked * 100 < bought * MINIMAL_PLAY_PERCENT and cashed * 100 >= bought * CASHED_PERCENT:
        return cashed, None
    cash = person.bought.get("cash", 0)
    otherwise = {means: person.cashed.get(means, 0) for means in ("cheque", "card")}
    means = max(otherwise, key=lambda each: otherwise[each])
    is_exchanged = sum(otherwise.values()) * 100 >= cash * CASHED_PERCENT
    if cash >= play_from and staked < bought and is_exchanged:
        return sum(otherwise.values()), means
    return 0, None


def _offsetting(day: Day) -> Iterator[MoneyFinding]:
    for each in day.pairs():
        pair = each.total
        if pair.shared < SHARED_COUPS or pair.opposing * 100 < pair.shared * OPPOSING_PERCENT:
            continue
        yield MoneyFinding(
            rule="offsetting-players",
            stream=each.stream,
            seq=each.last.last_seq,
            evidence=(each.last.first_seq, each.last.last_seq),
            wager=each.last.wager,
            currency=day.currency,
            player=pair.first,
            recorded=pair.amount,
            facts={
                "player": pair.first,
                "other_player": pair.second,
                "opposing": pair.opposing,
                "coups": pair.shared,
                "gaming_day": day.gaming_day,
            },
        )


# Fills and credits: the slips against the rack


def _unmatched_slips(day: Day) -> Iterator[MoneyFinding]:
    """Yield the slips that alone account for what a rack has too much or too little: its chips were never moved."""
    for each in day.tables:
        closing = each.rack.closing
        if closing is None or not each.rack.is_followed:
            continue
        seqs, slips = _accounting_for(each, closing - each.rack.expected)
        if not seqs:
            continue
        yield MoneyFinding(
            rule="fill-unmatched",
            stream=each.money.stream,
            seq=max(each.money.closed_by, *seqs),
            evidence=tuple(sorted({*seqs, each.money.closed_by})),
            currency=day.currency,
            expected=each.rack.expected,
            recorded=closing,
            facts={"slips": slips, "gaming_day": day.gaming_day},
        )


def _accounting_for(table: TableRack, difference: int) -> tuple[list[int], list[str]]:
    """Return the fills whose amount a rack is short by, or the credits it has too much by; ([], []) if it balances."""
    kind = "fill" if difference < 0 else "credit"
    slips = [each for each in table.money.slips if difference and each.kind == kind and each.amount == abs(difference)]
    return [each.seq for each in slips], [each.slip for each in slips]


# Exchanges


def _exchanged(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    return (each for each in exchanges if not each.is_stake)


def _with_earlier(day: Day) -> list[Exchange]:
    exchanges = [*(each for _gaming_day, each in day.earlier), *day.exchanges]
    return sorted(exchanges, key=lambda each: each.order)


def _by_player(exchanges: Iterable[Exchange]) -> dict[By, list[Exchange]]:
    grouped: dict[By, list[Exchange]] = {}
    for exchange in exchanges:
        grouped.setdefault((exchange.player, exchange.direction), []).append(exchange)
    return grouped


def _sum(exchanges: Iterable[Exchange]) -> int:
    return sum(exchange.amount for exchange in exchanges)


def _of_exchanges(
    rule: str, day: Day, exchanges: Sequence[Exchange], threshold: int, direction: Direction, **facts: Fact
) -> MoneyFinding:
    return finding_of(
        rule,
        day,
        exchanges,
        expected=threshold,
        recorded=_sum(exchanges),
        player=exchanges[-1].player or None,
        exchange=direction,
        **facts,
    )
