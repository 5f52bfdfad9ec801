"""Browsers that officers let notify them, held against the audit trail.

    push.subscribed, push.ended ─► which browser notifies which officer, and with which key a message to it is encrypted
    officer.deactivated ─────────► none of that officer's any more

A row that no entry says tells a stranger's browser the references of incidents. Entries have the hash of an address and
of a key: the secret that a browser gives with them is in none.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.event_store.audit_trail import INSTALLATION, address_mark
from audit.models import PushSubscription
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow
from audit.projections.officers import DEACTIVATED

SUBSCRIBED, ENDED = "push.subscribed", "push.ended"


def wrong_push() -> Iterator[WrongRow]:
    """Yield what does not hold about the browsers of officers."""
    stated: dict[str, Entry] = {}
    left = {(entry.text("officer"), entry.at) for entry in entries(None, (DEACTIVATED,))}
    for entry in entries(INSTALLATION, (SUBSCRIBED, ENDED)):
        if entry.type == ENDED:
            stated.pop(entry.text("address"), None)
        elif not any(name == entry.text("named") and at >= entry.at for name, at in left):
            stated[entry.text("address")] = entry
    rows = PushSubscription.objects.select_related("officer").only("endpoint", "public_key", "officer__username")
    for row in rows.order_by("pk"):
        name = row.officer.get_username()
        entry_of_row = stated.pop(address_mark(row.endpoint), None)
        if entry_of_row is None:
            yield WrongRow("push", f"browser {row.pk} notifies {name}, and no entry says so")
        elif (name, address_mark(row.public_key)) != (entry_of_row.text("named"), entry_of_row.text("public_key")):
            yield WrongRow("push", f"browser {row.pk} notifies {name}, and is not what {entry_of_row.name} says")
    for entry in stated.values():
        yield WrongRow("push", f"a browser of {entry.text('named')} is missing, of which {entry.name} says something")
