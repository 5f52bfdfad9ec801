"""The questions that the ledger has asked since the last night, each by its verdict and by whom or what it is about.

Old cases that nobody has worked on come first among the next incidents. Here a question is named whatever else waits.

    the casino's last reconciled night ─► questions raised since it began ─► their open incidents ─► the most urgent
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from audit.access.capabilities import Capability
from audit.casework.priority import by_urgency
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.ledger.page import title_of
from audit.desk.ledger.subjects import links_of, persons_in
from audit.desk.names import directory_for
from audit.desk.overview.waits import Incident, incident_of
from audit.desk.prepared import key_of, prepared
from audit.desk.scoped_admin import narrowed, scope_of
from audit.models import Casino, Finding, LedgerProcess, LedgerQuestion, NightReport

SHOWN = 5

LOOKED_BACK = timedelta(days=62)
"""How long ago a question was raised that may still be new: where nothing is reconciled, it is old some day."""


@dataclass(frozen=True, slots=True)
class NewQuestions:
    """The incidents of new questions, the most urgent first, and how many more there are."""

    lines: Sequence[Incident] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Raised:
    """The ids of the incidents of new questions, the most urgent first, and what asks in each case."""

    ids: Sequence[int] = ()
    processes: Mapping[int | None, Sequence[LedgerProcess]] = field(default_factory=dict)

    @property
    def shown(self) -> Sequence[int]:
        return self.ids[:SHOWN]


def raised_lately(request: HttpRequest, casinos: Collection[Casino]) -> Raised:
    """Return the open incidents that have a question raised since the last night of their casino began.

    ``casinos`` are those that the page is about. One query where nothing was raised.
    """
    raised = _raised(request, {each.pk: each for each in casinos})
    if not raised:
        return Raised()
    processes: dict[int | None, list[LedgerProcess]] = defaultdict(list)
    asking = Finding.objects.standing().filter(pk__in=raised).order_by("pk")
    for finding, case in asking.values_list("pk", "case"):
        processes[case].append(raised[finding])
    heads = Finding.objects.standing().filter(HEADS, case__state__in=OPEN, case__in=[*filter(None, processes)])
    return Raised(list(by_urgency(heads).values_list("pk", flat=True)), processes)


def new_questions(request: HttpRequest, raised: Raised, shown: Sequence[Finding], *, of_several: bool) -> NewQuestions:
    """Return the new questions as lines; ``shown`` are the findings of ``raised.shown``."""
    found = [_line(request, each, raised.processes[each.case_id], of_several=of_several) for each in shown]
    return NewQuestions(found, len(raised.ids) - len(found))


def _raised(request: HttpRequest, casinos: dict[int, Casino]) -> dict[int, LedgerProcess]:
    """Return what asked since the last night of its casino began, by the id of the finding that asks."""
    now = timezone.now()
    rows = prepared("questions raised lately", key_of(request), lambda moment: _lately(request, moment))
    return {
        finding: LedgerProcess(casino_id=casino, kind=kind, subject=subject)
        for finding, casino, kind, subject, at, night in rows
        if at >= casinos[casino].cutoff_at(night or _yesterday(casinos[casino], now))
    }


def _yesterday(casino: Casino, now: datetime) -> date:
    return casino.gaming_day_at(now) - timedelta(days=1)


def _lately(request: HttpRequest, now: datetime) -> QuerySet[Any]:
    """Return the questions of the last weeks, each with the last reconciled gaming day of its casino."""
    rows = scope_of(request, Capability.SEE_RECORD).rows(LedgerQuestion.objects.all(), casino="process__casino")
    last = NightReport.objects.filter(casino=OuterRef("process__casino")).order_by("-gaming_day").values("gaming_day")
    of_process = (f"process__{each}" for each in ("casino", "kind", "subject"))
    lately = narrowed(rows, request, "process__casino").filter(raised_at__gte=now - LOOKED_BACK)
    return lately.order_by("pk").values_list("finding_id", *of_process, "raised_at", Subquery(last[:1]))


def _line(request: HttpRequest, finding: Finding, processes: Sequence[LedgerProcess], *, of_several: bool) -> Incident:
    """Return a question as a line: its verdict, what kind of result it is about, and whom or what."""
    line = incident_of(finding, of_several=of_several)
    directory = directory_for(request, finding.casino_id, persons_in(processes))
    subjects = [link.text for process in processes for link in links_of(process, directory=directory)]
    named = [each for each in dict.fromkeys(subjects) if each not in line.title]
    kind = str(title_of(processes[0]))
    return replace(line, subject="\N{NO-BREAK SPACE}· ".join(filter(None, (kind, ", ".join(named)))))
