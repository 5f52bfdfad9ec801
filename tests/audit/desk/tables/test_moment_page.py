"""A table at a moment: who has what on the felt, the session's findings on its clock, and the way there by a clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.desk.tables.moment import moments_of
from audit.event_store import read
from audit.models import LoggedStream, Role
from audit.presentation import local
from settlement.codec import decode_one_stored
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def night() -> NamedNight:
    return NamedNight()


def table_page(night: NamedNight, seq: int) -> str:
    return reverse("admin:audit_loggedstream_table", args=(night.stream_id,)) + f"?at={seq}"


def test_a_clock_time_leads_to_the_event_that_stood_last_then(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    stream = LoggedStream.objects.get(pk=night.stream_id)
    event = decode_one_stored(read.slice_of(night.stream_id, after=59, limit=1)[0][1])
    clock = local(event.occurred_at, night.casino).time().replace(second=0, microsecond=0)
    assert stream.table is not None
    [moment] = moments_of([stream.table], clock, streams=LoggedStream.objects.all())
    at = reverse("admin:audit_loggedstream_at")
    answer = reader.get(at, {"table": stream.table_id, "clock": f"{clock:%H:%M}"})
    assert answer.url == moment.address  # type: ignore[attr-defined]
    assert f"Table A1 at {clock:%H:%M}" in reader.get(answer.url).content.decode()  # type: ignore[attr-defined]
    shut = reader.get(at, {"table": stream.table_id, "clock": f"{clock:%H:%M}", "day": "1999-01-01"}, follow=True)
    assert "A1 has no session on that day." in shut.content.decode()
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert stranger.get(at, {"table": stream.table_id, "clock": "20:00"}).status_code == 404
    assert reader.get(at, {"table": "x"}).status_code == 404


@pytest.mark.parametrize("is_before", [True, False])
def test_a_clock_time_at_which_the_table_was_closed_leads_to_the_nearer_end_and_says_so(
    night: NamedNight, is_before: bool
) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    stream = LoggedStream.objects.get(pk=night.stream_id)
    assert stream.table is not None
    last = read.next_seq_of(night.stream_id) - 1
    seq, away = (1, timedelta(minutes=-40)) if is_before else (last, timedelta(minutes=40))
    end = decode_one_stored(read.slice_of(night.stream_id, after=seq - 1, limit=1)[0][1]).occurred_at
    requested = local(end + away, night.casino)
    [moment] = moments_of([stream.table], requested.time(), streams=LoggedStream.objects.all())
    assert (moment.seq, moment.at, moment.is_open) == (seq, end, False)
    shown = reader.get(moment.address).content.decode()
    assert f"A1 was closed at {requested:%H:%M}." in shown
    assert f"Table A1 at {local(end, night.casino):%H:%M}" in shown


def test_the_page_names_who_has_money_on_the_felt_and_leads_to_the_findings(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    shown = reader.get(table_page(night, night.finding.seq - 1)).content.decode()
    assert f"/admin/audit/person/player/{night.casino.pk}/" in shown
    assert f"/admin/audit/finding/{night.finding.pk}/change/" in shown
    assert f'href="{table_page(night, night.finding.seq)}"' in shown
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor"))
    shown = auditor.get(table_page(night, night.finding.seq - 1)).content.decode()
    assert not any(name in shown for name in night.names)


def test_the_queries_of_the_page_are_bounded(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = table_page(night, night.finding.seq)
    reader.get(page)
    with CaptureQueriesContext(connection) as captured:
        assert reader.get(page).status_code == 200
    assert len(captured) < 40
    assert sum('FROM "audit_finding"' in each["sql"] for each in captured) <= 4
