"""The states of a case and the transitions between them, as a table.

``manage.py diagrams`` writes the diagram in ``docs/casework.md`` from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability, roles_with
from audit.models.cases import State
from audit.models.officers import Role


@dataclass(frozen=True, slots=True)
class Transition:
    """One thing that can be done to a case: from which states, to which, with which capability, and what it needs.

    ``event`` is its type in the audit trail. ``by_another``: not by the officer who proposed the closing (four eyes);
    ``by_proposer``: by nobody else.
    """

    name: str
    title: Promise
    sources: frozenset[State]
    target: State | None  # None leaves the state as it is
    capability: Capability
    event: str
    needs_reason: bool = False
    needs_outcome: bool = False
    by_another: bool = False
    by_proposer: bool = False


_OPEN = frozenset({State.NEW, State.INVESTIGATING, State.SECOND})

TRANSITIONS = {
    transition.name: transition
    for transition in (
        Transition(
            "take",
            _("Assign to me"),
            frozenset({State.NEW, State.INVESTIGATING}),
            State.INVESTIGATING,
            Capability.WORK_CASES,
            "case.taken",
        ),
        Transition(
            "assign",
            _("Assign"),
            frozenset({State.NEW, State.INVESTIGATING}),
            State.INVESTIGATING,
            Capability.WORK_CASES,
            "case.assigned",
        ),
        Transition(
            "release", _("Release"), frozenset({State.INVESTIGATING}), State.NEW, Capability.WORK_CASES, "case.released"
        ),
        Transition(
            "comment",
            _("Add a note"),
            _OPEN | {State.CLOSED},
            None,
            Capability.WORK_CASES,
            "case.commented",
            needs_reason=True,
        ),
        Transition(
            "propose",
            _("Propose closing"),
            frozenset({State.NEW, State.INVESTIGATING}),
            State.SECOND,
            Capability.WORK_CASES,
            "case.proposed",
            needs_reason=True,
            needs_outcome=True,
        ),
        Transition(
            "withdraw",
            _("Withdraw the proposal"),
            frozenset({State.SECOND}),
            State.INVESTIGATING,
            Capability.WORK_CASES,
            "case.withdrawn",
            by_proposer=True,
        ),
        Transition(
            "answer",
            _("Add the croupier’s answer"),
            _OPEN | {State.CLOSED},
            None,
            Capability.WORK_CASES,
            "case.answered",
            needs_reason=True,
        ),
        Transition(
            "ask_video",
            _("Ask for the video"),
            _OPEN,
            None,
            Capability.WORK_CASES,
            "case.video_asked",
        ),
        Transition(
            "join",
            _("Take as part of a pattern"),
            frozenset({State.NEW}),
            State.INVESTIGATING,
            Capability.WORK_CASES,
            "case.joined",
            needs_reason=True,
        ),
        Transition(
            "leave",
            _("Release from a pattern"),
            frozenset({State.INVESTIGATING}),
            State.NEW,
            Capability.WORK_CASES,
            "case.left",
        ),
        Transition(
            "link",
            _("Add to a pattern"),
            frozenset({State.INVESTIGATING, State.SECOND}),
            None,
            Capability.WORK_CASES,
            "case.linked",
            needs_reason=True,
        ),
        Transition(
            "unlink",
            _("Take out of the pattern"),
            _OPEN | {State.CLOSED},
            None,
            Capability.WORK_CASES,
            "case.unlinked",
        ),
        Transition(
            "approve",
            _("Approve closing"),
            frozenset({State.SECOND}),
            State.CLOSED,
            Capability.APPROVE_CASES,
            "case.closed",
            by_another=True,
        ),
        Transition(
            "send_back",
            _("Send back"),
            frozenset({State.SECOND}),
            State.INVESTIGATING,
            Capability.APPROVE_CASES,
            "case.sent_back",
            needs_reason=True,
            by_another=True,
        ),
        Transition(
            "reopen",
            _("Reopen"),
            frozenset({State.CLOSED}),
            State.INVESTIGATING,
            Capability.APPROVE_CASES,
            "case.reopened",
            needs_reason=True,
        ),
        Transition(
            "hold",
            _("Place a legal hold"),
            _OPEN | {State.CLOSED},
            None,
            Capability.APPROVE_CASES,
            "case.held",
            needs_reason=True,
        ),
        Transition(
            "lift_hold",
            _("Lift the legal hold"),
            _OPEN | {State.CLOSED},
            None,
            Capability.APPROVE_CASES,
            "case.hold_lifted",
            needs_reason=True,
        ),
    )
}


PAST = (
    Transition(
        "order_payment",
        _("Make a payment order"),
        frozenset(),
        None,
        Capability.WORK_CASES,
        "case.payment_ordered",
    ),
)
"""What earlier versions did to cases, and none can do now: verification still knows the entries."""


WHO_DECIDES = {(False, False): "", (True, False): ", not the proposer", (False, True): ", the proposer alone"}
"""What the diagram adds to the roles, by ``by_another`` and ``by_proposer``."""


def diagram() -> str:
    """Return the state machine as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> new: a finding"]
    for transition in TRANSITIONS.values():
        if transition.target is None:
            continue
        holders = roles_with(transition.capability)
        roles = " or ".join(role.value for role in Role if role in holders)
        label = f"{transition.name} ({roles}{WHO_DECIDES[transition.by_another, transition.by_proposer]})"
        target = transition.target.value
        lines += [f"    {state.value} --> {target}: {label}" for state in State if state in transition.sources]
    return "\n".join(lines)
