"""From what a session, a night or a count room shows to what each process sees: counts and changes by channel.

The order of the draws of a session matters only where a channel says so (displacements, pairs, sequences): these are
taken here, so that a process sees counts. A displacement needs two draws of one session, in a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from settlement.eprocess.bets import Change, Share
from settlement.eprocess.mixtures import SEQUENCES
from settlement.eprocess.observations import NEITHER, Observation, Observations, Payout

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


def _faces(throw: Observation) -> tuple[int, int]:
    return throw.result // FACES, throw.result % FACES


def _of_throws(session: Observations) -> Iterator[Fed]:
    pooled = [0] * FACES
    by_die: dict[str, list[int]] = {}
    by_set: dict[str, list[Observation]] = {}
    for throw in session.drawn:
        dice_set = throw.dice_set or session.table
        for face in _faces(throw):
            pooled[face] += 1
        # Dice without names are not told apart: their order may be that of the faces.
        for name, face in zip(throw.dice, _faces(throw), strict=False):
            by_die.setdefault(f"{dice_set}, {name}", [0] * FACES)[face] += 1
        by_set.setdefault(dice_set, []).append(throw)
    if session.drawn:
        yield Fed("dice-supply", session.table, 0, {"face": pooled}, len(session.drawn))
    for die, faces in by_die.items():
        yield Fed("die", die, 0, {"face": faces}, sum(faces))
    for dice_set, throws in by_set.items():
        yield Fed("dice-pair", dice_set, 0, _of_pair(throws) | _sequences(throws), len(throws))
    if session.voided:
        luck = [each.luck for each in session.voided if each.luck is not None]
        yield Fed("void-call", session.table, 0, _of_pair(session.voided) | {"luck": luck}, len(session.voided))


def _of_shooters(sessions: Iterable[Observations]) -> Iterator[Fed]:
    by_shooter: dict[str, list[Observation]] = {}
    for session in sessions:
        for throw in session.drawn if session.cells == 0 else ():
            if throw.shooter:
                by_shooter.setdefault(throw.shooter, []).append(throw)
    for shooter, throws in by_shooter.items():
        yield Fed("shooter", shooter, 0, {"seven": _of_pair(throws)["seven"]}, len(throws))


def _of_pair(throws: Sequence[Observation]) -> dict[str, Any]:
    """Return the counts of doubles, sevens and totals; of the first two, those that are and those that are not."""
    doubles = sevens = 0
    totals = [0] * 11
    for throw in throws:
        first, second = _faces(throw)
        doubles += first == second
        sevens += first + second == FACES - 1
        totals[first + second] += 1
    return {"double": [doubles, len(throws) - doubles], "seven": [sevens, len(throws) - sevens], "total": totals}


def _sequences(throws: Sequence[Observation]) -> dict[str, list[int]]:
    """Return how often a throw has the faces of the last, the opposite ones, or others: whichever die shows which."""
    seen = {channel: [0] * len(ways) for channel, ways in SEQUENCES.items()}
    for before, throw in pairwise(throws):
        last, now = sorted(_faces(before)), sorted(_faces(throw))
        opposite = sorted(FACES - 1 - face for face in last)
        channel = "after-double" if last[0] == last[1] else "after-seven" if last == opposite else "after-other"
        relations = [last, opposite] if last != opposite else [last]
        seen[channel][relations.index(now) if now in relations else -1] += 1
    return {channel: counts for channel, counts in seen.items() if sum(counts)}


# Luck


def _of_players(sessions: Iterable[Observations]) -> Iterator[Fed]:
    by_subject: dict[tuple[str, str], list[Change]] = {}
    for draw in chain.from_iterable(session.drawn for session in sessions):
        for player, change in draw.players.items():
            by_subject.setdefault(("player-luck", player), []).append(change)
            if draw.croupier:
                by_subject.setdefault(("pair-luck", f"{player}, {draw.croupier}"), []).append(change)
        for player, change in draw.late.items():
            by_subject.setdefault(("late-luck", player), []).append(change)
    for (kind, subject), changes in by_subject.items():
        yield Fed(kind, subject, 0, {"luck": changes}, len(changes))


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


def of_variance(table: str, team: str, shift: str, variance: int) -> Iterator[Fed]:
    """Yield what the accounting variance of one session feeds, in minor units; "" for a team or shift not known."""
    for kind, subject in (("table-drift", table), ("team-drift", team), ("shift-drift", shift)):
        if subject:
            yield Fed(kind, subject, 0, {"variance": [variance]}, 1)


def is_seen(session: Observations, person: str) -> bool:
    """Return whether a player, shooter or croupier was seen in the draws of a session."""
    return any(person in draw.players or person in (draw.croupier, draw.shooter) for draw in session.drawn)
