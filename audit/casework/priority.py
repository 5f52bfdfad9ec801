"""The priority of an incident, 1 to 4, and the order of the queue: by deadline in groups, by priority within a group.

    severity       critical 3, major 2, minor 1, information 0: the most severe finding of the case
    × money        one more from the casino's threshold on, one less below a tenth of it, by the largest difference
    × repetition   one more where the same croupier has two more findings of the rule within thirty days

What touches chance itself is unfair whatever the sum: it has the highest. The severity of a finding is the law's and
never changes by this.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    DurationField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Abs, Coalesce, Greatest, Least
from django.utils import timezone
from django.utils.translation import gettext

from audit.models import Case as CaseRow
from audit.models import Finding
from audit.models.adjudication import Severity
from audit.presentation import money as written
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


def with_priority(findings: QuerySet[Finding]) -> QuerySet[Any]:
    """Return ``findings``, each with what its priority comes from, and the priority: None where there is no case.

    ``priority_money`` is -1, 0 or 1, ``priority_repeated`` whether others are like it.
    """
    described = findings.annotate(priority_money=_money_step(), priority_repeated=_is_repeated())
    return described.annotate(priority=_priority())


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
def _money_step() -> Subquery:
    """Return how the money of the case moves its priority: by the largest difference among its standing findings.

    One look into an index: the threshold is that of the finding outside, whose casino and currency are its case's.
    """
    threshold = OuterRef("casino__priority_threshold") * Func(
        F("currency"), template=_MINOR_UNITS, output_field=IntegerField()
    )
    step = Case(
        When(size__gte=threshold, then=Value(1)),
        When(size__lt=threshold / Value(SHARE_OF_THRESHOLD), then=Value(-1)),
        default=Value(0),
        output_field=IntegerField(),
    )
    of_case = Finding.objects.standing().filter(case=OuterRef("case"), difference__isnull=False)
    return Subquery(of_case.annotate(size=Abs("difference"), step=step).order_by("-size").values("step")[:1])


@cache
def _is_repeated() -> Case:
    """Return whether enough other findings of the same rule are the same croupier's."""
    others = (
        Finding.objects.standing()
        .filter(
            casino=OuterRef("casino"),
            rule=OuterRef("rule"),
            croupier=OuterRef("croupier"),
            gaming_day__gte=OuterRef("gaming_day") - Value(ALIKE_DAYS, DurationField()),
            gaming_day__lte=OuterRef("gaming_day") + Value(ALIKE_DAYS, DurationField()),
        )
        .exclude(croupier="")
        .exclude(case=OuterRef("case"))
    )
    enough = Exists(others.order_by()[ALIKE - 2 : ALIKE - 1])
    return Case(When(Q(croupier=""), then=Value(False)), default=enough, output_field=BooleanField())


@cache
def _priority() -> Case:
    """Return the priority, from what ``with_priority`` has annotated."""
    level = (
        Value(LEAST_SEVERE)
        - F("case__weight")
        + Coalesce(F("priority_money"), Value(0))
        + Case(When(priority_repeated=True, then=Value(1)), default=Value(0))
    )
    return Case(
        When(case=None, then=Value(None)),
        When(case__rule__in=UNFAIR, then=Value(HIGHEST)),
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
    if case.rule in UNFAIR:
        return [gettext("unfair, whatever the sum")]
    severity = Severity.values[case.weight]
    parts = [str(Severity(severity).label)]
    threshold = finding.casino.priority_threshold
    money: int | None = finding.priority_money  # type: ignore[attr-defined]  # annotated
    if money == 1:
        amount = written(minor_units(threshold, finding.currency), finding.currency)
        parts.append(gettext("%(amount)s or more") % {"amount": amount})
    elif money == -1:
        parts.append(gettext("a small sum"))
    if finding.priority_repeated:  # type: ignore[attr-defined]  # annotated
        parts.append(gettext("repeated by the same croupier"))
    return parts
