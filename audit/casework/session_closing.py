"""Closing a session whose table system is gone: two officers record the ``session.closed`` that it never sent.

    the session takes event n next ─► proposed, with the float as counted ──► approved by another officer: event n
                                                  ├─────────────────────────► declined by another officer
                                                  └─────────────────────────► withdrawn by whoever proposed it

Each names an entry of the audit trail, and the database does what it says in the same statement, or refuses:
``sql/session_closing.sql``. The closing is an event like any other and is never deleted; its ``ext`` says which two
officers recorded it. If the table sends an event between proposal and approval, it is not gone: the proposal can no
longer be approved. Events after the closing are recorded, too, as late.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit import task_queue
from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.event_store import audit_trail, read
from audit.event_store.append import EntryRefused
from audit.event_store.streams import instant
from audit.models import LoggedStream, Officer, RequestState, SessionClosing
from settlement.codec import decode_canonical
from settlement.events.envelope import MAX_INTEGER

ATTEMPT_REFUSED = "session.closing_refused"

CHANGED = _("The proposal has changed in the meantime. Look at it again.")
"""Why nobody decides about a proposal that was withdrawn since they read it."""

_NOT_DECIDER = _("Your role at this casino does not allow this.")

_REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _NOT_DECIDER,
    "not-decider": _NOT_DECIDER,
    "no-such-session": _("The casino has no such session."),
    "no-such-closing": CHANGED,
    "closed": _("The session is closed."),
    "moved-on": _("The table has sent events since. Look at the session again."),
    "waiting-already": _("A proposal to close this session is already waiting."),
    "not-readable": _("The record cannot hold this closing."),
    "decided": _("The proposal has been decided in the meantime."),
    "own-proposal": _("You proposed this. Another officer must decide."),
    "not-own-proposal": _("Only the officer who proposed this can withdraw it."),
    "same-hands": SAME_HANDS,
    "proposer-left": _("The officer who proposed this may not do so here any more. Decline the proposal."),
}
"""What the database's code of a refusal is in words."""


class ClosingRefused(audit_trail.Refused):
    """The session cannot be closed so. ``reason`` is for the officer."""


def propose(actor: Officer, stream: LoggedStream, *, float_minor: int, reason: str) -> SessionClosing:
    """Propose to close a session after its last event, with the float as counted. Raise ``ClosingRefused``."""
    if not 0 <= float_minor <= MAX_INTEGER:
        raise ClosingRefused(_REFUSALS["not-readable"])
    head = read.head_of(stream.casino_id, stream.name)
    assert head is not None, "an opened stream has a head"
    data = {"session": stream.name, "next_seq": head.next_seq, "float_minor": float_minor}
    added = _perform(actor, "session.closing_proposed", stream.casino_id, data, _given(reason))
    return SessionClosing.objects.get(pk=added["id"])


def approve(actor: Officer, closing: SessionClosing, *, reason: str = "") -> SessionClosing:
    """Approve a proposal: the session is closed by this. Raise ``ClosingRefused``."""
    event = _event_of(closing, approved_by=actor.get_username())
    decided = _decide(actor, closing, "session.closing_approved", audit_trail.cleaned(reason), event=event.decode())
    transaction.on_commit(partial(task_queue.send_soon, task_queue.REPLAY_STREAM, stream_id=closing.stream_id))
    return decided


def decline(actor: Officer, closing: SessionClosing, *, reason: str) -> SessionClosing:
    """Decline what another officer proposed. Raise ``ClosingRefused``."""
    return _decide(actor, closing, "session.closing_declined", _given(reason))


def withdraw(actor: Officer, closing: SessionClosing, *, reason: str = "") -> SessionClosing:
    """Withdraw one's own proposal. Raise ``ClosingRefused``."""
    return _decide(actor, closing, "session.closing_withdrawn", audit_trail.cleaned(reason))


def waiting_of(stream_id: int) -> SessionClosing | None:
    """Return the proposal to close a session that waits; None if none does."""
    rows = SessionClosing.objects.filter(stream=stream_id, state=RequestState.WAITING)
    return rows.select_related("stream", "casino", "proposed_by").first()


def closed_at(stream_id: int) -> int | None:
    """Return the event with which officers closed a session; None if they did not."""
    approved = SessionClosing.objects.filter(stream=stream_id, state=RequestState.APPROVED)
    return approved.values_list("next_seq", flat=True).first()


def may_propose(actor: Officer, casino_id: int) -> bool:
    """Return whether ``actor`` may propose to close a session of a casino, as far as roles say."""
    return Scope.of(actor, Capability.WORK_CASES, Capability.APPROVE_CASES).includes(casino_id)


def may_decide(actor: Officer, closing: SessionClosing) -> bool:
    """Return whether ``actor`` may approve or decline a proposal: another's, which waits, in other hands."""
    return (
        closing.state == RequestState.WAITING
        and Scope.of(actor, Capability.APPROVE_CASES).includes(closing.casino_id)
        and not same_hands(closing.proposed_by, actor)
    )


def _event_of(closing: SessionClosing, *, approved_by: str) -> bytes:
    """Return the event that closes a session, in its canonical form."""
    officers = {"proposed_by": closing.proposed_by.get_username(), "approved_by": approved_by}
    _event, canonical = decode_canonical(
        msgspec.json.encode(
            {
                "stream": closing.stream.name,
                "seq": closing.next_seq,
                "occurred_at": instant(datetime.now(UTC)),
                "type": "session.closed",
                "data": {"float": closing.float_minor},
                "ext": {"desk": officers},
            }
        )
    )
    return canonical


def _decide(actor: Officer, closing: SessionClosing, type: str, reason: str, **event: str) -> SessionClosing:
    data = {
        "session": closing.stream.name,
        "next_seq": closing.next_seq,
        "float_minor": closing.float_minor,
        "proposed_by": closing.proposed_by.get_username(),
        **event,
    }
    _perform(actor, type, closing.casino_id, data, reason)
    closing.refresh_from_db()
    return closing


def _perform(actor: Officer, type: str, casino_id: int, data: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Have the database do what an entry says. A refused attempt is recorded in the audit trail."""
    name = actor.get_username()
    try:
        with transaction.atomic():
            return audit_trail.perform(name, type, casino_id=casino_id, data=data, reason=reason)
    except EntryRefused as refused:
        why = _REFUSALS.get(refused.code, _REFUSALS["no-such-closing"])
        attempt = {"session": data["session"], "decision": type}
        audit_trail.record(name, ATTEMPT_REFUSED, casino_id=casino_id, data=attempt, reason=str(why))
        raise ClosingRefused(why) from refused


def _given(reason: str) -> str:
    """Return a reason, cleaned. Raise ``ClosingRefused`` if there is none."""
    cleaned = audit_trail.cleaned(reason)
    if not cleaned:
        raise ClosingRefused(_("Give a reason."))
    return cleaned
