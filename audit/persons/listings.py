"""The watch list and the exclusion list of a casino: players whom two officers put there, and two take off again.

    proposed, with a reason and a last day or none ─► waiting ─► on the list ─► removal proposed ─► removed
                                                        └► declined      ▲              └► declined ─┐
                                                                         └───────────────────────────┘

The second officer of a proposal is another one, in other hands. Each step names an entry of the audit trail, and the
database does what it says in the same statement, or refuses: ``sql/listings.sql``. An entry names a player by id: it
stays when the player is erased, and no reason may have a word of the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import (
    IN_FORCE,
    UNDECIDED,
    Casino,
    Listing,
    ListKind,
    ListState,
    Officer,
    Person,
    PersonKind,
    Sighting,
    SightingOutcome,
)
from audit.persons.erasure import parts_of

PROPOSED = "listing.proposed"
APPROVED, REMOVAL_APPROVED = "listing.approved", "listing.removal_approved"
DECLINED, REMOVAL_DECLINED = "listing.declined", "listing.removal_declined"
REMOVAL_PROPOSED = "listing.removal_proposed"
DISMISSED = "listing.dismissed"

ATTEMPT_REFUSED = "listing.refused"

CHANGED = _("The entry has changed in the meantime. Look at it again.")

DISMISSED_ALREADY = _("Another officer has dismissed it in the meantime.")

_NOT_ALLOWED = _("Your role at this casino does not allow this.")

_NO_REASON = _("Give a reason.")

_REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _NOT_ALLOWED,
    "not-allowed": _NOT_ALLOWED,
    "no-such-player": _("The directory of this casino has no such player."),
    "is-over": _("The last day has passed."),
    "listed-already": _("The player is on this list, or an entry waits for a second officer."),
    "own-proposal": _("You proposed this. Another officer must approve."),
    "same-hands": SAME_HANDS,
    "no-reason": _NO_REASON,
    "not-readable": _("The record cannot hold this entry."),
}
"""What the database's code of a refusal is in words."""


class ListingRefused(audit_trail.Refused):
    """The entry is not made, or does not go on so. ``reason`` is for the officer."""


def propose(
    actor: Officer, casino: Casino, kind: ListKind, code: str, *, reason: str, last_day: date | None = None
) -> Listing:
    """Propose to put a player of the directory on a list, through ``last_day`` or without end.

    Raise ``ListingRefused``.
    """
    data = {"list": str(kind), "named": code, "last_day": last_day.isoformat() if last_day is not None else ""}
    return _perform(actor, PROPOSED, casino.pk, code, data, reason)


def approve(actor: Officer, listing: Listing) -> Listing:
    """Be the second officer of an entry that waits, or of its removal. Raise ``ListingRefused``."""
    return _go_on(actor, listing, APPROVED if listing.state == ListState.WAITING else REMOVAL_APPROVED)


def decline(actor: Officer, listing: Listing, *, reason: str) -> Listing:
    """Decline an entry that waits, or its removal: then it stays. Raise ``ListingRefused``."""
    return _go_on(actor, listing, DECLINED if listing.state == ListState.WAITING else REMOVAL_DECLINED, reason)


def propose_removal(actor: Officer, listing: Listing, *, reason: str) -> Listing:
    """Propose to take a player off a list. Raise ``ListingRefused``."""
    return _go_on(actor, listing, REMOVAL_PROPOSED, reason)


def dismiss(actor: Officer, sighting: Sighting, outcome: SightingOutcome, *, reason: str = "") -> None:
    """Dismiss a sighting: it leaves the inboxes and the digests of its casino. Raise ``ListingRefused``.

    At another table the player is seen again, also on the same gaming day.
    """
    listing, why = sighting.listing, audit_trail.cleaned(reason)
    _refuse_name(listing.casino_id, listing.code, why)
    data = {
        "listing": listing.number,
        "named": listing.code,
        "gaming_day": sighting.gaming_day.isoformat(),
        "session": sighting.stream.name,
        "outcome": str(outcome),
    }
    name = actor.get_username()
    try:
        audit_trail.perform(name, DISMISSED, casino_id=listing.casino_id, data=data, reason=why)
    except EntryRefused as refused:
        says = DISMISSED_ALREADY if refused.code == "moved-on" else _REFUSALS.get(refused.code, CHANGED)
        _record_refusal(name, DISMISSED, listing.casino_id, listing.code, listing.number, says)
        raise ListingRefused(says) from refused


def may_propose(actor: Officer, casino_id: int) -> bool:
    """Return whether an officer may propose entries, and removals, at a casino."""
    return Scope.of(actor, Capability.WORK_CASES).includes(casino_id)


def may_decline(actor: Officer, listing: Listing) -> bool:
    """Return whether an officer may decline what waits, which may be their own proposal."""
    scope = Scope.of(actor, Capability.WORK_CASES, Capability.APPROVE_CASES)
    return listing.state in UNDECIDED and scope.includes(listing.casino_id)


def may_approve(actor: Officer, listing: Listing) -> bool:
    """Return whether an officer may be the second one of what waits."""
    first = listing.removal_by if listing.state == ListState.LEAVING else listing.proposed_by
    return (
        listing.state in UNDECIDED
        and Scope.of(actor, Capability.APPROVE_CASES).includes(listing.casino_id)
        and first is not None
        and not same_hands(first, actor)
    )


def in_force_on(day: date) -> Q:
    """Return what is true of the entries that are in force on a gaming day, whenever two officers approved them."""
    return Q(state__in=IN_FORCE) & (Q(last_day=None) | Q(last_day__gte=day))


def listings_of(casino: Casino, codes: Iterable[str], now: datetime) -> QuerySet[Listing]:
    """Return the entries of players of a casino that are in force now or wait for a second officer."""
    waiting_or_in_force = Q(state=ListState.WAITING) | in_force_on(casino.gaming_day_at(now))
    found = Listing.objects.filter(waiting_or_in_force, casino=casino, code__in=list(codes))
    return found.select_related("casino", "proposed_by", "approved_by", "removal_by").order_by("kind", "pk")


def _go_on(actor: Officer, listing: Listing, type: str, reason: str | None = None) -> Listing:
    return _perform(actor, type, listing.casino_id, listing.code, {"listing": listing.number}, reason)


def _perform(actor: Officer, type: str, casino_id: int, code: str, data: dict[str, Any], reason: str | None) -> Listing:
    """Have the database do what an entry says; ``reason`` is None where the step has none.

    A refused attempt is recorded in the audit trail, without its reason.
    """
    name = actor.get_username()
    why = audit_trail.cleaned(reason or "")
    if reason is not None:
        _demand_reason(casino_id, code, why)
    try:
        with transaction.atomic():
            if type == PROPOSED:
                data["listing"] = _next_number(casino_id)
            done = audit_trail.perform(name, type, casino_id=casino_id, data=data, reason=why)
            rows = Listing.objects.select_related("casino", "proposed_by", "approved_by", "removal_by", "ended_by")
            return rows.get(pk=done["id"])
    except EntryRefused as refused:
        says = _REFUSALS.get(refused.code, CHANGED)
        _record_refusal(name, type, casino_id, code, data.get("listing", ""), says)
        raise ListingRefused(says) from refused


def _record_refusal(name: str, type: str, casino_id: int, code: str, number: int | str, says: Promise) -> None:
    attempt = {"named": code, "decision": type, "listing": number}
    audit_trail.record(name, ATTEMPT_REFUSED, casino_id=casino_id, data=attempt, reason=str(says))


def _demand_reason(casino_id: int, code: str, reason: str) -> None:
    """Refuse a reason that is empty, or that names the player."""
    if not reason:
        raise ListingRefused(_NO_REASON)
    _refuse_name(casino_id, code, reason)


def _refuse_name(casino_id: int, code: str, reason: str) -> None:
    """Refuse a reason that names the player: the trail keeps it for good."""
    person = Person.objects.filter(casino=casino_id, code=code, kind=PersonKind.PLAYER).first()
    if person is not None and parts_of(person.name) & parts_of(reason):
        raise ListingRefused(_("The reason contains the name: write the id. The trail keeps it for good."))


def _next_number(casino_id: int) -> int:
    """Return the number of the next entry of a casino: nobody else takes one until this is committed."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('audit.listings', %s))", [casino_id])
    return Listing.objects.filter(casino=casino_id).count() + 1
