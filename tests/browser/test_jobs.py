"""What officers come to do, with a mouse: how many clicks each takes after the sign-in page, and what is typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from audit.adjudication.replay import advance
from audit.models import ApiKey, Case, Finding, GamingTable, NightReport, Officer, Role
from audit.presentation import local, money
from audit.reconciliation import runs
from audit.simulation import play
from audit.simulation.people import fill_directory
from tests.audit.casework.test_actions import Desk, hired
from tests.audit.casework.test_priority import found
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.browser.sessions import CHROMIUM, Hand

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

PASSWORD = "correct horse battery"


TABLES = (
    ("A1", "fr-american-roulette", ["payout-overpaid", "colour-shared"]),
    ("R3", "fr-roulette", ["payout-missing", "payout-underpaid"]),
)
LA_BOULE = (("B1", "fr-boule", []),)


class PlayedNight:
    """A night of some tables, reconciled, and officers with a password; unpaid and overpaid players unless orderly."""

    def __init__(self, tables: Any = TABLES, *, is_orderly: bool = False) -> None:
        self.tenant = Tenant(tables=[code for code, _ruleset, _planted in tables])
        self.casino = self.tenant.casino
        played = []
        for code, ruleset, planted in tables:
            GamingTable.objects.get_or_create(casino=self.casino, code=code)
            of_table = play(
                ruleset,
                casino=self.casino.code,
                code=code,
                gaming_day=DAY,
                seed=3,
                coups=45,
                irregularities=[] if is_orderly else planted,
            )
            stream_id = record(self.casino, of_table.events)
            while (progress := advance(stream_id)) is not None and progress.behind:
                pass
            played.append(of_table)
        record(self.casino, count(self.casino, {each.stream: buy_ins(each.events) for each in played}))
        seal()
        fill_directory(self.casino, played, seed=3)
        (self.report,) = runs.reconcile(self.casino, DAY, actor="test", now=MORNING)
        self.standing = Finding.objects.standing().filter(casino=self.casino)

    def officer(self, role: Role, name: str) -> Officer:
        officer = hired(self.tenant, role, name)
        officer.set_password(PASSWORD)
        officer.save()
        return officer


@pytest.fixture
def night(transactional_db: None) -> PlayedNight:
    return PlayedNight()


@pytest.fixture
def hand(browser: Browser, live_server: LiveServer) -> Callable[..., Hand]:
    """Return how an officer signs in and begins."""

    def signed_in(officer: Officer, **options: Any) -> Hand:
        return Hand(browser, live_server, officer, PASSWORD, **options)

    return signed_in


def test_the_largest_unpaid_player_of_the_night_is_two_clicks_away(
    night: PlayedNight, hand: Callable[..., Hand]
) -> None:
    unpaid = [each for each in night.standing if each.owed and each.owed["by"] == "house"]
    assert len(unpaid) > 1
    largest = max(unpaid, key=lambda each: each.owed["amount"])
    own = hand(night.officer(Role.OFFICER, "officer"))
    own.click(own.page.get_by_role("link", name="The house owes players"))
    own.click(own.page.locator("#result_list [data-row] a").first)
    expect(own.page).to_have_url(re.compile(rf"/admin/audit/finding/{largest.pk}/change/"))
    expect(own.page.locator("h1")).to_contain_text(money(largest.owed["amount"], largest.currency)[:-3])
    assert own.clicks <= 2


def test_all_findings_of_a_croupier_in_a_month_are_three_clicks_away(
    night: PlayedNight, hand: Callable[..., Hand]
) -> None:
    own = hand(night.officer(Role.OFFICER, "officer"))
    code = night.standing.exclude(croupier="").first().croupier
    mine = night.standing.filter(croupier=code)
    own.click(own.page.locator(f"table.heat a[href*='/{code}/']"))
    own.click(own.page.get_by_role("link", name=f"All {mine.count()}"))
    shown = own.page.locator("#result_list .l1 a").evaluate_all(
        "links => links.map(each => +each.pathname.match(/finding\\/(\\d+)\\//)[1])"
    )
    assert set(shown) == {each.pk for each in mine}
    assert own.clicks <= 3


def test_a_table_at_a_clock_time_is_two_clicks_and_a_typed_time_away(
    night: PlayedNight, hand: Callable[..., Hand]
) -> None:
    own = hand(night.officer(Role.OFFICER, "officer"))
    clock = local(night.standing.filter(table__code="R3").first().occurred_at, night.casino).strftime("%H:%M")
    own.click(own.page.locator("a.seek"))
    own.page.keyboard.type(f"R3 {clock}")
    expect(own.page.locator("#palette a[data-chosen]")).to_contain_text(f"Table R3 at 19 Nov, {clock} CET")
    own.click(own.page.locator("#palette a[data-chosen]"))
    expect(own.page).to_have_url(re.compile(r"/admin/audit/loggedstream/\d+/table/\?at=\d+"))
    expect(own.page.locator("#content")).to_contain_text("R3")
    assert own.clicks <= 2


def test_a_case_is_taken_proposed_and_approved_with_six_clicks(night: PlayedNight, hand: Callable[..., Hand]) -> None:
    first, second = night.officer(Role.OFFICER, "first"), night.officer(Role.SECOND, "second")
    own = hand(first)
    own.click(own.page.get_by_role("button", name="Take the next finding"))
    case = Case.objects.get(assigned_to=first)
    own.page.keyboard.press("p")
    own.click(own.page.get_by_label("Breach confirmed"))
    own.type(own.page.locator("#reason"), "camera 4 shows it")
    own.click(own.page.get_by_role("button", name="Send to a second officer"))
    other = hand(second)
    other.click(other.page.get_by_role("link", name=re.compile("To approve")).first)
    finding = night.standing.get(case=case, seq=case.seq, rule=case.rule, wager=case.wager)
    other.click(other.page.locator(f".proposals a[href*='/closing/{finding.pk}/']"))
    other.click(other.page.locator("[name=decision][value=approve]"))
    other.type(other.page.get_by_label("Your password"), PASSWORD)
    other.page.keyboard.press("Enter")
    expect(other.page.locator(".messagelist")).to_contain_text("The case was closed.")
    case.refresh_from_db()
    assert (case.state, case.approved_by) == ("closed", second)
    assert own.clicks + other.clicks <= 6


@pytest.mark.superuser
def test_a_batch_of_fifty_is_proposed_and_approved_with_twelve_clicks_and_one_password(
    desk: Desk, hand: Callable[..., Hand]
) -> None:
    fifty = [found(desk, "minor", rule="payout-missing") for _ in range(50)]
    for officer in (desk.first, desk.second):
        officer.set_password(PASSWORD)
        officer.save()
    own = hand(desk.first)
    own.click(own.page.get_by_role("link", name=re.compile("^All [0-9]+$")))
    own.click(own.page.locator(".pill-filter summary").filter(has_text="Rule"))
    own.click(own.page.locator(".pill-filter a[href*='rule=payout-missing']"))
    own.click(own.page.locator("#action-toggle"))
    own.click(own.page.get_by_role("button", name="Select all 50"))
    own.choose(own.page.get_by_label("Outcome"), "explained")
    own.type(own.page.get_by_label("Reason"), "training night")
    own.click(own.page.get_by_role("button", name="Propose closing"))
    expect(own.page.locator(".messagelist")).to_contain_text("You proposed closing 50 cases.")
    other = hand(desk.second)
    other.click(other.page.get_by_role("link", name=re.compile("To approve")).first)
    other.click(other.page.get_by_role("link", name="50 closings, one reason"))
    other.click(other.page.locator("[name=decision][value=approve]"))
    other.type(other.page.get_by_label("Your password"), PASSWORD)
    other.page.keyboard.press("Enter")
    expect(other.page.locator(".messagelist")).to_contain_text("50 cases were closed.")
    closed = Case.objects.filter(findings__in=fifty, state="closed", approved_by=desk.second)
    assert closed.distinct().count() == 50
    assert own.clicks + other.clicks <= 12
    assert other.typed == [PASSWORD]


def test_a_key_is_made_with_four_clicks(night: PlayedNight, hand: Callable[..., Hand]) -> None:
    own = hand(night.officer(Role.ADMINISTRATOR, "administrator"))
    own.click(own.page.locator("#menu").get_by_role("link", name="Settings", exact=True))
    own.click(own.page.get_by_role("link", name="Create a key"))
    own.type(own.page.get_by_label("Name", exact=False).first, "Table system of the first floor")
    own.click(own.page.get_by_role("button", name="Create a key"))
    secret = own.page.locator("#secret").inner_text()
    key = ApiKey.objects.get(name="Table system of the first floor")
    assert key.prefix in secret
    assert own.clicks <= 4


def test_a_night_is_signed_with_three_clicks(transactional_db: None, hand: Callable[..., Hand]) -> None:
    night = PlayedNight(is_orderly=True)
    own = hand(night.officer(Role.DIRECTOR, "director"))
    own.click(own.page.locator(f".nights a[href*='/{night.report.pk}/']"))
    own.type(own.page.get_by_label("Your password"), PASSWORD)
    own.click(own.page.get_by_role("button", name=re.compile("^Sign( with exceptions)?$")))
    report = NightReport.objects.get(pk=night.report.pk)
    assert report.reviewed_by == Officer.objects.get(username__startswith="director")
    assert own.clicks <= 3


def test_a_night_of_la_boule_is_signed_by_two(transactional_db: None, hand: Callable[..., Hand]) -> None:
    night = PlayedNight(LA_BOULE, is_orderly=True)
    for name, words in (("director", "^Sign( with exceptions)?$"), ("second", "Sign and close")):
        own = hand(night.officer(Role.DIRECTOR, name))
        own.page.goto(own.page.url.split("/admin/")[0] + f"/admin/audit/nightreport/{night.report.pk}/change/")
        expect(own.page.locator("#content")).to_contain_text("La boule")
        own.type(own.page.get_by_label("Your password"), PASSWORD)
        own.click(own.page.get_by_role("button", name=re.compile(words)))
    report = NightReport.objects.get(pk=night.report.pk)
    assert report.closed_by is not None
    assert report.closed_by != report.reviewed_by
