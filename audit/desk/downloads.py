"""Downloads: files as HTTP responses. The view that offers a download records it in the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.http import Http404, HttpResponse, QueryDict

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


def filter_texts(parameters: QueryDict) -> list[str]:
    """Return the query parameters of a list as text, each ``name = value``; empty ones are left out."""
    return [f"{name} = {value}" for name, values in sorted(parameters.lists()) for value in values if value]
