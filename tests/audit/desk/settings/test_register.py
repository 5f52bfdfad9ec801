"""The house register at the desk: what is in force, what waits, who decides, and that no casino sees another’s."""

from __future__ import annotations

import re
import time
from datetime import date
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from audit.desk.settings.register_lines import days_of
from audit.desk.sign_in.proof import PROOF_S
from audit.models import Finding, RegisterEntry, Role
from audit.register.readings import KINDS
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.register.register_desk import RegisterDesk, replayed
from tests.audit.register.test_replay import session
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/registerentry/"


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def page_of(entry: RegisterEntry) -> str:
    return f"{LIST}{entry.pk}/change/"


def form(desk: RegisterDesk, **other: Any) -> dict[str, Any]:
    return {
        "casino": desk.casino.pk,
        "reading": "payout_unit",
        "value": "1.00 EUR",
        "table": "",
        "ruleset": "",
        "first_day": "2026-01-01",
        "last_day": "",
        "reason": "chips of one euro",
        **other,
    }


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_an_officer_proposes_another_approves_and_the_page_says_what_is_in_force(desk: RegisterDesk) -> None:
    one, other = client_of(desk.one), client_of(desk.other)
    response = one.post(f"{LIST}add/", form(desk))
    entry = RegisterEntry.objects.get(casino=desk.casino)
    assert (response.status_code, response["Location"]) == (302, page_of(entry))
    assert "Waiting for a second officer" in text(other, LIST)
    assert "Approve</button>" in text(other, page_of(entry))
    assert "Approve</button>" not in text(one, page_of(entry))
    assert "Withdraw</button>" in text(one, page_of(entry))
    assert other.post(f"{LIST}{entry.pk}/decide/approve/", {"reason": ""}).status_code == 302
    entry.refresh_from_db()
    assert entry.version == 1
    shown = text(other, LIST)
    assert "Waiting for a second officer" not in shown
    assert "Version 1 of the register" in shown
    assert "Propose a change" in text(other, page_of(entry))


def test_what_somebody_may_not_decide_is_refused_in_words_and_changes_nothing(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    one = client_of(desk.one)
    response = one.post(f"{LIST}{entry.pk}/decide/approve/", {}, follow=True)
    assert "You proposed this" in response.content.decode()
    assert one.post(f"{LIST}{entry.pk}/decide/crown/", {}).status_code == 404
    assert one.get(f"{LIST}{entry.pk}/decide/approve/").status_code == 405
    entry.refresh_from_db()
    assert entry.state == "waiting"


def test_declining_takes_a_reason_which_stays_with_the_entry(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    other = client_of(desk.other)
    other.post(f"{LIST}{entry.pk}/decide/decline/", {"reason": " "})
    entry.refresh_from_db()
    assert entry.state == "waiting"
    other.post(f"{LIST}{entry.pk}/decide/decline/", {"reason": "chips of five"})
    assert "chips of five" in text(other, page_of(entry))


def test_approving_asks_again_for_a_password_after_a_while(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    other = client_of(desk.other)
    session = other.session
    session["proved_at"] = time.time() - PROOF_S - 1
    session.save()
    assert other.post(f"{LIST}{entry.pk}/decide/approve/", {}).status_code == 403
    entry.refresh_from_db()
    assert entry.state == "waiting"


@pytest.mark.parametrize(
    ("other", "words"),
    in_short(
        [
            ({"value": "nothing"}, "Not an amount with its currency"),
            ({"reading": "zero_rule", "value": "nothing"}, "Not a valid value for this reading"),
            ({"value": ""}, "Give a value."),
            ({"reading": "double_table", "value": "yes"}, "Choose the table."),
            ({"last_day": "2025-12-31"}, "The last day is before the first."),
            ({"casino": "0"}, "Select a valid choice"),
        ],
        further=[({"reading": "luck"}, "Select a valid choice"), ({"table": "0"}, "Select a valid choice")],
    ),
)
def test_a_form_that_is_wrong_says_so(desk: RegisterDesk, other: dict[str, str], words: str) -> None:
    response = client_of(desk.one).post(f"{LIST}add/", form(desk, **other))
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not RegisterEntry.objects.filter(casino=desk.casino).exists()


def test_an_entry_that_takes_back_needs_no_value(desk: RegisterDesk) -> None:
    client_of(desk.one).post(f"{LIST}add/", form(desk, value="", takes_back="on"))
    assert RegisterEntry.objects.get(casino=desk.casino).value is None


def test_another_casino_sees_and_decides_nothing(desk: RegisterDesk) -> None:
    entry, foreign = desk.proposed("payout_unit", 100, reason="a secret of the house"), RegisterDesk()
    client = client_of(foreign.one)
    assert desk.casino.name not in text(client, LIST)
    assert client.get(page_of(entry)).status_code in (302, 404)
    assert client.post(f"{LIST}{entry.pk}/decide/approve/", {}).status_code == 404
    assert client.post(f"{LIST}add/", form(desk)).status_code == 200
    assert not RegisterEntry.objects.filter(reason="chips of one euro").exists()
    assert desk.casino.name not in text(client, f"{LIST}add/")


def test_who_only_reads_the_record_reads_the_register_too(desk: RegisterDesk) -> None:
    entry = desk.decided("payout_unit", 100)
    client = client_of(hired(desk.tenant, Role.AUDITOR, "reader"))
    assert "Propose a change" not in text(client, page_of(entry))
    assert "Payout unit" in text(client, LIST)
    assert client.get(f"{LIST}add/").status_code == 403
    assert client_of(hired(desk.tenant, Role.ADMINISTRATOR, "keeper")).get(LIST).status_code == 403


def test_shifts_are_proposed_as_they_are_said_and_touch_no_session(desk: RegisterDesk) -> None:
    one, other = client_of(desk.one), client_of(desk.other)
    desk.tenant.post("s", [desk.tenant.opener("s")])
    one.post(f"{LIST}add/", form(desk, reading="shifts", value="early=14:00, late=20h00, night=2:00"))
    entry = RegisterEntry.objects.get(casino=desk.casino)
    assert entry.value == {"early": "14:00", "late": "20:00", "night": "02:00"}
    shown = text(other, page_of(entry))
    assert "Shifts: 02:00 night, 14:00 early, 20:00 late" in shown
    assert "counts for the shift in which it closes" in shown
    assert "session of the record" not in shown
    assert "<dd>every table</dd>" in shown, "and no ruleset"
    assert "are read again" not in shown
    approved = other.post(f"{LIST}{entry.pk}/decide/approve/", {"reason": ""}, follow=True).content.decode()
    assert "Approved." in approved
    assert "The sessions that it touches" not in approved
    refused = one.post(f"{LIST}add/", form(desk, reading="shifts", value="all=14:00", ruleset="fr-craps"))
    assert "the whole casino" in refused.content.decode()


def form_of(desk: RegisterDesk, reading: str, language: str = "en") -> str:
    """Return the form of one reading, without the list of the others."""
    client = client_of(desk.one)
    page = client.get(f"{LIST}add/?reading={reading}", headers={"accept-language": language})
    return unescape(page.content.decode()).split('id="which"')[0]


def test_without_a_reading_the_page_offers_all_of_them_in_words(desk: RegisterDesk) -> None:
    shown = unescape(text(client_of(desk.one), f"{LIST}add/"))
    assert 'name="value"' not in shown
    for reading in KINDS:
        assert f'href="?reading={reading}' in shown
    assert "Without an entry: halved by each further zero" in shown
    assert "Without an entry: 7, and 14 at a double table" in shown
    main = re.sub(r"<[^>]+>", " ", shown.split('class="pick')[1])
    assert not re.search(r"halving|\bceil\b|zero_rule|[a-z]_[a-z]", main), "a code is no word"


@pytest.mark.parametrize(
    ("reading", "values", "words"),
    in_short(
        [
            ("zero_rule", ["", "choice", "half", "lose"], "the player chooses: half, or prison"),
            ("release_value", ["", "halving", "full"], "halved by each further zero"),
            ("double_table", ["", "yes", "no"], ">yes<"),
        ],
        further=[
            ("commission_rounding", ["", "ceil", "floor", "nearest"], "to the nearest"),
            ("commission_refunded_on_withdrawal", ["", "yes", "no"], ">no<"),
        ],
    ),
)
def test_a_value_is_chosen_in_words(desk: RegisterDesk, reading: str, values: list[str], words: str) -> None:
    shown = form_of(desk, reading)
    select = shown.split('<select name="value"')[1].split("</select>")[0]
    assert re.findall(r'<option value="(\w*)"', select) == values
    assert words in select
    assert not any(f">{value}<" in select for value in values if value not in ("", "yes", "no"))


def test_how_it_is_read_without_an_entry_is_named_for_each_ruleset(desk: RegisterDesk) -> None:
    shown = form_of(desk, "zero_rule")
    default = shown.split("Without an entry")[1].split("</dd>")[0]
    assert "French roulette: the player chooses: half, or prison" in default
    assert "American roulette: all of it is lost" in default
    assert re.findall(r'<option value="([\w-]*)"', shown.split('name="ruleset"')[1].split("</select>")[0]) == [
        "", "fr-roulette", "fr-american-roulette",
    ]  # fmt: skip
    shown = form_of(desk, "zero_rule", "fr")
    end = "prison\N{NARROW NO-BREAK SPACE}; roulette américaine\N{NO-BREAK SPACE}: la mise entière est perdue"
    assert end in shown


def test_the_headings_of_a_register_without_entries_are_those_of_what_stands_under_them(desk: RegisterDesk) -> None:
    client, english = client_of(desk.one), {"accept-language": "en"}
    heading = '<th scope="col" colspan="3" role="columnheader">How it is read</th>'
    assert heading in client.get(LIST, headers=english).content.decode()
    desk.decided("payout_unit", 100)
    shown = client.get(LIST, headers=english).content.decode()
    assert heading not in shown
    assert '<th scope="col" role="columnheader">Where</th>' in shown
    assert "art.\N{NO-BREAK SPACE}" in shown
    assert not re.search(r'class="quiet">(?:art|s)\. ', shown), "no clause is broken over two lines"


def test_every_reading_to_choose_says_what_holds_without_an_entry(desk: RegisterDesk) -> None:
    shown = client_of(desk.one).get(f"{LIST}add/", headers={"accept-language": "en"}).content.decode()
    cards = re.findall(r'<li><a href="\?reading=.*?</li>', shown)
    assert len(cards) == len(KINDS)
    assert all("Without an entry: " in card or "No default: the casino alone decides" in card for card in cards)
    assert "Reportable cash: threshold" in shown


def test_a_free_value_has_its_unit(desk: RegisterDesk) -> None:
    assert "milliseconds" in form_of(desk, "call_tolerance_ms")
    assert 'max="1000"' in form_of(desk, "call_tolerance_ms")
    assert "seconds" in form_of(desk, "throw_delay_s")
    assert 'max="30"' in form_of(desk, "result_slip_s")
    assert "players" in form_of(desk, "seat_limit")
    assert "or several, add the currency: 2.50 EUR" in form_of(desk, "payout_unit"), "it has not played"
    desk.tenant.post("s", [desk.tenant.opener("s")])
    shown = form_of(desk, "payout_unit")
    assert '<span class="unit">EUR</span>' in shown
    assert "or several, add the currency: 2.50 EUR" not in shown


@pytest.mark.parametrize(
    ("reading", "rows", "value"),
    [
        ("maximum", {"value-0-name": "plein", "value-0-of": "25", "value-3-name": "cheval", "value-3-of": "12,50"},
         {"plein": 2_500, "cheval": 1_250}),
        ("identification_from", {"value-0-name": "EUR", "value-0-of": "2000", "value-1-name": ""}, {"EUR": 200_000}),
        ("shifts", {"value-0-name": "early", "value-0-of": "14:00", "value-1-name": "late", "value-1-of": "20:00"},
         {"early": "14:00", "late": "20:00"}),
        ("families", {"value": ["wagers", "results"]}, ["wagers", "results"]),
        ("zero_rule", {"value": "half", "ruleset": "fr-american-roulette"}, "half"),
        pytest.param("double_table", {"value": "yes"}, True, marks=pytest.mark.faults),
    ],
)  # fmt: skip
def test_what_is_chosen_is_what_is_proposed(desk: RegisterDesk, reading: str, rows: dict[str, Any], value: Any) -> None:
    desk.tenant.post("s", [desk.tenant.opener("s")])
    sent = {name: each for name, each in form(desk, reading=reading).items() if name != "value"}
    if reading == "double_table":
        sent["table"] = desk.table("T1").pk
    answer = client_of(desk.one).post(f"{LIST}add/", {**sent, **rows})
    assert answer.status_code == 302, answer.content.decode()
    assert RegisterEntry.objects.get(casino=desk.casino).value == value


def test_rows_that_are_refused_come_back_as_they_were_sent(desk: RegisterDesk) -> None:
    sent = {name: each for name, each in form(desk, reading="maximum").items() if name != "value"}
    rows = {"value-0-name": "plein", "value-0-of": "a lot", "value-1-name": "cheval", "value-1-of": "12,50 EUR"}
    answer = client_of(desk.one).post(f"{LIST}add/", {**sent, **rows})
    shown = answer.content.decode()
    assert "Not an amount with its currency" in shown
    assert 'value="a lot"' in shown
    assert 'value="12,50 EUR"' in shown
    assert '<option value="cheval" selected>' in shown


def test_the_lists_and_the_page_of_an_entry_have_words_and_no_codes(desk: RegisterDesk) -> None:
    desk.tenant.post("s", [desk.tenant.opener("s")])
    desk.decided("families", ["wagers", "wheel"])
    desk.decided("maximum", {"right_bet": 2_500})
    desk.decided("release_value", "full")
    desk.decided("seat_limit", 6)
    client = client_of(desk.one)
    for page in (LIST, *map(page_of, RegisterEntry.objects.filter(casino=desk.casino)), "/admin/audit/"):
        shown = unescape(client.get(page, headers={"accept-language": "en"}).content.decode())
        assert not re.search(r">[^<]*(?:\bfull\b(?<!in full)|right_bet|wagers, wheel)[^<]*</(?:b|td|dd|h2)>", shown), (
            page
        )
    shown = unescape(text(client, LIST))
    for words in ("wagers placed, what happens at the wheel", "6 players", "in full", "€25.00"):
        assert words in shown


def test_the_days_of_an_entry_have_their_years() -> None:
    entry = RegisterEntry(first_day=date(2025, 12, 31), last_day=date(2026, 1, 2))
    with translation.override("en"):
        assert days_of(entry) == "31 Dec 2025 to 2 Jan 2026"


def test_the_pages_are_in_french(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    client = client_of(desk.other)
    client.cookies["django_language"] = "fr"
    assert "Proposer une inscription" in text(client, LIST)
    for page in (LIST, page_of(entry)):
        shown = text(client, page)
        assert "Unité de paiement\N{NO-BREAK SPACE}: " in shown
        assert "Unité de paiement:" not in shown
    assert "Première journée de jeu" in text(client, f"{LIST}add/?reading=payout_unit")


def test_the_page_of_a_finding_says_which_entry_superseded_it_and_who_decided(desk: RegisterDesk) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    finding = Finding.objects.standing().get(stream_id=stream_id, rule="payout-underpaid")
    entry = desk.decided("payout_unit", 100)
    replayed(stream_id)
    shown = text(client_of(desk.one), f"/admin/audit/finding/{finding.pk}/change/")
    assert "version 1 of the house register" in shown
    assert page_of(entry) in shown
    assert f"{desk.one}, {desk.other}" in shown


def test_the_list_costs_no_statement_more_for_each_entry(
    desk: RegisterDesk, django_assert_max_num_queries: Any
) -> None:
    client = client_of(desk.one)
    for day in range(1, 9):
        desk.decided("payout_unit", day, first_day=date(2026, 1, day))
    client.get(LIST)
    with django_assert_max_num_queries(40):
        client.get(LIST)
