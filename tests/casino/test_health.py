"""Health and metrics: they say that the record stands still, and where."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit import consumers, heartbeats, monitoring, task_runs, tasks
from audit.adjudication.replay import advance
from audit.models import Adjudication, Heartbeat, TaskFailure, TaskRun
from casino import metrics
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def recent_heartbeats(settings: Any) -> Iterator[None]:
    """Give every process a heartbeat, and what other tests left behind no weight."""
    settings.CABOCHON_SEQUENCER_STALE_S = settings.CABOCHON_REPLAY_STALE_S = 3_600.0
    for name in monitoring.PROCESSES:
        heartbeats.write(name)
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        task_runs.note(entry["task"], entry["kwargs"])
    yield
    Heartbeat.objects.all().delete()
    TaskRun.objects.all().delete()


def answer(client: Client, path: str = "/health/ready") -> tuple[int, dict[str, Any]]:
    response = client.get(path)
    return response.status_code, response.json()


def test_live_needs_nothing(client: Client) -> None:
    assert answer(client, "/health/live") == (200, {"status": "live"})


def test_ready_while_everything_works(client: Client) -> None:
    status, content = answer(client)
    assert (status, content["status"], content["failed"]) == (200, "ready", [])
    assert set(content["checks"]) == {
        *("database", "migrations", "write", "disk", *monitoring.PROCESSES, "schedule"),
        *(each.name for each in consumers.REGISTRY),
    }


@pytest.mark.parametrize("process", monitoring.PROCESSES)
def test_a_process_without_a_recent_heartbeat_is_named_and_the_server_still_accepts(
    client: Client, process: str
) -> None:
    Heartbeat.objects.filter(name=process).update(beat_at=timezone.now() - timedelta(days=1))
    status, content = answer(client)
    assert (status, content["failed"]) == (503, [process])
    assert content["checks"][process]["age_s"] >= 86_400
    assert answer(client, "/health/accepts")[0] == 200


def test_a_process_that_never_worked_is_not_ready(client: Client) -> None:
    Heartbeat.objects.filter(name="beat").delete()
    status, content = answer(client)
    assert (status, content["failed"]) == (503, ["beat"])
    assert content["checks"]["beat"]["age_s"] is None


@pytest.mark.parametrize("name", in_short(settings.CELERY_BEAT_SCHEDULE, every=3))
def test_a_periodic_task_that_did_not_run_is_named(client: Client, name: str) -> None:
    """Whatever keeps it from running: beat, the broker, a worker, or somebody who wants it so."""
    TaskRun.objects.filter(pk=name).update(ran_at=timezone.now() - timedelta(days=1))
    for _ in range(2):
        status, content = answer(client)
        assert (status, content["failed"]) == (503, ["schedule"])
        assert content["checks"]["schedule"]["detail"] == f"not run in time: {name}"
        TaskRun.objects.filter(pk=name).delete()
    assert answer(client, "/health/accepts")[0] == 200


@pytest.mark.parametrize("parity", in_short([0, 1], every=2))
def test_the_metrics_say_which_periodic_tasks_did_not_run(client: Client, settings: Any, parity: int) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    names = list(settings.CELERY_BEAT_SCHEDULE)

    def late() -> set[str]:
        lines = scraped(client)
        return {name for name in names if float(lines[f'cabochon_task_late{{task="{name}"}}'])}

    assert late() == set()
    did_not_run = TaskRun.objects.filter(pk__in=names[parity::2])
    did_not_run.update(ran_at=timezone.now() - timedelta(days=1))
    assert late() == set(names[parity::2])
    did_not_run.delete()
    assert late() == set(names[parity::2]), "it never ran"


def test_a_task_that_was_not_sent_by_the_schedule_notes_nothing() -> None:
    TaskRun.objects.all().delete()
    task_runs.note("audit.tasks.heartbeat", {"scheduled": "sweep"})
    task_runs.note("audit.tasks.sweep", {})
    task_runs.note("audit.tasks.sweep", {"scheduled": "unknown"})
    assert not TaskRun.objects.exists()


def test_a_task_that_ends_notes_that_it_ran_and_one_that_fails_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    TaskRun.objects.all().delete()
    sent = settings.CELERY_BEAT_SCHEDULE["works"]
    tasks.sweep_jobs.apply(kwargs=sent["kwargs"])
    assert set(task_runs.ran_at()) == {"works"}
    before = task_runs.ran_at()
    monkeypatch.setattr(tasks.runner, "abandoned", lambda: 1 / 0)
    tasks.sweep_jobs.apply(kwargs=sent["kwargs"])
    assert task_runs.ran_at() == before


def test_a_task_that_fails_is_counted_and_one_that_never_did_is_there_with_none(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    failures = 'cabochon_task_failures_total{task="sweep_jobs"}'
    before = float(scraped(client)[failures])
    monkeypatch.setattr(tasks.runner, "abandoned", lambda: 1 / 0)
    for _ in range(2):
        tasks.sweep_jobs.apply()
    lines = scraped(client)
    assert float(lines[failures]) == before + 2
    assert 'cabochon_task_failures_total{task="night_mail"}' in lines
    assert TaskFailure.objects.get(pk="sweep_jobs").error == "ZeroDivisionError"


def test_the_metrics_say_how_much_room_there_is_and_how_old_the_last_backup_is(client: Client, settings: Any) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    assert "cabochon_backup_age_seconds" not in scraped(client), "none was noted"
    heartbeats.write("backup")
    Heartbeat.objects.filter(name="backup").update(beat_at=timezone.now() - timedelta(days=2))
    lines = scraped(client)
    assert float(lines["cabochon_backup_age_seconds"]) >= 2 * 86_400
    assert float(lines["cabochon_disk_free_bytes"]) > 0
    assert float(lines["cabochon_database_bytes"]) > 0
    assert float(lines["cabochon_wal_archive_failing"]) in (0, 1)


def test_the_metrics_say_how_long_the_certificate_is_valid_that_clients_are_shown(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    assert "cabochon_certificate_expires_seconds" not in scraped(client), "no address is set"
    with shows_certificate(tmp_path, days=9) as port:
        settings.CABOCHON_TLS_ADDRESS = f"127.0.0.1:{port}"
        left_s = float(scraped(client)["cabochon_certificate_expires_seconds"])
    assert 8 * 86_400 < left_s <= 9 * 86_400
    lines = scraped(client)  # nobody listens there any more
    assert "cabochon_certificate_expires_seconds" not in lines
    assert float(lines["cabochon_scrape_errors"]) >= 1


@contextmanager
def shows_certificate(folder: Path, *, days: int) -> Iterator[int]:
    """Show one connection a certificate that is valid for so many days; give the port."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "desk.example")]), datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    valid = builder.not_valid_before(now).not_valid_after(now + timedelta(days=days))
    certificate = valid.sign(key, hashes.SHA256())
    of_key = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "both.pem").write_bytes(key.private_bytes(*of_key) + certificate.public_bytes(Encoding.PEM))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "both.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def show() -> None:
            with suppress(OSError):
                tls.wrap_socket(listener.accept()[0], server_side=True).close()

        showing = threading.Thread(target=show)
        showing.start()
        yield listener.getsockname()[1]
        showing.join(timeout=10)


def test_a_batch_that_waits_too_long_for_its_seal_is_not_ready(client: Client, settings: Any) -> None:
    tenant = Tenant()
    tenant.post("s", [tenant.opener("s")])
    settings.CABOCHON_SEQUENCER_STALE_S = 0.0
    assert "sealing" in answer(client)[1]["failed"]


def test_a_stream_that_waits_while_no_step_is_committed_is_not_ready_and_a_slow_queue_is(
    client: Client, settings: Any
) -> None:
    tenant = Tenant()
    tenant.post("done", [tenant.opener("done")])
    advance(tenant.stream("done").stream_id)
    tenant.post("waits", [tenant.opener("waits")])
    Adjudication.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    settings.CABOCHON_REPLAY_STALE_S = 0.0
    heartbeats.write("replay")
    assert "adjudication" in answer(client)[1]["failed"]
    settings.CABOCHON_REPLAY_STALE_S = 3_000.0
    Adjudication.objects.update(updated_at=timezone.now())
    assert answer(client)[0] == 200


def test_a_disk_without_room_is_not_ready_and_does_not_accept(client: Client, settings: Any) -> None:
    settings.CABOCHON_FREE_MB = 10**12
    assert answer(client)[1]["failed"] == ["disk"]
    assert answer(client, "/health/accepts")[0] == 503


@pytest.mark.superuser
def test_a_migration_that_was_not_applied_is_not_ready(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "delete from django_migrations where app = 'audit'"
            " and name = (select max(name) from django_migrations where app = 'audit') returning app, name"
        )
        [(app, name)] = cursor.fetchall()
    try:
        assert answer(client)[1]["failed"] == ["migrations"]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("insert into django_migrations (app, name, applied) values (%s, %s, now())", (app, name))


def test_there_are_no_metrics_without_a_token_or_with_another(client: Client, settings: Any) -> None:
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404
    settings.CABOCHON_METRICS_TOKEN = "right"
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_the_metrics_say_what_waits_and_who_was_refused(client: Client, settings: Any) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    tenant = Tenant()
    tenant.post("s", [tenant.opener("s")])
    _be_refused(tenant)
    lines = scraped(client)
    for consumer in ("adjudication", "sealing"):
        labels = f'{{consumer="{consumer}",severity="page"}}'
        assert float(lines[f"cabochon_consumer_lag_items{labels}"]) >= 1
        assert float(lines[f"cabochon_consumer_lag_seconds{labels}"]) > 0
    assert float(lines['cabochon_heartbeat_age_seconds{process="beat"}']) < 3_600
    assert any(f'key="{tenant.key.prefix}"' in name for name in lines)


def test_the_keys_of_refusals_are_bounded(client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "MAX_REFUSALS", 1)
    settings.CABOCHON_METRICS_TOKEN = "right"
    for tenant in (Tenant(), Tenant()):
        _be_refused(tenant)
    names = [name for name in scraped(client) if name.startswith("cabochon_refused_requests{")]
    assert sum('key="other"' in name for name in names) >= 1
    assert sum('key="other"' not in name for name in names) == 1


def test_a_query_that_takes_too_long_leaves_its_figures_out_and_no_others(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CABOCHON_METRICS_TOKEN = "right"
    monkeypatch.setattr(monitoring, "_HEARTBEATS", "select 'beat', max(1) from (select pg_sleep(30)) s")
    monkeypatch.setattr(metrics, "STATEMENT_S", 0.5)
    lines = scraped(client)
    assert not any(name.startswith("cabochon_heartbeat_age_seconds") for name in lines)
    assert 'cabochon_consumer_lag_items{consumer="jobs",severity="ticket"}' in lines
    assert float(lines["cabochon_scrape_errors"]) >= 1


def _be_refused(tenant: Tenant) -> None:
    """Send another content for an event that is stored."""
    tenant.post("t", [tenant.opener("t")])
    assert tenant.post("t", [tenant.opener("t", float=1)]).status_code == 409


def scraped(client: Client) -> dict[str, str]:
    response = client.get("/metrics", headers={"authorization": "Bearer right"})
    assert response.status_code == 200
    text = response.content.decode()
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
