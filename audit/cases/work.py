"""What officers do to cases. Each act is checked, recorded in the log and done in one transaction, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.cases.machine import STEPS, WORKING, Step
from audit.log import acts
from audit.models import Case, CaseAct, Finding, Officer
from audit.models.cases import Outcome, State

MOST_WORDS = 4_000
"""Characters of a reason or a note."""

REFUSED = "case.refused"


class Refused(Exception):
    """An officer may not do that to a case, or not so. ``reason`` says why, to be shown."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


def do(
    case_id: int, officer: Officer, name: str, *, reason: str = "", outcome: str = "", assignee: Officer | None = None
) -> Case:
    """Do one step of the machine to a case and return it.

    Raise ``Refused`` where that may not be: then nothing is done, and the attempt is recorded.
    """
    step = STEPS[name]
    reason = reason.replace("\0", "").strip()[:MOST_WORDS]
    try:
        with transaction.atomic():
            case = Case.objects.select_for_update().get(pk=case_id)
            _check(case, officer, step, reason, outcome, assignee)
            about = _apply(case, officer, step, reason, outcome, assignee)
            case.save()
            CaseAct.objects.create(case=case, officer=officer, type=step.event, reason=reason, about=about)
            _record(case, officer, step.event, reason, about)
    except Refused as refused:
        case = Case.objects.get(pk=case_id)
        _record(case, officer, REFUSED, str(refused), name)
        raise
    return case


def may(case: Case, officer: Officer, name: str) -> bool:
    """Tell whether an officer could do a step to a case now, given what is to be said."""
    step = STEPS[name]
    return (
        case.state in step.begins
        and officer.role_at(case.casino_id) in step.roles
        and not (step.by_another and case.proposed_by_id == officer.pk)
        and not (name == "take" and case.assigned_to_id == officer.pk)
    )


def take_next(officer: Officer) -> Case | None:
    """Give an officer the most urgent new case of their houses. Two who ask at once never get the same one."""
    houses = officer.houses(*WORKING)
    stands = Finding.objects.filter(case=OuterRef("pk"), superseded_at=None)
    with transaction.atomic():
        case = (
            Case.objects.select_for_update(skip_locked=True)
            .filter(Exists(stands), state=State.NEW, casino__in=houses.values("pk"))
            .order_by("weight", "deadline", "pk")
            .first()
        )
        return None if case is None else do(case.pk, officer, "take")


def _check(case: Case, officer: Officer, step: Step, reason: str, outcome: str, assignee: Officer | None) -> None:
    """Raise ``Refused`` where the machine, a role or what was said stands against a step."""
    if officer.role_at(case.casino_id) not in step.roles:
        raise Refused(_("Your role at this casino does not allow this."))
    if case.state not in step.begins:
        raise Refused(_("The case is no longer where this can be done; look at it again."))
    if step.by_another and case.proposed_by_id == officer.pk:
        raise Refused(_("You proposed this closing. Another officer decides on it."))
    if step.needs_reason and not reason:
        raise Refused(_("Say why."))
    if step.needs_outcome and outcome not in Outcome.values:
        raise Refused(_("Say how the case ends."))
    if step.name == "assign" and (assignee is None or assignee.role_at(case.casino_id) not in WORKING):
        raise Refused(_("Nobody of that name works on cases at this casino."))


def _apply(case: Case, officer: Officer, step: Step, reason: str, outcome: str, assignee: Officer | None) -> str:
    """Change the case as the step says. Return whom or what it was about, "" where nothing more is to be said."""
    about = ""
    match step.name:
        case "take":
            case.assigned_to = officer
        case "assign":
            case.assigned_to = assignee
            about = str(assignee)
        case "release":
            case.assigned_to = None
        case "propose":
            case.outcome, case.reason, case.proposed_by = outcome, reason, officer
            about = outcome
        case "approve":
            case.approved_by, case.closed_at = officer, datetime.now(UTC)
            about = case.outcome
        case "send_back" | "reopen":
            case.outcome, case.reason = "", ""
            case.proposed_by = case.approved_by = case.closed_at = None
    if step.ends is not None:
        case.state = step.ends
    return about


def _record(case: Case, officer: Officer, event: str, reason: str, about: str) -> None:
    stream = Finding.objects.filter(case=case).values_list("stream__name", flat=True).first()
    data = {"case": case.pk, "stream": stream or "", "seq": case.seq, "rule": case.rule, "wager": case.wager}
    if about:
        data["about"] = about
    acts.record(officer.get_username(), event, casino_id=case.casino_id, data=data, reason=reason)
