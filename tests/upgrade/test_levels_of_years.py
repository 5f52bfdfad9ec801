"""Migration 0032 on a record that has a ledger: it copies the levels and the budget of the year that this is in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.upgrade.files import run
from tests.upgrade.test_upgrade import database

CASINOS = """
insert into audit_casino (id, code, name, time_zone, cutoff) values
  (1, 'deauville', '', 'Europe/Paris', '12:00'), (2, 'enghien', '', 'Europe/Paris', '12:00'),
  (3, 'charlevoix', '', 'America/Toronto', '12:00')
"""

CURSORS = """
insert into audit_ledgercursor (casino_id, next_leaf, number, year, budget, ranks) values
  (1, 40, 7, 2026, '1/2', '{"wheel": 2}'), (2, 12, 3, 2025, '1', '{"wheel": 1}'), (3, 0, 0, 0, '1', '{}')
"""

PROCESS = """
insert into audit_ledgerprocess
  (id, casino_id, name, kind, subject, variant, generation, "null", state, wealth, highest, opening, year, alpha,
   sessions, draws, first_day, begun_at, ended_at, ended_by, ended_reason)
values (%s, %s, %s, 'wheel', %s, 37, 1, 'even', '{}', 5, 9, %s, %s, %s, 2, 20, '2025-11-19', now(), %s, '', '')
"""

WEALTH = 10**400
"""More than any integer of the database holds."""

PROCESSES = [
    (11, 1, "wheel 37: W1", "W1", WEALTH, 2026, "1/16", None),
    (12, 1, "wheel 37: W2", "W2", 7, 2026, "1/48", "2026-03-01"),
    (13, 1, "wheel 37: W3", "W3", 8, 2025, "1/96", None),
    (21, 2, "wheel 37: W1", "W1", 9, 2025, "1/8", None),
]
"""Id, casino, name, subject, opening, year, alpha, when it ended; the third was not fed in the year of its casino."""


def migrate(url: str, data: Path, to: str) -> None:
    run(["manage.py", "migrate", "audit", to, "--verbosity", "0"], database_url=url, data=data)


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection]:
    """A record whose ledger was fed before migration 0032, after it."""
    data = tmp_path_factory.mktemp("record")
    with database() as url:
        migrate(url, data, "0031_slips")
        with psycopg.connect(url) as connection:
            connection.execute(CASINOS)
            connection.execute(CURSORS)
            for process in PROCESSES:
                connection.execute(PROCESS, process)
        migrate(url, data, "0032_levels_of_years")
        with psycopg.connect(url) as connection:
            yield connection


def test_the_budget_of_the_year_that_each_ledger_is_in_is_copied_and_none_where_nothing_was_fed(
    migrated: psycopg.Connection,
) -> None:
    rows = migrated.execute("select casino_id, year, budget from audit_ledgeryear order by casino_id").fetchall()
    assert rows == [(1, 2026, "1/2"), (2, 2025, "1")]


def test_the_levels_of_that_year_are_copied_also_of_a_process_that_has_ended_and_of_no_year_before(
    migrated: psycopg.Connection,
) -> None:
    rows = migrated.execute("select process_id, year, alpha, opening from audit_ledgerlevel order by 1").fetchall()
    assert rows == [(11, 2026, "1/16", WEALTH), (12, 2026, "1/48", 7), (21, 2025, "1/8", 9)]


def test_the_processes_stay_as_they_were(migrated: psycopg.Connection) -> None:
    rows = migrated.execute(
        "select id, casino_id, name, subject, opening, year, alpha from audit_ledgerprocess order by id"
    ).fetchall()
    assert rows == [process[:-1] for process in PROCESSES]
