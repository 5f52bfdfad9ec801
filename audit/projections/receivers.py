"""Who is written to about a casino, and of which recordings: held against the audit trail.

    nightsubscriber.added, .changed, .deleted ─► who receives the nights and the alerts, in which language
    case.video_asked ──────────────────────────► which recording was asked for, by whom, at which address

The rows alone say how far each message has come. Entries of 0.2.0 and before name neither person nor recording: they
prove only that there is a row.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.casework.video import stated_of
from audit.event_store.audit_trail import INSTALLATION
from audit.models import FIRST_SANDBOX_ID, NightSubscriber, VideoRequest
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.entries import Entry, entries, is_same_instant
from audit.projections.faults import WrongRow
from audit.projections.found import Figures

SUBSCRIBERS = ("nightsubscriber.added", "nightsubscriber.changed", "nightsubscriber.deleted")


def wrong_subscribers(casino_id: int | None, figures: Figures) -> Iterator[WrongRow]:
    """Yield what does not hold about who receives a casino's nights and alerts, every casino's for None.

    A row without an entry is counted as ``unstated`` until ``manage.py keep`` enters it.
    """
    is_kept = any(entries(INSTALLATION, (SETTINGS_KEPT,)))
    stated: dict[int, Entry] = {}
    for entry in entries(casino_id, SUBSCRIBERS):
        stated[entry.number("id")] = entry
    stated = {pk: entry for pk, entry in stated.items() if entry.type != "nightsubscriber.deleted"}
    rows = NightSubscriber.objects.filter(casino__is_sandbox=False).select_related("officer").order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        entry_of_row = stated.pop(row.pk, None)
        name = row.officer.get_username()
        if entry_of_row is None and not is_kept:
            figures.unstated += 1
        elif entry_of_row is None:
            yield WrongRow("subscriber", f"{name} of casino {row.casino_id} is stored, and no entry says so")
        elif "officer" in entry_of_row.data:
            holds = {
                "casino": row.casino_id == entry_of_row.casino_id,
                **{key: entry_of_row.data.get(key) == value for key, value in row.stated().items()},
            }
            if altered := [key for key, is_right in holds.items() if not is_right]:
                what = f"{name} of casino {row.casino_id} is not what {entry_of_row.name} says: {', '.join(altered)}"
                yield WrongRow("subscriber", what)
    for pk, entry in stated.items():
        yield WrongRow("subscriber", f"subscriber {pk} is missing, of whom {entry.name} says something")


def wrong_video_requests(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the recordings that officers asked for, at every casino for None."""
    requested = list(entries(casino_id, ("case.video_asked",)))
    stated = {entry.number("request"): entry for entry in requested if "request" in entry.data}
    older = [entry for entry in requested if "request" not in entry.data]
    rows = VideoRequest.objects.filter(finding__stream_id__lt=FIRST_SANDBOX_ID).order_by("pk")
    rows = rows.select_related("finding", "requested_by")
    for row in rows if casino_id is None else rows.filter(case__casino=casino_id):
        entry_of_row = stated.pop(row.pk, None) or next((each for each in older if _is_requested_by(row, each)), None)
        if entry_of_row is None:
            yield _wrong(row, "is stored, and no entry says so")
            continue
        if entry_of_row in older:
            older.remove(entry_of_row)
        holds = {
            "case, officer or instant": _is_requested_by(row, entry_of_row),
            "finding": (row.finding.seq, row.finding.rule, row.finding.wager)
            == (entry_of_row.number("seq"), entry_of_row.text("rule"), entry_of_row.text("wager")),
        }
        if "request" in entry_of_row.data:
            # Entries of before say the finding by its place alone, which another run's finding may share.
            content = {"finding": row.finding_id, **entry_of_row.data}
            holds |= {key: content.get(key) == value for key, value in stated_of(row).items()}
        if altered := [key for key, is_right in holds.items() if not is_right]:
            yield _wrong(row, f"is not what {entry_of_row.name} says: {', '.join(altered)}")
    for entry in (*stated.values(), *older):
        what = f"a request about case {entry.number('case')} is missing, of which {entry.name} says something"
        yield WrongRow("video", what, seq=entry.number("seq"))


def _is_requested_by(row: VideoRequest, entry: Entry) -> bool:
    return (row.case_id, row.requested_by.get_username()) == (entry.number("case"), entry.actor) and is_same_instant(
        row.requested_at, entry.at
    )


def _wrong(row: VideoRequest, what: str) -> WrongRow:
    return WrongRow("video", f"request {row.pk} about case {row.case_id} {what}", seq=row.finding.seq)
