"""Reading a directory from a file: a dry run changes nothing, and a refused row says where and why, never what."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from audit.event_store import audit_trail
from audit.exports.sheets import Column, Sheet, as_csv
from audit.models import Person, PersonKind
from audit.persons.directory_file import COLUMNS, MAX_BYTES, MAX_ROWS, FileRefused, ImportReport, import_file
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def read(tenant: Tenant, text: str | bytes, *, dry_run: bool = False) -> ImportReport:
    raw = text.encode() if isinstance(text, str) else text
    return import_file(tenant.casino, raw, actor="keeper", dry_run=dry_run)


def names(tenant: Tenant) -> dict[str, str]:
    return dict(Person.objects.filter(casino=tenant.casino).values_list("code", "name"))


def test_a_file_adds_changes_and_leaves_as_they_are() -> None:
    tenant, other = Tenant(), Tenant()
    Person.objects.create(casino=tenant.casino, code="p1", kind="player", name="Before", note="kept")
    Person.objects.create(casino=tenant.casino, code="p2", kind="player", name="Same")
    Person.objects.create(casino=tenant.casino, code="p9", kind="player", name="Not in the file")
    Person.objects.create(casino=other.casino, code="p1", kind="player", name="Elsewhere")
    report = read(tenant, "code,kind,name\np1,player,After\np2,player,Same\nc1,croupier,Rémi Ouellet\n")
    assert (report.added, report.changed, report.unchanged, report.refused) == (["c1"], ["p1"], 1, [])
    assert names(tenant) == {"p1": "After", "p2": "Same", "p9": "Not in the file", "c1": "Rémi Ouellet"}
    assert names(other) == {"p1": "Elsewhere"}
    assert Person.objects.get(casino=tenant.casino, code="p1").note == "kept", (
        "a column that is missing changes nothing"
    )


def test_a_dry_run_reports_the_same_and_changes_nothing() -> None:
    tenant = Tenant()
    Person.objects.create(casino=tenant.casino, code="p1", kind="player", name="Before")
    text = "code,kind,name\np1,player,After\np2,player,New\nbad id,player,X\n"
    checked = read(tenant, text, dry_run=True)
    assert names(tenant) == {"p1": "Before"}
    assert _entries(tenant) == []
    assert read(tenant, text) == checked
    assert names(tenant) == {"p1": "After", "p2": "New"}


def test_refused_rows_say_the_line_and_why_and_not_what_they_held() -> None:
    tenant = Tenant()
    report = read(
        tenant,
        'code,kind,name\nChloé,player,"Secret One"\np1,wizard,Secret Two\np2,player,\np3,player,Good\n'
        "p3,player,Secret Three\np4,player\np5,player,Secret\u202eFour\n",
    )
    assert [row.line for row in report.refused] == [2, 3, 4, 6, 7, 8]
    assert report.added == ["p3"]
    reported = " ".join(reason for row in report.refused for reason in row.reasons)
    assert "Secret" not in reported
    assert "wizard" not in reported
    assert "not a known kind of person" in reported


def test_a_player_and_an_employee_of_the_same_id_are_two_rows() -> None:
    tenant = Tenant()
    report = read(tenant, "code,kind,name\n17,player,One\n17,croupier,Two\n")
    assert report.added == ["17", "17"]
    assert report.refused == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"code,kind\np1,player\n",
        b"code,kind,name,salary\np1,player,X,1\n",
        "code,kind,name\np1,player,É\n".encode("latin-1"),
        b"\x00" * (MAX_BYTES + 1),
        b"code,kind,name\n" + b"p1,player,X\n" * (MAX_ROWS + 1),
        b'code,kind,name\np1,player,"X\n',
    ],
    ids=["empty", "no names", "another column", "another encoding", "large", "many rows", "not CSV"],
)
def test_a_file_that_cannot_be_read_changes_nothing(raw: bytes) -> None:
    tenant = Tenant()
    with pytest.raises(FileRefused):
        read(tenant, raw)
    assert names(tenant) == {}


def test_what_a_desk_exports_can_be_read_again() -> None:
    tenant = Tenant()
    row = ["p1", PersonKind.PLAYER.value, "=Formula", "", "-note"]
    written = as_csv(Sheet("persons", [Column(name) for name in COLUMNS], [row]), "")
    assert b"'=Formula" in written, "a spreadsheet does not compute it"
    read(tenant, written)
    assert Person.objects.filter(casino=tenant.casino).values_list(*COLUMNS).get() == tuple(row)


def test_a_byte_order_mark_and_semicolons_are_read() -> None:
    tenant = Tenant()
    read(tenant, "\ufeffcode;kind;name\r\np1;player;Martin, Élodie\r\n")
    assert names(tenant) == {"p1": "Martin, Élodie"}


def test_the_audit_trail_has_the_ids_and_no_names() -> None:
    tenant = Tenant()
    read(tenant, "code,kind,name\n" + "".join(f"p{number},player,Secret {number}\n" for number in range(450)))
    entries = _entries(tenant)
    assert [(entry.type, len(entry.data["named"])) for entry in entries] == [
        ("person.added", 200),
        ("person.added", 200),
        ("person.added", 50),
    ]
    assert {entry.actor for entry in entries} == {"keeper"}
    assert "Secret" not in str(entries)


def _entries(tenant: Tenant) -> list[audit_trail.AuditEntry]:
    return list(audit_trail.entries_of(tenant.casino.pk, datetime.now(UTC).date()))
