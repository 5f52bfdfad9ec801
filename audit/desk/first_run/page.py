"""The page that a newcomer reads first: what is loaded, what to look at, and how to send a first event.

Where something simulated was loaded, it stands once before the overview in each browser. The overview links to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from audit.access.capabilities import Capability
from audit.casework.debts import sums_owed
from audit.casework.priority import by_urgency
from audit.desk.first_run.steps import first_steps
from audit.desk.overview.waits import Loss, losses
from audit.desk.scoped_admin import demands, in_record, officer_of, scope_of
from audit.event_store import read
from audit.models import Casino, Finding, LoggedStream, NightReport, NightState
from audit.models.cases import State
from audit.presentation import count, finding_title, money_in_prose
from audit.simulation import first_run

DISMISSED = "first-run"
"""The cookie of a browser in which the page was dismissed."""

YEAR_S = 365 * 24 * 3600


def is_shown_first(request: HttpRequest) -> bool:
    """Whether the page stands before the overview: something is simulated, or there is no casino, and it was not shown
    here yet."""
    return (
        DISMISSED not in request.COOKIES
        and bool(scope_of(request, Capability.SEE_RECORD))
        # Whoever has a role has it at a casino.
        and (first_run.plan() is not None or (officer_of(request).is_superuser and not Casino.objects.exists()))
    )


@demands(Capability.SEE_RECORD)
def first_run_view(request: HttpRequest) -> HttpResponse:
    """Show what is loaded and what to look at."""
    standing = in_record(Finding.objects.standing(), request)
    reports = in_record(NightReport.objects.select_related("casino"), request)
    to_sign = reports.filter(state=NightState.PROVISIONAL).order_by("-gaming_day", "casino", "-version").first()
    half_way = by_urgency(standing.filter(case__state=State.SECOND)).select_related("case__proposed_by").first()
    progress = _progress(request)
    context = {
        **admin.site.each_context(request),
        "title": _("First steps") if progress is None else _("First run"),
        "progress": progress,
        "steps": first_steps(request) if progress is None else [],
        "losses": by_side(losses(sums_owed(standing), write=money_in_prose)),
        "to_sign": to_sign,
        "half_way": half_way,
        "has_sessions": LoggedStream.objects.filter(
            is_of_desk=False, casino__in=scope_of(request, Capability.SEE_RECORD).casinos()
        ).exists(),
        "half_way_title": finding_title(half_way.rule) if half_way is not None else "",
        "curl": _curl(request),
    }
    return TemplateResponse(request, "admin/audit/first_run/first_run.html", context)


@demands(Capability.SEE_RECORD)
def progress_view(request: HttpRequest) -> HttpResponse:
    """Answer with the progress of the loading, as the page of a background job is answered."""
    response = JsonResponse(_progress(request) or {"state": "none", "total": 0, "done": 0, "text": ""})
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@demands(Capability.SEE_RECORD)
def dismiss_view(request: HttpRequest) -> HttpResponse:
    """Show the overview first, from now on, in this browser."""
    return shown_once(request, redirect("admin:index"))


def shown_once(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return ``response`` with the cookie by which *Overview* opens the overview from now on, in this browser."""
    response.set_cookie(
        DISMISSED, "dismissed", max_age=YEAR_S, httponly=True, samesite="Lax", secure=request.is_secure()
    )
    return response


def _progress(request: HttpRequest) -> dict[str, Any] | None:
    """Return how far the loading of the officer's casinos is, as the script of a job reads it; None if none is."""
    plan = first_run.plan()
    if plan is None:
        return None
    found = first_run.progress(plan, scope_of(request, Capability.SEE_RECORD))
    if not found.planned:
        return None
    numbers = {"loaded": count(found.loaded), "planned": count(found.planned), "reconciled": count(found.reconciled)}
    text = ngettext(
        "%(loaded)s of %(planned)s night loaded, %(reconciled)s reconciled.",
        "%(loaded)s of %(planned)s nights loaded, %(reconciled)s reconciled.",
        found.planned,
    )
    if found.loaded >= found.planned:
        state = "done" if plan.is_done else "reconciling"
    else:  # what is not loaded when a real casino begins never will be
        state = "stopped" if plan.is_done or first_run.is_of_others() else "running"
    return {"state": state, "total": found.planned, "done": found.reconciled, "text": text % numbers}


def by_side(losses: Iterable[Loss]) -> list[dict[str, str]]:
    """Return what each side has lost, the amounts of all currencies together: players first."""
    sides: dict[str, list[str]] = {"player": [], "bank": []}
    for loss in losses:
        sides[loss.side].append(loss.amount)
    return [{"side": side, "amount": " + ".join(amounts)} for side, amounts in sides.items() if amounts]


def _curl(request: HttpRequest) -> str:
    """Return how the newest session of the officer's casinos would be sent, its first event; "" if there is none."""
    sessions = in_record(LoggedStream.objects.filter(is_of_desk=False, table__isnull=False), request)
    stream = sessions.order_by("-gaming_day", "name").first()
    if stream is None:
        return ""
    opener = json.loads(read.events_at(stream.stream_id, [1])[1])
    name = f"{stream.name}.first"
    sent = {"stream": name, "seq": 1, **{key: opener[key] for key in ("type", "v", "occurred_at", "data")}}
    address = request.build_absolute_uri(reverse("stream-events", args=(name,)))
    lines = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in sent.items())
    body = "[{" + ",\n        ".join(lines).replace("'", "\\u0027") + "}]"  # in quotes of the shell
    return (
        f'curl {address} \\\n  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n  -d \'{body}\''
    )
