"""Who works at the table, and who paid: at every game."""

from __future__ import annotations

from settlement.events import StaffAssigned, StaffRelieved
from settlement.events.session import SessionOpenedData
from settlement.state import Table


def change_staff(table: Table, event: StaffAssigned | StaffRelieved) -> None:
    """Follow who works at the table."""
    member = (event.data.person, event.data.role)
    if isinstance(event, StaffAssigned):
        table.staff.append(member)
    elif member in table.staff:
        table.staff.remove(member)
    change_duty(table)


def change_duty(table: Table) -> None:
    """Follow who is on duty as croupier, after a change of ``staff``."""
    table.staff_judged = False
    croupiers = {person for person, role in table.staff if role == "croupier"}
    table.on_duty = croupiers.pop() if len(croupiers) == 1 else None


def payer(table: Table, actor: str | None) -> str:
    """Return who made a payout that ``actor`` recorded: a member of the staff, else who is on duty, else ""."""
    if actor and any(person == actor for person, _ in table.staff):
        return actor
    return table.on_duty or ""


def open_staff(table: Table, data: SessionOpenedData) -> None:
    """Take the staff that the opener names; ``croupier`` is short for one of them."""
    table.staff = [(member.person, member.role) for member in data.staff or []]
    if data.croupier and (data.croupier, "croupier") not in table.staff:
        table.staff.append((data.croupier, "croupier"))
    change_duty(table)
