"""Whose errors are more than chance explains: one answer for the overview, a night, a month and a person.

The rate and the side of the errors are tested together, under a false discovery rate that holds under any dependence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from audit.reconciliation.findings import add_tallies
from audit.reconciliation.night import FALSE_NAMES, INTERVAL
from settlement.night.croupiers import Assessment, Tally, error_rate, more_than_others, noteworthy, one_sidedness


def assessments_of(tallies: Mapping[str, Tally]) -> dict[str, Assessment]:
    """Return the assessment of every croupier who paid something. Both tests are under one false discovery rate."""
    everybody = add_tallies(*tallies.values())
    p_errors = {name: more_than_others(tally, everybody) for name, tally in tallies.items()}
    p_side = {name: one_sidedness(tally) for name, tally in tallies.items()}
    # Fisher's tests share their totals, so the p-values are dependent.
    p_values = {f"errors/{name}": p for name, p in p_errors.items()} | {f"side/{name}": p for name, p in p_side.items()}
    named = {key.partition("/")[2] for key in noteworthy(p_values, FALSE_NAMES, any_dependence=True)}
    assessments = {}
    for name, tally in tallies.items():
        rate = error_rate(tally, INTERVAL)
        if rate is not None:
            assessments[name] = Assessment(tally, rate, p_errors[name], p_side[name], name in named)
    return assessments


def marked(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the croupiers of a report, each marked by ``assessments_of`` its counts.

    The mark in the content of a report is by the rate alone. It is sealed and stays; what people read is this one.
    """
    listed = [dict(row) for row in rows]
    tallies = {
        str(number): Tally(row["payouts"], row["for_house"], row["for_player"]) for number, row in enumerate(listed)
    }
    assessed = assessments_of(tallies) if tallies else {}
    for number, row in enumerate(listed):
        row["noteworthy"] = str(number) in assessed and assessed[str(number)].noteworthy
    return listed
