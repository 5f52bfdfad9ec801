"""What the register says of a stream: by its casino, table, ruleset and gaming day, in one version of the register.

Of the approved entries that cover the gaming day, one of the table goes before one of the whole casino, and one of the
ruleset before one of every ruleset; of those that remain, the one that was approved last decides. So a later entry
takes the place of an earlier one for its own days and no others, and no entry is ever rewritten. An entry without a
value takes back: then the next in this order decides, and at last the engine's default.

A version of the register is the number of its last approved entry. Its readings of a stream never change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Q, QuerySet

from audit.models import Finding, LoggedStream, RegisterEntry
from audit.register.readings import FAMILIES, KINDS, STILL_PLAYED_BY, TAKEN, as_json

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when something is played: ``table`` is an id, None in the count room."""

    casino: int
    table: int | None
    ruleset: str
    day: date

    @classmethod
    def of(cls, stream: LoggedStream) -> Place:
        return cls(stream.casino_id, stream.table_id, stream.ruleset or "", stream.gaming_day)

    def is_reached_by(self, entry: RegisterEntry) -> bool:
        """Return whether an entry of the casino is about this place; one of the whole casino is about none."""
        return (
            entry.table_id in (None, self.table)
            and entry.ruleset in ("", self.ruleset)
            and self.ruleset in KINDS[entry.reading].rulesets
            and not KINDS[entry.reading].is_of_casino
            and entry.covers(self.day)
        )


def approved(casino_id: int, *, through: int | None = None) -> QuerySet[RegisterEntry]:
    """Return the approved entries of a casino, in the order of their approval, ``through`` a version."""
    entries = RegisterEntry.objects.filter(casino=casino_id, version__isnull=False, reading__in=KINDS)
    return (entries if through is None else entries.filter(version__lte=through)).order_by("version")


def newest_version(casino_id: int) -> int:
    """Return the version of a casino's register; 0 if nothing was ever approved."""
    entries = RegisterEntry.objects.filter(casino=casino_id, version__isnull=False)
    return entries.order_by("-version").values_list("version", flat=True).first() or 0


def deciding(where: Place, entries: Iterable[RegisterEntry]) -> dict[str, RegisterEntry]:
    """Return which of ``entries``, in the order of their approval, decides each reading at ``where``."""
    last: dict[tuple[str, bool, bool], RegisterEntry] = {}
    for entry in entries:
        if where.is_reached_by(entry):
            last[entry.reading, entry.table_id is not None, entry.ruleset != ""] = entry
    decided: dict[str, RegisterEntry] = {}
    for (reading, _is_of_table, _is_of_ruleset), entry in sorted(last.items()):  # from the general to the particular
        if entry.value is not None:
            decided[reading] = entry
    return decided


def entries_of(stream: LoggedStream, version: int | None = None) -> dict[str, RegisterEntry]:
    """Return which entry decides each reading of a stream, in a version of the register, None for the newest."""
    return deciding(Place.of(stream), _entries_at(stream, version).select_related("proposed_by", "decided_by"))


def _entries_at(stream: LoggedStream, version: int | None = None) -> QuerySet[RegisterEntry]:
    """Return the approved entries of the casino and of the table of a stream, in the order of their approval."""
    return approved(stream.casino_id, through=version).filter(Q(table=None) | Q(table=stream.table_id))


def readings_of(stream_id: int, version: int | None) -> Mapping[str, Any] | None:
    """Return the readings of a stream, as the engine takes them, in a version of the register.

    ``version`` None is that of a run that knows no register: None, the session's own parameters decide.
    """
    if version is None:
        return None
    if version == 0:
        return NOTHING
    return _readings_at(stream_id, version)


def newest_readings(stream_id: int) -> Mapping[str, Any]:
    """Return the readings of a stream, as the engine takes them, in the newest version of the register."""
    return _readings_at(stream_id)


def _readings_at(stream_id: int, version: int | None = None) -> Mapping[str, Any]:
    stream = LoggedStream.objects.get(pk=stream_id)
    return engine_readings(deciding(Place.of(stream), _entries_at(stream, version)))


def engine_readings(decided: Mapping[str, RegisterEntry]) -> Mapping[str, Any]:
    """Return what the engine takes of deciding entries."""
    return {name: entry.value for name, entry in sorted(decided.items()) if name in TAKEN}


def digest_of(readings: Mapping[str, Any] | None) -> str:
    """Return the SHA-256 of readings, 64 hex digits; "" for none at all, so that nothing decided has no digest."""
    return hashlib.sha256(as_json(dict(readings)).encode()).hexdigest() if readings else ""


def digests_of(streams: Iterable[LoggedStream]) -> dict[int, str]:
    """Return the digest of what the register says now of each stream, by its id."""
    by_casino: dict[int, list[RegisterEntry]] = {}
    digests = {}
    for stream in streams:
        if stream.casino_id not in by_casino:
            by_casino[stream.casino_id] = list(approved(stream.casino_id))
        decided = deciding(Place.of(stream), by_casino[stream.casino_id])
        digests[stream.stream_id] = digest_of(engine_readings(decided))
    return digests


def rests_on(finding: Finding) -> tuple[str, ...]:
    """Return the readings on whose entries in the register a finding rests, () if it rests on none."""
    match finding.rule:
        case "ruleset-not-in-force":
            return (STILL_PLAYED_BY,)
        case "observes-less-than-owed":
            return (FAMILIES,)
        case "params-differ-from-register" | "parameter-unlawful":
            return tuple(str(name) for name in finding.facts.get("readings", ()) if name in KINDS)
        case _:
            return ()


def decisions_of(finding: Finding) -> dict[str, RegisterEntry | None]:
    """Return by whose decision it is what a finding rests on: each reading, with the entry that decides it.

    They are those of the version of the register that its run read by, for a text that is not in force of the newest:
    it says nothing to the engine. None: no entry decides, and the default holds.
    """
    named = rests_on(finding)
    if not named:
        return {}
    version = finding.run.register_version if finding.run is not None else None
    decided = entries_of(finding.stream, None if named == (STILL_PLAYED_BY,) else version or 0)
    return {name: decided.get(name) for name in named}
