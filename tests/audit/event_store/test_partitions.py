"""Monthly partitions: created and protected when a stream opens, for every gaming day from 1990 to 2100."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from audit.event_store.append import open_stream
from tests import citus
from tests.audit.sessions import opener
from tests.audit.tables import Tenant

EPOCH = date(2020, 1, 1)


def opened(day: date) -> int:
    name = f"s.{uuid4().hex}"
    return open_stream(
        casino_id=1, table_id=1, name=name, gaming_day=day, game="craps", ruleset="fr-craps", currency="EUR"
    )


def triggers_of(table: str) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select tgname, tgenabled from pg_trigger where tgrelid = %s::regclass and not tgisinternal", (table,)
        )
        return dict(cursor.fetchall())


@pytest.mark.parametrize(
    "day",
    [
        date(1990, 1, 1),
        date(1996, 2, 29),
        date(2011, 10, 12),
        date(2019, 12, 31),
        date(2020, 1, 1),
        date(2020, 1, 31),
        date(2100, 12, 31),
    ],
)
def test_a_day_is_in_its_id_and_its_month_has_partitions(db: None, day: date) -> None:
    first, second = opened(day), opened(day)
    assert second == first + 1
    assert first >> 32 == (day - EPOCH).days
    assert EPOCH + timedelta(days=first >> 32) == day
    for parent in ("event", "batch"):
        always = {"no_change": "A", "no_truncate": "A"}
        assert triggers_of(f"log.{parent}_{day:%Y%m}") == always


def test_neighbouring_days_of_two_months_are_in_two_partitions(tenant: Tenant, stream: str) -> None:
    for number, day in enumerate(("1999-12-31", "2000-01-01")):
        name = f"{stream}.{number}"
        assert tenant.send(name, [opener(name, casino=tenant.casino.code, gaming_day=day)]).status_code == 201
    with connection.cursor() as cursor:
        cursor.execute(
            "select e.tableoid::regclass::text from log.event e join log.stream s using (stream_id)"
            " where s.casino_id = %s order by s.gaming_day",
            (tenant.casino.pk,),
        )
        assert [citus.table_of(name) for (name,) in cursor.fetchall()] == ["log.event_199912", "log.event_200001"]


@pytest.mark.parametrize("day", [date(1989, 12, 31), date(2101, 1, 1)])
def test_no_stream_opens_on_any_other_day(db: None, day: date) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        opened(day)


def test_the_current_and_the_next_month_exist_from_the_start(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from generate_series(0, 2) m where to_regclass('log.event' ||"
            " to_char(current_date + make_interval(months => m), '_YYYYMM')) is not null"
        )
        assert cursor.fetchone()[0] >= 2  # three at migration, one of which may be past


def test_opening_again_is_idempotent_whatever_the_day(db: None) -> None:
    name = f"s.{uuid4().hex}"

    def again(day: date) -> int:
        return open_stream(
            casino_id=1, table_id=1, name=name, gaming_day=day, game="craps", ruleset="fr-craps", currency="EUR"
        )

    assert again(date(2026, 11, 19)) == again(date(2026, 11, 19)) == again(date(2026, 12, 24))
