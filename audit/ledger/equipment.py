"""A wheel or a set of dice that was taken apart: its processes end, and the next session begins new ones.

An officer notes it, with a reason, in the audit trail. What a process knew of the old parts says nothing of the new
ones; its questions stay. To end it when one likes does no harm to its level: the gamblers stop when they like.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import LedgerProcess

WHEEL = ("wheel", "wheel-displacement", "wheel-memory")
DICE = ("dice-pair",)


def equipment_of(process: LedgerProcess) -> tuple[str, str] | None:
    """Return the kind, "wheel" or "dice", and the id of what a process is about; None if it is no equipment."""
    if process.kind in WHEEL:
        return "wheel", process.subject
    if process.kind in DICE:
        return "dice", process.subject
    if process.kind == "die":
        return "dice", process.subject.rpartition(", ")[0]
    return None


def take_apart(process: LedgerProcess, *, actor: str, reason: str) -> int:
    """End every process about the equipment of ``process``, and return how many; with an entry of the audit trail."""
    named = equipment_of(process)
    assert named is not None, "only equipment is taken apart"
    kind, subject = named
    about = Q(kind__in=WHEEL, subject=subject) | Q(kind="croupier-displacement", subject__endswith=f", {subject}")
    if kind == "dice":
        about = Q(kind__in=DICE, subject=subject) | Q(kind="die", subject__startswith=f"{subject}, ")
    with transaction.atomic():
        of_casino = LedgerProcess.objects.filter(about, casino=process.casino_id, ended_at=None)
        held = list(of_casino.order_by("pk").select_for_update().only("pk", "name"))
        of_casino.filter(pk__in=[row.pk for row in held]).update(
            ended_at=timezone.now(), ended_by=actor, ended_reason=reason
        )
        audit_trail.record(
            actor,
            "equipment.taken_apart",
            casino_id=process.casino_id,
            data={"kind": kind, "id": subject, "processes": [row.name for row in held]},
            reason=reason,
        )
    return len(held)
