"""The felt without a correction and with it, side by side: at the event that decides, with the stakes that differ."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.adjudication import both_readings
from audit.desk.corrections.felts import WINDOW
from audit.felt.frames import playback_of
from audit.models import Person
from audit.models.persons import PersonKind
from tests.audit.corrections.corrections_desk import CorrectionsDesk, finding_of, replayed
from tests.audit.desk.corrections.test_corrections import page_of, signed_in
from tests.audit.tables import numbered

pytestmark = pytest.mark.django_db

ROULETTE = {"game": "french_roulette", "ruleset": "fr-roulette"}

BALL = 4
"""The event at which the ball stops in ``spun``."""


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def spun(desk: CorrectionsDesk, name: str, change: tuple[str, dict[str, Any]]) -> int:
    """Record a spin in which the ball stops in 32 and Anna's stake on it is paid, and then ``change``."""
    events = numbered(
        desk.tenant.opener(name, observes=[], **ROULETTE),
        ("wager.placed", {"wager": "w1", "bet": "plein", "numbers": ["32"], "stake": 2400, "player": "Anna"}),
        ("no_more_bets", {}),
        ("ball.settled", {"pocket": "32"}),
        ("payout.made", {"wager": "w1", "winnings": 84000, "stake_returned": 2400}),
        ("wager.placed", {"wager": "w2", "bet": "rouge", "stake": 500, "player": "Anna"}),
        ("ball.settled", {"pocket": "1"}),
        change,
    )
    assert desk.tenant.post(name, events).status_code == 201
    stream_id = desk.tenant.stream(name).stream_id
    replayed(stream_id)
    return stream_id


def corrected_to(pocket: str) -> tuple[str, dict[str, Any]]:
    data = {"corrects": BALL, "data": {"pocket": pocket}, "reason": "misread", "approved_by": "chief"}
    return "entry.corrected", data


ANNULLED = ("entry.annulled", {"annuls": BALL, "reason": "no spin", "approved_by": "chief"})


def felts_of(client: Client, stream_id: int, seq: int) -> tuple[Any, list[str]]:
    """Return the two felts of the page of a correction, as its context has them and as they are drawn."""
    page = client.get(page_of(finding_of(stream_id, seq)), headers={"accept-language": "en"})
    assert page.status_code == 200
    return page.context["felts"], re.findall(r'<svg[^>]+class="felt .*?</svg>', page.content.decode(), re.DOTALL)


def test_a_stake_stands_with_its_amount_before_and_after_where_the_throw_decides(desk: CorrectionsDesk) -> None:
    client = signed_in(desk.second)
    felts, (before, after) = felts_of(client, desk.session("s"), 6)
    assert felts["seq"] == 3, "the throw decides about the stake, not the event that is corrected"
    assert '<text class="amount" y="3.4">10</text>' in before
    assert '<text class="amount" y="3.4">12</text>' in after
    for drawn in (before, after):
        assert drawn.count('data-disputed=""') == 1
        assert 'data-state="won"' in drawn
        assert drawn.count("<svg") == 1


def test_the_ball_rests_in_each_pocket_on_its_felt(desk: CorrectionsDesk) -> None:
    felts, (before, after) = felts_of(signed_in(desk.second), spun(desk, "s", corrected_to("23")), 8)
    assert felts["seq"] == BALL
    assert 'data-pocket="32" data-hit=""' in before
    assert 'data-pocket="23" data-hit=""' not in before
    assert 'data-pocket="23" data-hit=""' in after
    assert 'data-pocket="32" data-hit=""' not in after
    assert ('data-state="won"' in before, 'data-state="lost"' in after) == (True, True)
    [won], [lost] = felts["without"]["stakes"], felts["with_it"]["stakes"]
    assert (won["bet"], won["status"], won["due"]) == ("plein 32", "won", "€864.00")
    assert (lost["status"], lost["due"]) == ("lost", "")


def test_a_result_that_never_happened_shows_no_ball_and_the_stake_still_on_the_felt(desk: CorrectionsDesk) -> None:
    _felts, (before, after) = felts_of(signed_in(desk.second), spun(desk, "s", ANNULLED), 8)
    assert 'data-pocket="32" data-hit=""' in before
    assert "data-hit" not in after
    assert 'data-state="on"' in after


def test_the_felt_of_a_session_shows_no_result_that_was_annulled(desk: CorrectionsDesk) -> None:
    stream_id = spun(desk, "s", ANNULLED)
    desk.approved(stream_id, 8)
    replayed(stream_id)
    playback = playback_of(stream_id, 1, 8)
    assert [frame.result for frame in playback.frames[:6]] == [None] * 6
    assert playback.frames[6].result == "1"


def test_a_decision_far_after_the_correction_is_shown_at_the_event_that_is_corrected(desk: CorrectionsDesk) -> None:
    """A stake that waits for its number for hundreds of events: more than a playback has."""
    waits = [("dice.thrown", {"faces": [1, 1]})] * (WINDOW + 1)
    placed = {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 1000}
    change = {"corrects": 2, "data": placed | {"stake": 1200}, "reason": "misread", "approved_by": "chief"}
    events = numbered(
        desk.tenant.opener("s", observes=[]),
        ("wager.placed", placed),
        *waits,
        ("dice.thrown", {"faces": [2, 4]}),
        ("payout.made", {"wager": "w1", "winnings": 1400, "stake_returned": 1200}),
        ("dice.thrown", {"faces": [1, 2]}),
        ("entry.corrected", change),
    )
    assert desk.tenant.post("s", events).status_code == 201
    stream_id = desk.tenant.stream("s").stream_id
    replayed(stream_id)
    felts, (before, after) = felts_of(signed_in(desk.second), stream_id, len(events))
    assert felts["seq"] == 2
    assert '<text class="amount" y="3.4">10</text>' in before
    assert '<text class="amount" y="3.4">12</text>' in after


def test_a_session_that_is_too_long_has_neither_reading_nor_felt(
    desk: CorrectionsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(both_readings, "MAX_EVENTS", 3)
    felts, drawn = felts_of(signed_in(desk.second), desk.session("s"), 6)
    assert felts is None
    assert drawn == []


def test_names_stand_on_the_felt_for_whoever_may_see_them(desk: CorrectionsDesk) -> None:
    Person.objects.create(casino=desk.casino, code="Anna", kind=PersonKind.PLAYER, name="Anna Weil")
    stream_id = spun(desk, "s", corrected_to("23"))
    felts, (before, _after) = felts_of(signed_in(desk.second), stream_id, 8)
    assert "Anna Weil" in before
    assert "Anna Weil" in felts["without"]["stakes"][0]["player"]


def test_the_queries_of_the_page_do_not_grow_with_the_session(desk: CorrectionsDesk) -> None:
    client = signed_in(desk.second)
    counts = []
    for name, more in (("s", 0), ("t", 150)):
        again = [
            each
            for number in range(more)
            for each in (
                ("wager.placed", {"wager": f"x{number}", "bet": "win", "stake": 500, "player": f"p{number}"}),
                ("dice.thrown", {"faces": [3, 4]}),
            )
        ]
        page = page_of(finding_of(desk.session(name, *again, table=("T2" if more else "T1"))))
        client.get(page)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert counts[0] <= 34


def test_the_head_and_the_outcomes_say_one_amount_whatever_was_played_since(desk: CorrectionsDesk) -> None:
    """A number is annulled; then the same stake, which plays again, loses at the next spin."""
    events = numbered(
        desk.tenant.opener("again", observes=[], **ROULETTE),
        ("wager.placed", {"wager": "w1", "bet": "plein", "numbers": ["32"], "stake": 2400, "player": "Anna"}),
        ("no_more_bets", {}),
        ("ball.settled", {"pocket": "32"}),
        ANNULLED,
        ("ball.settled", {"pocket": "1"}),
        ("session.closed", {"float": 100000}),
    )
    assert desk.tenant.post("again", events).status_code == 201
    stream_id = desk.tenant.stream("again").stream_id
    replayed(stream_id)
    page = signed_in(desk.second).get(page_of(finding_of(stream_id, 5)), headers={"accept-language": "en"})
    assert page.context["outcomes_sum"]["difference"] == "€840.00 less for the player"
    assert page.context["change"].title == "A correction would take €840 from players"
    assert page.context["wagers"][0]["with_it"]["status"] == "lost", "by what was played since"
