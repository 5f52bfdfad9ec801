"""From what a session, a night or a count room shows to what each process sees: counts and changes by channel.

The order of the draws of a session matters only where a channel says so (displacements, pairs, sequences): these are
taken here, so that a process sees counts. A displacement needs two draws of one session, in a row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from settlement.eprocess.bets import Change, Share
from settlement.eprocess.counted import NO_OTHERS, Others, varied
from settlement.eprocess.mixtures import SEQUENCES
from settlement.eprocess.observations import NEITHER, Mark, Observation, Observations, Payout
from settlement.eprocess.turns import faces_of, pooled, sevens_of, thrown_in
from settlement.eprocess.voids import called_void

LAGS = (1, 2, 3)
FACES = 6


class Fed(NamedTuple):
    """A batch for one process: its kind, subject and variant, what it sees by channel, and of how many draws."""

    kind: str
    subject: str
    variant: int
    seen: Mapping[str, Any]
    draws: int


def of_session(session: Observations) -> Iterator[Fed]:
    """Yield what the draws of a finished session feed to wheels, dice and tables: what stays where it is."""
    if session.cells > 0:
        yield from of_spins(session.wheel, session.cells, [[each.result for each in session.drawn]])
        voided = [each.luck for each in session.voided if each.luck is not None]
        if voided:
            yield Fed("void-call", session.table, session.cells, {"luck": voided}, len(voided))
    elif session.cells != NEITHER:
        yield from _of_throws(session)
    luck = [draw.luck for draw in session.drawn if draw.luck is not None]
    if luck:
        yield Fed("table-luck", session.table, 0, {"luck": luck}, len(luck))


def of_evening(sessions: Iterable[Observations]) -> Iterator[Fed]:
    """Yield what the ``sessions`` of a gaming day feed to persons: of each, one batch of all that he was seen in.

    Persons go from table to table, and may go because of what was drawn: docs/ledger-mathematics.md, step 6. Their
    gamblers stake fixed parts of their wealth, and learners' odds are exchangeable; so the order of the draws within a
    batch changes nothing, and no clock is asked.
    """
    in_order = sorted(sessions, key=lambda session: session.session)
    yield from _of_spinners(in_order)
    yield from _of_shooters(in_order)
    yield from _of_players(in_order)
    yield from _of_dealers(in_order)
    yield from _of_marks(in_order)
    yield from _of_voids(in_order)


# Wheels


def of_spins(wheel: str, cells: int, runs: Iterable[Sequence[int]]) -> Iterator[Fed]:
    """Yield what runs of consecutive spins feed; a spin is the index of its pocket on the wheel."""
    pockets = [0] * cells
    steps = {lag: [0] * cells for lag in LAGS}
    pairs: dict[int, Counter[tuple[int, int]]] = {lag: Counter() for lag in LAGS}
    for run in runs:
        for pocket in run:
            pockets[pocket] += 1
        for lag in LAGS:
            for before, pocket in zip(run, run[lag:], strict=False):
                steps[lag][(pocket - before) % cells] += 1
                pairs[lag][before, pocket] += 1
    draws = sum(pockets)
    if draws:
        yield Fed("wheel", wheel, cells, {"pocket": pockets}, draws)
    if sum(steps[1]):
        yield Fed("wheel-displacement", wheel, cells, {"displacement": steps[1]}, sum(steps[1]))
        seen: dict[str, Any] = {f"displacement-{lag}": steps[lag] for lag in LAGS[1:]}
        seen |= {f"pair-{lag}": pairs[lag] for lag in LAGS}
        yield Fed("wheel-memory", wheel, cells, seen, sum(steps[1]))


def _of_spinners(sessions: Iterable[Observations]) -> Iterator[Fed]:
    by_croupier: dict[tuple[str, int], list[int]] = {}
    for session in sessions:
        for before, spin in pairwise(session.drawn if session.cells > 0 else ()):
            if spin.croupier:
                key = f"{spin.croupier}, {session.wheel}", session.cells
                steps = by_croupier.setdefault(key, [0] * session.cells)
                steps[(spin.result - before.result) % session.cells] += 1
    for (subject, cells), steps in by_croupier.items():
        yield Fed("croupier-displacement", subject, cells, {"displacement": steps}, sum(steps))


# Dice


def _of_throws(session: Observations) -> Iterator[Fed]:
    by_die: dict[str, list[int]] = {}
    by_set: dict[str, list[Observation]] = {}
    for throw in session.drawn:
        dice_set = throw.dice_set or session.table
        # Dice without names are not told apart: their order may be that of the faces.
        for name, face in zip(throw.dice, faces_of(throw), strict=False):
            by_die.setdefault(f"{dice_set}, {name}", [0] * FACES)[face] += 1
        by_set.setdefault(dice_set, []).append(throw)
    if session.drawn:
        yield Fed("dice-supply", session.table, 0, {"face": list(pooled(session.drawn))}, len(session.drawn))
    for die, faces in by_die.items():
        yield Fed("die", die, 0, {"face": faces}, sum(faces))
    for dice_set, throws in by_set.items():
        seen = {"face": list(pooled(throws))} | _of_pair(throws) | _sequences(throws)
        yield Fed("dice-pair", dice_set, 0, seen, len(throws))
    if session.voided:
        luck = [each.luck for each in session.voided if each.luck is not None]
        yield Fed("void-call", session.table, 0, _of_pair(session.voided) | {"luck": luck}, len(session.voided))


def _of_shooters(sessions: Iterable[Observations]) -> Iterator[Fed]:
    for shooter, seen in thrown_in(session.drawn for session in sessions if session.cells == 0):
        yield Fed("shooter", shooter, 0, seen, sum(seen["seven"].counts))


def _of_pair(throws: Sequence[Observation]) -> dict[str, Any]:
    """Return the counts of doubles, sevens and totals; of the first two, those that are and those that are not."""
    doubles = 0
    totals = [0] * 11
    for throw in throws:
        first, second = faces_of(throw)
        doubles += first == second
        totals[first + second] += 1
    return {"double": [doubles, len(throws) - doubles], "seven": list(sevens_of(throws)), "total": totals}


def _sequences(throws: Sequence[Observation]) -> dict[str, list[int]]:
    """Return how often a throw has the faces of the last, the opposite ones, or others: whichever die shows which."""
    seen = {channel: [0] * len(ways) for channel, ways in SEQUENCES.items()}
    for before, throw in pairwise(throws):
        last, now = sorted(faces_of(before)), sorted(faces_of(throw))
        opposite = sorted(FACES - 1 - face for face in last)
        channel = "after-double" if last[0] == last[1] else "after-seven" if last == opposite else "after-other"
        relations = [last, opposite] if last != opposite else [last]
        seen[channel][relations.index(now) if now in relations else -1] += 1
    return {channel: counts for channel, counts in seen.items() if sum(counts)}


# Luck


def _of_players(sessions: Iterable[Observations]) -> Iterator[Fed]:
    by_subject: dict[tuple[str, str], list[Change]] = {}
    pairs: dict[str, Compared] = {}
    for session in sessions:
        dealt: dict[str, list[Dealt]] = {}
        corrected = frozenset(session.corrected)
        for draw in session.drawn:
            for player, change in draw.players.items():
                by_subject.setdefault(("player-luck", player), []).append(change)
                if draw.seq in corrected:
                    by_subject.setdefault(("corrected-luck", player), []).append(change)
                if draw.croupier:
                    dealt.setdefault(player, []).append((draw.croupier, change))
            for player, change in draw.late.items():
                by_subject.setdefault(("late-luck", player), []).append(change)
        for player, draws in dealt.items():
            for croupier in {croupier for croupier, _change in draws}:
                pairs.setdefault(f"{player}, {croupier}", Compared([], [])).add(draws, croupier)
    for (kind, subject), changes in by_subject.items():
        yield Fed(kind, subject, 0, {"luck": changes}, len(changes))
    for subject, luck in sorted(pairs.items()):
        yield Fed("pair-luck", subject, 0, {"luck": luck}, len(luck.changes))


Dealt: TypeAlias = tuple[str, Change | None]
"""Who dealt a draw, and what it changed; None where nothing could change."""

PARTS = 1 << 20
"""Of the most that the house could win by a draw: what the changes of draws with other stakes are compared in."""


class Compared(NamedTuple):
    """What the draws of a croupier changed, and how far each is from the mean of those of which it could be any.

    Under the null of the first, chance changes nothing on average. Under that of the second every order of the amounts
    of a session is as likely, so those of one croupier are taken from all of them without replacement.
    """

    changes: list[Change]
    from_mean: list[Change]

    def add(self, draws: Sequence[Dealt], croupier: str) -> None:
        """Add the draws of a session. Those of a croupier who dealt them all are not beside any."""
        self.changes.extend(change for dealt_by, change in draws if dealt_by == croupier and change is not None)
        if all(dealt_by == croupier for dealt_by, _change in draws):
            return
        parts = [PARTS * change.amount // change.highest if change is not None else 0 for _dealt_by, change in draws]
        left, total, of = sorted(parts), sum(parts), len(parts)
        for (dealt_by, _change), part in zip(draws, parts, strict=True):
            if dealt_by == croupier:
                self.from_mean.append(Change(of * part - total, of * left[0] - total, of * left[-1] - total))
                del left[bisect_left(left, part)]
                total -= part
                of -= 1


def _of_dealers(sessions: Iterable[Observations]) -> Iterator[Fed]:
    """Yield the luck of whoever staked when a croupier dealt: late stakes, and apart all stakes.

    A session that one croupier dealt alone is left out: the rota says so, and no draw.
    """
    late: dict[str, Compared] = {}
    everything: dict[str, Compared] = {}
    draws: Counter[str] = Counter()
    for session in sessions:
        dealt = [draw for draw in session.drawn if draw.croupier]
        own = Counter(draw.croupier for draw in dealt)
        for croupier in own if len(own) > 1 else ():
            draws[croupier] += own[croupier]
            late.setdefault(croupier, Compared([], [])).add([(d.croupier, d.late_luck) for d in dealt], croupier)
            everything.setdefault(croupier, Compared([], [])).add([(d.croupier, d.luck) for d in dealt], croupier)
    for croupier, number in sorted(draws.items()):
        yield Fed("croupier-luck", croupier, 0, {"late": late[croupier], "luck": everything[croupier]}, number)


# Findings


def _of_marks(sessions: Iterable[Observations]) -> Iterator[Fed]:
    """Yield how the findings of each rule fall on the croupiers of a table and night, and on them with each player.

    A coup is marked once, however many findings it has. Each session is a stratum. A croupier has the coups that he
    dealt, a pair those of them while the player was there.
    """
    croupiers: dict[str, list[Share]] = {}
    players: dict[str, list[Share]] = {}
    pairs: dict[str, tuple[list[Share], list[Share]]] = {}
    own: Counter[str] = Counter()
    for session in sessions:
        coups: dict[Owners, list[int]] = {}
        marks: dict[str, list[tuple[Owners, int]]] = {}
        for player, drawn, own_marks in _while_there(session):
            for draw in drawn:
                if draw.croupier:
                    coups.setdefault((draw.croupier, player), []).append(draw.seq)
            for mark in own_marks:
                marks.setdefault(mark.rule, []).append(((mark.croupier, player), mark.seq))
        for rule in sorted(marks):
            marked = _marked(coups, marks[rule])
            for (croupier, _player), share in _by_croupier(coups, marked):
                subject = f"{croupier}, {rule}"
                croupiers.setdefault(subject, []).append(share)
                own[subject] += share.own
            for player, share in _by_player(coups, marked) if rule in OF_PLAYERS else ():
                players.setdefault(f"{player}, {rule}", []).append(share)
            for (croupier, player), of_player, of_croupier in _by_pair(coups, marked):
                subject = f"{player}, {croupier}, {rule}"
                for shares, share in zip(pairs.setdefault(subject, ([], [])), (of_player, of_croupier), strict=True):
                    shares.append(share)
                own[subject] += of_player.own
    for subject, seen in sorted(croupiers.items()):
        yield Fed("concentration", subject, 0, {"marks": seen}, own[subject])
    for subject, seen in sorted(players.items()):
        yield Fed("player-concentration", subject, 0, {"marks": seen}, sum(share.own for share in seen))
    for subject, both in sorted(pairs.items()):
        yield Fed("pair-concentration", subject, 0, {"marks": both}, own[subject])


OF_PLAYERS = frozenset({"wager-after-no-more-bets", "wager-near-call", "withdrawal-after-no-more-bets"})
"""Rules about what a player does with his stake, whoever deals."""

Owners: TypeAlias = tuple[str, str]
"""A croupier, and a player; "" for whoever staked."""


def _while_there(session: Observations) -> Iterator[tuple[str, Sequence[Observation], Sequence[Mark]]]:
    """Yield each player, with the draws and his findings from his first coup to his last; "" with all of them.

    He is there when he stakes, and when a finding names him: a stake that is refused changes nothing. But a coup that
    is his first or last by a finding alone is left out: it would be one of his only because it is marked.
    """
    drawn = session.drawn
    if not drawn or not session.marks:
        return
    yield "", drawn, session.marks
    seqs = [draw.seq for draw in drawn]
    staked: dict[str, set[int]] = {}
    for index, draw in enumerate(drawn):
        for player in draw.players:
            staked.setdefault(player, set()).add(index)
    named: dict[str, dict[Mark, int]] = {}
    for mark in session.marks:
        if mark.player:
            named.setdefault(mark.player, {})[mark] = min(bisect_left(seqs, mark.seq), len(seqs) - 1)
    for player in sorted(staked.keys() | named.keys()):
        by_stake, by_mark = staked.get(player, set()), named.get(player, {})
        there = by_stake.union(by_mark.values())
        first, last = min(there), max(there)
        coups = range(first + (first not in by_stake), last + (last in by_stake))
        own_marks = [mark for mark, index in by_mark.items() if index in coups]
        yield player, drawn[coups.start : coups.stop], own_marks


def _marked(coups: Mapping[Owners, Sequence[int]], marks: Iterable[tuple[Owners, int]]) -> Counter[Owners]:
    """Return how many coups are marked: of those that are the croupier's and player's, the next one, or the last."""
    marked = set()
    for owners, seq in marks:
        if owners in coups:
            own = coups[owners]
            marked.add((owners, own[min(bisect_left(own, seq), len(own) - 1)]))
    return Counter(owners for owners, _seq in marked)


def _by_croupier(coups: Mapping[Owners, Sequence[int]], marked: Counter[Owners]) -> Iterator[tuple[Owners, Share]]:
    """Yield the share of each croupier in the marked coups; of a rule whose findings name others only, none."""
    of_all = {owners: len(own) for owners, own in coups.items() if not owners[1]}
    total, everything = sum(marked[owners] for owners in of_all), sum(of_all.values())
    for owners, own in of_all.items() if total and len(of_all) > 1 else ():
        yield owners, Share(marked[owners], own, total, everything)


def _by_player(coups: Mapping[Owners, Sequence[int]], marked: Counter[Owners]) -> Iterator[tuple[str, Share]]:
    """Yield the share of each player in the marks of those who were there, once for each croupier with marks."""
    there: dict[str, dict[str, int]] = {}
    for (croupier, player), own in coups.items():
        if player:
            there.setdefault(croupier, {})[player] = len(own)
    for croupier, of in there.items():
        total, everything = sum(marked[croupier, player] for player in of), sum(of.values())
        for player, number in of.items() if total and len(of) > 1 else ():
            yield player, Share(marked[croupier, player], number, total, everything)


def _by_pair(coups: Mapping[Owners, Sequence[int]], marked: Counter[Owners]) -> Iterator[tuple[Owners, Share, Share]]:
    """Yield the share of each pair in the marks of the player, and in those of the croupier with all players.

    Only of players who have marks. Where these can be the pair's alone, at least one is: the second share is given
    that. A pair in which one had nobody else is beside nobody.
    """
    played: Counter[Owners] = Counter()
    marks: Counter[Owners] = Counter()
    of_pairs = {owners: len(own) for owners, own in coups.items() if owners[1]}
    for (croupier, player), own in of_pairs.items():
        for owner in ((croupier, ""), ("", player)):
            played[owner] += own
            marks[owner] += marked[croupier, player]
    for (croupier, player), own in of_pairs.items():
        of_player, of_croupier = ("", player), (croupier, "")
        if marks[of_player] and own < played[of_player] and own < played[of_croupier]:
            both = marked[croupier, player]
            yield (
                (croupier, player),
                Share(both, own, marks[of_player], played[of_player]),
                Share(both, own, marks[of_croupier], played[of_croupier], least=int(marks[of_player] == both)),
            )


def _of_voids(sessions: Iterable[Observations]) -> Iterator[Fed]:
    croupiers, pairs = called_void(sessions)
    for croupier, called in sorted(croupiers.items()):
        seen = {"calls": called.calls, "luck": called.luck}
        yield Fed("croupier-voids", croupier, 0, seen, sum(share.own for share in called.calls))
    for (player, croupier), with_him in sorted(pairs.items()):
        together = {"calls": (with_him.of_player, with_him.of_croupier), "luck": with_him.luck}
        coups = sum(share.own for share in with_him.of_player)
        yield Fed("pair-voids", f"{player}, {croupier}", 0, together, coups)


# Payouts and counts


def of_payouts(payouts: Iterable[Payout]) -> Iterator[Fed]:
    """Yield what the payouts of a night feed: those of one croupier in one coup are one, with the sum of their errors.

    A coup whose errors cancel is one without an error. Payouts by nobody known are left out: a device is no croupier.
    A croupier is compared with those who paid at the same table in the same session, because one game is harder to pay
    than another: each session is a stratum.
    """
    coups: dict[tuple[str, str], int] = {}
    for payout in payouts:
        if payout.croupier:
            key = payout.croupier, payout.coup
            coups[key] = coups.get(key, 0) + payout.error
    strata: dict[str, dict[str, list[int]]] = {}
    for (croupier, coup), error in sorted(coups.items()):
        strata.setdefault(coup.rpartition("#")[0], {}).setdefault(croupier, []).append(error)
    shares: dict[str, list[Share]] = {}
    leans: dict[str, list[tuple[Share, Change]]] = {}
    for _session, paid in sorted(strata.items()):
        errors = sorted(error for own in paid.values() for error in own if error)
        everything = sum(map(len, paid.values()))
        for croupier, own in paid.items():
            wrong = [error for error in own if error]
            shares.setdefault(croupier, []).append(Share(len(wrong), len(own), len(errors), everything))
            if wrong:
                lean = Share(sum(e < 0 for e in wrong), len(wrong), sum(e < 0 for e in errors), len(errors))
                leans.setdefault(croupier, []).append((lean, _money(wrong, errors)))
    for croupier, own_shares in sorted(shares.items()):
        yield Fed("payout-rate", croupier, 0, {"payouts": own_shares}, sum(share.own for share in own_shares))
        if croupier in leans:
            numbers, money = zip(*leans[croupier], strict=True)
            seen = {"errors": list(numbers), "money": list(money)}
            yield Fed("payout-lean", croupier, 0, seen, sum(share.own for share in numbers))


def _money(own: Sequence[int], errors: Sequence[int]) -> Change:
    """Return how far the sum of a croupier's errors is from what his share of all ``errors``, sorted, would be.

    In minor units times the number of all errors. Under the null any ``len(own)`` of them are as likely to be his.
    """
    size, everything = len(own), len(errors)
    mean = size * sum(errors)
    return Change(
        everything * sum(own) - mean,
        everything * sum(errors[:size]) - mean,
        everything * sum(errors[everything - size :]) - mean,
    )


def of_variance(table: str, team: str, shift: str, variance: int, others: Others = NO_OTHERS) -> Iterator[Fed]:
    """Yield what the accounting variance of one session feeds, in minor units; "" for a team or shift not known.

    ``others``: what it is compared with of those who closed the table, and who dealt.
    """
    for kind, subject in (("table-drift", table), ("team-drift", team), ("shift-drift", shift)):
        if subject:
            yield Fed(kind, subject, 0, {"variance": [variance]}, 1)
    for kind, subject, seen in varied(variance, others):
        yield Fed(kind, subject, 0, seen, 1)


def is_seen(session: Observations, person: str) -> bool:
    """Return whether a player, shooter or croupier was seen in the draws of a session, or a finding names him."""
    return any(person in draw.players or person in (draw.croupier, draw.shooter) for draw in session.drawn) or any(
        person in (mark.croupier, mark.player) for mark in session.marks
    )
