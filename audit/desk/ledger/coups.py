"""Which coups to look at first of a process that has asked: the clearest of the sessions that moved it most.

    a wheel, or a hand at it     the coups that came where the process fits best, those in its middle first
    throws that were voided      each of them, the most money first
    luck                         the coups that changed most for the player, or for the house of a table

The session's part of the ledger names the event of each draw, so that a coup leads to the table as it stood then. The
video of all of them is asked for at once, in the case of the question. A process about payouts has findings of its
own; one about counts has no coup.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.utils import timezone

from audit.desk.ledger.fit import layout_with
from audit.event_store import read
from audit.ledger.evenings import sessions_of
from audit.models import BatchKind, Finding, LedgerBatch, LedgerPoint, LedgerProcess, LoggedStream, VideoRequest
from audit.models.ledger import BY_PERSON
from settlement.codec import decode_one_stored
from settlement.eprocess.bets import Change
from settlement.eprocess.explanations import Arc, best_arc
from settlement.eprocess.observations import Observation, Observations, decode
from settlement.eprocess.process import Process

SESSIONS = 3
"""Sessions of which coups are shown: the three that added most."""

COUPS = 12
"""Coups shown in all."""

FACES = 6


@dataclass(frozen=True, slots=True)
class Coup:
    """A coup to look at: where it is, and when by the table's clock; what came before, and what then.

    ``before`` and ``result`` are pockets or throws as a page writes them, "" where they say nothing, and ``colours``
    those of the pockets. ``is_requested``: a video was asked for that shows it.
    """

    stream_id: int
    table_id: int | None
    seq: int
    at: datetime
    before: str
    result: str
    colours: tuple[str, str]
    is_requested: bool


def coups_of(process: LedgerProcess, state: Process | None, most: Sequence[LedgerPoint]) -> list[Coup]:
    """Return the coups to look at first, the newest session first; none of a process that is about no coups.

    ``most`` are its sessions, those that added most first. Four queries, however many sessions there are.
    """
    of_draws = (BatchKind.DRAWS, *BY_PERSON)
    chosen = [each.batch_id for each in most if each.batch.kind in of_draws][:SESSIONS]
    arc = best_arc(state) if state is not None else None
    found: list[tuple[int, int, str, str, tuple[str, str]]] = []
    of_sessions = sessions_of(LedgerBatch.objects.filter(pk__in=chosen)) if chosen else []
    for batch in sorted(of_sessions, key=lambda each: (each.gaming_day, each.number), reverse=True):
        session = decode(bytes(batch.content))
        clearest = _clearest(process, session, arc)[: COUPS // len(of_sessions)]
        assert batch.stream_id is not None, "every batch of draws has a session"
        found += [(batch.stream_id, *_shown(process, each, before)) for before, each in sorted(clearest, key=_seq)]
    return list(_with_clocks(found))


def _seq(pair: tuple[Observation | None, Observation]) -> int:
    return pair[1].seq


def _clearest(
    process: LedgerProcess, session: Observations, arc: Arc | None
) -> list[tuple[Observation | None, Observation]]:
    """Return the draws of a session that speak most for what a process asks, each after the one before it."""
    match process.kind:
        case "wheel" | "wheel-displacement" | "croupier-displacement" if arc is not None:
            return _in_arc(process, session, arc)
        case "void-call":
            ordered = sorted(session.voided, key=lambda each: (-_size(each.luck), each.seq))
            return [(None, each) for each in ordered]
        case "croupier-voids" | "pair-voids":
            own = [each for each in session.voided if _luck(process, each)]
            return [(None, each) for each in sorted(own, key=lambda each: (-_luck(process, each), each.seq))]
        case "table-luck" | "player-luck" | "late-luck" | "corrected-luck" | "pair-luck" | "croupier-luck":
            among = [
                each for each in session.drawn if process.kind != "corrected-luck" or each.seq in session.corrected
            ]
            moved = [each for each in among if _luck(process, each)]
            return [(None, each) for each in sorted(moved, key=lambda each: (-_luck(process, each), each.seq))]
        case _:
            return []


def _in_arc(process: LedgerProcess, session: Observations, arc: Arc) -> list[tuple[Observation | None, Observation]]:
    """Return the draws in an arc, those nearest to its middle first."""
    of = process.variant
    croupier = process.subject.partition(", ")[0] if process.kind == "croupier-displacement" else ""
    from_middle = {cell: abs(2 * index - (arc.width - 1)) for index, cell in enumerate(arc.cells(of))}
    if process.kind == "wheel":
        draws: Iterable[tuple[Observation | None, Observation, int]] = (
            (None, each, each.result) for each in session.drawn
        )
    else:
        draws = ((before, each, (each.result - before.result) % of) for before, each in pairwise(session.drawn))
    inside = [
        (from_middle[cell], before, each)
        for before, each, cell in draws
        if cell in from_middle and (not croupier or each.croupier == croupier)
    ]
    return [(before, each) for _from_middle, before, each in sorted(inside, key=lambda found: (found[0], found[2].seq))]


def _luck(process: LedgerProcess, draw: Observation) -> int:
    """Return how much a draw changed for whom a process is about, whoever won by it; 0 where it changed nothing."""
    player, _, croupier = process.subject.partition(", ")
    match process.kind:
        case "table-luck":
            return _size(draw.luck)
        case "croupier-luck" | "croupier-voids":
            return _size(draw.luck) if draw.croupier == process.subject else 0
        case "late-luck":
            return _size(draw.late.get(player))
        case "pair-luck" | "pair-voids" if draw.croupier != croupier:
            return 0
        case _:
            return _size(draw.players.get(player))


def _size(change: Change | None) -> int:
    return abs(change.amount) if change is not None else 0


def _shown(
    process: LedgerProcess, draw: Observation, before: Observation | None
) -> tuple[int, str, str, tuple[str, str]]:
    layout = layout_with(process.variant)
    if layout is None:
        throw = f"{draw.result // FACES + 1} – {draw.result % FACES + 1}" if process.kind == "void-call" else ""
        return draw.seq, "", throw, ("", "")
    first, landed = layout.wheel[before.result] if before is not None else "", layout.wheel[draw.result]
    return draw.seq, first, landed, (layout.colour_of(first) if first else "", layout.colour_of(landed))


def _with_clocks(found: Sequence[tuple[int, int, str, str, tuple[str, str]]]) -> Iterator[Coup]:
    """Yield the coups whose events are in the log, with their clocks; those of an archived month are left out."""
    if not found:
        return
    clocks = {
        (stream_id, seq): read.credible(decode_one_stored(raw).occurred_at, received)
        for stream_id, seq, raw, received in read.claimed_and_received([each[:2] for each in found])
    }
    streams = LoggedStream.objects.filter(pk__in={stream_id for stream_id, *_rest in found})
    tables = dict(streams.values_list("pk", "table_id"))
    windows = _requested_at({table_id for table_id in tables.values() if table_id is not None})
    for stream_id, seq, before, result, colours in found:
        at = clocks.get((stream_id, seq))
        if at is not None:
            table_id = tables.get(stream_id)
            requested = any(begins <= at <= ends for begins, ends in windows.get(table_id, ()))
            yield Coup(stream_id, table_id, seq, at, before, result, colours, requested)


def _requested_at(tables: Collection[int]) -> Mapping[int | None, list[tuple[datetime, datetime]]]:
    """Return by table from when to when a video of it was asked for: one query."""
    windows: dict[int | None, list[tuple[datetime, datetime]]] = {}
    requests = VideoRequest.objects.filter(finding__table__in=tables)
    for table_id, begins, ends in requests.values_list("finding__table_id", "begins_at", "ends_at"):
        windows.setdefault(table_id, []).append((begins, ends))
    return windows


def to_ask_for(coups: Iterable[Coup], question: Finding) -> list[tuple[datetime, datetime]]:
    """Return the first and the last coup of each session whose video can be asked for in the case of a question.

    That is at the table of the question's finding, of which the request is, while there is video and nobody has asked
    for it. No query.
    """
    if question.table_id is None:
        return []
    kept_since = timezone.now() - timedelta(days=settings.CABOCHON_VIDEO_DAYS)
    wanted: dict[int, list[datetime]] = {}
    for each in coups:
        if each.table_id == question.table_id and not each.is_requested and each.at > kept_since:
            wanted.setdefault(each.stream_id, []).append(each.at)
    return sorted((min(instants), max(instants)) for instants in wanted.values())
