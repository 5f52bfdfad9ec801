"""A session of la boule in the record, from its first stake to the page of a finding."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
from django.test import Client

from audit.adjudication.replay import advance
from audit.ingest.bodies import MAX_EVENTS
from audit.models import Officer
from audit.simulation import play
from settlement import decode
from settlement.night.figures import SessionProjection
from tests.audit.tables import Tenant


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("thrower-not-rotated", "croupier-1 threw the ball for the whole session"),
        ("boule-number-invalid", "a number that the apparatus does not have"),
        ("boule-settled-before-call", "By analogy with American roulette"),
    ],
)
def test_an_irregular_session_is_recorded_found_and_drawn(rule: str, words: str) -> None:
    tenant = Tenant(code="boule")  # what is played depends on the name
    day = date(2026, 11, 19)
    played = play("fr-boule", casino=tenant.code, code="T1", gaming_day=day, seed=2, coups=45, irregularities=[rule])
    for start in range(0, len(played.events), MAX_EVENTS):
        assert tenant.post(played.stream, played.events[start : start + MAX_EVENTS]).status_code == 201
    stream = tenant.stream(played.stream)
    while (progress := advance(stream.pk)) is not None and progress.behind:
        pass
    (finding,) = stream.findings.all()
    assert finding.rule == rule

    client = Client()
    client.force_login(Officer.objects.create_superuser("chief", password="x"))
    page = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert words in page
    assert 'class="felt fr-boule"' in page
    data = json.loads(re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', page)[1])  # type: ignore[index]
    steps = {each["seq"]: each for each in data["steps"]}
    thrown = next(each for each in reversed(played.events) if each["type"] == "boule.settled" and each["seq"] in steps)
    number = thrown["data"]["number"]
    assert steps[thrown["seq"]]["result"] == str(number)
    assert steps[thrown["seq"]]["text"].startswith(f"The ball rests in {number}, thrown by")


def test_its_night_adds_up_to_the_cent() -> None:
    played = play("fr-boule", casino="demo", code="T1", gaming_day=date(2026, 11, 19), seed=3, coups=40)
    projection = SessionProjection()
    projection.feed([decode(json.dumps(each)) for each in played.events])
    figures = projection.figures()
    assert len(figures.draws) == 40
    assert figures.bridge.theoretical * 9 == sum(each.stakes for each in figures.bets.values())
    assert figures.bridge.theoretical + figures.luck == figures.bridge.adjudicated.total
    assert figures.errors == []
