"""*Record and proofs*: what waits, what failed, what was verified, what is proved, which months are where."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from audit import consumers, heartbeats, monitoring
from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.addresses import page_of_stream
from audit.desk.audited_admin import actor
from audit.desk.jobs.job_form import EVERY_CASINO
from audit.desk.overview import alerts
from audit.desk.overview.feed import feeds_of
from audit.desk.record import latest
from audit.desk.record.months import months_context
from audit.desk.record.timeline import timeline
from audit.desk.scoped_admin import demands, scope_of
from audit.models import Casino
from audit.presentation import MISSING, count, date_time, duration, initials
from audit.transparency import signing_keys, tree
from audit.transparency.cosignatures import cosigned_note
from audit.transparency.tree import StoredCheckpoint

BEHIND_SHOWN = 50
"""Streams that wait, on the page: those that wait longest."""

STATEMENT_S = 10.0

PROCESS_NAMES = {
    "beat": gettext_lazy("scheduler (beat)"),
    "replay": gettext_lazy("replay processes"),
    "night": gettext_lazy("worker processes for nights and jobs"),
    "notify": gettext_lazy("workers for webhooks"),
    "sequencer": gettext_lazy("sequencer"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the page's lists: what, its value in words, and whether an officer should look at it.

    ``note`` says more about the value; ``again`` names the consumer whose items the officer may have tried again.
    """

    label: str
    text: str
    is_marked: bool = False
    note: str = ""
    again: str = ""


@dataclass(frozen=True, slots=True)
class WitnessLine:
    """A witness: what it cosigned last, and whether it follows the log. ``tag`` is the colour of ``state``."""

    name: str
    initials: str
    words: str
    state: str
    tag: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One of the four facts on top: what it is, its value, more about it, and the part of the page that has it all."""

    label: str
    icon: str
    text: str
    note: str
    address: str
    is_marked: bool = False


@demands(Capability.SEE_RECORD)
def state_view(request: HttpRequest) -> HttpResponse:
    """Show the state of the record of the officer's casinos."""
    scope = scope_of(request, Capability.SEE_RECORD)
    casinos = {casino.pk: casino for casino in scope.casinos()}
    # Outside the transaction of the limit, in which nothing that is kept may be asked for.
    of_every_page, newest = admin.site.each_context(request), _latest(request)
    may_try_again = bool(scope_of(request, Capability.WORK_CASES))
    measured = consumers.states(within_s=STATEMENT_S, casinos=scope.casino_ids)
    with monitoring.statement_limit(STATEMENT_S):
        tables = monitoring.tables(scope.casino_ids)
        dirty = _waiting(measured, "adjudication", monitoring.dirty, scope.casino_ids)
        unsealed = _waiting(measured, "sealing", monitoring.unsealed, scope.casino_ids)
        behind = monitoring.behind(scope.casino_ids, limit=BEHIND_SHOWN) if dirty.count else []
        witnesses = monitoring.witnesses()
        ages = monitoring.heartbeats()
        sealed, checkpoint = monitoring.last_checkpoint(), tree.newest_checkpoint()
        context = {
            **of_every_page,
            "title": gettext("Record and proofs"),
            "facts": _facts(casinos, tables, dirty, unsealed, witnesses, sealed),
            "sealing": _sealing(sealed, checkpoint, ages),
            "fork": monitoring.fork(),
            "left": _left(scope.casino_ids),
            "timeline": timeline(witnesses, next(iter(casinos.values())) if len(casinos) == 1 else None),
            "witnesses": [_witness(each) for each in witnesses],
            "refused_by": ", ".join(each.name for each in witnesses if each.is_refused),
            "signs_here": signing_keys.is_readable_here("checkpoint"),
            "note": cosigned_note(checkpoint) if checkpoint is not None else "",
            "verify_all": _verify_all(scope),
            **newest,
            **months_context(request),
            "last_export": _ago(ages.get("export")),
            "last_backup": _ago(ages.get("backup")),
            "processes": _processes(ages),
            "consumers": [_consumer(each, may_try_again=may_try_again) for each in measured],
            "feeds": feeds_of(tables, casinos),
            "tables": [_table_row(table, casinos) for table in tables],
            "silent": sum(table.is_silent for table in tables),
            "alerts": alerts.alerts_of(scope.casino_ids),
            "behind": [_behind_row(stream, casinos) for stream in behind],
        }
    return TemplateResponse(request, "admin/audit/record/state.html", context)


@demands(Capability.WORK_CASES)
def try_again_view(request: HttpRequest, name: str) -> HttpResponse:
    """Have what a consumer has set aside of the officer's casinos tried again now, by POST."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    consumer = next((each for each in consumers.REGISTRY if each.name == name), None)
    if consumer is None:
        raise Http404
    number = consumers.try_again(consumer, actor(request), scope_of(request, Capability.WORK_CASES).casino_ids)
    words = ngettext("%(number)s item is tried again now.", "%(number)s items are tried again now.", number)
    messages.info(request, words % {"number": count(number)})
    return redirect("admin:record_state")


def _latest(request: HttpRequest) -> dict[str, Any]:
    """Return the newest rows of the lists of the record, with the sentence above them."""
    refused, newest_refused = latest.refused(request)
    corrections, newest_corrections = latest.corrected(request)
    number_failed, failed = latest.failed(request)
    verifications, last_verified = latest.verifications(request)
    return {
        "verifications": verifications,
        "running": latest.running(request),
        "last_verified": last_verified,
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


def _waiting(
    measured: Sequence[consumers.State], name: str, ask: Callable[[Any], monitoring.Waiting], casino_ids: Any
) -> monitoring.Waiting:
    """Return what waits for a consumer as it was measured; it is asked for again where it could not be."""
    lag = next((each.lag for each in measured if each.consumer.name == name and not each.failure), None)
    return ask(casino_ids) if lag is None else monitoring.Waiting(lag.items, lag.oldest_s)


def _facts(
    casinos: Mapping[int, Casino],
    tables: Sequence[monitoring.TableState],
    behind: monitoring.Waiting,
    unsealed: monitoring.Waiting,
    witnesses: Sequence[monitoring.WitnessSeen],
    sealed: monitoring.Sealed | None,
) -> list[Fact]:
    """Return what came, what is not judged yet, what is not sealed yet, and what was signed last."""
    return [
        _events_today(casinos, tables),
        Fact(
            gettext("Oldest not judged"),
            "clock",
            gettext("none") if not behind.count else duration(behind.oldest_s or 0),
            _streams_behind(behind.count) if behind.count else gettext("every stream is adjudicated to its last event"),
            "#behind",
            is_marked=(behind.oldest_s or 0) > settings.CABOCHON_REPLAY_STALE_S,
        ),
        Fact(
            gettext("Not sealed yet"),
            "sealed",
            _batches(unsealed.count),
            gettext("every batch is under the signed checkpoint")
            if unsealed.oldest_s is None
            else _oldest_waiting(unsealed.oldest_s),
            "#sealing",
            is_marked=(unsealed.oldest_s or 0) > settings.CABOCHON_SEQUENCER_STALE_S,
        ),
        Fact(
            gettext("Last checkpoint"),
            "record",
            gettext("nothing yet") if sealed is None else _batches(sealed.size),
            _follow(witnesses),
            "#witnesses",
            is_marked=any(each.is_refused for each in witnesses),
        ),
    ]


def _events_today(casinos: Mapping[int, Casino], tables: Sequence[monitoring.TableState]) -> Fact:
    now = timezone.now()
    number = monitoring.events_of({pk: casino.gaming_day_at(now) for pk, casino in casinos.items()})
    received = max((each.received_at for each in tables if each.received_at is not None), default=None)
    newest = gettext("no table has sent anything yet")
    if received is not None:
        ago = duration(max(0.0, (now - received).total_seconds()))
        newest = gettext("the newest of any day came %(duration)s ago") % {"duration": ago}
    return Fact(gettext("Events of this gaming day"), "pulse", count(number), newest, "#tables")


def _streams_behind(number: int) -> str:
    return ngettext("%(number)s stream behind", "%(number)s streams behind", number) % {"number": count(number)}


def _follow(witnesses: Sequence[monitoring.WitnessSeen]) -> str:
    """Return how many witnesses follow the log."""
    if not witnesses:
        return gettext("no witness cosigns it")
    following = sum(not each.is_silent and not each.is_refused for each in witnesses)
    words = ngettext("%(following)s witness of %(all)s follows", "%(following)s witnesses of %(all)s follow", following)
    return words % {"following": count(following), "all": count(len(witnesses))}


def _sealing(
    sealed: monitoring.Sealed | None, checkpoint: StoredCheckpoint | None, ages: Mapping[str, float]
) -> list[Line]:
    """Return the size and the root of the newest signed tree, how new it is, and when it was exported last."""
    if sealed is None or checkpoint is None:
        return [Line(gettext("Size"), gettext("nothing yet")), Line(gettext("Exported"), _ago(ages.get("export")))]
    root = checkpoint.root.hex()
    return [
        Line(gettext("Size"), _batches(sealed.size)),
        Line(gettext("Root"), f"{root[:8]}…{root[-4:]}"),
        Line(gettext("Newest batch"), _ago(sealed.newest_batch_s)),
        Line(gettext("Exported"), _ago(ages.get("export"))),
        Line(gettext("Key"), signing_keys.origin()),
    ]


def _witness(witness: monitoring.WitnessSeen) -> WitnessLine:
    """Return what a witness cosigned last, and why it gave nothing or refuses."""
    words = f"{_batches(witness.size)} · {_ago(witness.cosigned_s)}" if witness.size else gettext("nothing yet")
    if witness.is_refused:
        words = f"{words}; {gettext('refuses this log: it has cosigned another one')}"
    elif witness.error:
        words = f"{words}; {gettext('gave no cosignature at the last attempt')}"
    state = gettext("cosigns")
    if witness.is_refused:
        state = gettext("refuses")
    elif witness.is_silent:
        state = gettext("silent")
    is_bad = witness.is_refused or witness.is_silent
    return WitnessLine(witness.name, initials(witness.name), words, state, "bad" if is_bad else "ok")


def _batches(number: int) -> str:
    return ngettext("%(number)s batch", "%(number)s batches", number) % {"number": count(number)}


def _processes(ages: Mapping[str, float]) -> list[Line]:
    return [
        Line(str(label), _ago(ages.get(name)), is_marked=name not in ages or ages[name] > heartbeats.stale_s(name))
        for name, label in PROCESS_NAMES.items()
    ]


def _consumer(state: consumers.State, *, may_try_again: bool) -> Line:
    """Return how far a consumer is behind, and what it has set aside, with the errors as its note."""
    consumer, lag = state.consumer, state.lag
    text = gettext("up to date")
    if state.failure:
        text = gettext("not known")
    elif lag.items:
        wait = ngettext("%(number)s waits", "%(number)s wait", lag.items) % {"number": count(lag.items)}
        is_aged = lag.oldest_s is not None and not math.isinf(lag.oldest_s)
        text = f"{wait}, {_oldest_waiting(lag.oldest_s or 0)}" if is_aged else wait
    if lag.set_aside:
        text = f"{text}; {gettext('%(number)s set aside') % {'number': count(lag.set_aside)}}"
    again = consumer.name if lag.set_aside and consumer.try_again and may_try_again else ""
    return Line(
        str(consumer.label),
        text,
        not state.is_well,
        "; ".join(filter(None, (lag.of_log, *lag.errors))) or state.failure,
        again,
    )


def _oldest_waiting(age_s: float) -> str:
    return gettext("the oldest waiting for %(duration)s") % {"duration": duration(age_s)}


def _ago(age_s: float | None) -> str:
    return gettext("not known") if age_s is None else gettext("%(duration)s ago") % {"duration": duration(age_s)}


def _table_row(table: monitoring.TableState, casinos: dict[int, Casino]) -> dict[str, Any]:
    casino = casinos[table.casino_id]
    return {
        "casino": casino,
        "table": table,
        "received": date_time(table.received_at, casino) if table.received_at else MISSING,
        "address": page_of_stream(table.stream_id, "events") if table.stream_id is not None else "",
    }


def _behind_row(stream: monitoring.StreamBehind, casinos: dict[int, Casino]) -> dict[str, Any]:
    casino = casinos.get(stream.casino_id)
    return {
        "casino": casino or MISSING,
        "stream": stream,
        "events": count(stream.events),
        "since": date_time(stream.since, casino) if stream.since else MISSING,
    }
