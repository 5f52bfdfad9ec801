"""Payment orders, waivers and persons not found, and what these cleared of findings, held against the audit trail.

    payment.ordered, waiver.proposed, not_found.stated, …approved, …paid, … ─► each order ─► the same, or a fault
    orders that are paid, waived, kept, handed over ─► what is cleared of each finding ─► the same, or a fault

An order that took two officers and had one hand is named, whatever the trail and the rows say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime

from django.db.models import Q

from audit.casework.payment_orders import AGREED, BEGUN, Step
from audit.event_store import binary_copy
from audit.models import CLEARED, FIRST_SANDBOX_ID, Finding, FindingStatus, OrderKind, OrderState, PaymentOrder
from audit.models.adjudication import Severity
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

_BEGINS = {event: kind for kind, event in BEGUN.items()}

_GOES_ON = tuple(f"{kind}.{step}" for kind in OrderKind.values for step in Step)

_SAME_HANDS = "select audit_same_hands_at(%b::bigint, %b::bigint, %b::timestamptz)"

Claim = tuple[int, str, str]
"""The id of a case, who owes, and the player."""


@dataclass(slots=True)
class _Order:
    """An order as the audit trail leaves it, or as a row says; officers by name, and the day of a payment as text."""

    casino: int
    reference: str
    kind: str
    case: int
    debtor: str
    player: str
    amount: int
    currency: str
    reason: str
    state: str
    ordered_by: str
    ordered_at: datetime
    approved_by: str | None = None
    approved_at: datetime | None = None
    ended_by: str | None = None
    ended_at: datetime | None = None
    end_reason: str = ""
    receipt: str = ""
    cage: str = ""
    paid_on: str = ""
    not_found_on: str = ""
    kept_until: str = ""

    @property
    def claim(self) -> Claim:
        return self.case, self.debtor, self.player

    def go_on(self, entry: Entry) -> None:
        """Do what a later entry says, as the database did it."""
        match entry.type.partition(".")[2]:
            case Step.APPROVED:
                self.state = AGREED[self.kind]
                self.approved_by, self.approved_at = entry.actor, entry.at
            case Step.PAID | Step.HANDED_OVER as step:
                self.state, self.ended_by, self.ended_at = OrderState(step), entry.actor, entry.at
                self.receipt, self.cage = entry.text("receipt").strip(), entry.text("cage").strip()
                self.paid_on = entry.text("paid_on")
            case Step.CANCELLED:
                self.state, self.ended_by, self.ended_at = OrderState.CANCELLED, entry.actor, entry.at
                self.end_reason = entry.text("reason").strip()

    def wrong(self, what: str) -> WrongRow:
        return WrongRow("payment order", f"{self.reference}: {what}")


def wrong_orders(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's payment orders, of every casino's for None."""
    names = officer_names()
    orders: dict[tuple[int, str], _Order] = {}
    yield from _rebuild(casino_id, orders)
    yield from _against_the_rows(casino_id, orders, names)
    yield from _of_one_hand(orders, {name: pk for pk, name in names.items()})
    yield from _cleared(casino_id, orders)


def _rebuild(casino_id: int | None, orders: dict[tuple[int, str], _Order]) -> Iterator[WrongRow]:
    """Add what the trail says to ``orders``; yield the entries that go on with what nobody began."""
    for entry in entries(casino_id, [*_BEGINS, *_GOES_ON]):
        key = (entry.casino_id, entry.text("order"))
        if entry.type in _BEGINS and key not in orders:
            orders[key] = _of_entry(entry)
        elif entry.type in _BEGINS:
            yield orders[key].wrong(f"{entry.name} begins it again")
        elif key in orders:
            orders[key].go_on(entry)
        else:
            yield WrongRow("payment order", f"{entry.name} goes on with {key[1]}, which nobody began")


def _of_entry(entry: Entry) -> _Order:
    return _Order(
        casino=entry.casino_id,
        reference=entry.text("order"),
        kind=_BEGINS[entry.type],
        case=entry.number("case"),
        debtor=entry.text("debtor"),
        player=entry.text("player"),
        amount=entry.number("amount"),
        currency=entry.text("currency"),
        reason=entry.text("reason").strip(),
        state=OrderState.WAITING if entry.number("signatures") == 2 else AGREED[_BEGINS[entry.type]],
        ordered_by=entry.actor,
        ordered_at=entry.at,
        not_found_on=entry.text("not_found_on"),
        kept_until=entry.text("kept_until"),
    )


def _against_the_rows(
    casino_id: int | None, orders: Mapping[tuple[int, str], _Order], names: Mapping[int, str]
) -> Iterator[WrongRow]:
    rows = PaymentOrder.objects.order_by("pk")
    stored: dict[tuple[int, str], _Order] = {}
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        if (key := (row.casino_id, row.reference)) in stored:
            yield stored[key].wrong("it is stored twice")
        stored[key] = _of_row(row, names)
    for key, expected in orders.items():
        row_says = stored.pop(key, None)
        if row_says is None:
            yield expected.wrong(f"the order of {expected.ordered_by} is missing")
            continue
        compared = (each.name for each in fields(_Order))
        altered = [name for name in compared if getattr(expected, name) != getattr(row_says, name)]
        if altered:
            yield expected.wrong(f"it is not what the audit trail says: {', '.join(altered)}")
    for row_says in stored.values():
        yield row_says.wrong("it is stored, and the audit trail does not say so")


def _of_row(row: PaymentOrder, names: Mapping[int, str]) -> _Order:
    return _Order(
        casino=row.casino_id,
        reference=row.reference,
        kind=row.kind,
        case=row.case_id,
        debtor=row.debtor,
        player=row.player,
        amount=row.amount,
        currency=row.currency,
        reason=row.reason,
        state=row.state,
        ordered_by=names.get(row.ordered_by_id, ""),
        ordered_at=row.ordered_at,
        approved_by=names.get(row.approved_by_id, "") if row.approved_by_id else None,
        approved_at=row.approved_at,
        ended_by=names.get(row.ended_by_id, "") if row.ended_by_id else None,
        ended_at=row.ended_at,
        end_reason=row.end_reason,
        receipt=row.receipt,
        cage=row.cage,
        paid_on=_day(row.paid_on),
        not_found_on=_day(row.not_found_on),
        kept_until=_day(row.kept_until),
    )


def _day(stored: date | None) -> str:
    return stored.isoformat() if stored else ""


def _of_one_hand(orders: Mapping[tuple[int, str], _Order], accounts: Mapping[str, int]) -> Iterator[WrongRow]:
    for each in orders.values():
        if each.approved_by is None:
            continue
        one, other = accounts.get(each.ordered_by), accounts.get(each.approved_by)
        if one is None or other is None:
            yield each.wrong("an account that asked for it or approved it is not there")
        elif each.ordered_by == each.approved_by:
            yield each.wrong(f"{each.ordered_by} alone made it: one officer asked and approved")
        elif binary_copy.execute(_SAME_HANDS, (one, other, each.approved_at))[0][0]:
            yield each.wrong(
                f"one hand made it: the accounts {each.ordered_by} and {each.approved_by} were in the same hands"
            )


def _cleared(casino_id: int | None, orders: Mapping[tuple[int, str], _Order]) -> Iterator[WrongRow]:
    """Name the findings of which more or less is cleared than the orders of their claims say, in their order."""
    left: Counter[Claim] = Counter()
    for order in orders.values():
        if order.state in CLEARED:
            left[order.claim] += order.amount
    found = Finding.objects.filter(stream__lt=FIRST_SANDBOX_ID)
    found = found if casino_id is None else found.filter(casino=casino_id)
    concerned = found.filter(Q(case__in={case for case, _by, _player in left}) | ~Q(cleared=0))
    for each in concerned.select_related("stream").order_by("case", "seq", "rule", "wager", "pk"):
        part = 0
        if each.status == FindingStatus.STANDING and each.difference is not None and each.owed and (
            each.severity != Severity.INFO
        ):  # fmt: skip
            claim = (each.case_id or 0, str(each.owed.get("by")), each.player)
            part = min(int(each.owed.get("amount", 0)), left[claim])
            left[claim] -= part
        if each.cleared != part:
            what = f"{each.cleared} of {each.rule} are cleared, and by the audit trail {part} were paid, waived or kept"
            yield WrongRow("payment order", what, each.stream.name, each.seq)
