"""Figures of one session, the money of its players and what it gives the ledger: verified, read once, and stored.

They depend on nothing but the stream through its last event, what the house register says of it and what officers
decided about its corrections, so they are stored under these and computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.db import transaction

from audit.adjudication import stream_reader
from audit.adjudication.replay import advance
from audit.corrections.decisions import decided_of
from audit.corrections.waiting import waiting_in
from audit.event_store import read
from audit.models import LoggedStream, SessionFigures, StreamEvidence
from audit.models import StreamMoney as StoredMoney
from audit.register.in_force import digest_of, newest_readings
from audit.transparency.verify import verify
from settlement import ENGINE_VERSION
from settlement.eprocess import observations
from settlement.eprocess.observations import Observations
from settlement.night import figures as night
from settlement.night.bridge import Bank, WagerLine
from settlement.night.figures import Figures
from settlement.persons import stream_money
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney
from settlement.state import Wager


class StreamLocked(Exception):
    """Another worker is adjudicating the stream. Try again later."""


def compute_figures(stream_id: int, last_seq: int) -> SessionFigures:
    """Return the figures of a stream through ``last_seq``, computed unless they are stored. Raise ``StreamLocked``."""
    stored = stored_figures(stream_id, last_seq)
    if stored is not None:
        return stored
    bring_up_to_date(stream_id)
    outcome = verify([], "", streams=[stream_id], with_tree=False)
    readings, decisions = newest_readings(stream_id), _decisions_key(stream_id, last_seq)
    projection = _read(stream_id, last_seq, readings, follows_luck=True)
    figures = projection.figures()
    waiting = waiting_of(stream_id, last_seq, readings, figures)
    faults = len(outcome.faults) + outcome.unlisted
    with transaction.atomic():
        row, _is_new = SessionFigures.objects.get_or_create(
            stream_id=stream_id,
            last_seq=last_seq,
            engine_version=ENGINE_VERSION,
            readings=digest_of(readings),
            corrections=decisions,
            defaults={"figures": night.encode(figures), "faults": faults, "waiting": waiting},
        )
        keep_money(stream_id, last_seq, digest_of(readings), projection.money())
        keep_evidence(stream_id, last_seq, digest_of(readings), projection.evidence)
    return row


def bring_up_to_date(stream_id: int) -> None:
    """Adjudicate a stream to its end. Raise ``StreamLocked``."""
    while (progress := advance(stream_id)) is not None and progress.behind:
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


def _decisions_key(stream_id: int, last_seq: int) -> str:
    return decided_of([stream_id])[stream_id].through(last_seq).key


def money_of(stream_id: int, last_seq: int) -> StreamMoney:
    """Return the money of a session's players through ``last_seq``, computed unless it is stored."""
    readings = newest_readings(stream_id)
    stored = stored_money(stream_id, last_seq, digest_of(readings))
    if stored is not None:
        return stored
    projection = _read(stream_id, last_seq, readings, follows_luck=True)
    return keep_money(stream_id, last_seq, digest_of(readings), projection.money())


def stored_money(stream_id: int, last_seq: int, readings: str) -> StreamMoney | None:
    """Return what is kept of a stream through an event, by this engine version; None if nothing is."""
    rows = StoredMoney.objects.filter(stream=stream_id, last_seq=last_seq, engine_version=ENGINE_VERSION)
    row = rows.filter(readings=readings, corrections=_decisions_key(stream_id, last_seq)).first()
    return None if row is None else stream_money.decode(bytes(row.money))


def keep_money(stream_id: int, last_seq: int, readings: str, money: StreamMoney) -> StreamMoney:
    """Store what is kept of a stream through an event, unless it is stored, and return it."""
    StoredMoney.objects.get_or_create(
        stream_id=stream_id,
        last_seq=last_seq,
        engine_version=ENGINE_VERSION,
        readings=readings,
        corrections=_decisions_key(stream_id, last_seq),
        defaults={"money": stream_money.encode(money)},
    )
    return money


def evidence_of(stream_id: int, last_seq: int) -> bytes:
    """Return what a session gives the ledger through ``last_seq``, encoded; computed unless it is stored.

    Raise ``StreamLocked``.
    """
    readings = newest_readings(stream_id)
    stored = stored_evidence(stream_id, last_seq, digest_of(readings))
    if stored is not None:
        return stored
    if read.corrections_of(stream_id):  # which of them wait is found by adjudication
        bring_up_to_date(stream_id)
    projection = _read(stream_id, last_seq, readings, follows_luck=True)
    return keep_evidence(stream_id, last_seq, digest_of(readings), projection.evidence)


def stored_evidence(stream_id: int, last_seq: int, readings: str) -> bytes | None:
    """Return what is kept of a stream for the ledger, by this engine version; None if nothing is."""
    rows = StreamEvidence.objects.filter(stream=stream_id, last_seq=last_seq, engine_version=ENGINE_VERSION)
    row = rows.filter(readings=readings, corrections=_decisions_key(stream_id, last_seq)).first()
    return None if row is None else bytes(row.observations)


def keep_evidence(stream_id: int, last_seq: int, readings: str, evidence: Observations) -> bytes:
    """Store what a session gives the ledger through an event, unless it is stored, and return it."""
    row, _is_new = StreamEvidence.objects.get_or_create(
        stream_id=stream_id,
        last_seq=last_seq,
        engine_version=ENGINE_VERSION,
        readings=readings,
        corrections=_decisions_key(stream_id, last_seq),
        defaults={"observations": observations.encode(evidence)},
    )
    return bytes(row.observations)


def stored_figures(stream_id: int, last_seq: int) -> SessionFigures | None:
    """Return the figures of a stream through an event, or None if they have not been computed by this engine version
    and by what the house register and the decisions about corrections say now."""
    figures = SessionFigures.objects.filter(stream_id=stream_id, last_seq=last_seq, engine_version=ENGINE_VERSION)
    figures = figures.filter(corrections=_decisions_key(stream_id, last_seq))
    return figures.filter(readings=digest_of(newest_readings(stream_id))).first()


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
