"""The page of a player and that of his money: from what the nights kept, to who may see it."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.desk.persons.concerning import concerning
from audit.event_store import audit_trail
from audit.models import Casino, Finding, LedgerProcess, LoggedStream, Person, Role
from audit.persons.play import sessions_of
from audit.presentation import date_time, money, money_in_prose
from audit.reconciliation import sessions, wording
from audit.transparency import kept_findings
from audit.transparency.integrity_findings import integrity_finding
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.desk.printed import words_of
from tests.audit.reconciliation.played import DAY, record, session
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

ODD = 'a&b=c "x"/y'
"""An id that a table system may well give."""


def played(casino: Casino, code: str, *, day: object = DAY, table: str = "R1") -> str:
    """Record a session in which somebody called ``code`` plays; return its stream."""
    events = (
        session(casino, table, seed=3, coups=10) if day == DAY else session(casino, table, seed=3, coups=10, day=day)
    )
    own = next(each["data"]["player"] for each in events if each["type"] == "buy_in.recorded")
    for each in events:
        if each["data"].get("player") == own:
            each["data"]["player"] = code
    stream_id = record(casino, events)
    sessions.compute_figures(stream_id, events[-1]["seq"])
    return str(events[0]["stream"])


def player_page(casino: Casino, code: str) -> str:
    return reverse("admin:audit_person_player", args=(casino.pk, code)) + f"?month={DAY:%Y-%m}"


def money_page(casino: Casino, code: str) -> str:
    return reverse("admin:audit_person_money", args=(casino.pk, DAY.isoformat(), code))


def test_the_play_of_the_month_is_what_the_sessions_keep(tenant: Tenant) -> None:
    casino = tenant.casino
    played(casino, ODD)
    Person.objects.create(casino=casino, code="p-odd", kind="player", name="Anna Petit")
    [(_stream, own)] = sessions_of(casino, ODD, DAY.replace(day=1), DAY + timedelta(days=1))
    assert own.play is not None
    assert own.play.wagers
    shown = client_of(hired(tenant, Role.OFFICER, "reader")).get(player_page(casino, ODD)).content.decode()
    assert money(own.play.handle, own.currency) in shown
    assert money_page(casino, ODD).replace("&", "&amp;") in shown
    assert not sessions_of(casino, ODD[:-1], DAY.replace(day=1), DAY + timedelta(days=1)), "a part of an id is nobody"
    assert not sessions_of(casino, ODD, DAY + timedelta(days=1), DAY + timedelta(days=2))


@pytest.mark.parametrize(
    "day",
    in_short(["9999-12-31", "0001-02-30", "x"], further=["9999-12-01", "0001-01-01"]),
)
def test_a_night_in_no_month_of_the_desk_is_not_there(tenant: Tenant, day: str) -> None:
    client = client_of(hired(tenant, Role.OFFICER, "reader"))
    assert client.get(f"/admin/audit/person/money/{tenant.casino.pk}/{day}/p1/").status_code == 404


def test_sums_of_nights_and_tables_keep_their_cents_and_the_tab_of_the_money_is_called_so(tenant: Tenant) -> None:
    casino = tenant.casino
    played(casino, "p1")
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    page = reader.get(player_page(casino, "p1"), headers={"accept-language": "en"})
    (night,), (table,) = page.context["nights"], page.context["tables"]
    assert page.context["bridge"]
    assert not page.context["luck_chart"], "nobody's luck is compared with chance without a question"
    for amount in (night["staked"], night["into_chips"], night["into_money"], table["staked"]):
        assert re.fullmatch(r"€[\d,]+\.\d\d", amount)
    french = reader.get(player_page(casino, "p1"), headers={"accept-language": "fr"}).content.decode()
    tabs = french.split('<nav class="views"')[1].split("</nav>")[0]
    assert f'<a href="{money_page(casino, "p1")}">Argent</a>' in tabs
    assert ">Argent</a>" in reader.get(money_page(casino, "p1"), headers={"accept-language": "fr"}).content.decode()


def test_the_money_of_a_day_shows_exchanges_and_thresholds_and_is_in_the_trail(tenant: Tenant) -> None:
    casino = tenant.casino
    played(casino, "p1")
    Person.objects.create(casino=casino, code="p1", kind="player", name="Anna Petit")
    shown = client_of(hired(tenant, Role.OFFICER, "reader")).get(money_page(casino, "p1")).content.decode()
    [(_stream, own)] = sessions_of(casino, "p1", DAY, DAY + timedelta(days=1))
    bought = sum(each.amount for each in own.exchanges if each.direction == "in" and not each.is_stake)
    assert bought
    assert f'<div class="v">{money(bought, own.currency)}</div>' in shown
    assert "Anna Petit" in shown
    assert "the directory names this player" in shown
    assert "Plus is for the house".lower() in shown.lower()
    [entry] = [
        each for each in audit_trail.entries_of(casino.pk, datetime.now(UTC).date()) if each.type == "money.viewed"
    ]
    assert entry.data["gaming_day"] == DAY.isoformat()


def test_the_pages_of_a_player_lead_to_each_other_and_from_night_to_night(tenant: Tenant) -> None:
    casino, after = tenant.casino, DAY + timedelta(days=1)
    played(casino, "p1")
    played(casino, "p1", day=after)
    Person.objects.create(casino=casino, code="p1", kind="player", name="Anna Petit")
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    month, first = (reader.get(each(casino, "p1")).content.decode() for each in (player_page, money_page))
    newest = reverse("admin:audit_person_money", args=(casino.pk, after.isoformat(), "p1"))
    assert f'<a href="{newest}">Money</a>' in month, "the tab leads to the newest night"
    assert f'rel="next" href="{newest}"' in first
    assert 'rel="prev"' not in first
    second = reader.get(newest).content.decode()
    assert f'rel="prev" href="{money_page(casino, "p1")}"' in second
    assert 'rel="next"' not in second


def test_a_table_says_what_is_played_there(tenant: Tenant) -> None:
    played(tenant.casino, "p1")
    shown = client_of(hired(tenant, Role.OFFICER, "reader")).get(player_page(tenant.casino, "p1")).content.decode()
    game = LoggedStream.objects.get(casino=tenant.casino, table__code="R1").game
    assert game
    assert f'>R1</a> <span class="dim">{wording.game(game)}</span>' in shown


def test_an_auditor_has_findings_and_no_money_and_a_stranger_nothing(tenant: Tenant) -> None:
    casino = tenant.casino
    played(casino, "p1")
    Person.objects.create(casino=casino, code="p1", kind="player", name="Anna Petit")
    auditor = client_of(hired(tenant, Role.AUDITOR, "auditor"))
    shown = auditor.get(player_page(casino, "p1")).content.decode()
    assert "<h1>p1</h1>" in shown
    assert "Anna Petit" not in shown
    assert "Staked" not in shown
    assert auditor.get(money_page(casino, "p1")).status_code == 403
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert stranger.get(player_page(casino, "p1")).status_code == 404
    assert stranger.get(money_page(casino, "p1")).status_code == 404


def test_whoever_is_unknown_and_a_day_that_is_not_one(tenant: Tenant) -> None:
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    assert "Nothing is kept about this player" in reader.get(player_page(tenant.casino, "nobody")).content.decode()
    shown = reader.get(money_page(tenant.casino, "nobody")).content.decode()
    assert "Nothing is kept about this player on this day" in shown
    wrong = reverse("admin:audit_person_money", args=(tenant.casino.pk, "2026-02-30", "nobody"))
    assert reader.get(wrong).status_code == 404


def test_the_queries_of_both_pages_do_not_grow_with_the_sessions(tenant: Tenant) -> None:
    casino = tenant.casino
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    played(casino, "p1")
    pages = (player_page(casino, "p1"), money_page(casino, "p1"))

    def queries(page: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reader.get(page).status_code == 200
        return len(captured)

    for page in pages:
        queries(page)
    before = [queries(page) for page in pages]
    played(casino, "p1", table="R2")
    assert [queries(page) for page in pages] == before


def test_what_is_owed_to_a_player_and_open_leads_to_its_finding_or_to_the_list_of_several() -> None:
    night = NamedNight(irregularities=("payout-missing", "colour-shared"))
    owed = next(
        each
        for each in Finding.objects.standing().filter(casino=night.casino, heads_case=True).exclude(player="")
        if each.difference and each.owed and each.owed["by"] == "house"
    )
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    shown = reader.get(player_page(night.casino, owed.player)).content.decode()
    found = concerning(night.casino, "player", owed.player, DAY.replace(day=1))
    mine = found.owed_to("player")
    address = f"/admin/audit/finding/{owed.pk}/change/" if len(mine) == 1 else "owed=player"
    assert mine
    assert address in shown.split('<a class="btn go" href="')[1].split("</a>")[0]
    assert f"To be paid: {money_in_prose(sum(each.amount for each in mine), owed.currency)}" in shown
    assert f"open since {date_time(min(each.occurred_at for each in mine), night.casino)}" in shown
    other = player_page(night.casino, "nobody")
    assert "To be paid" not in reader.get(other).content.decode()


def test_the_month_of_a_player_is_a_pdf_with_his_money_only_for_who_sees_names(tenant: Tenant) -> None:
    played(tenant.casino, "p1")
    address = reverse("admin:audit_person_player", args=(tenant.casino.pk, "p1")) + f"?month={DAY:%Y-%m}&file=pdf"
    printed = {
        role: words_of(client_of(hired(tenant, role, f"reader-{role}")).get(address).content)
        for role in (Role.OFFICER, Role.AUDITOR)
    }
    assert "Staked" in printed[Role.OFFICER]
    assert "What the rules give, and luck" in printed[Role.OFFICER]
    assert "Staked" not in printed[Role.AUDITOR]
    assert "Findings" in printed[Role.AUDITOR]


def test_the_money_of_a_night_is_a_workbook_with_each_exchange(tenant: Tenant) -> None:
    played(tenant.casino, ODD)
    address = reverse("admin:audit_person_money", args=(tenant.casino.pk, DAY.isoformat(), ODD))
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    answer = reader.get(f"{address}?file=xlsx", headers={"accept-language": "en"})
    name = answer["Content-Disposition"].partition('"')[2].rstrip('"')
    assert name == f"money-{tenant.casino.code}-a-b-c--x--y-{DAY}.xlsx", "an id may be anything, a name of a file not"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as book:
        sheets_of, strings = book.read("xl/workbook.xml").decode(), book.read("xl/sharedStrings.xml").decode()
        first = book.read("xl/worksheets/sheet1.xml").decode()
    for sheet in ("exchanges", "thresholds", "result"):
        assert f'name="{sheet}"' in sheets_of
    (own,) = [own for _stream, own in sessions_of(tenant.casino, ODD, DAY, DAY + timedelta(days=1))]
    assert first.count("<row ") == 1 + len([each for each in own.exchanges if not each.is_stake])
    assert "Theoretical win" in strings
    types = [each.type for each in audit_trail.entries_of(tenant.casino.pk, datetime.now(UTC).date())]
    assert "money.exported" in types


def test_who_dealt_for_a_player_is_named_with_the_coups_they_shared(tenant: Tenant) -> None:
    LedgerProcess.objects.create(
        casino=tenant.casino, name="pair-luck: p1, c7", kind="pair-luck", subject="p1, c7", null="", state=b"{}",
        wealth=1, highest=1, opening=1, year=2026, alpha="1/100", draws=33, first_day=DAY,
    )  # fmt: skip
    played(tenant.casino, "p1")
    address = reverse("admin:audit_person_player", args=(tenant.casino.pk, "p1")) + f"?month={DAY:%Y-%m}"
    for role, is_there in ((Role.OFFICER, True), (Role.AUDITOR, False)):
        shown = client_of(hired(tenant, role, f"reader-{role}")).get(address).content.decode()
        assert ('id="dealers"' in shown) is is_there
        if is_there:
            section = shown[shown.index('id="dealers"') :]
            assert f"/croupier/{tenant.casino.pk}/c7/" in section
            assert "33 coups, no error" in section


def test_findings_and_questions_about_a_player_stand_in_one_list_the_newest_first(tenant: Tenant) -> None:
    casino = tenant.casino
    stream = LoggedStream.objects.get(name=played(casino, "p1"))
    for seq, rule in enumerate(("identification-due", "player-luck", "reportable-cash"), start=1):
        at = datetime(DAY.year, DAY.month, DAY.day, 20, seq, tzinfo=UTC)
        finding = integrity_finding(stream, rule, seq, occurred_at=at, facts={"player": "p1"})
        finding.player = "p1"
        finding.save()
    rules = ("reportable-cash", "player-luck", "identification-due")
    kept_findings.keep({}, [stream.pk], list(rules))
    page = client_of(hired(tenant, Role.OFFICER, "reader")).get(player_page(casino, "p1"))
    assert [row.finding.rule for row in page.context["rows"]] == list(rules)
    assert '<h2 id="found">Findings and questions</h2>' in page.content.decode()
