"""Gamblers at fair odds, in integers.

Every class here has ``bettors``, how many gamblers it is, and ``settle``, which returns their wealth after a batch of
observations. Under the null the mean of what ``settle`` returns is at most what it was given, gambler by gambler: odds
are rounded down so that no cell pays more than fairly, and wealth is rounded down after it.

    ``ArcBets``        an arc of neighbouring cells of a circle comes more often; one gambler for each start
    ``CellBets``       fixed odds for each cell: faces, doubles, a sinusoid
    ``Learner``        bets as the counts so far suggest (Dirichlet prior around fair)
    ``Moved``          bets on a circle without its cell 0, which is not counted
    ``PairLearner``    the same for each cell that came before: does the next depend on it?
    ``LinearBets``     stakes a part of its wealth on the sign of a change whose mean is 0
    ``DriftBets``      the same for amounts without a known bound, cut off at one that the past sets
    ``OddsRatioBets``  of several groups one has more of the marked: Fisher's exact test as a bet
    ``LesserBets``     gets the less of what two others get: nothing is gained where the null of either holds

Odds are in 2⁻⁶⁴: what one unit staked becomes. A factor of many draws is a power, computed with 192 binary digits and
rounded down, so a batch costs the same whatever its length. No gambler holds more than ``LARGEST``: what goes beyond is
dropped, which can only make a question rarer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import comb, perm, prod
from typing import Any, NamedTuple, Protocol

ODDS_BITS = 64
EVENS = 1 << ODDS_BITS
"""Odds at which a stake comes back as it is."""

DIGITS = 192
"""Binary digits that a power keeps."""

LARGEST = 1 << (400 + 128)
"""The most that a gambler holds: wealth 2⁴⁰⁰, in 2⁻¹²⁸."""

EXACT = 4_096
"""Draws of a batch up to which a learner's odds are computed exactly; beyond, with ``DIGITS``, against the learner."""

TOGETHER = 64
"""Factors of a long product that are multiplied before it is rounded."""

Counts = Sequence[int]
"""How often each cell came in a batch."""


class Change(NamedTuple):
    """One change whose mean is 0 under the null, and the least and the most it could have been, in any one unit."""

    amount: int
    lowest: int
    highest: int


class Share(NamedTuple):
    """Of ``everything``, ``marked`` were marked; of the ``own`` among them, ``own_marked``.

    It was looked at only because at least ``least`` of the own are marked.
    """

    own_marked: int
    own: int
    marked: int
    everything: int
    least: int = 0


class Bets(Protocol):
    """What a mixture is composed of. ``memory``, the gamblers' own, begins as ``memory_cells`` zeros."""

    @property
    def bettors(self) -> int: ...

    @property
    def memory_cells(self) -> int: ...

    def settle(self, wealth: Sequence[int], memory: list[int], seen: Any) -> list[int]: ...


class Factor(NamedTuple):
    """A factor of wealth, ``digits`` / 2^``shift``, rounded down."""

    digits: int
    shift: int

    def of(self, wealth: int) -> int:
        """Return ``wealth`` times this, rounded down, ``LARGEST`` at most."""
        product = wealth * self.digits
        if product and product.bit_length() - self.shift > LARGEST.bit_length():
            return LARGEST
        return min(LARGEST, product >> self.shift if self.shift >= 0 else product << -self.shift)

    def times(self, other: Factor) -> Factor:
        return _cut(self.digits * other.digits, self.shift + other.shift)

    def times_up(self, other: Factor) -> Factor:
        """Return the product rounded up."""
        product = _cut(self.digits * other.digits, self.shift + other.shift)
        is_exact = product.shift == self.shift + other.shift
        return product if is_exact else Factor(product.digits + 1, product.shift)

    def over(self, other: Factor) -> Factor:
        """Return the quotient rounded down."""
        return _cut((self.digits << 2 * DIGITS) // other.digits, self.shift + 2 * DIGITS - other.shift)


def _each_times(wealth: Iterable[int], factors: Iterable[Factor]) -> list[int]:
    """Return ``Factor.of`` of each wealth and the factor beside it, without a call for each where none is huge."""
    after = [
        before * digits >> shift if shift >= 0 else Factor(digits, shift).of(before)
        for before, (digits, shift) in zip(wealth, factors, strict=True)
    ]
    return after if max(after) <= LARGEST else [min(LARGEST, each) for each in after]


ONE = Factor(1, 0)


def _cut(digits: int, shift: int) -> Factor:
    excess = digits.bit_length() - DIGITS
    return Factor(digits >> excess, shift - excess) if excess > 0 else Factor(digits, shift)


@lru_cache(1 << 16)
def power(odds: int, times: int) -> Factor:
    """Return (``odds`` / 2⁶⁴) to the power of ``times`` ≥ 0, rounded down."""
    result = ONE
    for bit in range(times.bit_length()):
        if times >> bit & 1:
            result = result.times(_squared(odds, bit))
    return result


@lru_cache(1 << 16)
def _squared(odds: int, often: int) -> Factor:
    """Return (``odds`` / 2⁶⁴), squared so ``often``: each time rounded down."""
    if not often:
        return Factor(odds, ODDS_BITS)
    root = _squared(odds, often - 1)
    return root.times(root)


class ArcBets(NamedTuple):
    """``cells`` gamblers: the one of number i bets on the arc of ``width`` cells that starts with cell i.

    ``inside`` and ``outside`` are the odds on a cell of the arc and on another.
    """

    cells: int
    width: int
    inside: int
    outside: int

    @property
    def bettors(self) -> int:
        return self.cells

    @property
    def memory_cells(self) -> int:
        return 0

    def settle(self, wealth: Sequence[int], _memory: list[int], seen: Counts) -> list[int]:
        draws = sum(seen)
        came = list(accumulate([*seen, *seen[: self.width]], initial=0))
        hits = [last - first for first, last in zip(came[: self.cells], came[self.width :], strict=False)]
        factors = {times: power(self.inside, times).times(power(self.outside, draws - times)) for times in set(hits)}
        return _each_times(wealth, map(factors.__getitem__, hits))


def lifted_arc(cells: int, width: int, percent: int) -> ArcBets:
    """Return bets that each pocket of an arc comes ``percent`` more often than fair."""
    inside = EVENS * (100 + percent) // 100
    outside = EVENS * (100 * cells - width * (100 + percent)) // (100 * (cells - width))
    return ArcBets(cells, width, inside, outside)


def aimed_arc(cells: int, width: int, percent: int) -> ArcBets:
    """Return bets that ``percent`` of all draws are aimed at an arc and hit it, and the others are fair."""
    outside = EVENS * (100 - percent) // 100
    return ArcBets(cells, width, outside + EVENS * percent * cells // (100 * width), outside)


class CellBets(NamedTuple):
    """One gambler for each row of ``odds``, which has the odds on each cell.

    Under the null cell i has the probability ``sizes[i]`` of their sum.
    """

    sizes: tuple[int, ...]
    odds: tuple[tuple[int, ...], ...]

    @property
    def bettors(self) -> int:
        return len(self.odds)

    @property
    def memory_cells(self) -> int:
        return 0

    def settle(self, wealth: Sequence[int], _memory: list[int], seen: Counts) -> list[int]:
        came = [(cell, times) for cell, times in enumerate(seen) if times]
        factors = []
        for odds in self.odds:
            digits, shift = ONE
            for cell, times in came:  # ``Factor.times``, without an object for each product
                more, further = power(odds[cell], times)
                digits, shift = digits * more, shift + further
                excess = digits.bit_length() - DIGITS
                if excess > 0:
                    digits, shift = digits >> excess, shift - excess
            factors.append(Factor(digits, shift))
        return _each_times(wealth, factors)


def staked_cells(sizes: Sequence[int], cells: Sequence[int], percent: int) -> tuple[int, ...]:
    """Return the odds of a gambler who stakes ``percent`` of his wealth on ``cells`` and keeps the rest."""
    total, covered = sum(sizes), sum(sizes[cell] for cell in cells)
    kept = EVENS * (100 - percent) // 100
    hit = kept + EVENS * percent * total // (100 * covered)
    return tuple(hit if cell in cells else kept for cell in range(len(sizes)))


class Learner(NamedTuple):
    """One gambler who learns: odds (count + prior × size) / (draws + prior × total), over fair.

    ``cell_of`` is the cell of each thing counted, and ``sizes`` how many of these are a cell.
    """

    cell_of: tuple[int, ...]
    sizes: tuple[int, ...]
    prior: int

    @property
    def bettors(self) -> int:
        return 1

    @property
    def memory_cells(self) -> int:
        return len(self.sizes)

    def settle(self, wealth: Sequence[int], memory: list[int], seen: Counts) -> list[int]:
        total, draws, before = sum(self.sizes), 0, sum(memory)
        gained: list[_Rising] = []
        lost: list[_Rising] = []
        came = [0] * len(self.sizes)
        for cell, times in zip(self.cell_of, seen, strict=True):
            came[cell] += times
        for cell, times in enumerate(came):
            if times:
                gained.append(_Rising(memory[cell] + self.prior * self.sizes[cell], times))
                lost.append(_Rising(self.sizes[cell], times, step=0))
                memory[cell] += times
                draws += times
        gained.append(_Rising(total, draws, step=0))
        lost.append(_Rising(before + self.prior * total, draws))
        return [_ratio_of(wealth[0], gained, lost, draws)]


class Moved(NamedTuple):
    """Bets on which cell comes where it is not cell 0: given that, all others are even. Cell 0 changes nothing."""

    bets: ArcBets | Learner

    @property
    def bettors(self) -> int:
        return self.bets.bettors

    @property
    def memory_cells(self) -> int:
        return self.bets.memory_cells

    def settle(self, wealth: Sequence[int], memory: list[int], seen: Counts) -> list[int]:
        return self.bets.settle(wealth, memory, seen[1:])


class _Rising(NamedTuple):
    """The product ``first`` × (``first`` + 1) × … of so many ``factors``; a power of ``first`` where ``step`` is 0."""

    first: int
    factors: int
    step: int = 1

    def exactly(self) -> int:
        return perm(self.first + self.factors - 1, self.factors) if self.step else self.first**self.factors

    def parts(self) -> Iterator[int]:
        """Yield products of ``TOGETHER`` factors or fewer, whose product this is."""
        for done in range(0, self.factors, TOGETHER):
            some = min(TOGETHER, self.factors - done)
            yield _Rising(self.first + done * self.step, some, self.step).exactly()


def _ratio_of(wealth: int, gained: Iterable[_Rising], lost: Iterable[_Rising], draws: int) -> int:
    """Return ``wealth`` × ∏ ``gained`` / ∏ ``lost``, rounded down, ``LARGEST`` at most."""
    if draws <= EXACT:
        more, less = (prod(each.exactly() for each in side) for side in (gained, lost))
        return min(LARGEST, wealth * more // less)
    up, down = ONE, ONE
    for each in lost:
        for part in each.parts():
            up = up.times_up(Factor(part, 0))
    for each in gained:
        for part in each.parts():
            down = down.times(Factor(part, 0))
    return down.over(up).of(wealth)


class PairLearner(NamedTuple):
    """One gambler who learns, for each of ``cells``, which one follows it. Sees counts by (before, next)."""

    cells: int
    prior: int

    @property
    def bettors(self) -> int:
        return 1

    @property
    def memory_cells(self) -> int:
        return self.cells * self.cells

    def settle(self, wealth: Sequence[int], memory: list[int], seen: Mapping[tuple[int, int], int]) -> list[int]:
        draws = sum(seen.values())
        gained = [_Rising(self.cells, draws, step=0)]
        lost: list[_Rising] = []
        by_row: dict[int, int] = {}
        for (row, cell), times in seen.items():
            gained.append(_Rising(memory[row * self.cells + cell] + self.prior, times))
            by_row[row] = by_row.get(row, 0) + times
        for row, times in by_row.items():
            before = sum(memory[row * self.cells : (row + 1) * self.cells])
            lost.append(_Rising(before + self.prior * self.cells, times))
        for (row, cell), times in seen.items():
            memory[row * self.cells + cell] += times
        return [_ratio_of(wealth[0], gained, lost, draws)]


class LinearBets(NamedTuple):
    """Gamblers on the sign of changes whose mean is 0: ∏ (1 + λ × change / M).

    λ is 1/2 to the power of each of ``halvings``. ``sign`` is +1 for changes above 0, −1 for those below; M is the
    largest change possible against the gambler, so that wealth stays at or above 0.
    """

    sign: int
    halvings: tuple[int, ...]

    @property
    def bettors(self) -> int:
        return len(self.halvings)

    @property
    def memory_cells(self) -> int:
        return 0

    def settle(self, wealth: Sequence[int], _memory: list[int], seen: Sequence[Change]) -> list[int]:
        if self.sign > 0:  # a draw that changed nothing, as many a throw, changes no wealth
            gains = [(amount, -lowest) for amount, lowest, _highest in seen if amount and lowest < 0]
        else:
            gains = [(-amount, highest) for amount, _lowest, highest in seen if amount and highest > 0]
        after = []
        for wealth_, halvings in zip(wealth, self.halvings, strict=True):
            for gain, worst in gains:
                wealth_ += (wealth_ * gain // worst) >> halvings  # rounded down once: as by worst << halvings
                if wealth_ > LARGEST:
                    wealth_ = LARGEST
            after.append(wealth_)
        return after


class DriftBets(NamedTuple):
    """Gamblers on the sign of amounts without a known bound: each is cut off at twice the mean size of those before.

    ``usual`` counts as the size of one more, from the beginning, in the unit of the amounts. ``sign`` and ``halvings``
    as ``LinearBets`` has them. The null is that the mean of the amounts, cut off so, is 0.
    """

    sign: int
    halvings: tuple[int, ...]
    usual: int

    @property
    def bettors(self) -> int:
        return len(self.halvings)

    @property
    def memory_cells(self) -> int:
        return 2

    def settle(self, wealth: Sequence[int], memory: list[int], seen: Sequence[int]) -> list[int]:
        after = list(wealth)
        for amount in seen:
            bound = max(1, 2 * (self.usual + memory[0]) // (1 + memory[1]))  # counts that balance bring it down to 0
            gain = self.sign * max(-bound, min(bound, amount))
            for index, halvings in enumerate(self.halvings):
                after[index] = min(LARGEST, after[index] + ((after[index] * gain // bound) >> halvings))
            memory[0] += min(abs(amount), 2 * bound)  # so that one large amount does not blind it for long
            memory[1] += 1
        return after


class OddsRatioBets(NamedTuple):
    """Gamblers that the own group has more of the marked than its size would give it: ``ratios`` to one, by odds.

    Given how many are marked in all, the null makes those in the own group hypergeometric (Fisher); the alternative is
    its noncentral form. So neither needs to know how often things are marked at all. Both are given ``least``.
    """

    ratios: tuple[tuple[int, int], ...]

    @property
    def bettors(self) -> int:
        return len(self.ratios)

    @property
    def memory_cells(self) -> int:
        return 0

    def settle(self, wealth: Sequence[int], _memory: list[int], seen: Sequence[Share]) -> list[int]:
        after = list(wealth)
        for share in seen:
            low = max(share.least, share.own + share.marked - share.everything)
            high = min(share.own, share.marked)
            ways = [
                comb(share.marked, own) * comb(share.everything - share.marked, share.own - own)
                for own in range(low, high + 1)
            ]
            whole = sum(ways)
            for index, (more, less) in enumerate(self.ratios):
                powers = [more ** (own - low) * less ** (high - own) for own in range(low, high + 1)]
                mean = sum(way * each for way, each in zip(ways, powers, strict=True))
                after[index] = min(LARGEST, after[index] * powers[share.own_marked - low] * whole // mean)
        return after


class LesserBets(NamedTuple):
    """Gamblers who get the less of what those of ``first`` and those of ``second`` would get of a batch.

    Each of the two sees its part of a pair, and has a memory of its own. E[min(f, g)] ≤ min(E[f], E[g]): so nothing is
    gained where the null of ``first`` holds, and nothing where that of ``second`` does.
    """

    first: Bets
    second: Bets

    @property
    def bettors(self) -> int:
        return self.first.bettors

    @property
    def memory_cells(self) -> int:
        return self.first.memory_cells + self.second.memory_cells

    def settle(self, wealth: Sequence[int], memory: list[int], seen: tuple[Any, Any]) -> list[int]:
        cut = self.first.memory_cells
        parts = memory[:cut], memory[cut:]
        both = (
            bets.settle(wealth, part, each)
            for bets, part, each in zip((self.first, self.second), parts, seen, strict=True)
        )
        after = list(map(min, *both))
        memory[:] = [*parts[0], *parts[1]]
        return after
