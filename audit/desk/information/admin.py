"""The nightly lists of information: the nights with what is to be read, and the list of one night with its signature.

The use cases are in ``audit.casework.information``; a page shows what they allow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.casework import information
from audit.casework.actions import ActionRefused
from audit.casework.stakes import stake_of
from audit.desk.addresses import page_of
from audit.desk.audited_admin import record_entry
from audit.desk.scoped_admin import RecordAdmin, at, casinos_in_record, demands, officer_of, scope_of
from audit.desk.sign_in.proof import signature
from audit.exports.findings import add_names
from audit.models import Casino, Finding, InformationSigning
from audit.presentation import date_time, finding_title, language, money, money_in_prose, reference, short_name
from settlement.catalogue.sentences import minor_units

NIGHTS = timedelta(days=62)
"""How long before the newest night a list is shown."""

OF_A_RULE = 50
"""Findings of one rule that the list of a night names; the list of findings has all."""


@dataclass(frozen=True, slots=True)
class Night:
    """The list of one night: how many findings it has, how many of them nobody has signed, and who signed last."""

    casino: Casino
    day: date
    count: int
    unsigned: int
    signing: InformationSigning | None


@dataclass(frozen=True, slots=True)
class Line:
    """One finding of a list."""

    address: str
    reference: str
    table: str
    at: str
    persons: str
    money: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class OfRule:
    """The findings of one rule on a list: all of them, those that nobody has signed, and the first as lines."""

    rule: str
    title: str
    is_large: bool  # goodwill of the casino's amount or more, which the signature confirms
    count: int
    unsigned: int
    lines: list[Line]


@admin.register(InformationSigning)
class InformationAdmin(RecordAdmin[InformationSigning]):
    list_select_related = ("casino",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the nights, the newest first, with how much of their lists is to be read."""
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        nights = _nights(list(casinos_in_record(request)))
        return self.page(request, "admin/audit/information/list.html", title=_("Information"), nights=nights)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead from a signature to the list of its night."""
        if request.method == "POST":
            return super().change_view(request, object_id, form_url, extra_context)
        signing = self.row_or_404(request, object_id)
        return redirect("admin:audit_informationsigning_night", signing.casino_id, signing.gaming_day.isoformat())

    @at("night/<int:casino_id>/<str:gaming_day>/")
    @demands(Capability.SEE_RECORD)
    def night_view(self, request: HttpRequest, casino_id: int, gaming_day: str) -> HttpResponse:
        """Show the list of a night."""
        casino, day = _named(request, casino_id, gaming_day, Capability.SEE_RECORD)
        record_entry(request, "information.viewed", casino_id=casino_id, gaming_day=day.isoformat())
        unsigned = set(information.unsigned([casino_id], day, day).values_list("pk", flat=True))
        signings = InformationSigning.objects.filter(casino=casino, gaming_day=day).select_related("signed_by")
        rules = list(_rules(request, casino, day, unsigned))
        return self.page(
            request,
            "admin/audit/information/night.html",
            title=_("Information"),
            casino=casino,
            day=day,
            rules=rules,
            to_confirm=sum(each.unsigned for each in rules if each.is_large),
            unsigned=len(unsigned),
            digest=information.digest_of(unsigned),
            signings=[{"by": each.signed_by, "at": each.signed_at, "count": len(each.findings)} for each in signings],
            may_sign=scope_of(request, Capability.WORK_CASES).includes(casino_id),
        )

    @at("night/<int:casino_id>/<str:gaming_day>/sign/")
    @demands(Capability.WORK_CASES)
    @signature
    def sign_view(self, request: HttpRequest, casino_id: int, gaming_day: str) -> HttpResponse:
        """Sign what the requesting officer has read of a list, by POST, and return to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        _casino, day = _named(request, casino_id, gaming_day, Capability.WORK_CASES)
        try:
            given = request.POST
            information.sign(
                *(officer_of(request), casino_id, day, given.get("digest", "")), confirms="confirms" in given
            )
        except ActionRefused as refused:
            messages.error(request, str(refused))
        else:
            messages.success(request, _("The list is signed."))
        return redirect("admin:audit_informationsigning_night", casino_id, day.isoformat())


def _named(request: HttpRequest, casino_id: int, gaming_day: str, capability: Capability) -> tuple[Casino, date]:
    """Return the casino and the day that an address names. Raise ``Http404``."""
    casino = Casino.objects.filter(pk=casino_id).first()
    if casino is None or not scope_of(request, capability).includes(casino_id):
        raise Http404
    try:
        return casino, date.fromisoformat(gaming_day)
    except ValueError:
        raise Http404 from None


def _nights(casinos: list[Casino]) -> list[Night]:
    """Return the nights of ``casinos`` whose lists have anything: four queries."""
    ids = {each.pk: each for each in casinos}
    newest = Finding.objects.standing().filter(casino__in=ids).aggregate(day=Max("gaming_day"))["day"]
    if newest is None:
        return []
    since = newest - NIGHTS
    by_night = ("casino_id", "gaming_day")
    listed = information.listed(list(ids), since).order_by().values_list(*by_night).annotate(number=Count("pk"))
    unread = information.unsigned(list(ids), since).order_by().values_list(*by_night).annotate(number=Count("pk"))
    unsigned = {(casino, day): number for casino, day, number in unread}
    signings = InformationSigning.objects.filter(casino__in=ids, gaming_day__gte=since).select_related("signed_by")
    last = {(each.casino_id, each.gaming_day): each for each in signings.defer("findings").order_by("pk")}
    nights = [
        Night(ids[casino], day, number, unsigned.get((casino, day), 0), last.get((casino, day)))
        for casino, day, number in listed
    ]
    return sorted(nights, key=lambda each: (-each.day.toordinal(), each.casino.code))


def _rules(request: HttpRequest, casino: Casino, day: date, unsigned: set[int]) -> Iterator[OfRule]:
    """Yield the findings of a night's list by rule: what is read first, then those with the most unsigned findings."""
    by_rule: dict[tuple[bool, str], list[int]] = defaultdict(list)
    found = information.listed([casino.pk], day, day).order_by("occurred_at", "pk")
    goodwill = found.filter(rule=information.GOODWILL).select_related("casino")
    large = {each.pk for each in goodwill if information.is_large(each)}
    for pk, rule in found.values_list("pk", "rule"):
        by_rule[pk in large, rule].append(pk)
    shown = [pk for ids in by_rule.values() for pk in ids[:OF_A_RULE]]
    rows = {each.pk: each for each in Finding.objects.filter(pk__in=shown).select_related("casino", "table")}
    add_names(list(rows.values()), scope_of(request, Capability.SEE_NAMES))

    def first(of_rule: tuple[tuple[bool, str], list[int]]) -> tuple[bool, bool, int, str]:
        (is_large, rule), ids = of_rule
        return not is_large, rule not in information.OF_MONEY, -len(unsigned.intersection(ids)), rule

    for (is_large, rule), ids in sorted(by_rule.items(), key=first):
        is_first = is_large or rule in information.OF_MONEY
        lines = [_line(rows[pk], is_first=is_first) for pk in ids[:OF_A_RULE] if pk in rows]
        yield OfRule(
            rule,
            _title_of_large(casino, [rows[pk] for pk in ids if pk in rows]) if is_large else finding_title(rule),
            is_large,
            len(ids),
            len(unsigned.intersection(ids)),
            lines,
        )


def _title_of_large(casino: Casino, findings: list[Finding]) -> str:
    """Return what the large goodwill of a night is called; of several currencies without the amount."""
    currencies = {each.currency for each in findings}
    if len(currencies) != 1:
        return _("Large goodwill payments")
    [currency] = currencies
    amount = money_in_prose(minor_units(casino.priority_threshold, currency), currency)
    return _("Goodwill payments of %(amount)s or more") % {"amount": amount}


def _line(finding: Finding, *, is_first: bool) -> Line:
    named = finding.named
    persons = (
        short_name(named.get("player", ""), finding.player) if finding.player else "",
        short_name(named.get("croupier", ""), finding.croupier) if finding.croupier else "",
    )
    return Line(
        page_of("finding", finding.pk),
        reference(finding),
        finding.table.code if finding.table is not None else "",
        date_time(finding.occurred_at, finding.casino),
        ", ".join(filter(None, persons)),
        stake_of(finding, write=money).amount,
        finding.as_value().message(language()) if is_first else "",
    )
