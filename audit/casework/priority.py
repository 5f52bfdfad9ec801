"""The priority of an incident, 1 to 4, and the order of the queue: by deadline in groups, by priority within a group.

    severity       critical 3, major 2, minor 1, information 0: the most severe finding of the case
    + evidence     of a question about a person: one, two from odds of a million against chance, three from a thousand
                   million on
    + money        one more from the casino's threshold on, one less below a tenth of it, by what the incident owes; of
                   a question about a person, by what he won or lost beyond chance
    + repetition   one more where the same croupier has two more findings of the rule within thirty days
    + persons      one more where three players are owed or owe, where a question is about a player and a croupier, or
                   where a player is on the casino's watch list

A finding about chance itself is unfair whatever the sum: it has the highest. The severity of a finding is the law's
and never changes by this. The end of the video decides the deadline, and so the group: ``sql/priority.sql``. A question
about a person with much money and the strongest evidence comes before every group.

Everything that shows or sends a priority reads it from here: the queue, the overview, the night, persons, mails,
exports, the interface and its webhooks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BooleanField,
    Case,
    DurationField,
    Exists,
    F,
    Field,
    Func,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.translation import get_language, gettext

from audit.casework.debts import owed_sql
from audit.casework.urgency import HIGHEST, Urgency, priority_of, urgency_of
from audit.casework.video import is_deadlines_reason
from audit.models import Case as CaseRow
from audit.models import Finding
from audit.models.adjudication import Severity
from audit.presentation import labelled, money_in_prose, multiple, whole_times
from settlement.catalogue.sentences import EXPONENTS, minor_units

LEAST_SEVERE = 3
"""The weight of a case of which every finding is for information."""

SHARE_OF_THRESHOLD = 10
"""Money below this part of the casino's threshold sinks."""

ALIKE = 3
"""Findings of one rule by one croupier that are a repetition."""

ALIKE_DAYS = timedelta(days=30)
"""How far the gaming days of findings may lie apart to be a repetition."""

UNFAIR = frozenset(
    {
        "dice-fairness",
        "wheel-fairness",
        "dice-changed-during-point-series",
        "unselected-dice-thrown",
        "irregular-throw-counted",
        "valid-throw-voided",
        "result-after-fallen-chip",
        "wager-after-no-more-bets",
        "log-tampered",
        "sequence-conflict",
    }
)
"""Rules about chance itself, about who knew the result, or about the record that all the others rest on."""

_MINOR_UNITS = "(case when %(expressions)s in ({}) then case %(expressions)s {} end else 100 end)".format(
    ", ".join(f"'{currency}'" for currency in sorted(EXPONENTS)),
    " ".join(f"when '{currency}' then {10**digits}" for currency, digits in sorted(EXPONENTS.items())),
)
"""SQL of the minor units in one unit of a currency. As one expression: Django would compile each branch every time.

PostgreSQL looks a currency up in a list once, and compares it with branch after branch: most are in none of them.
"""

QUESTIONS = frozenset(
    {
        "accounting-drift",
        "concentration",
        "croupier-luck",
        "payout-error-rate",
        "payout-errors-one-sided",
        "player-luck",
        "shooter-fairness",
        "void-call-bias",
    }
)
"""Rules of the ledger that can ask about a person."""

STRONG, STRONGEST = 6, 9
"""The powers of ten, of the odds against chance, from which a question weighs as a minor or a major finding does."""

SEVERAL = 3
"""Players of one incident that make it more urgent."""

DUE = (timedelta(0), timedelta(hours=6), timedelta(days=1), timedelta(days=3))
"""Where a group of the queue ends, from now: late, within six hours, within a day, within three days, later."""

FIRST, LATE = 0, 1
"""The numbers of the first two groups of the queue: what is looked at before everything else, and what is late."""

_UNFAIR, _NAMES = (", ".join(f"'{each}'" for each in sorted(rules)) for rules in (UNFAIR, QUESTIONS))
_IS_QUESTION = f'"audit_finding"."rule" in ({_NAMES})'
_OF_QUESTION = (
    'm.case_id = "audit_finding"."case_id" and m.status = \'standing\''
    f" and m.rule in ({_NAMES}) and (m.player <> '' or m.croupier <> '')"
)

_ODDS = "(m.facts ->> 'evidence')"
# A question from before it had a number says it in words, as ``audit.presentation.whole_times`` keeps them: a power of
# ten with raised digits, or a number with spaces.
_POWER = (
    "case when jsonb_typeof(m.facts -> 'evidence_log10') = 'number'"
    " then least((m.facts ->> 'evidence_log10')::numeric, 4000)::integer"
    f" when {_ODDS} ~ '^10[⁰¹²³⁴⁵⁶⁷⁸⁹]+$' then translate(substr({_ODDS}, 3), '⁰¹²³⁴⁵⁶⁷⁸⁹', '0123456789')::integer"
    f" else length(regexp_replace({_ODDS}, '\\D', '', 'g')) - 1 end"
)
_EVIDENCE = f"(case when {_IS_QUESTION} then (select max({_POWER}) from audit_finding m where {_OF_QUESTION}) end)"

_FACTS = (
    f"(case when {_IS_QUESTION} then (select m.facts from audit_finding m where {_OF_QUESTION}"
    " and m.facts ->> 'staked' is not null order by (m.facts ->> 'nights')::bigint desc, m.id desc limit 1) end)"
)

_PERSONS = f"""(case when {_IS_QUESTION} then
  (select count(distinct nullif(m.player, '')) > 0 and count(distinct nullif(m.croupier, '')) > 0
   from audit_finding m where {_OF_QUESTION})
  else (select count(distinct nullif(m.player, '')) >= {SEVERAL} from audit_finding m
        where m.case_id = "audit_finding"."case_id" and m.status = 'standing' and m.difference is not null
          and m.owed is not null) end)"""

_WATCHED = """(exists (select from audit_finding m
  join audit_listing l on l.casino_id = m.casino_id and l.code = m.player
  where m.case_id = "audit_finding"."case_id" and m.status = 'standing' and l.kind = 'watch'
    and l.state in ('listed', 'leaving') and (l.last_day is null or l.last_day >= m.gaming_day)))"""


def units_of_currency() -> Func:
    """Return the minor units in one unit of a finding's currency."""
    return Func(F("currency"), template=_MINOR_UNITS, output_field=IntegerField())


def with_priority(findings: QuerySet[Finding], now: datetime | None = None) -> QuerySet[Any]:
    """Return ``findings``, each with its ``urgency``, an ``Urgency``, which ``urgency_of`` returns."""
    compared = ", ".join(f"found.{name}" for name in (*COMPARED, "facts"))
    described = f"jsonb_build_array({{level}}, {{group}}, {compared})"
    return findings.annotate(urgency=_Found(described, now, _UrgencyField()))


def priorities_of(findings: QuerySet[Finding]) -> dict[int, int | None]:
    """Return the priority of each of ``findings``, by its id: one query."""
    return {each.pk: priority_of(each) for each in with_priority(findings).only("pk")}


def by_urgency(findings: QuerySet[Finding], now: datetime | None = None) -> QuerySet[Any]:
    """Return ``findings`` in the order of the queue."""
    return findings.annotate(position=_position(now)).order_by(*URGENCY)


def with_order(findings: QuerySet[Finding], now: datetime | None = None) -> QuerySet[Any]:
    """Return ``findings``, each with the columns by which a queue is in order: those of ``URGENCY``, ``priority`` and
    ``due_group``, which are level and group of ``Urgency``, and those of ``COMPARED``, from which they come."""
    return findings.annotate(
        position=_position(now),
        priority=_Found("{level}", now, IntegerField()),
        due_group=_Found("{group}", now, IntegerField()),
        **_compared(),
    )


URGENCY = (F("position").asc(), "case__deadline", "-pk")
"""The order of the queue, of findings with their ``position``."""

COMPARED = ("priority_money", "priority_repeated", "priority_evidence", "priority_persons", "priority_watched")
"""From what a priority comes, beside the rule and the weight of its case."""


def _compared() -> dict[str, Any]:
    found = (
        *(_money_step(), is_repeated(), RawSQL(_EVIDENCE, (), IntegerField())),
        *(RawSQL(_PERSONS, (), BooleanField()), RawSQL(_WATCHED, (), BooleanField())),
    )
    return dict(zip(COMPARED, found, strict=True))


def _position(now: datetime | None) -> Func:
    """Return what puts the first group first and in it the highest priority: PostgreSQL has a null after a number."""
    return _Found("array[{group}, -{level}]", now, ArrayField(IntegerField()))


class _UrgencyField(JSONField):
    """An ``Urgency`` as PostgreSQL writes it, a list of its fields."""

    def from_db_value(self, *row: Any) -> Urgency | None:
        found = super().from_db_value(*row)
        return None if found is None else Urgency(*found)


class _Found(Func):
    """What ``shown`` says in SQL of the ``{level}`` and ``{group}`` of a finding, and of what they come from.

    In one subquery: as columns of a query of Django's, each part would be found out for itself, once more for the
    priority, and a third time for the group; so it would without ``offset 0``.
    """

    def __init__(self, shown: str, now: datetime | None, output_field: Field[Any, Any]) -> None:
        facts = RawSQL(_FACTS, (), JSONField(null=True))
        columns = (*_compared().values(), facts, F("case__rule"), F("case__weight"), F("case__deadline"))
        super().__init__(*columns, output_field=output_field)
        self.shown, self.now = shown, now or timezone.now()

    def as_sql(self, compiler: Any, connection: Any, *_template: Any, **_context: Any) -> tuple[str, tuple[Any, ...]]:
        group, ends = due_group_over("found", self.now)
        shown = self.shown.format(level=priority_over("found"), group=group)
        of_shown = ends if "{group}" in self.shown else ()
        columns = ", ".join((*COMPARED, "facts", "case_rule", "case_weight", "case_deadline"))
        template = f"(select {shown} from (select ".replace("%", "%%")
        sql, parameters = super().as_sql(
            compiler, connection, template=f"{template}%(expressions)s offset 0) as found ({columns}))"
        )
        return sql, (*of_shown, *parameters)


@cache
def _money_step() -> Func:
    """Return how the money of the case moves its priority: by what the incident owes, of both sides together; of a
    question about a person, by what he won or lost beyond chance.

    One look into an index: the threshold is that of the finding outside, whose casino and currency are its case's.
    Without ``offset 0`` PostgreSQL would find out what is owed once for each comparison.
    """
    return Func(
        F("casino__priority_threshold") * units_of_currency(),
        template=(
            "(select case when owed >= threshold then 1"
            f" when owed < threshold / {SHARE_OF_THRESHOLD} then -1 when owed is not null then 0 end"
            f" from (select case when {_IS_QUESTION} then (select max(abs((m.facts ->> 'beyond_chance')::bigint))"
            f" from audit_finding m where {_OF_QUESTION}) else ({owed_sql()}) end as owed,"
            " %(expressions)s as threshold offset 0) of_case)"
        ),
        output_field=IntegerField(),
    )


@cache
def is_repeated() -> Case:
    """Return the condition that enough other findings of the same rule are the same croupier's: a pattern."""
    others = alike_of().exclude(croupier="").exclude(case=OuterRef("case"))
    enough = Exists(others.order_by()[ALIKE - 2 : ALIKE - 1])
    return Case(When(Q(croupier=""), then=Value(False)), default=enough, output_field=BooleanField())


def alike_of() -> QuerySet[Finding]:
    """Return the standing findings of the outer one's rule, by its croupier, within ``ALIKE_DAYS``: itself included."""
    return Finding.objects.standing().filter(
        casino=OuterRef("casino"),
        rule=OuterRef("rule"),
        croupier=OuterRef("croupier"),
        gaming_day__gte=OuterRef("gaming_day") - Value(ALIKE_DAYS, DurationField()),
        gaming_day__lte=OuterRef("gaming_day") + Value(ALIKE_DAYS, DurationField()),
    )


def priority_over(row: str) -> str:
    """Return the SQL of the priority over columns of ``row`` that are found out already: those of ``COMPARED``,
    ``case_rule`` and ``case_weight``. It is null where there is no case."""
    return f"""(case when {row}.case_rule is null then null when {row}.case_rule in ({_UNFAIR}) then {HIGHEST}
  else greatest(1, least({HIGHEST}, {LEAST_SEVERE} - {row}.case_weight + coalesce({row}.priority_money, 0)
    + case when {row}.priority_repeated then 1 else 0 end
    + case when {row}.priority_persons or {row}.priority_watched then 1 else 0 end
    + case when {row}.priority_evidence >= {STRONGEST} then 3 when {row}.priority_evidence >= {STRONG} then 2
      when {row}.priority_evidence >= 0 then 1 else 0 end)) end)"""


def due_group_over(row: str, now: datetime) -> tuple[str, tuple[datetime, ...]]:
    """Return the SQL of the number of the group in the same way, over ``COMPARED`` and ``case_deadline``, and its
    parameters: ``FIRST`` before all others, then that in which the deadline lies, ``LATE`` where it has passed."""
    groups = " ".join(f"when {row}.case_deadline < %s then {group}" for group, _ends in enumerate(DUE, LATE))
    first = f"{row}.priority_evidence >= {STRONGEST} and {row}.priority_money = 1"
    return f"(case when {first} then {FIRST} {groups} else {LATE + len(DUE)} end)", tuple(now + ends for ends in DUE)


def priority_in_words(finding: Finding) -> str:
    """Return the priority of a finding of ``with_priority`` with its reasons: “4/4: critical · €100 or more”.

    "" for one without a case.
    """
    level = priority_of(finding)
    return "" if level is None else labelled(f"{level}/{HIGHEST}", " · ".join(reasons(finding)))


@dataclass(frozen=True, slots=True)
class _Why:
    """What a priority comes from. ``threshold`` is in minor units, of large sums alone; ``odds`` of a question, as the
    record keeps them, "" of anything else. ``is_before_video_ends``: the deadline is the day before the video ends."""

    weight: int
    threshold: int
    currency: str
    money: int | None
    is_repeated: bool
    has_several_persons: bool
    is_watched: bool
    is_unfair: bool
    odds: str
    is_before_video_ends: bool


def reasons(finding: Finding) -> list[str]:
    """Return how the priority of a finding came about, each part in words of the active language.

    ``finding`` is one of ``with_priority``.
    """
    case: CaseRow | None = finding.case
    if case is None:
        return []
    found = urgency_of(finding)
    assert found is not None, "a finding of with_priority"
    why = _Why(
        case.weight,
        minor_units(finding.casino.priority_threshold, finding.currency) if found.money == 1 else 0,
        finding.currency,
        found.money,
        found.is_repeated,
        found.has_several_persons,
        found.is_watched,
        case.rule in UNFAIR,
        "" if found.evidence is None else whole_times(10**found.evidence),
        finding.heads_case and is_deadlines_reason(case, finding),
    )
    return list(_reasons(why, get_language()))


@lru_cache(maxsize=1_000)
def _reasons(why: _Why, active: str | None) -> tuple[str, ...]:
    """Return the reasons in the language that is ``active``."""
    last = (gettext("the video ends a day after the deadline"),) if why.is_before_video_ends else ()
    if why.is_unfair:
        return (gettext("unfair, whatever the amount"), *last)
    parts = [str(Severity(Severity.values[why.weight]).label)]
    if why.odds:
        parts.append(gettext("odds against chance: %(odds)s to 1 or more") % {"odds": multiple(why.odds)})
    if why.money == 1:
        parts.append(gettext("%(amount)s or more") % {"amount": money_in_prose(why.threshold, why.currency)})
    elif why.money == -1:
        parts.append(gettext("a small amount"))
    if why.is_repeated:
        parts.append(gettext("repeated by the same croupier"))
    if why.has_several_persons:
        parts.append(gettext("several persons concerned"))
    if why.is_watched:
        parts.append(gettext("player on the watch list"))
    return (*parts, *last)
