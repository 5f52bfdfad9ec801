"""What officers do to cases. Each action is checked, done and recorded in the audit trail in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from django.db import transaction
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit import task_queue
from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.casework import holds, patterns, video
from audit.casework.priority import by_urgency
from audit.casework.state_machine import TRANSITIONS, Transition
from audit.event_store import audit_trail
from audit.models import Case, CaseAction, Finding, FindingStatus, LoggedStream, Officer
from audit.models.cases import Outcome, State
from audit.presentation import local, reference

MAX_REASON = 4_000
"""Characters of a reason or a note."""

REFUSED = "case.refused"

CHANGED_FIELDS = ("state", "assigned_to", "outcome", "reason", "proposed_by", "approved_by", "closed_at")
"""What an action may change of a case; the rest is as the finding opened it."""


UNDO: Mapping[str, str] = {
    "case.taken": "release",
    "case.assigned": "release",
    "case.proposed": "withdraw",
    "case.joined": "leave",
    "case.linked": "unlink",
}
"""The transition that takes back an action, by the action's event. It is an action too: nothing is deleted. A case that
another officer had is not released, but assigned to them again."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The last action on a case, and the transition that takes it back. ``assignee`` is who had the case before."""

    action: CaseAction
    transition: str
    assignee: Officer | None = None


class ActionRefused(audit_trail.Refused):
    """An officer may not do this to the case, or not with these values. ``reason`` is for the officer."""


def perform(
    case_id: int,
    officer: Officer,
    name: str,
    *,
    reason: str = "",
    outcome: str = "",
    assignee: Officer | None = None,
    is_again: bool = False,
    moment: datetime | None = None,
    until: datetime | None = None,
    undoes: int | None = None,
    proposal: int | None = None,
    pattern: str = "",
) -> Case:
    """Perform the transition ``name`` on a case and return the case.

    ``is_again`` is whether the officer knows that the video was asked for already. ``moment`` is the instant whose
    video is asked for, None for what the case's finding is of; with ``until``, all from one to the other. ``undoes`` is
    the id of the officer's own action that this takes back: it is refused if anything was done since. ``proposal`` is
    the id of the proposed closing that the officer has read: a decision is refused if another was proposed since.
    ``pattern`` names the one that a case is put into.

    Raise ``ActionRefused`` if the officer may not: then the case is unchanged, and the attempt is recorded.
    """
    transition = TRANSITIONS[name]
    reason = audit_trail.cleaned(reason, most=MAX_REASON)
    try:
        with transaction.atomic():
            case = Case.objects.select_for_update().get(pk=case_id)
            if undoes is not None:
                _check_is_last(case, officer, undoes)
            if proposal is not None and proposal != proposal_of(case):
                raise ActionRefused(
                    _("The case has changed in the meantime: another closing is proposed. Read it, then decide.")
                )
            _check(case, officer, transition, reason, outcome, assignee)
            if transition.event in patterns.JOINED and not pattern:
                raise ActionRefused(_("Say which pattern the case is part of."))
            if transition.name == "ask_video" and not is_again and video.was_requested(case, moment, until):
                raise ActionRefused(_("The video has already been asked for. Tick the box to ask for it again."))
            if transition.name == "propose" and case.state == State.NEW:  # proposing implies taking
                _carry_out(case, officer, TRANSITIONS["take"])
            about = _apply(case, officer, transition, reason, outcome, assignee, moment, until, pattern)
            stated = {}
            if transition.name == "ask_video":
                stated = video.stated_of(video.ask(case, officer, moment, until))
            _keep(case, officer, transition, reason, about, stated)
            if State.CLOSED in (transition.target, *transition.sources):
                task_queue.notify_on_commit(case.casino_id)
    except ActionRefused as refused:
        case = Case.objects.get(pk=case_id)
        _record(case, officer, REFUSED, str(refused), name)
        raise
    return case


def _carry_out(case: Case, officer: Officer, transition: Transition) -> None:
    """Perform a transition that takes no value, on a case that is locked and for which it was checked."""
    _keep(case, officer, transition, "", _apply(case, officer, transition, "", "", None, None, None, ""), {})


def _keep(
    case: Case, officer: Officer, transition: Transition, reason: str, about: str, stated: Mapping[str, str | int]
) -> None:
    """Save the case as the transition has left it, with its action and its entry of the trail."""
    action = CaseAction.objects.create(case=case, officer=officer, type=transition.event, reason=reason, about=about)
    if transition.target == State.CLOSED:
        case.closed_at = action.at  # the instant of the entry, to the microsecond: verification compares them
    case.save(update_fields=CHANGED_FIELDS)
    _record(case, officer, transition.event, reason, about, stated, at=action.at)


class Known:
    """What decides whether transitions of a case are allowed, looked up once where a page shows all of them.

    ``finding`` is one of the case, if the page has one. All findings of a case come from one table, but for questions
    about a person.
    """

    def __init__(self, case: Case, finding: Finding | None = None) -> None:
        self.case = case
        self._finding = finding

    @cached_property
    def history(self) -> Sequence[CaseAction]:
        """The actions on the case, in order, each with its officer."""
        return list(self.case.actions.select_related("officer"))

    @cached_property
    def hold(self) -> CaseAction | None:
        return holds.hold_among(self.history)

    @cached_property
    def pattern(self) -> str:
        """The name of the pattern that the case is in, "" for none."""
        return patterns.pattern_among(self.history)

    @cached_property
    def is_of_a_table(self) -> bool:
        if self._finding is not None:
            return self._finding.table_id is not None
        return video.is_of_a_table(self.case)

    @cached_property
    def no_video(self) -> Promise | None:
        """Why no video can be asked for; None if it can."""
        return video.why_not(self.case, is_of_a_table=self.is_of_a_table)


def is_allowed(case: Case, officer: Officer, name: str, known: Known | None = None) -> bool:
    """Return whether an officer may perform a transition on a case now, given a reason or outcome if it needs one."""
    transition, known = TRANSITIONS[name], known or Known(case)
    return (
        case.state in transition.sources
        and Scope.of(officer, transition.capability).includes(case.casino_id)
        and not (transition.by_another and case.proposed_by_id == officer.pk)
        and not (name == "take" and case.assigned_to_id == officer.pk)
        and not (name == "ask_video" and known.no_video is not None)
        and not (transition.by_another and _is_in_same_hands(case, officer))
        and not (transition.by_proposer and case.proposed_by_id != officer.pk)
        and not (name in _OF_HOLDS and _why_no_hold(known.hold, officer, name))
        and not (name in patterns.OF_PATTERNS and _why_not_of_pattern(known.pattern, name))
    )


@dataclass(frozen=True, slots=True)
class OpenedPattern:
    """What an officer did to the cases of a pattern: took those that nobody had, and linked those that somebody has.

    ``refused`` says why for each case that was left as it is.
    """

    name: str
    taken: Sequence[Case]
    linked: Sequence[Case]
    refused: Sequence[str]


def open_pattern(officer: Officer, findings: Sequence[Finding], *, reason: str) -> OpenedPattern:
    """Work on the incidents ``findings`` as one, with a note that each of their cases gets, and return what was done.

    They are of one casino, rule and croupier, each of a case of its own. Cases that nobody has become the officer's;
    those of other officers stay with them, and are linked. What has closed since is left out. If some are a pattern
    already, the others are put into it.

    Raise ``ActionRefused`` if the officer may not, without a note, or if fewer than two cases would be in the pattern.
    """
    reason = audit_trail.cleaned(reason, most=MAX_REASON)
    casino_id, rule, croupier = _the_same(findings)
    if not Scope.of(officer, Capability.WORK_CASES).includes(casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    if not reason:
        raise ActionRefused(_("Give a reason."))
    with transaction.atomic():
        chosen = [finding.case_id for finding in findings if finding.case_id is not None]
        # In one order, so that two officers who ask at once wait for each other and not in a circle.
        cases = list(Case.objects.select_for_update().filter(pk__in=chosen).exclude(state=State.CLOSED).order_by("pk"))
        known = patterns.patterns_of([case.pk for case in cases])
        others = [case for case in cases if case.pk not in known]
        if len(cases) < 2 or not others:
            raise ActionRefused(
                _("A pattern needs two open incidents, at least one of them not yet part of a pattern.")
            )
        name = min(known.values(), default="") or _name_of(findings, cases)
        done: dict[str, list[Case]] = {"join": [], "link": []}
        refused = []
        for case in others:
            transition = "join" if case.state == State.NEW else "link"
            try:
                done[transition].append(perform(case.pk, officer, transition, reason=reason, pattern=name))
            except ActionRefused as refusal:
                refused.append(str(refusal))
        if any(done.values()):
            data = {
                "pattern": name,
                "rule": rule,
                "croupier": croupier,
                "cases": sorted([*known, *(case.pk for each in done.values() for case in each)]),
            }
            audit_trail.record(officer.get_username(), "pattern.opened", casino_id=casino_id, data=data, reason=reason)
    return OpenedPattern(name, done["join"], done["link"], refused)


def _the_same(findings: Sequence[Finding]) -> tuple[int, str, str]:
    """Return the casino, rule and croupier of all of ``findings``."""
    [alike] = {(finding.casino_id, finding.rule, finding.croupier) for finding in findings}
    return alike


def _name_of(findings: Sequence[Finding], cases: Sequence[Case]) -> str:
    """Return the reference of the first of the incidents that are of ``cases``."""
    opened = {case.pk for case in cases}
    first = min((each for each in findings if each.case_id in opened), key=lambda each: (each.occurred_at, each.pk))
    return reference(first)


def take_next(officer: Officer, shown: QuerySet[Finding] | None = None) -> Case | None:
    """Assign the first new case among the findings ``shown`` to an officer, and return it, or None if none is new.

    ``shown`` are in the order in which a list shows them; by default those of the officer's casinos by urgency. Two
    officers who ask at once never get the same case.
    """
    scope = Scope.of(officer, Capability.WORK_CASES)
    listed = by_urgency(Finding.objects.standing()) if shown is None else shown
    waiting = scope.rows(listed.filter(case__state=State.NEW, status=FindingStatus.STANDING))
    with transaction.atomic():
        finding = waiting.select_related("case").select_for_update(skip_locked=True, of=("case",)).first()
        return None if finding is None or finding.case_id is None else perform(finding.case_id, officer, "take")


def _check(
    case: Case, officer: Officer, transition: Transition, reason: str, outcome: str, assignee: Officer | None
) -> None:
    """Raise ``ActionRefused`` if the role, the state of the case or a value does not allow the transition."""
    if not Scope.of(officer, transition.capability).includes(case.casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    if case.state not in transition.sources:
        raise ActionRefused(_OF_STATE[State(case.state)])
    if transition.by_another and case.proposed_by_id == officer.pk:
        raise ActionRefused(_("You proposed closing this case. Another officer must decide."))
    if transition.by_another and _is_in_same_hands(case, officer):
        raise ActionRefused(SAME_HANDS)
    if transition.by_proposer and case.proposed_by_id != officer.pk:
        raise ActionRefused(_("Only the officer who proposed closing this case can withdraw the proposal."))
    if transition.name in _OF_HOLDS and (refusal := _why_no_hold(holds.hold_of(case), officer, transition.name)):
        raise ActionRefused(refusal)
    if transition.needs_reason and not reason:
        raise ActionRefused(_("Give a reason."))
    if transition.needs_outcome and outcome not in Outcome.values:
        raise ActionRefused(_("Choose an outcome."))
    if transition.name == "assign" and not _is_caseworker(case, assignee):
        raise ActionRefused(_("No officer by that name works on cases at this casino."))
    if transition.name in patterns.OF_PATTERNS and (
        refusal := _why_not_of_pattern(patterns.pattern_of(case), transition.name)
    ):
        raise ActionRefused(refusal)
    if transition.name == "ask_video" and (lacking := Known(case).no_video) is not None:
        raise ActionRefused(lacking)


_OF_STATE: Mapping[State, Promise] = {
    State.NEW: _("No officer has taken this case."),
    State.INVESTIGATING: _("The case is under way; no closing of it is proposed."),
    State.SECOND: _("The closing of this case is already proposed."),
    State.CLOSED: _("The case is closed."),
}
"""Why a transition is refused that a case in this state does not allow."""

_OF_HOLDS = ("hold", "lift_hold")

_MOVES = ("case.taken", "case.assigned", "case.released", "case.joined", "case.left")
"""The actions that say who has a case."""


def _why_no_hold(hold: CaseAction | None, officer: Officer, name: str) -> Promise | None:
    """Return why an officer may not place or lift a hold on a case with ``hold``, None if they may: two lift it."""
    if name == "hold":
        return _("The case is already under legal hold.") if hold is not None else None
    if hold is None:
        return _("The case is not under legal hold.")
    if hold.officer_id == officer.pk:
        return _("You placed the legal hold. Another officer must lift it.")
    if same_hands(officer, hold.officer):
        return _("Whoever placed the legal hold may have control of your account. Another officer must lift it.")
    return None


def _why_not_of_pattern(pattern: str, name: str) -> Promise | None:
    """Return why a case in ``pattern``, "" for none, may not be put into one or taken out of it; None if it may."""
    if name in ("join", "link"):
        return _("The case is part of a pattern already.") if pattern else None
    return None if pattern else _("The case is not part of a pattern.")


def _is_in_same_hands(case: Case, officer: Officer) -> bool:
    """Whether the case was taken or proposed with an account that is no other person's for sure."""
    holders = {holder for holder in (case.proposed_by, case.assigned_to) if holder is not None and holder != officer}
    return any(same_hands(officer, holder) for holder in holders)


def _is_caseworker(case: Case, assignee: Officer | None) -> bool:
    return assignee is not None and Scope.of(assignee, Capability.WORK_CASES).includes(case.casino_id)


def _apply(
    case: Case,
    officer: Officer,
    transition: Transition,
    reason: str,
    outcome: str,
    assignee: Officer | None,
    moment: datetime | None,
    until: datetime | None,
    pattern: str,
) -> str:
    """Change the case. Return the assignee, outcome, clock time or pattern that the action is about, "" if none."""
    about = ""
    match transition.name:
        case "take":
            case.assigned_to = officer
        case "assign":
            case.assigned_to = assignee
            about = str(assignee)
        case "release":
            case.assigned_to = None
        case "join":
            case.assigned_to, about = officer, pattern
        case "link":
            about = pattern
        case "leave":
            case.assigned_to, about = None, patterns.pattern_of(case)
        case "unlink":
            about = patterns.pattern_of(case)
        case "answer":
            about = answered_by(case)
        case "ask_video":
            about = "–".join(f"{local(each, case.casino):%H:%M}" for each in (moment, until) if each is not None)
        case "propose":
            case.outcome, case.reason, case.proposed_by = outcome, reason, officer
            about = outcome
        case "approve":
            case.approved_by = officer
            about = case.outcome
        case "send_back" | "reopen" | "withdraw":
            case.outcome, case.reason = "", ""
            case.proposed_by = case.approved_by = case.closed_at = None
    if transition.target is not None:
        case.state = transition.target
    return about


def answered_by(case: Case) -> str:
    """Return the id of the croupier whose answer a case may have: of the finding that it is of; "" if not known."""
    of_stream = Finding.objects.filter(case=case, stream=case.stream_id)
    finding = of_stream.filter(seq=case.seq, rule=case.rule, wager=case.wager).order_by("-pk").first()
    return finding.croupier if finding is not None else ""


def undoable(case: Case, officer: Officer, known: Known | None = None) -> Undo | None:
    """Return how ``officer`` takes back the last action on ``case``; None if it is not theirs, or not of that kind."""
    known = known or Known(case)
    last = known.history[-1] if known.history else None
    if last is None or last.officer_id != officer.pk or last.type not in UNDO:
        return None
    name = UNDO[last.type]
    if not is_allowed(case, officer, name, known):
        return None
    before = _holder_before(last) if name == "release" else None
    is_still_one = before is not None and before.is_active and _is_caseworker(case, before)
    return Undo(last, "assign", before) if is_still_one else Undo(last, name)


def undo(action: CaseAction, officer: Officer) -> Case:
    """Take back an action of ``officer`` by another one, and return the case. Raise ``ActionRefused`` if none can."""
    found = undoable(action.case, officer)
    if found is None or found.action != action:
        _check_is_last(action.case, officer, action.pk)
        raise ActionRefused(_("This cannot be undone."))
    return perform(action.case_id, officer, found.transition, assignee=found.assignee, undoes=action.pk)


def _last_action(case: Case) -> CaseAction | None:
    return CaseAction.objects.filter(case=case).order_by("at", "pk").last()


def proposal_of(case: Case) -> int | None:
    """Return the id of the action with which the closing of a case was last proposed; None if it never was."""
    proposed = CaseAction.objects.filter(case=case, type="case.proposed").order_by("at", "pk").last()
    return None if proposed is None else proposed.pk


def _check_is_last(case: Case, officer: Officer, action_id: int) -> None:
    """Raise ``ActionRefused`` unless the last action on a case is this one, and the officer's own."""
    last = _last_action(case)
    if last is None or last.pk != action_id or last.officer_id != officer.pk:
        raise ActionRefused(_("Something else has been done on the case since, so this can no longer be undone."))


def _holder_before(action: CaseAction) -> Officer | None:
    """Return who had a case before it was taken or assigned by ``action``, the last one; None if nobody had it."""
    moved = CaseAction.objects.filter(case=action.case_id, type__in=_MOVES).exclude(pk=action.pk)
    before = moved.select_related("officer").order_by("at", "pk").last()
    if before is None or before.type in ("case.released", "case.left"):
        return None
    return (
        before.officer
        if before.type in ("case.taken", "case.joined")
        else Officer.objects.filter(username=before.about).first()
    )


def _record(
    case: Case,
    officer: Officer,
    event: str,
    reason: str,
    about: str,
    stated: Mapping[str, str | int] | None = None,
    *,
    at: datetime | None = None,
) -> None:
    stream = LoggedStream.objects.filter(pk=case.stream_id).values_list("name", flat=True).first()
    data = {"case": case.pk, "stream": stream or "", "seq": case.seq, "rule": case.rule, "wager": case.wager}
    data |= stated or {}
    if about:
        data["about"] = about
    if at is not None:
        data["at"] = at.astimezone(UTC).isoformat()
    audit_trail.record(officer.get_username(), event, casino_id=case.casino_id, data=data, reason=reason)
