"""Long work: how far it is, that it can be stopped, that two never do it at once, and for whose eyes it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.admin import casework
from audit.admin.works import duration
from audit.log import acts
from audit.models import Beside, Casino, Officer, Role, Work, WorkKind, WorkState
from audit.works import kinds, runner
from audit.works.asking import ask, stop
from tests.audit.cases.test_work import Desk, client_of, hired
from tests.audit.tables import House

LIST = reverse("admin:audit_work_changelist")


@pytest.fixture
def desk(db: None) -> Desk:
    return Desk()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is written down often."""
    monkeypatch.setattr(runner, "TOLD_EVERY_S", 0.01)


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written down on the way: what a test's own transaction holds, no other connection sees."""
    monkeypatch.setattr(runner, "TOLD_EVERY_S", 3_600.0)


def address(work: Work, what: str = "change") -> str:
    return f"{LIST}{work.pk}/{what}/"


def asked_for(client: Client, kind: str, **said: str) -> Work:
    answer = client.post(f"{LIST}ask/{kind}/", said)
    assert answer.status_code == 302, answer.content[:200]
    return Work.objects.get(pk=int(answer["Location"].split("/")[-3]))


def as_kind(monkeypatch: pytest.MonkeyPatch, done: Callable[[Work, kinds.Tell], kinds.Made]) -> None:
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, WorkKind.VERIFY: done})


def test_an_officer_verifies_the_record_of_a_house(desk: Desk, untold: None) -> None:
    client = client_of(desk.auditor)
    work = asked_for(client, "verify", casino=desk.house.code)
    assert b"Waiting for a worker." in client.get(address(work)).content
    runner.run(work.pk)
    work.refresh_from_db()
    assert (work.state, work.outcome["faults"]) == (WorkState.DONE, [])
    assert work.outcome["events"] >= work.total == work.done > len(desk.findings)
    assert b"Everything holds" in client.get(address(work)).content


def test_a_changed_event_is_named_on_the_page(desk: Desk, untold: None) -> None:
    with connection.cursor() as cursor:  # by a superuser, and undone with the test
        cursor.execute("alter event trigger log_no_change disable")
        cursor.execute("alter table log.event disable trigger user")
        cursor.execute(
            "update log.event set envelope = replace(envelope::text, 'T1', 'T2')::json"
            " where stream_id = %s and seq = 1",
            [desk.stream.pk],
        )
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {"first_day": "2026-11-19"})
    runner.run(work.pk)
    page = client_of(desk.first).get(address(work)).content.decode()
    work.refresh_from_db()
    assert any(desk.stream.name in fault for fault in work.outcome["faults"])
    assert desk.stream.name in page
    assert "Everything holds" not in page
    none = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {"last_day": "2026-11-18"})
    runner.run(none.pk)
    none.refresh_from_db()
    assert none.outcome["events"] == 0


def test_a_replay_beside_is_asked_for_and_its_difference_opened(desk: Desk, untold: None) -> None:
    client = client_of(desk.first)
    name = f"five-{desk.house.code}"
    work = asked_for(client, "beside", casino=desk.house.code, name=name, readings="payout_unit=5", ruleset="fr-craps")
    runner.run(work.pk)
    work.refresh_from_db()
    beside = Beside.objects.get(name=name)
    assert (work.state, work.outcome["beside"]) == (WorkState.DONE, beside.pk)
    assert (beside.readings, beside.streams) == ({"payout_unit": 5}, 1)
    assert f"/admin/audit/beside/{beside.pk}/change/" in client.get(address(work)).content.decode()


def test_a_large_export_is_made_by_the_workers_for_who_asked(
    desk: Desk, untold: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = client_of(desk.first).post("/admin/audit/finding/export/csv/").content
    monkeypatch.setattr(casework, "MOST_AT_ONCE", 1)
    answer = client_of(desk.first).post("/admin/audit/finding/export/csv/")
    work = Work.objects.get(pk=int(answer["Location"].split("/")[-3]))
    assert client_of(desk.first).get(address(work, "file")).status_code == 404
    runner.run(work.pk)
    made = client_of(desk.first).get(address(work, "file"))
    assert made.content == at_once
    assert ".csv" in made["Content-Disposition"]
    for other in (desk.second, desk.auditor, hired(House(), Role.SECOND, "other")):
        assert client_of(other).get(address(work)).status_code in (302, 404)
        assert client_of(other).get(address(work, "file")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_work_is_stopped_in_its_midst_by_who_may(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    begun = threading.Event()

    def endless(work: Work, tell: kinds.Tell) -> kinds.Made:
        done = 0
        while True:
            done += 1
            tell(done, 1_000_000)
            begun.set()
            threading.Event().wait(0.002)

    as_kind(monkeypatch, endless)
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {})
    worker = threading.Thread(target=_run, args=(work.pk,))
    worker.start()
    assert begun.wait(10)
    while not Work.objects.get(pk=work.pk).done:
        threading.Event().wait(0.01)
    said = client_of(desk.auditor).get(address(work, "progress")).json()
    assert (said["state"], said["total"]) == ("running", 1_000_000)
    assert "a second" in said["words"]
    assert client_of(desk.auditor).post(address(work, "stop")).status_code == 403
    assert client_of(desk.first).get(address(work, "stop")).status_code == 405
    assert client_of(desk.second).post(address(work, "stop")).status_code == 302
    worker.join(10)
    work.refresh_from_db()
    assert (work.state, work.stopped_by) == (WorkState.STOPPED, desk.second)
    assert 0 < work.done < work.total
    did = [(act.type, act.actor) for act in acts.acts_of(desk.house.casino.pk, timezone.now().date())]
    assert [each for each in did if each[0].startswith("work.")] == [
        ("work.asked", desk.first.username),
        ("work.stopped", desk.second.username),
        ("work.ended", desk.first.username),
    ]
    assert not stop(work, desk.first)


def _run(work_id: int) -> None:
    try:
        runner.run(work_id)
    finally:
        connection.close()


def test_what_no_worker_has_begun_is_stopped_before_it_begins(
    desk: Desk, untold: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_kind(monkeypatch, lambda work, tell: pytest.fail("it was begun"))
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {})
    assert stop(work, desk.first)
    runner.run(work.pk)
    work.refresh_from_db()
    assert work.state == WorkState.STOPPED


def test_work_that_fails_says_why(desk: Desk, untold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(work: Work, tell: kinds.Tell) -> kinds.Made:
        raise ValueError("the disk <is> full")

    as_kind(monkeypatch, failing)
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {})
    runner.run(work.pk)
    page = client_of(desk.first).get(address(work)).content
    assert b"failed" in page
    assert b"ValueError: the disk &lt;is&gt; full" in page


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_leaves_its_work_to_another_and_writes_nothing_after(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    held, go = threading.Event(), threading.Event()
    did: list[str] = []

    def slow(work: Work, tell: kinds.Tell) -> kinds.Made:
        did.append("slow")
        held.set()
        assert go.wait(10)
        return kinds.Made(total=1, outcome={"by": "slow"})

    as_kind(monkeypatch, slow)
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {})
    with monkeypatch.context() as patch:
        patch.setattr(runner.Watch, "_tell", lambda watch: None)  # it is seen no more
        worker = threading.Thread(target=_run, args=(work.pk,))
        worker.start()
        assert held.wait(10)
    runner.run(work.pk)
    assert did == ["slow"], "its lease holds"
    assert runner.abandoned().count(work.pk) == 0
    Work.objects.filter(pk=work.pk).update(seen_at=timezone.now() - runner.LEASE - timedelta(seconds=1))
    assert work.pk in runner.abandoned()
    as_kind(monkeypatch, lambda work, tell: kinds.Made(total=2, outcome={"by": "quick"}))
    runner.run(work.pk)
    go.set()
    worker.join(10)
    work.refresh_from_db()
    assert (work.state, work.outcome, work.done) == (WorkState.DONE, {"by": "quick"}, 2)


def test_nobody_sees_or_stops_the_work_of_another_house(desk: Desk) -> None:
    work = ask(WorkKind.VERIFY, desk.first, desk.house.casino, {})
    chief = Officer.objects.create_superuser(f"chief-{desk.house.code}")
    of_all = ask(WorkKind.VERIFY, chief, None, {})
    other = client_of(hired(House(), Role.SECOND, "other"))
    for each in (work, of_all):
        for what in ("progress", "file"):
            assert other.get(address(each, what)).status_code == 404
        assert other.post(address(each, "stop")).status_code == 404
        assert str(each.pk) not in _rows(other)
    assert client_of(desk.first).get(address(of_all, "progress")).status_code == 404
    assert client_of(desk.administrator).get(LIST).status_code == 403
    assert client_of(desk.administrator).post(f"{LIST}ask/verify/", {"casino": desk.house.code}).status_code == 403
    assert Client().post(f"{LIST}ask/verify/", {"casino": desk.house.code}).status_code == 302
    assert f"/{work.pk}/" in _rows(client_of(desk.auditor))


def _rows(client: Client) -> str:
    page = client.get(LIST).content.decode()
    return page[page.find('id="result_list"') :]


@pytest.mark.parametrize(
    ("who", "kind", "said", "status"),
    [
        ("auditor", "beside", {"name": "x"}, 403),
        ("first", "verify", {"casino": "another"}, 403),
        ("first", "verify", {"casino": "*"}, 403),
        ("first", "beside", {"casino": "*", "name": "x"}, 403),
        ("first", "export", {}, 405),
        ("first", "nothing", {}, 405),
        ("first", "verify", {"first_day": "tomorrow"}, 302),
        ("first", "verify", {"last_day": "2026-02-30"}, 302),
        ("first", "beside", {"name": ""}, 302),
        ("first", "beside", {"name": "x\0"}, None),
        ("first", "beside", {"name": "x", "readings": "payout_unit"}, 302),
        ("first", "beside", {"name": "x", "readings": "no_such_reading=1"}, 302),
        ("first", "beside", {"name": "x", "ruleset": "uk-roulette"}, 302),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    desk: Desk, who: str, kind: str, said: dict[str, str], status: int | None
) -> None:
    Casino.objects.get_or_create(code="another", defaults={"name": "Another"})
    before = Work.objects.count()
    client = client_of(getattr(desk, who))
    answer = client.post(f"{LIST}ask/{kind}/", {"casino": desk.house.code, **said})
    if status is None:
        assert Work.objects.get(pk=int(answer["Location"].split("/")[-3])).asked["name"] == "x"
        return
    assert answer.status_code == status
    assert Work.objects.count() == before
    if status == 302:
        assert 'class="error"' in client.get(LIST).content.decode()


def test_one_officer_has_only_so_much_under_way(desk: Desk) -> None:
    for _ in range(5):
        asked_for(client_of(desk.first), "verify", casino=desk.house.code)
    answer = client_of(desk.first).post(f"{LIST}ask/verify/", {"casino": desk.house.code})
    assert answer["Location"] == LIST
    assert Work.objects.filter(officer=desk.first).count() == 5
    asked_for(client_of(desk.second), "verify", casino=desk.house.code)


def test_how_long_it_takes_is_said_in_words() -> None:
    said = [duration(seconds) for seconds in (0.4, 1, 59, 61, 3_599, 7_300)]
    assert said == ["0 seconds", "1 second", "59 seconds", "1 minute", "60 minutes", "2 hours"]
