"""Downloads: files as HTTP responses. The view that offers a download records it in the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.contrib.admin.views.main import ChangeList
from django.http import Http404, HttpResponse, QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.exports.lists import FORMATS, render_list
from audit.exports.sheets import Sheet


def list_response(sheet: Sheet, format: str, *, title: str, filters: Sequence[str], day: date) -> HttpResponse:
    """Return a table as a file; the arguments are those of ``render_list``. Raise 404 for an unknown format."""
    if format not in FORMATS:
        raise Http404
    name, body = render_list(sheet, format, title=title, filters=filters, day=day)
    return file_response(name, FORMATS[format], body)


def file_response(name: str, content_type: str, body: bytes) -> HttpResponse:
    """Return a file that a browser saves under ``name`` instead of showing it."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(body, content_type=content_type, headers=headers)


def filters_in_words(changelist: ChangeList, parameters: QueryDict) -> list[str]:
    """Return what a list is filtered by as its page names it: “Queue: Open”."""
    texts = []
    for spec in changelist.filter_specs:
        if any(parameters.get(name) for name in spec.expected_parameters() if name is not None):
            chosen = ", ".join(str(choice["display"]) for choice in spec.choices(changelist) if choice["selected"])
            texts.append(gettext("%(filter)s: %(value)s") % {"filter": capfirst(str(spec.title)), "value": chosen})
    if parameters.get("q"):
        texts.append(gettext("%(filter)s: %(value)s") % {"filter": gettext("Search"), "value": parameters["q"]})
    return texts


def filter_texts(parameters: QueryDict) -> list[str]:
    """Return the query parameters of a list as text, each ``name = value``; empty ones are left out."""
    return [f"{name} = {value}" for name, values in sorted(parameters.lists()) for value in values if value]
