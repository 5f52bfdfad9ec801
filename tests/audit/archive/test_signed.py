"""A month whose table system signs its batches: the signatures go into the archive, come back, and are proved there."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.core.management import call_command

from audit.models import ApiKey, KeyScope, LoggedStream
from tests.audit.archive.years import PLAYED, Years, archived, verified
from tests.audit.ingest.test_signed_batches import Signing
from tests.audit.reconciliation.played import buy_ins, count, record, session, table_of
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db, pytest.mark.superuser]


def test_signatures_are_in_the_file_of_a_month_and_in_the_database_when_it_is_back(folder: Path) -> None:
    signing = Signing()
    ApiKey.objects.filter(pk=signing.key.pk).update(scopes=list(KeyScope.values))
    table_of(signing.tenant.casino, "SIGNED")
    years = Years(tenant=signing.tenant)
    events = session(years.casino, "SIGNED", day=PLAYED, coups=3, irregularities=["payout-overpaid"])
    signing.stream = events[0]["stream"]
    halves = events[: len(events) // 2], events[len(events) // 2 :]
    for half in halves:
        answer = signing.send(half, signing.signature(half))
        assert answer.status_code == 201, answer.json()["detail"]
    counted = record(years.casino, count(years.casino, {signing.stream: buy_ins(events)}, day=PLAYED))
    seal()
    stream_id = LoggedStream.objects.get(name=signing.stream).pk
    years.adjudicate(stream_id, counted)
    years.finish(PLAYED)
    assert verified().faults == []

    archived("--before", "1992-04")
    seal()
    assert verified().faults == []
    call_command("verify", "--archive", str(folder))
    [file] = folder.glob("cabochon-1992-03.ndjson.gz")
    assert gzip.decompress(file.read_bytes()).count(b'"signature":"') == len(halves)

    archived("--attach", "1992-03")
    seal()
    assert verified().faults == []
    assert signing.faults() == []
