"""What every page of the record shares: it is read and never written, and an officer sees their own casinos alone."""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import register_converter
from django.urls.converters import IntConverter
from django.utils.text import capfirst

from audit.desk.typed_admin import ModelAdmin
from audit.models import Officer
from audit.models.officers import READERS

Row = TypeVar("Row", bound=Model)


class SignedConverter(IntConverter):
    """A stream's id in a URL: half of them are negative."""

    regex = "-?[0-9]+"


register_converter(SignedConverter, "signed")


class RecordAdmin(ModelAdmin[Row]):
    """A read-only table of the record: no form, no way to add, change or delete a row."""

    actions: Any = None
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list under the name of the model; Django's own title invites to select a row."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def row_or_404(self, request: HttpRequest, object_id: str | int) -> Row:
        """Return the row of a page. Raise ``Http404`` if it is not among the officer's casinos, else
        ``PermissionDenied`` if the officer's role does not let them see it."""
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        return in_own_casinos(super().get_queryset(request), request)


def officer_of(request: HttpRequest) -> Officer:
    """Return the signed-in officer, on a page that nobody else reaches."""
    officer = request.user
    assert isinstance(officer, Officer), "the admin site lets nobody else in"
    return officer


def in_own_casinos(rows: QuerySet[Row], request: HttpRequest) -> QuerySet[Row]:
    """Return those of ``rows`` that belong to a casino whose record the officer may read."""
    officer = officer_of(request)
    return rows if officer.is_superuser else rows.filter(casino__in=officer.casinos_with_role(*READERS))
