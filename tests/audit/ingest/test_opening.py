"""What a key may open: which gaming days, how many streams of one, how many new months; by one door and the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse

from audit.models import DEFAULT_SCOPES, ApiKey, KeyScope, LoggedStream, Quarantined
from tests.audit.sessions import event, opener, unique_name
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

Read = Callable[[HttpResponse], tuple[int, str]]
TODAY = date(2026, 11, 20)
"""The gaming day of the casino of these tests when the clock is at ``NOW``."""

NOW = datetime(2026, 11, 21, 4, 59, tzinfo=UTC)  # 05:59 in Paris: the cutoff is at 06:00


@pytest.fixture
def ordinary(tenant: Tenant) -> Tenant:
    """A tenant whose key has every scope but events:backfill."""
    ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=DEFAULT_SCOPES)
    return tenant


def opened(tenant: Tenant, day: date, name: str = "", **query: str) -> HttpResponse:
    stream = name or unique_name()
    body = [opener(stream, casino=tenant.casino.code, gaming_day=day.isoformat())]
    return tenant.send(stream, body)


@pytest.mark.parametrize("days, is_accepted", [(-41, False), (-40, True), (0, True), (2, True), (3, False)])
def test_a_day_is_accepted_from_40_days_ago_to_2_days_ahead_of_the_casinos_own(
    ordinary: Tenant, code_of: Read, days: int, is_accepted: bool
) -> None:
    day = TODAY + timedelta(days=days)
    with time_machine.travel(NOW, tick=False):
        answer = opened(ordinary, day)
        if is_accepted:
            assert answer.status_code == 201
        else:
            assert code_of(answer) == (422, "gaming-day")
            assert (answer.json()["first_day"], answer.json()["last_day"]) == ("2026-10-11", "2026-11-22")
    with time_machine.travel(NOW + timedelta(minutes=2), tick=False):  # the next gaming day has begun
        assert (opened(ordinary, day).status_code == 201) is (days not in (-41, -40))


def test_a_refused_day_is_kept_in_quarantine_and_opens_no_stream(ordinary: Tenant, stream: str) -> None:
    for _ in range(2):
        assert opened(ordinary, date(2010, 11, 19), stream).status_code == 422
    kept = Quarantined.objects.get(stream=stream)
    assert (kept.code, kept.seq) == ("gaming-day", 1)
    assert not LoggedStream.objects.filter(name=stream).exists()


def test_the_refusal_of_a_day_says_which_are_accepted_and_what_to_do(ordinary: Tenant, tenant: Tenant) -> None:
    def detail(day: date) -> str:
        return str(opened(ordinary, day).json()["detail"])

    with time_machine.travel(NOW, tick=False):
        assert detail(date(2010, 11, 19)) == (
            "The gaming day 2010-11-19 is not accepted now, only those from 2026-10-11 to 2026-11-22: an earlier day "
            "needs a key with the scope events:backfill."
        )
        ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=[*DEFAULT_SCOPES, KeyScope.EVENTS_BACKFILL])
        assert detail(date(2026, 11, 23)) == (
            "The gaming day 2026-11-23 is not accepted now, only those to 2026-11-22: check the gaming day and the "
            "clock of the table system."
        )


def test_the_scope_for_backfill_reaches_back_to_1990_and_no_further_ahead(tenant: Tenant, code_of: Read) -> None:
    with time_machine.travel(NOW, tick=False):
        assert opened(tenant, date(1990, 1, 1)).status_code == 201
        assert code_of(opened(tenant, date(1989, 12, 31))) == (422, "invalid")
        refused = opened(tenant, TODAY + timedelta(days=3))
        assert code_of(refused) == (422, "gaming-day")
        assert refused.json()["first_day"] is None
    assert KeyScope.EVENTS_BACKFILL not in DEFAULT_SCOPES
    assert len(DEFAULT_SCOPES) == len(KeyScope.values) - 1


def test_an_open_stream_goes_on_and_its_retries_are_answered_however_old_its_day_is(
    ordinary: Tenant, stream: str
) -> None:
    sent = ordinary.session(stream, 3)
    with time_machine.travel(datetime(2026, 11, 19, 20, tzinfo=UTC)):
        assert ordinary.send(stream, sent[:2]).status_code == 201
    with time_machine.travel(datetime(2027, 6, 1, tzinfo=UTC)):
        assert ordinary.send(stream, sent[:2]).status_code == 200
        assert ordinary.send(stream, sent).status_code == 201
        again = opener(stream, casino=ordinary.casino.code, seq=4, gaming_day="2010-01-01")  # conduct, not shape
        assert ordinary.send(stream, [again]).status_code == 201
        assert opened(ordinary, date(2026, 11, 19)).status_code == 422


def test_the_door_of_several_streams_gives_the_same_answer(ordinary: Tenant) -> None:
    names = [unique_name(), unique_name()]
    days = [date(2010, 11, 19), datetime.now(UTC).date()]
    body = [
        opener(name, casino=ordinary.casino.code, gaming_day=str(day)) for name, day in zip(names, days, strict=True)
    ]
    answer = ordinary.client.post("/api/v1/events", body, content_type="application/json", headers=ordinary.headers())
    assert answer.status_code == 207
    first, second = answer.json()["results"]
    assert (first["status"], first["problem"]["code"]) == (422, "gaming-day")
    assert second["status"] == 201


def test_a_key_opens_so_many_streams_of_a_day_and_no_more(tenant: Tenant, code_of: Read, settings: Any) -> None:
    settings.CABOCHON_STREAMS_A_DAY = 3
    day, name = datetime.now(UTC).date(), unique_name()
    assert [opened(tenant, day, each).status_code for each in (name, unique_name(), unique_name())] == [201] * 3
    refused = opened(tenant, day)
    assert code_of(refused) == (409, "too-many-streams")
    assert refused.json()["limit"] == 3
    assert opened(tenant, day, name).status_code == 200
    assert tenant.send(name, [event(name, 2)]).status_code == 201
    assert opened(tenant, day - timedelta(days=1)).status_code == 201
    _, secret = ApiKey.make(casino=tenant.casino, name="another", scopes=DEFAULT_SCOPES)
    other = copy(tenant)
    other.secret = secret
    assert opened(other, day).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_time_take_the_last_place_once(committed_tenant: Tenant, settings: Any) -> None:
    settings.CABOCHON_STREAMS_A_DAY = 2

    def one(_: int) -> int:
        try:
            return opened(committed_tenant, datetime.now(UTC).date()).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(one, range(6)))
    assert statuses == [201, 201, 409, 409, 409, 409]


def test_a_key_opens_so_many_new_months_within_a_day(tenant: Tenant, code_of: Read, settings: Any) -> None:
    settings.CABOCHON_MONTHS_A_DAY = 2
    now = datetime.combine(TODAY, time(12), UTC)
    with time_machine.travel(now, tick=False):
        assert [opened(tenant, date(1993, month, 1)).status_code for month in (1, 2)] == [201, 201]
        refused = opened(tenant, date(1993, 3, 1))
        assert code_of(refused) == (409, "too-many-months")
        assert refused.json()["limit"] == 2
        assert partitions("199303") == 0
        assert opened(tenant, date(1993, 2, 28)).status_code == 201, "its month has partitions"
        assert opened(tenant, TODAY).status_code == 201


def partitions(month: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_class where relname in ('batch_' || %s, 'event_' || %s)", [month] * 2)
        return int(cursor.fetchone()[0])
