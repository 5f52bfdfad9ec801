"""Names in a report that is shown: the persons whom its notes about processes are about."""

from __future__ import annotations

from typing import Any

import pytest

from audit.models import Casino, Person
from audit.reconciliation import wording
from audit.reconciliation.names import add_names

pytestmark = pytest.mark.django_db


def named(casino: Casino, kind: str, subject: str, *, for_page: bool = True) -> dict[str, Any]:
    """Return the row of a process, with names."""
    row = {"table": subject, "note": "ledger_crossed", "facts": {"process": kind, "subject": subject}}
    content = {
        "croupiers": [],
        "errors": [],
        "lines": [{"code": "chance", "rows": [row, {"note": "hold", "facts": {}}]}],
    }
    add_names(content, casino.pk, for_page=for_page)
    return row


@pytest.fixture
def casino(db: None) -> Casino:
    casino = Casino.objects.create(code="named", name="Named")
    for kind, code, name in (("player", "p9001", "Bruno Keller"), ("croupier", "c-3", "Ada Roux")):
        Person.objects.create(casino=casino, kind=kind, code=code, name=name)
    return casino


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [
        ("late-luck", "p9001", "Bruno Keller"),
        ("pair-luck", "p9001, c-3", "Bruno Keller, Ada Roux"),
        ("payout-rate", "c-3", "Ada Roux"),
        ("croupier-displacement", "c-3, W1", "Ada Roux, W1"),
        ("croupier-luck", "c-3", "Ada Roux"),
        ("concentration", "c-3, goodwill-paid", "Ada Roux, Goodwill payment"),
        ("pair-concentration", "p9001, c-3, goodwill-paid", "Bruno Keller, Ada Roux, Goodwill payment"),
        ("player-concentration", "p9001, wager-near-call", "Bruno Keller, At the moment of “Rien ne va plus”"),
        ("pair-voids", "p9001, c-3", "Bruno Keller, Ada Roux"),
        ("croupier-voids", "c-3", "Ada Roux"),
        ("closer-drift", "c-3", "Ada Roux"),
        ("duty-drift", "c-3", "Ada Roux"),
        ("team-drift", "c-3 + c-4", "Ada Roux + c-4"),
        ("wheel", "W1", "W1"),
        ("of-an-earlier-engine", "p9001", "p9001"),
    ],
)
def test_a_process_has_its_persons_by_name_and_keeps_its_subject(
    casino: Casino, kind: str, subject: str, expected: str
) -> None:
    row = named(casino, kind, subject)
    assert (row["table"], row["facts"]["subject"], row["facts"]["subject_id"]) == (expected, expected, subject)


def test_in_a_file_the_id_stands_beside_the_name(casino: Casino) -> None:
    assert named(casino, "late-luck", "p9001", for_page=False)["table"] == "Bruno Keller (p9001)"


@pytest.mark.parametrize(
    ("millionths", "expected"),
    [(55_303, "0.056"), (1_000, "0.001"), (1_001, "0.002"), (999, "0.000999"), (14, "0.000014"), (1_000_000, "1")],
)
def test_a_probability_that_is_read_has_three_decimals_rounded_up(millionths: int, expected: str) -> None:
    assert wording.short_probability(millionths) == expected


@pytest.mark.parametrize(
    ("note", "kind", "expected"),
    [("ledger_watched", "player-luck", ""), ("ledger_watched", "wheel", "480"), ("ledger_asked", "player-luck", "480")],
)
def test_a_person_who_is_only_watched_has_no_number_in_a_night(note: str, kind: str, expected: str) -> None:
    row = {"kind": "text", "note": note, "facts": {"process": kind}, "found": "480", "line": "chance"}
    assert wording.compared(row, "found", "EUR") == expected
