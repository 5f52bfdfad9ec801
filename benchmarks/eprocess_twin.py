"""The e-processes of ``settlement.eprocess`` in floating point, many runs at once: for simulations, never for a casino.

A run is a row. Odds come from the mixtures themselves; how wealth moves is written a second time, in logarithms and
matrices. ``tests/settlement/eprocess/test_twin.py`` holds both to the same wealth over 20 table-years.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from settlement.eprocess.bets import EVENS, ArcBets, CellBets, Learner, LinearBets, Moved, PairLearner
from settlement.eprocess.process import UNIT, Mixture, part_staked

LARGEST = 1e15
"""Wealth at which it is no longer followed exactly: far beyond any level."""

LARGEST_LOG = 50.0

TABLE = 1 << 21
"""Counts up to which the logarithms of rising products are tabulated."""


class Fixed:
    """Gamblers at fixed odds: their factors are exp(counts @ logarithms of the odds)."""

    def __init__(self, bets: ArcBets | CellBets) -> None:
        if isinstance(bets, ArcBets):
            odds = np.full((bets.cells, bets.cells), bets.outside / EVENS)
            for start in range(bets.cells):
                odds[start, (start + np.arange(bets.width)) % bets.cells] = bets.inside / EVENS
        else:
            odds = np.array(bets.odds, dtype=float) / EVENS
        self.zero = (odds == 0).T.astype(float)
        self.logs = np.log(np.where(odds == 0, 1.0, odds)).T

    def factor(self, seen: np.ndarray) -> np.ndarray:
        logs = seen.astype(self.logs.dtype) @ self.logs
        factor = np.exp(np.minimum(logs, LARGEST_LOG, out=logs), out=logs)
        return np.where(seen @ self.zero > 0, self.logs.dtype.type(0), factor) if self.zero.any() else factor


_logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, TABLE, dtype=float)))])
"""Logarithms of factorials."""


def _log_rising(first: np.ndarray | int, factors: np.ndarray) -> np.ndarray:
    return _logs[first + factors - 1] - _logs[np.asarray(first) - 1]


class Learning:
    """One learner for each run."""

    def __init__(self, bets: Learner | PairLearner, runs: int) -> None:
        if isinstance(bets, PairLearner):
            self.rows, self.sizes = bets.cells, np.ones(bets.cells, dtype=int)
            self.cell_of = np.arange(bets.cells)
        else:
            self.rows, self.sizes, self.cell_of = 1, np.array(bets.sizes), np.array(bets.cell_of)
        self.prior = bets.prior
        self.counts = np.zeros((runs, self.rows, len(self.sizes)), dtype=int)
        self.drawn = np.zeros((runs, self.rows), dtype=int)

    def factor(self, seen: np.ndarray) -> np.ndarray:
        came = seen.reshape(len(seen), self.rows, -1)
        if len(self.cell_of) != len(self.sizes):
            came = came @ (self.cell_of[:, None] == np.arange(len(self.sizes)))
        draws, total = came.sum(2), int(self.sizes.sum())
        run, row, cell = np.nonzero(came)
        times = came[run, row, cell]
        rising = _log_rising(self.counts[run, row, cell] + self.prior * self.sizes[cell], times)
        logs = np.bincount(run, rising - times * np.log(self.sizes[cell]), minlength=len(came))
        logs -= _log_rising(self.drawn + self.prior * total, draws).sum(1)
        logs += draws.sum(1) * np.log(total)
        self.counts += came
        self.drawn += draws
        return np.exp(np.minimum(logs, LARGEST_LOG))[:, None]

    def keep(self, rows: np.ndarray) -> None:
        self.counts, self.drawn = self.counts[rows], self.drawn[rows]


class Without:
    """What sees all but the first cell."""

    def __init__(self, learning: Learning) -> None:
        self.learning = learning

    def factor(self, seen: np.ndarray) -> np.ndarray:
        return self.learning.factor(seen[:, 1:])

    def keep(self, rows: np.ndarray) -> None:
        self.learning.keep(rows)


class Linear:
    """Gamblers on the sign of changes; sees (amount, lowest, highest, how many such) on the last axis."""

    def __init__(self, bets: LinearBets) -> None:
        self.sign = bets.sign
        self.parts = 0.5 ** np.array(bets.halvings)

    def factor(self, seen: np.ndarray) -> np.ndarray:
        worst = -seen[..., 1] if self.sign > 0 else seen[..., 2]
        gain = np.where(worst > 0, self.sign * seen[..., 0] / np.where(worst > 0, worst, 1), 0.0)
        return np.exp((seen[..., 3, None] * np.log1p(gain[..., None] * self.parts)).sum(1))


class Twin:
    """Many runs of one process. ``evidence`` is the wealth of each, 1 being what it began with.

    ``precision`` is that of the wealth: in single precision twice as many runs take the same time.
    """

    def __init__(self, mixture: Mixture, runs: int, precision: type = np.float64) -> None:
        self.families: list[tuple[str, Any, int]] = []
        merged: dict[str, list[Fixed]] = {}
        for family in mixture.families:
            bets = family.bets
            match bets:
                case ArcBets() | CellBets():
                    merged.setdefault(family.channel, []).append(Fixed(bets))
                    continue
                case Moved(ArcBets() as moved):
                    part = Fixed(moved)
                    part.logs, part.zero = (np.pad(each, ((1, 0), (0, 0))) for each in (part.logs, part.zero))
                    merged.setdefault(family.channel, []).append(part)
                    continue
                case Moved(Learner() as moved):
                    each: Any = Without(Learning(moved, runs))
                case Learner() | PairLearner():
                    each = Learning(bets, runs)
                case LinearBets():
                    each = Linear(bets)
                case _:
                    raise NotImplementedError(type(bets).__name__)
            self.families.append((family.channel, each, bets.bettors))
        for channel, parts in merged.items():
            whole = parts[0]
            whole.logs = np.concatenate([part.logs for part in parts], axis=1).astype(precision)
            whole.zero = np.concatenate([part.zero for part in parts], axis=1)
            self.families.append((channel, whole, whole.logs.shape[1]))
        self.shares = _reordered(mixture).astype(precision)
        self.cash = np.ones(runs)
        self.wealth = np.zeros((runs, len(self.shares)), dtype=precision)
        self.batches, self.batches_of_year = 0, mixture.batches_of_year

    def feed(self, seen: dict[str, np.ndarray], *, begins: bool = True) -> np.ndarray:
        """Settle a batch, whose first axis is the runs, and return the wealth of each.

        One that does not begin a session is looked at within it, and nothing is staked before it.
        """
        if begins:
            self._stake()
        first = 0
        for channel, bets, size in self.families:
            if channel in seen:
                own = self.wealth[:, first : first + size]
                own *= bets.factor(seen[channel])
            first += size
        np.minimum(self.wealth, LARGEST, out=self.wealth)
        return self.evidence

    def _stake(self) -> None:
        self.batches += 1
        staked = self.cash * float(part_staked(self.batches, self.batches_of_year))
        self.wealth += staked[:, None].astype(self.shares.dtype) * self.shares
        self.cash -= staked * self.shares.sum(dtype=float)

    @property
    def evidence(self) -> np.ndarray:
        return self.cash + self.wealth.sum(1, dtype=float)

    def begin_year(self) -> None:
        self.batches = 0

    def keep(self, rows: np.ndarray) -> None:
        """Go on with these runs only."""
        self.cash, self.wealth = self.cash[rows], self.wealth[rows]
        for _channel, bets, _size in self.families:
            if isinstance(bets, Learning | Without):
                bets.keep(rows)


def _reordered(mixture: Mixture) -> np.ndarray:
    """Return the shares in the order of ``Twin.families``: learners and linear bets, then fixed odds by channel."""
    shares = iter(mixture.shares)
    fixed: dict[str, list[int]] = {}
    others: list[int] = []
    for family in mixture.families:
        taken = [next(shares) for _ in range(family.bets.bettors)]
        is_fixed = isinstance(getattr(family.bets, "bets", family.bets), ArcBets | CellBets)
        (fixed.setdefault(family.channel, []) if is_fixed else others).extend(taken)
    ordered = others + [share for channel in fixed.values() for share in channel]
    return np.array(ordered, dtype=float) / UNIT
