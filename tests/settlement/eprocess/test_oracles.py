"""The learners against two packages of PyPI that others wrote: savvi's multinomial test and ville's binomial one.

Neither is in the lock (savvi brings a solver of convex programs), so these run where somebody has installed them.
"""

from __future__ import annotations

import random
from math import log
from typing import Any

import numpy as np
import pytest

from settlement.eprocess.bets import Learner
from settlement.eprocess.process import UNIT


def wealth_after(learner: Learner, batches: list[list[int]]) -> list[float]:
    wealth, memory, after = [UNIT], [0] * learner.memory_cells, []
    for batch in batches:
        wealth = learner.settle(wealth, memory, batch)
        after.append(wealth[0] / UNIT)
    return after


@pytest.mark.parametrize("cells, prior", [(6, 1), (6, 36), (4, 5), (8, 2)])
def test_a_learner_has_the_odds_of_savvi(cells: int, prior: int) -> None:
    multinomial: Any = pytest.importorskip("savvi.multinomial", reason="an outside oracle of PyPI, not in the lock")
    chance = random.Random(cells * 100 + prior)
    batches = [[chance.randrange(4) for _ in range(cells)] for _ in range(30)]
    theta = np.full(cells, 1 / cells)
    theta[-1] = 1 - theta[:-1].sum()
    oracle = multinomial.Multinomial(alpha=0.05, theta_0=theta, k=prior * cells)
    for batch, wealth in zip(
        batches, wealth_after(Learner(tuple(range(cells)), (1,) * cells, prior), batches), strict=True
    ):
        oracle.update(np.array(batch))
        assert wealth == pytest.approx(oracle.odds, rel=1e-8)


@pytest.mark.parametrize("prior", [1, 4])
def test_a_learner_of_two_cells_has_the_wealth_of_ville(prior: int) -> None:
    from ville import proportions  # which imports all of scipy: not while tests are collected

    chance = random.Random(prior)
    tosses = [int(chance.random() < 0.25) for _ in range(200)]
    learner = Learner((0, 1), (1, 5), prior)
    oracle = proportions.BernoulliTest(p0=1 / 6, prior=(prior, 5 * prior))
    oracle.update(np.array(tosses))
    [*_, wealth] = wealth_after(learner, [[toss, 1 - toss] for toss in tosses])
    assert log(wealth) == pytest.approx(float(oracle.log_e_values_[-1]), abs=1e-8)
