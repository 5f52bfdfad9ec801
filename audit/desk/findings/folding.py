"""How patterns fold in a queue: one line for what the same croupier repeats, the others of it beneath.

    by deadline            ☰ Payout missing   pattern     €180.00  overpaid
                             DEA-26-0151  and 8 like it
                               DEA-26-0153  19 Nov, 22:04 CET  €20.00 …

The line is the pattern's most urgent incident, and stands where that stands. Each incident keeps its own case, deadline
and place in every other list; what is done to several at once, and which case is taken next, is asked of the whole
list. Nothing folds where a list is grouped by night, croupier or pattern: there each incident is to be seen.

PostgreSQL folds: what decides the order has to be found out of each open incident anyway, and is found out once, for
the page, the sums and the patterns. Rows are read of the incidents on a page alone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import F, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone

from audit.casework.debts import SIDES, sums_sql
from audit.casework.priority import COMPARED, due_group_over, priority_over
from audit.desk.findings.grouping import GROUPINGS, Grouping, Key, grouping_of
from audit.desk.findings.person_filters import OWED
from audit.desk.findings.queues import OPEN_QUEUES
from audit.desk.findings.shown_findings import lines
from audit.models import Finding, FindingStatus

_Found = dict[str, Any] | None

FOLDED_SHOWN = 4
"""Incidents that have a line beneath that of their pattern; the queue of patterns has all."""

# Only what is repeated is compared, which most is not.
_FOLDED = f"""
with open as materialized ({{incidents}}),
incident as materialized (
  select i.*, row_number() over (order by {{order}}) as place
  from (select open.*, owes.*, {{priority}} as priority, {{in_group}} as in_group
        from open, lateral ({sums_sql("open.case_id")}) owes) i
),
ranked as materialized (
  select i.*, 1 as nth, place as head, in_group as group_shown from incident i where not priority_repeated
  union all
  select i.*, row_number() over pattern, first_value(place) over pattern, first_value(in_group) over pattern
  from incident i where priority_repeated
  window pattern as (partition by casino_id, rule collate "C", croupier collate "C" order by place)
),
page as (select * from ranked where nth = 1 order by place limit %s offset %s)
select json_build_object(
  'lines', (select count(*) from ranked where nth = 1),
  'findings', (select count(*) from audit_finding
               where status = '{FindingStatus.STANDING.value}' and case_id = any (array(select case_id from incident))),
  'groups', (select json_agg(json_build_array(group_shown, count, currency, to_players, to_bank)) from (
    select group_shown, count(*), currency, sum(to_players) as to_players, sum(to_bank) as to_bank
    from ranked group by group_shown, currency) g),
  'page', (select json_agg(pk order by place) from page),
  'patterns', (select json_agg(json_build_array(pk, count, first, last, members)) from (
    select p.pk, count(*), min(r.player) as first, max(r.player) as last,
      json_agg(r.pk order by r.place) filter (where r.nth <= {1 + FOLDED_SHOWN}) as members
    from page p join ranked r on r.head = p.place where p.priority_repeated group by p.pk) m),
  'owed', (select json_agg(json_build_array(pk, currency, to_players, to_bank)) from (
    select p.pk, r.currency, sum(r.to_players) as to_players, sum(r.to_bank) as to_bank
    from page p join ranked r on r.head = p.place where p.priority_repeated group by p.pk, r.currency) o)
)::text
"""

_BY_GROUP = "in_group, priority desc nulls last, case_deadline, pk desc"
_OWED_BY = {"house": "to_players", "player": "to_bank"}

_SUMMED = f"""
with incident as materialized ({{incidents}})
select {{keys}}currency, count(*), sum(to_players), sum(to_bank),
  (select count(*) from audit_finding
   where status = '{FindingStatus.STANDING.value}' and case_id = any (array(select case_id from incident)))
from incident, lateral ({sums_sql("incident.case_id")}) owes group by {{keys}}currency
"""


@dataclass(slots=True)
class Amounts:
    """Some incidents of one pattern or of none: how many, and what is owed, by who owes it and in which currency.

    ``players`` are the first and the last of those concerned, in the order of their ids.
    """

    count: int = 0
    owed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    players: tuple[str, str] | None = None

    def add(self, count: int, currency: str, to_players: int | None, to_bank: int | None) -> None:
        """Add ``count`` incidents, by which so much is owed to players and to the house."""
        self.count += count
        for by, total in (("house", to_players), ("player", to_bank)):
            if total:
                self.owed[by, currency] += int(total)


@dataclass(frozen=True, slots=True)
class Folded:
    """A pattern that is one line of a page: its incidents, of which the first have a line beneath."""

    amounts: Amounts
    members: Sequence[Finding]


@dataclass(slots=True)
class Summed:
    """What a queue is about: the incidents of each group, and of how many findings all of them consist.

    Where patterns fold, each is in the group of its most urgent incident, and ``lines`` is how many lines the queue
    has, ``rows`` those of the page, and ``folded`` their patterns, by the primary key of the line.
    """

    groups: dict[Key, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    findings: int = 0
    lines: int = 0
    rows: Sequence[Finding] = ()
    folded: Mapping[int, Folded] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many incidents the queue has."""
        return sum(each.count for each in self.groups.values())


def is_queue(request: HttpRequest) -> bool:
    """Return whether a list is a queue of open cases in the order of its groups."""
    return request.GET.get("queue") in OPEN_QUEUES and not request.GET.get("o")


def is_read_at_once(request: HttpRequest) -> bool:
    """Return whether ``folded`` reads the list of a request: a queue in which patterns fold, or one by amount."""
    return is_queue(request) and (request.GET.get("owed") in OWED or grouping_of(request).folds)


def summed(everything: QuerySet[Any], grouping: Grouping) -> Summed:
    """Return what a queue is about in which nothing folds: one query."""
    of_all = Summed()
    keys = "".join(f"{each}, " for each in grouping.fields)
    try:
        incidents = everything.order_by().values("case_id", "currency", *grouping.fields).query.sql_with_params()
    except EmptyResultSet:
        return of_all
    sql, parameters = incidents
    with connection.cursor() as cursor:
        cursor.execute(_SUMMED.format(incidents=sql, keys=keys), parameters)
        found = cursor.fetchall()
    for *key, currency, count, to_players, to_bank, findings in found:
        of_all.groups[tuple(key)].add(count, currency, to_players, to_bank)
        of_all.findings = findings
    return of_all


def folded(request: HttpRequest, everything: QuerySet[Any], *, start: int, length: int) -> Summed:
    """Return what a queue is about in which patterns fold, with ``length`` of its lines from ``start`` on: two queries.

    ``everything`` is ``with_order``. A queue by amount is one group, and nothing folds in it.
    """
    of_all = Summed()
    by = SIDES.get(request.GET.get("owed", ""))
    grouping = grouping_of(request) if by is None else GROUPINGS["nothing"]
    found = _fold(everything, grouping, by, start, length)
    if found is None:
        return of_all
    for group, count, currency, to_players, to_bank in found["groups"] or ():
        of_all.groups[(group,) if grouping.fields else ()].add(count, currency, to_players, to_bank)
    of_all.findings, of_all.lines = found["findings"], found["lines"]
    page, patterns = found["page"] or [], found["patterns"] or []
    shown = {*page, *(pk for *_rest, members in patterns for pk in members)}
    rows = {each.pk: each for each in lines(shown)}
    of_all.rows = [rows[pk] for pk in page if pk in rows]
    amounts = {pk: Amounts(count, players=(first, last)) for pk, count, first, last, _members in patterns}
    for pk, currency, to_players, to_bank in found["owed"] or ():
        amounts[pk].add(0, currency, to_players, to_bank)
    of_all.folded = {
        pk: Folded(amounts[pk], [rows[each] for each in members if each in rows]) for pk, *_rest, members in patterns
    }
    return of_all


def _fold(everything: QuerySet[Any], grouping: Grouping, by: str | None, start: int, length: int) -> _Found:
    """Return what PostgreSQL finds, None where Django sees that there is none. ``by`` owes what the order is by."""
    in_group, of_group = due_group_over("open", timezone.now()) if grouping.fields else ("0", ())
    known = ("pk", "case_id", "casino_id", "rule", "croupier", "player", "currency")
    found_out = ("case_deadline", "case_rule", "case_weight")
    compared: tuple[str, ...] = COMPARED
    if by is None:  # as ``grouping.WITHIN`` in each group
        order, priority = _BY_GROUP, priority_over("open")
    else:  # as ``person_filters.LARGEST_FIRST``
        order, priority, compared = f"{_OWED_BY[by]} desc, pk desc", "0", ("priority_repeated",)
        everything = everything.annotate(priority_repeated=Value(False))
    incidents = everything.order_by().annotate(
        case_deadline=F("case__deadline"),
        case_rule=F("case__rule"),
        case_weight=F("case__weight"),
    )
    try:
        sql, parameters = incidents.values(*known, *found_out, *compared).query.sql_with_params()
    except EmptyResultSet:
        return None
    statement = _FOLDED.format(incidents=sql, priority=priority, in_group=in_group, order=order)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, *of_group, length, start])
        ((found,),) = cursor.fetchall()
    return dict(json.loads(found))
