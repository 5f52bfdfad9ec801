"""The sample that Pearson's χ² needs, planned in advance and looked at once: what an e-process is compared with."""

from __future__ import annotations

import numpy as np

from benchmarks.alternatives import Cells

CRITICAL = {1: 10.828, 5: 20.515, 36: 67.985}
"""The points above which χ² is with probability 1/1000, by degrees of freedom; published."""

SAMPLES = 4_000


def sample_needed(cells: Cells, power: float) -> float:
    """Return the least sample, to 2 %, at which χ² of level 1/1000 rejects with probability ``power``."""
    chance = np.random.default_rng(7)
    limit = CRITICAL[len(cells.null) - 1]

    def rejects(draws: int) -> float:
        expected = draws * cells.null
        came = chance.multinomial(draws, cells.alternative, size=SAMPLES)
        return float(np.mean((((came - expected) ** 2) / expected).sum(1) >= limit))

    high = 8
    while rejects(high) < power:
        high *= 2
    low = high // 2
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if rejects(middle) >= power else (middle, high)
    return high
