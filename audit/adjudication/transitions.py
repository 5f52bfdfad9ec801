"""What a run and a finding can become, as two tables. The database refuses every other change: ``sql/findings.sql``.

``manage.py diagrams`` writes the diagrams in ``docs/standing.md`` from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.models import FindingStatus, RunState


@dataclass(frozen=True, slots=True)
class Transition:
    """From one state to another. ``source`` is None where a row begins; ``when`` says what brings it about."""

    source: RunState | FindingStatus | None
    target: RunState | FindingStatus
    when: str


RUN_TRANSITIONS = (
    Transition(None, RunState.RUNNING, "a stream is read from its beginning"),
    Transition(
        RunState.RUNNING,
        RunState.COMPLETE,
        "it has caught up with the stream, or comes to a change that it does not know",
    ),
    Transition(RunState.RUNNING, RunState.FAILED, "a task fails"),
    Transition(RunState.COMPLETE, RunState.FAILED, "a task fails on later events"),
    Transition(RunState.FAILED, RunState.RUNNING, "a step succeeds"),
    Transition(
        RunState.FAILED, RunState.COMPLETE, "a step succeeds, or another run begins, and it was complete before"
    ),
    Transition(RunState.RUNNING, RunState.SUPERSEDED, "another run begins"),
    Transition(RunState.FAILED, RunState.SUPERSEDED, "another run begins"),
    Transition(RunState.COMPLETE, RunState.SUPERSEDED, "another run is complete"),
)

FINDING_TRANSITIONS = (
    Transition(None, FindingStatus.STANDING, "found by the run that stands, or an integrity finding, and opens a case"),
    Transition(
        None, FindingStatus.PENDING, "found by a run that replaces another, or by a first that knows corrections"
    ),
    Transition(FindingStatus.PENDING, FindingStatus.STANDING, "its run is complete, which opens a case"),
    Transition(FindingStatus.PENDING, FindingStatus.SUPERSEDED, "another run begins before its own is complete"),
    Transition(FindingStatus.STANDING, FindingStatus.SUPERSEDED, "a complete run, or a night, does not find it"),
    Transition(FindingStatus.SUPERSEDED, FindingStatus.STANDING, "a complete run, or a night, finds it again"),
)


def diagram(transitions: Sequence[Transition]) -> str:
    """Return transitions as a Mermaid state diagram."""
    lines = [
        f"    {each.source.value if each.source else '[*]'} --> {each.target.value}: {each.when}"
        for each in transitions
    ]
    return "\n".join(["stateDiagram-v2", *lines])
