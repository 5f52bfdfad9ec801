"""From one version of the engine to the next: what an earlier version found stands until the next is promoted.

    deploy ─► a what-if run by the new version ─► its difference is looked at ─► promoted ─► its streams are read again

A stream that an earlier version has read to its end is left as it is, unless an event, a correction or an entry of the
house register comes that changes it: ``audit.event_store.read.DIRTY``. Promoting a what-if run releases its streams:
workers read them by the version that runs, and the findings of the earlier one are superseded, each with its reason.
Somebody else promotes than started the run.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.keepers import same_hands
from audit.access.scope import Scope
from audit.adjudication.what_if import completed_streams
from audit.event_store import audit_trail
from audit.models import Officer, WhatIf
from settlement import ENGINE_VERSION

PROMOTED = "what_if.promoted"


class PromotionRefused(Exception):
    """The run cannot be promoted, or not by this officer. ``reason`` is for the officer."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


def objection(what_if: WhatIf) -> Promise | None:
    """Return why a what-if run cannot be promoted by anybody; None if it can."""
    if what_if.promoted_at is not None:
        return _("This run has been promoted.")
    if what_if.engine_version != ENGINE_VERSION:
        return _("This run was made by a different version of the engine from the one in use.")
    if what_if.readings:
        return _("This run has readings of its own: how the law is read is decided in the house register.")
    if what_if.ended_at is None or completed_streams(what_if) < what_if.streams:
        return _("This run has not read all of its streams.")
    return None


def may_promote(officer: Officer, what_if: WhatIf) -> bool:
    """Return whether ``officer`` may promote a run: they approve at its casinos, and did not start it."""
    starter = Officer.objects.filter(username=what_if.started_by).first()
    return Scope.of(officer, Capability.APPROVE_CASES).includes(what_if.casino_id) and (
        starter is None or not same_hands(starter, officer)
    )


def promote(what_if: WhatIf, officer: Officer) -> None:
    """Promote a what-if run at the desk. Raise ``PromotionRefused``; the audit trail has the attempt."""
    if not may_promote(officer, what_if):
        _record(what_if, officer.get_username(), "what_if.promotion_refused")
        raise PromotionRefused(
            _("Another officer must promote it: one who may approve at this casino and did not start the run.")
        )
    promote_as(what_if, officer.get_username())


def promote_as(what_if: WhatIf, actor: str) -> None:
    """Promote a what-if run in the name of ``actor``, an operator at a terminal. Raise ``PromotionRefused``."""
    with transaction.atomic():
        now = WhatIf.objects.select_for_update().get(pk=what_if.pk)
        if (reason := objection(now)) is not None:
            raise PromotionRefused(reason)
        WhatIf.objects.filter(pk=now.pk).update(promoted_at=timezone.now(), promoted_by=actor)
        _record(now, actor, PROMOTED)


def _record(what_if: WhatIf, actor: str, type: str) -> None:
    data = {"name": what_if.name, "id": what_if.pk, "engine_version": what_if.engine_version}
    casino_id = what_if.casino_id or audit_trail.INSTALLATION
    audit_trail.record(actor, type, casino_id=casino_id, data={**data, "streams": what_if.streams})
