"""*Record and proofs*: the months of the record where their events are, and what a restore has left."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit import monitoring
from audit.archive import months as archive_months
from audit.models import ArchivedMonth, LogEpoch, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

ARCHIVED = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


@pytest.fixture
def auditor(tenant: Tenant) -> Client:
    return client_of(hired(tenant, Role.AUDITOR, "vera"))


def text_of(client: Client, language: str = "en") -> str:
    response = client.get(reverse("admin:record_state"), headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def play(tenant: Tenant, *days: str) -> None:
    for day in days:
        assert tenant.post(f"s-{day}", [tenant.opener(f"s-{day}", gaming_day=day)]).status_code == 201


def archived(month: date, **more: Any) -> ArchivedMonth:
    low, high = archive_months.range_of(month)
    row = {"low": low, "high": high, "state": "archived", "file": f"cabochon-{month:%Y-%m}.ndjson.gz"}
    row |= {"digest": "0" * 64, "batches": 2, "events": 135, "note": "a note", "archived_at": ARCHIVED}
    return ArchivedMonth.objects.create(month=month, entry_stream="desk:2026-02-03", entry_seq=17, **row | more)


def test_the_newest_months_with_streams_are_found_and_each_counts_the_events_of_the_casinos(tenant: Tenant) -> None:
    play(tenant, "1992-03-01", "1992-03-31", "1992-04-01", "2010-11-24", "2026-10-05")
    other = Tenant()
    play(other, "1992-03-02")
    ids = [tenant.casino.pk]
    found = monitoring.months(ids, limit=3)
    assert [(month.first, month.events) for month in found] == [
        (date(1992, 4, 1), 1),
        (date(2010, 11, 1), 1),
        (date(2026, 10, 1), 1),
    ]
    assert monitoring.months(ids, limit=14)[0] == monitoring.MonthOfStreams(date(1992, 3, 1), 2)
    of_both = monitoring.months([*ids, other.casino.pk], limit=14)
    assert of_both[0] == monitoring.MonthOfStreams(date(1992, 3, 1), 3)
    assert monitoring.months([], limit=14) == []


@pytest.mark.superuser
def test_a_month_says_where_its_events_are(tenant: Tenant, auditor: Client) -> None:
    today = timezone.now().date()
    play(tenant, "1992-03-01", "1992-04-01", "1992-05-01", "2026-09-05", f"{today - timedelta(days=1)}")
    archived(date(1992, 3, 1), state="destroyed", destroyed_at=ARCHIVED, destruction_note="a note")
    archived(date(1992, 4, 1))
    archived(date(1992, 5, 1), state="attached")
    shown = auditor.get(reverse("admin:record_state")).context["months"]
    assert [month.words for month in shown][:4] == ["destroyed", "archived", "attached", "in the database"]
    assert shown[-1].state == "live"
    text = text_of(auditor)
    assert "Corrections Archive 3 Exports" in text
    assert "Apr 1992 archived cabochon-1992-04.ndjson.gz 135 3 Feb, 04:05 UTC 1 May 2002" in text
    assert "Mar 1992 destroyed entry 17 of desk:2026-02-03 135 3 Feb, 04:05 UTC May 1992" not in text
    assert "Mar 1992 destroyed entry 17 of desk:2026-02-03 135 3 Feb, 04:05 UTC" in text
    assert "An archived month is kept for 10 years after its end" in text
    french = text_of(auditor, "fr")
    assert "Mois conservés" in french
    assert "avr. 1992 archivé cabochon-1992-04.ndjson.gz" in french


def test_without_an_archive_the_page_says_how_one_is_made(auditor: Client) -> None:
    text = text_of(auditor)
    assert "No month is archived: every event is in the database." in text
    assert f"python manage.py archive --before {timezone.now():%Y-%m} --dry-run" in text
    assert "No table has sent anything yet." in text


@pytest.mark.superuser
def test_of_backups_the_page_says_what_it_cannot_see_and_of_a_recovery_what_it_knows(auditor: Client) -> None:
    text = text_of(auditor)
    assert "Backups are made outside Cabochon. It knows when one was noted" in text
    assert "Last recovery never" in text
    LogEpoch.objects.create(
        number=2, origin="cabochon.localhost/log/epoch-2", kept=120, forked_at=118, signed_size=180, note="a note",
        opened_at=ARCHIVED, entry_stream="desk:2026-02-03", entry_seq=17,
    )  # fmt: skip
    assert "Last recovery 3 Feb, 04:05 UTC 62 batches lost, entry 17 of desk:2026-02-03" in text_of(auditor)


@pytest.mark.superuser
def test_the_queries_do_not_grow_with_months_and_archives(
    tenant: Tenant, auditor: Client, django_assert_max_num_queries: Any
) -> None:
    play(tenant, "1992-03-01", "1992-04-01", "2026-09-05")
    for number in (3, 4):
        archived(date(1992, number, 1))
    seal()
    with django_assert_max_num_queries(70):  # two of them ask whether what is kept of the page still holds
        text_of(auditor)
