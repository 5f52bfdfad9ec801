"""What an empty list of findings says: what is so, since when where that is known, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.contrib.admin.views.main import ChangeList
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext as _

from audit.casework.priority import ALIKE, ALIKE_DAYS
from audit.desk.empty_lists import Empty, nothing_matches
from audit.desk.findings.queues import OPEN, QUEUES
from audit.desk.scoped_admin import in_record
from audit.models import Case
from audit.models.cases import State
from audit.presentation import date_time

NOT_NARROWING = ("queue", "by")
"""The parameters that choose a list, or how it is grouped, and leave nothing of it out."""


def empty_of(request: HttpRequest, listed: ChangeList) -> Empty:
    """Return what the list of a request says while it has no row: one query at most."""
    queue = request.GET.get("queue", "")
    queue = queue if queue in QUEUES else ""
    if listed.query or listed.get_filters_params().keys() - NOT_NARROWING:
        return nothing_matches(listed.query, f"?queue={queue}" if queue else "?")
    return _WORDS[queue](request)


def _arrives() -> str:
    return _("What the tables report is replayed as it arrives; a finding appears here within seconds.")


def _open(request: HttpRequest) -> Empty:
    closed = in_record(Case.objects.filter(state=State.CLOSED), request).select_related("casino")
    last = closed.order_by(F("closed_at").desc(nulls_last=True)).first()
    words = [_("Nothing waits.")]
    if last is not None and last.closed_at is not None:
        words.append(_("The last finding was closed on %(at)s.") % {"at": date_time(last.closed_at, last.casino)})
    return Empty(" ".join([*words, _arrives()]))


def _mine(request: HttpRequest) -> Empty:
    return Empty(_("You have no open finding."), _("Findings without an officer"), "?queue=unassigned")


def _unassigned(request: HttpRequest) -> Empty:
    return Empty(" ".join([_("Every open finding has an officer."), _arrives()]))


def _second(request: HttpRequest) -> Empty:
    comes = _("One appears here as soon as an officer proposes its closing.")
    return Empty(" ".join([_("No case waits for a second officer."), comes]))


def _overdue(request: HttpRequest) -> Empty:
    waiting = in_record(Case.objects.filter(state__in=OPEN), request).select_related("casino")
    next_due = waiting.order_by("deadline").first()
    words = [_("Nothing is late.")]
    if next_due is not None:
        words.append(_("The next deadline is %(at)s.") % {"at": date_time(next_due.deadline, next_due.casino)})
    return Empty(" ".join(words), _("Open findings"), "?queue=open")


def _patterns(request: HttpRequest) -> Empty:
    one = _("A pattern is an error that one croupier has made at least %(times)s times within %(days)s days.")
    return Empty(" ".join([_("No pattern is open."), one % {"times": ALIKE, "days": ALIKE_DAYS.days}]))


def _returned(request: HttpRequest) -> Empty:
    one = _("A finding is listed here if one of the same rule at its table had been closed before.")
    return Empty(" ".join([_("Nothing has come back."), one]))


def _closed(request: HttpRequest) -> Empty:
    one = _("A case is closed when a second officer approves what the first one proposed.")
    return Empty(" ".join([_("No case has been closed yet."), one]))


def _all(request: HttpRequest) -> Empty:
    return Empty(" ".join([_("There is no finding yet."), _arrives()]))


_WORDS: Mapping[str, Callable[[HttpRequest], Empty]] = {
    "": _all,
    "open": _open,
    "mine": _mine,
    "unassigned": _unassigned,
    "second": _second,
    "overdue": _overdue,
    "patterns": _patterns,
    "returned": _returned,
    "closed": _closed,
}
"""By queue; "" is the list of all."""
