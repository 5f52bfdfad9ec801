"""No page, list or file that holds a part passes for the whole: it says how many there are, or gives nothing."""

from __future__ import annotations

import html
import io
import re
import zipfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

import audit.desk
from audit import monitoring
from audit.casework import session_closing
from audit.desk.nights.tables import build_first
from audit.exports.lists import MAX_PRINTED, render_list
from audit.exports.page_pdf import PagePdf, Part
from audit.exports.sheets import MAX_CELL, Column, Sheet, as_csv, workbook
from audit.models import (
    Alert,
    BatchKind,
    Casino,
    LedgerCursor,
    LedgerSetAside,
    Membership,
    Person,
    PersonKind,
    Role,
)
from audit.reconciliation.columns import Column as NightColumn
from audit.reconciliation.not_kept import lines_not_kept, not_kept_note
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_session_closing import DeadTable
from tests.audit.corrections.corrections_desk import CorrectionsDesk, finding_of
from tests.audit.desk.printed import words_of
from tests.audit.tables import Tenant, numbered

SETTINGS = "/admin/audit/"
FIND = "/admin/audit/finding/"


def page(client: Client, address: str, method: str = "get", **data: Any) -> str:
    """Return the text of a page in English."""
    answer = getattr(client, method)(address, data, follow=True, headers={"accept-language": "en"})
    assert answer.status_code == 200, address
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", answer.content.decode())).split())


@pytest.mark.django_db
def test_a_list_with_more_findings_than_a_file_has_is_no_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(desk.first)
    monkeypatch.setattr("audit.desk.findings.admin.MAX_ROWS", len(desk.findings))
    answer = client.post(f"{FIND}export/csv/")
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert int(answer.headers["Content-Length"]) == len(answer.content), "or a download cut off looks whole"
    monkeypatch.setattr("audit.desk.findings.admin.MAX_ROWS", 1)
    assert "The list has more than 1 findings" in page(client, f"{FIND}export/csv/", "post")


@pytest.mark.django_db
@pytest.mark.parametrize("query", [{"q": "Martin"}, {"player": "Martin"}])
def test_a_name_of_more_people_than_are_looked_up_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, query: dict[str, str]
) -> None:
    for code in ("p1", "p2"):
        Person.objects.create(casino=desk.tenant.casino, code=code, kind=PersonKind.PLAYER, name=f"{code} Martin")
    client = client_of(desk.first)
    assert "have such a name" not in page(client, FIND, **query)
    monkeypatch.setattr("audit.desk.findings.search.MAX_PERSONS", 1)
    assert "More than 1 people have such a name" in page(client, FIND, **query)


@pytest.mark.django_db
def test_to_approve_counts_every_proposal_and_says_how_many_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = DeadTable()
    other = numbered(dead.tenant.opener("other"), ("no_more_bets", {}))
    assert dead.tenant.post("other", other).status_code == 201
    dead.proposed()
    session_closing.propose(dead.officer, dead.tenant.stream("other"), float_minor=1, reason="gone, too")
    assert "The first" not in page(client_of(dead.second), "/admin/approve/")
    monkeypatch.setattr("audit.desk.approve.page.SHOWN", 1)
    shown = page(client_of(dead.second), "/admin/approve/")
    assert "Sessions to close 2 " in shown
    assert "The first 1 of 2." in shown


@pytest.mark.django_db
def test_groups_say_how_many_there_are(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The first" not in page(client_of(desk.first), f"{FIND}groups/")
    monkeypatch.setattr("audit.desk.findings.saved_views.MAX_GROUPS", 1)
    assert re.search(r"The first 1 of [2-9]\.", page(client_of(desk.first), f"{FIND}groups/"))


@pytest.mark.django_db
def test_a_correction_says_of_how_many_wagers_and_findings_it_shows_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = CorrectionsDesk()
    address = f"/admin/audit/correction/{finding_of(desk.session('s')).pk}/change/"
    whole = page(client_of(desk.second), address)
    assert "more wager" not in whole
    assert "The first" not in whole
    for name in ("WAGERS_SHOWN", "FINDINGS_SHOWN"):
        monkeypatch.setattr(f"audit.desk.corrections.page.{name}", 0)
    part = page(client_of(desk.second), address)
    assert re.search(r"The first 0 of [1-9]\.", part), part
    assert "1 more wager is in the sums." in part


@pytest.mark.parametrize(("most", "words"), [(2, ""), (1, "1 more are in the workbook.")])
def test_a_table_of_a_night_says_what_it_leaves_out(most: int, words: str) -> None:
    table = build_first([NightColumn("wager", "wager", "name")], [{"wager": "w1"}, {"wager": "w2"}], "EUR", most=most)
    shown = render_to_string("admin/audit/night/table.html", {"table": table})
    assert ("w2" in shown) == (most == 2)
    assert words in shown
    assert ("more are in" in shown) == bool(words)


@pytest.mark.django_db
def test_alerts_say_how_many_there_are(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("table-silent", "feed-behind"):
        Alert.objects.create(
            casino=desk.tenant.casino,
            table=desk.tenant.table,
            kind=kind,
            since=timezone.now(),
            opened_at=timezone.now(),
        )
    assert "The first" not in page(client_of(desk.first), "/admin/state/")
    monkeypatch.setattr("audit.desk.overview.alerts.MAX_ALERTS", 1)
    assert "The first 1 of 2." in page(client_of(desk.first), "/admin/state/")


@pytest.mark.django_db
def test_every_casino_can_be_chosen(desk: Desk) -> None:
    casinos = Casino.objects.bulk_create(
        Casino(code=f"many{n}", name=f"Casino {n}", time_zone="Europe/Paris") for n in range(60)
    )
    Membership.objects.bulk_create(Membership(officer=desk.first, casino=each, role=Role.OFFICER) for each in casinos)
    shown = client_of(desk.first).get("/admin/").content.decode()
    assert [n for n in range(60) if f">Casino {n}<" not in shown] == []


@pytest.mark.django_db
def test_the_list_of_streams_says_whether_there_are_more() -> None:
    tenant = Tenant()
    for name in ("one", "two"):
        assert tenant.post(name, [tenant.opener(name)]).status_code == 201
    answers = [tenant.ask(f"streams?limit={limit}").json() for limit in (1, 2)]
    assert [(len(each["streams"]), each["more"]) for each in answers] == [(1, True), (2, False)]


def test_a_text_that_a_cell_cannot_hold_ends_in_an_ellipsis_and_the_csv_has_it_whole() -> None:
    sheet = Sheet("s", [Column("words")], [["x" * MAX_CELL + "end"], ["y" * MAX_CELL]])
    with zipfile.ZipFile(io.BytesIO(workbook([sheet], "EUR", "t"))) as book:
        texts = book.read("xl/sharedStrings.xml").decode()
    assert "x…" in texts
    assert "y…" not in texts
    assert b"xend" in as_csv(sheet, "EUR")


def test_every_file_of_the_desk_is_whole_before_it_is_sent() -> None:
    """Django gives such an answer its Content-Length, and a stream none."""
    for path in Path(audit.desk.__path__[0]).rglob("*.py"):
        assert not re.search("StreamingHttpResponse|FileResponse", path.read_text()), path


def test_a_night_says_how_many_errors_and_stakes_its_report_does_not_keep() -> None:
    lines = [
        {"code": "payouts", "rows": [{"facts": {"errors": 2}}, {"facts": {"errors": 1}}]},
        {"code": "standing", "rows": [{"facts": {}}, {"facts": {"stakes": 1}}]},
    ]
    content: dict[str, Any] = {"errors": [{}], "standing": [{}], "lines": lines}
    says = "The report keeps the first 1 of 3. The workbook has no more of them."
    assert [not_kept_note(content, name) for name in ("errors", "standing", "croupiers")] == [says, "", ""]
    content["lines"] = [{"rows": [{}, {}], "left_off": 1}, {"rows": [{}], "left_off": 0}]
    says = "The report keeps the first 3 of 4. The workbook has no more of them."
    assert [not_kept_note(content, "lines"), lines_not_kept(content["lines"][1:])] == [says, ""]


LONG = " ".join(["words"] * 400)
"""A text of a cell that is printed on a good part of a sheet."""


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (1_000, ""),
        (1_001, "1 further row"),
        pytest.param(1_234, "234 further rows", marks=pytest.mark.faults),
    ],
)
def test_a_paper_has_every_row_once_across_its_sheets_and_says_how_many_it_leaves_out(rows: int, says: str) -> None:
    written = [[f"row{number}", LONG if number % 90 == 7 else "short"] for number in range(rows)]
    listed = render_list(
        Sheet("s", [Column("Code"), Column("Words")], written), "pdf", title="t", filters=["f"], day=date(2026, 11, 19)
    )[1]
    paged = PagePdf("h", "s", "n", date(2026, 11, 19), parts=[Part("p", ["Code", "Words"], written)]).render()
    for paper in (listed, paged):
        words = words_of(paper)
        assert re.findall(r"\brow\d+\b", words) == [f"row{number}" for number in range(min(rows, MAX_PRINTED))]
        assert words.split().count("words") == 400 * sum(number % 90 == 7 for number in range(min(rows, MAX_PRINTED)))
        assert re.findall(r"\d+ further rows?", words) == ([says] if says else [])
    assert f"{rows:,} rows".replace(",", "") in words_of(listed).replace(",", "")


@pytest.mark.django_db
def test_the_settings_count_silent_tables_and_keys_to_renew_among_all(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.tenant.key.expires_at = timezone.now() + timedelta(days=1)
    desk.tenant.key.save()
    monkeypatch.setattr(monitoring, "silent_since", lambda *_: timezone.now())
    monkeypatch.setattr("audit.desk.settings.page.SHOWN", 0)
    shown = page(client_of(desk.administrator), SETTINGS)
    assert "1 to renew" in shown
    assert "1 silent" not in shown, "an administrator does not see the record"
    Membership.objects.create(officer=desk.administrator, casino=desk.tenant.casino, role=Role.OFFICER)
    assert "1 silent" in page(client_of(desk.administrator), SETTINGS)


@pytest.mark.django_db
def test_the_overview_says_how_many_tables_it_shows_and_the_state_shows_all(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "The first" not in page(client_of(desk.first), "/admin/")
    monkeypatch.setattr("audit.desk.overview.feed.MAX_TABLES", 0)
    assert "The first 0 of 1." in page(client_of(desk.first), "/admin/")
    state = client_of(desk.first).get("/admin/state/")
    assert [each.table for each in state.context["feeds"]] == [desk.tenant.table.code]


@pytest.mark.django_db
def test_the_search_says_that_there_are_more_results(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in ("p1", "p2"):
        Person.objects.create(casino=desk.tenant.casino, code=code, kind=PersonKind.PLAYER, name=f"{code} Martin")
    client = client_of(desk.first)
    search = reverse("admin:palette")
    assert "There are more" not in page(client, search, q="Martin")
    monkeypatch.setattr("audit.desk.palette.results.SHOWN", 1)
    shown = page(client, search, q="Martin")
    assert shown.count("There are more. Type another word.") == 1
    assert ("p1" in shown, "p2" in shown) == (True, False)
    assert "There are more" in page(client, search, q=desk.tenant.table.code), "findings of a table"


@pytest.mark.django_db
def test_the_page_of_a_person_says_how_many_incidents_there_are(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = next(each for each in desk.findings if each.player and each.case_id)
    address = reverse("admin:audit_person_player", args=(finding.casino_id, finding.player))
    address += f"?month={finding.gaming_day:%Y-%m}"
    assert "The first" not in page(client_of(desk.first), address)
    monkeypatch.setattr("audit.desk.persons.concerning.ROWS", 0)
    assert re.search(r"The first 0 of [1-9]", page(client_of(desk.first), address))


@pytest.mark.django_db
def test_the_questions_say_how_many_batches_are_set_aside(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    casino, today = desk.tenant.casino, timezone.now()
    LedgerCursor.objects.update_or_create(casino=casino, defaults={"year": today.year})
    for currency in ("EUR", "CAD"):
        LedgerSetAside.objects.create(
            casino=casino,
            error="no",
            next_try_at=today,
            kind=BatchKind.PAYOUTS,
            gaming_day=today.date(),
            currency=currency,
        )
    address = reverse("admin:audit_ledgerprocess_changelist")
    assert "The first" not in page(client_of(desk.first), address)
    monkeypatch.setattr("audit.desk.ledger.list_page.SHOWN", 1)
    assert "The first 1 of 2." in page(client_of(desk.first), address)
