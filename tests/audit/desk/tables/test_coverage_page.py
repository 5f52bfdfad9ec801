"""*The law in this session*: every sentence with its state, and what the table would have to report."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from audit.adjudication.replay import advance
from audit.desk.rules.law_page import session_context
from audit.desk.rules.law_pdf import pdf_data
from audit.event_store import audit_trail
from audit.models import Role
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    return tenant


def desk_of(tenant: Tenant) -> Client:
    client = Client()
    sign_in(client, hired(tenant, Role.AUDITOR, f"auditor-{tenant.code}"))
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
    assert "the table does not report the croupier’s calls" in text
    assert re.search(r"U 1 Aucune mise ne peut être déposée", text)
    assert re.search(r"C 3 Si un joueur refuse son tour", text)
    silent = "silent in this session: needs the croupier’s calls"
    assert f"U Stake after “Rien ne va plus” {silent}" in text
    assert "art. 54" not in text


def test_a_rule_has_what_it_found_in_this_session_alone(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    assert tenant.post("t", dice_changed_in_mid_series(tenant, "t")).status_code == 201
    advance(tenant.stream("t").stream_id)
    text = page(tenant)
    assert re.search(r"Dice changed during a point series .{0,140} · 1 finding", text)
    assert "Set of other than six dice major, needs who holds the equipment · no finding" in text


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
    assert "muette dans cette séance\u00a0: exige les annonces du croupier" in text
    assert "fr-craps" not in text, "a code is no word"


def test_before_replay_it_says_that_nothing_was_read(tenant: Tenant) -> None:
    assert "it has not been adjudicated yet" in page(tenant)


def test_the_page_of_the_events_leads_to_it_and_another_casino_sees_neither(tenant: Tenant) -> None:
    stream_id = tenant.stream("s").stream_id
    address = reverse("admin:audit_loggedstream_coverage", args=(stream_id,))
    events = desk_of(tenant).get(reverse("admin:audit_loggedstream_events", args=(stream_id,)))
    assert f'href="{address}"' in events.content.decode()
    assert desk_of(Tenant()).get(address).status_code == 404


def printed(tenant: Tenant, text: str = "", language: str = "en") -> dict[str, Any]:
    """Return what the PDF of the session's page prints."""
    request = RequestFactory().get("/")
    request.user = hired(tenant, Role.AUDITOR, f"reader-{language}")
    request.session = {}  # type: ignore[assignment]  # nothing is chosen in it
    stream = tenant.stream("s")
    with translation.override(language):
        return pdf_data(stream, session_context(request, stream, text))


def test_the_page_is_a_pdf_whose_download_the_trail_has(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    address = reverse("admin:audit_loggedstream_coverage_pdf", args=(tenant.stream("s").stream_id,))
    assert f'href="{address}?text=fr-art-55-7"' in desk_of(tenant).get(address[:-4] + "/").content.decode()
    response = Client()
    sign_in(response, hired(tenant, Role.AUDITOR, "downloads"))
    answer = response.get(address, {"text": "fr-art-55-8"})
    assert (answer["Content-Type"], answer.content[:5]) == ("application/pdf", b"%PDF-")
    assert answer["Content-Disposition"] == 'attachment; filename="fr-art-55-8-s.pdf"'
    assert answer.content == response.get(address, {"text": "fr-art-55-8"}).content, "the same bytes for the same data"
    entries = audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
    exported = [entry.data for entry in entries if entry.type == "law.exported"]
    assert [(each["stream"], each["text"]) for each in exported] == [("s", "fr-art-55-8")] * 2


def test_the_pdf_says_of_every_sentence_what_the_page_says(tenant: Tenant) -> None:
    advance(tenant.stream("s").stream_id)
    data = printed(tenant)
    assert data["heading"] == "Article 55-7, as T1 kept it"
    assert data["subheading"].endswith("Night of Thu 19 Nov 2026, 20:00–20:00 CET · fr-craps")
    sentences = [each for paragraph in data["paragraphs"] for each in paragraph["sentences"]]
    shown = unescape(page(tenant))
    for each in sentences:
        assert " ".join(each["words"].split()) in shown
        for note in each["notes"]:
            assert " ".join(note["text"].split()) in shown
    silent = [note for each in sentences for note in each["notes"] if note["strong"] == "Stake after “Rien ne va plus”"]
    assert silent[0]["letter"] == "U"
    assert silent[0]["text"].endswith("silent in this session: needs the croupier’s calls")
    assert data["register"]["rows"] == []
    assert printed(tenant, language="fr")["heading"] == "Article 55-7 à la table T1"


def test_a_session_that_was_not_read_and_one_of_another_casino_have_no_pdf(tenant: Tenant) -> None:
    address = reverse("admin:audit_loggedstream_coverage_pdf", args=(tenant.stream("s").stream_id,))
    assert desk_of(tenant).get(address).status_code == 404
    advance(tenant.stream("s").stream_id)
    assert desk_of(Tenant()).get(address).status_code == 404
