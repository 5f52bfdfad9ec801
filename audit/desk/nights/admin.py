"""Nights at the desk: the report, what each figure adds up, sign-off exceptions, two signatures; and the month."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit import task_queue
from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework import session_closing
from audit.desk import kept_words
from audit.desk.audited_admin import AuditedAdmin, actor, record_entry
from audit.desk.downloads import file_response
from audit.desk.findings.person_filters import findings_address
from audit.desk.names import sees_names
from audit.desk.nights import month_page, page
from audit.desk.nights.month_pdf import month_pdf
from audit.desk.nights.owed import NightMoney, key_of, money_of, money_of_nights
from audit.desk.nights.under_review import luck_in_question, under_review
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.sign_in.proof import signature
from audit.desk.tables.limits import equipment_of_session
from audit.exports.pdf import PDF
from audit.exports.sheets import CSV, XLSX, as_csv, workbook
from audit.models import NightReport, NightRun, NightState, NightSubscriber
from audit.presentation import date_time, day_in_full, night_of, officer_name, signed_money
from audit.reconciliation import month, sheets, wording
from audit.reconciliation.pdf import as_pdf
from audit.reconciliation.presentation import SHEETS
from audit.reconciliation.runs import NO_CURRENCY
from audit.reconciliation.versions import SignatureRefused, add_signoff_exception, missing_signoff_exceptions, sign

JSON = "application/json"

REFRESH_S = 5
"""How often the page reloads while a run goes on."""


def _of(report: NightReport) -> NightMoney:
    """Return the money of a listed night; none of a row of another list."""
    found: NightMoney = getattr(report, "money", None) or NightMoney()
    return found


def _owed(report: NightReport, side: str) -> str:
    return ", ".join(each.amount for each in _of(report).owed if each.side == side)


class VersionFilter(admin.SimpleListFilter):
    """Hides versions that a later one restates, unless the user asks for all."""

    title = _("versions")
    parameter_name = "versions"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("all", _("all"))]

    def choices(self, changelist: Any) -> Any:
        for choice in super().choices(changelist):
            yield choice | ({"display": _("latest")} if choice["query_string"].find("versions=") < 0 else {})

    def queryset(self, request: HttpRequest, queryset: QuerySet[NightReport]) -> QuerySet[NightReport]:
        if self.value() == "all":
            return queryset
        same = {name: OuterRef(name) for name in ("casino", "gaming_day", "currency")}
        return queryset.filter(~Exists(NightReport.objects.filter(version__gt=OuterRef("version"), **same)))


def _neighbours(report: NightReport) -> dict[str, NightReport | None]:
    """Return the newest reports of the nights before and after one, or None if it has no report."""
    nights = NightReport.objects.filter(casino=report.casino_id, currency=report.currency).only("pk", "gaming_day")
    return {
        "night_before": nights.filter(gaming_day__lt=report.gaming_day).order_by("-gaming_day", "-version").first(),
        "night_after": nights.filter(gaming_day__gt=report.gaming_day).order_by("gaming_day", "-version").first(),
    }


def _title(report: NightReport) -> str:
    """Return the title of the page of a night; its casino stands below it."""
    return gettext("Night of %(day)s") % {"day": day_in_full(report.gaming_day)}


def _names(run: NightRun, casino_id: int, gaming_day: str) -> bool:
    return run.casino_id == casino_id and run.gaming_day.isoformat() == gaming_day


def _reconcile_again(request: HttpRequest, casino_id: int, gaming_day: date) -> None:
    day = gaming_day.isoformat()
    try:
        task_queue.send(task_queue.NIGHT_RECONCILE, casino_id=casino_id, day=day, actor=actor(request))
    except task_queue.QueueUnavailable:
        messages.error(request, _("The worker processes cannot be reached at the moment."))
    else:
        messages.info(
            request, _("The night is being reconciled again; a new version will appear if anything has changed.")
        )


@admin.register(NightReport)
class NightAdmin(RecordAdmin[NightReport]):
    when_empty = _("No night has been reconciled yet. One is, and is listed here, once its gaming day has ended.")
    list_display = (
        "gaming_day",
        "casino",
        "currency",
        "version",
        "stage",
        "to_players",
        "to_bank",
        "kept",
        "under_review",
        "first_signature",
        "second_signature",
        "issued",
    )
    list_filter = ("state", "currency", "casino", VersionFilter)
    list_select_related = ("casino", "reviewed_by", "closed_by")
    change_list_template = "admin/audit/night/list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[NightReport] = super().get_queryset(request)
        if self.is_of_one_row(request):
            return rows.select_related("casino", "reviewed_by", "closed_by")
        return rows.defer("content", "sheet", "through")

    @admin.display(description=_("state"), ordering="state")
    def stage(self, report: NightReport) -> str:
        return format_html('<span class="stage {}">{}</span>', report.state, NightState(report.state).label)

    @admin.display(description=_("owed to players"))
    def to_players(self, report: NightReport) -> str:
        return _owed(report, "player")

    @admin.display(description=_("owed to the house"))
    def to_bank(self, report: NightReport) -> str:
        return _owed(report, "bank")

    @admin.display(description=_("kept for persons not found"))
    def kept(self, report: NightReport) -> str:
        return ", ".join(each.amount for each in _of(report).kept)

    @admin.display(description=_("luck under review"))
    def under_review(self, report: NightReport) -> str:
        luck = luck_in_question(_of(report).under_review)
        return "" if luck is None else signed_money(luck, report.currency)

    @admin.display(description=_("first signature"), ordering="reviewed_by")
    def first_signature(self, report: NightReport) -> str:
        return officer_name(report.reviewed_by)

    @admin.display(description=_("second signature"), ordering="closed_by")
    def second_signature(self, report: NightReport) -> str:
        return officer_name(report.closed_by)

    @admin.display(description=_("issued"), ordering="made_at")
    def issued(self, report: NightReport) -> str:
        return date_time(report.made_at, report.casino)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List the reports; above them the runs that failed, of which there may be no report yet."""
        failed = scope_of(request, Capability.SEE_RECORD).rows(page.failed_runs())
        signing = scope_of(request, Capability.SIGN_NIGHTS)
        context = {"failed": [{"run": run, "may_retry": signing.includes(run.casino_id)} for run in failed]}
        response = super().changelist_view(request, {**context, **(extra_context or {})})
        shown = getattr(response, "context_data", None) or {}
        if "cl" in shown:
            rows = shown["cl"].result_list = [*shown["cl"].result_list]
            money = money_of_nights(rows)
            for each in rows:
                each.money = money[key_of(each)]
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a night: its bridge, the twelve lines, signatures and sign-off exceptions."""
        report = self.row_or_404(request, object_id)
        record_entry(request, "night.viewed", casino_id=report.casino_id, report=report.pk, version=report.version)
        of_night = NightReport.objects.filter(casino=report.casino_id, gaming_day=report.gaming_day)
        shown = of_night.select_related("casino").only("pk", "version", "state", "made_at", "casino", "currency")
        in_any_currency = list(shown.order_by("-version"))
        versions = [each for each in in_any_currency if each.currency == report.currency]
        missing = missing_signoff_exceptions(report)
        run = page.run_of(report)
        context = {
            **page.night_page(
                report,
                with_names=sees_names(request, report.casino_id),
                may_close=session_closing.may_propose(officer_of(request), report.casino_id),
            ),
            "title": _title(report),
            "report": report,
            "has_currencies": any(each.currency not in (report.currency, NO_CURRENCY) for each in in_any_currency),
            "sees_names": sees_names(request, report.casino_id),
            "newest": versions[0] if versions[0].pk != report.pk else None,
            "versions": versions,
            **_neighbours(report),
            "signoff_exceptions": [
                {"exception": each, "what": wording.NEEDS.get(each.code, each.code)}
                for each in report.signoff_exceptions.select_related("officer")
            ],
            "missing": [
                {"field": f"{kept_words.REASON_OF}{code}", "what": wording.NEEDS.get(code, code)} for code in missing
            ],
            "may_sign": scope_of(request, Capability.SIGN_NIGHTS).includes(report.casino_id),
            "is_mine": report.reviewed_by_id == request.user.pk,
            "run": run,
            "csv_tables": SHEETS,
            **money_of(report.casino_id, report.currency, gaming_day=report.gaming_day),
            "owed_address": findings_address(day=report.gaming_day.isoformat()),
        }
        response = self.page(request, "admin/audit/night/night.html", **context)
        if run is not None:
            response["Refresh"] = str(REFRESH_S)
        return response

    @at("<int:pk>/session/<signed:stream_id>/")
    @demands(Capability.SEE_RECORD)
    def session_view(self, request: HttpRequest, pk: int, stream_id: int) -> HttpResponse:
        """Show what a figure of one session adds up: ``?line=`` names it, ``?after=`` skips rows."""
        report = self.row_or_404(request, pk)
        sessions = report.parsed_content()["sessions"]
        session = next((each for each in sessions if each["stream_id"] == stream_id), None)
        if session is None:
            raise Http404
        skipped = request.GET.get("after", "")
        after = int(skipped) if skipped.isascii() and skipped.isdigit() and len(skipped) < 10 else 0
        line = request.GET.get("line", "")
        record_entry(request, "wagers.viewed", casino_id=report.casino_id, report=report.pk, stream=session["stream"])
        context = {
            **page.session_page(report, session, line, after, with_names=sees_names(request, report.casino_id)),
            "title": f"{_('Table %(code)s') % {'code': session['table']}} · {night_of(report.gaming_day)}",
            "report": report,
            "equipment": equipment_of_session(stream_id),
        }
        return self.page(request, "admin/audit/night/session.html", **context)

    @at("<int:pk>/figure/<str:figure>/")
    @demands(Capability.SEE_RECORD)
    def figure_view(self, request: HttpRequest, pk: int, figure: str) -> HttpResponse:
        """Show the sessions that a total adds up."""
        report = self.row_or_404(request, pk)
        if figure not in page.ADDITIVE:
            raise Http404
        record_entry(request, "night.viewed", casino_id=report.casino_id, report=report.pk, version=report.version)
        context = {
            **page.figure_page(report, figure),
            "title": _title(report),
            "report": report,
        }
        return self.page(request, "admin/audit/night/figure.html", **context)

    @at("<int:pk>/sign/")
    @demands(Capability.SIGN_NIGHTS)
    @signature
    def sign_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Sign a report in the name of the requesting officer, with all exceptions that it needs or with none."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        report, officer = self.row_or_404(request, pk, Capability.SIGN_NIGHTS), officer_of(request)
        try:
            with transaction.atomic():
                for code in missing_signoff_exceptions(report):
                    reason = request.POST.get(f"{kept_words.REASON_OF}{code}", "")
                    add_signoff_exception(report, code, reason, officer=officer)
            questions = [each.reference for each in under_review(report, with_names=False)]
            signed = sign(report, officer=officer, under_review=questions)
        except SignatureRefused as refused:
            messages.error(request, wording.REFUSALS[refused.code])
            kept_words.keep(request, self._address(pk))
        else:
            is_closed = signed.state == NightState.CLOSED
            messages.success(request, _("The night is closed.") if is_closed else _("The night is signed."))
        return redirect("admin:audit_nightreport_change", pk)

    @at("<int:pk>/again/")
    @demands(Capability.SIGN_NIGHTS)
    def again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Enqueue another reconciliation of the night."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        report = self.row_or_404(request, pk, Capability.SIGN_NIGHTS)
        _reconcile_again(request, report.casino_id, report.gaming_day)
        return redirect("admin:audit_nightreport_change", pk)

    @at("again/<int:casino_id>/<str:gaming_day>/")
    @demands(Capability.SIGN_NIGHTS)
    def again_day_view(self, request: HttpRequest, casino_id: int, gaming_day: str) -> HttpResponse:
        """Enqueue another reconciliation of a day whose run has failed: it may have no report yet."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not scope_of(request, Capability.SIGN_NIGHTS).includes(casino_id):
            raise Http404
        run = next((run for run in page.failed_runs() if _names(run, casino_id, gaming_day)), None)
        if run is None:
            raise Http404
        _reconcile_again(request, casino_id, run.gaming_day)
        return redirect("admin:audit_nightreport_changelist")

    @at("<int:pk>/file/<str:name>.<str:format>")
    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int, name: str, format: str) -> HttpResponse:
        """Return a report as a file."""
        report = self.row_or_404(request, pk)
        file = _file(report, name, format, with_names=sees_names(request, report.casino_id))
        if file is None:
            raise Http404
        body, content_type = file
        record_entry(
            request,
            "night.exported",
            casino_id=report.casino_id,
            report=report.pk,
            digest=report.digest,
            name=name,
            form=format,
        )
        night = f"{report.casino.code}-{report.gaming_day}-{report.currency}-{report.version}"
        return file_response(f"night-{night}-{name}.{format}", content_type, body)

    @at("month/<int:casino_id>/<int:year>/<int:number>/<str:currency>/")
    @demands(Capability.SEE_RECORD)
    def month_view(self, request: HttpRequest, casino_id: int, year: int, number: int, currency: str) -> HttpResponse:
        """Show a month of nights; with ``?file=pdf`` return it as PDF."""
        shown = self._month(request, casino_id, year, number, currency)
        is_file = request.GET.get("file") == "pdf"
        if is_file:
            record_entry(request, "month.exported", casino_id=casino_id, month=f"{year}-{number:02}", currency=currency)
        else:
            record_entry(request, "month.viewed", casino_id=casino_id, month=f"{year}-{number:02}", currency=currency)
        content = month_page.month_page(shown, with_names=sees_names(request, casino_id))
        if is_file:
            name = f"month-{shown.casino.code}-{year}-{number:02}-{currency}.pdf"
            return file_response(name, PDF, month_pdf(shown, content))
        context = {
            **content,
            "title": capfirst(date_format(shown.first, "F Y")),
            "month": shown,
            "around": month.around(shown.first),
            **money_of(casino_id, currency, gaming_day__gte=shown.first, gaming_day__lt=month.month_after(shown.first)),
            "owed_address": findings_address(month=f"{year}-{number:02}"),
        }
        return self.page(request, "admin/audit/night/month.html", **context)

    @at("month/<int:casino_id>/<int:year>/<int:number>/<str:currency>.xlsx")
    @demands(Capability.SEE_RECORD)
    def month_file_view(
        self, request: HttpRequest, casino_id: int, year: int, number: int, currency: str
    ) -> HttpResponse:
        """Return a month as a workbook."""
        exported = self._month(request, casino_id, year, number, currency)
        record_entry(request, "month.exported", casino_id=casino_id, month=f"{year}-{number:02}", currency=currency)
        name = f"month-{exported.casino.code}-{year}-{number:02}-{currency}.xlsx"
        tables = month.sheets(exported, with_names=sees_names(request, casino_id))
        return file_response(name, XLSX, workbook(tables, currency, name))

    def _month(self, request: HttpRequest, casino_id: int, year: int, number: int, currency: str) -> month.Month:
        if not 1 <= number <= 12 or not 1990 <= year <= 2100 or len(currency) != 3:
            raise Http404
        first = date(year, number, 1)
        others = NightReport.objects.filter(
            casino=OuterRef("pk"), gaming_day__gte=first, gaming_day__lt=month.month_after(first)
        ).exclude(currency__in=(currency, NO_CURRENCY))
        casinos = scope_of(request, Capability.SEE_RECORD).casinos().filter(pk=casino_id)
        casino = casinos.annotate(has_currencies=Exists(others)).first()
        if casino is None:
            raise Http404
        return month.month_of(casino, first, currency)

    def _address(self, pk: int) -> str:
        return reverse("admin:audit_nightreport_change", args=(pk,))


def _file(report: NightReport, name: str, format: str, *, with_names: bool) -> tuple[bytes, str] | None:
    """Return a report as bytes with their media type, or None for a file that there is not."""
    match format, name:
        case "pdf", "en" | "fr":
            return as_pdf(report, "fr" if name == "fr" else "en", with_names=with_names), PDF
        case "xlsx", "all":
            return sheets.as_xlsx(report, with_names=with_names), XLSX
        case "json", "all":
            return sheets.as_json(report), JSON
        case "csv", _:
            sheet = sheets.sheet_named(report, name, with_names=with_names)
            return (as_csv(sheet, report.currency), CSV) if sheet else None
        case _:
            return None


class SubscriberForm(forms.ModelForm):  # type: ignore[type-arg]  # Django’s own takes no type parameter
    """Refuses a subscriber who may not receive the reports of the casino."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        casino, officer = cleaned.get("casino"), cleaned.get("officer")
        if casino and officer and not Scope.of(officer, Capability.RECEIVE_REPORTS).includes(casino.pk):
            raise forms.ValidationError(_("This officer’s role at this casino does not let them receive its reports."))
        return cleaned


@admin.register(NightSubscriber)
class NightSubscriberAdmin(AuditedAdmin[NightSubscriber]):
    sees = changes = (Capability.KEEP_EQUIPMENT,)
    form = SubscriberForm
    when_empty = _("Nobody receives the nights by e-mail. Add an officer who is to have the reports, or the alerts.")
    list_display = ("casino", "officer", "language", "receives_reports", "receives_alerts")
    list_filter = ("casino",)

    def stated(self, row: NightSubscriber) -> dict[str, Any]:
        return row.stated()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_change_permission(request, obj)
