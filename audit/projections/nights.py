"""Versions of the nights' reports, their signatures and sign-off exceptions, held against the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from django.db.models import F

from audit.models import NightReport, NightState, SignoffException
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow
from audit.reconciliation.versions import digest_of, kept_root

REPORTED, REVIEWED, CLOSED, EXCEPTED = TYPES = ("night.reported", "night.reviewed", "night.closed", "night.reserved")

Version: TypeAlias = tuple[int, str, str, int]
"""What names a version: casino, gaming day, currency and number."""


@dataclass(slots=True)
class _Rebuilt:
    """A version as its entries leave it."""

    reported: Entry | None = None
    signatures: list[Entry] = field(default_factory=list)
    exceptions: dict[str, Entry] = field(default_factory=dict)


def wrong_nights(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the nights of a casino, of every casino for None."""
    rebuilt: dict[Version, _Rebuilt] = {}
    for entry in entries(casino_id, TYPES):
        key = (entry.casino_id, entry.text("gaming_day"), entry.text("currency"), entry.number("version"))
        version = rebuilt.setdefault(key, _Rebuilt())
        if entry.type == REPORTED:
            version.reported = version.reported or entry
        elif entry.type == EXCEPTED:
            version.exceptions.setdefault(entry.text("code"), entry)
        else:
            version.signatures.append(entry)
    exceptions = _exceptions(casino_id)
    names = officer_names()
    reports = NightReport.objects.select_related("casino").order_by("pk")
    for report in reports if casino_id is None else reports.filter(casino=casino_id):
        key = (report.casino_id, report.gaming_day.isoformat(), report.currency, report.version)
        version = rebuilt.pop(key, _Rebuilt())
        for part, what in (
            *(("night", what) for what in _wrong_version(report, version)),
            *(("signature", what) for what in _wrong_signatures(report, version, names)),
            *(("signature", what) for what in _wrong_exceptions(version, exceptions.pop(report.pk, {}))),
        ):
            yield WrongRow(part, f"{_named(key, report.casino.code)}: {what}")
    for key, version in rebuilt.items():
        first = version.reported or next(iter((*version.signatures, *version.exceptions.values())))
        yield WrongRow("night", f"{_named(key, str(key[0]))} is missing, of which {first.name} says something")
    for pk in exceptions:
        yield WrongRow("signature", f"sign-off exceptions are stored for report {pk}, which there is not")


def _exceptions(casino_id: int | None) -> dict[int, dict[str, list[tuple[str, str, datetime]]]]:
    """Return what is stored: reason, officer and instant of each sign-off exception, by report and code."""
    rows = SignoffException.objects.all()
    rows = rows if casino_id is None else rows.filter(report__casino=casino_id)
    found: dict[int, dict[str, list[tuple[str, str, datetime]]]] = {}
    for row in rows.annotate(username=F("officer__username")):
        of_code = found.setdefault(row.report_id, {}).setdefault(row.code, [])
        of_code.append((row.reason, row.username, row.made_at))
    return found


def _wrong_version(report: NightReport, version: _Rebuilt) -> Iterator[str]:
    entry = version.reported
    if entry is None:
        yield "is stored, and no entry of the audit trail says that it was made"
        return
    if report.digest != entry.text("digest"):
        yield f"its digest is not the one that {entry.name} says"
    try:
        holds = digest_of(report) == report.digest
    except (ValueError, KeyError, TypeError):
        holds = False
    if not holds:
        yield "its content has not its digest"
    kept = entry.text("kept")
    if kept and kept != kept_root(report):
        yield f"it is not what {entry.name} says that was made"


def _wrong_signatures(report: NightReport, version: _Rebuilt, names: Mapping[int, str]) -> Iterator[str]:
    first, second = (
        next((each for each in version.signatures if each.type == type), None) for type in (REVIEWED, CLOSED)
    )
    signed: dict[str, tuple[Any, Any]] = {
        "the first signature": (_signature(names, report.reviewed_by_id, report.reviewed_at), _stated(first)),
        "the second signature": (_signature(names, report.closed_by_id, report.closed_at), _stated(second)),
    }
    for name, (stored, stated) in signed.items():
        if not _is_same(stored, stated):
            yield f"{name} is {_who(stored)}, and the audit trail says {_who(stated)}"
    for each in (first, second):
        if each is not None and each.text("digest") != report.digest:
            yield f"{each.name} signs another digest"
    if first is not None and second is not None and first.actor == second.actor:
        yield f"{first.actor} signed twice"
    state = NightState.CLOSED if second else NightState.REVIEWED if first else None
    created = version.reported.text("state") if version.reported is not None else ""
    if state is not None and report.state != state:
        yield f"its state is {report.state}, and the audit trail says {state}"
    elif state is None and created and report.state != created:
        yield f"its state is {report.state}, and it was made {created}"
    if len(version.signatures) > 2:
        yield "it is signed more than twice"


def _wrong_exceptions(version: _Rebuilt, stored: dict[str, list[tuple[str, str, datetime]]]) -> Iterator[str]:
    stated = {code: (entry.text("reason"), entry.actor, entry.at) for code, entry in version.exceptions.items()}
    for code in sorted({*stated, *stored}):
        of_code = stored.get(code, [])
        if len(of_code) != 1 or not _is_same(of_code[0], stated.get(code)):
            what = "is missing" if not of_code else "is stored" if code not in stated else "was altered"
            yield f"the sign-off exception {code} {what}, against the audit trail"


def _signature(names: Mapping[int, str], officer: int | None, at: datetime | None) -> tuple[Any, ...] | None:
    return None if officer is None and at is None else (names.get(officer or 0, ""), at)


def _stated(entry: Entry | None) -> tuple[str, datetime] | None:
    return None if entry is None else (entry.actor, entry.at)


def _is_same(stored: tuple[Any, ...] | None, stated: tuple[Any, ...] | None) -> bool:
    """Whether two are the same, the last value of each, an instant, as near as in one transaction."""
    if stored is None or stated is None:
        return stored is stated
    return stored[:-1] == stated[:-1] and is_same_instant(stored[-1], stated[-1])


def _who(signature: tuple[str, Any] | None) -> str:
    return f"{signature[0] or 'nobody'}’s of {signature[1]}" if signature else "nobody’s"


def _named(key: Version, casino: str) -> str:
    return f"version {key[3]} of {casino}, {key[1]}, {key[2]}"
