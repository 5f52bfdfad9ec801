"""Numbers that a client chose: whatever it declares lost, every reader of the stream comes to an end."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.evidence.gather import evidence_of
from audit.felt import playback_of
from audit.models import Finding, LoggedStream, Officer
from audit.reconciliation.sessions import compute_figures, decode_figures, wager_lines
from tests.audit.event_store.test_bulk_read import LAST, calls, lost
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limited_statements() -> None:
    """Have the server cancel a statement that does not end, as it does for the web server."""
    with connection.cursor() as cursor:
        cursor.execute("set local statement_timeout = '10s'")


@pytest.fixture(params=[LAST, LAST - 2], ids=["through the last number", "through the last but two"])
def logged(request: pytest.FixtureRequest, tenant: Tenant, stream: str) -> LoggedStream:
    """A stream whose events 1 to 4 are followed by a loss through 2^53 - 1, or with two events after it."""
    through = int(request.param)
    sent = [*tenant.session(stream, 3), lost(stream, 4, through), *calls(stream, through + 1, LAST)]
    assert tenant.send(stream, sent).json()["next_seq"] == LAST + 1
    return LoggedStream.objects.get(name=stream)


@pytest.fixture
def desk(db: None) -> Client:
    client = Client()
    client.force_login(Officer.objects.create_superuser("chief"))
    return client


def seqs(logged: LoggedStream) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("select seq from log.event where stream_id = %s order by seq", (logged.pk,))
        return [seq for (seq,) in cursor.fetchall()]


def test_a_stream_is_replayed_to_its_end_and_no_further(logged: LoggedStream) -> None:
    progress = advance(logged.pk)
    assert progress is not None
    assert (progress.folded, progress.cursor) == (len(seqs(logged)), seqs(logged)[-1])
    progress = advance(logged.pk)
    assert progress is not None
    assert (progress.folded, progress.behind) == (0, False)
    assert Finding.objects.filter(stream=logged, rule="events-lost").count() == 1


def test_a_dry_run_counts_the_events_that_wait_and_not_their_numbers(tenant: Tenant, stream: str) -> None:
    sent = [*tenant.session(stream, 3), lost(stream, 4, LAST)]
    for stored in (0, 2):
        if stored:
            tenant.send(stream, sent[:stored])
        answer = tenant.client.post(
            f"/api/v1/streams/{stream}/events?dry_run=true",
            sent[stored:],
            content_type="application/json",
            headers=tenant.headers(),
        )
        assert answer.status_code == 201, answer.content
        assert [finding["rule"] for finding in answer.json()["findings"]] == ["events-lost"]


@pytest.mark.parametrize(
    "path", ["", "/events", "/events?after=9007199254740991", "/table", "/table?at=5", "/table?at=9007199254740991"]
)
def test_the_api_answers_about_it(logged: LoggedStream, tenant: Tenant, path: str) -> None:
    assert tenant.ask(f"streams/{logged.name}{path}").status_code == 200


def test_the_api_gives_its_adjudication(logged: LoggedStream, tenant: Tenant) -> None:
    advance(logged.pk)
    assert tenant.ask(f"streams/{logged.name}/adjudication").json()["events"] == len(seqs(logged))
    standing = tenant.ask(f"streams/{logged.name}").json()
    assert (standing["verdict"], standing["adjudicated_through"]) == ("irregular", LAST)


@pytest.mark.parametrize("at", in_short([None, 1, 4, 5, 10**12, LAST, LAST + 1, 10**16 - 1, 10**30, -1], every=3))
def test_the_desk_shows_the_table_at_the_last_stored_event_before(
    logged: LoggedStream, desk: Client, at: int | None
) -> None:
    advance(logged.pk)
    query = "" if at is None else f"?at={at}"
    page = desk.get(reverse("admin:audit_loggedstream_table", args=(logged.pk,)) + query)
    assert page.status_code == 200
    wanted = at if at is not None and 0 < at < 10**16 else LAST
    shown = page.context["replay"]
    assert shown["current"]["seq"] == max(seq for seq in seqs(logged) if seq <= wanted)
    assert [step["seq"] for step in shown["steps"]] == seqs(logged)


def test_the_desk_pages_the_events_by_what_is_stored(
    logged: LoggedStream, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.desk.tables.admin.PAGE", 2)
    monkeypatch.setattr("audit.desk.tables.admin.AROUND", 1)
    read: list[int] = []
    address, after = reverse("admin:audit_loggedstream_events", args=(logged.pk,)), 0
    while after is not None:
        context = desk.get(f"{address}?after={after}").context
        read += [line["seq"] for line in context["lines"]]
        assert len(read) <= len(seqs(logged))
        after = context["later"]
    assert read == seqs(logged)
    address, at = reverse("admin:audit_loggedstream_table", args=(logged.pk,)), seqs(logged)[-1]
    while at is not None:
        context = desk.get(f"{address}?at={at}").context
        assert at in [step["seq"] for step in context["replay"]["steps"]]
        first = context["replay"]["steps"][0]["seq"]
        at = context["earlier"]
    assert first == 1


def test_it_is_verified_sealed_proven_and_reconciled(logged: LoggedStream, tenant: Tenant) -> None:
    advance(logged.pk)
    seal()
    assert verified(streams=[logged.pk]).faults == []
    for finding in Finding.objects.filter(stream=logged):
        assert evidence_of(finding).raw
        assert playback_of(logged.pk, finding.seq, finding.seq).frames
    assert tenant.ask(f"log/inclusion?stream={logged.name}&seq={seqs(logged)[-1]}").status_code == 200
    assert tenant.ask(f"log/inclusion?stream={logged.name}&seq=5").status_code == 404
    figures = decode_figures(compute_figures(logged.pk, LAST))
    assert figures.events == len(seqs(logged))
    assert len(list(wager_lines(logged, LAST))) == 2
