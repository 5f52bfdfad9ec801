"""Retired wagers: kept many in a row, found again by their id.

Which wagers a step mentions that its state does not hold is known before it is folded. Nearly all of them are new. That
one is new is certain where its id ends in a larger number than any before it with the same beginning, or has a
beginning that none before it had; only the others are looked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from zlib import crc32

from audit.event_store import binary_copy
from audit.models import Adjudication
from settlement import Event, State, load_wagers, save_wagers
from settlement.state import Wager

MAX_BEGINNINGS = 256
"""Beginnings of ids that are remembered; ids of more, as random ones have, are all looked for."""

MAX_IN_A_ROW = 10_000
"""Wagers of a row that takes in no other."""

DIGITS = "0123456789"


def recall(adjudication: Adjudication, state: State, events: Iterable[Event]) -> dict[str, int]:
    """Have the state hold the retired wagers that ``events`` mention; return their ids, each with its last change."""
    if not adjudication.cursor:
        return {}
    sought = state.unheld(events)
    if not adjudication.closed:
        sought = _not_surely_new(adjudication.known_ids, sought)
    if not sought:
        return {}
    found = list(find(adjudication, sought))
    state.recall(found)
    return {wager.id: wager.changed_by for wager in found}


def retire(adjudication: Adjudication, state: State, recalled: dict[str, int], *, through: int) -> None:
    """Let settled wagers go and keep them. Those recalled in vain are kept already."""
    retired = state.retire()
    if recalled:
        retired = [wager for wager in retired if recalled.get(wager.id) != wager.changed_by]
    if not retired:
        return
    if not state.table.closed_by:  # what comes after the close is rare, and all looked for
        _remember(adjudication.known_ids, retired)
    if adjudication.cursor:  # the first step of a run has none before it
        retired = _together_with_the_last(adjudication, retired)
    digests = array("I", map(crc32, map(str.encode, [wager.id for wager in retired])))
    binary_copy.execute(
        "insert into audit_retiredwagers (adjudication_id, run, through, digests, saved)"
        " values (%b::bigint, %b::integer, %b::bigint, %b::bytea, %b::bytea) returning 1",
        (adjudication.pk, adjudication.run, through, digests.tobytes(), save_wagers(retired)),
    )


def _together_with_the_last(adjudication: Adjudication, retired: list[Wager]) -> list[Wager]:
    """Return ``retired`` with the wagers of the last rows, which are taken away, where these hold no more than twice as
    many: a stream that came an event at a time has hardly more rows in the end than one that came at once."""
    of_run = (adjudication.pk, adjudication.run)
    last = binary_copy.execute(
        "select through, octet_length(digests) / 4 from audit_retiredwagers"
        " where adjudication_id = %b::bigint and run = %b::integer order by through desc limit 16",
        of_run,
    )
    count, merged = len(retired), []
    for through, held in last:
        if held > 2 * count or count + held > MAX_IN_A_ROW:
            break
        count += held
        merged.append(through)
    if not merged:
        return retired
    taken = binary_copy.execute(
        "delete from audit_retiredwagers where adjudication_id = %b::bigint and run = %b::integer"
        " and through = any (%b::bigint[]) returning through, saved",
        (*of_run, merged),
    )
    kept = {wager.id: wager for _, saved in sorted(taken) for wager in load_wagers(saved)}
    kept.update((wager.id, wager) for wager in retired)
    return list(kept.values())


def retired(adjudication: Adjudication) -> Iterator[Wager]:
    """Yield the retired wagers of an adjudication; one that changed later comes again."""
    rows = adjudication.retired.filter(run=adjudication.run).order_by("through")
    for saved in rows.values_list("saved", flat=True).iterator(chunk_size=1):
        yield from load_wagers(bytes(saved))


def find(adjudication: Adjudication, ids: set[str]) -> Iterator[Wager]:
    """Yield the retired wagers of these ids, each as it was left last."""
    by_digest: dict[int, set[str]] = {}
    for wager_id in ids:
        by_digest.setdefault(crc32(wager_id.encode()), set()).add(wager_id)
    rows = adjudication.retired.filter(run=adjudication.run)
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


def _not_surely_new(known: dict[str, int], ids: set[str]) -> set[str]:
    """Return those of ``ids`` that may be of retired wagers."""
    otherwise = -1 if len(known) < MAX_BEGINNINGS else None
    sought: set[str] = set()
    for wager_id in ids:
        beginning = wager_id.rstrip(DIGITS)
        number = int(wager_id[len(beginning) :] or 0)
        largest = known.get(beginning, otherwise)
        if largest is None or number <= largest:
            sought.add(wager_id)
    return sought


def _remember(known: dict[str, int], retired: Iterable[Wager]) -> None:
    """Note in ``known`` the largest number that the ids of retired wagers end in, by what is before it."""
    for wager in retired:
        wager_id = wager.id
        beginning = wager_id.rstrip(DIGITS)
        number = int(wager_id[len(beginning) :] or 0)
        largest = known.get(beginning)
        if largest is None:
            if len(known) < MAX_BEGINNINGS:
                known[beginning] = number
        elif number > largest:
            known[beginning] = number
