"""The registry of consumers: one that stands still, raises or sets something aside is seen wherever somebody looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit import consumers, heartbeats, monitoring, task_queue, task_runs
from audit.access.database_roles import WEB
from audit.adjudication.runs import record_failure
from audit.consumers import Consumer, Lag
from audit.event_store import audit_trail
from audit.jobs import runner
from audit.ledger import set_aside
from audit.models import (
    Alert,
    AlertMessage,
    AlertNotice,
    Casino,
    DeadLetter,
    FindingChange,
    GamingTable,
    Heartbeat,
    Job,
    JobKind,
    JobState,
    LedgerSetAside,
    LeftBatch,
    NightRun,
    NightSubscriber,
    Officer,
    Role,
    TaskRun,
    Webhook,
    WitnessState,
)
from audit.notifications import alert_mail, alert_messages, feed
from audit.transparency.cosignatures import WitnessKey
from settlement import ENGINE_VERSION
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.casework.test_actions import hired
from tests.audit.desk.record.test_months import archived
from tests.audit.reconciliation.played import DAY, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.casino.test_health import scraped
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

STALLED = Lag(items=3, oldest_s=7_200.0, moved_s=5_000.0)
HOUR = timedelta(hours=1)
WITNESS = str(WitnessKey("w.example/w1", bytes(31) + b"1"))
SET_ASIDE = Lag(set_aside=2, errors=("stream-1: ValueError", "stream-2: KeyError"))


@pytest.fixture(autouse=True)
def working(settings: Any) -> Iterator[None]:
    """Give every process a heartbeat, so that only a consumer can fail."""
    settings.CABOCHON_METRICS_TOKEN = "right"
    for name in monitoring.PROCESSES:
        heartbeats.write(name)
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        task_runs.note(entry["task"], entry["kwargs"])
    yield
    Heartbeat.objects.all().delete()
    TaskRun.objects.all().delete()


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have a registry of one consumer, and of another that is well."""

    def register(measure: Callable[..., Lag], **about: Any) -> None:
        added = Consumer("chips", "chip counts", measure, lambda: 3_600.0, **about)
        well = Consumer("well", "what is well", lambda casinos: Lag(), lambda: 60.0)
        monkeypatch.setattr(consumers, "REGISTRY", (added, well))

    return register


def ready(client: Client) -> tuple[int, dict[str, Any]]:
    response = client.get("/health/ready")
    return response.status_code, response.json()


def metric(client: Client, name: str, consumer: str = "chips", severity: str = "page") -> float | None:
    value = scraped(client).get(f'cabochon_consumer_{name}{{consumer="{consumer}",severity="{severity}"}}')
    return None if value is None else float(value)


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(Officer.objects.create_superuser("chief"))
    return client


def page(desk: Client, language: str = "en") -> str:
    response = desk.get(reverse("admin:record_state"), headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def raising(error: Exception) -> Callable[..., Lag]:
    def measure(casinos: Any) -> Lag:
        raise error

    return measure


def divide_by_zero(casinos: Any) -> Lag:
    with connection.cursor() as cursor:
        cursor.execute("select 1 / 0")
    return Lag()


def test_one_that_stalls_is_in_health_metrics_and_on_the_page(
    client: Client, desk: Client, only: Callable[..., None]
) -> None:
    only(lambda casinos: STALLED)
    status, content = ready(client)
    assert (status, content["failed"]) == (503, ["chips"])
    assert content["checks"]["chips"] == {"ok": False, "age_s": 7_200.0, "limit_s": 3_600.0, "detail": "3 wait"}
    assert content["checks"]["well"]["ok"]
    assert [metric(client, name) for name in ("stalled", "lag_seconds", "lag_items", "set_aside")] == [1, 7_200, 3, 0]
    assert metric(client, "stalled", "well") == 0
    assert "chip counts 3 wait, the oldest waiting for 2 hours what is well up to date" in page(desk)
    assert "3 en file, le plus ancien en attente depuis 2 heures" in page(desk, "fr")


def test_one_that_is_slow_and_moves_is_not_stalled(client: Client, desk: Client, only: Callable[..., None]) -> None:
    only(lambda casinos: Lag(items=3, oldest_s=7_200.0, moved_s=10.0))
    assert ready(client)[0] == 200
    assert (metric(client, "stalled"), metric(client, "lag_seconds")) == (0, 7_200)


@pytest.mark.parametrize("measure", [raising(ValueError("a letter")), divide_by_zero], ids=["code", "database"])
def test_one_that_raises_is_seen_and_hides_no_other(
    client: Client, desk: Client, only: Callable[..., None], measure: Callable[..., Lag]
) -> None:
    only(measure)
    status, content = ready(client)
    assert (status, content["failed"]) == (503, ["chips"])
    assert re.fullmatch(r"cannot be measured: \w+Error", content["checks"]["chips"]["detail"])
    assert (metric(client, "stalled"), metric(client, "lag_seconds")) == (1, None)
    assert metric(client, "stalled", "well") == 0
    assert float(scraped(client)["cabochon_scrape_errors"]) == 1
    assert re.search(r"chip counts not known what is well up to date Chip counts: \w+Error", page(desk))


def test_what_one_has_set_aside_is_counted_shown_with_its_error_and_tried_again_by_a_button(
    client: Client, desk: Client, only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(task_queue, "send_soon", lambda task, **params: sent.append(task))
    only(lambda casinos: SET_ASIDE, try_again=lambda casinos: {0: 2}, task="audit.tasks.sweep")
    status, content = ready(client)
    assert (status, content["failed"]) == (503, ["chips"])
    assert content["checks"]["chips"]["detail"] == "2 set aside", "anybody who reaches the server reads it"
    assert (metric(client, "set_aside"), metric(client, "stalled")) == (2, 0)
    text = page(desk)
    assert "chip counts up to date; 2 set aside" in text
    assert "Chip counts: stream-1: ValueError; stream-2: KeyError Try again now" in text
    address = reverse("admin:record_try_again", args=("chips",))
    assert desk.get(address).status_code == 405
    assert desk.post(address).url == reverse("admin:record_state")  # type: ignore[attr-defined]
    assert sent == ["audit.tasks.sweep"]
    assert "2 items are tried again now." in page(desk)
    assert desk.post(reverse("admin:record_try_again", args=("nothing",))).status_code == 404


def test_one_that_is_not_of_the_record_calls_nobody_at_night_and_is_seen_all_the_same(
    client: Client, desk: Client, only: Callable[..., None]
) -> None:
    only(lambda casinos: STALLED, is_urgent=False)
    status, content = ready(client)
    assert (status, content["failed"], content["degraded"]) == (200, [], ["chips"])
    assert metric(client, "stalled", severity="ticket") == 1
    assert "chip counts 3 wait" in page(desk)


# Each consumer of the registry, with rows of its own: first nothing waits, then something does


def _adjudication(tenant: Tenant) -> None:
    tenant.post("s", [tenant.opener("s")])
    record_failure(tenant.stream("s").stream_id, ENGINE_VERSION, RuntimeError("unreadable"))
    tenant.post("t", [tenant.opener("t")])


def _sealing(tenant: Tenant) -> None:
    tenant.post("s", [tenant.opener("s")])
    about = {"stream": "s", "first_seq": 4, "last_seq": 4, "cause": "no-envelope", "found_at": timezone.now()}
    LeftBatch.objects.create(stream_id=tenant.stream("s").stream_id, **about)


def _ledger(tenant: Tenant) -> None:
    record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()
    about = {"kind": "payouts", "gaming_day": DAY, "currency": "EUR", "error": "KeyError: a table"}
    LedgerSetAside.objects.create(casino=tenant.casino, next_try_at=timezone.now() + HOUR, **about)


def _nights(tenant: Tenant) -> None:
    day = timezone.now().date() - timedelta(days=3)
    record(tenant.casino, session(tenant.casino, "R1", coups=3, day=day))
    NightRun.objects.create(casino=tenant.casino, gaming_day=DAY, error="1: KeyError: a table")


def _witnesses(tenant: Tenant) -> None:
    WitnessState.objects.create(vkey=WITNESS, tried_at=timezone.now(), refused_at=timezone.now(), error="another tree")


def _exports(tenant: Tenant) -> None:
    tenant.post("s", [tenant.opener("s")])
    seal()
    task_runs.note_failure("exports", ConnectionRefusedError())


def _feed(tenant: Tenant) -> None:
    replayed(tenant, overpaid("s", tenant))
    task_runs.note_failure("feed", TimeoutError())


def _webhook(tenant: Tenant) -> Webhook:
    return Webhook.objects.create(casino=tenant.casino, name="crm", url="https://crm.example", receives_alerts=True)


def _webhooks(tenant: Tenant) -> None:
    replayed(tenant, overpaid("s", tenant))
    feed.number(tenant.casino.pk)
    webhook = _webhook(tenant)
    change = FindingChange.objects.get(casino=tenant.casino)
    DeadLetter.objects.create(webhook=webhook, change=change, error="503", given_up_at=timezone.now())


def _opened(tenant: Tenant) -> Alert:
    now = timezone.now()
    table = GamingTable.objects.filter(casino=tenant.casino).first()
    assert table is not None
    return Alert.objects.create(casino=tenant.casino, table=table, kind="table-silent", since=now, opened_at=now)


def _refused(error: str) -> dict[str, Any]:
    """Return what a message has that its receiver has refused three times."""
    return {"failures": 3, "next_try_at": timezone.now() + HOUR, "error": error}


def _alerts(tenant: Tenant) -> None:
    Casino.objects.filter(pk=tenant.casino.pk).update(silent_after_min=30)
    alert, webhook = _opened(tenant), _webhook(tenant)
    AlertMessage.objects.create(alert=alert, webhook=webhook)
    AlertMessage.objects.create(alert=alert, webhook=webhook, is_of_end=True, **_refused("503 no"))
    Webhook.objects.update(receives_alerts=False)


def _mail(tenant: Tenant) -> None:
    alert = _opened(tenant)
    for name in ("ada", "bob"):
        officer = hired(tenant, Role.OFFICER, name)
        Officer.objects.filter(pk=officer.pk).update(email=f"{name}@example.org")
        NightSubscriber.objects.create(casino=tenant.casino, officer=officer, receives_alerts=True)
        AlertNotice.objects.create(alert=alert, officer=officer, **(_refused("550 no") if name == "bob" else {}))


def _jobs(tenant: Tenant) -> None:
    about = {"casino": tenant.casino, "kind": JobKind.VERIFY, "officer": hired(tenant, Role.AUDITOR, "vera")}
    Job.objects.create(**about)
    Job.objects.create(**about, state=JobState.FAILED, ended_at=timezone.now(), error="DiskFull")


def _archive(tenant: Tenant) -> None:
    archived(date(2020, 1, 1))


EACH: dict[str, tuple[Callable[[Tenant], None], int, str]] = {
    # By the name of the consumer: what arranges that it is behind, what it sets aside, and with which error.
    "adjudication": (_adjudication, 1, "s: RuntimeError"),
    "sealing": (_sealing, 1, "s 4–4: a body is not the envelope of its event"),
    "ledger": (_ledger, 1, f"{DAY} EUR: KeyError: a table"),
    "nights": (_nights, 1, f"{DAY}: 1: KeyError: a table"),
    "witnesses": (_witnesses, 1, "w.example/w1: another tree"),
    "exports": (_exports, 0, "ConnectionRefusedError"),
    "feed": (_feed, 0, "TimeoutError"),
    "webhooks": (_webhooks, 1, "crm: 1 failed deliveries"),
    "alerts": (_alerts, 2, "neither an officer with mail nor a webhook receives its alerts; 503 no"),
    "mail": (_mail, 1, "550 no"),
    "jobs": (_jobs, 1, "verify: DiskFull"),
    "archive": (_archive, 0, ""),
}


@pytest.fixture
def tenant(db: None) -> Tenant:
    return Tenant(tables=("T1", "C1"))


NAMES = [each.name for each in consumers.REGISTRY]
MARKED = [pytest.param(name, marks=[pytest.mark.superuser] if name == "archive" else []) for name in NAMES]


@pytest.mark.parametrize("name", MARKED)
def test_each_consumer_of_the_registry_is_measured(tenant: Tenant, settings: Any, name: str) -> None:
    """A consumer that is added to the registry has no case here, and fails until it has one."""
    settings.CABOCHON_WITNESSES = [f"{WITNESS} https://w.example"] if name == "witnesses" else []
    [consumer] = [each for each in consumers.REGISTRY if each.name == name]
    of_casino = [tenant.casino.pk]
    before = consumer.measure(of_casino)
    assert before.set_aside == 0
    arrange, set_aside, error = EACH[name]
    arrange(tenant)
    lag = consumer.measure(of_casino)
    assert lag.items > (0 if name == "witnesses" else before.items)
    assert lag.set_aside == set_aside
    assert error in "; ".join([lag.of_log, *lag.errors])
    assert name == "archive" or (lag.oldest_s is not None and lag.oldest_s >= 0)
    if name not in ("witnesses", "exports", "archive", "sealing"):  # these are of the whole log
        assert consumer.measure([-1]) == Lag()
    if consumer.try_again is not None:
        assert consumers.try_again(consumer, "ada", of_casino) == 1
        assert "consumer.tried_again" in [
            each.type for each in audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
        ]


def test_what_was_tried_again_is_due_at_once(tenant: Tenant) -> None:
    _ledger(tenant)
    _mail(tenant)
    AlertMessage.objects.create(alert=Alert.objects.get(), webhook=_webhook(tenant), **_refused("503 no"))
    for name in ("ledger", "mail", "alerts"):
        [consumer] = [each for each in consumers.REGISTRY if each.name == name]
        with acting_as(WEB):
            assert consumers.try_again(consumer, "ada", [tenant.casino.pk]) == 1
    assert set_aside.due(tenant.casino)
    assert AlertNotice.objects.filter(error="550 no", next_try_at__lte=timezone.now()).exists()
    assert alert_messages.webhooks_to_send(timezone.now()) == [Webhook.objects.get().pk]


def test_a_casino_whose_alerts_would_reach_nobody_is_said_before_anything_happens(tenant: Tenant) -> None:
    def warned() -> list[str]:
        found = alert_mail.check_receivers(databases=["default"])
        return [each.id for each in found if tenant.casino.code in each.msg and each.id is not None]

    assert warned() == [], "it wants no alerts"
    Casino.objects.filter(pk=tenant.casino.pk).update(silent_after_min=30)
    assert warned() == ["audit.W009"]
    webhook = _webhook(tenant)
    assert warned() == []
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
    officer = hired(tenant, Role.OFFICER, "ada")
    NightSubscriber.objects.create(casino=tenant.casino, officer=officer, receives_alerts=True)
    assert warned() == ["audit.W009"], "an officer without an address"
    Officer.objects.filter(pk=officer.pk).update(email="ada@example.org")
    assert warned() == []


def test_a_job_whose_workers_all_died_is_begun_no_more(tenant: Tenant) -> None:
    about = {"casino": tenant.casino, "kind": JobKind.VERIFY, "officer": hired(tenant, Role.AUDITOR, "vera")}
    last, too_many = (Job.objects.create(**about, tries=tries) for tries in (runner.MAX_TRIES - 1, runner.MAX_TRIES))
    for job in (last, too_many):
        runner.run(job.pk)
        job.refresh_from_db()
    assert (too_many.state, too_many.error.partition(":")[0]) == (JobState.FAILED, "WorkerLost")
    assert last.state == JobState.DONE
