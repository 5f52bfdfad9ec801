"""The feed of findings: every change, in order, none missed; as pages and as Server-Sent Events."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.api import feed as feed_api
from audit.casework import actions
from audit.models import ApiKey, Finding, FindingChange, FindingStatus, LoggedStream, Role
from audit.notifications import feed
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.casework.test_actions import hired
from tests.audit.conftest import make_tenant
from tests.audit.sessions import event, unique_name
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def close(answer: Any) -> None:
    """Close a stream as the web server does, but for Django's connection, which is the test's."""
    for closer in answer._resource_closers:
        closer()


def pages(tenant: Tenant, after: str = "", limit: int = 100) -> Iterator[dict[str, Any]]:
    """Yield the changes after a cursor, page by page."""
    while True:
        answer = tenant.ask(f"findings/feed?limit={limit}" + (f"&after={after}" if after else ""))
        assert answer.status_code == 200, answer.content
        page = answer.json()
        yield from page["changes"]
        if not page["more"]:
            return
        after = page["next"]


def types(changes: Any) -> list[str]:
    return [change["type"] for change in changes]


def test_a_finding_is_in_the_feed_as_soon_as_it_stands(tenant: Tenant, stream: str) -> None:
    replayed(tenant, overpaid(stream, tenant))
    [change] = pages(tenant)
    assert (change["type"], change["casino"], change["cursor"]) == ("finding.opened", tenant.code, "1-1")
    finding = change["finding"]
    assert (finding["stream"], finding["rule"], finding["status"]) == (stream, "payout-overpaid", "standing")
    assert (finding["expected"], finding["recorded"], finding["case"]["state"]) == (1_000, 5_000, "new")
    assert finding["reference"] == tenant.get(f"/findings/{finding['id']}").json()["reference"]
    assert re.fullmatch(r"[A-Z]{3}-\d\d-\d{4}", finding["reference"])
    assert tenant.ask("findings/feed?after=1-1").json() == {"changes": [], "next": "1-1", "more": False}
    assert tenant.ask("findings/feed?after=now").json() == {"changes": [], "next": "1-1", "more": False}


def test_what_is_corrected_is_superseded_and_what_two_officers_close_is_closed(tenant: Tenant, stream: str) -> None:
    sent = overpaid(stream, tenant)
    replayed(tenant, sent)
    other = unique_name()
    replayed(tenant, overpaid(other, tenant))
    first, second = hired(tenant, Role.OFFICER, "first"), hired(tenant, Role.SECOND, "second")
    case = Finding.objects.get(stream__name=other).case_id
    actions.perform(case, first, "take")
    actions.perform(case, first, "propose", reason="seen", outcome="confirmed")
    actions.perform(case, second, "approve")
    actions.perform(case, second, "reopen", reason="another camera")
    corrected = event(
        *(stream, 6, "entry.corrected"),
        corrects=4,
        data={"wager": "w1", "winnings": 1_000, "stake_returned": 1_000},
        reason="read wrongly",
        approved_by="c",
    )
    assert tenant.send(stream, [corrected]).status_code == 201
    logged = LoggedStream.objects.get(name=stream)
    while (progress := advance(logged.stream_id)) and progress.behind:
        continue
    changes = list(pages(tenant))
    of_other = [each for each in changes if each["finding"]["stream"] == other]
    assert types(of_other) == ["finding.opened", "finding.closed", "finding.reopened"]
    assert of_other[-1]["finding"]["case"] == {"id": case, "state": "investigating", "outcome": None}
    [overpayment] = Finding.objects.filter(stream=logged, rule="payout-overpaid")
    of_one = [each for each in changes if each["finding"]["id"] == overpayment.pk]
    expected = ["finding.opened"] + ["finding.superseded"] * (overpayment.status == FindingStatus.SUPERSEDED)
    assert types(of_one) == expected


def test_a_finding_that_says_something_else_is_amended_and_one_that_stands_again_reinstated(
    tenant: Tenant, stream: str
) -> None:
    replayed(tenant, overpaid(stream, tenant))
    finding = Finding.objects.filter(stream__name=stream)
    finding.update(put_right_by=5)
    finding.update(put_right_by=5)
    finding.update(status=FindingStatus.SUPERSEDED, superseded_at=timezone.now())
    finding.update(put_right_by=None)
    finding.update(status=FindingStatus.STANDING, superseded_at=None)
    assert types(pages(tenant)) == ["finding.opened", "finding.amended", "finding.superseded", "finding.reinstated"]


def test_what_does_not_stand_yet_is_not_in_the_feed(tenant: Tenant, stream: str) -> None:
    replayed(tenant, overpaid(stream, tenant))
    row = Finding.objects.get(stream__name=stream)
    row.pk, row.seq, row.status, row.stood_at, row.case_id = None, 5, FindingStatus.PENDING, None, None
    row.save(force_insert=True)
    assert len(list(pages(tenant))) == 1
    Finding.objects.filter(pk=row.pk).update(status=FindingStatus.STANDING, stood_at=timezone.now())
    assert types(pages(tenant)) == ["finding.opened", "finding.opened"]


def test_nothing_of_another_casino_or_table_is_in_the_feed(tenant: Tenant, stream: str) -> None:
    neighbour = make_tenant()
    replayed(neighbour, overpaid(unique_name(), neighbour))
    limited, secret = ApiKey.make(casino=tenant.casino, name="one table", scopes=["findings:read"])
    limited.tables.set(tenant.casino.tables.filter(code="R1"))
    replayed(tenant, overpaid(unique_name(), tenant, table="R1"))
    replayed(tenant, overpaid(stream, tenant))
    assert {each["casino"] for each in pages(tenant)} == {tenant.code}
    tenant.secret = secret
    assert [each["finding"]["table"] for each in pages(tenant)] == ["R1"]
    assert tenant.ask("findings/feed").json()["next"] == "1-2", "past what it may not see, which is not looked at again"
    _key, tenant.secret = ApiKey.make(casino=tenant.casino, name="no findings", scopes=["streams:read"])
    assert tenant.ask("findings/feed").status_code == 403


@pytest.mark.parametrize(
    "cursor", ["1", "-1", "1-", "1--1", "1-x", "0-0", "1-01", "1-1 or 1=1", "١-١", "9" * 40, "1-" + "9" * 30, "\x00"]
)
def test_a_cursor_that_was_tampered_with_is_a_problem(tenant: Tenant, cursor: str) -> None:
    answer = tenant.client.get("/api/v1/findings/feed", {"after": cursor}, headers=tenant.headers())
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("cursor", ["2-0", "1-1", "1-999999999999999999"])
def test_a_cursor_of_another_epoch_or_beyond_the_end_says_that_the_record_was_restored(
    tenant: Tenant, cursor: str
) -> None:
    answer = tenant.ask(f"findings/feed?after={cursor}")
    assert (answer.status_code, answer.json()["code"]) == (410, "cursor-expired")


def copied(finding: Finding, seq: int) -> Finding:
    row = Finding.objects.get(pk=finding.pk)
    row.pk, row.seq, row.case_id = None, seq, None
    return row


def test_a_change_that_commits_late_comes_after_what_was_read_and_is_not_missed(committed_tenant: Tenant) -> None:
    """Ids are taken before the commit: the transaction with the smaller id commits after the page was read."""
    tenant = committed_tenant
    stream = unique_name()
    replayed(tenant, overpaid(stream, tenant))
    finding = Finding.objects.get(stream__name=stream)
    has_written, may_commit = threading.Event(), threading.Event()

    def late() -> None:
        try:
            with transaction.atomic():
                copied(finding, 2).save(force_insert=True)
                has_written.set()
                assert may_commit.wait(20)
        finally:
            connections.close_all()

    thread = threading.Thread(target=late)
    thread.start()
    assert has_written.wait(20)
    copied(finding, 3).save(force_insert=True)
    first = tenant.ask("findings/feed").json()
    may_commit.set()
    thread.join()
    second = tenant.ask(f"findings/feed?after={first['next']}").json()
    assert [each["finding"]["seq"] for each in first["changes"]] == [4, 3]
    assert [each["finding"]["seq"] for each in second["changes"]] == [2]
    ids = FindingChange.objects.filter(casino=tenant.casino).order_by("position").values_list("id", flat=True)
    assert list(ids) != sorted(ids), "the one that came last has the smaller id"


def test_readers_at_once_see_every_change_once_and_in_the_same_order(committed_tenant: Tenant) -> None:
    tenant = committed_tenant
    stream = unique_name()
    replayed(tenant, overpaid(stream, tenant))
    finding = Finding.objects.get(stream__name=stream)
    after, done = feed.number(tenant.casino.pk), threading.Event()
    seen: list[list[int]] = [[], []]

    def write(first: int) -> None:
        chance = random.Random(first)
        try:
            for seq in range(first, first + 40):
                with transaction.atomic():
                    copied(finding, seq).save(force_insert=True)
                    time.sleep(chance.random() / 100)
        finally:
            connections.close_all()

    def read(into: list[int]) -> None:
        try:
            position, is_last = after, False
            while True:
                is_last = done.is_set()
                newest = feed.number(tenant.casino.pk)
                found = feed.changes(tenant.casino.pk, position, limit=7, through=newest)
                into += [change.position or 0 for change in found]
                position = found[-1].position or 0 if found else position
                if is_last and not found:
                    return
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write, args=(100 * number,)) for number in range(1, 5)]
    readers = [threading.Thread(target=read, args=(into,)) for into in seen]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert seen[0] == seen[1] == list(range(after + 1, after + 161))


def events_of(answer: Any, count: int) -> list[dict[str, str]]:
    """Return the first ``count`` events of a stream, each by its fields, and close it."""
    found: list[dict[str, str]] = []
    buffer = b""
    for chunk in answer.streaming_content:
        buffer += chunk
        *whole, buffer = buffer.split(b"\n\n")
        fields = [dict(line.split(": ", 1) for line in each.decode().splitlines()) for each in whole]
        found += [each for each in fields if "data" in each]
        if len(found) >= count:
            break
    close(answer)
    return found


def test_the_feed_as_server_sent_events_goes_on_after_the_last_id(tenant: Tenant, stream: str) -> None:
    replayed(tenant, overpaid(stream, tenant))
    replayed(tenant, overpaid(unique_name(), tenant))
    answer = tenant.ask("findings/feed", Accept="text/event-stream")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    first, second = events_of(answer, 2)
    assert (first["id"], first["event"]) == ("1-1", "finding.opened")
    assert [json.loads(each["data"]) for each in (first, second)] == list(pages(tenant))
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "1-1"}
    assert events_of(tenant.ask("findings/feed?after=1-0", **headers), 1) == [second]
    answer = tenant.ask("findings/feed", **(headers | {"Last-Event-ID": "1-9"}))
    assert answer.json()["code"] == "cursor-expired"


def test_a_stream_ends_after_its_time_and_when_its_key_is_revoked(
    tenant: Tenant, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CABOCHON_FEED_STREAM_S = 0.3
    answer = tenant.ask("findings/feed", Accept="text/event-stream")
    began = time.monotonic()
    assert b"".join(answer.streaming_content) == b"retry: 2000\n\n"
    assert 0.2 < time.monotonic() - began < 60
    settings.CABOCHON_FEED_STREAM_S = 600
    monkeypatch.setattr(feed_api, "HEARTBEAT_S", 0.0)
    answer = tenant.ask("findings/feed", Accept="text/event-stream")
    chunks = iter(answer.streaming_content)
    assert [next(chunks), next(chunks)][1] == b": alive\nid: 1-0\n\n"
    ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at="2020-01-01T00:00:00Z")
    assert list(chunks) == []
    close(answer)


def test_open_streams_are_few_and_one_casino_does_not_take_them_all(tenant: Tenant, settings: Any) -> None:
    settings.CABOCHON_FEED_STREAMS = 2
    first = tenant.ask("findings/feed", Accept="text/event-stream")
    refused = tenant.ask("findings/feed", Accept="text/event-stream")
    assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (503, "busy", "30")
    assert tenant.ask("findings/feed").status_code == 200
    neighbour, third = make_tenant(), make_tenant()
    second = neighbour.ask("findings/feed", Accept="text/event-stream")
    assert second.status_code == 200
    assert third.ask("findings/feed", Accept="text/event-stream").status_code == 503
    close(first)  # never read
    close(second)
    again = third.ask("findings/feed", Accept="text/event-stream")
    assert again.status_code == 200
    close(again)
    assert feed_api.SLOTS._open.total() == 0


def test_head_of_a_stream_opens_none(tenant: Tenant) -> None:
    headers = tenant.headers() | {"Accept": "text/event-stream"}
    answer = tenant.client.head("/api/v1/findings/feed", headers=headers)
    assert (answer.status_code, answer.content) == (200, b"")
    assert feed_api.SLOTS._open.total() == 0


def test_the_feed_is_numbered_by_the_role_of_web_servers_alone(tenant: Tenant, stream: str) -> None:
    from audit.access.database_roles import WEB
    from tests.roles import acting_as

    replayed(tenant, overpaid(stream, tenant))
    with acting_as(WEB):
        assert len(list(pages(tenant))) == 1
    with connection.cursor() as cursor:
        cursor.execute("select has_table_privilege('cabochon_web', 'audit_findingchange', 'insert, update, delete')")
        assert cursor.fetchone() == (False,)
