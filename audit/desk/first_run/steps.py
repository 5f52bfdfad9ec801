"""The first steps of a record in which nothing is simulated: from a casino's name to an event that was judged.

a casino ─► its tables ─► a key ─► the first event ─► judged ─► a second officer
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.access.scope import officers_with
from audit.desk.audited_admin import STEP
from audit.desk.scoped_admin import in_record, scope_of
from audit.models import AdjudicationRun, ApiKey, Casino, GamingTable, LoggedStream, Officer
from audit.models.runs import RunState
from audit.presentation import count, date_time

NAMED = 4
"""Tables that are named; of more it is said how many there are."""


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step: what it is, what is so, and where it is done, "" where the officer may not. ``is_next``: the next one."""

    title: str
    detail: str
    is_done: bool
    address: str = ""
    button: str = ""
    is_next: bool = False


def first_steps(request: HttpRequest) -> Sequence[FirstStep]:
    """Return the steps of the casinos whose record the officer sees, in their order."""
    casinos = list(scope_of(request, Capability.SEE_RECORD).casinos().filter(is_sandbox=False)[: NAMED + 1])
    of_casinos = [casino.pk for casino in casinos]
    steps = [
        _casino(request, casinos),
        _tables(request, of_casinos),
        _key(request, of_casinos),
        *_events(request),
        _second_officer(request, of_casinos),
    ]
    following = next((each for each in steps if not each.is_done), None)
    return [replace(each, is_next=each is following) for each in steps]


def _casino(request: HttpRequest, casinos: Sequence[Casino]) -> FirstStep:
    named = "; ".join(f"{casino.name}, {casino.time_zone}" for casino in casinos[:NAMED])
    detail = named or _("Its name, its time zone, and when its gaming day ends.")
    return FirstStep(_("Name the casino"), detail, bool(casinos), _add(request, Casino), _("Add a casino"))


def _tables(request: HttpRequest, casinos: Sequence[int]) -> FirstStep:
    codes = list(
        GamingTable.objects.filter(casino__in=casinos).order_by("casino", "code").values_list("code", flat=True)
    )
    if len(codes) > NAMED:
        words = ngettext("%(number)s table", "%(number)s tables", len(codes)) % {"number": count(len(codes))}
        detail = f"{words}: {', '.join(codes[:NAMED])} …"
    else:
        detail = ", ".join(codes) or _("Each by the code under which its system sends.")
    return FirstStep(_("Add tables"), detail, bool(codes), _add(request, GamingTable), _("Add a table"))


def _key(request: HttpRequest, casinos: Sequence[int]) -> FirstStep:
    keys = ApiKey.objects.filter(casino__in=casinos, revoked_at=None)
    number = keys.count()
    detail = _("A table system uses it to send its events. It is shown once.")
    if number:
        detail = ngettext("%(number)s key is valid.", "%(number)s keys are valid.", number) % {"number": count(number)}
    return FirstStep(_("Make a key"), detail, bool(number), _add(request, ApiKey), _("Create a key"))


def _events(request: HttpRequest) -> Sequence[FirstStep]:
    """Return that the first event came, and that its session was judged."""
    sessions = in_record(LoggedStream.objects.filter(is_of_desk=False, table__isnull=False), request)
    first = sessions.select_related("casino").order_by("opened_at", "pk").first()
    sent = _("The table system opens a session, and goes on from number 2.")
    address = ""
    if first is not None:
        sent = f"{first.name}, {date_time(first.opened_at, first.casino)}"
        address = reverse("admin:audit_loggedstream_events", args=(first.stream_id,))
    runs = AdjudicationRun.objects.filter(stream__in=sessions.values("pk"), what_if=None)
    is_judged = first is not None and runs.filter(state__in=(RunState.RUNNING, RunState.COMPLETE)).exists()
    judged = _("Each event is adjudicated within seconds, and sealed in the tree.")
    return (
        FirstStep(_("Send the first event"), sent, first is not None, address, _("The events")),
        FirstStep(_("Watch it arrive"), judged, is_judged, reverse("admin:record_state"), _("The record")),
    )


def _second_officer(request: HttpRequest, casinos: Sequence[int]) -> FirstStep:
    number = officers_with(Capability.APPROVE_CASES, casinos).count() if casinos else 0
    detail = _("Closing a case and signing a night need two people.")
    if not officers_with(Capability.KEEP_OFFICERS, casinos).exists():
        detail += " " + _("Begin with an administrator: from the second account on, two people approve each role.")
    return FirstStep(_("Invite a second officer"), detail, number > 1, _add(request, Officer), _("Invite an officer"))


def _add(request: HttpRequest, model: type[Model]) -> str:
    """Return the address of the form that adds a row of a model, "" for who may not."""
    section = admin.site._registry[model]
    name = model._meta.model_name
    return f"{reverse(f'admin:audit_{name}_add')}?{STEP}=1" if section.has_add_permission(request) else ""
