"""Where a proposal stands in *To approve*, and which are before and after it: closings first, then corrections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from audit.desk.approve import waiting
from audit.desk.prepared import key_of, prepared
from audit.desk.scoped_admin import narrowed
from audit.models import Finding

MOST = 500
"""Proposals of each kind that are counted."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The position in the list, from 1, 0 if it is not in it; the addresses before and after, "" at an end."""

    position: int
    of: int
    previous: str
    next: str


def closing_address(pk: int) -> str:
    """Return the address of the page on which a closing of the case of finding ``pk`` is decided."""
    return reverse("admin:approve_closing", args=(pk,))


def correction_address(pk: int) -> str:
    """Return the address of the page on which the correction of finding ``pk`` is decided."""
    return reverse("admin:audit_correction_change", args=(pk,))


def neighbours_of(request: HttpRequest, address: str) -> Neighbours:
    """Return the neighbours of the page at ``address`` in what waits for this officer.

    A page that is not in it, as one that was just decided, is followed by the first.
    """

    def first(name: str, order: Sequence[str], proposals: Callable[[HttpRequest], QuerySet[Finding]]) -> list[int]:
        found = prepared(
            f"{name} in order",
            key_of(request),
            lambda _now: narrowed(proposals(request), request).order_by(*order).values_list("pk")[:MOST],
            kept_for=request,
        )
        return [pk for (pk,) in found]

    closings = first("closings", waiting.CLOSINGS_FIRST, waiting.closings)
    corrections = first("corrections", waiting.CORRECTIONS_FIRST, waiting.corrections)
    listed = [*map(closing_address, closings), *map(correction_address, corrections)]
    if address not in listed:
        return Neighbours(0, len(listed), "", listed[0] if listed else "")
    at = listed.index(address)
    return Neighbours(
        at + 1,
        len(listed),
        listed[at - 1] if at else "",
        listed[at + 1] if at + 1 < len(listed) else "",
    )
