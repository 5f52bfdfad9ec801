"""The overview of who sees one casino, and of who sees several: whose a table is, on whose clock the oldest is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from audit import presentation
from audit.desk.overview.nights import (
    COLLECTED,
    LATE,
    NOT_PAID,
    OTHER,
    PRISON,
    TOO_LITTLE,
    TOO_MUCH,
    kind_of,
)
from audit.models import Casino, Finding, Membership, NightReport, Role
from audit.reconciliation import runs
from settlement.differences import PAID
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

OWED = {"by": "house", "to": "p1", "amount": 1_000}


def of_two() -> tuple[Desk, Desk]:
    """Return two casinos, the second in Québec, and make the first officer of the first one of both."""
    here, there = Desk(), Desk()
    Casino.objects.filter(pk=there.tenant.casino.pk).update(name="Charlevoix", time_zone="America/Toronto")
    Membership.objects.create(officer=here.first, casino=there.tenant.casino, role=Role.OFFICER)
    return here, there


def overview(desk: Desk) -> tuple[dict[str, Any], str]:
    page = client_of(desk.first).get("/admin/", headers={"accept-language": "en"})
    return page.context["overview"], page.content.decode()


def test_each_table_of_the_feed_has_its_game_and_where_there_are_several_its_casino() -> None:
    here, there = of_two()
    context, page = overview(here)
    assert {(feed.casino, feed.game) for feed in context["feeds"]} == {
        (str(here.tenant.casino), "Craps, France"),
        ("Charlevoix", "Craps, France"),
    }
    assert '<span class="s of-casino">Charlevoix</span>' in page
    context, page = overview(there)
    assert {(feed.casino, feed.game) for feed in context["feeds"]} == {("", "Craps, France")}
    assert "of-casino" not in page


def test_the_oldest_of_several_casinos_is_on_the_clock_of_its_own_which_is_named() -> None:
    here, there = of_two()
    for each in (here, there):
        Finding.objects.filter(casino=each.tenant.casino).update(status="superseded", superseded_at=timezone.now())
    for desk, hour in ((there, 20), (here, 21)):
        found(desk, "minor", euros=10, owed=OWED, occurred_at=datetime(2026, 11, 19, hour, tzinfo=UTC))
    context, page = overview(here)
    (loss,) = context["losses"]
    assert (loss.side, loss.amount, loss.count) == ("player", "€20.00", 2)
    assert loss.since == "19 Nov, 15:00 EST, Charlevoix"
    assert f"the oldest since {loss.since}" in page
    (loss,) = overview(there)[0]["losses"]
    assert (loss.count, loss.since) == (1, "19 Nov, 15:00 EST")


def test_the_next_incidents_name_their_casino_where_there_are_several() -> None:
    here, there = of_two()
    context, page = overview(here)
    assert {line.casino for line in context["next"]} == {str(here.tenant.casino), "Charlevoix"}
    assert '<span class="m">T1\N{NO-BREAK SPACE}· Charlevoix\N{NO-BREAK SPACE}· ' in page
    context, page = overview(there)
    assert {line.casino for line in context["next"]} == {""}
    assert '<span class="m">T1\N{NO-BREAK SPACE}· ' in page


def test_the_head_says_how_many_tables_there_are_and_how_many_play(desk: Desk) -> None:
    context, page = overview(desk)
    assert (context["tables"], context["playing"]) == (desk.tenant.casino.tables.count(), 1)
    assert f"{context['tables']} table" in page
    assert "1 playing." in page


def test_what_happened_at_leads_to_the_palette(desk: Desk) -> None:
    assert '<a class="btn" href="/admin/search/" data-palette>' in overview(desk)[1]


def test_the_nights_are_those_of_a_casino_that_played_though_another_has_a_newer_one(desk: Desk) -> None:
    idle = Tenant()
    Membership.objects.create(officer=desk.first, casino=idle.casino, role=Role.OFFICER)
    played = desk.findings[0].gaming_day
    for casino, day in ((desk.tenant.casino, played), (idle.casino, played + timedelta(days=1))):
        runs.reconcile(casino, day, actor="test", now=datetime(2026, 11, 25, 12, tzinfo=UTC))
    assert NightReport.objects.get(casino=idle.casino).currency == runs.NO_CURRENCY
    context, page = overview(desk)
    newest = context["last"].newest
    assert (newest.casino, newest.gaming_day, newest.currency) == (desk.tenant.casino, played, "EUR")
    assert f"<p>{desk.tenant.casino}, accounting win" in page


def test_the_rate_of_a_croupier_says_that_it_is_of_payouts_that_were_made_alone(desk: Desk) -> None:
    found(desk, "critical", rule="payout-missing", euros=10, owed=OWED, croupier="c-9")
    context, page = overview(desk)
    (row,) = [each for each in context["last"].rows if "c-9" in each.name]
    assert (row.cells[0][0], row.rate) == (1, "not counted"), "not paid, and in no rate"
    assert '<th scope="col" class="num">wrong, in 1,000 payouts</th>' in page
    assert "Unpaid wagers, late stakes and calls count only in the other columns" in page
    assert "gains rounded up for the player only in the last." in page


def cells_of(context: dict[str, Any], croupier: str) -> list[int]:
    return next(([count for count, _tint in each.cells] for each in context["last"].rows if croupier in each.name), [])


def test_the_errors_of_a_croupier_are_incidents_each_counted_once(desk: Desk) -> None:
    lost = found(desk, "critical", rule="events-lost", croupier="c-9")
    causes = [{"rule": lost.rule, "seq": lost.seq, "wager": lost.wager}]
    for rule in ("payout-underpaid", "winning-wager-collected", "shooter-without-line-wager"):
        found(desk, "critical", rule=rule, croupier="c-9", causes=causes)
    found(desk, "info", rule="payout-put-right", croupier="c-9")
    context, page = overview(desk)
    assert cells_of(context, "c-9") == [0, 0, 0, 0, 0, 0, 1]
    assert "An incident is counted once, by its cause." in page


@pytest.mark.parametrize(
    ("rule", "by", "expected"),
    [
        ("barred-number-settled", "player", TOO_MUCH),
        ("barred-number-settled", "house", COLLECTED),
        ("void-throw-settled", "player", TOO_MUCH),
        ("void-throw-settled", None, OTHER),
        ("inactive-wager-settled", "player", TOO_MUCH),
        ("horn-paid-split", "player", TOO_MUCH),
        ("horn-paid-split", "house", TOO_LITTLE),
        ("half-refund-mismatch", "house", TOO_LITTLE),
        ("half-refund-mismatch", "player", TOO_MUCH),
        ("payout-missing", "house", NOT_PAID),
        ("imprisoned-stake-paid-winnings", "player", PRISON),
        ("wager-after-no-more-bets", None, LATE),
        ("no-more-bets-missing", None, OTHER),
    ],
)
def test_an_error_about_money_is_counted_by_who_owes_where_its_rule_does_not_say(
    rule: str, by: str | None, expected: int
) -> None:
    assert kind_of(rule, by) == expected


def test_every_rule_about_a_payment_is_in_a_column_of_its_own() -> None:
    for_information = {"payout-put-right", "payout-parts-mixed"}
    assert all(kind_of(rule, "player") != OTHER for rule in PAID - for_information)


def test_a_night_of_the_strip_is_written_on_one_line_in_both_languages(desk: Desk) -> None:
    day = desk.findings[0].gaming_day
    runs.reconcile(desk.tenant.casino, day, actor="test", now=datetime(2026, 11, 25, 12, tzinfo=UTC))
    client = client_of(desk.first)
    short = {"en": f"{day:%a} {day.day}", "fr": f"{presentation.WEEKDAYS_FR[day.weekday()][:3]}. {day.day}"}
    for language, title in short.items():
        page = client.get("/admin/", headers={"accept-language": language})
        assert [each.title for each in page.context["overview"]["last"].nights] == [title]
        with translation.override(language):
            assert f"{presentation.day(day, with_weekday=True)}</title>" in page.content.decode()


def test_the_errors_are_of_the_casino_whose_nights_are_shown_and_a_rate_is_never_anothers() -> None:
    here, there = of_two()
    day = here.findings[0].gaming_day
    runs.reconcile(here.tenant.casino, day, actor="test", now=datetime(2026, 11, 25, 12, tzinfo=UTC))
    found(there, "critical", croupier="c-9", gaming_day=day + timedelta(days=1))
    found(here, "critical", croupier="c-8")
    context, page = overview(here)
    assert context["last"].newest.casino == here.tenant.casino
    assert (context["last"].errors_at, cells_of(context, "c-8")[TOO_MUCH]) == (str(here.tenant.casino), 1)
    assert f"<p>{here.tenant.casino}, 14 nights; incidents by kind</p>" in page
    own = Finding.objects.filter(casino=here.tenant.casino)
    own.update(status="superseded", superseded_at=timezone.now())
    context, _page = overview(here)
    assert (context["last"].errors_at, cells_of(context, "c-9")[TOO_MUCH]) == ("Charlevoix", 1)
    assert {row.rate for row in context["last"].rows} == {"not counted"}


def test_where_no_table_has_sent_anything_it_leads_to_the_first_steps(desk: Desk) -> None:
    silent = Tenant()
    to_first_steps = 'href="/admin/first-run/">First steps</a>'
    assert to_first_steps not in overview(desk)[1]
    client = client_of(hired(silent, Role.AUDITOR, f"auditor-{silent.code}"))
    assert to_first_steps in client.get("/admin/", headers={"accept-language": "en"}).content.decode()


def test_a_record_without_a_casino_leads_to_the_first_steps(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.desk.overview.page.casinos_in_record", lambda _request: Casino.objects.none())
    page = client_of(desk.first).get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert "No casino is registered yet." in page
    assert 'href="/admin/first-run/">First steps</a>' in page
    administrator = client_of(hired(desk.tenant, Role.ADMINISTRATOR, f"administrator-{desk.tenant.code}"))
    assert "First steps" not in administrator.get("/admin/", headers={"accept-language": "en"}).content.decode()
