"""The first screen of a night: who is under review, how much of the luck is his, and that the signature names it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.desk.nights.under_review import split_of_luck, under_review
from audit.event_store import audit_trail
from audit.ledger import feeding, questions
from audit.models import Casino, Finding, LedgerProcess, LoggedStream, NightReport, Person
from audit.persons.play import sessions_of
from audit.presentation import power_of_ten, signed_money
from audit.reconciliation.content import figures_of
from audit.transparency.integrity_findings import integrity_finding
from settlement.eprocess.ledger import Question
from settlement.eprocess.process import Crossing, Process
from tests import citus
from tests.audit.conftest import make_tenant
from tests.audit.desk.nights.test_nights import SIGNED, at, officer
from tests.audit.reconciliation.played import DAY, reconciled, session

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def played_night(module_db: None) -> int:
    """The id of the report of a night at one table, which the tests of the module share."""
    casino = make_tenant().casino
    return reconciled(casino, session(casino, "R1", coups=12)).pk


@pytest.fixture
def report(played_night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=played_night)


@pytest.fixture
def casino(report: NightReport) -> Casino:
    return report.casino


PLAYED = {"since": DAY.isoformat(), "nights": 1, "staked": 76_000, "won": 903_200, "beyond_chance": 900_000}


def ask(report: NightReport, player: str, **facts: Any) -> Finding:
    """Store a question about a player, put at the end of the night's session."""
    stream = LoggedStream.objects.get(casino=report.casino, table__isnull=False, is_of_desk=False)
    stated = {"player": player, "evidence": power_of_ten(52), **PLAYED, **facts}
    seq = 2 + Finding.objects.filter(stream=stream, rule="player-luck").count()
    finding = integrity_finding(stream, "player-luck", seq, occurred_at=timezone.now(), facts=stated)
    finding.player = player
    finding.save()
    return finding


@pytest.fixture
def player(report: NightReport) -> str:
    """The player who staked most on the night."""
    played = {each["data"].get("player") for each in session(report.casino, "R1", coups=12)} - {None}
    return max(played, key=lambda name: (staked(report, name), name))


def staked(report: NightReport, player: str) -> int:
    kept = sessions_of(report.casino, player, DAY, DAY + timedelta(days=1))
    return sum(own.play.handle for _stream, own in kept if own.play is not None)


def test_the_page_says_who_is_under_review_how_much_and_which_luck_is_not(
    report: NightReport, casino: Casino, player: str
) -> None:
    Person.objects.create(casino=casino, code=player, kind="player", name="Pascale Perrin")
    finding = ask(report, player)
    [line] = under_review(report, with_names=True)
    assert line.title == "Pascale Perrin won €9,032 on €760 in 1 night"
    assert line.address == f"/admin/audit/finding/{finding.pk}/change/"
    luck = figures_of(report.parsed_content()["total"])["luck"]
    assert line.luck is not None
    page = officer(casino, "ada").get(at(report), headers={"accept-language": "en"}).content.decode()
    assert page.index("Under review") < page.index("From theory to the count")
    assert line.title in page
    assert split_of_luck([line], luck, "EUR") in page
    assert "under question" in split_of_luck([line], luck, "EUR")


def test_the_most_urgent_question_is_first_whenever_it_was_asked(report: NightReport, player: str) -> None:
    others = {each["data"].get("player") for each in session(report.casino, "R1", coups=12)} - {None, player}
    other = min(others, key=lambda name: (-staked(report, name), name))
    weak = ask(report, other, evidence="23 712", beyond_chance=1)
    strong = ask(report, player)
    pages = [f"/admin/audit/finding/{each.pk}/change/" for each in (strong, weak)]
    assert [each.address for each in under_review(report, with_names=False)] == pages


def test_a_question_of_the_ledger_says_what_its_player_staked_and_won(
    report: NightReport, casino: Casino, player: str
) -> None:
    feeding.feed(casino)
    process = LedgerProcess.objects.get(casino=casino, kind="player-luck", subject=player)
    batch = process.points.latest("pk").batch
    crossing = Crossing(2026, "1/1000", "", process.draws, 10**52)
    row = questions.ask(process, batch, Question("player-luck", Process("player-luck", player), crossing))
    finding = Finding.objects.get(pk=row.finding_id)
    [(_stream, own)] = sessions_of(casino, player, DAY, DAY + timedelta(days=1))
    assert own.play is not None
    result = -own.play.recorded
    won = {"won": result} if result >= 0 else {"lost": -result}
    expected = {"nights": 1, "staked": own.play.handle, "beyond_chance": -round(own.play.luck), **won}
    assert {name: finding.facts.get(name) for name in expected} == expected
    assert finding.player == player
    assert str(expected["nights"]) in finding.as_value().message("en")


def test_the_list_of_nights_says_how_much_luck_is_under_review_as_the_page_of_the_night_does(
    report: NightReport, casino: Casino, player: str
) -> None:
    client = officer(casino, "ada")
    assert client.get("/admin/audit/nightreport/").context["cl"].result_list[0].money.under_review == []
    ask(report, player)
    answer = client.get("/admin/audit/nightreport/", headers={"accept-language": "en"})
    [listed] = answer.context["cl"].result_list
    [line] = listed.money.under_review
    page = client.get(at(report)).context
    assert [line.luck] == [each.luck for each in page["under_review"]]
    assert signed_money(line.luck or 0, report.currency) in answer.content.decode()


@pytest.mark.parametrize("facts", [{"since": "2099-01-01"}, {}])
def test_nobody_is_under_review_who_did_not_play_or_of_whom_a_later_time_is_asked(
    report: NightReport, player: str, facts: dict[str, str]
) -> None:
    ask(report, player if facts else "somebody-else", **facts)
    assert under_review(report, with_names=False) == []


def test_the_signature_names_what_is_under_review(report: NightReport, casino: Casino, player: str) -> None:
    ask(report, player)
    [line] = under_review(report, with_names=False)
    desk = officer(casino, "ada")
    page = desk.get(at(report), headers={"accept-language": "en"}).content.decode()
    assert f"Signed with these questions open: {line.title} ({line.reference})" in page
    desk.post(at(report, "sign"), SIGNED)
    entries = audit_trail.entries_of(casino.pk, timezone.now().date())
    signed = [each for each in entries if each.type == "night.reviewed"]
    assert [each.data["under_review"] for each in signed] == [[line.reference]]
