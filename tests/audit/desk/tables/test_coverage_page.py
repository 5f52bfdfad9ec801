"""*The law in this session*: every sentence with its state, and what the table would have to report."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.models import Role
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant() -> Tenant:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    return tenant


def desk_of(tenant: Tenant) -> Client:
    client = Client()
    client.force_login(hired(tenant, Role.AUDITOR, f"auditor-{tenant.code}"))
    return client


def page(tenant: Tenant, language: str = "en") -> str:
    """Return the page as it is read."""
    address = reverse("admin:audit_loggedstream_coverage", args=(tenant.stream("s").stream_id,))
    response = desk_of(tenant).get(address, headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_a_sentence_has_its_state_and_says_for_lack_of_what(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    text = page(tenant)
    assert "The table does not report:" in text
    assert re.search(r"Aucune mise ne peut être déposée.{0,40} not checked, for lack of calls", text)
    assert re.search(r"Si un joueur refuse son tour.{0,80} checked Rules", text)
    assert "wager-after-no-more-bets Stake after “Rien ne va plus” — silent in this session" in text
    assert "art. 55-7 — Fonctionnement du craps" in text
    assert "art. 54" not in text


def test_the_page_is_in_french(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    assert re.search(r"Aucune mise ne peut être déposée.{0,40} non vérifiée, faute de calls", page(tenant, "fr"))


def test_before_replay_it_says_that_nothing_was_read(tenant: Tenant) -> None:
    assert "it has not been adjudicated yet" in page(tenant)


def test_the_page_of_the_events_leads_to_it_and_another_casino_sees_neither(tenant: Tenant) -> None:
    stream_id = tenant.stream("s").stream_id
    address = reverse("admin:audit_loggedstream_coverage", args=(stream_id,))
    events = desk_of(tenant).get(reverse("admin:audit_loggedstream_events", args=(stream_id,)))
    assert f'href="{address}"' in events.content.decode()
    assert desk_of(Tenant()).get(address).status_code == 404
