"""How urgent a finding is, as ``priority.with_priority`` has PostgreSQL find it out.

Apart from the rules that find it out: what says the money of a finding reads it too, and the rules read the money.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.models import Finding

HIGHEST = 4


@dataclass(frozen=True, slots=True)
class Urgency:
    """How urgent a finding is, and what that comes from.

    ``level`` is the priority, 1 to ``HIGHEST``, None where there is no case; ``group`` the number of its group in the
    queue, as ``priority.DUE`` ends them. ``money`` is
    -1, 0 or 1; ``is_repeated`` whether others are like it; ``evidence`` the power of ten of the odds against chance of
    a question about a person, None of anything else; ``has_several_persons`` and ``is_watched`` whether several persons
    are concerned, and whether a player is on the watch list. ``facts`` are what the latest question of its incident
    says that the person staked and won; None if none does.
    """

    level: int | None
    group: int
    money: int | None
    is_repeated: bool
    evidence: int | None
    has_several_persons: bool
    is_watched: bool
    facts: dict[str, Any] | None


def urgency_of(finding: Finding) -> Urgency | None:
    """Return how urgent a finding is; None for one that is not of ``with_priority``."""
    found: Urgency | None = finding.__dict__.get("urgency")
    return found


def priority_of(finding: Finding) -> int | None:
    """Return the priority of a finding of ``with_priority``; None for one without a case."""
    found = urgency_of(finding)
    return None if found is None else found.level


def group_of(finding: Finding) -> int:
    """Return the number of the group of the queue in which a finding of ``with_priority`` is."""
    found = urgency_of(finding)
    assert found is not None, "a finding of with_priority"
    return found.group


def is_of_pattern(finding: Finding) -> bool:
    """Return whether others are like a finding of ``with_priority``: the same croupier's error again and again."""
    found = urgency_of(finding)
    return found is not None and found.is_repeated


def facts_of(finding: Finding) -> dict[str, Any]:
    """Return the facts of a finding; of one of ``with_priority`` that asks about a person, those of its incident."""
    found = urgency_of(finding)
    return (found.facts if found is not None else None) or finding.facts
