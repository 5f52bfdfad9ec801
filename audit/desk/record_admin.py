"""What every page of the record shares: read, never written, and only the houses of the officer who asks."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import register_converter
from django.urls.converters import IntConverter
from django.utils.text import capfirst
from django.utils.translation import get_language

from audit.models import Officer
from audit.models.officers import READERS


class SignedConverter(IntConverter):
    """A stream's id in an address: half of them are negative."""

    regex = "-?[0-9]+"


register_converter(SignedConverter, "signed")


class RecordAdmin(admin.ModelAdmin):
    """A table of the record: no form, no action, no way to add, change or delete."""

    actions = None
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list under its own name: nothing is selected in it."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def row_or_404(self, request: HttpRequest, object_id: str | int) -> Any:
        """Return the row of a page. Raise 404 where the officer who asks has none of that number, else 403."""
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return of_own_casinos(super().get_queryset(request), request)


def officer_of(request: HttpRequest) -> Officer:
    """Return the officer who asks, on a page that nobody else reaches."""
    officer = request.user
    assert isinstance(officer, Officer)
    return officer


def of_own_casinos(rows: QuerySet[Any], request: HttpRequest) -> QuerySet[Any]:
    """Return those of ``rows`` that belong to the houses of the officer who asks."""
    officer = officer_of(request)
    return rows if officer.is_superuser else rows.filter(casino__in=officer.casinos_with_role(*READERS))


def language() -> str:
    """Return the language of the page: ``fr`` or ``en``."""
    return "fr" if (get_language() or "").startswith("fr") else "en"
