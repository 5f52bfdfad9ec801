"""Retired wagers: settled wagers are stored outside the snapshot, many in a row, and found again by their id.

Before a step is folded it is known which wagers its events mention that the state does not hold. Nearly all of them are
new: certainly so if the id ends in a larger number than any retired id with the same prefix, or has a prefix that no
retired id had. Only the others are looked up.

A row also has what was noted of the session in the same steps (``noted``), a line for each of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from zlib import crc32

from audit.event_store import binary_copy
from audit.models import Adjudication, RetiredWagers
from settlement import Event, State, load_wagers, save_wagers
from settlement.state import Wager

MAX_PREFIXES = 256
"""Prefixes of ids that are remembered; if there are more, as with random ids, every id is looked up."""

MAX_ROW_BYTES = 2 * 1024 * 1024
"""Bytes of a row that is not merged with another."""

DIGITS = "0123456789"


def recall(adjudication: Adjudication, state: State, events: Iterable[Event]) -> dict[str, int]:
    """Load the retired wagers that ``events`` mention into the state; return the seq of their last changes by id."""
    if not adjudication.cursor:
        return {}
    ids = state.unheld(events)
    if not adjudication.closed:
        ids = _possibly_retired(adjudication.known_ids, ids)
    if not ids:
        return {}
    wagers = list(find(adjudication, ids))
    state.recall(wagers)
    return {wager.id: wager.changed_by for wager in wagers}


def retire(
    adjudication: Adjudication, state: State, recalled: dict[str, int], *, through: int, notes: bytes = b""
) -> None:
    """Take settled wagers out of the state and store them, except those ``recalled`` that have not changed since.

    ``notes`` are what the step has noted.
    """
    retired = state.retire()
    if recalled:
        retired = [wager for wager in retired if recalled.get(wager.id) != wager.changed_by]
    if not retired and not notes:
        return
    if not state.table.closed_by:  # after the close every id is looked up
        remember(adjudication.known_ids, retired)
    saved = save_wagers(retired)
    if adjudication.cursor:  # the first step of a run has no rows before it
        retired, saved, notes = _merged_with_last_rows(adjudication, retired, saved, notes)
    binary_copy.execute(
        "insert into audit_retiredwagers (run_id, through, digests, saved, notes)"
        " values (%b::bigint, %b::bigint, %b::bytea, %b::bytea, %b::bytea) returning 1",
        (adjudication.run_id, through, digests_of(retired), saved, notes),
    )


def digests_of(wagers: Iterable[Wager]) -> bytes:
    """Return by what the wagers of a row are found: the CRC-32 of each id, four bytes each."""
    return array("I", map(crc32, map(str.encode, [wager.id for wager in wagers]))).tobytes()


def _merged_with_last_rows(
    adjudication: Adjudication, retired: list[Wager], saved: bytes, notes: bytes
) -> tuple[list[Wager], bytes, bytes]:
    """Return ``retired``, which are ``saved``, and ``notes`` with those of the last rows, which are deleted.

    That is, of rows that are no more than twice as large. So a stream that arrived an event at a time has hardly more
    rows in the end than one that arrived at once.
    """
    last = binary_copy.execute(
        "select through, octet_length(saved) + octet_length(notes) from audit_retiredwagers"
        " where run_id = %b::bigint order by through desc limit 16",
        (adjudication.run_id,),
    )
    size, merged = len(saved) + len(notes), []
    for through, held in last:
        if held > 2 * size or size + held > MAX_ROW_BYTES:
            break
        size += held
        merged.append(through)
    if not merged:
        return retired, saved, notes
    deleted = binary_copy.execute(
        "delete from audit_retiredwagers where run_id = %b::bigint and through = any (%b::bigint[])"
        " returning through, saved, notes",
        (adjudication.run_id, merged),
    )
    deleted = sorted(deleted)
    wagers = {wager.id: wager for _, before, _ in deleted for wager in load_wagers(before)}
    wagers.update((wager.id, wager) for wager in retired)
    together = list(wagers.values())
    return together, save_wagers(together), b"".join([*(noted for *_, noted in deleted), notes])


def rows(adjudication: Adjudication) -> list[RetiredWagers]:
    """Return the rows of an adjudication in their order, as they are at one instant."""
    found = binary_copy.execute(
        "select run_id, through, digests, saved, notes from audit_retiredwagers"
        " where run_id = %b::bigint order by through",
        (adjudication.run_id,),
    )
    return [
        RetiredWagers(run_id=run_id, through=through, digests=digests, saved=saved, notes=notes)
        for run_id, through, digests, saved, notes in found
    ]


def retired(adjudication: Adjudication) -> Iterator[Wager]:
    """Yield the retired wagers of an adjudication in the order of their rows; one that changed later is in two."""
    rows = RetiredWagers.objects.filter(run=adjudication.run_id).order_by("through")
    for saved in rows.values_list("saved", flat=True).iterator(chunk_size=1):
        yield from load_wagers(bytes(saved))


def find(adjudication: Adjudication, ids: set[str]) -> Iterator[Wager]:
    """Yield the retired wagers of these ids, each as it was stored last."""
    by_digest: dict[int, set[str]] = {}
    for wager_id in ids:
        by_digest.setdefault(crc32(wager_id.encode()), set()).add(wager_id)
    rows = RetiredWagers.objects.filter(run=adjudication.run_id)
    for through, digests in rows.order_by("-through").values_list("through", "digests").iterator(chunk_size=100):
        held = by_digest.keys() & array("I", bytes(digests))
        wanted = {wager_id for digest in held for wager_id in by_digest[digest]}
        if not wanted:
            continue
        # One row's wagers at a time: those of a hundred would be a hundred megabytes.
        for wager in load_wagers(bytes(rows.values_list("saved", flat=True).get(through=through))):
            if wager.id in wanted:
                yield wager
                by_digest[crc32(wager.id.encode())].discard(wager.id)
        by_digest = {digest: left for digest, left in by_digest.items() if left}
        if not by_digest:
            return


def _possibly_retired(known: dict[str, int], ids: set[str]) -> set[str]:
    """Return those of ``ids`` that are not certainly new. ``known`` is what ``remember`` wrote."""
    if_unknown = -1 if len(known) < MAX_PREFIXES else None
    possible: set[str] = set()
    for wager_id in ids:
        prefix = wager_id.rstrip(DIGITS)
        number = int(wager_id[len(prefix) :] or 0)
        largest = known.get(prefix, if_unknown)
        if largest is None or number <= largest:
            possible.add(wager_id)
    return possible


def remember(known: dict[str, int], retired: Iterable[Wager]) -> None:
    """Write into ``known`` the largest number that ids of retired wagers end in, by their prefix."""
    for wager in retired:
        wager_id = wager.id
        prefix = wager_id.rstrip(DIGITS)
        number = int(wager_id[len(prefix) :] or 0)
        largest = known.get(prefix)
        if largest is None:
            if len(known) < MAX_PREFIXES:
                known[prefix] = number
        elif number > largest:
            known[prefix] = number
