"""What is kept of sessions for nights and the ledger, held against their events: ``verify --deep`` reads them again.

    events of a session ─► figures, what waits, money of its players, observations ─┐
    audit_sessionfigures, audit_streammoney, audit_streamevidence ──────────────────┤ the same, or a fault

Of each session what is kept of it now: through its last event, by what the house register says of it and what officers
have decided about its corrections. A night's report and the ledger are made of these rows; earlier ones serve nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.event_store import read
from audit.models import Adjudication, AdjudicationRun, LoggedStream, SessionFigures, StreamEvidence, StreamMoney
from audit.projections.faults import WrongRow
from audit.reconciliation.persons import read_cash_desk
from audit.reconciliation.sessions import Key, Sums, key_of, key_of_run, sums_of
from audit.register.in_force import digest_of, newest_readings
from settlement.persons import stream_money
from settlement.persons.session import PersonsProjection

FIGURES, WAITING, MONEY, OBSERVATIONS = "figures", "corrections that wait", "sums of money", "observations"
WIN_LINE, FAULTS = "win line", "faults of its chain"
"""What is kept of a session, as a fault names it. A session that is read again has no fault of its chain."""


def wrong_figures(
    stream: LoggedStream, run: AdjudicationRun, projection: PersonsProjection | None
) -> Iterator[WrongRow]:
    """Yield what does not hold about what is kept of a session or a count.

    ``projection`` is what ``run`` gives of a session, read again as far as it has read.
    """
    readings = newest_readings(stream.stream_id)
    key = key_of(stream.stream_id, read.next_seq_of(stream.stream_id) - 1, digest_of(readings))
    stored = _stored(key)
    if not stored:
        return
    if stream.table_id is None:
        again = {MONEY: stream_money.encode(read_cash_desk(stream.stream_id, key["last_seq"]))}
    else:
        again = _of(sums_of(key, readings, projection if _key_of(run) == key else None))
    for what, value in stored.items():
        if again.get(what) != value:
            yield WrongRow("figures", f"its {what} are not what its events give", stream.name, key["last_seq"])


def _key_of(run: AdjudicationRun) -> Key | None:
    adjudication = Adjudication.objects.filter(run=run).first()
    return key_of_run(adjudication, run) if adjudication is not None else None


def _stored(key: Key) -> dict[str, Any]:
    """Return what is kept under a key, by what it is."""
    stored: dict[str, Any] = {}
    if (figures := SessionFigures.objects.filter(**key).first()) is not None:
        stored |= {FIGURES: bytes(figures.figures), WAITING: figures.waiting}
        if figures.win_line is not None:
            stored[WIN_LINE] = figures.win_line
        if figures.faults:
            stored[FAULTS] = figures.faults
    if (money := StreamMoney.objects.filter(**key).first()) is not None:
        stored[MONEY] = bytes(money.money)
    if (evidence := StreamEvidence.objects.filter(**key).first()) is not None:
        stored[OBSERVATIONS] = bytes(evidence.observations)
    return stored


def _of(sums: Sums) -> dict[str, Any]:
    return {
        FIGURES: sums.figures,
        WAITING: sums.waiting,
        WIN_LINE: sums.win_line,
        MONEY: sums.money,
        OBSERVATIONS: sums.observations,
    }
