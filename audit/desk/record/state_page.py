"""*Record and proofs*: what waits, what failed, what was verified, what is proved, which months are where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext

from audit import monitoring
from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.jobs.job_form import EVERY_CASINO
from audit.desk.overview import alerts
from audit.desk.overview.feed import feeds_of
from audit.desk.record import latest
from audit.desk.record.months import months_context
from audit.desk.record.timeline import timeline
from audit.desk.scoped_admin import demands, scope_of
from audit.models import Casino
from audit.presentation import MISSING, count, date_time, duration
from audit.transparency import signing_keys, tree
from audit.transparency.cosignatures import cosigned_note

BEHIND_SHOWN = 50
"""Streams that wait, on the page: those that wait longest."""

STATEMENT_S = 10.0

PROCESS_NAMES = {
    "beat": gettext_lazy("schedule (beat)"),
    "replay": gettext_lazy("replay workers"),
    "night": gettext_lazy("workers for nights and jobs"),
    "notify": gettext_lazy("workers for webhooks"),
    "sequencer": gettext_lazy("sequencer"),
}

STALE_S = {"beat": 60, "replay": 120, "night": 1_200, "notify": 120, "sequencer": 60}
"""The ages beyond which the page marks a heartbeat."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the page's lists: what, its value in words, and whether an officer should look at it.

    ``note`` says more about the value, ``address`` is where the rows are.
    """

    label: str
    text: str
    is_marked: bool = False
    note: str = ""
    address: str = ""


@demands(Capability.SEE_RECORD)
def state_view(request: HttpRequest) -> HttpResponse:
    """Show the state of the record of the officer's casinos."""
    scope = scope_of(request, Capability.SEE_RECORD)
    casinos = {casino.pk: casino for casino in scope.casinos()}
    with monitoring.statement_limit(STATEMENT_S):
        tables = monitoring.tables(scope.casino_ids)
        behind = monitoring.behind(scope.casino_ids, limit=BEHIND_SHOWN)
        witnesses = monitoring.witnesses()
        ages = monitoring.heartbeats()
        newest = _latest(request)
        context = {
            **admin.site.each_context(request),
            "title": gettext("Record and proofs"),
            "waiting": _waiting(scope.casino_ids, newest["number_failed"]),
            "sealing": _sealing(ages),
            "fork": monitoring.fork(),
            "left": _left(scope.casino_ids),
            "timeline": timeline(witnesses, next(iter(casinos.values())) if len(casinos) == 1 else None),
            "witnesses": [_witness(each) for each in witnesses],
            "refused_by": ", ".join(each.name for each in witnesses if each.is_refused),
            "signs_here": signing_keys.is_readable_here("checkpoint"),
            "note": cosigned_note(checkpoint) if (checkpoint := tree.newest_checkpoint()) else "",
            "verify_all": _verify_all(scope),
            **newest,
            **months_context(request),
            "last_export": _ago(ages.get("export")),
            "processes": _processes(ages),
            "feeds": feeds_of(tables, casinos),
            "tables": [_table_row(table, casinos) for table in tables],
            "silent": sum(table.is_silent for table in tables),
            "alerts": alerts.lines(scope.casino_ids),
            "behind": [_behind_row(stream, casinos) for stream in behind],
        }
    return TemplateResponse(request, "admin/audit/record/state.html", context)


def _latest(request: HttpRequest) -> dict[str, Any]:
    """Return the newest rows of the lists of the record, with the sentence above them."""
    refused, newest_refused = latest.refused(request)
    corrections, newest_corrections = latest.corrected(request)
    number_failed, failed = latest.failed(request)
    return {
        "verifications": latest.verifications(request),
        "running": latest.running(request),
        "last_verified": latest.last_verification(request),
        "exports": latest.exports(request),
        "refused": count(refused) if refused else "",
        "newest_refused": newest_refused,
        "corrections_waiting": count(corrections) if corrections else "",
        "newest_corrections": newest_corrections,
        "failed": failed,
        "number_failed": number_failed,
    }


def _verify_all(scope: Scope) -> str:
    """Return what the button verifies at once: every casino, or the only one; "" leaves the choice to the form."""
    if scope.is_everywhere:
        return EVERY_CASINO
    codes = list(scope.casinos().values_list("code", flat=True)[:2])
    return str(codes[0]) if len(codes) == 1 else ""


def _left(casino_ids: Any) -> str:
    """Return which batches the sequencer leaves, and why; "" if none."""
    left, number = monitoring.left_batches(casino_ids)
    named = [f"{each} ({each.get_cause_display()})" for each in left]
    if number > len(left):
        named.append(gettext("%(number)s more") % {"number": count(number - len(left))})
    return ", ".join(named)


def _waiting(casino_ids: Any, failed: int) -> list[Line]:
    runs, jobs = reverse("admin:audit_failedrun_changelist"), reverse("admin:audit_job_changelist")
    return [
        _line(gettext("Streams behind"), monitoring.dirty(casino_ids), marked_from_s=120, address="#behind"),
        _line(gettext("Batches not sealed"), monitoring.unsealed(casino_ids), marked_from_s=60, address="#sealing"),
        _line(gettext("Background jobs waiting"), monitoring.waiting_jobs(casino_ids), marked_from_s=600, address=jobs),
        Line(gettext("Replays that failed"), count(failed), is_marked=failed > 0, address=runs),
    ]


def _line(label: str, waiting: monitoring.Waiting, *, marked_from_s: float, address: str) -> Line:
    text = count(waiting.count)
    if waiting.oldest_s is None:
        return Line(label, text, address=address)
    oldest = gettext("the oldest for %(duration)s") % {"duration": duration(waiting.oldest_s)}
    return Line(label, text, is_marked=waiting.oldest_s > marked_from_s, note=oldest, address=address)


def _sealing(ages: Mapping[str, float]) -> list[Line]:
    checkpoint = monitoring.last_checkpoint()
    return [
        Line(gettext("Last checkpoint"), gettext("nothing yet") if checkpoint is None else _checkpoint(checkpoint)),
        Line(gettext("Last export"), _ago(ages.get("export"))),
    ]


def _witness(witness: monitoring.WitnessSeen) -> Line:
    """Return what a witness cosigned last, and why it gave nothing or refuses."""
    return Line(
        witness.name,
        f"{_batches(witness.size)} · {_ago(witness.cosigned_s)}" if witness.size else gettext("nothing yet"),
        is_marked=witness.is_refused or witness.is_silent,
        note=_note_of(witness),
    )


def _note_of(witness: monitoring.WitnessSeen) -> str:
    if witness.is_refused:
        return gettext("refuses this log: it has cosigned another one")
    return gettext("gave no cosignature at the last attempt") if witness.error else ""


def _checkpoint(checkpoint: monitoring.Sealed) -> str:
    return f"{_batches(checkpoint.size)} · {_ago(checkpoint.newest_batch_s)}"


def _batches(number: int) -> str:
    return ngettext("%(number)s batch", "%(number)s batches", number) % {"number": count(number)}


def _processes(ages: Mapping[str, float]) -> list[Line]:
    return [
        Line(str(label), _ago(ages.get(name)), is_marked=name not in ages or ages[name] > STALE_S[name])
        for name, label in PROCESS_NAMES.items()
    ]


def _ago(age_s: float | None) -> str:
    return gettext("not known") if age_s is None else gettext("%(duration)s ago") % {"duration": duration(age_s)}


def _table_row(table: monitoring.TableState, casinos: dict[int, Casino]) -> dict[str, Any]:
    casino = casinos[table.casino_id]
    return {
        "casino": casino,
        "table": table,
        "received": date_time(table.received_at, casino) if table.received_at else MISSING,
    }


def _behind_row(stream: monitoring.StreamBehind, casinos: dict[int, Casino]) -> dict[str, Any]:
    casino = casinos.get(stream.casino_id)
    return {
        "casino": casino or MISSING,
        "stream": stream,
        "events": count(stream.events),
        "since": date_time(stream.since, casino) if stream.since else MISSING,
    }
