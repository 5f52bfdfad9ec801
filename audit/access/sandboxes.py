"""Sandboxes: casinos for trying a table system. The record of a sandbox can be deleted, and nothing of any other
casino.

The database proves it: ``audit_act_sandbox_emptied`` (``sql/sandboxes.sql``) refuses every other casino, and the
triggers of the log let go what is in the space of sandboxes, of this one, in that transaction alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Casino

EMPTIED = "sandbox.emptied"


class NotEmptied(Exception):
    """The casino is no sandbox, or officers have worked on it: nothing was deleted."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """How much was deleted."""

    streams: int
    events: int
    findings: int


def empty(casino: Casino, *, reason: str = "") -> Emptied:
    """Delete what table systems have recorded in a sandbox, and what was found in it. Raise ``NotEmptied``.

    Its tables and keys stay, and the entry in its audit trail, which is sealed like any other.
    """
    if not casino.is_sandbox:
        raise NotEmptied(f"'{casino.code}' is a casino and not a sandbox: nothing of its record is ever deleted.")
    try:
        deleted = audit_trail.perform_command(EMPTIED, casino_id=casino.pk, data={}, reason=reason)
    except EntryRefused as refused:
        raise NotEmptied(_REFUSALS.get(refused.code, refused.code)) from refused
    return Emptied(deleted["streams"], deleted["events"], deleted["findings"])


_REFUSALS = {
    "not-a-sandbox": "The database does not know this casino as a sandbox: nothing was deleted.",
    "officers-have-worked": "There is a case or a night report in this sandbox: nothing was deleted.",
}
