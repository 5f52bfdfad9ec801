"""The life of a case, as a table. ``docs/casework.md`` is made from it by ``manage.py casediagram``."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.models.cases import State
from audit.models.officers import Role

WORKING = frozenset({Role.OFFICER, Role.SECOND})
"""The roles that work on cases."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One thing that can be done to a case: from which states, to which, by whom, and what must be said."""

    name: str
    title: Promise
    begins: frozenset[State]
    ends: State | None  # None leaves the state as it is
    roles: frozenset[Role]
    event: str  # its type in the log
    needs_reason: bool = False
    needs_outcome: bool = False
    by_another: bool = False  # than who proposed


_OPEN = frozenset({State.NEW, State.INVESTIGATING, State.SECOND})

TRANSITIONS = {
    step.name: step
    for step in (
        Transition(
            "take",
            _("Assign to me"),
            frozenset({State.NEW, State.INVESTIGATING}),
            State.INVESTIGATING,
            WORKING,
            "case.taken",
        ),
        Transition(
            "assign",
            _("Assign"),
            frozenset({State.NEW, State.INVESTIGATING}),
            State.INVESTIGATING,
            WORKING,
            "case.assigned",
        ),
        Transition("release", _("Release"), frozenset({State.INVESTIGATING}), State.NEW, WORKING, "case.released"),
        Transition(
            "comment", _("Add a note"), _OPEN | {State.CLOSED}, None, WORKING, "case.commented", needs_reason=True
        ),
        Transition(
            "propose",
            _("Propose closing"),
            frozenset({State.INVESTIGATING}),
            State.SECOND,
            WORKING,
            "case.proposed",
            needs_reason=True,
            needs_outcome=True,
        ),
        Transition(
            "approve",
            _("Approve closing"),
            frozenset({State.SECOND}),
            State.CLOSED,
            frozenset({Role.SECOND}),
            "case.closed",
            by_another=True,
        ),
        Transition(
            "send_back",
            _("Send back"),
            frozenset({State.SECOND}),
            State.INVESTIGATING,
            frozenset({Role.SECOND}),
            "case.sent_back",
            needs_reason=True,
            by_another=True,
        ),
        Transition(
            "reopen",
            _("Reopen"),
            frozenset({State.CLOSED}),
            State.INVESTIGATING,
            frozenset({Role.SECOND}),
            "case.reopened",
            needs_reason=True,
        ),
    )
}


def diagram() -> str:
    """Return the machine as a state diagram in Mermaid's words."""
    lines = ["stateDiagram-v2", "    [*] --> new: a finding"]
    for step in TRANSITIONS.values():
        if step.ends is None:
            continue
        by = " or ".join(role.value for role in sorted(step.roles, key=list(Role).index))
        said = f"{step.name} ({by}{', not who proposed' if step.by_another else ''})"
        lines += [f"    {state.value} --> {step.ends.value}: {said}" for state in State if state in step.begins]
    return "\n".join(lines)
