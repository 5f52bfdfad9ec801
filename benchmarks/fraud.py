"""``python -m benchmarks.fraud``: what the ledger of e-processes notices, and when; what it asks in fair years.

    --power    for each alternative and strength: the delay at which wealth 1,000 is reached, median and 90 %, looked at
               after every draw (at wheels every fifty), staked by sessions; the same for the casino's level; the sample
               that χ² needs, planned in advance and looked at once; and the delay at the close of sessions only
    --onset    the delay of what begins after honest play, beside an e-detector and a CUSUM (``benchmarks.onset``)
    --false    how many questions are asked in fair years of 20 tables
    --season   a season in which a fraud is hidden (``benchmarks.season``): what is raised, when, and who is named;
               --fraud NAME and --strength, else each; --tables, --nights, --coups, --seed
    --write    also write the tables into benchmarks/results/ledger.md, the curves into the docs
    --short    few runs, or a small season: what CI runs; fails if power or level has dropped

The copy in floating point gives the delays; tests hold it to the shipped code. The shipped code gives those of
croupiers and counts, where a batch is a night.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from audit.simulation.surveillance import FRAUDS
from benchmarks import onset
from benchmarks.alternatives import ALTERNATIVES, GOAL_AT_LAST, Alternative
from benchmarks.chi_square import sample_needed
from benchmarks.curves import figure
from benchmarks.eprocess_twin import Twin
from benchmarks.fair_years import expected, questions_of
from benchmarks.nightly import NIGHTLY, Nightly
from benchmarks.onset import GIVEN_UP, SESSION, WEALTH, quantile, shown
from benchmarks.pages import DOCS, RESULTS, write
from benchmarks.season import HEAD, SHORT, Nights, run, season_row, table
from settlement.eprocess.budget import level
from settlement.eprocess.kinds import KINDS

PAGE, CURVES = RESULTS / "ledger.md", DOCS / "images" / "ledger-power.svg"


class Delays(NamedTuple):
    """Of many runs, the draws after which wealth reached 1,000 and the casino's level; infinite if it did not."""

    at_thousand: np.ndarray
    at_level: np.ndarray


def threshold(kind: str) -> float:
    """Return the wealth at which each subject asks that a casino of 20 tables expects."""
    return float(1 / level(Fraction(1), KINDS[kind], 1, expected(kind)))


def delays(alternative: Alternative, strength: float, *, runs: int, step: int, seed: int = 1) -> Delays:
    """Simulate ``runs`` of the process under the alternative, looked at every ``step`` draws."""
    chance = np.random.default_rng([seed, round(strength * 1e6), step])
    twin = Twin(KINDS[alternative.kind].mixture(0 if alternative.kind == "void-call" else 37), runs, np.float32)
    levels = np.array([WEALTH, threshold(alternative.kind)])
    reached = np.full((2, runs), GIVEN_UP)
    left = np.arange(runs)
    draw, drawn, session = alternative.draw(strength), 0, SESSION[alternative.unit]
    while len(left) and drawn < alternative.most:
        wealth = twin.feed(draw(chance, len(left), step), begins=drawn % session < step)
        drawn += step
        for row, wanted in zip(reached, levels, strict=True):
            hit = left[wealth >= wanted]
            row[hit] = np.minimum(row[hit], drawn)
        done = wealth >= levels.max()
        if done.any():
            twin.keep(~done)
            left = left[~done]
    return Delays(*reached)


POWER_HEAD = (
    "| alternative | strength | median | 90 % | at the casino's level: wealth | median | 90 % | by sessions: median"
    " | χ² once: 50 % | 90 % | goal |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


class Row(NamedTuple):
    text: str
    reaches_goal: bool
    at_thousand: np.ndarray
    name: str


def row(alternative: Alternative, strength: float, runs: int) -> Row:
    """Measure one alternative at one strength."""
    found = delays(alternative, strength, runs=runs, step=alternative.step)
    closes = delays(alternative, strength, runs=runs, step=SESSION[alternative.unit])
    goal, reached = alternative.goal, True
    is_named = strength == alternative.strengths[-1 if alternative.name in GOAL_AT_LAST else 1]
    verdict = ""
    if goal is not None and is_named:
        within = float(np.mean(found.at_thousand <= goal.draws))
        reached = within >= goal.quantile
        verdict = f"{within:.0%} within {goal.draws:,}, wanted {goal.quantile:.0%}: {'yes' if reached else '**no**'}"
    fixed = ["–", "–"]
    if alternative.cells is not None:
        cells = alternative.cells(strength)
        fixed = [shown(np.ceil(sample_needed(cells, power) / alternative.per_draw)) for power in (0.5, 0.9)]
    entries = [
        alternative.name,
        alternative.label(strength),
        *(shown(quantile(found.at_thousand, part)) for part in (0.5, 0.9)),
        f"{threshold(alternative.kind):,.0f}",
        *(shown(quantile(found.at_level, part)) for part in (0.5, 0.9)),
        shown(quantile(closes.at_thousand, 0.5)),
        *fixed,
        verdict,
    ]
    label = f"{alternative.name}, {alternative.label(strength)} ({alternative.unit})"
    return Row("| " + " | ".join(entries) + " |", reached, found.at_thousand, label)


def nightly_row(alternative: Nightly, strength: float, runs: int) -> str:
    """Measure an alternative whose batches are nights, by the shipped code."""
    levels = (WEALTH, threshold(alternative.kind))
    found = alternative.delays(strength, runs, levels)
    entries = [alternative.name, alternative.label(strength)]
    entries += [shown(quantile(found[0], part)) for part in (0.5, 0.9)]
    entries += [f"{levels[1]:,.0f}", *(shown(quantile(found[1], part)) for part in (0.5, 0.9))]
    return "| " + " | ".join(entries) + " | – | – | – | |"


def power(runs: int, *, only_goals: bool) -> tuple[list[str], list[Row]]:
    """Return the lines of the table, printed as they come, and the rows with curves."""
    lines, rows = [POWER_HEAD], []
    print(POWER_HEAD, flush=True)
    for alternative in ALTERNATIVES:
        named = alternative.strengths[-1 if alternative.name in GOAL_AT_LAST else 1]
        for strength in alternative.strengths:
            if only_goals and (alternative.goal is None or strength != named):
                continue
            rows.append(row(alternative, strength, runs))
            lines.append(rows[-1].text)
            print(rows[-1].text, flush=True)
    for nightly in () if only_goals else NIGHTLY:
        for strength in nightly.strengths:
            lines.append(nightly_row(nightly, strength, min(runs, 100)))
            print(lines[-1], flush=True)
    return lines, rows


def in_season(options: argparse.Namespace) -> int:
    """Print what a season with each fraud raises; fail if one is not found, or the orderly one raises too much.

    The short form is a small season for each, with a stronger fraud.
    """
    if options.short:
        return short_seasons(options.fraud or list(FRAUDS))
    frauds = [FRAUDS[name](options.strength) for name in options.fraud or FRAUDS]
    played = run(
        frauds,
        tables=options.tables,
        nights=options.nights,
        seed=options.seed,
        coups=options.coups,
        processes=options.processes,
    )
    orderly, branches = deque(_counted(played, options.nights), maxlen=1).pop()
    lines = table(orderly, branches)
    print("\n".join(lines))
    if options.write:
        write("season", lines, PAGE)
    expected = orderly.ledger.spent
    return int(not all(branch.naming() for branch in branches) or len(orderly.questions) > 1 + expected)


def _counted(played: Iterable[Nights], nights: int) -> Iterator[Nights]:
    for night, each in enumerate(played, start=1):
        print(f"\rnight {night} of {nights}", end="" if night < nights else "\n", file=sys.stderr, flush=True)
        yield each


def short_seasons(names: Collection[str]) -> int:
    failed = False
    print(HEAD)
    for short in SHORT:
        if short.fraud in names:
            orderly, branch = short.run()
            print(season_row(branch, orderly) if branch.naming() else f"| {short.fraud} | **nothing**", flush=True)
            failed |= not branch.naming() or bool(orderly.raised)
    return int(failed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fraud", description=__doc__)
    parser.add_argument("--power", action="store_true", help="delays of all alternatives")
    parser.add_argument("--onset", action="store_true", help="delays of what begins after honest play")
    parser.add_argument("--false", action="store_true", help="questions in fair years")
    parser.add_argument("--runs", type=int, default=200, help="runs of each alternative and strength")
    parser.add_argument("--years", type=int, default=2_000, help="fair years")
    parser.add_argument("--processes", type=int, default=1, help="of the fair years")
    parser.add_argument("--short", action="store_true", help="goals and twenty years, in a minute or two")
    parser.add_argument("--season", action="store_true", help="frauds hidden in a season")
    parser.add_argument("--fraud", choices=sorted(FRAUDS), action="append", help="of the season; default: each")
    parser.add_argument("--strength", type=float, help="of the fraud; its docstring has the unit")
    parser.add_argument("--tables", type=int, default=20, help="of the season")
    parser.add_argument("--nights", type=int, default=90, help="of the season")
    parser.add_argument("--coups", type=int, default=100, help="of each of its sessions")
    parser.add_argument("--seed", type=int, default=1, help="of the season")
    parser.add_argument("--write", action="store_true", help="write the tables")
    options = parser.parse_args()
    if options.season:
        return in_season(options)
    failed = False
    if options.power or options.short:
        runs = 60 if options.short else options.runs
        lines, rows = power(runs, only_goals=options.short)
        failed = not all(each.reaches_goal for each in rows)
        if options.write:
            write("power", lines, PAGE)
            CURVES.write_text(figure([(each.name, each.at_thousand) for each in rows]))
    if options.onset:
        lines = onset.rows(options.runs)
        if options.write:
            write("onset", lines, PAGE)
    if options.false or options.short:
        years = 20 if options.short else options.years
        lines, expected = questions_of(years, processes=options.processes)
        print("\n".join(lines))
        failed = failed or expected > 1
        if options.write:
            write("false questions", lines, PAGE)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
