"""Queries that are the same at every request of an officer: their SQL is compiled once, not anew for each page.

Compiling takes Django many times as long as PostgreSQL takes to answer: for the counts in the navigation, half of the
processor time of a short page. Only what depends on nothing but its key and the present moment may be prepared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeVar

import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BooleanField, IntegerField, Model, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.query import ModelIterable
from django.db.models.sql.compiler import SQLCompiler
from django.http import HttpRequest
from django.utils import timezone
from psycopg.sql import Literal

from audit.desk.scoped_admin import chosen_casino, officer_of
from audit.desk.unchanged import tables_of, while_unchanged
from audit.models import Officer

Row = TypeVar("Row", bound=Model)

KEPT = 500
"""Statements that a process keeps: beyond that it begins anew."""

_PRESENT = datetime(2, 1, 1, tzinfo=UTC)
"""Stands for the present moment in a statement that is kept."""

_AROUND = timedelta(days=360)
"""How far from the present moment another one may be that a query computes from it."""

_IDS = [-1]
"""Stands for the primary keys in a statement that is kept."""

_compilers: dict[tuple[str, Hashable], tuple[SQLCompiler, str, Sequence[Any]] | None] = {}
"""Compiled queries by name and key, with their statements. Reading rows by them changes nothing of them. None is as in
``_statements``."""

_statements: dict[tuple[str, Hashable], tuple[str, Sequence[Any]] | None] = {}
"""By name and key. None is a query of which Django sees that it finds no row, as somebody's who sees no record."""


def prepared(
    name: str, key: Hashable, build: Callable[[datetime], QuerySet[Any]], *, kept_for: HttpRequest | None = None
) -> list[tuple[Any, ...]]:
    """Return the rows of ``build(now)``, whose columns are those that its ``values`` name.

    ``build`` is called once for a ``name`` and a ``key``, on which alone its query depends, beside the moment that it
    is given; it may add or take away some days. ``kept_for`` a request, the rows are asked for again only when
    something has changed: ``audit.desk.unchanged``. Nobody may change them.
    """
    if (name, key) not in _statements:
        if len(_statements) >= KEPT:
            _statements.clear()
        _statements[name, key] = _compiled(build(_PRESENT))
    statement = _statements[name, key]
    if statement is None:
        return []
    sql, parameters = statement

    def ask() -> tuple[list[tuple[Any, ...]], Collection[str]]:
        now = timezone.now()
        return planned(sql, [_moved(value, now) for value in parameters]), tables_of(sql)

    if kept_for is None:
        return ask()[0]
    return while_unchanged(kept_for, (name, key), ask, is_of_now=any(isinstance(each, datetime) for each in parameters))


def written(sql: str, parameters: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return a statement with its parameters written into it, but those of a moment and the keys of rows; and these.

    PostgreSQL plans for any value that a parameter may have: it reads an index of standing findings only where it sees
    that nothing else is asked for.
    """
    connection.ensure_connection()
    first, *pieces = _PLACE.split(sql)
    text, others = [first], []
    for value, piece in zip(parameters, pieces, strict=True):
        if isinstance(value, datetime) or value == _IDS:
            others.append(value)
            text += ["%s", piece]
        else:
            text += [Literal(value).as_string(connection.connection).replace("%", "%%"), piece]
    return "".join(text), others


_PLACE = re.compile("(?<!%)%s")


def planned(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that PostgreSQL keeps as planned on this connection: for one that comes often and
    takes as long to plan as to run. Raise Django's database errors."""
    connection.ensure_connection()
    # As `connection.cursor()` prepares Django's own, which writes parameters into the text of a statement.
    database: Any = connection
    with database._prepare_cursor(_PlannedCursor(connection.connection)) as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


class _PlannedCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor whose statements PostgreSQL keeps, with their plans: a hundred of them, the most recent."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _PlannedCursor:
        return super().execute(query, params, prepare=True, **options)


def rows_by_id(name: str, build: Callable[[datetime], QuerySet[Row]], ids: Sequence[int]) -> dict[int, Row]:
    """Return the rows of ``build(now)`` that have these primary keys, by primary key: one query, none without ids.

    ``build`` is called once for a ``name``, as for ``prepared``.
    """

    def among(now: datetime) -> QuerySet[Row]:
        rows = build(now)
        key = f'"{rows.model._meta.db_table}"."{rows.model._meta.pk.column}"'
        return rows.filter(RawSQL(f"{key} = any (%s::bigint[])", (_IDS,), BooleanField()))

    return {row.pk: row for row in _read(name, None, among, ids)} if ids else {}


def prepared_rows(name: str, key: Hashable, build: Callable[[datetime], QuerySet[Row]]) -> list[Row]:
    """Return the rows of ``build(now)``, whole, in its order: one query. ``build`` is as that of ``prepared``."""
    return list(_read(name, key, build, ()))


def _read(name: str, key: Hashable, build: Callable[[datetime], QuerySet[Row]], ids: Sequence[int]) -> Iterable[Row]:
    """Return the rows of a query that is compiled once for ``name`` and ``key``; ``ids`` stand where ``_IDS`` did."""
    if (name, key) not in _compilers:
        if len(_compilers) >= KEPT:
            _compilers.clear()
        compiler = build(_PRESENT).query.get_compiler(DEFAULT_DB_ALIAS)
        try:
            _compilers[name, key] = (compiler, *written(*compiler.as_sql()))
        except EmptyResultSet:
            _compilers[name, key] = None
    compiled = _compilers[name, key]
    if compiled is None:
        return ()
    compiler, sql, parameters = compiled
    now = timezone.now()
    values = [list(ids) if value == _IDS else _moved(value, now) for value in parameters]
    return ModelIterable(_Answered(compiler, planned(sql, values)))  # type: ignore[arg-type]


class _Answered:
    """What Django makes rows of in the place of a query set: a compiled query, and what the database answered."""

    db = DEFAULT_DB_ALIAS
    _known_related_objects: Mapping[Any, Any] = MappingProxyType({})

    def __init__(self, compiler: SQLCompiler, rows: list[tuple[Any, ...]]) -> None:
        self.query = self
        self.select, self.klass_info = compiler.select, compiler.klass_info
        self.annotation_col_map = compiler.annotation_col_map
        self._compiler, self._rows = compiler, rows

    def get_compiler(self, using: str) -> _Answered:
        return self

    def execute_sql(self, **_options: Any) -> list[list[tuple[Any, ...]]]:
        return [self._rows]

    def results_iter(self, results: Any) -> Iterable[Any]:
        return self._compiler.results_iter(results)


class Rows(Subquery):
    """How many rows a query has, in a query about something else."""

    template = "(SELECT count(*) FROM (%(subquery)s) _rows)"
    output_field = IntegerField()


def counted(
    name: str,
    names: Sequence[str],
    request: HttpRequest,
    build: Callable[[datetime], Mapping[str, QuerySet[Any]]],
    *,
    is_kept: bool = False,
) -> dict[str, int]:
    """Return how many rows each query of ``build(now)`` has, by ``names``, which are its keys: in one query.

    ``build`` is as that of ``prepared``, for the signed-in officer and the chosen casino; ``is_kept``: they are counted
    again only when something has changed.
    """

    def row(now: datetime) -> QuerySet[Any]:
        queries = build(now)
        counts = {each: Rows(queries[each].order_by().values("pk")) for each in names}
        return Officer.objects.filter(pk=officer_of(request).pk).values_list("pk").annotate(**counts)

    ((_officer, *numbers),) = prepared(name, key_of(request), row, kept_for=request if is_kept else None)
    # A query that can find nothing counts None.
    return {each: number or 0 for each, number in zip(names, numbers, strict=True)}


def _compiled(rows: QuerySet[Any]) -> tuple[str, Sequence[Any]] | None:
    try:
        return written(*rows.query.sql_with_params())
    except EmptyResultSet:
        return None


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
