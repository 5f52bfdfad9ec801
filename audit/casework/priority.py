"""The priority of an incident, 1 to 4, and the order of the queue: by deadline in groups, by priority within a group.

    severity       critical 3, major 2, minor 1, information 0: the most severe finding of the case
    × money        one more from the casino's threshold on, one less below a tenth of it, by what the incident owes
    × repetition   one more where the same croupier has two more findings of the rule within thirty days

A finding about chance itself is unfair whatever the sum: it has the highest. The severity of a finding is the law's
and never changes by this.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    DurationField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest, Least
from django.utils import timezone
from django.utils.translation import get_language, gettext

from audit.casework.debts import owed_sql
from audit.models import Case as CaseRow
from audit.models import Finding
from audit.models.adjudication import Severity
from audit.presentation import money_in_prose
from settlement.catalogue.sentences import EXPONENTS, minor_units

HIGHEST = 4

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

_MINOR_UNITS = "(case %(expressions)s {} else 100 end)".format(
    " ".join(f"when '{currency}' then {10**digits}" for currency, digits in sorted(EXPONENTS.items()))
)
"""SQL of the minor units in one unit of a currency. As one expression: Django would compile each branch every time."""

DUE = (timedelta(0), timedelta(hours=6), timedelta(days=1), timedelta(days=3))
"""Where a group of the queue ends, from now: late, within six hours, within a day, within three days, later."""


def units_of_currency() -> Func:
    """Return the minor units in one unit of a finding's currency."""
    return Func(F("currency"), template=_MINOR_UNITS, output_field=IntegerField())


def with_priority(findings: QuerySet[Finding]) -> QuerySet[Any]:
    """Return ``findings``, each with what its priority comes from, and the priority: None where there is no case.

    ``priority_money`` is -1, 0 or 1, ``priority_repeated`` whether others are like it.
    """
    described = findings.annotate(priority_money=_money_step(), priority_repeated=is_repeated())
    return described.annotate(priority=Case(When(case=None, then=Value(None)), default=_priority()))


def by_urgency(findings: QuerySet[Finding], now: datetime | None = None) -> QuerySet[Any]:
    """Return ``findings`` in the order of the queue. They have their priority, and ``due_group``."""
    return with_due_group(with_priority(findings), now).order_by(*URGENCY)


def with_due_group(findings: QuerySet[Finding], now: datetime | None = None) -> QuerySet[Any]:
    """Return ``findings`` with the number of the group in which their deadline lies, 0 where it has passed."""
    now = now or timezone.now()
    groups = [When(case__deadline__lt=now + ends, then=Value(group)) for group, ends in enumerate(DUE)]
    return findings.annotate(due_group=Case(*groups, default=Value(len(DUE)), output_field=IntegerField()))


URGENCY = (F("due_group").asc(), F("priority").desc(nulls_last=True), "case__deadline", "-pk")
"""The order of the queue, of findings with ``due_group`` and ``priority``."""


@cache
def _money_step() -> Func:
    """Return how the money of the case moves its priority: by what the incident owes, of both sides together.

    One look into an index: the threshold is that of the finding outside, whose casino and currency are its case's.
    """
    return Func(
        F("casino__priority_threshold") * units_of_currency(),
        template=(
            "(select case when owed >= threshold then 1"
            f" when owed < threshold / {SHARE_OF_THRESHOLD} then -1 when owed is not null then 0 end"
            f" from ({owed_sql('%(expressions)s as threshold')}) of_case)"
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


@cache
def priority_over(row: str) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of the priority and its parameters, over columns of ``row`` that are found out already.

    They are ``priority_money``, ``priority_repeated``, ``case_rule`` and ``case_weight``. In a query of Django's, each
    would be found out once for itself and once more for the priority.
    """
    columns = {
        name: RawSQL(f"{row}.{name}", (), output_field)
        for name, output_field in (
            ("priority_money", IntegerField()),
            ("priority_repeated", BooleanField()),
            ("case_rule", CharField()),
            ("case_weight", IntegerField()),
        )
    }
    query = Finding.objects.annotate(**columns).annotate(priority=_priority("case_rule", "case_weight")).query
    sql, parameters = query.get_compiler(DEFAULT_DB_ALIAS).compile(query.annotations["priority"])
    return sql, tuple(parameters)


@cache
def _priority(rule: str = "case__rule", weight: str = "case__weight") -> Case:
    """Return the priority of a finding with a case, from what ``with_priority`` has annotated."""
    level = (
        Value(LEAST_SEVERE)
        - F(weight)
        + Coalesce(F("priority_money"), Value(0))
        + Case(When(priority_repeated=True, then=Value(1)), default=Value(0))
    )
    return Case(
        When(**{f"{rule}__in": UNFAIR}, then=Value(HIGHEST)),
        default=Least(Greatest(level, Value(1)), Value(HIGHEST)),
        output_field=IntegerField(),
    )


def reasons(finding: Finding) -> list[str]:
    """Return how the priority of a finding came about, each part in words of the active language.

    ``finding`` is one of ``with_priority``.
    """
    case: CaseRow | None = finding.case
    if case is None:
        return []
    money: int | None = finding.priority_money  # type: ignore[attr-defined]  # annotated
    is_repeated = bool(finding.priority_repeated)  # type: ignore[attr-defined]  # annotated
    threshold = minor_units(finding.casino.priority_threshold, finding.currency) if money == 1 else 0
    is_unfair = case.rule in UNFAIR
    return list(_reasons(case.weight, threshold, finding.currency, money, is_repeated, is_unfair, get_language()))


@lru_cache(maxsize=1_000)
def _reasons(
    weight: int,
    threshold: int,
    currency: str,
    money: int | None,
    is_repeated: bool,
    is_unfair: bool,
    active: str | None,
) -> tuple[str, ...]:
    """Return the reasons in the language that is ``active``; ``threshold`` is in minor units, of large sums alone."""
    if is_unfair:
        return (gettext("unfair, whatever the amount"),)
    parts = [str(Severity(Severity.values[weight]).label)]
    if money == 1:
        parts.append(gettext("%(amount)s or more") % {"amount": money_in_prose(threshold, currency)})
    elif money == -1:
        parts.append(gettext("a small amount"))
    if is_repeated:
        parts.append(gettext("repeated by the same croupier"))
    return tuple(parts)
