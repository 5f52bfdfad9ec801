"""Where a proposal stands in *To approve*, and which are before and after it: closings first, then corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import resolve, reverse

from audit.desk.approve import batches, waiting
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


def next_address(request: HttpRequest, after: str = "") -> str:
    """Return the page to show once a proposal is decided: ``after``, if it still waits, else the first that waits.

    Of a closing in a batch, that is the page of the batch. With nothing left, that is the list, which says so.
    """
    neighbours = neighbours_of(request, after)
    address = (after if neighbours.position else neighbours.next) or reverse("admin:approve")
    closing = resolve(address)
    first = batches.first_of(request, closing.kwargs["pk"]) if closing.url_name == "approve_closing" else None
    return address if first is None else reverse("admin:approve_batch", args=(first,))


def neighbours_of(request: HttpRequest, address: str) -> Neighbours:
    """Return the neighbours of the page at ``address`` in what waits for this officer.

    A page that is not in it, as one that was just decided, is followed by the first.
    """

    def first(proposals: QuerySet[Finding], order: Sequence[str]) -> QuerySet[Any]:
        return narrowed(proposals, request).order_by(*order).values_list("pk", flat=True)[:MOST]

    closings = first(waiting.closings(request), waiting.CLOSINGS_FIRST)
    corrections = first(waiting.corrections(request), waiting.CORRECTIONS_FIRST)
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
