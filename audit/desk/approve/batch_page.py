"""The page of a batch: closings that one officer proposed for one reason, decided by one signature of the second.

Each case is decided on its own, with its own entry of the trail; what has changed since the page was shown is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework import actions
from audit.casework.debts import stake_of_incident, with_money
from audit.casework.priority import with_priority
from audit.casework.titles import incident_title, second_line
from audit.desk import kept_words, parts
from audit.desk.approve import batches, waiting
from audit.desk.approve.meanings import MEANINGS
from audit.desk.approve.neighbours import closing_address, next_address
from audit.desk.approve.not_done import not_done
from audit.desk.approve.note import Note
from audit.desk.audited_admin import record_entry
from audit.desk.findings.casework import DECISIONS, proposal_shown, say_refusals
from audit.desk.findings.shown_findings import in_full
from audit.desk.scoped_admin import demands, officer_of, scope_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.exports.findings import add_names
from audit.models import Case, CaseAction, Finding
from audit.presentation import language, night_of, officer_name, reference
from settlement.catalogue.money import amount_about
from settlement.catalogue.sentences import amount_in_prose

CHOSEN = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")
"""A case and the proposed closing of it that the page showed."""


@dataclass(frozen=True, slots=True)
class Line:
    """One case of a batch. ``message`` is what was found, of the sample only."""

    chosen: str
    address: str
    reference: str
    title: str
    about: str
    money: SafeString
    message: str = ""


@demands(Capability.APPROVE_CASES)
def batch_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the batch in which the proposed closing of finding ``pk`` is; by POST, decide about its chosen cases."""
    finding = in_full(pk) if waiting.closings(request).filter(pk=pk).exists() else None
    if finding is None or finding.case is None:
        if not scope_of(request, Capability.APPROVE_CASES).rows(Finding.objects.filter(pk=pk)).exists():
            raise Http404
        messages.info(request, _("This batch waits for no decision any more."))
        kept_words.keep(request, reverse("admin:approve"))
        return redirect("admin:approve")
    if request.method == "POST":
        return _decide(request, pk, finding.case)
    rows = batches.members(request, finding.case)
    shown = list(with_money(with_priority(rows.select_related("case__proposed_by", "casino", "table")))[: batches.MOST])
    add_names(shown, scope_of(request, Capability.SEE_NAMES))
    cases = [each.case for each in shown if each.case is not None]
    proposals = _proposals(cases)
    sample = _sample(shown)
    for each in sample:
        record_entry(request, "finding.viewed", casino_id=each.casino_id, id=each.pk, stream=each.stream.name)
    case = finding.case
    context = {
        **admin.site.each_context(request),
        "case": case,
        "pk": pk,
        "title": ngettext(
            "%(officer)s proposes closing %(number)s case: %(outcome)s",
            "%(officer)s proposes closing %(number)s cases: %(outcome)s",
            len(shown),
        )
        % {
            "officer": officer_name(case.proposed_by),
            "number": len(shown),
            "outcome": case.get_outcome_display(),
        },
        "proposal": [
            Note(gettext("outcome"), "brand", capfirst(str(case.get_outcome_display())), str(MEANINGS[case.outcome])),
            Note(gettext("reason"), "", case.reason, officer_name(case.proposed_by), is_quoted=True),
        ],
        "owed": batches.owed_by(rows),
        "not_done": list(not_done(cases)),
        "lines": [_line(each, proposals) for each in shown if each.case_id in proposals],
        "sample": [_line(each, proposals, with_message=True) for each in sample],
        "number": rows.count(),
        "is_same_hands": not any(actions.is_allowed(each, officer_of(request), "approve") for each in cases),
    }
    return TemplateResponse(request, "admin/audit/approve/batch.html", context)


def _proposals(cases: Sequence[Case]) -> dict[int, int]:
    """Return the id of the proposed closing that each of ``cases`` shows; no case that shows another."""
    history: dict[int, list[CaseAction]] = {case.pk: [] for case in cases}
    for action in CaseAction.objects.filter(case__in=history, type="case.proposed").order_by("at", "pk"):
        history[action.case_id].append(action)
    found = {case.pk: proposal_shown(case, history[case.pk]) for case in cases}
    return {case: proposal for case, proposal in found.items() if proposal is not None}


def _sample(shown: Sequence[Finding]) -> list[Finding]:
    """Return the cases to look at: the largest sum, and others that are spread evenly over the batch."""
    if len(shown) <= batches.SAMPLE:
        return list(shown)
    largest = max(shown, key=_amount)
    others = [each for each in shown if each != largest]
    step = len(others) / (batches.SAMPLE - 1)
    return [largest, *(others[int(number * step)] for number in range(batches.SAMPLE - 1))]


def _amount(finding: Finding) -> int:
    """Return how much money a finding is about, owed or not, in minor units; 0 for none."""
    if finding.difference is not None:
        return abs(finding.difference)
    return amount_about(finding.rule, finding.expected, finding.recorded, finding.facts) or 0


def _line(finding: Finding, proposals: Mapping[int, int], *, with_message: bool = False) -> Line:
    stake = stake_of_incident(finding, finding.named.get("player", ""))
    table = finding.table.code if finding.table else ""
    return Line(
        f"{finding.case_id}:{proposals.get(finding.case_id or 0, 0)}",
        closing_address(finding.pk),
        reference(finding),
        title := incident_title(finding, stake),
        " · ".join(filter(None, (second_line(finding, title), table, night_of(finding.gaming_day)))),
        parts.who(stake, with_amount=True) if stake.amount else SafeString(""),
        finding.as_value().message(language(), amount_in_prose) if with_message else "",
    )


def _decide(request: HttpRequest, pk: int, case: Case) -> HttpResponse:
    """Decide about the chosen cases by one signature, each on its own, and show what waits next."""
    name, reason = request.POST.get("decision", ""), request.POST.get("reason", "").strip()
    chosen = list(_chosen(request))
    why_not = _why_not(name, reason, chosen)
    if why_not is not None:
        messages.error(request, str(why_not))
        kept_words.keep(request, request.path)
        return redirect(request.path)
    if (page := ask_for_proof(request, is_signature=True)) is not None:
        return page
    in_batch = set(batches.members(request, case).values_list("case", flat=True))
    done, refusals = 0, Counter[str]()
    for case_id, proposal in chosen:
        if case_id not in in_batch:
            refusals[gettext("It waits in this batch no more.")] += 1
            continue
        try:
            actions.perform(case_id, officer_of(request), name, reason=reason, proposal=proposal)
            done += 1
        except actions.ActionRefused as error:
            refusals[str(error)] += 1
    if done:
        messages.success(request, _done_words(name, done))
    say_refusals(request, refusals)
    if done:
        return redirect(next_address(request))
    still_waits = batches.members(request, case).filter(pk=pk).exists()
    back = request.path if still_waits else reverse("admin:approve")
    kept_words.keep(request, back)
    return redirect(back)


def _done_words(name: str, count: int) -> str:
    if name == "approve":
        return ngettext("%(count)d case was closed.", "%(count)d cases were closed.", count) % {"count": count}
    return ngettext("%(count)d case was sent back.", "%(count)d cases were sent back.", count) % {"count": count}


def _chosen(request: HttpRequest) -> Iterator[tuple[int, int]]:
    """Yield the ticked cases, each once, with the proposed closing that the page showed of it."""
    for sent in dict.fromkeys(request.POST.getlist("chosen")[: batches.MOST]):
        if found := CHOSEN.fullmatch(sent):
            yield int(found[1]), int(found[2])


def _why_not(name: str, reason: str, chosen: Sequence[Any]) -> Promise | None:
    """Return why nothing is decided, None where something is."""
    if name not in DECISIONS:
        return _("Choose: approve, or send back.")
    if not chosen:
        return _("No case is ticked.")
    return _("Give a reason.") if name == "send_back" and not reason else None
