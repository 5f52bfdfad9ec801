"""Alternatives of which a batch is a night: croupiers' errors, and accounting variances. By the shipped code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from settlement.eprocess.channels import Fed, of_payouts, of_variance
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.observations import Payout
from settlement.eprocess.process import UNIT, Process

CROUPIERS = 10
PAID = 200
"""Coups that a croupier pays in a night."""

ERRORS = 1 / 200
LARGEST = 5_000
"""Of an error, in minor units."""

NOISE = 4_000
"""Standard deviation of an accounting variance, in minor units."""

Night = Callable[[np.random.Generator, float], Fed | None]


class Nightly(NamedTuple):
    """One thing that is wrong, as ``night`` shows it to the process that should notice it."""

    name: str
    kind: str
    strengths: tuple[float, ...]
    label: Callable[[float], str]
    night: Night
    most: int = 400

    def delays(self, strength: float, runs: int, levels: Sequence[float]) -> np.ndarray:
        """Return for each level and run after how many nights it is reached; infinite if it is not."""
        reached = np.full((len(levels), runs), np.inf)
        mixture = KINDS[self.kind].mixture(0)
        for run in range(runs):
            chance = np.random.default_rng([run, round(strength * 1000)])
            process = Process(self.kind, "one")
            for night in range(1, self.most + 1):
                fed = self.night(chance, strength)
                if fed is not None:
                    process.feed(mixture, fed.seen, draws=fed.draws, session="")
                for row, wanted in zip(reached, levels, strict=True):
                    if process.evidence >= wanted * UNIT:
                        row[run] = min(row[run], night)
                if process.evidence >= max(levels) * UNIT:
                    break
        return reached


def _payouts(chance: np.random.Generator, rate: float, lean: float) -> dict[str, Fed]:
    """Return what a night of ten croupiers feeds, the first of whom errs ``rate`` times as often, and as ``lean``."""
    payouts = []
    for croupier in range(CROUPIERS):
        errs = ERRORS * (rate if croupier == 0 else 1)
        for coup in np.flatnonzero(chance.random(PAID) < errs):
            for_player = chance.random() < (lean if croupier == 0 else 0.5)
            error = int(chance.integers(1, LARGEST)) * (-1 if for_player else 1)
            payouts.append(Payout(f"{croupier}:{coup}", f"c{croupier}", error))
        payouts += [Payout(f"{croupier}:{coup}:right", f"c{croupier}", 0) for coup in range(PAID)]
    return {fed.kind: fed for fed in of_payouts(payouts) if fed.subject == "c0"}


def _variance(chance: np.random.Generator, skimmed: float) -> Fed:
    [fed] = of_variance("t", "", "", round(chance.normal(0, NOISE) - skimmed))
    return fed


def _percent(part: float) -> str:
    return f"{100 * part:g} % for the player"


NIGHTLY: tuple[Nightly, ...] = (
    Nightly(
        "errors that lean", "payout-lean", (0.7, 0.8, 1.0), _percent,
        lambda chance, s: _payouts(chance, 1, s).get("payout-lean"),
    ),
    Nightly(
        "a croupier who errs more often", "payout-rate", (2.0, 3.0, 5.0), lambda s: f"{s:g} times the others",
        lambda chance, s: _payouts(chance, s, 0.5).get("payout-rate"),
    ),
    Nightly(
        "a skim each night (σ 40.00)", "table-drift", (2_500.0, 5_000.0, 10_000.0), lambda s: f"{s / 100:.2f}",
        lambda chance, s: _variance(chance, s),
    ),
)  # fmt: skip


def fair_nights(kind: str, chance: np.random.Generator, nights: int) -> list[Any]:
    """Return what fair ``nights`` feed a process of ``kind``."""
    night = next(each.night for each in NIGHTLY if each.kind == kind)
    fair = {"payout-lean": 0.5, "payout-rate": 1.0, "table-drift": 0.0}[kind]
    return [night(chance, fair) for _ in range(nights)]
