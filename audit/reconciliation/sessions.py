"""Figures of one session, the money of its players and what it gives the ledger: verified, read once, and stored.

They depend on nothing but the stream through its last event, what the house register says of it and what officers
decided about its corrections, so they are stored under these and computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from django.db import transaction

from audit.adjudication import noted, replay, results, stream_reader
from audit.charts.win_line import thinned
from audit.corrections.decisions import Decided, decided_of
from audit.corrections.waiting import waiting_in
from audit.event_store import binary_copy, read
from audit.models import Adjudication, AdjudicationRun, LoggedStream, SessionFigures, StreamEvidence
from audit.models import StreamMoney as StoredMoney
from audit.register.in_force import digest_of, newest_readings
from audit.transparency.verify import verify
from settlement import ENGINE_VERSION
from settlement.eprocess import observations
from settlement.eprocess.observations import Observations
from settlement.night import figures as night
from settlement.night.bridge import Bank, WagerLine
from settlement.night.figures import Figures
from settlement.night.wins import WINS_NOTED, won_so_far
from settlement.persons import stream_money
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney
from settlement.state import Wager

Key = dict[str, Any]
"""What names a result that is kept of a stream; see ``key_of``."""


class Sums(NamedTuple):
    """What is kept of a stream, as it is stored: see ``SessionFigures``, ``StreamMoney`` and ``StreamEvidence``."""

    figures: bytes
    waiting: dict[str, Any]
    win_line: list[int] | None
    money: bytes
    observations: bytes


class StreamLocked(Exception):
    """Another worker is adjudicating the stream. Try again later."""


@stream_reader.gc_paused()
def compute_figures(stream_id: int, last_seq: int) -> SessionFigures:
    """Return the figures of a stream through ``last_seq``, computed unless they are stored. Raise ``StreamLocked``."""
    readings = newest_readings(stream_id)
    digest = digest_of(readings)
    key = key_of(stream_id, last_seq, digest)
    stored = _figures_by(key)
    if stored is not None:
        return stored
    faults = _faults_of(stream_id)
    # As a rule replay has read the whole session, so that there is nothing to adjudicate.
    projection = _noted(key) if read.next_seq_of(stream_id) - 1 == last_seq else None
    if projection is None:
        bring_up_to_date(stream_id)
        key = key_of(stream_id, last_seq, digest)
        projection = _projection_of(key, readings)
    return _keep(key, readings, projection, faults)


def _faults_of(stream_id: int) -> int:
    """Return how many faults the verification of a stream's chain finds."""
    outcome = verify([], streams=[stream_id], with_tree=False)
    return len(outcome.faults) + outcome.unlisted


def _keep(key: Key, readings: Mapping[str, Any], projection: PersonsProjection, faults: int) -> SessionFigures:
    """Store what a session was read for, unless it is stored, and return its figures."""
    figures, money, evidence = projection.figures(), projection.money(), projection.evidence
    row = SessionFigures(
        **key,
        figures=night.encode(figures),
        faults=faults,
        waiting=_waiting(key, readings, projection, figures),
        win_line=_win_line(projection),
    )
    with transaction.atomic():
        binary_copy.insert(row, unless_stored=True)
        keep_money(key, money)
        keep_evidence(key, evidence)
    return row


def _sums(key: Key, readings: Mapping[str, Any], projection: PersonsProjection) -> Sums:
    with stream_reader.gc_paused():
        figures, money, evidence = projection.figures(), projection.money(), projection.evidence
    return Sums(
        night.encode(figures),
        _waiting(key, readings, projection, figures),
        _win_line(projection),
        stream_money.encode(money),
        observations.encode(evidence),
    )


def _waiting(key: Key, readings: Mapping[str, Any], projection: PersonsProjection, figures: Figures) -> dict[str, Any]:
    """Return ``waiting_of`` a session that was read: only what has no effect waits."""
    if not projection.state.table.held:
        return {}
    return waiting_of(key["stream_id"], key["last_seq"], readings, figures)


def _win_line(projection: PersonsProjection) -> list[int] | None:
    """Return the points of a session's win line, of its figures as they were computed last; None: it has too many."""
    return thinned(won_so_far(projection.wins)) if len(projection.wins) <= WINS_NOTED else None


def sums_of(key: Key, readings: Mapping[str, Any], projection: PersonsProjection | None) -> Sums:
    """Return what is to be kept under a key by a projection of the session, None: by its events. Nothing is stored."""
    if projection is None:
        projection = _read(key["stream_id"], key["last_seq"], readings, follows_luck=True)
    return _sums(key, readings, projection)


def _projection_of(key: Key, readings: Mapping[str, Any]) -> PersonsProjection:
    """Return the projection of a session through an event: as replay has noted it, or else read anew."""
    projection = _noted(key)
    return projection or _read(key["stream_id"], key["last_seq"], readings, follows_luck=True)


def _noted(key: Key) -> PersonsProjection | None:
    """Return what replay has noted of a session if it has read to the event of ``key``, and as that says."""
    adjudication = results.standing(key["stream_id"])
    if adjudication is None or adjudication.next_seq - 1 != key["last_seq"]:
        return None
    assert adjudication.run is not None, "what has read something belongs to a run"
    if key_of_run(adjudication, adjudication.run) != key:
        return None
    with stream_reader.gc_paused():
        return noted.projection_of(adjudication)


def key_of_run(adjudication: Adjudication, run: AdjudicationRun) -> Key | None:
    """Return what names the results of what a run has read; None if officers have decided otherwise meanwhile."""
    stream_id, last_seq = adjudication.stream_id, adjudication.next_seq - 1
    decided = _decided(stream_id, last_seq)
    if decided.approved != tuple(seq for seq in run.approved or () if seq <= last_seq):
        return None
    return _key_by(decided, stream_id, last_seq, digest_of(replay.readings_of(adjudication, run)))


def bring_up_to_date(stream_id: int) -> None:
    """Adjudicate a stream to its end. Raise ``StreamLocked``."""
    while (progress := replay.advance(stream_id)) is not None and progress.behind:
        continue
    if progress is None:
        raise StreamLocked(str(stream_id))


def waiting_of(stream_id: int, last_seq: int, readings: Mapping[str, Any], without: Figures) -> dict[str, Any]:
    """Return which corrections of a session wait for officers, and what its wins would gain by all of them.

    ``without`` are the session's figures, which are without them. ``seqs`` are the corrections; ``W_rec``, ``W_adj``
    and ``W_acct`` are minor units, positive for the house. Empty if none waits.
    """
    seqs = waiting_in(stream_id, last_seq)
    if not seqs:
        return {}
    together = _read(stream_id, last_seq, readings, follows_luck=False, in_effect=seqs).figures()
    before, after = without.bridge, together.bridge
    return {
        "seqs": seqs,
        "W_rec": after.recorded.total - before.recorded.total,
        "W_adj": after.adjudicated.total - before.adjudicated.total,
        "W_acct": _bank_worth(after.bank) - _bank_worth(before.bank),
    }


def _bank_worth(bank: Bank) -> int:
    """Return what a session's bank adds to its accounting win, as far as it is known: K + C − O − F."""
    return (bank.closing_float or 0) + bank.credits - bank.opening_float - bank.fills


def key_of(stream_id: int, last_seq: int, readings: str) -> Key:
    """Return what names a result that is kept of a stream: the event it was read to, and by what.

    Taken before the stream is read: what is decided meanwhile makes another key, and the stream is read again.
    """
    return _key_by(_decided(stream_id, last_seq), stream_id, last_seq, readings)


def _decided(stream_id: int, last_seq: int) -> Decided:
    return decided_of([stream_id])[stream_id].through(last_seq)


def _key_by(decided: Decided, stream_id: int, last_seq: int, readings: str) -> Key:
    return {
        "stream_id": stream_id,
        "last_seq": last_seq,
        "engine_version": ENGINE_VERSION,
        "readings": readings,
        "corrections": decided.key,
    }


def money_of(stream_id: int, last_seq: int) -> StreamMoney:
    """Return the money of a session's players through ``last_seq``, computed unless it is stored."""
    readings = newest_readings(stream_id)
    key = key_of(stream_id, last_seq, digest_of(readings))
    stored = stored_money(key)
    if stored is not None:
        return stored
    return keep_money(key, _projection_of(key, readings).money())


def stored_money(key: Key) -> StreamMoney | None:
    """Return what is kept of a stream's money; None if nothing is."""
    row = StoredMoney.objects.filter(**key).first()
    return None if row is None else stream_money.decode(bytes(row.money))


def keep_money(key: Key, money: StreamMoney) -> StreamMoney:
    """Store the money of a stream, unless it is stored, and return it."""
    binary_copy.insert(StoredMoney(**key, money=stream_money.encode(money)), unless_stored=True)
    return money


def evidence_of(stream_id: int, last_seq: int) -> bytes:
    """Return what a session gives the ledger through ``last_seq``, encoded; computed unless it is stored.

    Raise ``StreamLocked``.
    """
    readings = newest_readings(stream_id)
    row = StreamEvidence.objects.filter(**key_of(stream_id, last_seq, digest_of(readings))).first()
    if row is not None:
        return bytes(row.observations)
    if read.corrections_of(stream_id):  # which of them wait is found by adjudication
        bring_up_to_date(stream_id)
    key = key_of(stream_id, last_seq, digest_of(readings))
    projection = _projection_of(key, readings)
    with transaction.atomic():
        keep_money(key, projection.money())  # a question of the ledger says what its player staked and won
        return keep_evidence(key, projection.evidence)


def keep_evidence(key: Key, evidence: Observations) -> bytes:
    """Store what a session gives the ledger, unless it is stored, and return it."""
    encoded = observations.encode(evidence)
    binary_copy.insert(StreamEvidence(**key, observations=encoded), unless_stored=True)
    return encoded


def stored_figures(stream_id: int, last_seq: int) -> SessionFigures | None:
    """Return the figures of a stream through an event, or None if they have not been computed by this engine version
    and by what the house register and the decisions about corrections say now."""
    return _figures_by(key_of(stream_id, last_seq, digest_of(newest_readings(stream_id))))


def _figures_by(key: Key) -> SessionFigures | None:
    return SessionFigures.objects.filter(**key).first()


def decode_figures(row: SessionFigures) -> Figures:
    return night.decode(bytes(row.figures))


def wager_lines(stream: LoggedStream, last_seq: int) -> Iterator[tuple[WagerLine, Wager | None]]:
    """Yield the bridge of every wager of a session through an event. A payout on no known wager has none."""
    readings = newest_readings(stream.stream_id)
    return _projection_of(key_of(stream.stream_id, last_seq, digest_of(readings)), readings).lines()


def _read(
    stream_id: int, last_seq: int, readings: Mapping[str, Any], *, follows_luck: bool, in_effect: Collection[int] = ()
) -> PersonsProjection:
    """Read a session through an event; ``in_effect`` are corrections to read as if they waited no more."""
    corrections = stream_reader.corrections_of(stream_id, known_through=last_seq)
    held = stream_reader.held_in(stream_id, corrections) - set(in_effect) if corrections else ()
    projection = PersonsProjection(corrections, readings=readings, held=held, follows_luck=follows_luck)
    with stream_reader.gc_paused():
        for page in stream_reader.pages(stream_id, 1, last_seq):
            projection.feed(page)
    return projection
