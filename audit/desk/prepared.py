"""Queries that are the same at every request of an officer: their SQL is compiled once, not anew for each page.

Compiling takes Django many times as long as PostgreSQL takes to answer: for what every page counts, half of the
processor time of a short page. Only what depends on nothing but its key and the present moment may be prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import IntegerField, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from audit.desk.scoped_admin import chosen_casino, officer_of
from audit.models import Officer

KEPT = 500
"""Statements that a process keeps: beyond that it begins anew."""

_PRESENT = datetime(2, 1, 1, tzinfo=UTC)
"""Stands for the present moment in a statement that is kept."""

_AROUND = timedelta(days=360)
"""How far from the present moment another one may be that a query computes from it."""

_statements: dict[tuple[str, Hashable], tuple[str, Sequence[Any]] | None] = {}
"""By name and key. None is a query of which Django sees that it finds no row, as somebody's who sees no record."""


def prepared(name: str, key: Hashable, build: Callable[[datetime], QuerySet[Any]]) -> list[tuple[Any, ...]]:
    """Return the rows of ``build(now)``, whose columns are those that its ``values`` name: no JSON among them.

    ``build`` is called once for a ``name`` and a ``key``, on which alone its query depends, beside the moment that it
    is given; it may add or take away some days.
    """
    if (name, key) not in _statements:
        if len(_statements) >= KEPT:
            _statements.clear()
        try:
            _statements[name, key] = build(_PRESENT).query.sql_with_params()
        except EmptyResultSet:
            _statements[name, key] = None
    statement = _statements[name, key]
    if statement is None:
        return []
    sql, parameters = statement
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(sql, [_moved(value, now) for value in parameters])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


class Rows(Subquery):
    """How many rows a query has, in a query about something else."""

    template = "(SELECT count(*) FROM (%(subquery)s) _rows)"
    output_field = IntegerField()


def counted(
    name: str, names: Sequence[str], request: HttpRequest, build: Callable[[datetime], Mapping[str, QuerySet[Any]]]
) -> dict[str, int]:
    """Return how many rows each query of ``build(now)`` has, by ``names``, which are its keys: in one query.

    ``build`` is as that of ``prepared``, for the signed-in officer and the chosen casino.
    """

    def row(now: datetime) -> QuerySet[Any]:
        queries = build(now)
        counts = {each: Rows(queries[each].order_by().values("pk")) for each in names}
        return Officer.objects.filter(pk=officer_of(request).pk).values_list("pk").annotate(**counts)

    ((_officer, *numbers),) = prepared(name, key_of(request), row)
    # A query that can find nothing counts None.
    return {each: number or 0 for each, number in zip(names, numbers, strict=True)}


def _moved(value: Any, now: datetime) -> Any:
    """Return a parameter of a kept statement for the present moment."""
    if isinstance(value, datetime) and abs(value - _PRESENT) < _AROUND:
        return now + (value - _PRESENT)
    return value


def key_of(request: HttpRequest) -> Hashable:
    """Return what decides which rows the signed-in officer sees: who they are, their roles, and the chosen casino."""
    officer = officer_of(request)
    roles = frozenset() if officer.is_superuser else frozenset(officer.roles_by_casino.items())
    return officer.pk, officer.is_superuser, roles, chosen_casino(request)
