"""Whose errors are more than chance explains: one answer for the overview, a night, a month and a person."""

from __future__ import annotations

from collections.abc import Mapping

from audit.reconciliation.night import FALSE_NAMES, INTERVAL
from settlement.night.croupiers import Assessment, Tally, compare


def assessments_of(tallies: Mapping[str, Tally]) -> dict[str, Assessment]:
    """Return the assessment of every croupier who paid something, by name: ``settlement.night.croupiers.compare``."""
    return compare(tallies, alpha=INTERVAL, q=FALSE_NAMES)
