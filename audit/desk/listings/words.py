"""What entries of the audit trail say of watch and exclusion lists, in words: see ``audit.desk.audit_trail.words``."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: Mapping[str, Promise] = {
    "listing.approved": _("approved an entry on a list"),
    "listing.declined": _("declined an entry on a list"),
    "listing.dismissed": _("dismissed a sighting of a listed player"),
    "listing.not_mailed": _("could not e-mail that an excluded player was at a table"),
    "listing.proposed": _("proposed to put a player on a list"),
    "listing.refused": _("tried an action on a list and was refused"),
    "listing.removal_approved": _("approved the removal of a player from a list"),
    "listing.removal_declined": _("declined the removal of a player from a list"),
    "listing.removal_proposed": _("proposed to remove a player from a list"),
    "listing.seen": _("saw a listed player at a table"),
    "listing.viewed": _("looked at an entry on a list"),
}
"""What the actor did, by the type of the entry."""

SUBJECTS: Mapping[str, Promise] = {"listing.": _("Watch and exclusion lists")}
"""What a day's entries can be narrowed to."""

NAMES: Mapping[str, Promise] = {
    "list": _("list"),
    "listing": _("entry on the list"),
    "listing.named": _("player"),
    "outcome": _("outcome"),
}
"""What the data are called."""
