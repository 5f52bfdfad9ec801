"""Nights at the desk: every figure opens what makes it, two officers sign, and nobody sees another casino's."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from audit import task_queue
from audit.desk.nights import admin, summary, wagers
from audit.desk.nights import page as page_of_night
from audit.desk.nights.page import ADDITIVE, WORTH
from audit.desk.nights.tables import Table
from audit.event_store import audit_trail, read
from audit.models import Casino, Membership, NightReport, NightRun, NightState, Officer, Person, Role
from audit.presentation import money_in_prose
from audit.reconciliation import director, pdf, runs, versions, wording
from audit.reconciliation.checks import in_millionths
from audit.reconciliation.content import BANK, figures_of
from audit.reconciliation.names import add_names
from audit.reconciliation.presentation import LINES, load_content
from audit.reconciliation.wording import money
from settlement import decode
from settlement.catalogue import Language
from settlement.night.variance import surprise
from tests import citus
from tests.audit.access.test_accounts import invited_by
from tests.audit.casework.test_actions import sign_in
from tests.audit.conftest import make_tenant
from tests.audit.corrections.corrections_desk import approve
from tests.audit.desk.printed import words_of
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, inserted, reconciled, record, session
from tests.audit.reconciliation.test_versions import append
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def idle(tenant: Tenant) -> Casino:
    """A casino where nobody has played."""
    return tenant.casino


@pytest.fixture(scope=citus.MODULE)
def played_night(module_db: None) -> int:
    """The id of the report of a night at two tables, which the tests of the module share."""
    casino = make_tenant().casino
    events = session(casino, "R1", irregularities=["payout-overpaid"], coups=45)
    other = session(casino, "C1", ruleset="fr-craps", seed=4)
    return reconciled(casino, events, other, counted_more=77).pk


@pytest.fixture
def report(played_night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=played_night)


@pytest.fixture
def casino(report: NightReport) -> Casino:
    return report.casino


SIGNED = {"proof_password": "x"}
"""The password of every officer here, with which a report is signed."""

EXCUSED = {**SIGNED, "reason-critical-open": "Paid back to the player."}
"""The same with the exception that the report needs."""


def officer(casino: Casino, name: str, *, signs: bool = True) -> Client:
    someone = Officer.objects.create_user(name, password="x", is_staff=True)
    Membership.objects.create(officer=someone, casino=casino, role=Role.SECOND if signs else Role.OFFICER)
    client = Client()
    sign_in(client, someone)
    return client


def at(report: NightReport, name: str = "change", *rest: Any) -> str:
    return reverse(f"admin:audit_nightreport_{name}", args=(report.pk, *rest))


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.faults)])
def test_every_address_on_the_page_answers(report: NightReport, casino: Casino, every: int) -> None:
    desk = officer(casino, "ada")
    page = desk.get(at(report), headers={"accept-language": "en"}).content.decode()
    addresses = sorted(set(re.findall(r'href="(/admin/audit/[^"#]+)', page)))
    assert len(addresses) > 25
    for address in addresses[::every]:
        answer = desk.get(address.replace("&amp;", "&"))
        assert answer.status_code == 200, address


def test_a_night_of_the_years_whose_streams_have_negative_numbers_opens(idle: Casino) -> None:
    long_ago = DAY.replace(year=2010)
    record(idle, session(idle, "R1", day=long_ago))
    (reconciled,) = runs.reconcile(idle, long_ago, actor="test", now=MORNING)
    desk = officer(idle, "ada")
    assert desk.get(at(reconciled)).status_code == 200
    (played,) = reconciled.parsed_content()["sessions"]
    assert played["stream_id"] < 0
    assert desk.get(at(reconciled, "session", played["stream_id"])).status_code == 200


@pytest.mark.parametrize("line", ["nonsense", *in_short(["", *WORTH], every=3)])
def test_every_figure_opens_the_wagers_that_make_it(report: NightReport, casino: Casino, line: str) -> None:
    desk = officer(casino, "ada")
    for each in report.parsed_content()["sessions"]:
        answer = desk.get(at(report, "session", each["stream_id"]) + f"?line={line}")
        assert answer.status_code == 200
        shown = figures_of(each)
        if line in WORTH:
            chosen = [figure for figure in answer.context["figures"] if figure["is_chosen"]]
            assert answer.context["sum"] == chosen[0]["amount"], "the wagers add up to the figure, to the minor unit"
            assert bool(answer.context["table"].rows) == bool(shown[line]) or line in (
                "theoretical",
                "luck",
                "W_rec",
                "W_adj",
            )


def events_linked(table: Table) -> list[tuple[int, int]]:
    """Return stream and seq of the events that the first cells of a table lead to, having opened each."""
    addresses = [row.cells[0].address for row in table.rows]
    matches = [
        re.fullmatch(r"/admin/audit/loggedstream/(-?[0-9]+)/events/\?after=[0-9]+#e([0-9]+)", a) for a in addresses
    ]
    return [(int(match[1]), int(match[2])) for match in matches if match]


@pytest.mark.parametrize("letter", in_short(BANK, every=3))
def test_each_letter_of_the_bank_opens_the_events_that_add_up_to_it(
    report: NightReport, casino: Casino, letter: str
) -> None:
    desk = officer(casino, "ada")
    types = {
        "O": "session.opened",
        "F": "bank.filled",
        "C": "bank.credited",
        "K": "session.closed",
        "B": "buy_in.recorded",
    }
    for played in report.parsed_content()["sessions"]:
        answer = desk.get(at(report, "session", played["stream_id"]) + f"?line={letter}")
        (chosen,) = [each for each in answer.context["bank"] if each["is_chosen"]]
        assert answer.context["sum"] == chosen["amount"] == money(played[letter], "EUR")
        linked = events_linked(answer.context["table"])
        assert len(linked) == len(answer.context["table"].rows) == answer.context["count"]
        stored = [read.events_at(stream_id, [seq])[seq] for stream_id, seq in linked]
        assert {decode(raw).type for raw in stored} <= {types.get(letter, "drop.counted")}
        assert all(
            desk.get(address).status_code == 200
            for address in {row.cells[0].address for row in answer.context["table"].rows}
        )
        if letter in "OKDB":
            assert linked


def test_the_bank_of_a_session_is_read_as_corrected_and_as_far_as_the_report_did(idle: Casino) -> None:
    events = inserted(session(idle, "R1"), 5, "bank.filled", {"amount": 700, "slip": "F-001"})
    record(idle, events)
    counted = count(idle, {events[0]["stream"]: buy_ins(events)}, closed=False)
    record(idle, counted)
    last = events[-1]["seq"]
    right = {"amount": 900, "slip": "F-001"}
    append(idle, events, last + 1, "entry.corrected", corrects=6, data=right, reason="misread", approved_by="Ida")
    (waits,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    approve(idle, int(next(iter(waits.through))), last + 1)
    (first,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    append(idle, events, last + 2, "bank.filled", amount=50, slip="F-002")
    append(idle, counted, 3, "drop.counted", session=events[0]["stream"], amount=1, counted_by=["Ida", "Max"])
    (second,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    desk = officer(idle, "ada")

    def opened(report: NightReport, letter: str) -> list[str]:
        (row,) = report.parsed_content()["sessions"]
        answer = desk.get(at(report, "session", row["stream_id"]) + f"?line={letter}")
        assert answer.context["sum"] == money(row[letter], "EUR")
        return [row.cells[-1].text for row in answer.context["table"].rows]

    assert opened(first, "F") == ["€9.00"]
    assert waits.parsed_content()["sessions"][0]["F"] == 700
    assert opened(second, "F") == ["€9.00", "€0.50"]
    assert (len(opened(first, "D")), len(opened(second, "D"))) == (1, 2)


def test_a_session_that_is_opened_or_closed_again_has_its_first_opener_and_its_last_closer(idle: Casino) -> None:
    events = session(idle, "R1")
    again = {**events[0]["data"], "float": 5}
    events = inserted(events, 5, "session.opened", again)
    last = events[-1]["seq"]
    record(idle, events)
    append(idle, events, last + 1, "session.closed", float=77_000)
    (report,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    (played,) = report.parsed_content()["sessions"]
    desk = officer(idle, "ada")
    for letter, seq in (("O", 1), ("K", last + 1)):
        answer = desk.get(at(report, "session", played["stream_id"]) + f"?line={letter}")
        assert answer.context["sum"] == money(played[letter], "EUR")
        assert [row.cells[0].text for row in answer.context["table"].rows] == [f"#{seq}"]


def test_a_letter_that_is_not_known_yet_adds_up_to_nothing(idle: Casino) -> None:
    events = [event for event in session(idle, "R1") if event["type"] != "session.closed"]
    record(idle, events)
    (report,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    desk = officer(idle, "ada")
    stream_id = report.parsed_content()["sessions"][0]["stream_id"]
    for line in ("K", "D", "W_acct", "accounting_variance"):
        answer = desk.get(at(report, "session", stream_id) + f"?line={line}")
        assert answer.context["sum"] == "not counted", line


@pytest.mark.parametrize("figure", ["W_acct", "accounting_variance"])
def test_a_figure_of_figures_opens_its_terms(report: NightReport, casino: Casino, figure: str) -> None:
    desk = officer(casino, "ada")
    for played in report.parsed_content()["sessions"]:
        answer = desk.get(at(report, "session", played["stream_id"]) + f"?line={figure}")
        assert answer.context["sum"] == wording.figure(figure, figures_of(played)[figure], "EUR")
        for row in answer.context["table"].rows:
            assert desk.get(row.cells[0].address).context["sum"] == row.cells[1].text


@pytest.mark.parametrize("figure", in_short(ADDITIVE, every=7))
def test_a_total_opens_the_sessions_that_add_up_to_it(report: NightReport, casino: Casino, figure: str) -> None:
    desk = officer(casino, "ada")
    answer = desk.get(at(report, "figure", figure), headers={"accept-language": "en"})
    content = report.parsed_content()
    sessions = [figures_of(each)[figure] for each in content["sessions"]]
    assert len(sessions) == 2
    assert answer.context["total"] == wording.figure(figure, sum(sessions), "EUR")
    assert sum(sessions) == figures_of(content["total"])[figure]
    shown = [row.cells[-1].text for row in answer.context["table"].rows]
    assert shown == [wording.figure(figure, each, "EUR") for each in sessions]
    for row in answer.context["table"].rows:
        assert desk.get(row.cells[-1].address).context["sum"] == row.cells[-1].text
    assert desk.get(at(report, "figure", "hold_millionths")).status_code == 404, "a share is no sum of its sessions'"


def test_a_long_list_of_the_bank_goes_on_on_the_next_page(idle: Casino, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wagers, "PAGE_ROWS", 2)
    events = session(idle, "R1")
    for index in range(5, 8):
        events = inserted(events, index, "bank.filled", {"amount": 100, "slip": f"F-{index}"})
    record(idle, events)
    (report,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    desk = officer(idle, "ada")
    address = at(report, "session", report.parsed_content()["sessions"][0]["stream_id"]) + "?line=F"
    first, second = desk.get(address), desk.get(address + "&after=2")
    assert b"?line=F&amp;after=2" in first.content
    assert [len(each.context["table"].rows) for each in (first, second)] == [2, 1]
    assert first.context["sum"] == second.context["sum"] == "€3.00"
    assert second.context["later"] is None


def test_two_officers_sign_and_one_cannot_twice(report: NightReport, casino: Casino) -> None:
    ada, bob = officer(casino, "ada"), officer(casino, "bob")
    ada.post(at(report, "sign"), EXCUSED)
    ada.post(at(report, "sign"), SIGNED)
    assert NightReport.objects.get(pk=report.pk).state == NightState.REVIEWED
    bob.post(at(report, "sign"), SIGNED)
    closed = NightReport.objects.get(pk=report.pk)
    assert (closed.state, str(closed.reviewed_by), str(closed.closed_by)) == (NightState.CLOSED, "ada", "bob")
    page = bob.get(at(report), headers={"accept-language": "en"}).content.decode()
    assert "Paid back to the player." in page


@pytest.mark.parametrize(
    ("language", "title", "night", "signed"),
    [
        pytest.param(
            "en",
            "Night of Thursday 19 November 2026",
            "Night of Thu 19 Nov",
            "20 Nov 2026, 23:30 CET",
            marks=pytest.mark.faults,
        ),
        ("fr", "Nuit du jeudi 19 novembre 2026", "Nuit du jeudi 19 nov.", "20 nov. 2026, 23:30 CET"),
    ],
)
def test_a_signature_has_one_hour_with_its_zone_on_the_page_and_on_paper(
    report: NightReport, casino: Casino, language: Language, title: str, night: str, signed: str
) -> None:
    with time_machine.travel("2026-11-20 22:30:00Z", tick=False):
        ada = officer(casino, "ada")
        ada.post(at(report, "sign"), EXCUSED)
    with time_machine.travel("2027-01-10 12:00:00Z", tick=False):
        shown = officer(casino, "bob").get(at(report), headers={"accept-language": language}).content.decode()
        with translation.override(language):
            paper = pdf._data(NightReport.objects.get(pk=report.pk), language)
    assert re.findall(r'<b>ada</b><span class="quiet">([^<]*)</span>', shown) == [signed]
    assert "Paid back to the player.</p><footer>" in shown
    assert f"ada, {signed}</footer>" in shown
    assert paper["signatures"][0]["at"] == signed
    assert paper["heading"] == f"{night} 2026"
    assert f"<h1>{title}</h1>" in shown
    without_ids = shown.replace(f".{DAY}", "")  # a stream's id has its gaming day
    assert not re.search(r">[^<]*\b\d{4}-\d\d-\d\d", without_ids), "no date as machines write it"


def test_the_same_hands_do_not_sign_twice_at_the_desk(report: NightReport, casino: Casino) -> None:
    ada = officer(casino, "ada")
    bob = invited_by(Officer.objects.get(username="ada"), casino, Role.DIRECTOR)
    ada.post(at(report, "sign"), EXCUSED)
    Membership.objects.get(officer__username="ada").delete()
    Membership.objects.create(officer=Officer.objects.get(username="ada"), casino=casino, role=Role.DIRECTOR)

    def refusal(client: Client) -> str:
        page = client.post(at(report, "sign"), SIGNED, headers={"accept-language": "en"}, follow=True)
        assert NightReport.objects.get(pk=report.pk).closed_by is None
        return page.content.decode()

    assert "The second signature must be another officer’s." in refusal(ada), "under another role"
    bob.set_password("x")
    bob.save()
    client = Client()
    sign_in(client, bob)
    assert "One of you created the other’s account" in refusal(client)
    refused = [each for each in audit_trail.entries_of(casino.pk, timezone.now().date()) if "refused" in each.type]
    assert [(each.actor, each.data["code"]) for each in refused] == [
        ("ada", "another-officer"),
        (bob.username, "same-hands"),
    ]
    officer(casino, "eve").post(at(report, "sign"), SIGNED)
    assert NightReport.objects.get(pk=report.pk).state == NightState.CLOSED


def test_a_night_is_signed_with_its_exceptions_by_one_form_and_one_password(
    report: NightReport, casino: Casino
) -> None:
    ada, en = officer(casino, "ada"), {"accept-language": "en"}
    page = ada.get(at(report), headers=en).content.decode()
    assert page.count('name="reason-critical-open"') == page.count('name="proof_password"') == 1
    assert "Sign with exceptions" in page
    [written] = re.findall(r'name="written_in" value="([^"]+)"', page)
    sent = {**SIGNED, "written_in": written, "reason-critical-open": " ", "reason-gap": "Two events were lost."}
    refused = ada.post(at(report, "sign"), sent, headers=en, follow=True).content.decode()
    assert "Two events were lost." in refused, "what was written stays"
    assert NightReport.objects.get(pk=report.pk).reviewed_by is None
    assert not report.signoff_exceptions.exists()
    ada.post(at(report, "sign"), EXCUSED)
    assert str(NightReport.objects.get(pk=report.pk).reviewed_by) == "ada"
    assert [each.reason for each in report.signoff_exceptions.all()] == ["Paid back to the player."]


def test_of_several_exceptions_none_is_kept_where_one_has_no_reason(
    report: NightReport, casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "missing_signoff_exceptions", lambda report: ["critical-open", "gap"])
    officer(casino, "ada").post(at(report, "sign"), EXCUSED)
    assert not report.signoff_exceptions.exists()
    assert NightReport.objects.get(pk=report.pk).reviewed_by is None


@pytest.mark.parametrize("form", [pytest.param({}, marks=pytest.mark.faults), {"proof_password": "wrong"}])
def test_a_night_is_signed_with_the_password_though_the_officer_has_just_signed_in(
    report: NightReport, casino: Casino, form: dict[str, str]
) -> None:
    ada = officer(casino, "ada")
    assert b'id="sign-proof_password"' in ada.get(at(report)).content
    assert ada.post(at(report, "sign"), form).status_code == 403
    assert NightReport.objects.get(pk=report.pk).reviewed_by is None
    assert ada.post(at(report, "sign"), EXCUSED).status_code == 302
    assert str(NightReport.objects.get(pk=report.pk).reviewed_by) == "ada"


def test_a_session_has_the_form_of_its_night_and_no_amount_is_a_link(report: NightReport, casino: Casino) -> None:
    desk = officer(casino, "ada")
    for played in report.parsed_content()["sessions"]:
        for line in ("", "?line=luck", "?line=K", "?line=W_acct"):
            address = at(report, "session", played["stream_id"]) + line
            answer = desk.get(address, headers={"accept-language": "en"})
            content = answer.content.decode().split('id="content"')[1]
            assert f"Table {played['table']} · Night of Thu 19 Nov" in content
            assert answer.context["waterfall"] in content
            won = money_in_prose(abs(played["W_acct"]), "EUR")
            assert f" won <b>{won}</b> in this session." in content
            assert not re.search(r"<a [^>]*>[^<]*€", content), "an amount is no link"
            assert 'data-label="' in content, "its rows are cards on a phone"


def test_on_a_phone_a_row_of_money_is_a_card_that_names_each_amount_and_no_session_has_its_id(
    report: NightReport, casino: Casino
) -> None:
    shown = officer(casino, "ana").get(at(report), headers={"accept-language": "en"}).content.decode()
    bridge = shown.split('<div id="sessions">')[1].split("</section>")[0]
    assert '<table class="wide cards money" role="table">' in bridge
    assert re.search(r'<td class="number" data-label="Payout errors" role="cell"><a ', bridge)
    roulette = next(row for row in report.parsed_content()["sessions"] if row["table"] == "R1")
    address = at(report, "session", roulette["stream_id"])
    assert f'<th scope="row" role="rowheader"><a href="{address}">R1</a>' in bridge
    for row in report.parsed_content()["sessions"]:
        assert f">{row['stream']}<" not in shown
    assert ">By table</a>" in shown.split("<dt>CSV</dt>")[1].split("</dd>")[0], "a file has the title of its section"


def test_signing_takes_the_right_and_a_post(report: NightReport, casino: Casino) -> None:
    reader = officer(casino, "eve", signs=False)
    assert reader.get(at(report)).status_code == 200
    for name in ("sign", "again"):
        assert reader.post(at(report, name), SIGNED).status_code == 403
        assert officer(casino, f"get-{name}").get(at(report, name)).status_code == 405
    assert NightReport.objects.get(pk=report.pk).reviewed_by is None


def test_a_night_of_another_casino_is_not_there(report: NightReport) -> None:
    stranger = officer(make_tenant().casino, "mallory")
    stream_id = report.parsed_content()["sessions"][0]["stream_id"]
    for address in (
        at(report),
        at(report, "session", stream_id),
        at(report, "figure", "D"),
        at(report, "file", "en", "pdf"),
    ):
        assert stranger.get(address).status_code in (302, 404)
    assert stranger.post(at(report, "sign"), SIGNED).status_code == 404
    month = reverse("admin:audit_nightreport_month", args=(report.casino_id, 2026, 11, "EUR"))
    assert stranger.get(month).status_code == 404


def test_a_session_of_another_night_is_not_opened_here(report: NightReport, casino: Casino) -> None:
    desk = officer(casino, "ada")
    assert desk.get(at(report, "session", 1)).status_code == 404
    assert desk.get(at(report, "file", "de", "pdf")).status_code == 404
    assert desk.get(at(report, "file", "nonsense", "csv")).status_code == 404


def test_a_later_version_is_pointed_to_and_shows_its_sheet(report: NightReport, casino: Casino) -> None:
    stream = report.parsed_content()["sessions"][0]["stream"]
    last = report.parsed_content()["sessions"][0]["last_seq"]
    event = {"stream": stream, "seq": last, "occurred_at": "2026-11-20T04:00:00+01:00", "v": 1}
    append(casino, [event], last + 1, "bank.credited", amount=900, slip="late-9")
    (later,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    desk = officer(casino, "ada")
    assert at(later).encode() in desk.get(at(report)).content
    page = desk.get(at(later), headers={"accept-language": "en"}).content.decode()
    assert "Restatement: what this version changes" in page
    assert "late event: credit<" in page
    assert "Changed since version 1: Accounting win " in page
    assert "(+€9)" in page
    assert "Reason: late event: credit." in page
    french = desk.get(at(later), headers={"accept-language": "fr"}).content.decode()
    assert "événement tardif : retrait de la banque<" in french


def signed(report: NightReport, name: str) -> None:
    """Sign a report in an officer's name, with an exception for each of its shortcomings."""
    signer = Officer.objects.get(username=name)
    for code in versions.missing_signoff_exceptions(report):
        versions.add_signoff_exception(report, code, "known", officer=signer)
    versions.sign(report, officer=signer)


def test_a_reopened_night_is_shown_to_the_officer_who_had_signed_it_until_it_is_signed_again(
    report: NightReport, casino: Casino
) -> None:
    ada, eve = officer(casino, "ada"), officer(casino, "eve")
    signed(report, "ada")
    last = report.parsed_content()["sessions"][0]
    event = {"stream": last["stream"], "seq": last["last_seq"], "occurred_at": "2026-11-20T04:00:00+01:00", "v": 1}
    append(casino, [event], last["last_seq"] + 1, "bank.credited", amount=900, slip="late-9")
    (later,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    en = {"accept-language": "en"}
    says = "Reopened after your signature: "
    assert says in ada.get("/admin/", headers=en).content.decode()
    assert says not in eve.get("/admin/", headers=en).content.decode()
    assert "Version 1 was signed: ada." in eve.get(at(later), headers=en).content.decode()
    signed(later, "eve")
    assert says not in ada.get("/admin/", headers=en).content.decode()


def test_a_night_that_failed_before_its_first_report_is_shown_with_a_button(
    idle: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(task_queue, "send", lambda task, **params: sent.append((task, params)))
    run = runs.begin(idle, DAY, actor="beat")
    nights = reverse("admin:audit_nightreport_changelist")
    again = reverse("admin:audit_nightreport_again_day", args=(idle.pk, DAY))
    signer, looker = officer(idle, "ada"), officer(idle, "eve", signs=False)
    assert again not in signer.get(nights).content.decode()
    assert signer.post(again).status_code == 404, "it has not failed"
    NightRun.objects.filter(pk=run.pk).update(error="RuntimeError: no such croupier")
    page = signer.get(nights, headers={"accept-language": "fr"}).content.decode()
    assert "no such croupier" in page
    assert "Échec du rapprochement" in page
    assert again in page
    assert again not in looker.get(nights).content.decode()
    assert looker.post(again).status_code in (403, 404)
    assert sent == []
    signer.post(again)
    assert sent == [("audit.tasks.night_reconcile", {"casino_id": idle.pk, "day": DAY.isoformat(), "actor": "ada"})]


def test_a_run_that_failed_can_be_tried_again_from_the_page_of_its_night(report: NightReport, casino: Casino) -> None:
    run = runs.begin(casino, DAY, actor="beat")
    desk = officer(casino, "ada")
    assert at(report, "again") not in desk.get(at(report)).content.decode(), "it goes on"
    NightRun.objects.filter(pk=run.pk).update(error="RuntimeError: no such croupier")
    page = desk.get(at(report)).content.decode()
    assert "no such croupier" in page
    assert at(report, "again") in page


def test_reconciling_again_is_handed_to_the_workers(
    report: NightReport, casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(task_queue, "send", lambda task, **params: sent.append((task, params)))
    officer(casino, "ada").post(at(report, "again"))
    params = {"casino_id": casino.pk, "day": DAY.isoformat(), "actor": "ada"}
    assert sent == [("audit.tasks.night_reconcile", params)]
    runs.begin(casino, DAY, actor="ada")
    page = officer(casino, "bob").get(at(report), headers={"accept-language": "en"})
    assert "Reconciliation in progress: 2 of 2 sessions." in page.content.decode()
    assert page.headers["Refresh"] == "5"


def test_the_month_adds_up_and_lists_what_differs(report: NightReport, casino: Casino) -> None:
    desk = officer(casino, "ada")
    address = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    answer = desk.get(address, headers={"accept-language": "en"})
    month = answer.context["month"]
    assert month.total("W_acct") == report.parsed_content()["total"]["W_acct"]
    assert sum(month.table_total(table) or 0 for table in month.win) == report.parsed_content()["total"]["W_acct"]
    assert {each["line"] for each in month.exceptions} >= {"accounting", "payouts", "drop"}
    assert len(month.missing) == 29
    book = reverse("admin:audit_nightreport_month_file", args=(casino.pk, 2026, 11, "EUR"))
    assert desk.get(book).content == desk.get(book).content
    for wrong in ((2026, 13, "EUR"), (1800, 1, "EUR"), (2026, 11, "EURO")):
        assert desk.get(reverse("admin:audit_nightreport_month", args=(casino.pk, *wrong))).status_code == 404


@pytest.mark.parametrize(
    ("language", "titles"),
    [
        ("en", ("Accounting win, night by night", "Errors by croupier", "No night was restated.")),
        pytest.param("fr", ("Résultat comptable, nuit par nuit", "Erreurs par croupier"), marks=pytest.mark.faults),
    ],
)
def test_a_month_is_a_pdf_with_its_nights_and_tables(
    report: NightReport, casino: Casino, language: str, titles: tuple[str, ...]
) -> None:
    address = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    desk = officer(casino, "ada")
    answer = desk.get(f"{address}?file=pdf", headers={"accept-language": language})
    assert answer["Content-Disposition"] == f'attachment; filename="month-{casino.code}-2026-11-EUR.pdf"'
    printed = words_of(answer.content)
    for title in titles:
        assert title in printed
    for table in report.parsed_content()["tables"]:
        assert f" {table['name']} " in printed
    assert answer.content == desk.get(f"{address}?file=pdf", headers={"accept-language": language}).content
    entries = audit_trail.entries_of(casino.pk, timezone.now().date())
    assert [each.type for each in entries if each.type.startswith("month.")] == ["month.exported"] * 2


def test_the_page_of_a_month_has_the_rates_of_a_croupiers_page_and_says_what_chance_allows(
    report: NightReport, casino: Casino
) -> None:
    address = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    answer = officer(casino, "ada").get(address, headers={"accept-language": "en"})
    month, total = answer.context["month"], report.parsed_content()["total"]
    rows = {row["croupier"]: row for row in answer.context["croupiers"]}
    assert rows
    for code, assessment in month.croupiers.items():
        assert rows[code]["rate"] == wording.per_thousand(in_millionths(assessment.rate.rate))
        assert f"{reverse('admin:audit_person_croupier', args=(casino.pk, code))}?month=2026-11" in rows[code]["person"]
    unusual = surprise(Fraction(total["exact"]["luck"]), Fraction(total["variance"]))
    assert unusual is not None
    assert month.surprise == unusual, "one night is counted: its luck is the month's"
    nearer = int((1 - unusual.p) * 100)
    assert f"{nearer} " in answer.context["chance"]
    assert answer.context["chance"] in answer.content.decode()


def test_of_days_to_come_nobody_says_that_they_have_no_report(report: NightReport, casino: Casino) -> None:
    address = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    with time_machine.travel(MORNING, tick=False):
        answer = officer(casino, "ada").get(address, headers={"accept-language": "en"})
        overdue = [day.day for day in answer.context["month"].overdue]
    assert overdue == list(range(1, 19)), "the 20th has begun"
    assert "18 days have no report." in answer.content.decode()


def test_the_page_says_who_won_shows_the_bridge_with_its_table_and_each_table_with_its_interval(
    report: NightReport, casino: Casino
) -> None:
    page = officer(casino, "ada").get(at(report), headers={"accept-language": "en"})
    shown = page.content.decode()
    assert shown.count('class="chart waterfall"') == 1
    assert [bar.name for bar in page.context["bars"]] == [
        *("Theoretical win", "Luck", "Payout errors", "Accounting variance", "Accounting win")
    ]
    tables = page.context["multiples"]
    assert tables.left_out == 0
    assert [(table["name"], table["is_counted"]) for table in tables.drawn] == [("C1", True), ("R1", True)]
    assert shown.count('class="chart interval"') == shown.count('class="chart win-line"') == 2
    assert shown.count("Show as table") == 2
    assert [step["css"] for step in page.context["steps"]] == ["was", "was", "on", "", ""]
    assert "style=" not in shown.split('<div class="night page">')[1], "no inline style"


def test_a_casino_stands_below_the_title_and_its_currency_only_where_it_has_several(
    report: NightReport, casino: Casino
) -> None:
    desk = officer(casino, "ada")
    month = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    pages = {at(report): "Night of Thursday 19 November", month: "November 2026"}

    def leads() -> list[str]:
        found = []
        for address, title in pages.items():
            shown = desk.get(address, headers={"accept-language": "en"}).content.decode()
            assert f"<h1>{title}</h1>" in shown
            assert f"<title>{title} · {casino} · Cabochon</title>" in shown
            found.append(shown.split('<p class="lead">')[1])
        return found

    assert all(each.startswith(f"{casino}. The ") for each in leads())
    record(casino, [{**each, "stream": f"{each['stream']}.CAD"} for each in session(casino, "Q1", currency="CAD")])
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert all(each.startswith(f"{casino} · EUR. The ") for each in leads())
    figure = desk.get(at(report, "figure", "luck"), headers={"accept-language": "en"}).content.decode()
    assert f'<p class="lead">{casino}</p>' in figure


def test_the_line_about_findings_says_how_many_are_open_as_the_list_does(report: NightReport, casino: Casino) -> None:
    page = officer(casino, "ada").get(at(report))
    (shown,) = [each for each in page.context["lines"] if each["number"] == 10]
    assert shown["exceptions"] == page.context["listings"][0]["listing"].count
    assert shown["verdict_text"] == f"{shown['exceptions']} open"
    content = load_content(report)
    (stored,) = [each for each in content["lines"] if each["code"] == "findings"]
    stored["rows"][0]["found"], others = 40, sum(each["found"] for each in stored["rows"][1:])
    facts = {"rule": "payout-put-right", "severity": "info", "hours": 0, "largest": []}
    stored["rows"].append({**stored["rows"][1], "verdict": "question", "found": 7, "facts": facts})
    exceptions = {line["code"]: page_of_night._exceptions(line, content) for line in LINES.rows(content)}
    assert exceptions["findings"] == director.listings(content)[0].count == 40 + others, (
        "of findings, not of their rules"
    )


def test_a_note_about_a_process_names_its_person_once_and_leads_to_it_by_the_id(report: NightReport) -> None:
    row: dict[str, Any] = {
        "note": "ledger_crossed",
        "table": "p9001",
        "stream": "",
        "kind": "text",
        "found": "16",
        "expected": "< 16",
    }
    row["facts"] = {"process": "late-luck", "subject": "p9001", "alpha": "1/16"}
    line = {"code": "chance", "verdict": "question", "rows": [row]}
    content = {"croupiers": [], "errors": [], "lines": [line]}
    Person.objects.create(casino=report.casino, kind="player", code="p9001", name="Bruno Keller")
    address = page_of_night._note_address(report, row, {})
    add_names(content, report.casino_id, for_page=True)
    with translation.override("en"):
        says = summary.remark(line, "EUR")
    assert says == "under review: Bruno Keller (Player: unexplained wins on late wagers)"
    assert page_of_night._note_address(report, row, {}) == address
    assert "q=p9001" in address


def test_the_nights_before_and_after_are_one_click_away(report: NightReport, casino: Casino) -> None:
    record(casino, session(casino, "R1", day=DAY.replace(day=18)))
    (before,) = runs.reconcile(casino, DAY.replace(day=18), actor="test", now=MORNING)
    desk = officer(casino, "ada")
    assert desk.get(at(report)).context["night_before"] == before
    assert desk.get(at(before)).context["night_after"] == report
    assert desk.get(at(report)).context["night_after"] is None


def test_a_month_shows_each_night_and_each_table_and_what_waits(report: NightReport, casino: Casino) -> None:
    address = reverse("admin:audit_nightreport_month", args=(casino.pk, 2026, 11, "EUR"))
    page = officer(casino, "ada").get(address, headers={"accept-language": "en"})
    marked = re.findall(r'<a class="(n|n sub)" href="[^"]*" aria-current="page">', page.content.decode())
    assert marked == ["n sub"], "the month, and not the nights that it stands under"
    days = [day for day in page.context["calendar"] if "number" in day]
    assert len(days) == 30
    (night,) = (day for day in days if "address" in day)
    assert (night["number"], night["address"], night["waits"]) == (DAY.day, at(report), "to sign")
    assert page.context["calendar"][:6] == [{"css": "out"}] * 6, "the first of November 2026 is a Sunday"
    squares = {row["name"]: [square["css"] for square in row["squares"]] for row in page.context["matrix"]}
    assert squares == {"C1": ["df"], "R1": ["df"]}
    content = report.parsed_content()
    for row in page.context["matrix"]:
        amounts = [each for each in (row["total"], row["errors"]) if each]
        assert amounts
        assert all(re.fullmatch(r"€[\d,]+\.\d\d", each) for each in amounts), "to the cent, so that they stand in line"
        assert page.context["croupiers"]
    assert all("p" not in row for row in page.context["croupiers"]), "a mark, and no number beside who has none"
    bridge = {each["label"]: each["amount"] for each in page.context["bridge"]}
    assert bridge[wording.FIGURES["accounting_win"]] == money(content["total"]["W_acct"], "EUR")
    assert f"{DAY:%Y-%m-%d}" not in re.sub(r"\S+\.\d{4}-\d\d-\d\d\.\S+", "", page.content.decode())


@pytest.mark.parametrize(
    ("role", "leads_there"),
    [(Role.OFFICER, True), pytest.param(Role.DIRECTOR, True, marks=pytest.mark.faults), (Role.AUDITOR, False)],
)
def test_a_session_that_is_still_open_leads_those_who_may_close_it_to_its_closing(
    idle: Casino, role: Role, leads_there: bool
) -> None:
    dead, ended = session(idle, "R1"), session(idle, "R2")
    assert dead[-1]["type"] == "session.closed"
    stream_id = record(idle, dead[:-1])
    record(idle, ended)
    (reconciled,) = runs.reconcile(idle, DAY, actor="test", now=MORNING)
    someone = Officer.objects.create_user(f"one-{role}", is_staff=True)
    Membership.objects.create(officer=someone, casino=idle, role=role)
    desk = Client()
    sign_in(desk, someone)
    page = desk.get(at(reconciled), headers={"accept-language": "en"}).content.decode()
    closing = reverse("admin:audit_loggedstream_closing", args=(stream_id,))
    linked = re.findall(r'<a href="([^"]*/closing/)">([^<]+)</a>', page)
    assert linked == ([(closing, "the session is not closed")] if leads_there else [])
    if leads_there:
        assert desk.get(closing).context["form"] is not None
