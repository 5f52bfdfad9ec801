"""The money of nights: what is owed, what is kept for persons not found, and what is under review.

The page of a night, that of a month and the list of nights take it from here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db.models import QuerySet

from audit.casework.debts import sums_owed
from audit.desk.nights.under_review import UnderReview, open_questions, under_review
from audit.desk.overview.waits import Kept, Loss, kept, losses
from audit.models import Finding, NightReport, OrderState, PaymentOrder

Key = tuple[int, str, date]
"""A night: the id of its casino, its currency and its gaming day."""


@dataclass(slots=True)
class NightMoney:
    """The money of one night."""

    owed: list[Loss] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    under_review: list[UnderReview] = field(default_factory=list)


def money_of(casino_id: int, currency: str, **of_days: date) -> dict[str, Any]:
    """Return what is owed of some gaming days, and what is kept of the incidents that began on them."""
    standing = Finding.objects.standing().filter(casino=casino_id, currency=currency, **of_days)
    return {"owed": losses(sums_owed(standing)), "kept": kept(_orders(standing))}


def money_of_nights(reports: Sequence[NightReport]) -> Mapping[Key, NightMoney]:
    """Return the money of each night of ``reports``, as its page says it. Names are left out.

    Three queries, and some for each night on which somebody is under review or a sum is kept.
    """
    found: defaultdict[Key, NightMoney] = defaultdict(NightMoney)
    nights = {key_of(each): each for each in reports}
    if not nights:
        return found
    casinos, days = {key[0] for key in nights}, [key[2] for key in nights]
    standing = Finding.objects.standing().filter(casino__in=casinos, gaming_day__in=days)
    sums: defaultdict[Key, list[tuple[Any, ...]]] = defaultdict(list)
    for *of_night, day in sums_owed(standing, "gaming_day"):
        sums[of_night[2], of_night[0], day].append(tuple(of_night))
    for key, rows in sums.items():
        found[key].owed = losses(rows)
    for casino, currency, day in _with_kept(standing):
        found[casino, currency, day].kept = money_of(casino, currency, gaming_day=day)["kept"]
    questions = list(open_questions(casinos, min(days)))
    for key, report in nights.items():
        if any(
            each.casino_id == key[0] and each.currency == key[1] and each.gaming_day >= key[2] for each in questions
        ):
            found[key].under_review = under_review(report, with_names=False)
    return found


def key_of(report: NightReport) -> Key:
    """Return the key of the night of a report."""
    return report.casino_id, report.currency, report.gaming_day


def _orders(standing: QuerySet[Finding]) -> QuerySet[PaymentOrder]:
    return PaymentOrder.objects.filter(case__in=standing.filter(heads_case=True).values("case"))


def _with_kept(standing: QuerySet[Finding]) -> QuerySet[Any, Any]:
    """Return the nights whose incidents have a sum that is kept, as keys."""
    with_kept = PaymentOrder.objects.filter(state=OrderState.KEPT).values("case")
    heads = standing.filter(heads_case=True, case__in=with_kept).order_by()
    return heads.values_list("casino", "currency", "gaming_day").distinct()
