"""The ledger at the desk: questions, the page of a process, taken apart, money of a person, exchange register."""

from __future__ import annotations

import io
import json
import re
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from django.contrib import admin
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation
from django.utils.html import escape

from audit.casework import actions
from audit.casework.video import AROUND
from audit.charts.dots import NAMED
from audit.desk.ledger import list_page
from audit.desk.ledger.beginning import began_of
from audit.desk.ledger.certainty import certainty_of
from audit.desk.ledger.coups import Coup, to_ask_for
from audit.desk.ledger.inspection_order import inspected
from audit.desk.ledger.process_page import factor_text, one_in
from audit.desk.ledger.subjects import subjects_of
from audit.desk.ledger.to_do import STEPS
from audit.event_store import audit_trail, read
from audit.ledger import feeding, listing
from audit.ledger.listing import Given
from audit.models import (
    Case,
    CaseAction,
    CaseContacts,
    Casino,
    Finding,
    GamingTable,
    LedgerCursor,
    LedgerPoint,
    LedgerProcess,
    LedgerQuestion,
    LedgerSetAside,
    LoggedStream,
    Person,
    Role,
    StreamEvidence,
    VideoRequest,
)
from audit.presentation import day, local, night_of, reference
from audit.reconciliation import sessions
from settlement.codec import decode_one_stored
from settlement.eprocess.change import Counted, beginning_of
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.observations import decode, encode
from settlement.eprocess.process import UNIT, Process
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.conftest import make_tenant
from tests.audit.desk.printed import words_of
from tests.audit.ledger.test_feeding import spun
from tests.audit.reconciliation.played import DAY, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/ledgerprocess/"


def casino_with_questions() -> Tenant:
    """Return a casino whose wheel W1 has asked, and whose wheel W2 is near its threshold."""
    tenant = make_tenant()
    record(tenant.casino, spun(tenant.casino, ["17"] * 20))
    record(tenant.casino, spun(tenant.casino, ["17"] * 5, day=DAY + timedelta(days=1), wheel="W2"))
    seal()
    feeding.feed(tenant.casino)
    return tenant


@pytest.fixture(scope=citus.MODULE)
def shared_tenant(module_db: None) -> Tenant:
    """The casino that the tests of the module share."""
    return casino_with_questions()


@pytest.fixture
def tenant(shared_tenant: Tenant, db: None) -> Tenant:
    """A copy of what the module shares: what a test does to an object is not rolled back with its rows."""
    return deepcopy(shared_tenant)


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


@pytest.fixture
def newcomer(db: None) -> Tenant:
    """A casino where nobody has played."""
    return make_tenant()


def client(tenant: Tenant, role: Role, name: str = "reader") -> Client:
    return client_of(hired(tenant, role, name))


def process(casino: Casino, name: str = "wheel 37: W1") -> LedgerProcess:
    return LedgerProcess.objects.filter(casino=casino, name=name).latest("generation")


def page(reader: Client, address: str) -> str:
    answer = reader.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


@pytest.fixture(scope=citus.MODULE)
def shown(shared_tenant: Tenant) -> str:
    """The page of the wheel that has asked, as an auditor reads it: fetched once for the tests that only read it."""
    with transaction.atomic():
        content = page(client(shared_tenant, Role.AUDITOR), f"{LIST}{process(shared_tenant.casino).pk}/change/")
        transaction.set_rollback(True)
    return content


@pytest.fixture(scope=citus.MODULE)
def shown_list(shared_tenant: Tenant) -> Any:
    """The list, as an auditor reads it: fetched once for the tests that only read it."""
    with transaction.atomic():
        answer = client(shared_tenant, Role.AUDITOR).get(LIST)
        transaction.set_rollback(True)
    return answer


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.faults)])
def test_the_pages_of_a_small_wheel_open(newcomer: Tenant, every: int) -> None:
    record(newcomer.casino, session(newcomer.casino, "B1", ruleset="fr-boule", coups=40))
    seal()
    feeding.feed(newcomer.casino)
    reader = client(newcomer, Role.AUDITOR)
    rows = list(LedgerProcess.objects.filter(casino=newcomer.casino).order_by("name"))
    of_wheel = [row for row in rows if row.name.startswith("wheel 9: ")]
    assert of_wheel
    for row in of_wheel + rows[::every]:
        page(reader, f"{LIST}{row.pk}/change/")


def test_the_page_names_what_the_ledger_could_not_take_and_when_it_is_tried_again(tenant: Tenant) -> None:
    reader = client(tenant, Role.AUDITOR)
    assert "is set aside" not in page(reader, LIST)
    LedgerSetAside.objects.create(
        casino=tenant.casino, kind="payouts", gaming_day=DAY, currency="EUR", error="KeyError: <b>", tries=1,
        next_try_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )  # fmt: skip
    assert f"The ledger could not take {DAY} EUR (KeyError: &lt;b&gt;). It is set aside" in page(reader, LIST)


def entries(casino: Casino, type: str) -> list[Any]:
    return [each for each in audit_trail.entries_of(casino.pk, datetime.now(UTC).date()) if each.type == type]


def test_a_process_shows_its_curve_what_moved_it_and_its_question(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    shown = page(reader, f"{LIST}{process(casino).pk}/change/")
    question = LedgerQuestion.objects.get(process=process(casino))
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="chart evidence"' in shown
    assert '<path class="raised"' in shown
    assert f"threshold of {DAY.year}: 32" in shown
    assert "style=" not in shown.split('<div class="page process">')[1]
    assert f"/admin/audit/finding/{question.finding_id}/change/" in shown
    assert "1/32" in shown
    assert "at most 1 in 32" in shown
    moved = section(shown, "moved")
    assert night_of(DAY) in moved, "the name of the session"
    assert ">Night</th>" not in moved
    assert f"{night_of(DAY)}: the evidence passed the threshold. A question is not an accusation." in shown
    assert "Some wheels look like this by chance." in shown
    assert len(entries(casino, "ledger.viewed")) == 1


def test_the_list_leads_who_may_answer_to_the_question_that_waits_and_says_when_it_was_answered(
    tenant: Tenant, casino: Casino
) -> None:
    second, third = (hired(tenant, Role.SECOND, name) for name in ("second", "third"))
    findings = set(LedgerQuestion.objects.filter(process__casino=casino).values_list("finding_id", flat=True))
    button = re.compile(r'<a class="btn go" href="/admin/audit/finding/(\d+)/change/">([^<]+)</a>')
    [(first, words)] = button.findall(page(client_of(second), LIST))
    assert int(first) in findings
    assert words == ("Answer the question" if len(findings) == 1 else f"Answer the first of {len(findings)}")
    assert not button.findall(page(client(tenant, Role.AUDITOR), LIST))
    for case in Case.objects.filter(findings__in=findings).distinct():
        actions.perform(case.pk, second, "take")
        actions.perform(case.pk, second, "propose", reason="the bowl was out of level", outcome="explained")
        actions.perform(case.pk, third, "approve")
    shown = page(client_of(second), LIST)
    assert not button.findall(shown)
    assert '<span class="tag ok">answered ' in shown


def test_who_may_not_answer_is_not_told_to(tenant: Tenant, casino: Casino, shown: str) -> None:
    question = LedgerQuestion.objects.get(process=process(casino))
    own = page(client(tenant, Role.OFFICER), f"{LIST}{process(casino).pk}/change/")
    for as_read, words in ((own, "Answer the question"), (shown, "The finding")):
        assert f'href="/admin/audit/finding/{question.finding_id}/change/">{words}</a>' in as_read


def test_a_process_shows_the_others_about_the_same_and_none_of_another_wheel(casino: Casino, shown: str) -> None:
    others = shown.split('id="others"')[1].split("</section>")[0]
    own = LedgerProcess.objects.filter(casino=casino, subject="W1").exclude(pk=process(casino).pk)
    assert own
    assert all(f"{LIST}{each.pk}/change/" in others for each in own)
    strange = LedgerProcess.objects.filter(casino=casino, subject="W2")
    assert strange
    assert not any(f"{LIST}{each.pk}/change/" in others for each in strange)


def test_a_process_costs_no_more_queries_with_more_sessions(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    address = f"{LIST}{process(casino).pk}/change/"
    page(reader, address)  # fills what later pages find in caches

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(reader, address)
        return len(captured)

    before = queries()
    for later in (2, 3, 4):
        record(casino, spun(casino, ["1", "2", "3"], day=DAY + timedelta(days=later)))
    seal()
    feeding.feed(casino)
    assert process(casino).sessions == 4
    assert queries() == before


@pytest.mark.parametrize(
    "factor, words", [(Fraction(48, 10), "×\u00a04.8"), (Fraction(1), "×\u00a01"), (Fraction(1, 4), "÷\u00a04")]
)
def test_a_step_is_a_factor_or_a_divisor(factor: Fraction, words: str) -> None:
    assert factor_text(factor) == words
    with translation.override("fr"):
        assert factor_text(factor) == words.replace(".", ",")


def test_a_finding_leads_to_the_process_that_asks(tenant: Tenant, casino: Casino) -> None:
    question = LedgerQuestion.objects.get(process=process(casino))
    shown = page(client(tenant, Role.OFFICER), f"/admin/audit/finding/{question.finding_id}/change/")
    assert f"{LIST}{process(casino).pk}/change/" in shown
    assert "a year. It is not an accusation." in shown


def test_the_list_is_of_the_officers_casinos_alone(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.OFFICER)
    shown = page(reader, LIST)
    assert ">W1<" in shown
    stranger = client(Tenant(), Role.OFFICER, "stranger")
    assert ">W1<" not in page(stranger, LIST)
    assert stranger.get(f"{LIST}{process(casino).pk}/change/").status_code in (302, 403, 404)


def test_the_list_shows_what_raised_its_question_and_what_is_near_the_threshold_with_budget_and_reasons(
    casino: Casino, shown_list: Any
) -> None:
    shown = shown_list.content.decode()
    raised = shown.split('id="raised-')[1].split('id="near-')[0]
    near = shown.split('id="near-')[1].split("</section>")[0]
    question = LedgerQuestion.objects.get(process=process(casino))
    assert f"{LIST}{process(casino).pk}/change/" in raised
    assert f"/admin/audit/finding/{question.finding_id}/change/" in raised
    assert "Some wheels look like this by chance." in raised
    assert 'class="chart evidence-line raised"' in raised
    assert f"{LIST}{process(casino, 'wheel-displacement 37: W2').pk}/change/" in near
    assert "/admin/audit/finding/" not in near
    assert 'class="chart evidence-line near"' in near
    assert "accuses nobody" in shown
    assert "Evidence ledger" not in shown
    assert re.search(r"0\.\d\d of 1\.0", shown)


def test_the_list_draws_every_process_and_adds_up_what_was_given_of_the_budget(casino: Casino, shown_list: Any) -> None:
    (shown,) = shown_list.context["casinos"]
    (dots,) = re.findall(r'<svg[^>]*class="chart dots".*?</svg>', shown_list.content.decode(), re.DOTALL)
    kinds = re.findall(r'<circle class="(\w+)"', dots)
    raised = LedgerQuestion.objects.filter(process__casino=casino).count()
    assert (kinds.count("raised"), shown["raised_count"]) == (raised, raised)
    assert (kinds.count("near"), shown["near_count"]) == (1, 1)
    assert kinds.count("quiet") == int(shown["quiet"]) == listing.processes_of(casino).count() - raised - 1
    named = re.findall(r'<text class="l"[^>]*>(.*?)</text>', dots)
    assert len(named) == min(NAMED, raised + 1)
    assert len({*named}) == len(named), "of several about one wheel the kind is said, too"
    assert all("W1" in each or "W2" in each for each in named)
    budget = listing.budget_of(casino)
    assert budget is not None
    given = listing.given_in(casino, budget.year)
    assert sum(each.given for each in given) == pytest.approx(float(budget.spent))
    assert sum(each.processes for each in given) == sum(int(group["processes"]) for group in shown["groups"])


def test_every_kind_of_process_is_in_one_group_and_in_one_half() -> None:
    grouped = [kind for _name, kinds in list_page.GROUPS for kind in kinds]
    assert sorted(grouped) == sorted(KINDS)
    assert {kind.half for kind in KINDS.values()} == set(list_page.HALVES)
    halves = [{KINDS[kind].half for kind in kinds} for _name, kinds in list_page.GROUPS]
    assert all(len(half) == 1 for half in halves), "a group adds up levels of one half of the budget alone"
    changes = sum(one != other for one, other in pairwise(halves))
    assert changes == 1, "the groups of a half stand together"


def test_the_list_names_whom_each_process_is_about_and_leads_there(tenant: Tenant, casino: Casino) -> None:
    Person.objects.create(casino=casino, kind="croupier", code="c-3", name="Manon Morin")
    spare = process(casino)
    spare.pk, spare.name, spare.kind, spare.subject = None, "payout-rate: c-3", "payout-rate", "c-3"
    spare.save(force_insert=True)
    second = client(tenant, Role.SECOND)
    answer, admin_of = second.get(LIST), admin.site._registry[LedgerProcess]
    rows = answer.content.decode().split('id="result_list"')[1]
    assert f'<a class="subject" href="/admin/audit/person/croupier/{casino.pk}/c-3/">Manon Morin</a>' in rows
    assert f'<a class="subject" href="{LIST}?q=W1&amp;ended=all">W1</a>' in rows
    evidence = {each.name: each for each in answer.context["cl"].result_list}
    columns = ("now", "of_the_year")
    shown = {name: tuple(getattr(admin_of, column)(each) for column in columns) for name, each in evidence.items()}
    assert shown["payout-rate: c-3"] == ("", ""), "about whom there is no question, there is no number"
    assert all(shown["wheel 37: W1"])
    with CaptureQueriesContext(connection) as captured:
        second.get(LIST)
    before = len(captured)
    for number in range(4, 8):
        spare.pk, spare.name, spare.subject = None, f"payout-rate: c-{number}", f"c-{number}"
        spare.save(force_insert=True)
    with CaptureQueriesContext(connection) as captured:
        second.get(LIST)
    assert len(captured) == before


@pytest.mark.parametrize(
    ("about", "is_there"),
    [("equipment", True), ("persons", False), pytest.param("nobody", True, marks=pytest.mark.faults)],
)
def test_the_list_is_narrowed_to_things_or_persons(tenant: Tenant, casino: Casino, about: str, is_there: bool) -> None:
    (shown,) = client(tenant, Role.AUDITOR).get(LIST, {"about": about}).context["casinos"]
    assert bool(shown["raised"]) == bool(shown["near"]) == is_there
    assert shown["raised_count"] == LedgerQuestion.objects.filter(process__casino=casino).count() > 0


@pytest.mark.parametrize(
    ("wealth", "words"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 8), "0.125"),
        (Fraction(999_999), "999,999"),
        (Fraction(2 * 10**15), "2 × 10¹⁵"),
        (Fraction(96 * 10**14), "1 × 10¹⁶"),
        (Fraction(1, 10**4), "1 × 10⁻⁴"),
    ],
)
def test_a_wealth_is_written_as_by_hand(wealth: Fraction, words: str) -> None:
    assert listing.times(wealth).replace("\N{NO-BREAK SPACE}", " ") == words


@pytest.mark.parametrize(("language", "words"), [("en", "3,696"), ("fr", "3 696")])
def test_a_number_of_years_has_the_thousands_of_its_language(language: str, words: str) -> None:
    with translation.override(language):
        assert one_in("1/3696").replace("\N{NO-BREAK SPACE}", " ") == words


def test_the_list_costs_no_more_queries_with_more_processes(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    page(reader, LIST)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(reader, LIST)
        return len(captured)

    before = queries()
    for number in (3, 4, 5):
        record(casino, spun(casino, ["17"] * 20, day=DAY + timedelta(days=number), wheel=f"W{number}"))
    seal()
    feeding.feed(casino)
    assert LedgerQuestion.objects.filter(process__casino=casino).count() > 3
    assert queries() == before


def test_a_wheel_that_was_taken_apart_begins_anew(tenant: Tenant, casino: Casino) -> None:
    old = process(casino)
    address = f"{LIST}{old.pk}/apart/"
    assert client(tenant, Role.OFFICER).post(address, {"reason": "levelled"}).status_code == 403
    second = client(tenant, Role.SECOND, "second")
    second.post(address, {"reason": " "})
    assert process(casino).ended_at is None, "not without a reason"
    second.post(address, {"reason": "levelled by the maker"})
    old.refresh_from_db()
    assert old.ended_reason == "levelled by the maker"
    assert old.ended_by.startswith("second")
    [entry] = entries(casino, "equipment.taken_apart")
    assert entry.reason == "levelled by the maker"
    assert sorted(entry.data["processes"]) == ["wheel 37: W1", "wheel-displacement 37: W1", "wheel-memory 37: W1"]
    assert not LedgerProcess.objects.filter(casino=casino, subject="W2", ended_at__isnull=False).exists()
    record(casino, spun(casino, ["1", "2", "3"], day=DAY + timedelta(days=2)))
    seal()
    feeding.feed(casino)
    new = process(casino)
    assert (new.generation, new.sessions, new.draws) == (2, 1, 3)
    assert new.alpha != old.alpha, "another share of the budget: the third wheel of the year"
    assert Finding.objects.standing().filter(casino=casino, rule="wheel-fairness").count() == 2, "what was raised stays"
    again = LedgerProcess.objects.get(pk=old.pk)
    assert bytes(again.state) == bytes(old.state)


@pytest.mark.parametrize("reason, equipment, role, why", [
    ("levelled", ("wheel", "W1"), Role.SECOND, ""),
    ("levelled", ("wheel", "W1"), Role.OFFICER, "may not sign nights"),
    (" \0", ("wheel", "W1"), Role.SECOND, "Give a reason"),
    ("levelled", ("wheel", "W9"), Role.SECOND, "No process about wheel W9 goes on"),
    ("levelled", ("dice", "W1"), Role.SECOND, "No process about dice W1 goes on"),
    ("levelled", ("table", "R1"), Role.SECOND, "is a 'wheel' or a set of 'dice'"),
])  # fmt: skip
def test_the_command_notes_what_was_taken_apart_as_the_desk_does(
    tenant: Tenant,
    casino: Casino,
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    equipment: tuple[str, str],
    role: Role,
    why: str,
) -> None:
    officer = hired(tenant, role, "second")
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n"))
    params = {"casino": casino.code, "apart": equipment, "reason": reason, "officer": officer.get_username()}
    if why:
        with pytest.raises(CommandError, match=why):
            call_command("ledger", **params)
        assert process(casino).ended_at is None
        assert not entries(casino, "equipment.taken_apart")
        return
    call_command("ledger", **params)
    ended = LedgerProcess.objects.filter(casino=casino, ended_at__isnull=False)
    assert {(each.subject, each.ended_by, each.ended_reason) for each in ended} == {
        ("W1", officer.get_username(), reason)
    }
    [entry] = entries(casino, "equipment.taken_apart")
    assert (entry.actor, entry.reason, entry.data["kind"], entry.data["id"]) == (
        officer.get_username(), reason, *equipment
    )  # fmt: skip
    assert sorted(entry.data["processes"]) == sorted(each.name for each in ended)
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n"))
    with pytest.raises(CommandError, match="goes on"):
        call_command("ledger", **params)


def test_the_command_wants_an_account_and_its_password(
    tenant: Tenant, casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    officer = hired(tenant, Role.SECOND, "second")
    params = {"casino": casino.code, "apart": ("wheel", "W1"), "reason": "levelled"}
    with pytest.raises(CommandError, match="--officer"):
        call_command("ledger", **params)
    monkeypatch.setattr("sys.stdin", io.StringIO("another\n"))
    with pytest.raises(CommandError, match="password is wrong"):
        call_command("ledger", **params, officer=officer.get_username())
    assert process(casino).ended_at is None


def test_what_it_would_be_is_shown_only_where_a_session_reads_otherwise_now(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    address = f"{LIST}{process(casino).pk}/change/"
    assert "If draws are corrected" not in page(reader, address)
    batch = process(casino).points.get().batch
    seen = decode(bytes(batch.content))
    seen.drawn = seen.drawn[:5]
    StreamEvidence.objects.create(stream=batch.stream, last_seq=batch.last_seq + 1, observations=encode(seen))
    shown = page(reader, address)
    assert "If draws are corrected" in shown
    assert process(casino).wealth == process(casino).points.get().wealth


def test_the_exchange_register(newcomer: Tenant) -> None:
    casino = newcomer.casino
    events = session(casino, "R1", seed=3, coups=10)
    stream_id = record(casino, events)
    player = next(each["data"]["player"] for each in events if each["type"] == "buy_in.recorded")
    sessions.compute_figures(stream_id, events[-1]["seq"])
    Person.objects.create(casino=casino, code=player, kind="player", name="Anna Petit")
    reader = client(newcomer, Role.OFFICER)
    register = page(reader, f"{LIST}exchanges/{casino.pk}/{DAY}/")
    assert f"Exchange register of {day(DAY, with_weekday=True)}" in register
    assert {each.data["gaming_day"] for each in entries(casino, "exchanges.viewed")} == {DAY.isoformat()}
    assert f"/admin/audit/person/player/{casino.pk}/" in register or "No exchange to list" in register


def test_a_register_names_its_currency_where_a_day_has_several_and_says_each_exchange_in_the_singular(
    newcomer: Tenant,
) -> None:
    casino, reader = newcomer.casino, client(newcomer, Role.OFFICER)
    address = f"{LIST}exchanges/{casino.pk}/{DAY}/"
    for table, currency in (("R1", "USD"), ("R2", "GBP")):
        events = session(casino, table, seed=3, coups=10, currency=currency)
        sessions.compute_figures(record(casino, events), events[-1]["seq"])
        headings = re.findall("<h2>Table R.*</h2>", page(reader, address))
        assert headings == (["<h2>Table R1</h2>"] if table == "R1" else FOR_BOTH)
    french = reader.get(address, headers={"accept-language": "fr"}).content.decode()
    assert ">achat de jetons</td>" in french
    assert "achats de jetons</td>" not in french
    assert re.search(r"Chips bought (US)?\$[\d,]+, chips cashed", page(reader, address))


FOR_BOTH = ["<h2>Table R2 · GBP</h2>", "<h2>Table R1 · USD</h2>"]


ODD = 'a&b=c "x"'
"""An id that a table system may well give."""


def test_the_money_of_a_player_is_found_whatever_the_id(newcomer: Tenant) -> None:
    casino = newcomer.casino
    events = session(casino, "R1", seed=3, coups=10)
    player = next(each["data"]["player"] for each in events if each["type"] == "buy_in.recorded")
    for each in events:
        if each["data"].get("player") == player:
            each["data"]["player"] = ODD
    stream_id = record(casino, events)
    seal()
    sessions.compute_figures(stream_id, events[-1]["seq"])
    feeding.feed(casino)
    reader = client(newcomer, Role.OFFICER)
    luck = process(casino, f"player-luck: {ODD}")
    address = f"/admin/audit/person/player/{casino.pk}/a&b=c%20%22x%22/"
    of_test = page(reader, f"{LIST}{luck.pk}/change/")
    assert f'href="{escape(address)}"' in of_test
    assert "Without a question, the evidence about a person is not shown." in of_test
    assert not any(words in of_test for words in ("Odds against chance", "Its evidence</dt>", 'class="chart evidence"'))
    paper = words_of(reader.get(f"{LIST}{luck.pk}/change/", {"file": "pdf"}).content)
    assert "What moved it most" not in paper
    assert "Its evidence" not in paper
    shown = page(reader, f"{address}?month={DAY:%Y-%m}")
    assert "Nothing is kept about this player" not in shown
    without_names = client(newcomer, Role.AUDITOR, "auditor")
    shown = page(without_names, f"{LIST}{luck.pk}/change/")
    assert f'href="{escape(address)}"' in shown, "a page of ids and findings, without money"
    assert "Staked" not in page(without_names, address)


@pytest.mark.parametrize(
    "kind, subject, expected",
    [
        ("table-luck", "R1", [("R1", "finding/?table={table}")]),
        ("table-drift", "closed", [("closed", "finding/?q=closed")]),
        ("wheel-memory", "W1", [("W1", "ledgerprocess/?q=W1&ended=all")]),
        ("die", "D, 2, red", [("D, 2", "ledgerprocess/?q=D%2C+2&ended=all"), ("red", "")]),
        ("dice-pair", "D-2", [("D-2", "ledgerprocess/?q=D-2&ended=all")]),
        (
            "croupier-displacement",
            "Max, W1",
            [("Max", "person/croupier/{casino}/Max/"), ("W1", "ledgerprocess/?q=W1&ended=all")],
        ),
        ("payout-lean", "Max", [("Max", "person/croupier/{casino}/Max/")]),
        (
            *("pair-luck", "p 1, Max"),
            [("p 1", "person/player/{casino}/p%201/"), ("Max", "person/croupier/{casino}/Max/")],
        ),
        (
            *("concentration", "Max, goodwill-paid"),
            [("Max", "person/croupier/{casino}/Max/"), ("Goodwill payment", "finding/?rule=goodwill-paid")],
        ),
        (
            *("pair-concentration", "p 1, Max, goodwill-paid"),
            [
                ("p 1", "person/player/{casino}/p%201/"),
                ("Max", "person/croupier/{casino}/Max/"),
                ("Goodwill payment", "finding/?rule=goodwill-paid"),
            ],
        ),
        (
            *("team-drift", "Ida + Max"),
            [("Ida", "person/croupier/{casino}/Ida/"), ("Max", "person/croupier/{casino}/Max/")],
        ),
        ("shift-drift", "late", [("late", "")]),
    ],
)
def test_whom_a_process_is_about_leads_to_the_page_that_there_is(
    casino: Casino, kind: str, subject: str, expected: list[tuple[str, str]]
) -> None:
    row = LedgerProcess(pk=1, casino=casino, kind=kind, subject=subject)
    numbers = {"table": str(GamingTable.objects.get(casino=casino, code="R1").pk), "casino": str(casino.pk)}
    links = subjects_of(casino, [row])[1]
    addresses = [(text, f"/admin/audit/{address}".format(**numbers) if address else "") for text, address in expected]
    assert [(each.text, each.address) for each in links] == addresses


def test_the_links_of_a_process_lead_somewhere(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.OFFICER)
    luck = LedgerProcess.objects.filter(casino=casino, kind="wheel").latest("pk")
    shown = page(reader, f"{LIST}{luck.pk}/change/")
    assert f'href="{LIST}?q={luck.subject}&amp;ended=all">{luck.subject}</a>' in shown
    assert f"{LIST}{luck.pk}/change/" in page(reader, f"{LIST}?q={luck.subject}&ended=all")
    near = listing.near_threshold(casino)
    assert near
    overview = page(reader, LIST).split('id="near-')[1].split("</section>")[0]
    assert all(f'href="{LIST}?q={each.subject}&amp;ended=all">' in overview for each in near)


def test_the_command_lists_processes_budget_and_what_is_near(
    casino: Casino, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("ledger", casino=casino.code, json=True)
    listed = json.loads(capsys.readouterr().out)
    by_name = {(row["kind"], row["subject"]): row for row in listed["processes"]}
    assert by_name["wheel", "W1"]["has_question"]
    assert not by_name["wheel", "W2"]["has_question"]
    assert (listed["budget"], listed["batches"], listed["left_out"]) == ("1", 4, 0)
    assert 0 < float(listed["spent"]) < 1
    call_command("ledger", casino=casino.code, near=True)
    assert "budget of false questions 1, of which" in capsys.readouterr().out


def drawn(shown: str, name: str) -> str:
    """Return the drawing of that class on a page."""
    (svg,) = re.findall(rf'<svg[^>]*class="chart {name}".*?</svg>', shown, re.DOTALL)
    return str(svg)


def test_a_process_of_a_wheel_draws_its_pockets_and_what_fits_best(shown: str) -> None:
    wheel = drawn(shown, "wheel")
    assert wheel.count('class="pocket ') == 37
    assert re.findall(r'class="bar fits" d="[^"]*"><title>([^<]*)', wheel) == ["17: 20 times"]
    assert "<title>32: 0 times" in wheel
    assert "100.0%" in wheel
    assert "chance: 2.7%" in wheel
    assert "20 of 20; 0.5 expected by chance" in shown
    table = shown.split('id="fits"')[1].split("</table>")[0]
    assert re.findall(r"<td>(\w+)</td><td class=\"num\">(\d+)</td><td>in gold", table) == [("17", "20")]
    assert table.count("<tr>") == 1 + 37


@pytest.mark.parametrize("state", in_short([b"{}", b"", b"\x00", b'{"kind": 1}'], every=2))
def test_a_process_whose_stored_state_is_none_is_shown_without_its_wheel(
    tenant: Tenant, casino: Casino, state: bytes
) -> None:
    stored = process(casino)
    forged = LedgerProcess.objects.create(
        casino=casino, name=f"forged: {state!r}", kind=stored.kind, subject="forged", variant=stored.variant,
        state=state, first_day=stored.first_day, wealth=UNIT, highest=UNIT, opening=UNIT, year=DAY.year, alpha="1/16",
    )  # fmt: skip
    shown = page(client(tenant, Role.AUDITOR), f"{LIST}{forged.pk}/change/")
    assert 'class="chart wheel"' not in shown
    assert "forged" in shown


def test_the_distances_of_a_wheel_are_drawn_as_if_the_ball_last_lay_in_0(tenant: Tenant, casino: Casino) -> None:
    reader, about = client(tenant, Role.AUDITOR), process(casino, "wheel-displacement 37: W1")
    shown = page(reader, f"{LIST}{about.pk}/change/")
    assert "drawn as if the ball last lay in 0" in shown
    assert "<title>0 pockets on: 19 times" in drawn(shown, "wheel")
    assert re.search(r'After 0</span>(<span class="pk \w">\w+</span>)*<span class="pk z">0</span>', shown)


def test_rival_explanations_are_drawn_by_their_evidence_with_the_level_of_the_process(shown: str) -> None:
    rivals = drawn(shown, "rivals")
    assert rivals.count("<rect") == 5
    assert re.search(r'<text class="l"[^>]*>One pocket</text>', rivals)
    assert rivals.index(">One pocket<") < rivals.index(">A bowl out of level<"), "the largest first"
    assert '<line class="level"' in rivals
    assert ">threshold<" in rivals


def test_a_process_about_no_wheel_draws_none(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    for name in ("wheel-memory 37: W1", "table-luck: R1"):
        found = LedgerProcess.objects.filter(casino=casino, name=name).first()
        if found is None:
            continue
        shown = page(reader, f"{LIST}{found.pk}/change/")
        assert 'class="chart wheel"' not in shown
        assert "What moved it most" in shown
    assert LedgerProcess.objects.filter(casino=casino, name="wheel-memory 37: W1").exists()


@pytest.fixture
def craps(newcomer: Tenant) -> Casino:
    """A casino whose table C1 has played craps."""
    record(newcomer.casino, session(newcomer.casino, "C1", ruleset="fr-craps", seed=2, coups=40))
    seal()
    feeding.feed(newcomer.casino)
    return newcomer.casino


@pytest.mark.parametrize(
    ("kind", "title", "names"),
    [
        ("dice-supply", "How often each face came up", [str(face) for face in range(1, 7)]),
        ("dice-pair", "How often each total came up", [str(total) for total in range(2, 13)]),
    ],
)
def test_a_process_of_dice_draws_what_they_showed_against_chance(
    newcomer: Tenant, craps: Casino, kind: str, title: str, names: list[str]
) -> None:
    about = LedgerProcess.objects.filter(casino=craps, kind=kind).latest("draws")
    shown = page(client(newcomer, Role.AUDITOR), f"{LIST}{about.pk}/change/")
    chart = drawn(shown, "columns")
    assert f"<title>{title}</title>" in chart
    assert "<desc>" in chart
    labels = re.findall(r"<title>(\d+): (\d+) times; ([\d.]+) expected by chance</title>", chart)
    assert [name for name, _, _ in labels] == names
    faces = 2 if kind == "dice-supply" else 1
    assert sum(int(times) for _, times, _ in labels) == faces * about.draws
    assert sum(float(expected) for _, _, expected in labels) == pytest.approx(faces * about.draws, abs=0.6)
    table = shown.split("Show as table")[1].split("</table>")[0]
    rows = re.findall(r"<tr><td>(\d+)</td><td class=\"num\">(\d+)</td><td class=\"num\">([\d.]+)</td>", table)
    assert rows == labels
    assert 'class="chart wheel"' not in shown
    assert "style=" not in shown.split('<div class="page process">')[1]


def test_a_column_outside_its_band_is_in_gold_and_is_named(newcomer: Tenant, craps: Casino) -> None:
    about = LedgerProcess.objects.filter(casino=craps, kind="dice-supply").latest("draws")
    state = json.loads(bytes(about.state))
    state["memory"] = [[60, 10, 10, 10, 10, 20] if memory else [] for memory in state["memory"]]
    forged = LedgerProcess.objects.create(
        casino=craps, name="dice-supply: C9", kind="dice-supply", subject="C9", state=json.dumps(state).encode(),
        first_day=DAY, wealth=UNIT, highest=UNIT, opening=UNIT, year=DAY.year, alpha="1/16",
    )  # fmt: skip
    chart = drawn(page(client(newcomer, Role.AUDITOR), f"{LIST}{forged.pk}/change/"), "columns")
    assert re.findall(r'class="bar fits"[^>]*><title>(\d)', chart) == ["1", "2", "3", "4", "5"]
    assert "Outside the band: 1, 2, 3, 4, 5." in chart


def test_dice_that_count_nothing_are_not_drawn(newcomer: Tenant, craps: Casino) -> None:
    reader = client(newcomer, Role.AUDITOR)
    for kind in ("shooter", "table-luck"):
        about = LedgerProcess.objects.filter(casino=craps, kind=kind).first()
        assert about is not None
        assert 'class="chart columns"' not in page(reader, f"{LIST}{about.pk}/change/")


def section(shown: str, name: str) -> str:
    return shown.split(f'id="{name}"')[1].split("</section>")[0]


def test_a_process_that_has_asked_says_how_often_such_a_question_is_wrong(casino: Casino, shown: str) -> None:
    certain = section(shown, "certain")
    question = LedgerQuestion.objects.get(process=process(casino))
    assert question.alpha == "1/32"
    assert "<b>at most 1 in 32</b> passes this threshold in a year" in certain
    assert question.evidence > 10**6
    assert "The evidence was more than a million to one when it passed the threshold." in certain
    assert "the casino allows 1 false questions" not in certain
    assert "the casino allows 1 false question a year on average; one part in 32 of that" in certain


def test_of_evidence_that_is_no_more_than_a_million_the_number_is_said(casino: Casino) -> None:
    question = LedgerQuestion(alpha="1/32", evidence=1_340)
    words = certainty_of(process(casino), question, "1").at_evidence
    assert words.startswith(
        "The evidence was 1,340 when it passed the threshold: if everything is in order, at most 1 in 1,340 gets"
    )


def test_the_first_thing_on_the_page_of_a_question_is_since_when(tenant: Tenant, casino: Casino, shown: str) -> None:
    reader = client(tenant, Role.AUDITOR)
    assert re.findall(r'<h2 id="([^"]+)"', shown.split('class="page process"')[1])[0] == "since"
    since = section(shown, "since")
    night = night_of(DAY)
    assert f"Most likely since <b>{night}</b>." in since
    assert f"It cannot have begun before {night}, nor after {night}" in since
    near = LedgerProcess.objects.get(casino=casino, name="wheel 37: W2")
    assert 'id="since"' not in page(reader, f"{LIST}{near.pk}/change/"), "nothing is said below the level"


def test_of_a_process_that_counts_nothing_no_first_day_is_known(casino: Casino) -> None:
    about = process(casino)
    points = list(LedgerPoint.objects.filter(process=about).select_related("batch"))
    question = LedgerQuestion.objects.select_related("batch").get(process=about)
    assert all(sum(each.counts) == each.draws for each in points)
    state = msgspec.json.decode(bytes(about.state), type=Process)
    began = began_of(about, state, points, question)
    assert began is not None
    assert began.days == (DAY, DAY)
    for each in points:
        each.counts = []
    began = began_of(about, state, points, question)
    assert began is not None
    assert (began.days, began.share, began.best_day) == (None, None, DAY)


def test_evidence_beyond_a_million_says_what_is_likelier_than_fraud(tenant: Tenant, casino: Casino, shown: str) -> None:
    reader = client(tenant, Role.AUDITOR)
    assert "more than a million to one" in shown
    assert "whether a spin or throw was recorded twice" in shown
    near = LedgerProcess.objects.get(casino=casino, name="wheel 37: W2")
    assert "whether a spin or throw was recorded twice" not in page(reader, f"{LIST}{near.pk}/change/")


def test_a_process_below_its_level_claims_nothing(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    below = LedgerProcess.objects.filter(casino=casino, questions=None)
    for about in below:
        certain = section(page(reader, f"{LIST}{about.pk}/change/"), "certain")
        assert "below the threshold: nothing is claimed." in certain
        assert ("gets this far in a year" in certain) is (about.e_value >= 2)
    assert {about.e_value >= 2 for about in below} == {True, False}


def test_what_to_do_about_a_wheel_that_has_asked(tenant: Tenant, casino: Casino) -> None:
    address = f"{LIST}{process(casino).pk}/change/"
    question = LedgerQuestion.objects.get(process=process(casino))
    todo = section(page(client(tenant, Role.OFFICER, "officer"), address), "todo")
    titles = re.findall(r"<b>([^<]*)</b>", todo)
    assert titles == [
        "Inspect the wheel W1",
        "Look at 12 coups of the sessions that moved it most",
        "Let other croupiers deal for two nights",
        "Write what was found; a second officer reads it",
    ]
    assert "#apart" not in todo, "an officer does not note that it was taken apart"
    stream = process(casino).points.get().batch.stream_id
    assert f'href="/admin/audit/loggedstream/{stream}/table/?at=' in todo
    assert re.search(r"video (until|was kept until) ", todo)
    assert f'href="/admin/audit/finding/{question.finding_id}/change/">Answer the question' in todo
    assert 'href="#apart"' in section(page(client(tenant, Role.SECOND, "second"), address), "todo")
    assert "Answer the question" not in section(page(client(tenant, Role.AUDITOR), address), "todo")


def coups_in(todo: str) -> list[tuple[int, list[str]]]:
    """Return the coups that a step names: the event of each, and its pockets."""
    found = re.findall(r'<span class="coup"><a class="link" href="[^"]*at=(\d+)">[^<]*</a>(.*?)</span></span>', todo)
    return [(int(seq), re.findall(r'class="pk \w">(\w+)', rest + "</span>")) for seq, rest in found]


def test_the_coups_to_look_at_are_those_that_came_where_the_process_fits_best(newcomer: Tenant) -> None:
    """Of a wheel that rests in 17 four times in five, and in 1 in between, they are the seventeens."""
    casino = newcomer.casino
    record(casino, spun(casino, (["17"] * 4 + ["1"]) * 6))
    seal()
    feeding.feed(casino)
    about = process(casino)
    assert LedgerQuestion.objects.filter(process=about).exists()
    todo = section(page(client(newcomer, Role.OFFICER, "officer"), f"{LIST}{about.pk}/change/"), "todo")
    coups = coups_in(todo)
    assert len(coups) == 12
    assert {pocket for _seq, pockets in coups for pocket in pockets} == {"17"}
    assert [seq for seq, _pockets in coups] == sorted(seq for seq, _pockets in coups)
    assert len(set(re.findall(r", (20:00:\d\d) CET", todo))) == 12, "by the clock of the table, no two alike"


def test_in_french_what_to_watch_ends_in_one_full_stop(tenant: Tenant, casino: Casino, settings: Any) -> None:
    settings.CABOCHON_VIDEO_DAYS = 14
    reader, address = client(tenant, Role.OFFICER, "officer"), f"{LIST}{process(casino).pk}/change/"
    french = reader.get(address, headers={"accept-language": "fr"}).content.decode()
    [words] = re.findall(r"vidéo[^<]*3[^<]déc[^<]*", section(french, "todo"))
    assert words.endswith("déc.")
    assert not words.endswith("..")
    assert re.search(r"video [^<]*3 Dec[^<]*\.", section(page(reader, address), "todo"))


def test_of_a_step_from_the_last_pocket_both_pockets_are_shown(tenant: Tenant, casino: Casino) -> None:
    about = process(casino, "wheel-displacement 37: W1")
    todo = section(page(client(tenant, Role.OFFICER, "officer"), f"{LIST}{about.pk}/change/"), "todo")
    coups = coups_in(todo)
    assert LedgerQuestion.objects.filter(process=about).exists()
    assert {tuple(pockets) for _seq, pockets in coups} == {("17", "17")}


def test_a_coup_whose_video_was_requested_says_so(tenant: Tenant, casino: Casino) -> None:
    about = process(casino)
    stream = about.points.get().batch.stream
    finding = Finding.objects.get(pk=LedgerQuestion.objects.get(process=about).finding_id)
    address = f"{LIST}{about.pk}/change/"
    reader = client(tenant, Role.OFFICER, "officer")
    assert "video asked for" not in section(page(reader, address), "todo")
    CaseContacts.objects.create(casino=casino, video_room="room@x.example")
    officer = hired(tenant, Role.OFFICER, "another")
    assert finding.case_id is not None
    assert finding.stream_id == stream.stream_id
    actions.perform(finding.case_id, officer, "ask_video", moment=datetime(2026, 11, 19, 19, 0, 10, tzinfo=UTC))
    assert section(page(reader, address), "todo").count("video asked for") == len(
        coups_in(section(page(reader, address), "todo"))
    )


@pytest.fixture
def kept_long(settings: Any) -> None:
    """Have a video room that keeps what these nights, which are of some day, showed."""
    settings.CABOCHON_VIDEO_DAYS = 36_500


@pytest.mark.usefixtures("kept_long")
def test_the_video_of_the_coups_is_requested_for_on_the_page_of_the_process(tenant: Tenant, casino: Casino) -> None:
    CaseContacts.objects.create(casino=casino, video_room="room@x.example")
    about = process(casino)
    address = f"{LIST}{about.pk}/change/"
    officer = client(tenant, Role.OFFICER, "officer")
    todo = section(page(officer, address), "todo")
    clocks = clocks_in(todo)
    first, last = min(clocks), max(clocks)
    assert first < last
    assert f'action="{LIST}{about.pk}/video/"' in todo
    answer = officer.post(f"{LIST}{about.pk}/video/", follow=True).content.decode()
    finding = Finding.objects.get(pk=LedgerQuestion.objects.get(process=about).finding_id)
    assert f"The video of 1 session was asked for, in case {reference(finding)}." in answer
    [request] = VideoRequest.objects.filter(case=finding.case_id)
    begins, ends = (local(each, casino) for each in (request.begins_at + AROUND, request.ends_at - AROUND))
    assert (f"{begins:%H:%M:%S}", f"{ends:%H:%M:%S}") == (first, last)
    assert request.finding == finding
    [action] = CaseAction.objects.filter(case=finding.case_id, type="case.video_asked")
    assert action.about == f"{begins:%H:%M}–{ends:%H:%M}"
    todo = section(answer, "todo")
    assert todo.count("video asked for") == 12
    assert "/video/" not in todo
    again = officer.post(f"{LIST}{about.pk}/video/", follow=True).content.decode()
    assert "There is no video left to ask for." in again
    assert VideoRequest.objects.filter(case=finding.case_id).count() == 1


def clocks_in(todo: str) -> list[str]:
    """Return the clock times of the coups that a step names, to the second."""
    seqs = [seq for seq, _pockets in coups_in(todo)]
    [stream] = {int(each) for each in re.findall(r"loggedstream/(\d+)/table/\?at=", todo)}
    stored = read.events_at(stream, seqs)
    casino = LoggedStream.objects.get(pk=stream).casino
    return [f"{local(decode_one_stored(stored[seq]).occurred_at, casino):%H:%M:%S}" for seq in seqs]


@pytest.mark.usefixtures("kept_long")
def test_the_video_of_coups_is_requested_for_by_whoever_works_on_cases_alone(tenant: Tenant, casino: Casino) -> None:
    CaseContacts.objects.create(casino=casino, video_room="room@x.example")
    about = process(casino)
    address = f"{LIST}{about.pk}/video/"
    auditor = client(tenant, Role.AUDITOR)
    assert "/video/" not in section(page(auditor, f"{LIST}{about.pk}/change/"), "todo")
    assert auditor.post(address).status_code == 403
    assert client(Tenant(), Role.OFFICER, "stranger").post(address).status_code == 404
    officer = client(tenant, Role.OFFICER, "officer")
    assert officer.get(address).status_code == 405
    below = LedgerProcess.objects.filter(casino=casino, questions=None)[0]
    assert officer.post(f"{LIST}{below.pk}/video/").status_code == 404, "it has not asked"
    assert not VideoRequest.objects.filter(case__casino=casino).exists()


def test_no_video_of_coups_is_requested_for_that_is_kept_no_more_or_that_no_room_has(
    tenant: Tenant, casino: Casino, settings: Any
) -> None:
    about = process(casino)
    officer = client(tenant, Role.OFFICER, "officer")
    settings.CABOCHON_VIDEO_DAYS = 36_500
    assert "/video/" not in section(page(officer, f"{LIST}{about.pk}/change/"), "todo")
    assert "The video room has no address." in officer.post(f"{LIST}{about.pk}/video/", follow=True).content.decode()
    CaseContacts.objects.create(casino=casino, video_room="room@x.example")
    settings.CABOCHON_VIDEO_DAYS = 0
    assert "/video/" not in section(page(officer, f"{LIST}{about.pk}/change/"), "todo")
    assert "There is no video left" in officer.post(f"{LIST}{about.pk}/video/", follow=True).content.decode()
    assert not VideoRequest.objects.filter(case__casino=casino).exists()


@pytest.mark.usefixtures("kept_long")
def test_the_video_of_another_table_is_not_requested_for_in_the_case(tenant: Tenant, casino: Casino) -> None:
    finding = Finding.objects.get(pk=LedgerQuestion.objects.get(process=process(casino)).finding_id)
    assert finding.stream is not None
    at = datetime(2026, 11, 19, 19, 0, 10, tzinfo=UTC)
    coup = Coup(finding.stream_id, finding.table_id, 5, at, "", "17", ("", "r"), is_requested=False)
    assert to_ask_for([coup], finding) == [(at, at)]
    assert to_ask_for([replace(coup, is_requested=True)], finding) == []
    finding.table = GamingTable.objects.create(casino=casino, code="another")
    assert to_ask_for([coup], finding) == []
    finding.table = None
    assert to_ask_for([coup], finding) == []


def test_a_process_below_its_level_names_no_coup(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.OFFICER, "officer")
    for about in LedgerProcess.objects.filter(casino=casino, questions=None):
        assert 'class="coup"' not in page(reader, f"{LIST}{about.pk}/change/")


def test_an_answer_that_was_given_is_done(tenant: Tenant, casino: Casino) -> None:
    officer, second = hired(tenant, Role.OFFICER, "officer"), hired(tenant, Role.SECOND, "second")
    finding = Finding.objects.get(pk=LedgerQuestion.objects.get(process=process(casino)).finding_id)
    assert finding.case_id is not None
    actions.perform(finding.case_id, officer, "take")
    actions.perform(finding.case_id, officer, "propose", reason="levelled", outcome="explained")
    actions.perform(finding.case_id, second, "approve")
    todo = section(page(client_of(officer), f"{LIST}{process(casino).pk}/change/"), "todo")
    assert todo.count('<li class="done">') == 1
    assert "Answer the question" not in todo


def test_below_the_level_nothing_is_to_be_done_but_to_inspect_what_is_near_it(tenant: Tenant, casino: Casino) -> None:
    reader = client(tenant, Role.AUDITOR)
    below = LedgerProcess.objects.filter(casino=casino, questions=None)
    assert below
    for about in below:
        shown = page(reader, f"{LIST}{about.pk}/change/")
        todo = section(shown, "todo")
        is_near_threshold = '<span class="tag">near the threshold</span>' in shown
        is_thing = KINDS[about.kind].half == "equipment"
        assert todo.count("<li") == (1 if is_near_threshold and is_thing else 0)


def test_every_kind_of_process_has_its_steps() -> None:
    assert STEPS.keys() == KINDS.keys()
    for steps in STEPS.values():
        assert all(str(each.title) % {"who": "c-1", "what": "W1"} for each in steps)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "its true share lies between"), pytest.param("fr", "sa part véritable se", marks=pytest.mark.faults)],
)
def test_a_process_of_a_wheel_says_between_what_the_share_lies(
    tenant: Tenant, casino: Casino, language: str, words: str
) -> None:
    address = f"{LIST}{process(casino).pk}/change/"
    shown = client(tenant, Role.AUDITOR).get(address, headers={"accept-language": language}).content.decode()
    certain = shown[shown.index('id="certain"') :]
    certain = certain[: certain.index("</section>")]
    assert words in certain
    assert 'class="chart certain"' in certain
    # Twenty times the same pocket, at the level of the question.
    found = beginning_of([Counted(20, 20)], Fraction(1, 37), Fraction(1, 32), chosen_of=222).share
    assert f"{float(found.low) * 100:.1f}".replace(".", "," if language == "fr" else ".") in certain


def test_a_process_of_a_pair_of_dice_has_its_rivals_and_one_of_luck_has_none(newcomer: Tenant, craps: Casino) -> None:
    reader = client(newcomer, Role.AUDITOR)
    pair = LedgerProcess.objects.filter(casino=craps, kind="dice-pair").latest("pk")
    shown = page(reader, f"{LIST}{pair.pk}/change/")
    rivals = drawn(shown, "rivals")
    for words in ("Doubles", "Sevens", "Any pattern of totals", "What follows a double"):
        assert f">{words}</text>" in rivals
    luck = LedgerProcess.objects.filter(casino=craps, kind="table-luck").latest("pk")
    shown = page(reader, f"{LIST}{luck.pk}/change/")
    assert 'class="chart rivals"' not in shown
    assert 'class="chart certain"' not in shown


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "What a false question may cost"),
        pytest.param("fr", "Ce que peut coûter une fausse question", marks=pytest.mark.faults),
    ],
)
def test_the_questions_are_a_pdf_and_an_entry_of_the_trail(
    tenant: Tenant, casino: Casino, language: str, words: str
) -> None:
    answer = client(tenant, Role.AUDITOR).get(f"{LIST}?file=pdf", headers={"accept-language": language})
    assert answer["Content-Type"] == "application/pdf"
    printed = words_of(answer.content)
    for each in ("W1", "W2"):
        assert each in printed
    assert words in printed
    types = [each.type for each in audit_trail.entries_of(casino.pk, datetime.now(UTC).date())]
    assert types.count("ledger.exported") == 1


def test_a_stranger_has_no_pdf_of_the_questions(tenant: Tenant, casino: Casino) -> None:
    other = Tenant()
    answer = client(other, Role.AUDITOR, "stranger").get(f"{LIST}?file=pdf")
    assert "W1" not in words_of(answer.content)
    assert client(other, Role.AUDITOR, "other").get(f"{LIST}{process(casino).pk}/change/?file=pdf").status_code == 404


def test_a_process_is_a_pdf_with_what_speaks_for_which(tenant: Tenant, casino: Casino) -> None:
    address = f"{LIST}{process(casino).pk}/change/?file=pdf"
    printed = words_of(client(tenant, Role.AUDITOR).get(address, headers={"accept-language": "en"}).content)
    for words in ("Its evidence", "Against other explanations", "One pocket", "What moved it most", "its true share"):
        assert words in printed


@pytest.mark.parametrize(
    ("language", "words"),
    [pytest.param("en", "Level of the bowl", marks=pytest.mark.faults), ("fr", "Niveau de la cuvette")],
)
def test_an_inspection_order_says_what_to_look_at_and_not_what_to_find(
    tenant: Tenant, casino: Casino, language: str, words: str
) -> None:
    about = process(casino)
    officer = client(tenant, Role.OFFICER, "officer")
    order = f"{LIST}{about.pk}/change/?file=inspection"
    assert 'href="?file=inspection"' in section(page(officer, f"{LIST}{about.pk}/change/"), "todo")
    answer = officer.get(order, headers={"accept-language": language})
    assert (answer["Content-Type"], answer.status_code) == ("application/pdf", 200)
    printed = words_of(answer.content)
    finding = Finding.objects.get(pk=LedgerQuestion.objects.get(process=about).finding_id)
    for each in (words, "W1", reference(finding), "officer"):
        assert each in printed
    pocket = re.compile(r"(?<![\w:])17(?!\w|:\d| \S+ 20\d\d)")  # neither a day, nor a clock, nor in a casino's code
    assert not pocket.search(printed.replace(reference(finding), "")), "whoever measures is not told which pocket it is"
    [entry] = entries(casino, "equipment.inspection_ordered")
    assert entry.data == {"process": about.name}


def test_nobody_orders_an_inspection_who_may_not_work_on_cases_nor_of_what_is_no_equipment(
    tenant: Tenant, casino: Casino, craps: Casino
) -> None:
    auditor, officer = client(tenant, Role.AUDITOR), client(tenant, Role.OFFICER, "officer")
    address = f"{LIST}{process(casino).pk}/change/"
    assert auditor.get(f"{address}?file=inspection").status_code == 403
    assert "?file=inspection" not in page(auditor, address)
    luck = LedgerProcess.objects.filter(casino=craps, kind="table-luck").latest("pk")
    assert officer.get(f"{LIST}{luck.pk}/change/?file=inspection").status_code == 404
    assert client(Tenant(), Role.OFFICER, "other").get(f"{address}?file=inspection").status_code == 404
    assert not entries(casino, "equipment.inspection_ordered")


@pytest.mark.parametrize(
    ("kind", "subject", "found"),
    [
        ("wheel", "W1", ("wheel", "W1")),
        ("wheel-displacement", "W1", ("wheel", "W1")),
        ("wheel-memory", "W1", ("wheel", "W1")),
        ("croupier-displacement", "c-1, W1", ("wheel", "W1")),
        ("die", "D1, 2", ("dice", "D1")),
        ("dice-pair", "D1", ("dice", "D1")),
        ("dice-supply", "C1", None),
        ("void-call", "C1", None),
        ("player-luck", "p-1", None),
    ],
)
def test_what_is_inspected_is_the_wheel_or_the_set_of_dice(
    kind: str, subject: str, found: tuple[str, str] | None
) -> None:
    assert inspected(LedgerProcess(kind=kind, subject=subject)) == found


def test_a_level_of_the_budget_is_rounded_and_not_cut_off() -> None:
    cursor = LedgerCursor(budget="2", expected={"wheel": 7})
    [group] = list_page._groups([Given("wheel", 1, 0.158)], cursor, frozenset())
    assert (group["given"], group["left"], group["expected"]) == ("0.16", "0.09", "7")
