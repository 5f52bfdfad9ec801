"""What stands and what a what-if run finds, side by side: findings and money by rule, those that agree included."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.db import connection

from audit.casework.debts import found_sql
from audit.models import WhatIf


@dataclass(frozen=True, slots=True)
class Sum:
    """Findings, and what is owed by them in minor units: by the house to players, and by players to the house."""

    findings: int = 0
    to_players_minor: int = 0
    to_bank_minor: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.findings + other.findings,
            self.to_players_minor + other.to_players_minor,
            self.to_bank_minor + other.to_bank_minor,
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """What stands and what the run finds: of one rule in one currency, or of all rules in it, where ``rule`` is ""."""

    rule: str
    currency: str
    before: Sum = field(default_factory=Sum)
    after: Sum = field(default_factory=Sum)


_BY, _AMOUNT = found_sql("found")

_SUMS = f"""
with streams as (
  select stream_id from audit_adjudicationrun where what_if_id = %(what_if)s and state = 'complete'),
found as (
  select false as is_after, casino_id, rule, currency, severity, owed from audit_finding
  where status = 'standing' and run_id is not null and stream_id in (select stream_id from streams)
  union all
  select true, casino_id, rule, currency, severity, owed from audit_whatiffinding
  where what_if_id = %(what_if)s and stream_id in (select stream_id from streams)),
money as (
  select is_after, casino_id, rule, currency, {_BY} as by, {_AMOUNT} as amount
  from found)
select rule, currency,
       count(*) filter (where not is_after),
       coalesce(sum(amount) filter (where not is_after and by = 'house'), 0)::bigint,
       coalesce(sum(amount) filter (where not is_after and by = 'player'), 0)::bigint,
       count(*) filter (where is_after),
       coalesce(sum(amount) filter (where is_after and by = 'house'), 0)::bigint,
       coalesce(sum(amount) filter (where is_after and by = 'player'), 0)::bigint
from money
where %(casinos)s::bigint[] is null or casino_id = any (%(casinos)s::bigint[])
group by rule, currency
order by rule, currency
"""


def by_rule(what_if: WhatIf, casinos: Collection[int] | None = None) -> list[Compared]:
    """Return what each rule finds before and after, at ``casinos`` (ids), None for all: one query.

    Of the streams that the run has read to their end.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, {"what_if": what_if.pk, "casinos": list(casinos) if casinos is not None else None})
        return [Compared(row[0], row[1], Sum(*row[2:5]), Sum(*row[5:8])) for row in cursor.fetchall()]


def in_all(compared: Iterable[Compared]) -> list[Compared]:
    """Return the sums over all rules by currency, sorted by it; of no finding, none."""
    sums: dict[str, Compared] = {}
    for each in compared:
        so_far = sums.get(each.currency, Compared("", each.currency))
        sums[each.currency] = Compared("", each.currency, so_far.before + each.before, so_far.after + each.after)
    return [sums[currency] for currency in sorted(sums)]
