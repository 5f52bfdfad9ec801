"""*Proof of an event*: what a table sent, up to the signed head of the log, for officers who see that record."""

from __future__ import annotations

import json
import re
from hashlib import sha256

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.event_store import audit_trail, merkle
from audit.models import Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, numbered
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/state/proof/"


@pytest.fixture
def tenant() -> Tenant:
    """Return a casino with a stream of three events, sealed."""
    tenant = Tenant()
    tenant.post("s", numbered(tenant.opener("s"), ("no_more_bets", {}), ("player.left", {"player": "Anna"})))
    seal()
    return tenant


@pytest.fixture
def auditor(tenant: Tenant) -> Client:
    return client_of(hired(tenant, Role.AUDITOR, "vera"))


def text_of(client: Client, language: str = "en", status: int = 200, **query: object) -> str:
    answer = client.get(ADDRESS, query, headers={"accept-language": language})
    assert answer.status_code == status
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_an_event_is_shown_in_words_with_each_step_to_the_signed_head(tenant: Tenant, auditor: Client) -> None:
    text = text_of(auditor, stream="s", seq=3)
    assert "Player left" in text
    assert "Anna leaves" in text
    assert "Its batch: event 3 of 3 by 1 hash" in text or "Its batch: event 3 of 3 by 2 hashes" in text
    assert re.search(r"The entry of the batch: leaf [\d,]+ of the log", text)
    assert re.search(r"The signed head of the log, over [\d,]+ batch(es)?", text)
    assert "cabochon" in text.split("The signed note")[1]
    french = text_of(auditor, "fr", stream="s", seq=3)
    assert "Départ d’un joueur" in french
    assert "Preuve d’un événement" in french
    assert "Tête signée du journal" in french


def test_the_file_is_what_the_interface_answers_and_leads_to_the_root(tenant: Tenant, auditor: Client) -> None:
    answer = auditor.post(ADDRESS, {"stream": "s", "seq": "2"})
    assert answer["Content-Disposition"] == 'attachment; filename="s-2.json"'
    proof = json.loads(answer.content)
    assert (proof["stream"], proof["seq"], json.loads(proof["event"])["type"]) == ("s", 2, "no_more_bets")
    leaf = sha256(b"\x00" + proof["event"].encode()).digest()
    assert leaf == merkle.leaf(proof["event"].encode())
    shown = text_of(auditor, stream="s", seq=2)
    assert leaf.hex() in shown
    assert json.loads(proof["batch"]["entry"])["root"] in shown
    today = timezone.now().date()
    entries = [(each.type, each.data) for each in audit_trail.entries_of(tenant.casino.pk, today)]
    assert ("proof.exported", {"stream": "s", "seqs": [2]}) in entries
    assert ("events.viewed", {"stream": "s", "seqs": [2]}) in entries


@pytest.mark.parametrize(
    ("query", "english", "french"),
    [
        ({"stream": "s", "seq": "9"}, "The stream has no event of this number.", "Ce flux n’a pas d’événement"),
        pytest.param(
            {"stream": "s", "seq": "one"},
            "The stream has no event of this number.",
            "Ce flux n’a pas d’événement",
            marks=pytest.mark.faults,
        ),
        ({"stream": "s", "seq": "9" * 40}, "The stream has no event of this number.", "Ce flux n’a pas d’événement"),
        (
            {"stream": "none", "seq": "1"},
            "There is no stream with this name that you may see.",
            "Aucun flux de ce nom ne vous est accessible.",
        ),
    ],
)
def test_what_is_not_there_is_said(auditor: Client, query: dict[str, str], english: str, french: str) -> None:
    assert english in text_of(auditor, status=404, **query)
    assert french in text_of(auditor, "fr", status=404, **query)


def test_the_stream_of_another_casino_is_none_to_the_officer(tenant: Tenant) -> None:
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert "There is no stream with this name that you may see." in text_of(stranger, status=404, stream="s", seq=1)
    assert stranger.post(ADDRESS, {"stream": "s", "seq": "1"}).status_code == 404
    keeper = client_of(hired(tenant, Role.ADMINISTRATOR, "karl"))
    assert keeper.get(ADDRESS).status_code == 403


def test_an_event_that_is_not_sealed_yet_is_said_to_be(tenant: Tenant, auditor: Client) -> None:
    tenant.post("late", [tenant.opener("late")])
    assert "no checkpoint has it yet" in text_of(auditor, stream="late", seq=1)
    assert "aucun point de contrôle" in text_of(auditor, "fr", stream="late", seq=1)


def test_the_page_of_the_record_leads_to_it(auditor: Client) -> None:
    page = auditor.get(reverse("admin:record_state"), headers={"accept-language": "en"}).content.decode()
    assert f'href="{ADDRESS}"' in page
    assert "Proof of an event…" in page
    assert "Which event" in text_of(auditor)
