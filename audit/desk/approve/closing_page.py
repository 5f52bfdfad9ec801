"""The page of one proposed closing, for the second officer: what is proposed, why, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework import actions, payment_orders
from audit.casework.debts import stake_of_incident
from audit.corrections.waiting import waiting_in
from audit.desk import kept_words, parts
from audit.desk.addresses import page_of
from audit.desk.approve import waiting
from audit.desk.approve.meanings import MEANINGS
from audit.desk.approve.neighbours import closing_address, neighbours_of, next_address
from audit.desk.approve.not_done import not_done
from audit.desk.approve.note import Note
from audit.desk.audited_admin import record_entry
from audit.desk.findings.casework import DECISIONS, case_context, proposal_read, say_decided
from audit.desk.findings.page import finding_context
from audit.desk.findings.queues import OPEN
from audit.desk.findings.shown_findings import in_full
from audit.desk.names import sees_names
from audit.desk.scoped_admin import demands, officer_of, scope_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.event_store import read
from audit.models import Case, CaseAction, Finding
from audit.models.adjudication import Severity
from audit.models.cases import State
from audit.presentation import count, date_time, officer_name


@demands(Capability.APPROVE_CASES)
def closing_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a proposed closing to an officer who may decide about it; decided since, or their own, it is the finding.

    POST decides, as the field ``decision`` says, with the password of the officer, about the proposed closing that the
    page showed: ``proposal`` is its id, and without it nothing is decided.
    """
    if request.method == "POST":
        return _decide(request, pk)
    finding = in_full(pk) if waiting.closings(request).filter(pk=pk).exists() else None
    if finding is None or finding.case is None:
        if scope_of(request, Capability.APPROVE_CASES).rows(Finding.objects.filter(pk=pk)).exists():
            return redirect("admin:audit_finding_change", pk)
        raise Http404
    finding.stream.casino = finding.casino
    record_entry(request, "finding.viewed", casino_id=finding.casino_id, id=finding.pk, stream=finding.stream.name)
    casework = case_context(request, finding)
    assert casework is not None, "a proposed closing is of a case"
    shown = finding_context(finding, with_names=sees_names(request, finding.casino_id))
    case = finding.case
    proposals = [line["action"] for line in casework["history"] if line["action"].type == "case.proposed"]
    proposed = proposals[-1] if proposals else None
    context = {
        **admin.site.each_context(request),
        **shown,
        "casework": casework,
        "case": case,
        "neighbours": neighbours_of(request, closing_address(finding.pk)),
        "title": gettext("%(officer)s proposes closing: %(outcome)s")
        % {"officer": officer_name(case.proposed_by), "outcome": case.get_outcome_display()},
        "proposal": list(_proposal(finding, case, shown, casework, proposed)),
        "proposed": proposed,
        "before": list(_before(finding, shown, casework)),
        "not_done": list(not_done([case])),
        "then": list(_then(finding)),
        "closed": parts.state_pie(Case(state=State.CLOSED)),
        "has_consequences": bool(shown["consequences"]),
        "evidence": _evidence(shown),
    }
    return TemplateResponse(request, "admin/audit/approve/closing.html", context)


def _decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve a closing or send it back in the name of the requesting officer, and show what waits next."""
    name, rows = request.POST.get("decision", ""), Finding.objects.exclude(case=None).filter(pk=pk)
    finding = scope_of(request, Capability.APPROVE_CASES).rows(rows).select_related("casino").first()
    if finding is None or finding.case_id is None or name not in ("", *DECISIONS):
        raise Http404
    if not name:
        return _refused(request, pk, _("Choose: approve, or send back."))
    if (page := ask_for_proof(request, is_signature=True)) is not None:
        return page
    after = neighbours_of(request, closing_address(pk)).next
    try:
        reason, proposal = request.POST.get("reason", ""), proposal_read(request)
        actions.perform(finding.case_id, officer_of(request), name, reason=reason, proposal=proposal)
    except actions.ActionRefused as error:
        return _refused(request, pk, str(error))
    say_decided(request, finding, name)
    return redirect(next_address(request, after))


def _refused(request: HttpRequest, pk: int, why: str | Promise) -> HttpResponse:
    """Say why nothing was decided, on the page that the officer may still open, with what they wrote."""
    messages.error(request, str(why))
    waits = waiting.closings(request).filter(pk=pk).exists()
    back = closing_address(pk) if waits else page_of("finding", pk)
    kept_words.keep(request, back)
    return redirect(back)


def _proposal(
    finding: Finding, case: Case, shown: Mapping[str, Any], casework: Mapping[str, Any], proposed: CaseAction | None
) -> Iterator[Note]:
    """Yield what is proposed: the outcome, the reason with who gave it and when, and what becomes of the money."""
    yield Note(
        gettext("outcome"), "brand", capfirst(str(case.get_outcome_display())), str(MEANINGS.get(case.outcome, ""))
    )
    at = date_time(proposed.at, finding.casino) if proposed is not None else ""
    by = ", ".join(filter(None, (officer_name(case.proposed_by), at)))
    yield Note(gettext("reason"), "", case.reason, by, is_quoted=True)
    stake = stake_of_incident(finding, shown["player"])
    if stake.amount and stake.side:
        ordered = payment_orders.is_ordered(case.pk)
        words = gettext("A payment order was made.") if ordered else gettext("No payment order was made.")
        stays = gettext("Closing pays nothing: it stays owed.")
        yield Note(
            *(gettext("money"), stake.side, f"{stake.amount} {stake.words}"),
            f"{words} {stays}" if stake.side == "player" else stays,
        )


def _before(finding: Finding, shown: Mapping[str, Any], casework: Mapping[str, Any]) -> Iterator[Note]:
    """Yield what the desk found, not the officer who proposes."""
    pattern = casework["pattern"]
    if pattern:
        words = ngettext(
            "%(number)d other finding of this rule by the same croupier within thirty days",
            "%(number)d other findings of this rule by the same croupier within thirty days",
            pattern["count"],
        )
        title = words % {"number": pattern["count"]}
        yield Note(str(pattern["count"]), "warn", title, address=pattern["address"])
    if casework["has_recurred"]:
        yield Note("!", "warn", capfirst(gettext("a case under the same rule at this table has been closed before.")))
    corrections = waiting_in(finding.stream_id, read.next_seq_of(finding.stream_id) - 1)
    if corrections:
        words = ngettext(
            "%(number)d correction of this session waits for a decision",
            "%(number)d corrections of this session wait for a decision",
            len(corrections),
        )
        yield Note(str(len(corrections)), "warn", words % {"number": len(corrections)})
    yield Note(
        gettext("ok"),
        "ok",
        gettext("The finding still stands, as the record is read now"),
        gettext("Engine version %(version)s.") % {"version": finding.engine_version}
        + ("" if corrections else " " + gettext("No correction of this session is waiting for a decision.")),
    )
    number = len(shown["consequences"])
    if number:
        words = ngettext("%(number)d consequence closes with it", "%(number)d consequences close with it", number)
        yield Note(str(number), "", words % {"number": number})


@dataclass(frozen=True, slots=True)
class Change:
    """What an approval changes: a figure of the night, as it is and as it would be."""

    label: str
    before: str
    after: str


def _then(finding: Finding) -> Iterator[Change]:
    """Yield what of the night is open before and after an approval, which closes the case with its consequences.

    Money is not among it: what is owed stays owed until it is paid, waived or put right.
    """
    critical = Finding.objects.standing().filter(
        casino=finding.casino_id, gaming_day=finding.gaming_day, severity=Severity.CRITICAL, case__state__in=OPEN
    )
    counts = critical.aggregate(all=Count("pk"), own=Count("pk", filter=Q(case=finding.case_id)))
    if counts["own"]:
        label = gettext("Critical findings of the night, still open")
        yield Change(label, count(counts["all"]), count(counts["all"] - counts["own"]))


def _evidence(shown: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events on which the finding rests, of the timeline and from further back, in order."""
    lines = [(line.seq, line.at, line.text, line.completes, line.is_evidence) for line in shown["all_lines"]]
    return [
        {"seq": seq, "at": at, "text": text, "completes": completes}
        for seq, at, text, completes, is_evidence in lines
        if completes or is_evidence
    ]
