"""Every transition of a case: what it changes, what it records, and what it is refused with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.casework import actions
from audit.casework.actions import ActionRefused
from audit.casework.priority import by_urgency
from audit.casework.state_machine import TRANSITIONS, diagram
from audit.event_store import audit_trail
from audit.models import Case, CaseAction, Finding, Officer, Role
from tests.audit.casework.test_actions import Desk, hired
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def last_entry(desk: Desk) -> tuple[str, str, str, dict[str, Any]]:
    entries = [
        entry
        for entry in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if entry.type.startswith("case.")
    ]
    entry = entries[-1]
    if entry.type != actions.REFUSED:
        at = datetime.fromisoformat(entry.data["at"])
        assert at == CaseAction.objects.latest("pk").at, "verification compares them"
    return entry.type, entry.actor, entry.reason, {name: entry.data[name] for name in entry.data if name != "at"}


def last_action(case: Case) -> tuple[str, Officer, str, str]:
    action = CaseAction.objects.filter(case=case).latest("pk")
    return action.type, action.officer, action.reason, action.about


def about(desk: Desk, **more: str) -> dict[str, Any]:
    """Return what an entry says of the case."""
    finding = desk.findings[0]
    return {
        "case": finding.case_id,
        "stream": desk.stream.name,
        "seq": finding.seq,
        "rule": finding.rule,
        "wager": finding.wager,
        **more,
    }


def values(case: Case) -> tuple[Any, ...]:
    return (
        *(case.state, case.assigned_to, case.outcome, case.reason),
        *(case.proposed_by, case.approved_by, case.closed_at),
    )


def test_each_transition_changes_and_records_what_it_is_about(desk: Desk) -> None:
    pk, first, second = desk.case.pk, desk.first, desk.second
    nothing = ("", "", None, None, None)

    actions.perform(pk, first, "take")
    assert values(desk.case) == ("investigating", first, *nothing)
    assert last_entry(desk) == ("case.taken", first.username, "", about(desk))
    assert last_action(desk.case) == ("case.taken", first, "", "")

    actions.perform(pk, first, "assign", assignee=second)
    assert values(desk.case) == ("investigating", second, *nothing)
    assert last_entry(desk) == ("case.assigned", first.username, "", about(desk, about=str(second)))
    assert last_action(desk.case) == ("case.assigned", first, "", str(second))

    actions.perform(pk, second, "release")
    assert values(desk.case) == ("new", None, *nothing)
    assert last_entry(desk) == ("case.released", second.username, "", about(desk))

    actions.perform(pk, first, "take")
    actions.perform(pk, first, "comment", reason=" \0camera 4 ")
    assert values(desk.case) == ("investigating", first, *nothing)
    assert last_entry(desk) == ("case.commented", first.username, "camera 4", about(desk))

    actions.perform(pk, first, "propose", reason="seen", outcome="mistaken")
    actions.perform(pk, second, "send_back", reason="which camera?")
    assert values(desk.case) == ("investigating", first, *nothing)
    assert last_entry(desk) == ("case.sent_back", second.username, "which camera?", about(desk))
    assert last_action(desk.case) == ("case.sent_back", second, "which camera?", "")

    actions.perform(pk, first, "propose", reason="seen", outcome="explained")
    assert values(desk.case) == ("second", first, "explained", "seen", first, None, None)
    assert last_entry(desk) == ("case.proposed", first.username, "seen", about(desk, about="explained"))
    assert last_action(desk.case) == ("case.proposed", first, "seen", "explained")

    before = datetime.now(UTC)
    closed = actions.perform(pk, second, "approve")
    case = desk.case
    assert values(case)[:6] == ("closed", first, "explained", "seen", first, second)
    assert closed.closed_at is not None
    assert closed.closed_at == case.closed_at, "an instant, and not the time on some clock"
    assert before <= closed.closed_at <= datetime.now(UTC)
    assert last_entry(desk) == ("case.closed", second.username, "", about(desk, about="explained"))

    actions.perform(pk, second, "reopen", reason="another witness")
    assert values(desk.case) == ("investigating", first, *nothing)
    assert last_entry(desk) == ("case.reopened", second.username, "another witness", about(desk))


REFUSALS = {
    "role": "Your role at this casino does not allow this.",
    "state": "No officer has taken this case.",
    "own": "You proposed closing this case. Another officer must decide.",
    "reason": "Give a reason.",
    "outcome": "Choose an outcome.",
    "assignee": "No officer by that name works on cases at this casino.",
}


def refusal(desk: Desk, officer: Officer, name: str, **fields: Any) -> str:
    """Perform a transition that is refused; return why, having compared it with the record and the unchanged case."""
    before = values(desk.case)
    with pytest.raises(ActionRefused) as refused:
        actions.perform(desk.case.pk, officer, name, **fields)
    assert values(desk.case) == before
    assert str(refused.value) == str(refused.value.reason)
    assert last_entry(desk) == ("case.refused", officer.username, str(refused.value), about(desk, about=name))
    return str(refused.value)


def test_each_refusal_says_why_and_is_recorded(desk: Desk) -> None:
    case, first, second = desk.case, desk.first, desk.second
    assert refusal(desk, desk.auditor, "take") == REFUSALS["role"]
    assert refusal(desk, first, "release") == REFUSALS["state"]
    assert refusal(desk, first, "comment", reason=" \0 ") == REFUSALS["reason"]
    assert refusal(desk, first, "assign") == REFUSALS["assignee"]
    assert refusal(desk, first, "assign", assignee=desk.auditor) == REFUSALS["assignee"]
    actions.perform(case.pk, second, "take")
    assert refusal(desk, second, "propose", outcome="confirmed") == REFUSALS["reason"]
    assert refusal(desk, second, "propose", reason="seen", outcome="guilty") == REFUSALS["outcome"]
    actions.perform(case.pk, second, "propose", reason="seen", outcome="confirmed")
    assert refusal(desk, second, "approve") == REFUSALS["own"]
    assert refusal(desk, second, "send_back", reason="no") == REFUSALS["own"]
    assert refusal(desk, first, "approve") == REFUSALS["role"]


def test_a_reason_is_cut_at_its_largest_length(desk: Desk) -> None:
    actions.perform(desk.case.pk, desk.first, "comment", reason="x" * (actions.MAX_REASON + 1))
    assert last_entry(desk)[2] == "x" * actions.MAX_REASON


def test_a_reason_is_kept_without_what_no_entry_can_hold(desk: Desk) -> None:
    """Half of a character of two, as a text that was cut has it, is no text to PostgreSQL or JSON."""
    actions.perform(desk.case.pk, desk.first, "comment", reason="\ud83c s\0een\ud800 ")
    assert last_entry(desk)[2] == "seen"
    assert refusal(desk, desk.first, "comment", reason="\ud800\0 ") == REFUSALS["reason"]
    with pytest.raises(actions.ActionRefused, match="Give a reason"):
        actions.open_pattern(desk.first, desk.findings[:1], reason="\udfff")


def test_an_officer_takes_back_what_they_just_did_and_nothing_is_deleted(desk: Desk) -> None:
    pk, first, second = desk.case.pk, desk.first, desk.second
    assert actions.undoable(desk.case, first) is None
    actions.perform(pk, first, "take")
    assert undo_of(desk, first) == ("case.taken", "release", None)
    assert actions.undoable(desk.case, second) is None
    actions.perform(pk, first, "propose", reason="seen", outcome="mistaken")
    assert undo_of(desk, first) == ("case.proposed", "withdraw", None)
    with pytest.raises(ActionRefused):
        actions.perform(pk, second, "withdraw")
    assert desk.case.state == "second"
    actions.perform(pk, first, "withdraw")
    assert values(desk.case) == ("investigating", first, "", "", None, None, None)
    assert last_entry(desk) == ("case.withdrawn", first.username, "", about(desk))
    assert actions.undoable(desk.case, first) is None
    assert CaseAction.objects.filter(case=desk.case).count() == 3
    actions.perform(pk, second, "comment", reason="camera 4")
    assert actions.undoable(desk.case, first) is None


def undo_of(desk: Desk, officer: Officer) -> tuple[str, str, Officer | None] | None:
    undo = actions.undoable(desk.case, officer)
    return None if undo is None else (undo.action.type, undo.transition, undo.assignee)


def latest(desk: Desk) -> CaseAction:
    return CaseAction.objects.filter(case=desk.case).latest("pk")


def test_a_case_that_another_officer_had_goes_back_to_them(desk: Desk) -> None:
    pk, first, second, third = desk.case.pk, desk.first, desk.second, desk.third
    actions.perform(pk, first, "take")
    actions.perform(pk, second, "take")
    assert undo_of(desk, second) == ("case.taken", "assign", first)
    actions.undo(latest(desk), second)
    assert values(desk.case)[:2] == ("investigating", first)
    assert last_entry(desk)[:2] == ("case.assigned", second.username)
    actions.perform(pk, first, "assign", assignee=third)
    assert undo_of(desk, first) == ("case.assigned", "assign", first)
    actions.perform(pk, third, "release")
    actions.perform(pk, first, "assign", assignee=third)
    assert undo_of(desk, first) == ("case.assigned", "release", None), "nobody had it"
    actions.undo(latest(desk), first)
    assert values(desk.case)[:2] == ("new", None)
    assert CaseAction.objects.filter(case=desk.case).count() == 7


def test_a_case_is_released_where_its_former_officer_works_on_cases_no_more(desk: Desk) -> None:
    actions.perform(desk.case.pk, desk.first, "take")
    actions.perform(desk.case.pk, desk.second, "take")
    desk.first.memberships.all().delete()
    assert undo_of(desk, desk.second) == ("case.taken", "release", None)


def test_what_was_done_since_is_not_taken_back(desk: Desk) -> None:
    pk, first, second = desk.case.pk, desk.first, desk.second
    actions.perform(pk, first, "take")
    taken = latest(desk)
    actions.perform(pk, second, "take")
    with pytest.raises(ActionRefused, match="since"):
        actions.undo(taken, first)
    with pytest.raises(ActionRefused, match="since"):
        actions.perform(pk, first, "release", undoes=taken.pk)
    with pytest.raises(ActionRefused, match="since"):
        actions.undo(latest(desk), first)
    assert values(desk.case)[:2] == ("investigating", second)


def test_a_case_that_was_ones_own_before_stays_so(desk: Desk) -> None:
    actions.perform(desk.case.pk, desk.first, "take")
    actions.perform(desk.case.pk, desk.first, "take")
    actions.undo(latest(desk), desk.first)
    assert values(desk.case)[:2] == ("investigating", desk.first)


def test_the_croupiers_answer_is_kept_with_the_croupiers_id(desk: Desk) -> None:
    with without_triggers():
        Finding.objects.filter(case=desk.case).update(croupier="c-9")
    with pytest.raises(ActionRefused):
        actions.perform(desk.case.pk, desk.first, "answer", reason=" ")
    actions.perform(desk.case.pk, desk.first, "answer", reason="a stack fell")
    assert desk.case.state == "new"
    assert last_action(desk.case) == ("case.answered", desk.first, "a stack fell", "c-9")
    assert last_entry(desk)[0] == "case.answered"


def test_what_the_desk_offers_is_what_perform_accepts(desk: Desk) -> None:
    """``is_allowed`` decides which buttons are shown: for every officer, state and transition it agrees."""
    fields = {"reason": "seen", "outcome": "confirmed", "assignee": desk.third}
    officers = [
        desk.first,
        desk.second,
        desk.third,
        desk.auditor,
        desk.administrator,
        hired(Desk().tenant, Role.SECOND, "x"),
    ]
    path = [None, (desk.first, "take"), (desk.second, "take"), (desk.second, "propose"), (desk.third, "approve")]
    for step in path:
        if step is not None:
            actions.perform(desk.case.pk, step[0], step[1], **fields)
        for officer in officers:
            for name in TRANSITIONS:
                case = desk.case
                offered = actions.is_allowed(case, officer, name)
                own = name == "take" and case.assigned_to_id == officer.pk
                try:
                    actions._check(case, officer, TRANSITIONS[name], "seen", "confirmed", desk.third)
                    accepted = True
                except ActionRefused:
                    accepted = False
                assert offered == (accepted and not own), (case.state, officer.username, name)


def test_the_most_urgent_case_is_taken_first_and_a_superseded_one_never(desk: Desk) -> None:
    late = desk.findings[-1].case
    assert late is not None
    Case.objects.filter(pk=late.pk).update(deadline=timezone.now() - timedelta(hours=1))
    standing = by_urgency(Finding.objects.standing().filter(casino=desk.tenant.casino))
    expected = list(dict.fromkeys(finding.case for finding in standing))
    assert expected[0] == late
    assert len(expected) > 1
    Finding.objects.filter(case=late).update(status="superseded", superseded_at=timezone.now())
    taken = [actions.take_next(desk.first) for _ in expected]
    assert [case.pk for case in taken if case is not None] == [case.pk for case in expected[1:] if case is not None]
    assert taken[-1] is None
    assert all(case.assigned_to == desk.first for case in taken if case is not None)


def test_nobody_takes_the_next_case_of_a_casino_where_they_only_read(desk: Desk) -> None:
    assert actions.take_next(desk.auditor) is None
    assert actions.take_next(hired(Desk().tenant, Role.OFFICER, "elsewhere")) not in [desk.case]


def test_the_diagram_names_who_may_and_who_may_not() -> None:
    lines = diagram().splitlines()
    assert lines[0] == "stateDiagram-v2"
    approve = next(line for line in lines if "approve" in line)
    assert approve.strip() == "second --> closed: approve (second or director, not the proposer)"
    take = [line.strip() for line in lines if ": take " in line]
    assert [line.split(":")[0].strip() for line in take] == ["new --> investigating", "investigating --> investigating"]
    assert all("(officer or second)" in line for line in take)
