"""Damage: what PostgreSQL says of a page that the disk has not kept as it was written, and where that is.

With checksums PostgreSQL refuses a page whose checksum is not that of its bytes (SQLSTATE XX001). Nothing here can put
it right: the page comes from a backup, or from a replica.
"""

from __future__ import annotations

import re

from django.db import DatabaseError

from audit.event_store import binary_copy

DATA_CORRUPTED, INDEX_CORRUPTED = "XX001", "XX002"

_PAGE = re.compile(r'(?:block|page) (\d+) (?:of|in) (?:relation|index|file) "([^"]+)"')
_FILE = re.compile(r"/(\d+)(?:_\w+)?(?:\.\d+)?$")


def is_damage(error: BaseException) -> bool:
    """Whether an error of the database, or what it was raised from, is that stored data cannot be read."""
    return binary_copy.sqlstate_of(error) in (DATA_CORRUPTED, INDEX_CORRUPTED)


def described(error: BaseException) -> str:
    """Return what is damaged, in one line: block and table, or PostgreSQL's own words.

    Call it outside the transaction that failed.
    """
    words = str(error).partition("\n")[0].strip()
    page = _PAGE.search(words)
    if page is None:
        return words
    return f"block {page[1]} of {_table(page[2]) or page[2]}"


def _table(path: str) -> str | None:
    """Return the table or index of a file in the data folder, None if it is none of this database's."""
    file = _FILE.search(path)
    if file is None:
        return None
    try:
        rows = binary_copy.execute("select pg_filenode_relation(0, %b::bigint::oid)::regclass::text", (int(file[1]),))
    except DatabaseError:
        return None
    return rows[0][0] if rows else None
