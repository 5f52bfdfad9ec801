"""Figures of one session, the money of its players and what it gives the ledger: verified, read once, and stored.

They depend on nothing but the stream through its last event, what the house register says of it and what officers
decided about its corrections, so they are stored under these and computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from django.db import transaction

from audit.adjudication import stream_reader
from audit.adjudication.replay import advance
from audit.adjudication.witness import WholeSession, Witness
from audit.charts.win_line import thinned
from audit.corrections.decisions import Decided, decided_of
from audit.corrections.waiting import waiting_in
from audit.event_store import read
from audit.models import FIRST_SANDBOX_ID, LoggedStream, SessionFigures, StreamEvidence
from audit.models import StreamMoney as StoredMoney
from audit.register.in_force import digest_of, newest_readings
from audit.transparency.verify import verify
from settlement import ENGINE_VERSION, State
from settlement.eprocess import observations
from settlement.eprocess.observations import Observations
from settlement.interceptors import NOT_INTERCEPTED, Interceptors
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


def compute_figures(stream_id: int, last_seq: int) -> SessionFigures:
    """Return the figures of a stream through ``last_seq``, computed unless they are stored. Raise ``StreamLocked``."""
    stored = stored_figures(stream_id, last_seq)
    if stored is not None:
        return stored
    one_pass = OnePass()
    bring_up_to_date(stream_id, one_pass)
    if one_pass.last_seq == last_seq:
        return one_pass.keep()
    faults = _faults_of(stream_id)
    readings = newest_readings(stream_id)
    key = key_of(stream_id, last_seq, digest_of(readings))
    return _keep(key, readings, _read(stream_id, last_seq, readings, follows_luck=True), faults)


def _faults_of(stream_id: int) -> int:
    """Return how many faults the verification of a stream's chain finds."""
    outcome = verify([], streams=[stream_id], with_tree=False)
    return len(outcome.faults) + outcome.unlisted


def _keep(key: Key, readings: Mapping[str, Any], projection: PersonsProjection, faults: int) -> SessionFigures:
    """Store what a session was read for, unless it is stored, and return its figures."""
    with stream_reader.gc_paused():
        figures, money, evidence = projection.figures(), projection.money(), projection.evidence
    waiting = waiting_of(key["stream_id"], key["last_seq"], readings, figures)
    kept = {
        "figures": night.encode(figures),
        "faults": faults,
        "waiting": waiting,
        "win_line": _win_line(projection),
    }
    with transaction.atomic():
        row, _is_new = SessionFigures.objects.get_or_create(**key, defaults=kept)
        keep_money(key, money)
        keep_evidence(key, evidence)
    return row


def _sums(key: Key, readings: Mapping[str, Any], projection: PersonsProjection) -> Sums:
    with stream_reader.gc_paused():
        figures, money, evidence = projection.figures(), projection.money(), projection.evidence
    waiting = waiting_of(key["stream_id"], key["last_seq"], readings, figures)
    return Sums(
        night.encode(figures),
        waiting,
        _win_line(projection),
        stream_money.encode(money),
        observations.encode(evidence),
    )


def _win_line(projection: PersonsProjection) -> list[int] | None:
    """Return the points of a session's win line, of its figures as they were computed last; None: it has too many."""
    return thinned(won_so_far(projection.wins)) if len(projection.wins) <= WINS_NOTED else None


def sums_again(stream_id: int, last_seq: int) -> tuple[Key, Sums]:
    """Return what is to be kept of a stream through an event, read anew whatever is stored; nothing is."""
    readings = newest_readings(stream_id)
    key = key_of(stream_id, last_seq, digest_of(readings))
    return key, _sums(key, readings, _read(stream_id, last_seq, readings, follows_luck=True))


class OnePass:
    """Reads a session for its figures, money and evidence while replay folds it whole for its findings.

    To be given to ``advance`` as its witness. When that has returned, and so the findings are committed, ``keep`` adds
    up and stores; ``last_seq`` is the event that was read to, 0 if no session was read whole.
    """

    def __init__(self) -> None:
        self.last_seq = 0
        self._key: Key = {}
        self._readings: Mapping[str, Any] = {}
        self._projection: PersonsProjection | None = None

    def begins(self, session: WholeSession, state: State) -> Interceptors:
        """Read along, unless officers decide about a correction just now, or it is no table's session: no night's."""
        self.last_seq, self._projection = 0, None
        stream_id, last_seq = session.stream_id, session.last_seq
        decided = _decided(stream_id, last_seq)
        of_table = LoggedStream.objects.filter(pk=stream_id, pk__lt=FIRST_SANDBOX_ID, table__isnull=False)
        if decided.approved != session.approved or not of_table.exists():
            return NOT_INTERCEPTED
        self._key = _key_by(decided, stream_id, last_seq, digest_of(session.readings))
        self._readings = session.readings
        self._projection = PersonsProjection.along(state)
        return self._projection.interceptors

    def ends(self) -> None:
        """Hold what the fold has left."""
        if self._projection is not None:
            self._projection.hold()
            self.last_seq = self._key["last_seq"]

    def keep(self) -> SessionFigures:
        """Store what was read. Only after the step was committed, and only if there is a ``last_seq``."""
        assert self._projection is not None, "a session was read whole"
        return _keep(self._key, self._readings, self._projection, _faults_of(self._key["stream_id"]))

    def sums(self) -> tuple[Key, Sums]:
        """Return what ``keep`` would store. Only if there is a ``last_seq``."""
        assert self._projection is not None, "a session was read whole"
        return self._key, _sums(self._key, self._readings, self._projection)


def bring_up_to_date(stream_id: int, witness: Witness | None = None) -> None:
    """Adjudicate a stream to its end. Raise ``StreamLocked``."""
    while (progress := advance(stream_id, witness=witness)) is not None and progress.behind:
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
    return keep_money(key, _read(stream_id, last_seq, readings, follows_luck=True).money())


def stored_money(key: Key) -> StreamMoney | None:
    """Return what is kept of a stream's money; None if nothing is."""
    row = StoredMoney.objects.filter(**key).first()
    return None if row is None else stream_money.decode(bytes(row.money))


def keep_money(key: Key, money: StreamMoney) -> StreamMoney:
    """Store the money of a stream, unless it is stored, and return it."""
    StoredMoney.objects.get_or_create(**key, defaults={"money": stream_money.encode(money)})
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
    return keep_evidence(key, _read(stream_id, last_seq, readings, follows_luck=True).evidence)


def keep_evidence(key: Key, evidence: Observations) -> bytes:
    """Store what a session gives the ledger, unless it is stored, and return it."""
    kept = {"observations": observations.encode(evidence)}
    row, _is_new = StreamEvidence.objects.get_or_create(**key, defaults=kept)
    return bytes(row.observations)


def stored_figures(stream_id: int, last_seq: int) -> SessionFigures | None:
    """Return the figures of a stream through an event, or None if they have not been computed by this engine version
    and by what the house register and the decisions about corrections say now."""
    key = key_of(stream_id, last_seq, digest_of(newest_readings(stream_id)))
    return SessionFigures.objects.filter(**key).first()


def decode_figures(row: SessionFigures) -> Figures:
    return night.decode(bytes(row.figures))


def wager_lines(stream: LoggedStream, last_seq: int) -> Iterator[tuple[WagerLine, Wager | None]]:
    """Yield the bridge of every wager of a session through an event. A payout on no known wager has none."""
    return _read(stream.stream_id, last_seq, newest_readings(stream.stream_id), follows_luck=False).lines()


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
