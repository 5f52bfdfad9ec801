"""The physical equipment of a session, as its opener names it: the wheel, the set of dice."""

from __future__ import annotations

from audit.event_store import read
from settlement.codec import decode_one_stored
from settlement.events import SessionOpened


def opener_of(stream_id: int) -> SessionOpened | None:
    """Return the event that opened a session; None of a stream that begins with another."""
    stored = read.events_at(stream_id, [1]).get(1)
    opener = decode_one_stored(stored) if stored is not None else None
    return opener if isinstance(opener, SessionOpened) else None


def equipment_of(stream_id: int) -> dict[str, str]:
    """Return the ids of a session's equipment, by ``wheel`` and ``dice_set``; what was not named is left out."""
    opener = opener_of(stream_id)
    if opener is None:
        return {}
    named = {"wheel": opener.data.wheel, "dice_set": opener.data.dice_set}
    return {name: code for name, code in named.items() if isinstance(code, str)}
