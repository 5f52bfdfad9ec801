"""The hot path to PostgreSQL: psycopg on Django's connection, arrays and answers in their binary form.

Django's own cursors write parameters into the text of a statement, which for a thousand events is four times as slow
as an array sent in binary; and they parse JSON, where the log wants the very bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import psycopg
from django.db import connection
from psycopg import postgres
from psycopg.adapt import Buffer, Dumper, Loader, PyFormat
from psycopg.pq import Format


class BinaryArray:
    """An array in PostgreSQL's binary form, made at once: an object an element would cost more than all else."""

    __slots__ = ("data", "oid")

    def __init__(self, name: str, count: int, elements: bytes) -> None:
        """``name`` is the type of an element; ``elements`` are each its length and its bytes, one after the other."""
        info = postgres.types[name]
        self.oid = info.array_oid
        self.data = (
            _array_header(1, 0, info.oid, count, 1) + elements if count else _array_header_of_none(0, 0, info.oid)
        )

    @classmethod
    def of_texts(cls, name: str, texts: Sequence[bytes]) -> BinaryArray:
        """Return an array of a type whose elements are written as themselves."""
        return cls(name, len(texts), b"".join([part for text in texts for part in (_length(len(text)), text)]))

    @classmethod
    def of_numbers(cls, name: str, numbers: Sequence[int]) -> BinaryArray:
        """Return an array of a type of eight bytes an element."""
        eights = _eights(len(numbers))
        return cls(name, len(numbers), eights.pack(*[part for number in numbers for part in (8, number)]))


_array_header = struct.Struct(">iiiii").pack
_array_header_of_none = struct.Struct(">iii").pack
_length = struct.Struct(">i").pack


@lru_cache(maxsize=2048)
def _eights(count: int) -> struct.Struct:
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


class _AsStored(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moments: Sequence[datetime]) -> list[int]:
    """Return instants, at least one, as PostgreSQL keeps them: microseconds since 2000, UTC.

    Raise ``TypeError`` where some have an offset and others none.
    """
    first = moments[0]
    begun = (first - _EPOCH) // _MICROSECOND
    # From one to another of the same offset is a third of the way from the epoch, which has another offset.
    after = [moment - first for moment in moments]
    return [begun + (each.days * 86_400 + each.seconds) * 1_000_000 + each.microseconds for each in after]


def execute(statement: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Run one statement, its parameters marked ``%b``, and return its rows; a ``json`` column comes as its bytes.

    Outside ``transaction.atomic`` the statement is a transaction of its own, in one round trip.
    """
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.adapters.register_loader("json", _AsStored)
        cursor.adapters.register_dumper(BinaryArray, _ArrayDumper)
        return cursor.execute(statement, parameters, binary=True).fetchall()
