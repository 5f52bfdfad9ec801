"""``/metrics``: the figures of ``audit.monitoring`` in Prometheus' text format, read from the database when asked.

They describe the whole deployment, so any web server answers for all. Only the requests and the disk are those of the
web server that answers. ``CABOCHON_METRICS_TOKEN`` is the token that a scraper sends (``Authorization: Bearer …``);
without one in the settings there is no such page. A query that fails or takes too long leaves its figures out and
counts in ``cabochon_scrape_errors``.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from cryptography import x509
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from audit import consumers, monitoring, task_runs
from casino import request_metrics
from casino.celery import app
from casino.health import disk_free

STATEMENT_S = 2.0
"""The limit of time of each query of a scrape."""

QUEUES = ("replay", "night", "notify")

log = structlog.get_logger(__name__)


def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the metrics; 404 if no token is set, 401 if another is sent."""
    if not settings.CABOCHON_METRICS_TOKEN:
        return HttpResponse(status=404)
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.CABOCHON_METRICS_TOKEN}"):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    registry.register(_Figures())
    request_metrics.register(registry)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Figures(Collector):
    """Every figure, collected at the time of the scrape."""

    def describe(self) -> list[Metric]:
        return []  # so that registering it does not collect

    def collect(self) -> Iterator[Metric]:
        errors = 0
        for figures in (
            _sealing,
            _witnesses,
            _alerts,
            _heartbeats,
            _scheduled,
            _refused,
            _queues,
            _failed_tasks,
            _storage,
            _certificate,
        ):
            try:
                with monitoring.statement_limit(STATEMENT_S):
                    yield from list(figures())
            except (DatabaseError, InterfaceError, OperationalError, OSError, ValueError) as error:
                log.warning("not measured", figures=figures.__name__.strip("_"), error=type(error).__name__)
                errors += 1
                if not connection.is_usable():
                    connection.close()
        states = consumers.states(within_s=STATEMENT_S)
        yield from _consumers(states)
        errors += sum(bool(state.failure) for state in states)
        yield _gauge("scrape_errors", "Groups of figures that could not be read", errors)


_OF_CONSUMERS: tuple[tuple[str, str, Callable[[consumers.State], float]], ...] = (
    ("cabochon_consumer_lag_items", "Items that wait for a consumer of the record", lambda state: state.lag.items),
    ("cabochon_consumer_lag_seconds", "How long the oldest of them waits", lambda state: state.lag.oldest_s or 0),
    (
        "cabochon_consumer_set_aside",
        "Items that a consumer could not take, and tries again",
        lambda state: state.lag.set_aside,
    ),
    (
        "cabochon_consumer_stalled",
        "1 while a consumer moves nothing, or cannot be measured",
        lambda state: int(state.is_stalled),
    ),
)


def _consumers(states: Sequence[consumers.State]) -> Iterator[Metric]:
    for name, about, figure in _OF_CONSUMERS:
        family = GaugeMetricFamily(name, about, labels=["consumer", "severity"])
        for state in states:
            if name.endswith("_stalled") or not state.failure:
                family.add_metric([state.consumer.name, state.consumer.severity], figure(state))
        yield family


def _sealing() -> Iterator[Metric]:
    checkpoint = monitoring.last_checkpoint()
    if checkpoint is not None:
        yield _gauge("checkpoint_leaves", "Leaves of the tree of the newest checkpoint", checkpoint.size)
        if checkpoint.newest_batch_s is not None:
            yield _gauge("checkpoint_age_seconds", "Age of the newest batch in that tree", checkpoint.newest_batch_s)


def _witnesses() -> Iterator[Metric]:
    about = {
        "witness_leaves": "Leaves of the newest tree that a witness has cosigned",
        "witness_age_seconds": "Time since a witness has cosigned",
        "witness_refuses": "1 while a witness says that the log does not extend what it has cosigned",
    }
    families = {name: GaugeMetricFamily(f"cabochon_{name}", text, labels=["witness"]) for name, text in about.items()}
    for each in monitoring.witnesses():
        families["witness_leaves"].add_metric([each.name], each.size)
        families["witness_refuses"].add_metric([each.name], int(each.is_refused))
        if each.cosigned_s is not None:
            families["witness_age_seconds"].add_metric([each.name], each.cosigned_s)
    yield from families.values()


def _alerts() -> Iterator[Metric]:
    family = GaugeMetricFamily("cabochon_open_alerts", "Tables that should report, by what is wrong", labels=["kind"])
    for kind, number in monitoring.open_alerts().items():
        family.add_metric([kind], number)
    yield family


def _heartbeats() -> Iterator[Metric]:
    ages = monitoring.heartbeats()
    exported = ages.pop("export", None)
    if exported is not None:
        yield _gauge("export_age_seconds", "Time since a checkpoint was exported", exported)
    family = GaugeMetricFamily(
        "cabochon_heartbeat_age_seconds", "Time since a process did its work", labels=["process"]
    )
    for name in monitoring.PROCESSES:
        if name in ages:
            family.add_metric([name], ages[name])
    yield family


def _scheduled() -> Iterator[Metric]:
    age = GaugeMetricFamily("cabochon_task_age_seconds", "Time since a periodic task ran", labels=["task"])
    late = GaugeMetricFamily("cabochon_task_late", "1 while a periodic task has not run in time", labels=["task"])
    for each in task_runs.scheduled_tasks():
        late.add_metric([each.name], int(each.is_late))
        if each.age_s is not None:
            age.add_metric([each.name], each.age_s)
    yield from (age, late)


def _refused() -> Iterator[Metric]:
    family = GaugeMetricFamily("cabochon_refused_requests", "Requests in quarantine", labels=["key", "code"])
    for each in monitoring.refused():
        family.add_metric([each.key, each.code], each.count)
    yield family


def _queues() -> Iterator[Metric]:
    """Yield the messages in each queue of the broker."""
    family = GaugeMetricFamily("cabochon_queue_messages", "Messages in a queue of the broker", labels=["queue"])
    with app.connection_for_read(connect_timeout=1) as broker:
        broker.ensure_connection(max_retries=1, timeout=1)
        for queue in QUEUES:
            try:
                channel: Any = broker.default_channel
                count = channel.queue_declare(queue=queue, passive=True).message_count
            except broker.channel_errors:  # nothing was ever sent there
                count = 0
            family.add_metric([queue], count)
    yield family


def _failed_tasks() -> Iterator[Metric]:
    """Yield how often each task has failed: 0 for one that never did, so that its first failure is an increase."""
    app.loader.import_default_modules()  # which name the tasks: not before they are wanted
    family = CounterMetricFamily("cabochon_task_failures", "Tasks that have failed", labels=["task"])
    names = [name.removeprefix("audit.tasks.") for name in app.tasks if name.startswith("audit.tasks.")]
    for name, failures in (dict.fromkeys(sorted(names), 0) | monitoring.task_failures()).items():
        family.add_metric([name], failures)
    yield family


def _storage() -> Iterator[Metric]:
    """Yield the room on this server, the size of the database, and how old its backups are."""
    yield _gauge("disk_free_bytes", "Free bytes in the data folder of this web server", disk_free())
    storage = monitoring.storage()
    yield _gauge("database_bytes", "Size of the database", storage.size)
    yield _gauge("wal_archive_failing", "1 while the last archiving of the write-ahead log failed", storage.is_failing)
    if storage.backup_s is not None:
        yield _gauge("backup_age_seconds", "Time since the last base backup that was noted", storage.backup_s)


def _certificate() -> Iterator[Metric]:
    """Yield how long the certificate is valid that clients are shown, if the settings say where."""
    host, _, port = settings.CABOCHON_TLS_ADDRESS.rpartition(":")
    if host:
        shown = ssl.get_server_certificate((host, int(port)), timeout=STATEMENT_S)
        ends = x509.load_pem_x509_certificate(shown.encode()).not_valid_after_utc
        left_s = (ends - datetime.now(UTC)).total_seconds()
        yield _gauge("certificate_expires_seconds", "How long the certificate of the proxy is still valid", left_s)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"cabochon_{name}", about, value=value)
