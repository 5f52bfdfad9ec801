"""The first page of the desk: the money that waits, the next incidents, the nights, errors, the feed of the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from audit import monitoring
from audit.access.capabilities import Capability
from audit.casework import information
from audit.casework.debts import sums_owed
from audit.corrections.waiting import waiting
from audit.desk.findings.queues import can_work_cases
from audit.desk.overview import feed, nights, waits
from audit.desk.overview.new_questions import new_questions, raised_lately
from audit.desk.prepared import counted, key_of, prepared
from audit.desk.scoped_admin import casinos_in_record, in_record, narrowed, officer_of, scope_of
from audit.exports.findings import add_names
from audit.models import (
    Alert,
    Case,
    Complaint,
    FailedRun,
    Finding,
    Job,
    JobKind,
    JobState,
    NightReport,
    PaymentOrder,
    Quarantined,
    RegisterEntry,
    RequestState,
    RunState,
)
from audit.presentation import language
from audit.reconciliation.reopened import change_in_words, reopened_for
from audit.simulation import first_run

TO_READ, TO_READ_FOR = 5, timedelta(days=62)
"""How many findings of the lists of information the page names at most, and how long before today."""

COUNTS = ("alerts", "quarantined", "register_waits", "complaints", "corrections", "failed_runs")
"""What the page has the number of."""


def overview_context(request: HttpRequest) -> dict[str, Any] | None:
    """Return what the first page shows; None for an officer who reads no casino's record."""
    names = scope_of(request, Capability.SEE_NAMES)
    casinos = list(casinos_in_record(request))
    if not casinos:
        return None
    standing = in_record(Finding.objects.standing(), request)
    by_id = {casino.pk: casino for casino in casinos}
    several, raised = len(casinos) > 1, raised_lately(request, casinos)
    following, lines, questions = waits.incidents(request, of_several=several, also=raised.shown)
    owed = prepared("owed by incidents", key_of(request), lambda _now: sums_owed(standing))
    reports = in_record(NightReport.objects.select_related("casino"), request)
    last = nights.last_nights(reports, standing, names)
    tables = monitoring.tables(list(by_id))
    to_read = information.to_read_first(list(by_id), timezone.now().date() - TO_READ_FOR)
    add_names(to_read[:TO_READ], names)
    closed = None
    if not lines:
        closed = in_record(Case.objects.exclude(closed_at=None).select_related("casino"), request).order_by(
            "-closed_at"
        )
    return {
        "now": timezone.now(),
        "casino": casinos[0] if len(casinos) == 1 else None,
        "can_work_cases": can_work_cases(request),
        "is_simulated": first_run.plan() is not None,
        "tables": len(tables),
        "playing": sum(table.is_open for table in tables),
        "losses": waits.losses(owed, by_id),
        "kept": waits.kept(in_record(PaymentOrder.objects.all(), request)),
        "to_read": [(each, each.as_value().message(language())) for each in to_read[:TO_READ]],
        "more_to_read": max(0, len(to_read) - TO_READ),
        "new_questions": new_questions(request, raised, questions, of_several=several),
        "lines": lines,
        "next": following,
        "chart": waits.chart(lines) if lines else None,
        "last_closed": closed.first() if closed is not None else None,
        "last": last,
        "feeds": feed.feeds_of(feed.sending(tables)[: feed.MAX_TABLES], by_id),
        "sending": len(feed.sending(tables)),
        "verified": in_record(Job.objects.filter(kind=JobKind.VERIFY, state=JobState.DONE), request)
        .order_by("-ended_at")
        .first(),
        **counted("overview", COUNTS, request, lambda now: _counts(request)),
        "reopened": [(each, change_in_words(each)) for each in reopened_for(officer_of(request), reports)],
        "exchanges": narrowed(NightReport.objects.filter(casino__in=names.casinos()), request)
        .values("casino_id", "casino__name")
        .annotate(day=Max("gaming_day"))
        .order_by("casino__name"),
    }


def _counts(request: HttpRequest) -> dict[str, QuerySet[Any]]:
    """Return the queries of what is counted, by ``COUNTS``."""
    return {
        "alerts": in_record(Alert.objects.filter(ended_at=None), request),
        "quarantined": in_record(Quarantined.objects.all(), request),
        "register_waits": in_record(RegisterEntry.objects.filter(state=RequestState.WAITING), request),
        "complaints": in_record(Complaint.objects.filter(answer=None), request),
        "corrections": waiting(in_record(Finding.objects.all(), request)),
        "failed_runs": in_record(FailedRun.objects.filter(state=RunState.FAILED), request),
    }
