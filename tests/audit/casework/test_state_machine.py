"""The state machine of a case against an independent model of it, written from the design and not from the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.casework import actions
from audit.event_store import audit_trail
from audit.models import Case, Officer, Role
from tests.audit.casework.test_actions import Desk, hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

CASEWORKERS, APPROVERS = {"officer", "second", "third"}, {"second", "third"}
"""Who works on cases, and which of them decide on a closing that another has proposed."""


@dataclass
class Model:
    """The state of a case by the design: new → investigating → second officer → closed, sent back, came back."""

    state: str = "new"
    assigned: str | None = None
    proposer: str | None = None
    approver: str | None = None
    outcome: str = ""

    def allows(self, who: str, step: str, reason: str, outcome: str) -> bool:
        match step:
            case "take":
                return who in CASEWORKERS and self.state in ("new", "investigating")
            case "release":
                return who in CASEWORKERS and self.state == "investigating"
            case "comment":
                return who in CASEWORKERS and bool(reason)
            case "propose":
                fits = bool(reason) and outcome in ("confirmed", "explained", "mistaken")
                return who in CASEWORKERS and self.state in ("new", "investigating") and fits
            case "approve":
                return who in APPROVERS and self.state == "second" and who != self.proposer
            case "send_back":
                return who in APPROVERS and self.state == "second" and who != self.proposer and bool(reason)
            case _:
                return who in APPROVERS and self.state == "closed" and bool(reason)

    def apply(self, who: str, step: str, outcome: str) -> None:
        match step:
            case "take":
                self.state, self.assigned = "investigating", who
            case "release":
                self.state, self.assigned = "new", None
            case "propose":
                if self.state == "new":  # proposing implies taking
                    self.assigned = who
                self.state, self.proposer, self.outcome = "second", who, outcome
            case "approve":
                self.state, self.approver = "closed", who
            case "send_back" | "reopen":
                self.state, self.outcome = "investigating", ""
                self.proposer = self.approver = None


WHO = ["officer", "second", "third", "auditor", "administrator", "stranger"]
TRANSITIONS = ["take", "release", "comment", "propose", "approve", "send_back", "reopen"]

attempted = st.lists(
    st.tuples(
        st.sampled_from([*WHO, "officer", "second", "third"]),
        st.sampled_from(TRANSITIONS),
        st.sampled_from(["seen on camera 4", "", "  \0 "]),
        st.sampled_from(["confirmed", "explained", "mistaken", "", "perhaps"]),
    ),
    max_size=25,
)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def people(desk: Desk) -> dict[str, Officer]:
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    named = {"officer": desk.first, "auditor": desk.auditor, "administrator": desk.administrator, "stranger": stranger}
    return {**named, "second": desk.second, "third": desk.third}


@settings(
    max_examples=settings.default.max_examples * 2 // 5,  # an example is up to 25 actions
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(attempts=attempted)
def test_a_case_changes_as_the_model_does_and_in_no_other_way(
    desk: Desk, people: dict[str, Officer], attempts: list[tuple[str, str, str, str]]
) -> None:
    with transaction.atomic():
        before = _recorded(desk)
        model = Model()
        expected: list[str] = []
        for who, step, reason, outcome in attempts:
            is_taken_too = step == "propose" and model.state == "new"
            allowed = model.allows(who, step, reason.replace("\0", "").strip(), outcome)
            try:
                actions.perform(desk.case.pk, people[who], step, reason=reason, outcome=outcome)
            except actions.ActionRefused:
                assert not allowed, (model, who, step, reason, outcome)
            else:
                assert allowed, (model, who, step, reason, outcome)
                model.apply(who, step, outcome)
                expected += [people[who].get_username()] * is_taken_too
            expected.append(people[who].get_username())
            _same(desk.case, model, people)
        recorded = _recorded(desk)[len(before) :]
        assert [entry.actor for entry in recorded] == expected, "what is done and what is refused are events alike"
        transaction.set_rollback(True)


def _same(case: Case, model: Model, people: dict[str, Officer]) -> None:
    def named(who: str | None) -> Any:
        return people[who] if who else None

    assert case.state == model.state
    assert case.assigned_to == named(model.assigned)
    assert (case.proposed_by, case.approved_by) == (named(model.proposer), named(model.approver))
    assert case.outcome == model.outcome
    assert (case.closed_at is not None) == (model.state == "closed")
    assert case.state != "closed" or case.proposed_by != case.approved_by


def _recorded(desk: Desk) -> list[audit_trail.AuditEntry]:
    today = timezone.now().date()
    return [entry for entry in audit_trail.entries_of(desk.tenant.casino.pk, today) if entry.type.startswith("case.")]
