"""What an incident owes, by whom and to whom: the claims of its standing findings that are no information.

    findings of a case ──► claims: who owes, how much now ──► a debt: owed to players, owed to the house
    paid, waived, kept by officers: ``cleared`` ──┘

Every wager has one debt, which stands at one finding, or in two parts at two (``account.md``, section 1). So claims are
added up, wherever they stand among the findings of an incident, and the same money is never counted twice. A debt of
the house to one player is not set off against what another owes to the house: a debt has two sides.

A claim is owed from the moment that it is found until it is paid, waived, or put right at the table: whether its case
is open or closed makes no difference. ``Finding.cleared`` is what officers had paid or waived of it, or keep for a
person who is not found; the database keeps it: see ``audit.casework.payment_orders``.

This is the only place that says what counts: ``debt_of`` for findings in memory, and beside it the same as SQL, for
lists that are sorted, narrowed and summed in the database.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, JSONField, Min, Q, QuerySet, Sum, When
from django.db.models.expressions import RawSQL
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, JSONObject

from audit.casework.stakes import Stake, no_stake, stake_of, stake_of_claims
from audit.models import Finding, FindingStatus
from audit.models.adjudication import Severity
from audit.presentation import WriteMoney, money_in_prose

_FOUND = Cast(KT("owed__amount"), BigIntegerField())

IS_CLAIM = Q(owed__isnull=False, difference__isnull=False, cleared__lt=_FOUND) & ~Q(severity=Severity.INFO)
"""True of a finding at which something is owed now. Every claim has a difference, and information owes nothing."""

AMOUNT = _FOUND - F("cleared")
"""What is owed now at a finding with a claim, in minor units."""

CLAIM = Case(When(IS_CLAIM, then=JSONObject(by=KT("owed__by"), amount=AMOUNT)))
"""The claim of a finding, ``by`` and ``amount``; null where none stands."""

SIDES = {"player": "house", "bank": "player"}
"""By side that loses: who owes it that money."""

LOSERS = {by: side for side, by in SIDES.items()}
"""By who owes: which side loses."""

# Only findings with a difference: every claim has one, and the index ``finding_money`` has what is asked of them.
_OF_CASE = "m.case_id = {case} and m.status = '" + FindingStatus.STANDING.value + "' and m.difference is not null"
_WAS_FOUND = f"(m.owed is not null and m.severity <> '{Severity.INFO.value}')"
_IS_CLAIM = f"({_WAS_FOUND} and (m.owed ->> 'amount')::bigint > m.cleared)"
_IS_OF_MONEY = "(m.owed is not null or m.difference = 0 or m.put_right_by is not null)"
_AMOUNT = "((m.owed ->> 'amount')::bigint - m.cleared)"


def sums_sql(case: str) -> str:
    """Return the query of what an incident owes: one row, ``to_players`` and ``to_bank`` in minor units, or 0.

    ``case`` is the SQL of the id of its case.
    """
    return (
        f"select coalesce(sum({_AMOUNT}) filter (where m.owed ->> 'by' = 'house'), 0)::bigint as to_players,"
        f" coalesce(sum({_AMOUNT}) filter (where m.owed ->> 'by' = 'player'), 0)::bigint as to_bank"
        f" from audit_finding m where {_OF_CASE.format(case=case)} and {_IS_CLAIM}"
    )


def claim_sql(finding: str) -> tuple[str, str]:
    """Return the SQL of by whom a claim is owed and of its amount, both null where there is none.

    ``finding`` is what the query calls the row of a finding that stands.
    """
    return _by_and_amount(finding, _IS_CLAIM, _AMOUNT)


def found_sql(finding: str) -> tuple[str, str]:
    """Return the same of what was found, whatever officers have paid, waived or kept of it since."""
    return _by_and_amount(finding, _WAS_FOUND, "(m.owed ->> 'amount')::bigint")


def _by_and_amount(finding: str, condition: str, owed: str) -> tuple[str, str]:
    by, amount = f"case when {condition} then m.owed ->> 'by' end", f"case when {condition} then {owed} end"
    return by.replace("m.", f"{finding}."), amount.replace("m.", f"{finding}.")


_FINDING = '"audit_finding".'
_CASE = f'{_FINDING}"case_id"'
"""The case of the finding that a query of Django's is about."""


def owed_sql(*others: str, by: str | None = None) -> str:
    """Return the query of what the incident of a finding owes, as ``owed_by_incident``, with ``others`` beside it."""
    of_side = f" and m.owed ->> 'by' = '{by}'" if by is not None else ""
    amount = f"sum(case when {_IS_CLAIM}{of_side} then {_AMOUNT} else 0 end) as owed"
    of_case = f"{_OF_CASE.format(case=_CASE)} and {_IS_OF_MONEY}"
    return f"select {', '.join((amount, *others))} from audit_finding m where {of_case}"


def owed_by_incident(by: str | None = None) -> RawSQL:
    """Return what the incident of a finding owes, in minor units: ``by`` the house or players, None for both together.

    0 where nothing is owed any more, null where none of its findings is about money that somebody owes or has owed.
    """
    return RawSQL(f"({owed_sql(by=by)})", (), BigIntegerField())


def owed_at_finding() -> RawSQL:
    """Return what is owed at a finding itself, as ``owed_by_incident``: 0 where it was made good."""
    owed = f"case when {_IS_CLAIM} then {_AMOUNT} when {_IS_OF_MONEY} then 0 end"
    return RawSQL(f"({owed})".replace("m.", _FINDING), (), BigIntegerField())


def sums_owed(findings: QuerySet[Any], *by: str) -> QuerySet[Any]:
    """Return the query of what is owed at ``findings`` now: currency, by whom, casino, total, incidents, since when.

    Every page that says what is owed by several incidents takes it from here. The claims of incidents, open and closed,
    in minor units; each stands at one finding, and what the house owes is not set off against what players owe.
    ``by`` names columns by which the sums are apart; they end each row.
    """
    sums = (
        findings.filter(IS_CLAIM, case__isnull=False)
        .order_by()
        .values("casino", "currency", *by, debtor=KT("owed__by"))
        .annotate(total=Sum(AMOUNT), count=Count("case", distinct=True), oldest=Min("occurred_at"))
    )
    rows: QuerySet[Any] = sums.values_list("currency", "debtor", "casino", "total", "count", "oldest", *by)
    return rows


def owing(findings: QuerySet[Any], by: str) -> QuerySet[Any]:
    """Return those of ``findings`` at which a claim stands that ``by`` owes, "house" or "player"."""
    return findings.filter(IS_CLAIM, owed__by=by)


def incidents_owing(findings: QuerySet[Any], by: str) -> QuerySet[Any]:
    """Return those of ``findings`` of whose incident a claim is owed by ``by``."""
    claims = owing(Finding.objects.standing(), by)
    return findings.filter(case__in=claims.values("case"))


_MONEY = f"""(select jsonb_agg(jsonb_build_array(m.owed ->> 'by', m.player, m.rule, m.currency,
  case when {_IS_CLAIM} then {_AMOUNT} end, abs(m.difference),
  m.put_right_by is not null and (m.difference <> 0 or m.severity = '{Severity.INFO.value}'), m.id, m.cleared)
  order by m.id)
  from audit_finding m where {_OF_CASE.format(case=_CASE)})"""


def with_money(findings: QuerySet[Any]) -> QuerySet[Any]:
    """Return ``findings``, each with what ``debt_of_incident`` reads: the money of its incident."""
    described: QuerySet[Any] = findings.annotate(incident_money=RawSQL(_MONEY, (), JSONField(null=True)))
    return described


@dataclass(frozen=True, slots=True)
class Claim:
    """What is owed now at a finding, whose id is ``finding``: ``by`` "house" or "player".

    ``found`` is what was owed when it was found: more, where a part is paid.
    """

    by: str
    player: str
    rule: str
    currency: str
    amount: int
    found: int
    finding: int


@dataclass(frozen=True, slots=True)
class Debt:
    """What an incident owes. ``is_put_right``: nothing any more; ``is_settled``: and all of it by settlements.
    ``is_cleared``: nothing any more, because officers had it paid, waived or keep it.

    Amounts are in minor units of the incident's currency.
    """

    claims: Sequence[Claim] = ()
    is_put_right: bool = False
    is_settled: bool = False
    is_cleared: bool = False

    @property
    def to_players(self) -> int:
        return self._owed_by("house")

    @property
    def to_bank(self) -> int:
        return self._owed_by("player")

    @property
    def amount(self) -> int:
        """The claims of both sides together."""
        return self.to_players + self.to_bank

    @property
    def side(self) -> str:
        """Who loses by it, "player" or "bank", the one who loses more; "" for nobody."""
        if not self.claims:
            return ""
        return "player" if self.to_players >= self.to_bank else "bank"

    @property
    def by(self) -> str:
        """Who owes it, "house" or "player"; "" for nobody."""
        return SIDES.get(self.side, "")

    @property
    def larger(self) -> int:
        """The claims of the side that owes more, together: what ``by`` owes."""
        return max(self.to_players, self.to_bank)

    @property
    def payable(self) -> Sequence[Claim]:
        """The claims that the house owes."""
        return [each for each in self.claims if each.by == "house"]

    def _owed_by(self, by: str) -> int:
        return sum(each.amount for each in self.claims if each.by == by)


def claim_of(finding: Finding) -> Claim | None:
    """Return the claim that stands at a finding; None for one that owes nothing, is information or does not stand."""
    return _claim_at(finding) if finding.status == FindingStatus.STANDING else None


def _claim_at(finding: Finding) -> Claim | None:
    """Return the claim of a finding, whether it stands or not."""
    owed = finding.owed
    if not owed or finding.severity == Severity.INFO or owed["amount"] <= finding.cleared:
        return None
    found = abs(finding.difference or owed["amount"])
    return Claim(
        owed["by"], finding.player, finding.rule, finding.currency, owed["amount"] - finding.cleared, found, finding.pk
    )


def claims_in(findings: Iterable[Finding]) -> list[Claim]:
    """Return the claims that stand at ``findings``, in their order."""
    return [claim for each in findings if (claim := claim_of(each)) is not None]


def debt_of(findings: Iterable[Finding]) -> Debt:
    """Return what is owed by the findings of an incident."""
    of_incident = list(findings)
    return _debt(claims_in(of_incident), of_incident)


def debt_of_incident(finding: Finding) -> Debt:
    """Return what the incident of a finding owes: no query for one of ``with_money``, else one.

    A finding without a case is its own incident.
    """
    if finding.case_id is None:
        return debt_of([finding])
    if "incident_money" not in finding.__dict__:
        return debt_of(Finding.objects.standing().filter(case=finding.case_id, difference__isnull=False).order_by("pk"))
    rows = list(finding.incident_money or ())  # type: ignore[attr-defined]  # annotated
    claims = [
        Claim(by, player, rule, currency, owed, found, pk)
        for by, player, rule, currency, owed, found, _is_settled, pk, _cleared in rows
        if owed is not None
    ]
    if claims:
        return Debt(claims)
    settled = [is_settled for *_rest, found, is_settled, _pk, _cleared in rows if is_settled or not found]
    return _made_good(settled, is_cleared=any(cleared for *_rest, cleared in rows))


def look_up_debts(findings: Iterable[Finding], in_file: Container[int]) -> None:
    """Set ``debt_in_file`` on each of ``findings``, which come from ``with_money``: the debt its row of a file shows.

    A row shows what is owed at the finding itself; the cause of an incident also shows what is owed at those findings
    of it that are not ``in_file``. So a file has each claim of its incidents once.
    """
    for each in findings:
        own = _debt([claim] if (claim := _claim_at(each)) is not None else [], [each])
        if each.heads_case and each.status == FindingStatus.STANDING:
            debt = debt_of_incident(each)
            others = [claim for claim in debt.claims if claim.finding != each.pk and claim.finding not in in_file]
            if others:
                own = Debt([*own.claims, *others])
            elif not debt.claims and each.difference is None:
                own = debt
        each.debt_in_file = own  # type: ignore[attr-defined]


def _is_settled(finding: Finding) -> bool:
    is_information = finding.severity == Severity.INFO
    return finding.put_right_by is not None and bool(finding.difference or is_information)


def _debt(claims: Sequence[Claim], findings: Iterable[Finding]) -> Debt:
    if claims:
        return Debt(claims)
    of_money = [each for each in findings if each.difference is not None]
    settled = [_is_settled(each) for each in of_money if each.put_right_by is not None or not each.difference]
    return _made_good(settled, is_cleared=any(each.cleared for each in of_money))


def _made_good(settled: Sequence[bool], *, is_cleared: bool) -> Debt:
    """Return the debt of an incident that owes nothing any more, given of what was owed whether it was settled.

    ``is_cleared``: officers had some of it paid, waived or keep it.
    """
    return Debt((), bool(settled), bool(settled) and all(settled), is_cleared)


def stake_of_incident(finding: Finding, player: str = "", write: WriteMoney = money_in_prose) -> Stake:
    """Return the money of the incident that a finding is the cause of; that of any other finding is its own.

    ``player`` is the player concerned by the finding as the page names persons, "" for the id.
    """
    if not finding.heads_case or finding.status != FindingStatus.STANDING:
        return stake_of(finding, player, write)
    return stake_of_debt(finding, debt_of_incident(finding), player, write)


def stake_of_debt(finding: Finding, debt: Debt, player: str = "", write: WriteMoney = money_in_prose) -> Stake:
    """Return what is owed, as the line of ``finding`` says it. ``player`` is as in ``stake_of_incident``."""
    if not debt.claims:
        if debt.is_cleared:
            return no_stake(is_cleared=True)
        if finding.difference is None and debt.is_put_right:
            return no_stake(is_settled=debt.is_settled)
        return stake_of(finding, player, write)
    by, owed = debt.by, debt.larger
    claims = [each for each in debt.claims if each.by == by]
    codes = {each.player for each in claims}
    code = codes.pop() if len(codes) == 1 else ""
    stake = stake_of_claims(
        by,
        owed,
        sum(each.found for each in claims),
        claims[0].currency,
        rules={each.rule for each in claims},
        who=player if player and code == finding.player else code,
        is_of_several=bool(codes),
        write=write,
    )
    other = debt.amount - owed
    return stake.with_other_side(write(other, claims[0].currency)) if other else stake
