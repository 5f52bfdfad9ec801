"""Every column of the database is said to be held, recomputed or not held, and what is said is so.

A forger made from PostgreSQL's catalogue changes each column, deletes, doubles and adds a row of each table: whatever
is held or recomputed is named, and ``--deep`` says of each session whether it judged it again.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from django.db import connection

from audit.access import keys
from audit.management.commands.columns import PAGE, with_table
from audit.projections.columns import columns_covered, columns_here, state_of
from audit.projections.coverage import TABLES
from audit.projections.found import _stream_ids
from audit.projections.takeover import keep_settings
from audit.projections.verify import verify_derived
from audit.transparency import outcome
from audit.transparency.outcome import Outcome
from tests import citus
from tests.audit.projections import test_access, test_officers
from tests.audit.projections.column_forger import FAR, Attack, ColumnForger, rolled_back, unguard_all
from tests.audit.projections.record import faults
from tests.audit.projections.test_access import Kept
from tests.audit.projections.test_deeds import Deeds
from tests.audit.projections.test_deep import Fed
from tests.audit.projections.test_officers import Accounts
from tests.audit.transparency.sealed import seal, verified
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

SEED = 1

ROOT = Path(__file__).resolve().parents[3]

WITHOUT_ROWS = {
    *("audit_archivedmonth", "audit_cosignature", "audit_ledgerquestion", "audit_ledgersetaside", "audit_logepoch"),
    *("log.outbox", "log.subtree"),
}
"""Held tables without a row in the record: ``test_deep`` and tests of the archive and the tree forge their rows."""


@pytest.fixture(scope=citus.MODULE, autouse=True)
def baseline(_committed_before: None) -> dict[bool, set[str]]:
    """Have one record for all attacks: of each held table some rows, in four casinos.

    Return what is named of it before anything is forged, and by ``--deep``.
    """
    with pytest.MonkeyPatch.context() as later:  # the log keeps the settings of all of them at the end
        for module in (test_access, test_officers):
            later.setattr(module, "keep_settings", lambda: 0)
        Fed()
        Deeds()
        Accounts()
        kept = Kept()
        keys.make(
            keys.COMMAND, casino=kept.casino, name="t", scopes=["streams:read"], tables=[kept.record.tenant.table]
        )
    keep_settings()
    seal()
    with connection.cursor() as cursor:
        unguard_all(cursor, sorted(TABLES))
    before = {deep: {str(fault) for fault in faults(deep=deep)} for deep in (False, True)}
    assert before[False] == set()
    # Two processes of the ledger are made up, to be ended: nothing has fed them.
    assert all("is not what its batches give" in fault for fault in before[True])
    return before


def test_every_column_of_the_database_is_said_once() -> None:
    covered = list(columns_covered())
    assert sorted(covered) == sorted(set(columns_here()))


def test_the_docs_have_the_table() -> None:
    page = (ROOT / PAGE).read_text()
    assert page == with_table(page), "run manage.py columns"


OF_NOTHING = {
    ("audit_adjudication", "what_if_id"),
    ("audit_adjudicationrun", "what_if_id"),
    ("audit_retiredwagers", "run_id"),
}
"""Another value of these adds a row that judges nothing: of a what-if run, or what a later row has anew."""

Forge = Callable[[ColumnForger], Attack]


def alterations(forger: ColumnForger) -> Iterator[tuple[str, Forge]]:
    """Yield every column of every table that has rows, twice: in its first row and in its last."""
    for table in sorted(TABLES):
        for column, _type in forger.columns(table):
            for row in forger.rows(table, column):
                yield f"{table}.{column}", lambda own, t=table, c=column, r=row: own.alter(t, (c,), r)  # type: ignore[misc]


def far_numbers(forger: ColumnForger) -> Iterator[tuple[str, Forge]]:
    """Yield every column of numbers, in the first row and in the last."""
    for table in sorted(TABLES):
        for column in [column for column, type in forger.columns(table) if type in FAR]:
            for row in forger.rows(table, column):
                yield f"{table}.{column}", lambda own, t=table, c=column, r=row: own.alter(t, (c,), r, "far")  # type: ignore[misc]


def rows_whole(forger: ColumnForger) -> Iterator[tuple[str, Forge]]:
    """Yield each table's first and last row deleted, doubled, and added with another value of a column."""
    for table in sorted(TABLES):
        columns = [column for column, _type in forger.columns(table) if state_of(table, column) != "not held"]
        for row in forger.rows(table):
            yield table, lambda own, t=table, r=row: own.delete(t, r)  # type: ignore[misc]
            yield table, lambda own, t=table, r=row: own.copy(t, r)  # type: ignore[misc]
            for column in columns:
                if (table, column) in OF_NOTHING:
                    continue
                yield table, lambda own, t=table, r=row, c=column: own.copy(t, r, c)  # type: ignore[misc]


def pairs(forger: ColumnForger) -> Iterator[tuple[str, Forge]]:
    """Yield each held column with the next of its table, and with the entry of the log that says it."""
    for table in sorted(TABLES):
        columns = [column for column, _type in forger.columns(table) if state_of(table, column) != "not held"]
        for row in forger.rows(table)[:1]:
            for one, other in pairwise(columns):
                yield table, lambda own, t=table, p=(one, other), r=row: own.alter(t, p, r, "pair")  # type: ignore[misc]
            for column in () if table.startswith("log.") else columns:
                yield table, lambda own, t=table, c=column, r=row: own.alter_with_entry(t, c, r)  # type: ignore[misc]


class Result:
    """What came of the attacks."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.silent: list[str] = []
        self.refused: list[str] = []
        self.unjudged: list[str] = []

    def attack(self, forge: Forge, baseline: dict[bool, set[str]]) -> None:
        """Attack, verify, and count; a table with something recomputed is verified deep.

        Of each part only the faults that are listed count: a row that is named after a flood is not named.
        """
        with rolled_back(self.refused) as forger:
            attack = forge(forger)
            is_deep = any(line.state == "recomputed" for line in TABLES[attack.table])
            self.counts["tried"] += 1
            try:
                derived = verify_derived(None, log := verified(decisions=[None]), deep=is_deep)
            except Exception as error:  # a verification that ends in an error names nothing
                self.counts["ended in an error"] += 1
                self.silent.append(f"{attack}\n    verify ended in {error!r}")
                return
            first = Outcome()
            for fault in (*log.faults, *derived.faults):
                if str(fault) not in baseline[is_deep]:
                    first.add(fault)
            found = set(map(str, first.faults))
            is_named = any(attack.is_named_by(fault) for fault in found)
            if is_deep:
                figures = derived.figures
                if figures.again + figures.away + len(figures.passed_over) < len(_stream_ids(None)):
                    self.unjudged.append(str(attack))
            if attack.state == "not held":
                self.counts["not held"] += 1
                self.counts["not held, and named all the same"] += bool(found)
            elif is_named:
                self.counts["named" if attack.state == "held" else "recomputed"] += 1
            else:
                self.counts["silent" if not found else "named, but not the row"] += 1
                self.silent.append(f"{attack}\n    " + ("; ".join(sorted(found))[:600] or "silent"))

    def __str__(self) -> str:
        counts = self.counts + Counter(self.refused)
        return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def forged(
    kinds: Callable[[ColumnForger], Iterator[tuple[str, Forge]]], number: int | None, baseline: dict[bool, set[str]]
) -> Result:
    """Make every attack of some kinds, or a ``number`` of them, drawn at random."""
    result = Result()
    with connection.cursor() as cursor:
        drawn = list(kinds(ColumnForger(cursor)))
    for _name, forge in drawn if number is None else random.Random(SEED).sample(drawn, number):
        result.attack(forge, baseline)
    print(f"\n{kinds.__name__}: {result}")
    return result


def test_verification_calls_each_check_that_the_table_names() -> None:
    checks = {line.why.split("`")[1] for lines in TABLES.values() for line in lines if line.state != "not held"}
    callers = {
        path.relative_to(ROOT): path.read_text()
        for path in sorted((ROOT / "audit").rglob("*.py"))
        if not path.name.startswith("coverage")
    }
    called = {path: set(re.findall(r"\b(\w+)\(", text)) for path, text in callers.items()}
    for check in checks:
        module, name = check.split(": ")
        used = [path for path, names in called.items() if str(path) != module and name in names]
        assert used, f"nothing calls {check}"


@pytest.mark.parametrize("number", [5, pytest.param(None, marks=pytest.mark.faults)])
@pytest.mark.parametrize("kinds", [alterations, far_numbers, rows_whole, pairs])
def test_whatever_is_said_to_be_held_is_named(
    kinds: Callable[[ColumnForger], Iterator[tuple[str, Forge]]],
    number: int | None,
    baseline: dict[bool, set[str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outcome, "MAX_OF_A_PART", 1)  # what follows from a row never comes before it
    with capsys.disabled():
        result = forged(kinds, number, baseline)
    assert not result.silent, f"{len(result.silent)} of {result}\n" + "\n".join(result.silent)
    assert not result.unjudged
    assert result.counts["named"] + result.counts["recomputed"] > 0


@pytest.mark.parametrize(
    "column",
    in_short(
        [
            *("audit_accesslink.confirmed_by_id", "audit_adjudication.cursor", "audit_adjudication.stream_id"),
            "audit_adjudication.what_if_id",
            *("audit_case.approved_by_id", "audit_casecontacts.deputy_id", "audit_finding.superseded_by_run_id"),
            *(
                "audit_ledgeryear.year",
                "audit_registerentry.decided_by_id",
                "log.leaf.log_index",
                "log.checkpoint.number",
            ),
        ],
        every=3,
    ),
)
def test_a_number_that_nothing_else_has_is_named_first(
    column: str, baseline: dict[bool, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a reference to nobody, nor a number that is beyond all that is stored, is silent or ends verification."""
    monkeypatch.setattr(outcome, "MAX_OF_A_PART", 1)
    result = Result()
    with connection.cursor() as cursor:
        attacks = [forge for name, forge in far_numbers(ColumnForger(cursor)) if name == column]
    for forge in attacks:
        result.attack(forge, baseline)
    assert attacks
    assert not result.silent, "\n".join(result.silent)
    assert not result.unjudged, "it ends the reading of other sessions"


def test_each_held_table_has_rows_in_the_record() -> None:
    with connection.cursor() as cursor:
        forger = ColumnForger(cursor)
        empty = {table for table in TABLES if not forger.rows(table)}
    held = {table for table, lines in TABLES.items() if any(line.state != "not held" for line in lines)}
    assert held & empty == WITHOUT_ROWS
