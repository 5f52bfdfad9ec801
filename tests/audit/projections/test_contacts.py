"""Contacts and subscribers are held against the trail: the video room, the readers of late cases and of nights."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.models import CaseContacts, NightSubscriber, Role
from audit.projections.takeover import keep_settings
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge

pytestmark = [pytest.mark.django_db, pytest.mark.superuser, pytest.mark.usefixtures("own_log")]

ROOM = "video@casino.example"


def entered_contacts(casino: Casino) -> CaseContacts:
    """Have an administrator of a casino enter and change its contacts: a room, and nobody for late cases."""
    client = client_of(hired(casino.tenant, Role.ADMINISTRATOR, "keeper"))
    sent = {"casino": str(casino.casino.pk), "video_room": "first@casino.example", "deputy": str(casino.officer.pk)}
    assert client.post(reverse("admin:audit_casecontacts_add"), sent).status_code == 302
    entered = CaseContacts.objects.get(casino=casino.casino)
    change = reverse("admin:audit_casecontacts_change", args=(entered.pk,))
    assert client.post(change, {"video_room": ROOM, "deputy": ""}).status_code == 302
    return entered


@pytest.fixture(scope=citus.MODULE)
def contacts(_committed_before: None) -> CaseContacts:
    entered = entered_contacts(Casino())
    assert faults() == []
    return entered


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("update audit_casecontacts set video_room = 'them@elsewhere.example' where id = {id}", "not what"),
        ("update audit_casecontacts set video_room = '' where id = {id}", "address of the video room"),
        ("update audit_casecontacts set deputy_id = (select min(id) from audit_officer) where id = {id}", "deputy"),
        ("update audit_casecontacts set id = -1 where id = {id}", "no entry says so"),
        ("delete from audit_casecontacts where id = {id}", "missing"),
    ],
)
def test_what_somebody_wrote_past_the_desk_is_named(contacts: CaseContacts, statement: str, named: str) -> None:
    forge(statement, id=contacts.pk)
    found = faults()
    assert {each.part for each in found} == {"contacts"}
    assert any(named in each.what for each in found)


def test_a_subscriber_without_an_entry_is_counted_until_the_log_keeps_it_and_a_fault_from_then_on() -> None:
    casino = Casino()
    row = NightSubscriber.objects.create(casino=casino.casino, officer=casino.other, language="fr")
    assert faults() == []
    keep_settings()
    assert faults() == []
    forge("update audit_nightsubscriber set language = 'en' where id = {row}", row=row.pk)
    assert {each.part for each in faults()} == {"subscriber"}
