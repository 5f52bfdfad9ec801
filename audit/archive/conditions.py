"""What keeps a month in the database: whatever is open in it, held, unsigned, or not read to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from django.db.models import F
from django.utils import timezone

from audit.casework.holds import held
from audit.corrections.waiting import waiting
from audit.event_store import binary_copy, cluster
from audit.event_store.read import DIRTY, dirty_params
from audit.models import Case, Complaint, Finding, Job, NightReport, NightRun
from audit.models.cases import State
from audit.models.jobs import OPEN
from audit.models.nights import NightState
from settlement import ENGINE_VERSION

LISTED = 5
"""Of each kind of reason, how many are named; the others are counted."""


def first_of_next(month: date) -> date:
    """Return the first day of the month after ``month``, a first day."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def reasons_to_stay(month: date, low: int, high: int) -> list[str]:
    """Return what keeps a month, whose streams have ids from ``low`` to before ``high``, in the database."""
    if first_of_next(month) > timezone.now().date():
        return ["the month is not over"]
    kinds = (
        ("not sealed", (name for (name,) in binary_copy.execute(_UNSEALED, (low, high)))),
        ("session open", (name for (name,) in binary_copy.execute(cluster.readable(_OPEN_SESSIONS), (low, high)))),
        ("not read to its end", _unread(low, high)),
        ("correction undecided", _undecided(low, high)),
        *of_cases(low, high),
        ("complaint unanswered", (str(each) for each in _complaints(low, high))),
        ("night unsigned", _unsigned(low, high)),
        ("not fed to the ledger", (name for (name,) in binary_copy.execute(_UNFED, (low, high, low, high)))),
        ("running", _running(month)),
    )
    return [line for kind, found in kinds for line in _listed(kind, list(found))]


def of_cases(low: int, high: int) -> list[tuple[str, Iterator[str]]]:
    """Return the open and the held cases of streams: what destruction waits for, too."""
    cases = Case.objects.filter(stream_id__gte=low, stream_id__lt=high).order_by("pk")
    return [
        ("case open", (f"{each.pk}, {each}" for each in cases.exclude(state=State.CLOSED))),
        ("legal hold", (f"on case {each.pk}, {each}" for each in held(cases))),
    ]


def listed_cases(low: int, high: int) -> list[str]:
    """Return what ``of_cases`` finds, a line each."""
    return [line for kind, found in of_cases(low, high) for line in _listed(kind, list(found))]


def _listed(kind: str, found: Sequence[str]) -> Iterator[str]:
    for each in found[:LISTED]:
        yield f"{kind}: {each}"
    if len(found) > LISTED:
        yield f"{kind}: {len(found) - LISTED} more"


_UNSEALED = """
select distinct s.name from log.batch b join log.stream s using (stream_id)
left join log.leaf l using (stream_id, first_seq) left join log.outbox o using (stream_id, first_seq)
where b.stream_id >= %b::bigint and b.stream_id < %b::bigint and (l.hash is null or o.stream_id is not null)
order by 1
"""

# By the newest adjudication that has read all of it: one of an earlier engine says it, too.
_OPEN_SESSIONS = """
select s.name from log.stream s join log.stream_head h using (stream_id)
where s.stream_id >= %b::bigint and s.stream_id < %b::bigint and s.table_id is not null and not s.is_of_desk
  and not exists (select from audit_adjudication a where a.stream_id = s.stream_id and a.what_if_id is null
                  and a.next_seq >= h.next_seq and a.closed)
order by s.stream_id
"""

_UNFED = """
select distinct s.name from log.leaf l join log.stream s using (stream_id)
where l.stream_id >= %b::bigint and l.stream_id < %b::bigint and s.table_id is not null and not s.is_of_desk
  and not exists (select from audit_ledgercursor c where c.casino_id = s.casino_id and c.next_leaf > (
    select max(m.log_index) from log.leaf m join log.stream t using (stream_id)
    where m.stream_id >= %b::bigint and m.stream_id < %b::bigint and t.casino_id = s.casino_id
      and t.table_id is not null))
order by 1
"""


def _unread(low: int, high: int) -> Iterator[str]:
    rows = binary_copy.execute(
        cluster.readable(
            f"select s.name from {DIRTY} and s.stream_id >= %(low)s and s.stream_id < %(high)s order by s.stream_id"
        ),
        {**dirty_params(ENGINE_VERSION), "low": low, "high": high},
    )
    return (name for (name,) in rows)


def _undecided(low: int, high: int) -> Iterator[str]:
    rows = waiting(Finding.objects.filter(stream__gte=low, stream__lt=high)).order_by("stream_id", "seq")
    return (f"event {seq} of {name}" for name, seq in rows.values_list("stream__name", "seq").distinct())


def _complaints(low: int, high: int) -> Iterator[Complaint]:
    return Complaint.objects.filter(stream__gte=low, stream__lt=high, answer=None).select_related("stream").iterator()


def _unsigned(low: int, high: int) -> Iterator[str]:
    """Yield the nights of the month without a report, or with one in some currency that two have not signed."""
    days = binary_copy.execute(
        "select distinct s.casino_id, coalesce(c.code, ''), s.gaming_day from log.stream s"
        " left join audit_casino c on c.id = s.casino_id"
        " where s.stream_id >= %b::bigint and s.stream_id < %b::bigint and not s.is_of_desk order by 2, 3",
        (low, high),
    )
    for casino_id, code, day in days:
        reports = NightReport.objects.filter(casino=casino_id, gaming_day=day).order_by("currency", "version")
        newest = dict(reports.values_list("currency", "state"))
        if not newest:
            yield f"{day} of {code}, which has no report"
        for currency, state in newest.items():
            if state != NightState.CLOSED:
                yield f"{day} of {code}, {currency}"


def _running(month: date) -> Iterator[str]:
    """Yield the jobs and nights that may be reading the month; the first night after it looks back into it."""
    for job in Job.objects.filter(state__in=OPEN).order_by("pk"):
        yield f"the {job}"
    nights = NightRun.objects.filter(ended_at=None, gaming_day__range=(month, first_of_next(month)))
    for run in nights.annotate(code=F("casino__code")).order_by("pk"):
        yield f"the night of {run.gaming_day} of {run.code}"
