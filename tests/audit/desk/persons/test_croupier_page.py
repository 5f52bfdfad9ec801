"""The page of a croupier: what the month's nights and findings say, scoped, with names only for who may see them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from audit.desk.persons.concerning import concerning
from audit.event_store import audit_trail
from audit.ledger import feeding
from audit.models import Finding, LedgerPoint, LedgerProcess, LedgerQuestion, Person, Role
from audit.presentation import duration
from audit.reconciliation import content
from audit.reconciliation.checks import in_millionths
from audit.reconciliation.month import month_of
from audit.reconciliation.wording import per_thousand
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.desk.printed import words_of
from tests.audit.reconciliation.played import DAY
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

MONTH = f"{DAY:%Y-%m}"


def address(night: NamedNight, code: str, month: str = MONTH) -> str:
    return reverse("admin:audit_person_croupier", args=(night.casino.pk, code)) + f"?month={month}"


def test_the_page_has_the_rate_of_the_month_and_leads_to_all_findings_of_the_croupier(night: NamedNight) -> None:
    code = night.finding.croupier
    shown = client_of(hired(night.tenant, Role.OFFICER, "reader")).get(address(night, code)).content.decode()
    own = month_of(night.casino, DAY.replace(day=1), night.report.currency).croupiers[code]
    assert f'<div class="v">{per_thousand(in_millionths(own.rate.rate))}</div>' in shown
    assert Person.objects.get(casino=night.casino, code=code, kind="croupier").name in shown
    assert "A question is not an accusation" in shown
    mine = Finding.objects.standing().filter(casino=night.casino, croupier=code)
    assert f"All {mine.count()}" in shown
    assert f"/admin/audit/finding/?croupier={code}&amp;month={MONTH}" in shown


def test_the_list_that_it_leads_to_holds_the_findings_of_that_croupier_and_month_alone(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    code = night.finding.croupier

    def listed(query: str) -> set[int]:
        page = reader.get(f"/admin/audit/finding/?{query}&all=").content.decode()
        return set(map(int, re.findall(r"/admin/audit/finding/(\d+)/change/", page)))

    assert night.finding.pk in listed(f"croupier={code}&month={MONTH}")
    assert not listed(f"croupier=somebody-else&month={MONTH}")
    assert not listed(f"croupier={code}&month=1999-01")
    assert not listed(f"player=nobody&month={MONTH}")
    assert night.finding.pk in listed("month=no-month"), "what is not a month narrows nothing"


def test_without_names_ids_alone_and_nothing_of_another_casino(night: NamedNight) -> None:
    code = night.finding.croupier
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor")).get(address(night, code)).content.decode()
    assert f"<h1>{code}</h1>" in auditor
    assert not any(name in auditor for name in night.names)
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert stranger.get(address(night, code)).status_code == 404


def test_a_month_without_anything_says_so_and_whatever_the_address_says_it_opens(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    shown = reader.get(address(night, "nobody/here", "1999-01")).content.decode()
    assert "No payouts are known for this month." in shown
    assert "No finding of this month concerns this person." in shown
    assert reader.get(address(night, night.finding.croupier, "2026-13x")).status_code == 200


def test_a_sum_adds_up_claims_wherever_in_an_incident_they_stand(night: NamedNight) -> None:
    code = night.finding.croupier
    found = concerning(night.casino, "croupier", code, DAY.replace(day=1))
    mine = Finding.objects.standing().filter(casino=night.casino, croupier=code, owed__isnull=False)
    total = sum(each.owed["amount"] for each in mine.exclude(severity="info"))
    assert sum(found.sums.values()) == total > 0
    found.found = [replace(each, is_head=False) for each in found.found]
    assert sum(found.sums.values()) == total


def test_the_list_has_one_line_for_each_incident_and_says_how_many_findings_have_none(night: NamedNight) -> None:
    code = night.finding.croupier
    shown = client_of(hired(night.tenant, Role.OFFICER, "reader")).get(address(night, code)).content.decode()
    mine = Finding.objects.standing().filter(casino=night.casino, croupier=code)
    incidents = mine.exclude(case=None).values("case").distinct().count()
    for_information = mine.filter(case=None).count()
    assert incidents
    assert len(re.findall(r'<tr><td class="pr">', shown)) == incidents
    found = concerning(night.casino, "croupier", code, DAY.replace(day=1))
    assert len(found.incidents()) == incidents
    assert found.for_information == for_information
    assert ("for information, without a case" in shown) == bool(for_information)


def test_findings_without_a_case_are_no_pattern_and_do_not_bury_the_incidents(night: NamedNight) -> None:
    found = concerning(night.casino, "croupier", night.finding.croupier, DAY.replace(day=1))
    incident = next(each for each in found.found if each.is_head)
    corrected = replace(incident, rule="entry-corrected", is_head=False, is_open=False, case_id=None, side="")
    found.found = [incident, *[replace(corrected, pk=-number) for number in range(1, 60)]]
    assert found.pattern() is None
    assert found.incidents() == [incident]
    assert found.for_information == 59
    others = [replace(incident, pk=-number, case_id=-number) for number in (1, 2)]
    found.found += others
    pattern = found.pattern()
    assert pattern is not None
    assert (pattern.count, pattern.of) == (3, 3)


def test_questions_of_chance_name_whom_they_are_about_to_who_may_see_names(night: NamedNight) -> None:
    code = night.finding.croupier
    feeding.feed(night.casino)
    about = LedgerProcess.objects.filter(casino=night.casino, subject=code)
    reader = client_of(hired(night.tenant, Role.OFFICER, "before"))
    without = reader.get(address(night, code))
    assert not without.context["processes"], "without a question there is no number"
    assert f"{without.context['tests_without']} tests raise no question." in without.content.decode()
    assert without.context["tests_without"] >= about.count() > 0
    point = LedgerPoint.objects.filter(process__in=about).select_related("process").latest("pk")
    LedgerQuestion.objects.create(
        process=point.process, batch_id=point.batch_id, year=point.process.year, alpha=point.process.alpha,
        draws=1, evidence=5_000, finding_id=night.finding.pk,
    )  # fmt: skip
    shown = client_of(hired(night.tenant, Role.OFFICER, "reader")).get(address(night, code)).content.decode()
    (questions,) = re.findall(r'<ul class="questions">(.*?)</ul>', shown, re.DOTALL)
    name = Person.objects.get(casino=night.casino, code=code, kind="croupier").name
    assert f">{escape(name)}</a>" in questions
    assert re.search(r'<b class="b">[^<]+</b> <span class="dim small">of [^<]+</span>', questions), "of its level"
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor")).get(address(night, code)).content.decode()
    assert f">{code}</a>" in auditor
    assert not any(each in auditor for each in night.names)


def test_the_queries_of_the_page_do_not_grow_with_the_findings(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = address(night, night.finding.croupier)
    empty = address(night, night.finding.croupier, "1999-01")
    reader.get(page)
    with CaptureQueriesContext(connection) as without:
        reader.get(empty)
    with CaptureQueriesContext(connection) as full:
        reader.get(page)
    assert len(full) <= len(without) + 5


def dealt_in(night: NamedNight, code: str) -> list[dict[str, Any]]:
    return [
        each for row in night.report.parsed_content()["croupiers"] if row["croupier"] == code for each in row["dealt"]
    ]


def test_the_tables_dealt_have_the_hours_and_coups_of_the_nights_reports(night: NamedNight) -> None:
    code = night.finding.croupier
    shown = client_of(hired(night.tenant, Role.OFFICER, "reader")).get(address(night, code)).content.decode()
    section = shown[shown.index('id="dealt"') :]
    assert "Wrong payouts</th>" in section, "a payout that is missing is a finding, and none of these"
    assert "Wrong payouts in 1,000" in shown
    section = section[: section.index("</section>")]
    rows = dealt_in(night, code)
    assert rows
    for row in rows:
        assert f'<b class="b">{row["table"]}</b>' in section
        assert re.search(rf'<td class="num" [^>]*>{row["coups"]}</td>', section)
        assert duration(row["seconds"]) in section
    coups = sum(row["coups"] for row in rows)
    assert re.search(rf"1 night, [^,]+, {coups} coups?, [\d,]+ payouts?\. <span", shown)


def test_a_report_of_before_duty_was_noted_says_so_and_counts_no_hours(
    night: NamedNight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "dealt_of", lambda night: {})
    code = night.finding.croupier
    before = NamedNight()
    shown = client_of(hired(before.tenant, Role.OFFICER, "reader")).get(address(before, code)).content.decode()
    assert "they were made before that was noted" in shown
    assert re.search(r"1 night, \d+ payouts?", shown)


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.faults), "fr"])
def test_the_month_of_a_croupier_is_a_pdf_and_an_entry_of_the_trail(night: NamedNight, language: str) -> None:
    reader, code = client_of(hired(night.tenant, Role.OFFICER, "reader")), night.finding.croupier
    answer = reader.get(address(night, code) + "&file=pdf", headers={"accept-language": language})
    assert answer["Content-Type"] == "application/pdf"
    assert f"person-{night.casino.code}-" in answer["Content-Disposition"]
    printed = words_of(answer.content)
    name = Person.objects.get(casino=night.casino, code=code, kind="croupier").name
    titles = {"en": ("Against colleagues", "Tables dealt"), "fr": ("Par rapport aux collègues", "Tables tenues")}
    for words in (name, *titles[language]):
        assert words in printed
    types = [each.type for each in audit_trail.entries_of(night.casino.pk, datetime.now(UTC).date())]
    assert "person.exported" in types
    assert "person.viewed" not in types
