"""*The law in this session*: every sentence with its state, and what the table would have to report."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
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


def page(tenant: Tenant, language: str = "en", *, blanks: bool = False) -> str:
    """Return the page as it is read; ``blanks``: with its no-break spaces."""
    address = reverse("admin:audit_loggedstream_coverage", args=(tenant.stream("s").stream_id,))
    response = desk_of(tenant).get(address, headers={"accept-language": language})
    assert response.status_code == 200
    text = re.sub(r"<[^>]+>", " ", response.content.decode())
    return text if blanks else " ".join(text.split())


def test_a_sentence_has_its_state_and_says_for_lack_of_what(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    text = page(tenant)
    assert "Article 55-7, as T1 kept it" in text
    assert "Night of Thu 19 Nov, 20:00–20:00 CET" in text
    assert "the table does not report calls" in text
    assert re.search(r"U 1 Aucune mise ne peut être déposée", text)
    assert re.search(r"C 2 Si un joueur refuse son tour", text)
    assert "U wager-after-no-more-bets Stake after “Rien ne va plus” · silent in this session: needs calls" in text
    assert "art. 54" not in text


def test_a_rule_has_what_it_found_in_this_session_alone(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    assert tenant.post("t", dice_changed_in_mid_series(tenant, "t")).status_code == 201
    advance(tenant.stream("t").stream_id)
    text = page(tenant)
    assert re.search(r"dice-changed-during-point-series .{0,80} · 1 finding", text)
    assert "dice-set-not-six Set of other than six dice · major, needs custody · no finding" in text


def test_another_text_of_the_session_is_chosen_and_one_that_was_not_read_is_not(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    address = reverse("admin:audit_loggedstream_coverage", args=(tenant.stream("s").stream_id,))
    client = desk_of(tenant)
    titles = dict.fromkeys(("fr-art-55-8", "fr-art-54", ".."), "")
    for text in titles:
        response = client.get(address, {"text": text}, headers={"accept-language": "en"})
        titles[text] = re.findall(r"<h1>([^<]+)</h1>", response.content.decode())[0].strip()
    assert list(titles.values()) == [f"Article {each}, as T1 kept it" for each in ("55-8", "55-7", "55-7")]


def test_the_page_costs_the_same_with_more_findings_and_more_sessions(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    client = desk_of(tenant)
    address = reverse("admin:audit_loggedstream_coverage", args=(tenant.stream("s").stream_id,))

    def queries() -> int:
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    once = queries()
    for other in ("t", "u"):
        assert tenant.post(other, dice_changed_in_mid_series(tenant, other)).status_code == 201
        advance(tenant.stream(other).stream_id)
    assert queries() == once <= 15


def test_the_page_is_in_french(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    text = page(tenant, "fr", blanks=True)
    assert re.search(r"A\s+1\s+Aucune mise ne peut être déposée", text)
    assert "muette dans cette séance\u00a0: requiert calls" in text


def test_before_replay_it_says_that_nothing_was_read(tenant: Tenant) -> None:
    assert "it has not been adjudicated yet" in page(tenant)


def test_the_page_of_the_events_leads_to_it_and_another_casino_sees_neither(tenant: Tenant) -> None:
    stream_id = tenant.stream("s").stream_id
    address = reverse("admin:audit_loggedstream_coverage", args=(stream_id,))
    events = desk_of(tenant).get(reverse("admin:audit_loggedstream_events", args=(stream_id,)))
    assert f'href="{address}"' in events.content.decode()
    assert desk_of(Tenant()).get(address).status_code == 404
