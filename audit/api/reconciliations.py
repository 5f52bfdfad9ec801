"""Reports of a gaming day over the API: any version, as JSON, CSV, XLSX and PDF."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.answer_schemas import CURRENCY
from audit.api.keyed_view import KeyedView, key_of
from audit.api.problems import Problem
from audit.api.streams import number, whole
from audit.exports.pdf import PDF
from audit.exports.sheets import CSV, XLSX, as_csv
from audit.models import KeyScope, NightReport
from audit.reconciliation import sheets
from audit.reconciliation.pdf import as_pdf

MAX_VERSIONS = 1_000_000

_NO_REPORT = (
    "This key has no such report. Check the casino, the gaming day (YYYY-MM-DD), the currency and the version; "
    "a night has a report once it is reconciled."
)

_DAY = OpenApiParameter("gaming_day", OpenApiTypes.DATE, OpenApiParameter.PATH)
_CURRENCY = OpenApiParameter("currency", CURRENCY, description="ISO 4217; needed where the night has several.")
_VERSION = number("version", "Default: the newest.", most=MAX_VERSIONS)


class NightView(KeyedView):
    """A view of one casino's night, for a key that reads reports and is not limited to some tables."""

    scope = KeyScope.REPORTS_READ
    parameters = frozenset({"currency", "version"})

    def nights(self, request: Request, casino: str, gaming_day: str) -> list[NightReport]:
        """Return the reports of a night, the requested version or the newest, one per currency.

        Raise 404 if there is none, 403 for a key that is limited to tables.
        """
        key = key_of(request)
        if key.casino.code != casino:
            raise Problem(404, "not-found", _NO_REPORT)  # a tenant learns nothing of another
        if not key.reports_on(None):
            raise Problem(
                403,
                "forbidden",
                "This key is of certain tables, and a night is of the whole casino. Use a key of every table.",
            )
        try:
            day = date.fromisoformat(gaming_day)
        except ValueError:
            raise Problem(404, "not-found", _NO_REPORT) from None
        reports = NightReport.objects.select_related("casino", "reviewed_by", "closed_by").filter(
            casino=key.casino, gaming_day=day
        )
        if "currency" in request.query_params:
            reports = reports.filter(currency=request.query_params["currency"])
        if "version" in request.query_params:
            version = whole(request, "version", default=1, least=1, most=MAX_VERSIONS)
            reports = reports.filter(version=version)
        newest: dict[str, NightReport] = {}
        for report in reports.order_by("currency", "version"):
            newest[report.currency] = report
        if not newest:
            raise Problem(404, "not-found", _NO_REPORT)
        return list(newest.values())

    def night(self, request: Request, casino: str, gaming_day: str) -> NightReport:
        """Return one report of a night. Raise 422 if the night has several currencies and the request names none."""
        reports = self.nights(request, casino, gaming_day)
        if len(reports) > 1:
            currencies = ", ".join(report.currency for report in reports)
            raise Problem(422, "invalid", f"This night has reports in {currencies}. Choose one with 'currency'.")
        return reports[0]


class NightDocuments(NightView):
    """The reports of a gaming day, one of each currency."""

    @extend_schema(
        summary="The reports of a gaming day", parameters=[_DAY, _CURRENCY, _VERSION], responses=OpenApiTypes.OBJECT
    )
    def get(self, request: Request, casino: str, gaming_day: str) -> Response:
        reports = self.nights(request, casino, gaming_day)
        return Response({"reports": [sheets.document(report) for report in reports]})


class NightVersions(NightView):
    """Every version of the reports of a gaming day, without their content."""

    parameters = frozenset()

    @extend_schema(summary="The versions of a night", parameters=[_DAY], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, casino: str, gaming_day: str) -> Response:
        newest = self.nights(request, casino, gaming_day)[0]
        versions = NightReport.objects.filter(casino=newest.casino, gaming_day=newest.gaming_day)
        return Response(
            {
                "versions": [
                    {
                        "currency": report.currency,
                        "version": report.version,
                        "state": report.state,
                        "digest": report.digest,
                        "made_at": report.made_at.isoformat(),
                        "watermark": {"size": report.tree_size, "root": report.tree_root},
                        "restatement": report.sheet,
                    }
                    for report in versions.order_by("currency", "version").defer("content")
                ]
            }
        )


class _NightFile(NightView):
    """A report as a file: its media type and its extension."""

    media_type = ""
    extension = ""

    def body(self, request: Request, report: NightReport) -> bytes:
        raise NotImplementedError

    def _respond(self, request: Request, casino: str, gaming_day: str) -> HttpResponse:
        report = self.night(request, casino, gaming_day)
        name = f"night-{report.casino.code}-{report.gaming_day}-{report.currency}-{report.version}.{self.extension}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(self.body(request, report), content_type=self.media_type, headers=headers)


class NightPdf(_NightFile):
    """A report as PDF."""

    media_type, extension = PDF, "pdf"
    parameters = frozenset({"currency", "version", "language"})

    @extend_schema(
        summary="A report as PDF",
        parameters=[_DAY, _CURRENCY, _VERSION, OpenApiParameter("language", str, enum=["en", "fr"])],
        responses={(200, PDF): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, casino: str, gaming_day: str) -> HttpResponse:
        return self._respond(request, casino, gaming_day)

    def body(self, request: Request, report: NightReport) -> bytes:
        language: Any = request.query_params.get("language", "fr")
        if language not in ("en", "fr"):
            raise Problem(422, "invalid", "'language' is en or fr.")
        return as_pdf(report, language)


class NightCsv(_NightFile):
    """One table of a report."""

    media_type, extension = CSV, "csv"
    parameters = frozenset({"currency", "version", "table"})

    @extend_schema(
        summary="A table of a report as CSV",
        parameters=[_DAY, _CURRENCY, _VERSION, OpenApiParameter("table", str, enum=sheets.sheet_names())],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, casino: str, gaming_day: str) -> HttpResponse:
        return self._respond(request, casino, gaming_day)

    def body(self, request: Request, report: NightReport) -> bytes:
        sheet = sheets.sheet_named(report, request.query_params.get("table", "sessions"))
        if sheet is None:
            raise Problem(422, "invalid", f"'table' is one of {', '.join(sheets.sheet_names())}.")
        return as_csv(sheet, report.currency)


class NightXlsx(_NightFile):
    """Every table of a report as one workbook."""

    media_type, extension = XLSX, "xlsx"

    @extend_schema(
        summary="A report as a workbook",
        parameters=[_DAY, _CURRENCY, _VERSION],
        responses={(200, XLSX): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, casino: str, gaming_day: str) -> HttpResponse:
        return self._respond(request, casino, gaming_day)

    def body(self, request: Request, report: NightReport) -> bytes:
        return sheets.as_xlsx(report)
