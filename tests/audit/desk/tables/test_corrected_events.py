"""A corrected event reads on the felt, in the line below it and in the timeline as it was corrected."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from audit.models import Role
from settlement import RULESETS
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db

SPIN = ("ball.settled", {"pocket": "18"})
APPROVED = {"reason": "misread <slip>", "approved_by": "chef-4"}
CORRECTED = ("entry.corrected", {"corrects": 2, "data": {"pocket": "26"}, **APPROVED})
ANNULLED = ("entry.annulled", {"annuls": 2, **APPROVED})


def at_the_result(*rest: tuple[str, dict[str, Any]], language: str = "en") -> str:
    """Return the page of a table at its result, event 2, which ``rest`` follows."""
    tenant = Tenant()
    opener = tenant.opener("s", ruleset="fr-roulette", game=RULESETS["fr-roulette"].game, observes=[])
    assert tenant.post("s", numbered(opener, *rest)).status_code == 201
    replayed(tenant.stream("s").pk)
    client: Client = client_of(hired(tenant, Role.OFFICER, "reader"))
    address = f"/admin/audit/loggedstream/{tenant.stream('s').pk}/table/?at=2"
    return client.get(address, headers={"accept-language": language}).content.decode()


def step_of(page: str, seq: int) -> dict[str, Any]:
    data = re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', page)
    assert data is not None
    (step,) = (each for each in json.loads(data[1])["steps"] if each["seq"] == seq)
    return dict(step)


def line_of(page: str) -> str:
    """Return the line under the felt: the time, and what happened."""
    line = re.search(r'<time data-role="time">.*?</strong>', page)
    assert line is not None
    return re.sub(r"<[^>]+>", "", line[0])


def test_a_corrected_result_is_the_same_on_the_felt_and_in_words() -> None:
    page = at_the_result(SPIN, CORRECTED)
    assert line_of(page) == "20:00:02 CET The ball rests in 26"
    step = step_of(page, 2)
    assert (step["text"], step["result"], step["zone"]) == ("The ball rests in 26", "26", "CET")
    assert "<del>The ball rests in 18</del>\n<ins>The ball rests in 26</ins>" in page
    assert line_of(at_the_result(SPIN, CORRECTED, language="fr")) == "20:00:02 CET La bille s’arrête sur le 26"


def test_an_annulled_result_is_on_no_felt_and_the_line_says_so() -> None:
    page = at_the_result(SPIN, ANNULLED)
    assert line_of(page) == "20:00:02 CET The ball rests in 18 (annulled)"
    assert step_of(page, 2)["result"] is None
    assert "<del>The ball rests in 18</del>" in page
    assert "<ins>" not in page


def test_a_result_that_nobody_corrected_reads_as_it_was_sent() -> None:
    page = at_the_result(SPIN, SPIN)
    assert line_of(page) == "20:00:02 CET The ball rests in 18"
    assert "<del>" not in page


def test_what_was_said_of_a_correction_is_quoted() -> None:
    page = at_the_result(SPIN, CORRECTED)
    assert step_of(page, 3)["text"] == "Entry 2 corrected, approved by chef-4: “misread <slip>”"
    french = str(step_of(at_the_result(SPIN, CORRECTED, language="fr"), 3)["text"]).replace("\N{NO-BREAK SPACE}", " ")
    assert french == "Écriture 2 corrigée, approuvée par chef-4 : « misread <slip> »"


@pytest.mark.parametrize(
    ("language", "words"), [pytest.param("en", "unknown player", marks=pytest.mark.faults), ("fr", "joueur inconnu")]
)
def test_a_stake_of_nobody_is_of_an_unknown_player(language: str, words: str) -> None:
    stake = ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 500})
    page = at_the_result(stake, language=language)
    data = re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', page)
    assert data is not None
    assert json.loads(data[1])["stakes"]["w1"]["player"] == words
