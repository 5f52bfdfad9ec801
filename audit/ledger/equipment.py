"""A wheel or a set of dice that was taken apart: its processes end, and the next session begins new ones.

An officer notes it, with a reason, in the audit trail. The evidence about the old parts says nothing of the new ones;
its questions stay. To end it when one likes does no harm to its level: the gamblers stop when they like.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.models import Casino, LedgerProcess, Officer

WHEEL = ("wheel", "wheel-displacement", "wheel-memory")
DICE = ("dice-pair",)


class EquipmentRefused(Exception):
    """Nothing is noted. ``code`` says why: "right-missing", "reason-missing" or "nothing-ends"."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def equipment_of(process: LedgerProcess) -> tuple[str, str] | None:
    """Return the kind, "wheel" or "dice", and the id of what a process is about; None if it is no equipment."""
    if process.kind in WHEEL:
        return "wheel", process.subject
    if process.kind in DICE:
        return "dice", process.subject
    if process.kind == "die":
        return "dice", process.subject.rpartition(", ")[0]
    return None


def take_apart(officer: Officer, casino: Casino, kind: str, id: str, *, reason: str) -> int:
    """End every process about a "wheel" or a set of "dice", and return how many; with an entry of the audit trail.

    Raise ``EquipmentRefused``: without the right to sign nights, without a reason, or where no process about it goes
    on.
    """
    reason = audit_trail.cleaned(reason)
    if not Scope.of(officer, Capability.SIGN_NIGHTS).includes(casino.pk):
        raise EquipmentRefused("right-missing", f"{officer.get_username()} may not sign nights of {casino.code}.")
    if not reason:
        raise EquipmentRefused("reason-missing", "Give a reason.")
    if kind == "dice":
        about = Q(kind__in=DICE, subject=id) | Q(kind="die", subject__startswith=f"{id}, ")
    else:
        about = Q(kind__in=WHEEL, subject=id) | Q(kind="croupier-displacement", subject__endswith=f", {id}")
    with transaction.atomic():
        of_casino = LedgerProcess.objects.going_on().filter(about, casino=casino)
        held = list(of_casino.order_by("pk").select_for_update().only("pk", "name"))
        if not held:
            raise EquipmentRefused("nothing-ends", f"No process about {kind} {id} goes on at {casino.code}.")
        of_casino.filter(pk__in=[row.pk for row in held]).update(
            ended_at=timezone.now(), ended_by=officer.get_username(), ended_reason=reason
        )
        audit_trail.record(
            officer.get_username(),
            "equipment.taken_apart",
            casino_id=casino.pk,
            data={"kind": kind, "id": id, "processes": [row.name for row in held]},
            reason=reason,
        )
    return len(held)
