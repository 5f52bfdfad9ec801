"""The officers' trail says in words, in both languages, whatever the code can write into it."""

from __future__ import annotations

import inspect
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from audit.access import casino_settings
from audit.desk.audit_trail import words
from audit.event_store import audit_trail
from audit.jobs.queue import AUDITED_PARAMS
from audit.models import Officer, Role, RunCause
from audit.reconciliation.versions import needs_of
from audit.transparency.kept_findings import KEPT
from settlement.catalogue import RULES
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.audit_trail.written_entries import written
from tests.audit.tables import Tenant

FROM_EARLIER_VERSIONS = {"case.payment_ordered", "membership.added", "membership.changed"}
"""Types that no code writes any more, and that the trail of a casino may have: ``verify`` reads them."""


def test_every_action_that_the_code_can_write_has_words() -> None:
    types, _names = written()
    assert {"night.reserved", "case.taken", "officer.role_declined", "log.destroyed"} <= types, "the reader is blind"
    assert sorted(types - words.ACTIONS.keys()) == [], "without words"
    assert sorted(words.ACTIONS.keys() - types - FROM_EARLIER_VERSIONS) == [], "nothing writes them any more"


def test_whom_an_entry_is_about_is_called_a_person() -> None:
    with translation.override("fr"):
        assert words.name("person.changed", "named") == "personne"
        assert words.name("casino.changed", "named") != "personne"


def test_every_name_of_data_that_the_code_can_write_has_words() -> None:
    _types, names = written()
    of_settings = {*casino_settings._OF_CASINO, *casino_settings._OF_TABLE, *AUDITED_PARAMS}
    assert {"gaming_day", "proposed_by", "ended_by"} <= names, "the reader is blind"
    assert sorted((names | of_settings) - words.NAMES.keys()) == [], "without words"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_words_are_a_code_and_no_two_actions_read_alike(language: str) -> None:
    with translation.override(language):
        actions = {type: words.action(type) for type in words.ACTIONS}
        names = {name: words.name(*name.rpartition(".")[::2]) for name in words.NAMES}
        codes = [str(each) for codes in words.CODES.values() for each in codes.values()]
    for text in (*actions.values(), *names.values(), *codes):
        assert not re.search(r"\w[._]\w", text), text
    assert len({*actions.values()}) == len(actions)


def test_french_is_not_english() -> None:
    english = {type: words.action(type) for type in words.ACTIONS}
    with translation.override("fr"):
        assert [type for type in words.ACTIONS if words.action(type) == english[type]] == []


def test_a_word_of_an_earlier_version_is_shown_as_it_was_recorded() -> None:
    assert words.action("beside.started") == "beside.started"
    assert words.name("beside.started", "old_word") == "old word"


@pytest.mark.parametrize(
    ("type", "datum", "recorded", "shown"),
    [
        ("night.reserved", "code", "count-missing", "a count is missing"),
        ("night.signature_refused", "code", "another-officer", "The second signature must be another officer’s."),
        ("casino.added", "code", "closed", "closed"),
        ("case.proposed", "about", "mistaken", "mistaken"),
        ("case.proposed", "rule", "payout-missing", "Payout missing"),
        ("membership.given", "role", "second", "second officer"),
        ("key.made", "scopes", "events:write", "record events"),
        ("webhook.created", "severities", "info", "information"),
        ("session.adjudicated", "cause", "register", "change to the register"),
        ("work.ended", "state", "done", "done"),
        ("register.proposed", "reading", "payout_unit", "Payout unit"),
        ("casino.changed", "is_sandbox", "0", "no"),
        ("nightsubscriber.changed", "fields", "receives_reports", "receives the nights"),
        ("deadline.changed", "fields", "nothing_of_it", "nothing of it"),
        ("night.exported", "form", "pdf", "PDF"),
    ],
)
def test_a_code_is_said_in_words(type: str, datum: str, recorded: str, shown: str) -> None:
    assert words.code(type, datum, recorded) == shown


def test_every_rule_and_every_shortcoming_of_a_night_has_words() -> None:
    assert {rule for rule in RULES if words.code("case.taken", "rule", rule) == rule} == set()
    needed = set(re.findall(r'"([a-z-]+)":', inspect.getsource(needs_of)))
    assert len(needed) == 5
    assert {code for code in needed if words.code("night.reserved", "code", code) == code} == set()
    assert {*RunCause.values} == {*words.CODES["cause"]}


@pytest.mark.django_db
class TestThePage:
    """What an auditor reads of a day."""

    def entered(self, type: str, data: dict[str, Any], language: str = "en", query: str = "") -> str:
        tenant = Tenant()
        audit_trail.record("anna", type, casino_id=tenant.casino.pk, data=data, reason="the box was sealed")
        client = client_of(hired(tenant, Role.AUDITOR, "vera"))
        page = client.get(f"/admin/audit-trail/{query}", headers={"accept-language": language})
        assert page.status_code == 200
        return " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())

    def test_an_exception_for_a_night_reads_as_a_sentence(self) -> None:
        data = {
            "gaming_day": "2026-11-19",
            "currency": "EUR",
            "version": 2,
            "code": "count-missing",
            "digest": "ab" * 32,
        }
        text = self.entered("night.reserved", data)
        assert "anna signed a sign-off exception for a night gaming day: 19 Nov · currency: EUR · version: 2" in text
        assert "shortcoming: a count is missing" in text
        assert "count-missing" not in text
        assert "night.reserved" not in text
        assert "the box was sealed" in text

    def test_it_reads_so_in_french(self) -> None:
        text = self.entered("night.reserved", {"gaming_day": "2026-11-19", "code": "count-missing"}, "fr")
        assert "anna a visé une réserve sur une nuit journée de jeu : 19 nov. · défaut : une comptée manque" in text

    def test_readings_a_month_and_yes_or_no_are_said(self) -> None:
        data = {"readings": {"payout_unit": 100}, "month": "2026-10", "is_sandbox": 1, "everybody": True}
        assert "month: Oct 2026 · readings: Payout unit 100 · everybody: yes · sandbox: yes" in self.entered(
            "casino.added", data
        )

    def test_settings_are_in_the_language_of_the_page_and_nothing_stands_twice(self) -> None:
        data: dict[str, Any] = {
            "id": 3,
            "named": "Casino du lac",
            "code": "lac",
            "name": "Casino du lac",
            "cutoff": "06:00:00",
        }
        data |= {"priority_threshold": "1250.50", "false_questions": "1.00"}
        text = self.entered("casino.added", data, "fr")
        for shown in ("1 250,50", "1,00", "06:00 ·"):
            assert shown in text
        for recorded in ("1.00", "06:00:00", "id"):
            assert not re.search(rf"(?<!\w){re.escape(recorded)}(?!\w)", text), recorded
        assert text.count("Casino du lac") == 1

    def test_an_entry_that_nothing_else_identifies_keeps_its_number(self) -> None:
        assert "event: 5 · id: 41" in self.entered("finding.viewed", {"id": 41, "seq": 5})

    def test_officers_are_called_by_their_names_with_one_query_and_two_of_a_name_by_their_accounts_too(self) -> None:
        tenant = Tenant()
        client = client_of(hired(tenant, Role.AUDITOR, "vera"))
        for account, name in (("c.moreau", "Claire"), ("p.moreau", "Paul"), ("p.moreau2", "Paul")):
            Officer.objects.create_user(account, first_name=name, last_name="Moreau")
        casino = tenant.casino.pk
        audit_trail.record("c.moreau", "case.taken", casino_id=casino, data={"case": 1})
        audit_trail.record("p.moreau", "case.assigned", casino_id=casino, data={"officer": "c.moreau"})
        client.get("/admin/audit-trail/")  # fills what later pages find in caches

        def page() -> tuple[str, int]:
            with CaptureQueriesContext(connection) as captured:
                shown = client.get("/admin/audit-trail/", headers={"accept-language": "en"}).content.decode()
            return shown, len(captured)

        before, queries = page()
        assert '<td title="c.moreau">Claire Moreau</td>' in before
        assert '<td title="p.moreau">Paul Moreau</td>' in before
        assert '<option value="c.moreau">Claire Moreau</option>' in before
        assert "officer: Claire Moreau" in before
        audit_trail.record("p.moreau2", "case.released", casino_id=casino, data={"case": 1, "to": ["p.moreau"]})
        after, with_more = page()
        assert with_more == queries
        assert '<td title="p.moreau2">Paul Moreau (p.moreau2)</td>' in after
        assert "to: Paul Moreau (p.moreau)" in after
        files = {
            format: b"".join(client.post(f"/admin/audit-trail/export/{format}/")).decode() for format in ("csv", "json")
        }
        for text in files.values():
            assert "c.moreau" in text
            assert "Moreau" not in text, "a machine reads the account"
        assert client.get("/admin/audit-trail/?actor=%00").status_code in (200, 400)

    def test_entries_that_nobody_made_are_counted_where_they_are_left_out(self) -> None:
        tenant = Tenant()
        client = client_of(hired(tenant, Role.AUDITOR, "vera"))

        def words(query: str = "") -> str:
            return client.get(f"/admin/audit-trail/{query}", headers={"accept-language": "en"}).content.decode()

        assert "of the record itself" not in words()
        audit_trail.record("system", KEPT, casino_id=tenant.casino.pk, data={"findings": 1})
        assert "1 entry of the record itself is not shown." in words()
        audit_trail.record("system", KEPT, casino_id=tenant.casino.pk, data={"findings": 2})
        assert "2 entries of the record itself are not shown." in words()
        assert "of the record itself" not in words("?type=finding")

    def test_the_lists_say_who_was_there_and_what_it_can_be_narrowed_to(self) -> None:
        text = self.entered("night.reserved", {}, query="?type=night.&actor=nobody")
        assert "everybody anna nobody" in text
        assert "everything Cases Findings Complaints" in text
        assert "No entries on this day." in text

    def test_a_type_of_an_address_that_is_in_no_list_stays_chosen(self) -> None:
        assert "everything Signed a sign-off exception for a night Cases" in self.entered(
            "night.reserved", {}, query="?type=night.reserved"
        )

    def test_a_day_without_entries_is_open(self) -> None:
        yesterday = timezone.now().date() - timedelta(days=1)
        assert "No entries on this day." in self.entered("night.reserved", {}, query=f"?day={yesterday}")
