"""The palette: what is typed leads to a moment, a finding, a person, a night, a rule or a page, at one’s casinos."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Finding, FindingStatus, GamingTable, Membership, Person, PersonKind, Role
from audit.presentation import date_time, reference
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found as found_again
from tests.audit.tables import Tenant
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def found(client: Client, typed: str, language: str = "en") -> dict[str, list[tuple[str, str]]]:
    """Return the results by group: each with its words, without marks, and its address."""
    page = client.get("/admin/search/", {"q": typed, "part": "1"}, headers={"accept-language": language})
    assert page.status_code == 200, typed
    groups: dict[str, list[tuple[str, str]]] = {}
    for title, results in re.findall(r"<h3>([^<]*)</h3>(.*?)(?=<h3>|\Z)", page.content.decode(), re.DOTALL):
        links = re.findall(r'<a href="([^"]*)">(.*?)</a>', results, re.DOTALL)
        groups[title] = [(words_of(text), unescape(to)) for to, text in links]
    return groups


def words_of(result: str) -> str:
    """Return what a result says: its title, and after a bar what stands below."""
    title = result[result.index("<span>") : result.rindex("</span>") if "</small>" in result else None]
    return unescape(re.sub(r"<[^>]*>", "", title.replace("<small>", " | "))).strip()


def test_a_reference_leads_to_its_finding_and_to_no_other(desk: Desk) -> None:
    finding = desk.findings[0]
    name = reference(finding)
    [(words, address)] = found(client_of(desk.first), name.lower())["Findings"]
    assert address == f"/admin/audit/finding/{finding.pk}/change/"
    assert name in words
    other_year = f"{name[:4]}{int(name[4:6]) - 1:02}{name[6:]}"
    assert "Findings" not in found(client_of(desk.first), other_year)


def test_a_reference_is_of_one_casino_however_many_an_officer_sees(desk: Desk) -> None:
    other = Desk()
    Membership.objects.create(officer=desk.first, casino=other.tenant.casino, role=Role.OFFICER)
    for each in (desk, other):
        [(_words, address)] = found(client_of(desk.first), reference(each.findings[0]))["Findings"]
        assert address == f"/admin/audit/finding/{each.findings[0].pk}/change/"


def test_a_printed_reference_without_a_code_leads_to_one_finding_at_each_casino_that_has_it(desk: Desk) -> None:
    other = Desk()
    findings = Finding.objects.filter(pk__in=[each.findings[0].pk for each in (desk, other)])
    with without_triggers():
        findings.update(reference_code="")
    name, same = map(reference, findings)
    assert name == same == f"F-{findings[0].year % 100}-0001"
    assert len(found(client_of(desk.first), name)["Findings"]) == 1
    Membership.objects.create(officer=desk.first, casino=other.tenant.casino, role=Role.OFFICER)
    of_both = found(client_of(desk.first), name)["Findings"]
    assert {address for _words, address in of_both} == {
        f"/admin/audit/finding/{each.findings[0].pk}/change/" for each in (desk, other)
    }
    assert {str(each.tenant.casino) in " ".join(words for words, _to in of_both) for each in (desk, other)} == {True}


def test_a_finding_says_no_amount_where_nothing_is_missing_and_its_time_stays_on_one_line(desk: Desk) -> None:
    finding = found_again(desk, "minor", rule="payout-put-right", euros=0)
    (words,) = (
        words
        for words, address in found(client_of(desk.first), reference(finding))["Findings"]
        if f"/{finding.pk}/" in address
    )
    when = date_time(finding.occurred_at, desk.tenant.casino)
    assert words.partition(" | ")[2].startswith(f"put right · {reference(finding)} · ")
    assert " · " + when.replace(" ", "\N{NO-BREAK SPACE}") in words


def test_a_reference_that_was_printed_leads_to_its_finding_when_that_is_superseded(desk: Desk) -> None:
    finding = desk.findings[0]
    with without_triggers():
        Finding.objects.filter(pk=finding.pk).update(status=FindingStatus.SUPERSEDED, superseded_at=timezone.now())
    [(words, address)] = found(client_of(desk.first), reference(finding))["Findings"]
    assert address == f"/admin/audit/finding/{finding.pk}/change/"
    assert words.endswith("superseded")
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    assert "Findings" not in found(stranger, reference(finding))


def test_a_finding_of_another_casino_is_not_found_by_its_reference(desk: Desk) -> None:
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    assert "Findings" not in found(stranger, reference(desk.findings[0]))


def test_a_table_and_a_clock_time_lead_to_that_moment(desk: Desk) -> None:
    stream, client = desk.findings[0].stream, client_of(desk.first)
    for typed in ("t1 20:00", "T1 at 20:00", "T1 à 20h00", "t1 2026-11-19 20:00", "t1 19 nov 2026 20:00"):
        [(words, address)] = found(client, typed)["A moment"]
        assert words.startswith("Table T1 at 19 Nov, 20:00 CET"), typed
        assert address.startswith(f"/admin/audit/loggedstream/{stream.pk}/table/?at="), typed
    assert client.get(address).status_code == 200


def test_a_clock_time_before_the_opening_leads_to_the_nearest_moment_and_says_that_it_was_closed(desk: Desk) -> None:
    [(words, address)] = found(client_of(desk.first), "t1 03:12")["A moment"]
    assert "closed at 03:12" in words
    assert address.endswith("&clock=03:12")


@pytest.mark.parametrize(
    "typed", ["t1 2026-11-18 20:00", "t9 20:00", pytest.param("t1 99:99", marks=pytest.mark.faults)]
)
def test_a_moment_of_a_day_without_a_session_or_of_no_table_is_not_offered(desk: Desk, typed: str) -> None:
    assert "A moment" not in found(client_of(desk.first), typed)


def test_a_person_is_found_by_a_part_of_the_name_by_who_may_see_names(desk: Desk) -> None:
    Person.objects.create(casino=desk.tenant.casino, code="p77", kind=PersonKind.PLAYER, name="Bruno <Keller>")
    [(words, address)] = found(client_of(desk.first), "KELL")["People"]
    assert words == f"Bruno <Keller> | player · p77 · {desk.tenant.casino}"
    assert "p77" in address
    assert "People" not in found(client_of(desk.auditor), "KELL")


def test_a_table_is_found_by_what_the_casino_calls_it_and_the_list_says_so(desk: Desk) -> None:
    table = desk.findings[0].table
    assert table is not None
    GamingTable.objects.filter(pk=table.pk).update(name="Roulette by the window")
    client = client_of(desk.first)
    [(words, address)] = found(client, "window")["Tables"]
    assert words == f"Table {table.code} | Roulette by the window · {desk.tenant.casino}"
    assert f"{table.code} · Roulette by the window</a>" in client.get(address).content.decode()
    assert "Tables" in found(client, f"{table.code} zzz"), "a code is enough"
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    assert "Tables" not in found(stranger, "window")


def test_a_table_code_leads_to_its_sessions_at_ones_own_casinos_alone(desk: Desk) -> None:
    other = Tenant()
    GamingTable.objects.create(casino=other.casino, code="Z9")
    assert "Tables" not in found(client_of(desk.first), "z9")
    own = found(client_of(desk.first), "t1")
    assert [words for words, _to in own["Tables"]] == [f"Table T1 | {desk.tenant.casino}"]
    assert own["Findings"], "those of the table"


@pytest.mark.parametrize(
    ("language", "typed", "title"),
    [
        pytest.param("en", "overpaid", "Rules", marks=pytest.mark.faults),
        ("fr", "regle", "Règles"),
        ("en", "55-7", "Rules"),
    ],
)
def test_rules_are_found_by_words_of_their_title_and_by_article(
    desk: Desk, language: str, typed: str, title: str
) -> None:
    groups = found(client_of(desk.first), typed, language)
    assert groups[title if title in groups else "Aller à"], groups


def test_pages_are_found_in_the_language_of_the_officer_and_without_accents(desk: Desk) -> None:
    client = client_of(desk.first)
    assert ("Réglages", "/admin/audit/") in found(client, "reglages", "fr")["Aller à"]
    assert found(client, "")["Go to"][0] == ("Overview", "/admin/")


def test_whatever_is_typed_is_answered_and_escaped(desk: Desk) -> None:
    client = client_of(desk.first)
    for typed in ("\0", "'; drop table", "<script>", "F-99-999999999999", "%", "r" * 5000, "٢٣:٤١", "31 feb 2026"):
        page = client.get("/admin/search/", {"q": typed})
        assert page.status_code in (200, 400), typed
        shown = page.content.decode().replace("<script src", "").replace('<script type="application/json"', "")
        assert "<script>" not in shown, typed


@pytest.mark.parametrize("kinds", [1, pytest.param(3, marks=pytest.mark.faults)])
def test_a_list_answers_a_search_of_any_length(desk: Desk, kinds: int) -> None:
    """The short form types a kind of text into each list in turn."""
    client = client_of(desk.first)
    for number, listed in enumerate(
        ("finding", "person", "loggedstream", "nightreport", "ledgerprocess", "complaint", "paymentorder")
    ):
        for kind in range(number, number + kinds):
            typed = ("r" * 5_000, "r " * 2_500, "é" * 5_000)[kind % 3]
            page = client.get(f"/admin/audit/{listed}/", {"q": typed}, follow=True)
            assert page.status_code == 200, listed
            assert 'id="changelist"' in page.content.decode(), listed


def test_the_queries_do_not_grow_with_what_is_found(desk: Desk) -> None:
    client = client_of(desk.first)

    def queries(typed: str) -> int:
        found(client, typed)
        with CaptureQueriesContext(connection) as captured:
            found(client, typed)
        return len(captured)

    queries("martin t1")
    for number in range(30):
        Person.objects.create(
            casino=desk.tenant.casino, code=f"m{number}", kind=PersonKind.PLAYER, name=f"Martin {number}"
        )
        if number == 1:
            before = queries("martin t1")
    assert queries("martin t1") == before <= 16
