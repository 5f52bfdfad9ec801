"""Lists handed out as files; each hand-out is an act of the log, recorded by who hands out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.http import Http404, HttpResponse

from audit.exports.files import FORMS, made
from audit.reconciliation.sheets import Sheet


def handed_out(sheet: Sheet, form: str, *, title: str, said: Sequence[str], day: date) -> HttpResponse:
    """Return a table as a file. ``said`` is what its filter was, in words; ``day`` dates the paper."""
    if form not in FORMS:
        raise Http404
    name, body = made(sheet, form, title=title, said=said, day=day)
    return attached(name, FORMS[form], body)


def attached(name: str, content_type: str, body: bytes) -> HttpResponse:
    """Return a file that a browser keeps and does not show."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(body, content_type=content_type, headers=headers)


def words_of(parameters: Any) -> list[str]:
    """Return the parameters of an address as words: what a filter was."""
    return [f"{name} = {value}" for name, values in sorted(parameters.lists()) for value in values if value]
