"""Names in a report that is shown: beside the ids of persons, or in their place. The stored report has the ids
alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from audit.persons.directory import Directory, players, staff
from audit.persons.subjects import named_subject, persons_in
from audit.reconciliation.columns import Row

LISTED = ("croupiers", "errors")
"""The lists of a report whose rows are about a croupier."""


def add_names(content: dict[str, Any], casino_id: int, *, for_page: bool) -> None:
    """Put names beside the ids of a report's content, ``for_page`` in their place: one query."""
    incidents, processes = list(_incidents_of(content)), list(_processes_of(content))
    named = [*staff(row["croupier"] for key in LISTED for row in content[key])]
    named += players(each["player"] for each in incidents)
    named += staff(each.get("croupier", "") for each in incidents)
    for row in processes:
        named += persons_in(row["facts"]["process"], row["facts"]["subject"])
    directory = Directory.of(casino_id, named)
    directory = directory.for_page() if for_page else directory
    content |= {key: with_croupiers(content[key], directory) for key in LISTED}
    for each in incidents:
        each["player"] = each["player"] and directory.player(each["player"])
        if each.get("croupier"):
            each["croupier"] = directory.staff(each["croupier"])
    for row in processes:
        facts = row["facts"]
        facts["subject_id"] = facts["subject"]
        row["table"] = facts["subject"] = named_subject(facts["process"], facts["subject"], directory)


def with_croupiers(rows: Iterable[Row], directory: Directory) -> list[dict[str, Any]]:
    """Return rows with their croupier as a page shows them, the id as ``croupier_id``; nobody known stays nobody."""
    return [
        {**row, "croupier_id": row["croupier"], "croupier": row["croupier"] and directory.staff(row["croupier"])}
        for row in rows
    ]


def _rows_of(content: Row, code: str) -> Iterator[dict[str, Any]]:
    return (row for line in content["lines"] if line["code"] == code for row in line["rows"])


def _incidents_of(content: Row) -> Iterator[dict[str, Any]]:
    """Yield the open incidents that a report names."""
    return (each for row in _rows_of(content, "findings") for each in row["facts"].get("largest", ()))


def _processes_of(content: Row) -> Iterator[dict[str, Any]]:
    """Yield the rows about processes of the evidence ledger."""
    return (row for row in _rows_of(content, "chance") if "process" in row["facts"])
