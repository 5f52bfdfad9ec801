"""The directory at the desk: who reads it, who keeps it, and what the audit trail says of that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from audit.event_store import audit_trail
from audit.models import Membership, Person, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/person/"


class Kept:
    """Two casinos with a player each; somebody is an officer of the first and the administrator of the second."""

    def __init__(self) -> None:
        self.seen, self.kept = Tenant(), Tenant()
        self.here = Person.objects.create(casino=self.seen.casino, code="p1", kind="player", name="Élodie Martin")
        self.there = Person.objects.create(casino=self.kept.casino, code="p1", kind="player", name="Simon Gagnon")
        self.both = hired(self.seen, Role.OFFICER, "both")
        Membership.objects.create(officer=self.both, casino=self.kept.casino, role=Role.ADMINISTRATOR)
        self.client = client_of(self.both)

    def entries(self, tenant: Tenant) -> list[tuple[str, Any]]:
        entries = audit_trail.entries_of(tenant.casino.pk, datetime.now(UTC).date())
        return [(entry.type, entry.data) for entry in entries if entry.type.startswith("person")]


@pytest.fixture
def kept() -> Kept:
    return Kept()


def form(**values: str) -> dict[str, str]:
    return {"kind": "player", "name": "New Name", "card_or_licence": "", "note": "", **values}


def test_the_directory_is_read_where_names_are_seen_and_changed_where_it_is_kept(kept: Kept) -> None:
    page = kept.client.get(LIST).content.decode()
    assert "Élodie Martin" in page
    assert "Simon Gagnon" in page
    kept.client.post(f"{LIST}{kept.here.pk}/change/", form())
    kept.client.post(f"{LIST}{kept.there.pk}/change/", form())
    kept.here.refresh_from_db()
    kept.there.refresh_from_db()
    assert (kept.here.name, kept.there.name) == ("Élodie Martin", "New Name")
    kept.client.post(LIST, {"action": "delete_selected", "_selected_action": [kept.here.pk], "post": "yes"})
    assert Person.objects.filter(pk=kept.here.pk).exists()


@pytest.mark.parametrize("role", [Role.AUDITOR, None])
def test_who_sees_no_names_does_not_see_the_directory(kept: Kept, role: Role | None) -> None:
    someone = hired(kept.seen if role else Tenant(), role or Role.OFFICER, "someone")
    page = client_of(someone).get(LIST)
    assert "Élodie" not in page.content.decode()
    assert page.status_code == (403 if role else 200)
    assert client_of(someone).get(f"{LIST}{kept.here.pk}/change/").status_code in (302, 403)


def test_the_audit_trail_has_the_fields_that_changed_and_no_names(kept: Kept) -> None:
    kept.client.post(f"{LIST}{kept.there.pk}/change/", form(note="something private"))
    assert kept.entries(kept.kept) == [
        ("person.changed", {"id": kept.there.pk, "named": "p1", "fields": ["Name", "Note"]})
    ]
    kept.client.post(f"{LIST}add/", form(casino=str(kept.kept.casino.pk), code="c1", kind="croupier"))
    added = Person.objects.get(casino=kept.kept.casino, code="c1")
    kept.client.post(f"{LIST}{added.pk}/delete/", {"reason": "left the house"})
    assert [type for type, _data in kept.entries(kept.kept)] == ["person.changed", "person.added", "person.erased"]
    assert not Person.objects.filter(pk=added.pk).exists()
    assert kept.entries(kept.seen) == []
    assert "New Name" not in str(kept.entries(kept.kept))


def test_somebody_is_not_added_at_a_casino_that_is_only_seen(kept: Kept) -> None:
    kept.client.post(f"{LIST}add/", form(casino=str(kept.seen.casino.pk), code="c1"))
    assert not Person.objects.filter(code="c1").exists()


def test_a_search_by_name_is_recorded_by_how_many_it_showed(kept: Kept) -> None:
    assert "Élodie Martin" in kept.client.get(f"{LIST}?q=martin").content.decode()
    assert kept.entries(kept.seen) == [("persons.listed", {"rows": 1})]
    assert kept.entries(kept.kept) == []


def test_an_export_has_the_filtered_rows_without_formulas_and_is_recorded_without_its_filter(kept: Kept) -> None:
    Person.objects.create(casino=kept.kept.casino, code="p2", kind="player", name="=1+1")
    assert kept.client.get(f"{LIST}export/csv/").status_code == 405
    body = kept.client.post(f"{LIST}export/csv/?casino__id__exact={kept.kept.casino.pk}").content.decode()
    assert body.splitlines() == [
        "code,kind,name,card_or_licence,note",
        "p1,player,Simon Gagnon,,",
        "p2,player,'=1+1,,",
    ]
    assert kept.entries(kept.kept) == [("persons.exported", {"rows": 2})]
    assert kept.entries(kept.seen) == []


def test_a_file_is_checked_and_then_read_into_a_kept_casino_alone(kept: Kept) -> None:
    def posted(tenant: Tenant, **buttons: str) -> str:
        raw = "code,kind,name\np7,player,Zoé Savard\nnot an id,player,X\n".encode()
        data = {"casino": tenant.casino.pk, "file": SimpleUploadedFile("d.csv", raw), **buttons}
        return kept.client.post(f"{LIST}import/", data, headers={"accept-language": "fr"}).content.decode()

    form = kept.client.get(f"{LIST}import/").content.decode()
    assert "Casino</label>" in form
    assert "File</label>" in form
    assert form.count('class="btn go"') == 1, "to check is no second import"
    checked = posted(kept.kept, check="1")
    assert "Ce que l’importation ferait" in checked
    assert "1 à 40 caractères" in checked
    assert not Person.objects.filter(code="p7").exists()
    posted(kept.seen)
    assert not Person.objects.filter(code="p7").exists()
    assert "Ce que l’importation a fait" in posted(kept.kept)
    assert Person.objects.get(code="p7").casino == kept.kept.casino
    assert client_of(hired(kept.seen, Role.OFFICER, "officer")).get(f"{LIST}import/").status_code == 403


def test_an_erased_name_leaves_the_id(kept: Kept) -> None:
    form = kept.client.get(f"{LIST}{kept.there.pk}/delete/").content.decode()
    assert '<button class="btn danger" type="submit">' in form, "what cannot be undone does not look like a save"
    kept.client.post(f"{LIST}{kept.there.pk}/delete/", {"reason": "asked for it"})
    assert not Person.objects.filter(pk=kept.there.pk).exists()
    assert "Simon" not in str(kept.entries(kept.kept))
