"""``/metrics``: the figures of ``audit.monitoring`` in Prometheus' text format, read from the database when asked.

They are the deployment's and not a process's, so any web server answers for all. ``CABOCHON_METRICS_TOKEN`` is the
token that a scraper sends (``Authorization: Bearer …``); without one in the settings there is no such page. A query
that fails or takes too long leaves its figures out and counts in ``cabochon_scrape_errors``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from audit import monitoring, task_runs
from casino.celery import app

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
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Figures(Collector):
    """Every figure, collected at the time of the scrape."""

    def describe(self) -> list[GaugeMetricFamily]:
        return []  # so that registering it does not collect

    def collect(self) -> Iterator[GaugeMetricFamily]:
        errors = 0
        for figures in (
            _dirty,
            _sealing,
            _witnesses,
            _jobs,
            _webhooks,
            _alerts,
            _heartbeats,
            _scheduled,
            _refused,
            _queues,
        ):
            try:
                with monitoring.statement_limit(STATEMENT_S):
                    yield from list(figures())
            except (DatabaseError, InterfaceError, OperationalError, OSError) as error:
                log.warning("not measured", figures=figures.__name__.strip("_"), error=type(error).__name__)
                errors += 1
                if not connection.is_usable():
                    connection.close()
        yield _gauge("scrape_errors", "Groups of figures that could not be read", errors)


def _dirty() -> Iterator[GaugeMetricFamily]:
    dirty = monitoring.dirty()
    yield _gauge("dirty_streams", "Streams that are not adjudicated to their end", dirty.count)
    yield _gauge("oldest_unadjudicated_seconds", "How long the oldest event waits for the law", dirty.oldest_s or 0)


def _sealing() -> Iterator[GaugeMetricFamily]:
    unsealed = monitoring.unsealed()
    yield _gauge("unsealed_batches", "Accepted batches that are in no tree: the outbox", unsealed.count)
    yield _gauge("oldest_unsealed_seconds", "How long the oldest of them waits", unsealed.oldest_s or 0)
    checkpoint = monitoring.last_checkpoint()
    if checkpoint is not None:
        yield _gauge("checkpoint_leaves", "Leaves of the tree of the newest checkpoint", checkpoint.size)
        if checkpoint.newest_batch_s is not None:
            yield _gauge("checkpoint_age_seconds", "Age of the newest batch in that tree", checkpoint.newest_batch_s)


def _witnesses() -> Iterator[GaugeMetricFamily]:
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


def _jobs() -> Iterator[GaugeMetricFamily]:
    jobs = monitoring.waiting_jobs()
    yield _gauge("jobs_waiting", "Background jobs that no worker has begun", jobs.count)
    yield _gauge("failed_runs", "Adjudication runs that failed", monitoring.failed_runs())
    _first, set_aside = monitoring.set_aside_by_ledger()
    yield _gauge("ledger_set_aside", "Batches that the evidence ledger could not be fed", set_aside)


def _webhooks() -> Iterator[GaugeMetricFamily]:
    webhooks = monitoring.webhooks()
    yield _gauge("webhooks_failing", "Active webhooks whose receivers fail", webhooks.failing)
    yield _gauge("webhooks_unsent_changes", "Changes of findings that the slowest webhook lacks", webhooks.unsent)
    yield _gauge("webhooks_dead_letters", "Messages that were given up and not sent again", webhooks.dead_letters)


def _alerts() -> Iterator[GaugeMetricFamily]:
    family = GaugeMetricFamily("cabochon_open_alerts", "Tables that should report, by what is wrong", labels=["kind"])
    for kind, number in monitoring.open_alerts().items():
        family.add_metric([kind], number)
    yield family


def _heartbeats() -> Iterator[GaugeMetricFamily]:
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


def _scheduled() -> Iterator[GaugeMetricFamily]:
    age = GaugeMetricFamily("cabochon_task_age_seconds", "Time since a periodic task ran", labels=["task"])
    late = GaugeMetricFamily("cabochon_task_late", "1 while a periodic task has not run in time", labels=["task"])
    for each in task_runs.scheduled_tasks():
        late.add_metric([each.name], int(each.is_late))
        if each.age_s is not None:
            age.add_metric([each.name], each.age_s)
    yield from (age, late)


def _refused() -> Iterator[GaugeMetricFamily]:
    family = GaugeMetricFamily("cabochon_refused_requests", "Requests in quarantine", labels=["key", "code"])
    for each in monitoring.refused():
        family.add_metric([each.key, each.code], each.count)
    yield family


def _queues() -> Iterator[GaugeMetricFamily]:
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


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"cabochon_{name}", about, value=value)
