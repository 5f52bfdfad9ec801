"""The binary path to PostgreSQL: psycopg on Django's connection, parameters and results in binary form.

For the hot paths. Django's own cursors interpolate parameters into the text of a statement, which for a thousand events
is four times as slow as an array sent in binary; and they parse JSON, where the log needs the very bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, cast

import psycopg
from django.conf import settings
from django.db import connection, connections
from django.db.models import Model
from psycopg import postgres
from psycopg.adapt import Buffer, Dumper, Loader, PyFormat
from psycopg.pq import Format

from audit.event_store.any_node.base import NEAR, DatabaseWrapper


class BinaryArray:
    """An array parameter in PostgreSQL's binary form, packed at once: a dumper call an element would cost far more."""

    __slots__ = ("data", "oid")

    def __init__(self, element_type: str, count: int, elements: bytes) -> None:
        """``elements`` are, one after the other, each element's length (int32) and its bytes."""
        info = postgres.types[element_type]
        self.oid = info.array_oid
        self.data = _array_header(1, 0, info.oid, count, 1) + elements if count else _empty_array(0, 0, info.oid)

    @classmethod
    def from_texts(cls, element_type: str, texts: Sequence[bytes]) -> BinaryArray:
        """Return an array of a type whose binary form is its text, in UTF-8."""
        return cls(element_type, len(texts), b"".join([part for text in texts for part in (_int32(len(text)), text)]))

    @classmethod
    def from_integers(cls, element_type: str, integers: Sequence[int]) -> BinaryArray:
        """Return an array of a type whose binary form is an int64."""
        elements = _int64_elements(len(integers))
        return cls(element_type, len(integers), elements.pack(*[part for each in integers for part in (8, each)]))


_array_header = struct.Struct(">iiiii").pack  # dimensions, nulls, type, count, lower bound
_empty_array = struct.Struct(">iii").pack
_int32 = struct.Struct(">i").pack


@lru_cache(maxsize=2048)
def _int64_elements(count: int) -> struct.Struct:
    return struct.Struct(">" + "iq" * count)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: BinaryArray) -> bytes:
        return obj.data

    def get_key(self, obj: BinaryArray, format: PyFormat) -> Any:
        return (self.cls, obj.oid)

    def upgrade(self, obj: BinaryArray, format: PyFormat) -> Dumper:
        dumper = type(self)(self.cls)
        dumper.oid = obj.oid
        return dumper


class _RawLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(instants: Sequence[datetime]) -> list[int]:
    """Return instants, at least one, in PostgreSQL's binary form: microseconds since 2000, UTC.

    Raise ``TypeError`` if only some have an offset.
    """
    first = instants[0]
    first_us = (first - _EPOCH) // _MICROSECOND
    # Subtracting instants of one offset takes a third of the time of subtracting the epoch, which has another offset.
    since_first = [each - first for each in instants]
    return [first_us + (each.days * 86_400 + each.seconds) * 1_000_000 + each.microseconds for each in since_first]


_rewrite: ContextVar[Callable[[str], str]] = ContextVar("rewrite", default=str)


@contextmanager
def rewriting(rewrite: Callable[[str], str]) -> Iterator[None]:
    """Run each statement of this block as ``rewrite`` returns it."""
    before = _rewrite.set(rewrite)
    try:
        yield
    finally:
        _rewrite.reset(before)


def rewritten(statement: str) -> str:
    """Return a statement in the form in which it is run here."""
    return _rewrite.get()(statement)


def nearest(*, reads_committed: bool = False) -> Any:
    """Return the connection by which one stream is appended to and read: the node nearby, if there is one.

    In a transaction it is Django's own, which sees what the transaction wrote and rolls back what fails, unless what is
    read was committed before (``reads_committed``). Raise Django's database errors.
    """
    if connection.in_atomic_block and (not reads_committed or _rewrite.get() is not str):
        return connection
    return connections[NEAR] if NEAR in settings.DATABASES else cast(DatabaseWrapper, connection).nearby()


def execute(
    statement: str, parameters: tuple[Any, ...] | Mapping[str, Any], *, nearby: bool = False
) -> list[tuple[Any, ...]]:
    """Run one statement, its parameters marked ``%b``, and return its rows; a ``json`` column comes as bytes.

    Outside ``transaction.atomic`` the statement is a transaction of its own, in one round trip; ``nearby`` then runs it
    on the node nearby. Such a statement reads or writes one stream, so one plan serves all: PostgreSQL prepares it
    after a few runs. Raise Django's database errors.
    """
    used = nearest() if nearby else connection
    used.ensure_connection()
    used.validate_no_broken_transaction()
    with used.wrap_database_errors:
        cursor, prepare = _cursor_of(used), None if nearby else False
        return cursor.execute(rewritten(statement), parameters, prepare=prepare, binary=True).fetchall()


def insert(row: Model, *, unless_stored: bool = False) -> None:
    """Insert a row, and give it its primary key; ``unless_stored``: none if there is one like it.

    Django would write each of its bytes as two characters into the statement, which PostgreSQL then parses.
    """
    key = row._meta.pk.column
    fields = [field for field in row._meta.concrete_fields if not field.primary_key]
    columns, values = ", ".join(str(field.column) for field in fields), ", ".join(["%b"] * len(fields))
    instead = "on conflict do nothing" if unless_stored else ""
    inserted = execute(
        f"insert into {row._meta.db_table} ({columns}) values ({values}) {instead} returning {key}",
        tuple(field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields),
    )
    row.pk = inserted[0][0] if inserted else None


def _cursor_of(used: Any) -> psycopg.Cursor[Any]:
    """Return the cursor that a connection of Django's keeps: a new one for each statement costs as much as sending it.

    It also remembers how the parameters and columns of its last statement are converted.
    """
    if used.binary_cursor is None or used.binary_cursor.connection is not used.connection:
        used.binary_cursor = psycopg.Cursor(used.connection)
        used.binary_cursor.adapters.register_loader("json", _RawLoader)
        used.binary_cursor.adapters.register_dumper(BinaryArray, _ArrayDumper)
    cursor: psycopg.Cursor[Any] = used.binary_cursor
    return cursor


def sqlstate_of(error: BaseException) -> str:
    """Return the SQLSTATE of what the database refused, '' of any other error. Django's errors have it in their cause.

    Source: PostgreSQL, appendix A.
    """
    for each in (error, error.__cause__):
        if isinstance(each, psycopg.Error) and each.sqlstate:
            return each.sqlstate
    return ""


def is_undecided(error: BaseException) -> bool:
    """Return whether what raised this may have been done all the same: the connection broke before the answer.

    A database that says why it refused has rolled back.
    """
    state = sqlstate_of(error)
    return not state or state.startswith(_SHUT_DOWN)


_SHUT_DOWN = "57P"


def message_of(error: BaseException) -> str:
    """Return the first line in which the database says why it refused, '' of any other error."""
    cause = error.__cause__
    return (cause.diag.message_primary or "") if isinstance(cause, psycopg.Error) else ""
