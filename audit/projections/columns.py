"""The columns of the database: those that there are, and what ``coverage`` says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit.event_store import binary_copy
from audit.projections.coverage import TABLES
from audit.projections.coverage_lines import Line, State

_COLUMNS = """
select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname, a.attname
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
where n.nspname in ('public', 'log', 'log_guard') and c.relkind in ('r', 'p') and not c.relispartition
  and a.attnum > 0 and not a.attisdropped
order by 1, a.attnum
"""


def columns_here() -> Iterator[tuple[str, str]]:
    """Yield each table and column that PostgreSQL's catalogue has, but for partitions, which their table says."""
    yield from binary_copy.execute(_COLUMNS, ())


def columns_covered() -> Iterator[tuple[str, str]]:
    """Yield each table and column of ``TABLES``; one that is there twice, twice."""
    for table, lines in TABLES.items():
        for line in lines:
            yield from ((table, column) for column in line.columns)


def state_of(table: str, column: str) -> State:
    """Return what is proved of a column. Raise ``KeyError`` for one that ``coverage`` lacks."""
    for line in TABLES[table]:
        if column in line.columns:
            return line.state
    raise KeyError(f"{table}.{column}")


def as_markdown() -> str:
    """Return the tables of ``docs/columns.md``: a row for each table of the database, then the numbered reasons.

    The columns of a table that most share a check or a reason are not listed: they are all those that are not.
    """
    lines = [line for table in sorted(TABLES) for line in TABLES[table]]
    reasons = list(dict.fromkeys(line.why for line in lines if line.state == "not held"))
    rows = [f"| `{table}` | {' | '.join(_cells(of_table, reasons))} |" for table, of_table in sorted(TABLES.items())]
    numbered = [f"{number}. {why}" for number, why in enumerate(reasons, start=1)]
    head = ["| table | held, or recomputed from | not held, and why |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", "## Why a column is not held", "", *numbered])


def _cells(lines: Sequence[Line], reasons: Sequence[str]) -> Iterator[str]:
    """Yield what of a table is held or recomputed, by which check, and what is not, by the number of the reason."""
    columns: dict[tuple[bool, str], list[str]] = {}
    for line in lines:
        columns.setdefault((line.state == "not held", line.why), []).extend(line.columns)
    most = max(columns, key=lambda each: len(columns[each]))
    columns[most] = ["all others" if len(columns) > 1 else "all"]
    for is_open in (False, True):
        yield "; ".join(
            f"{', '.join(names)} ({reasons.index(why) + 1 if is_open else why})"
            for (each, why), names in columns.items()
            if each == is_open
        )
