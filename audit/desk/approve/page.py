"""The page *To approve*: each proposal with what it is about, who made it, since when, and what money hangs on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import DateTimeField, F, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.casework.debts import stake_of_incident, with_money
from audit.casework.priority import with_priority
from audit.casework.titles import incident_title, second_line
from audit.desk import parts
from audit.desk.approve import batches, waiting
from audit.desk.approve.neighbours import closing_address, correction_address
from audit.desk.navigation import is_of_several
from audit.desk.scoped_admin import demands, narrowed, scope_of
from audit.desk.sessions import session_name
from audit.exports.findings import add_names
from audit.models import (
    AccountRequest,
    CaseAction,
    Casino,
    Finding,
    Listing,
    ListState,
    PaymentOrder,
    RegisterEntry,
    SessionClosing,
)
from audit.presentation import (
    finding_title,
    money_in_prose,
    night_of,
    officer_name,
    reference,
    request_title,
    time_left,
)
from audit.register.readings import KINDS

SHOWN = 100
"""Lines of each kind: the oldest, or the most urgent."""


@dataclass(frozen=True, slots=True)
class Line:
    """One proposal. ``by`` and ``since``: who made it and when; ``casino``: None for the installation's own.

    ``due``: the ring of its deadline, if it has one.
    """

    address: str
    title: str | Promise
    about: str
    money: SafeString
    reason: str
    by: str
    since: datetime
    casino: Casino | None
    due: SafeString


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of proposals: the first of ``number``, with the address of their whole list."""

    name: str
    title: str | Promise
    lines: Sequence[Line]
    all: str
    number: int


@demands(Capability.WORK_CASES, Capability.APPROVE_CASES, Capability.KEEP_REGISTER, Capability.KEEP_OFFICERS)
def approve_view(request: HttpRequest) -> HttpResponse:
    """Show what waits for this officer's decision."""
    closings = narrowed(batches.alone(request), request)
    in_batches: QuerySet[Any] = narrowed(batches.batches(request), request, "case__casino")
    corrections = narrowed(waiting.corrections(request), request)
    sessions = narrowed(waiting.sessions(request), request)
    orders = narrowed(waiting.orders(request), request)
    listings = narrowed(waiting.listings(request), request)
    entries = narrowed(waiting.entries(request), request)
    accounts = waiting.accounts(request)
    kinds = [
        _kind(
            "batches", _("Batches of closings"), _batches(request, in_batches), in_batches, "finding", "?queue=second"
        ),
        _kind("closings", _("Closings"), _closings(request, closings), closings, "finding", "?queue=second"),
        _kind(
            *("corrections", _("Corrections"), _corrections(request, corrections), corrections),
            *("correction", "?state=waiting"),
        ),
        _kind("sessions", _("Sessions to close"), _sessions(request, sessions), sessions, "loggedstream"),
        _kind(
            *("orders", _("Payment orders"), _orders(request, orders), orders),
            *("paymentorder", "?state__exact=waiting"),
        ),
        _kind("listings", _("Watch and exclusion lists"), _listings(request, listings), listings, "listing"),
        _kind("entries", _("House register"), _entries(entries), entries, "registerentry"),
        _kind("accounts", _("Accounts"), _accounts(accounts), accounts, "officer"),
    ]
    context = {**admin.site.each_context(request), "title": _("To approve"), "kinds": [k for k in kinds if k.lines]}
    return TemplateResponse(request, "admin/audit/approve/approve.html", context)


def _kind(
    name: str, title: str | Promise, lines: Iterator[Line], rows: QuerySet[Any], listed: str, query: str = ""
) -> Kind:
    """Return a kind: its first lines, the number of its ``rows``, and the address of the list of the ``listed``."""
    shown, all = list(lines), reverse(f"admin:audit_{listed}_changelist") + query
    return Kind(name, title, shown, all, len(shown) if len(shown) < SHOWN else rows.count())


def _batches(request: HttpRequest, rows: QuerySet[Any]) -> Iterator[Line]:
    found = list(rows.order_by("first")[:SHOWN])
    firsts = Finding.objects.select_related("case__proposed_by", "casino").in_bulk([each["first"] for each in found])
    cases = [finding.case_id for finding in firsts.values()]
    proposals = CaseAction.objects.filter(case__in=cases, type="case.proposed").order_by().values_list("case")
    proposed_at = dict(proposals.annotate(last=Max("at")))
    for each in found:
        case, casino = firsts[each["first"]].case, firsts[each["first"]].casino
        assert case is not None, "a closing has a case"
        words = ngettext("%(number)d closing, one reason", "%(number)d closings, one reason", each["cases"])
        yield Line(
            reverse("admin:approve_batch", args=(each["first"],)),
            words % {"number": each["cases"]},
            " · ".join(filter(None, (str(casino) if is_of_several(request) else "", case.get_outcome_display()))),
            batches.owed_by(batches.members(request, case)),
            case.reason,
            officer_name(case.proposed_by),
            proposed_at.get(case.pk, case.opened_at),
            casino,
            parts.due_ring(time_left(case.deadline, since=case.opened_at)),
        )


def _closings(request: HttpRequest, closings: QuerySet[Finding]) -> Iterator[Line]:
    proposals = CaseAction.objects.filter(case=OuterRef("case"), type="case.proposed").order_by("-at", "-pk")
    proposed_at = Subquery(proposals.values("at")[:1], output_field=DateTimeField())
    rows = (
        with_money(with_priority(closings))
        .alias(proposed=proposed_at)
        # Of a case from before its actions were kept, nothing says when; not before it was opened.
        .annotate(proposed_at=Coalesce("proposed", F("case__opened_at")))
        .select_related("case__proposed_by", "casino", "table")
        .order_by(*waiting.CLOSINGS_FIRST)
    )
    for finding in _named(request, rows[:SHOWN]):
        case = finding.case
        assert case is not None, "a closing has a case"
        yield Line(
            closing_address(finding.pk),
            title := incident_title(finding),
            " · ".join(
                filter(
                    None,
                    (
                        second_line(finding, title),
                        reference(finding),
                        *_where(request, finding),
                        case.get_outcome_display(),
                    ),
                )
            ),
            _money(finding),
            case.reason,
            officer_name(case.proposed_by),
            finding.proposed_at,  # type: ignore[attr-defined]  # annotated
            finding.casino,
            parts.due_ring(time_left(case.deadline, since=case.opened_at)),
        )


def _corrections(request: HttpRequest, corrections: QuerySet[Finding]) -> Iterator[Line]:
    rows = corrections.select_related("stream", "casino", "table").order_by(*waiting.CORRECTIONS_FIRST)
    for finding in _named(request, rows[:SHOWN]):
        facts = finding.facts
        yield Line(
            correction_address(finding.pk),
            finding_title(finding.rule),
            " · ".join(filter(None, (*_where(request, finding), night_of(finding.gaming_day), f"#{finding.seq}"))),
            _money(finding),
            str(facts.get("reason") or ""),
            str(facts.get("actor") or ""),
            finding.opened_at,
            finding.casino,
            SafeString(""),
        )


def _sessions(request: HttpRequest, sessions: QuerySet[SessionClosing]) -> Iterator[Line]:
    rows = sessions.select_related("stream__table", "proposed_by", "casino").order_by("proposed_at")
    for closing in rows[:SHOWN]:
        stream = closing.stream
        yield Line(
            reverse("admin:audit_loggedstream_closing", args=(stream.pk,)),
            session_name(stream),
            str(closing.casino) if is_of_several(request) else "",
            format_html("{}", money_in_prose(closing.float_minor, stream.currency)),
            closing.reason,
            officer_name(closing.proposed_by),
            closing.proposed_at,
            closing.casino,
            SafeString(""),
        )


def _orders(request: HttpRequest, orders: QuerySet[PaymentOrder]) -> Iterator[Line]:
    rows = orders.select_related("casino", "ordered_by").order_by("ordered_at")
    for order in rows[:SHOWN]:
        yield Line(
            reverse("admin:audit_paymentorder_change", args=(order.pk,)),
            f"{capfirst(order.get_kind_display())} {order.reference}",
            " · ".join(filter(None, (order.player, str(order.casino) if is_of_several(request) else ""))),
            format_html("{}", money_in_prose(order.amount, order.currency)),
            order.reason,
            officer_name(order.ordered_by),
            order.ordered_at,
            order.casino,
            SafeString(""),
        )


def _listings(request: HttpRequest, listings: QuerySet[Listing]) -> Iterator[Line]:
    rows = listings.select_related("casino", "proposed_by", "removal_by").order_by("proposed_at")
    for listing in rows[:SHOWN]:
        is_removal = listing.state == ListState.LEAVING
        words = _("removal: %(list)s") if is_removal else "%(list)s"
        yield Line(
            reverse("admin:audit_listing_change", args=(listing.pk,)),
            capfirst(words % {"list": listing.get_kind_display()}),
            " · ".join(filter(None, (listing.code, str(listing.casino) if is_of_several(request) else ""))),
            SafeString(""),
            listing.removal_reason if is_removal else listing.reason,
            officer_name(listing.removal_by if is_removal else listing.proposed_by),
            listing.removal_at if is_removal and listing.removal_at is not None else listing.proposed_at,
            listing.casino,
            SafeString(""),
        )


def _entries(entries: QuerySet[RegisterEntry]) -> Iterator[Line]:
    rows = entries.select_related("proposed_by", "casino", "table").order_by("proposed_at")
    for entry in rows[:SHOWN]:
        yield Line(
            reverse("admin:audit_registerentry_change", args=(entry.pk,)),
            KINDS[entry.reading].title,
            " · ".join(filter(None, (str(entry.casino), entry.table.code if entry.table else "", entry.ruleset))),
            SafeString(""),
            entry.reason,
            officer_name(entry.proposed_by),
            entry.proposed_at,
            entry.casino,
            SafeString(""),
        )


def _accounts(accounts: QuerySet[AccountRequest]) -> Iterator[Line]:
    for each in accounts[:SHOWN]:
        yield Line(
            reverse("admin:audit_officer_change", args=(each.officer_id,)),
            capfirst(request_title(each)),
            officer_name(each.officer),
            SafeString(""),
            each.reason,
            officer_name(each.proposed_by),
            each.proposed_at,
            each.casino,
            SafeString(""),
        )


def _named(request: HttpRequest, rows: Iterable[Finding]) -> list[Finding]:
    """Return the rows with names, where the officer may see them."""
    findings = list(rows)
    add_names(findings, scope_of(request, Capability.SEE_NAMES))
    return findings


def _money(finding: Finding) -> SafeString:
    stake = stake_of_incident(finding, finding.named.get("player", ""))
    return parts.who(stake, with_amount=True) if stake.amount else SafeString("")


def _where(request: HttpRequest, finding: Finding) -> tuple[str, str]:
    """Return the table, and the casino where the page is of several; "" for none."""
    table = finding.table.code if finding.table else ""
    return table, str(finding.casino) if is_of_several(request) else ""
