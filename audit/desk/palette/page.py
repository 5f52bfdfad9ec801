"""The palette as an address: a whole page, or its results alone where the shell's script asks for them."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.palette.query import MAX_TEXT, query_of
from audit.desk.palette.results import results_of
from audit.desk.scoped_admin import demands


@demands(*Capability)
def palette_view(request: HttpRequest) -> HttpResponse:
    """Show what ``?q=`` finds. With ``?part=1`` the results alone, as the shell puts them into its dialog."""
    query = query_of(request.GET.get("q", "")[:MAX_TEXT], today=timezone.localdate())
    groups, notes = results_of(request, query)
    context = {"groups": groups, "notes": notes, "typed": query.text}
    if request.GET.get("part") == "1":
        return TemplateResponse(request, "admin/audit/palette/results.html", context)
    context = {**admin.site.each_context(request), **context, "title": _("Search")}
    return TemplateResponse(request, "admin/audit/palette/page.html", context)
