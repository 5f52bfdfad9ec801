"""Months out of the database and back: archived, attached to be read, detached again, destroyed after the retention.

    in place ─► file written, synced, renamed ─► read back, proved ─► note signed ─┐
                                                                                   │ one transaction: nothing open, the
                                                                                   │ month as proved, partition swapped,
    attached ◄── rows from the proved file, one transaction ◄── archived ◄─────────┘ entry of the audit trail
                                                                   └─► destroyed: the entry first, the file after it

Killed anywhere, either the month is in place or the proved file is there; the same command goes on.
``audit.event_store.archived`` has what the database keeps of an archived month.

The commands need the account that owns the log, and sign with the key of checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import msgspec
from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone

from audit.archive import files, notes, proof
from audit.archive.conditions import first_of_next, listed_cases, reasons_to_stay
from audit.archive.files import BadArchive, FiledBatch, FiledStream, Opened
from audit.archive.notes import Filed
from audit.event_store import archived, audit_trail, binary_copy, cluster, durable_files
from audit.event_store.append import EntryRefused
from audit.event_store.archived import Month
from audit.models import FIRST_SANDBOX_ID, Officer
from audit.transparency import signing_keys, tree
from audit.transparency.verify import VERIFYING

ARCHIVED, ATTACHED, DETACHED, DESTROYED = "log.archived", "log.attached", "log.detached", "log.destroyed"

LOCK_TIMEOUT_S = 5
"""How long writers may wait behind the swap of a partition before it gives up."""


class ArchiveRefused(Exception):
    """A month cannot be archived, attached, detached or destroyed now; ``reasons`` says why. Nothing was changed."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class ArchiveInterrupted(Exception):
    """The connection broke at the end, and nothing says whether the database has done it: the same command goes on."""


def folder() -> Path:
    """Return the folder of the archive."""
    return Path(settings.CABOCHON_ARCHIVE)


def range_of(month: date) -> tuple[int, int]:
    """Return the stream ids of a month, by its first day; the second is excluded."""
    days = (month - date(2020, 1, 1)).days, (first_of_next(month) - date(2020, 1, 1)).days
    return days[0] << 32, days[1] << 32


def candidates(before: date) -> list[date]:
    """Return the months before a first day that have streams of tables or counts and were not archived, in order."""
    rows = binary_copy.execute(
        "select distinct date_trunc('month', s.gaming_day)::date from log.stream s"
        " where not s.is_of_desk and s.stream_id < %b::bigint and s.gaming_day < %b::date"
        " and not exists (select from audit_archivedmonth m where s.stream_id >= m.low and s.stream_id < m.high)"
        " order by 1",
        (FIRST_SANDBOX_ID, before),
    )
    return [month for (month,) in rows]


def why_it_stays(month: date) -> list[str]:
    """Return what keeps a month in the database; empty if it can be archived."""
    return reasons_to_stay(month, *range_of(month))


def archive(month: date) -> Month:
    """Write the file of a month, prove it, and take the month's events out of the database.

    A file that a run before this one has written is used if it proves to be the month's. Raise ``ArchiveRefused``,
    ``BadArchive``, ``NoSigningKey``, ``OSError``: the month is in place. Raise ``ArchiveInterrupted``: it may be so.
    """
    _demand_owner()
    if reasons := why_it_stays(month):
        raise ArchiveRefused(*reasons)
    filed = _written_before(month) or _write(month)
    with _alone():
        if reasons := why_it_stays(month):
            raise ArchiveRefused(*reasons)
        binary_copy.execute("select log.stage_month(%b::date)", (month,))
        _swap(month, filed)
        _enter(ARCHIVED, _data_of(filed))
    return _month(month)


def attach(month: date) -> Month:
    """Bring the events of an archived month back, to be read: filled from its file, which is proved first.

    Raise ``ArchiveRefused``, ``BadArchive`` or ``OSError``: nothing was changed. Raise ``ArchiveInterrupted``.
    """
    _demand_owner()
    row = _demand(month, "archived")
    filed = _proved(row)
    with _alone():
        [(staged,)] = binary_copy.execute("select log.stage_month(%b::date)", (month,))
        _fill(staged, row)
        _swap(month, filed)
        _enter(ATTACHED, {"month": row.name, "sha256": row.digest})
    return _month(month)


def detach(month: date) -> Month:
    """Take an attached month out again. Its file is proved first. Raise as ``attach``."""
    _demand_owner()
    row = _demand(month, "attached")
    if reasons := listed_cases(row.low, row.high):
        raise ArchiveRefused(*reasons)
    filed = _proved(row)
    with _alone():
        binary_copy.execute("select log.stage_month(%b::date)", (month,))
        _swap(month, filed)
        _enter(DETACHED, {"month": row.name, "sha256": row.digest})
    return _month(month)


def why_not_destroyed(month: date) -> list[str]:
    """Return what keeps the file of a month from being destroyed; empty if two officers may decide."""
    row = _found(month)
    if row is None or row.state == "attached":
        return ["the month is not in the archive" if row is None else "the month is attached: detach it first"]
    if row.state == "destroyed":
        return []
    first_day = _years_later(first_of_next(month), settings.CABOCHON_RETENTION_YEARS)
    if timezone.now().date() < first_day:
        return [f"it is kept until {first_day}: {settings.CABOCHON_RETENTION_YEARS} years (CABOCHON_RETENTION_YEARS)"]
    return listed_cases(row.low, row.high)


def destroy(month: date, officers: Sequence[Officer], reason: str) -> Month:
    """Destroy the file of a month by decision of two officers, who were proved; the note and every hash stay.

    The entry comes first. Whoever was killed after it runs the same again: the file goes, and no second entry comes.
    """
    _demand_owner()
    if reasons := why_not_destroyed(month):
        raise ArchiveRefused(*reasons)
    row = _found(month)
    assert row is not None, "it was found just now"
    if row.state != "destroyed":
        _proved(row)
        names = [officer.get_username() for officer in officers]
        years = settings.CABOCHON_RETENTION_YEARS
        note = notes.sign_destruction(row, retention_years=years, officers=names, reason=reason)
        data = {"month": row.name, "sha256": row.digest, "retention_years": years, "officers": names, "note": note}
        _enter(DESTROYED, data, reason=reason)
    (folder() / row.file).unlink(missing_ok=True)
    durable_files.sync_folder(folder())
    return _month(month)


def is_file_left(month: Month) -> bool:
    """Whether a month was destroyed and its file is still in the folder: the command was killed in between."""
    return month.state == "destroyed" and (folder() / month.file).exists()


# Files ---------------------------------------------------------------------------------------------------------------


def _written_before(month: date) -> Filed | None:
    """Return what a run before this one has written of a month, if it proves to be the month's as it is now."""
    path = folder() / files.name_of(month)
    verifiers = signing_keys.verifiers("checkpoint")
    if not path.exists() or not (folder() / files.note_of(path.name)).exists():
        return None
    try:
        filed = proof.open_filed(folder(), path.name, verifiers)
        proof.demand_filed(proof.prove(path, month, *range_of(month), verifiers), filed)
    except BadArchive:
        return None  # the month is in place, and its file is written anew
    return filed


def _write(month: date) -> Filed:
    """Write, sync, prove, sign: a name that does not end with .part is that of a file that was proved."""
    path = folder() / files.name_of(month)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.part")
    checkpoint = tree.newest_checkpoint()
    if checkpoint is None:
        raise ArchiveRefused("nothing is sealed yet")
    low, high = range_of(month)
    files.write(draft, month, low, high, checkpoint)
    proven = proof.prove(draft, month, low, high, signing_keys.verifiers("checkpoint"))
    counts = proven.counts
    filed = Filed(f"{month:%Y-%m}", path.name, proven.digest, counts.taken_batches, counts.taken_events, proven.size)
    note = filed.sign()
    draft.rename(path)
    files.write_note(folder() / files.note_of(path.name), note)
    return filed


def _proved(row: Month) -> Filed:
    """Prove the file of an archived month, as its row and its note have it."""
    verifiers = signing_keys.verifiers("checkpoint")
    filed = proof.open_filed(folder(), row.file, verifiers)
    if filed.digest != row.digest:
        raise BadArchive("its note is of another file")
    proof.demand_filed(proof.prove(folder() / row.file, row.month, row.low, row.high, verifiers), filed)
    return filed


class _Envelope(msgspec.Struct):
    seq: int
    occurred_at: str


_decode = msgspec.json.Decoder(_Envelope).decode


def _fill(staged: str, row: Month) -> None:
    """Copy the events of tables and counts from the file of a month. Raise ``BadArchive`` if it is another now."""
    opened = Opened()
    stream: FiledStream | None = None
    with (
        connection.cursor() as cursor,
        cursor.cursor.copy(f'copy log."{staged}" (stream_id, seq, occurred_at, envelope) from stdin') as copy,
    ):
        for item in files.read(folder() / row.file, opened):
            if isinstance(item, FiledStream):
                stream = item
            elif isinstance(item, FiledBatch) and stream is not None and not stream.is_of_desk:
                for envelope in item.envelopes:
                    event = _decode(envelope)
                    copy.write_row((stream.row.stream_id, event.seq, event.occurred_at, envelope.decode()))
    if opened.digest != row.digest:
        raise BadArchive("the file has changed while it was read")


# The database --------------------------------------------------------------------------------------------------------


def _demand_owner() -> None:
    """Raise ``ArchiveRefused`` unless the account that signed in owns the log."""
    [(owns,)] = binary_copy.execute(
        "select pg_has_role(session_user, c.relowner, 'member') from pg_class c where c.oid = 'log.event'::regclass", ()
    )
    if not owns:
        raise ArchiveRefused("the account of the database does not own the log: CABOCHON_PROCESS=migrate, or its URL")


@contextmanager
def _alone() -> Iterator[None]:
    """Change partitions in one transaction, while no verification reads. Raise ``ArchiveRefused``."""
    with _refusals(), cluster.partitions_may_change(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(hashtext(%s))", (VERIFYING,))
        if cursor.fetchone() != (True,):
            raise ArchiveRefused("running: a verification")
        cluster.change_partitions_as_the_owner()
        cursor.execute(f"set local lock_timeout = '{LOCK_TIMEOUT_S}s'")
        yield


@contextmanager
def _refusals() -> Iterator[None]:
    """Say what the database says. Raise ``ArchiveRefused`` or ``ArchiveInterrupted``."""
    try:
        yield
    except EntryRefused as refused:
        raise ArchiveRefused(_REFUSALS.get(refused.code, refused.code)) from refused
    except cluster.Unguarded as error:
        raise ArchiveRefused(str(error)) from error
    except Error as error:
        if binary_copy.is_undecided(error):
            raise ArchiveInterrupted(str(error).strip()) from error
        raise ArchiveRefused(f"the database refused: {str(error).strip()}") from error


_REFUSALS = {
    "case-open": "a case was opened in the meantime",
    "held": "a legal hold was placed in the meantime",
    "not-sealed": "something in the month is not sealed",
    "retained": "its retention is not over",
    "another-officer": "the two officers may be one person",
    "not-the-owner": "the account of the database does not own the log",
}


def _swap(month: date, filed: Filed) -> None:
    binary_copy.execute("select log.swap_month(%b::date, %b::bigint, %b::bigint)", (month, filed.batches, filed.events))


def _data_of(filed: Filed) -> dict[str, object]:
    note = (folder() / files.note_of(filed.file)).read_text()
    counts = {"batches": filed.batches, "events": filed.events}
    return {"month": filed.month, "file": filed.file, "sha256": filed.digest, **counts, "note": note}


def _enter(type: str, data: dict[str, object], *, reason: str = "") -> None:
    with _refusals():
        audit_trail.perform_command(type, data=data, reason=reason)


def _found(month: date) -> Month | None:
    return next((row for row in archived.months() if row.month == month), None)


def _month(month: date) -> Month:
    row = _found(month)
    assert row is not None, "the month was archived"
    return row


def _demand(month: date, state: str) -> Month:
    row = _found(month)
    if row is None or row.state != state:
        raise ArchiveRefused(f"{month:%Y-%m} is {row.state if row else 'in the database'}, and not {state}")
    return row


def _years_later(day: date, years: int) -> date:
    return date(day.year + years, day.month, day.day)  # a first of a month
