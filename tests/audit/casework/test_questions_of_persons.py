"""A question about a person: how urgent it is, by when it is answered, and that one person's questions are one case."""

from __future__ import annotations

import csv
import io
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.casework import actions, video
from audit.casework.debts import stake_of_incident
from audit.casework.priority import DUE, FIRST, LATE, by_urgency, priority_in_words, reasons, with_priority
from audit.casework.titles import incident_title
from audit.casework.urgency import facts_of, group_of
from audit.ledger import questions
from audit.models import Case, Finding, LoggedStream
from audit.notifications import feed
from audit.presentation import power_of_ten
from audit.projections.cases import wrong_cases
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_priority import A_WEEK, found, priority
from tests.audit.sessions import event, unique_name
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

WON = {"nights": 2, "staked": 76_000, "won": 903_200, "beyond_chance": 901_000}


@pytest.fixture(scope=citus.MODULE)
def shared(module_db: None) -> Desk:
    desk = Desk()
    desk.tenant.client = Client()  # one that has answered nothing can be copied
    Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
    return desk


@pytest.fixture
def desk(shared: Desk, db: None) -> Desk:
    """A casino whose findings were all superseded."""
    return deepcopy(shared)


def question(desk: Desk, evidence: str, *, rule: str = "player-luck", player: str = "p-9", **of: Any) -> Finding:
    facts = {"player": player, "evidence": evidence, **of.pop("facts", WON)}
    return found(desk, "info", rule=rule, player=player, facts=facts, **of)


def shown(finding: Finding) -> Any:
    return with_priority(Finding.objects.filter(pk=finding.pk)).get()


@pytest.mark.parametrize(
    ("evidence", "beyond", "croupier", "expected"),
    [
        ("23 712", None, "", 1),
        ("23 712", 9_999, "", 1),
        ("23 712", 10_000, "", 2),
        ("23 712", 10_000, "c-1", 3),
        ("1 000 000", None, "", 2),
        ("999 999 999", -10_000, "", 3),
        (power_of_ten(9), None, "", 3),
        (power_of_ten(52), 900, "", 2),
        (power_of_ten(52), 1_000, "", 3),
        (power_of_ten(52), 901_000, "", 4),
    ],
)
def test_evidence_money_and_persons_make_a_question_urgent(
    desk: Desk, evidence: str, beyond: int | None, croupier: str, expected: int
) -> None:
    facts = {} if beyond is None else {"beyond_chance": beyond}
    assert priority(question(desk, evidence, facts=facts, croupier=croupier)) == expected


@pytest.mark.parametrize(
    ("text", "power", "expected"),
    [
        ("words", 52, 52),
        (power_of_ten(52), 6, 6),
        ("words", 0, 0),
        ("words", 10**30, 4_000),
        (power_of_ten(52), "6", 52),
        (power_of_ten(52), None, 52),
    ],
)
def test_the_power_of_the_odds_is_a_number_and_of_an_earlier_question_is_read_of_its_words(
    desk: Desk, text: str, power: object, expected: int
) -> None:
    facts = {"beyond_chance": 1} if power is None else {"beyond_chance": 1, "evidence_log10": power}
    assert shown(question(desk, text, facts=facts)).urgency.evidence == expected


def test_a_question_keeps_the_power_of_ten_of_its_odds() -> None:
    odds = (1, 9, 10, 999_999, 10**52, 10**10_000)
    assert list(map(questions.power_of, odds)) == [0, 0, 1, 5, 52, questions.MOST_POWER]


def test_much_money_and_the_strongest_evidence_come_before_everything_that_is_late(desk: Desk) -> None:
    late = found(desk, "critical", euros=9_000, hours=-1)
    weak = question(desk, "23 712", player="p-8", hours=2 * A_WEEK)
    first = question(desk, power_of_ten(52), hours=4 * A_WEEK)
    standing = Finding.objects.standing().filter(casino=desk.tenant.casino)
    assert list(by_urgency(standing)) == [first, late, weak]
    client = client_of(desk.first)
    queue = client.get("/admin/audit/finding/?queue=open")
    assert list(queue.context["cl"].result_list) == [first, late, weak]
    assert "First of all" in queue.content.decode()
    assert client.get("/admin/").context["overview"]["next"][0].finding == first
    assert actions.take_next(desk.first) == first.case


@pytest.mark.parametrize(("power", "beyond", "is_first"), [(9, 10_000, True), (8, 10_000, False), (9, 9_999, False)])
def test_the_first_group_is_of_the_strongest_evidence_and_of_much_money(
    desk: Desk, power: int, beyond: int, is_first: bool
) -> None:
    one = shown(question(desk, power_of_ten(power), facts={"beyond_chance": beyond}, hours=A_WEEK))
    assert group_of(one) == (FIRST if is_first else LATE + len(DUE))


def test_each_question_of_an_incident_says_what_the_latest_says_was_staked_and_won(desk: Desk) -> None:
    first = question(desk, power_of_ten(12), facts={**WON, "nights": 1, "won": 77_000, "beyond_chance": 1_000})
    later = question(desk, power_of_ten(12), croupier="c-7", facts={**WON, "nights": 3})
    assert first.case == later.case
    assert facts_of(shown(first)) == facts_of(shown(later)) == later.facts
    assert "in 3 nights" in incident_title(shown(first))


def test_every_place_that_shows_a_priority_has_that_of_one_function(desk: Desk) -> None:
    finding = question(desk, power_of_ten(52))
    client = client_of(desk.first)
    bars = 'class="sev s4" title="information · odds against chance: 10⁵² to 1 or more · €100 or more"'
    for page in (
        "finding/?queue=open",
        f"finding/{finding.pk}/change/",
        f"person/player/{finding.casino_id}/p-9/?month={finding.gaming_day:%Y-%m}",
    ):
        assert bars in client.get(f"/admin/audit/{page}").content.decode(), page
    assert bars in client.get("/admin/").content.decode()
    assert desk.tenant.get(f"/findings/{finding.pk}").json()["priority"] == 4
    exported = client.post("/admin/audit/finding/export/csv/?queue=open").content.decode()
    [row] = csv.DictReader(io.StringIO(exported))
    assert row["priority"] == "4"
    feed.number(finding.casino_id)
    sent = feed.documents(feed.changes(finding.casino_id, 0, limit=1_000))
    assert [each["finding"]["priority"] for each in sent if each["finding"]["id"] == finding.pk] == [4]
    assert priority_in_words(shown(finding)).startswith("4/4: information")


@pytest.mark.parametrize(("beyond", "words"), [(901_000, "won beyond chance"), (-901_000, "lost beyond chance")])
def test_a_question_says_how_much_was_won_or_lost_beyond_chance(desk: Desk, beyond: int, words: str) -> None:
    """Beside it no page says “no amount”, of the cause of the incident or of a later question."""
    first = question(desk, power_of_ten(52), facts={**WON, "beyond_chance": beyond})
    later = question(
        desk, "9 000 000", rule="croupier-luck", player="", croupier="c-7", facts={**WON, "beyond_chance": 1}
    )
    assert stake_of_incident(shown(first)).text == f"€9,010 {words}"
    assert stake_of_incident(shown(later)).text == "€0.01 won beyond chance"
    queue = client_of(desk.first).get("/admin/audit/finding/?queue=open").content.decode()
    assert words in queue
    assert "no amount" not in queue.split("<tbody", 1)[1].rsplit("</tbody>", 1)[0]


def test_the_questions_of_one_person_are_one_case_and_another_persons_is_another(desk: Desk) -> None:
    luck = question(desk, "23 712", croupier="")
    of_pair = question(desk, power_of_ten(12), croupier="c-7")
    dealer = question(desk, "9 000 000", rule="croupier-luck", player="", croupier="c-7", facts={})
    other = question(desk, "23 712", player="p-1")
    gathers = question(desk, "23 712", rule="concentration", croupier="c-7")
    assert luck.case == of_pair.case == dealer.case
    assert len({luck.case_id, other.case_id, gathers.case_id}) == 3
    assert [each.heads_case for each in (luck, of_pair, dealer)] == [True, False, False]
    assert priority(luck) == priority(of_pair) == 4


def test_a_question_of_another_session_joins_the_case_and_the_trail_names_the_session_of_the_case(desk: Desk) -> None:
    luck = question(desk, "23 712")
    stream = another_session(desk)
    later = question(desk, power_of_ten(12), stream=stream, wager=luck.wager, seq=luck.seq)
    assert (later.case, later.heads_case) == (luck.case, False), "the same rule and event, in another session"
    assert video._head_of(luck.case) == luck  # type: ignore[arg-type]
    actions.perform(luck.case_id, desk.first, "take")  # type: ignore[arg-type]
    assert not [each.what for each in wrong_cases(desk.tenant.casino.pk)]


def another_session(desk: Desk) -> LoggedStream:
    stream = unique_name()
    assert desk.tenant.post(stream, [opening(desk, stream)]).status_code == 201
    return desk.tenant.stream(stream)


def opening(desk: Desk, stream: str) -> dict[str, Any]:
    return event(
        stream, 1, "session.opened", casino=desk.tenant.casino.code, table="T1", gaming_day="2026-11-19",
        game="french_roulette", ruleset="fr-roulette", currency="EUR", float=5_000_000, observes=[],
    )  # fmt: skip


@pytest.mark.parametrize("state", ["closed", "superseded"])
def test_a_question_joins_no_case_that_is_closed_or_does_not_stand(desk: Desk, state: str) -> None:
    luck = question(desk, "23 712")
    with without_triggers():
        if state == "closed":
            Case.objects.filter(pk=luck.case_id).update(
                state="closed", proposed_by=desk.first, approved_by=desk.second, outcome="confirmed", reason="x",
                closed_at=timezone.now(),
            )  # fmt: skip
        else:
            Finding.objects.filter(pk=luck.pk).update(status="superseded", superseded_at=timezone.now())
    assert question(desk, "23 712").case != luck.case


def deadline_of(desk: Desk, severity: str, occurred_at: datetime, **of: Any) -> tuple[timedelta, Finding]:
    """Return when a case is to be closed, from ``occurred_at``, and its finding."""
    now = timezone.now()
    base = found(desk, "minor")  # what ``found`` changes of a deadline, it changes afterwards
    finding = Finding.objects.get(pk=base.pk)
    finding.pk, finding.case, finding.year, finding.number = None, None, None, None
    finding.wager, finding.severity, finding.occurred_at = f"{base.wager}-late", severity, occurred_at
    finding.opened_at = finding.stood_at = now
    for name, value in of.items():
        setattr(finding, name, value)
    finding.save(force_insert=True)
    finding = Finding.objects.select_related("case", "casino").get(pk=finding.pk)
    assert finding.case is not None
    return finding.case.deadline - now, finding


VIDEO = timedelta(days=settings.CABOCHON_VIDEO_DAYS)
DAY = timedelta(days=1)


def test_a_deadline_is_a_day_before_the_end_of_the_video_and_the_page_says_why(desk: Desk) -> None:
    now = timezone.now()
    left, finding = deadline_of(desk, "minor", now - timedelta(hours=10))
    assert timedelta(0) <= VIDEO - DAY - timedelta(hours=10) - left < timedelta(minutes=1)
    assert reasons(shown(finding))[-1] == "the video ends a day after the deadline"
    page = client_of(desk.first).get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert "a day before the video ends" in page
    critical, _finding = deadline_of(desk, "critical", now - timedelta(hours=10))
    assert critical == DAY, "sooner than the video ends"
    last_day, _finding = deadline_of(desk, "minor", now - VIDEO + timedelta(hours=3))
    assert last_day == timedelta(0), "at once: the video ends today"


def test_without_video_the_deadline_is_that_of_the_severity(desk: Desk) -> None:
    now = timezone.now()
    week = timedelta(days=7)
    gone, finding = deadline_of(desk, "minor", now - VIDEO - timedelta(hours=1))
    assert gone == week
    assert (
        "a day before the video ends"
        not in client_of(desk.first).get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    )
    no_table, _finding = deadline_of(desk, "minor", now - timedelta(hours=10), table=None)
    assert no_table == week


def test_the_database_keeps_the_days_of_video_as_they_are_set(desk: Desk, settings: Any) -> None:
    settings.CABOCHON_VIDEO_DAYS = 3
    video.keep_days()
    left, _finding = deadline_of(desk, "minor", timezone.now())
    assert DAY < left <= 2 * DAY
    with connection.cursor() as cursor:
        cursor.execute("select audit_video_days()")
        assert cursor.fetchone() == (3,)
