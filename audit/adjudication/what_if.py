"""Replays beside the standing one: what would be found under other readings, or by another version of the engine.

    selection of streams ─► each replayed under its own cursor ─► findings of its own ─► the difference

Nothing of it is shown among the standing findings. It can be stopped at any moment and taken up again: each stream
goes on from its cursor.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal, TextIO, TypeAlias

import msgspec
from django.db import connection, transaction
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.event_store import audit_trail
from audit.models import Adjudication, Casino, LoggedStream, WhatIf
from audit.models.event_store import in_gaming_days
from settlement import ENGINE_VERSION, State
from settlement.catalogue import RULES

Kind: TypeAlias = Literal["appeared", "disappeared", "changed"]


class WhatIfRejected(Exception):
    """What was asked for cannot be replayed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which streams: those of a casino, of gaming days (both included), of a ruleset. None does not limit."""

    casino: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    ruleset: str | None = None

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Change:
    """One finding that is not the same in both, ``before`` standing and ``after`` beside; None where it is in one."""

    kind: Kind
    stream: str
    stream_id: int
    finding_id: int | None
    casino_id: int
    seq: int
    rule: str
    wager: str
    currency: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(slots=True)
class Sum:
    """What changed of a rule in a currency. Amounts: recorded less expected, in minor units, where both are money."""

    rule: str
    currency: str
    appeared: int = 0
    disappeared: int = 0
    changed: int = 0
    before_minor: int = 0
    after_minor: int = 0


def readings_in(written: str) -> dict[str, Any]:
    """Read ``zero_rule=half,payout_unit=5``; a value that is not JSON is text. Raise ``WhatIfRejected``."""
    found: dict[str, Any] = {}
    for part in filter(None, written.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise WhatIfRejected(f"'{part}' is not NAME=VALUE")
        try:
            found[name.strip()] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            found[name.strip()] = value.strip()
    return found


def begin(name: str, *, readings: Mapping[str, Any], selection: Selection, actor: str) -> WhatIf:
    """Begin a replay beside the standing one; the one of that name, where it has been begun the same way before.

    Raise ``ShapeError`` for readings that section 5 does not have, ``WhatIfRejected`` where the name is another one's.
    """
    State((), readings)
    if selection.casino is not None and not Casino.objects.filter(code=selection.casino).exists():
        raise WhatIfRejected(f"There is no casino '{selection.casino}'.")
    asked = {"readings": dict(readings), "selection": selection.as_json(), "engine_version": ENGINE_VERSION}
    with transaction.atomic():
        what_if, is_new = WhatIf.objects.get_or_create(name=name, defaults={**asked, "started_by": actor})
        if any(getattr(what_if, field) != value for field, value in asked.items()):
            raise WhatIfRejected(f"'{name}' is a replay of other streams or under other readings.")
        if is_new:
            casino_id = Casino.objects.get(code=selection.casino).pk if selection.casino else audit_trail.INSTALLATION
            audit_trail.record(
                actor, "replay.started", casino_id=casino_id, data={"name": name, "readings": dict(readings)}
            )
        streams_of(what_if)  # counts them
    return what_if


def streams_of(what_if: WhatIf) -> list[int]:
    """Return the streams that a replay selects, and note how many there are."""
    chosen = what_if.selection
    streams = in_gaming_days(LoggedStream.objects.filter(is_of_desk=False).exclude(ruleset=None), chosen)
    if "casino" in chosen:
        streams = streams.filter(casino__code=chosen["casino"])
    if "ruleset" in chosen:
        streams = streams.filter(ruleset=chosen["ruleset"])
    found = list(streams.order_by("stream_id").values_list("stream_id", flat=True))
    WhatIf.objects.filter(pk=what_if.pk).update(streams=len(found))
    return found


def replay_one(what_if: WhatIf, stream_id: int, progress: Callable[[int], None] = lambda folded: None) -> None:
    """Replay a stream to its end, from where it stopped; ``progress`` is told the events of each step."""
    while True:
        step = advance(stream_id, what_if)
        if step is None:  # another worker has it
            return
        progress(step.folded)
        if not step.behind:
            return


def end(what_if: WhatIf) -> None:
    """Note that every stream of a replay has come to its end."""
    WhatIf.objects.filter(pk=what_if.pk).update(ended_at=timezone.now())


def done(what_if: WhatIf) -> int:
    """Return how many streams of a replay have come to their end."""
    of_what_if = Adjudication.objects.filter(what_if=what_if)
    return of_what_if.filter(completed_run__gte=1).count()


_DIFFERENCE = """
with standing as (
  select * from audit_finding
  where superseded_at is null and run > 0 and stream_id in (
    select stream_id from audit_adjudication where what_if_id = %(what_if)s and completed_run > 0)),
simulated as (select * from audit_whatiffinding b where what_if_id = %(what_if)s)
select coalesce(s.stream_id, b.stream_id), l.name, l.casino_id, s.id, coalesce(s.seq, b.seq), coalesce(s.rule, b.rule),
       coalesce(s.wager, b.wager), coalesce(s.currency, b.currency),
       s.id is not null, s.severity, s.expected, s.recorded, s.provision,
       b.id is not null, b.severity, b.expected, b.recorded, b.provision
from standing s full join simulated b using (stream_id, seq, rule, wager)
join log.stream l on l.stream_id = coalesce(s.stream_id, b.stream_id)
where (s.id is null or b.id is null
       or (s.severity, s.expected, s.recorded, s.provision)
          is distinct from (b.severity, b.expected, b.recorded, b.provision))
  and (%(casinos)s::bigint[] is null or l.casino_id = any (%(casinos)s::bigint[]))
order by 1, 5, 6, 7
"""

_AMOUNTS = ("severity", "expected", "recorded", "provision")


def difference(what_if: WhatIf, casinos: Sequence[int] | None = None) -> Iterator[Change]:
    """Yield what is not the same, in the order of the log; of ``casinos`` alone, where they are given."""
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERENCE, {"what_if": what_if.pk, "casinos": list(casinos) if casinos is not None else None})
        for row in cursor.fetchall():
            stream_id, stream, casino_id, finding_id, seq, rule, wager, currency = row[:8]
            before = _said(row[9:13]) if row[8] else None
            after = _said(row[14:18]) if row[13] else None
            kind: Kind = "changed" if before and after else "disappeared" if before else "appeared"
            yield Change(kind, stream, stream_id, finding_id, casino_id, seq, rule, wager, currency, before, after)


def _said(columns: Sequence[Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name in ("expected", "recorded") and isinstance(value, str) else value
        for name, value in zip(_AMOUNTS, columns, strict=True)
    }


def sums(changes: Iterator[Change] | Sequence[Change]) -> list[Sum]:
    """Return what changed by rule and currency, in the order of the rules' names."""
    found: dict[tuple[str, str], Sum] = {}
    for change in changes:
        total = found.setdefault((change.rule, change.currency), Sum(change.rule, change.currency))
        setattr(total, change.kind, getattr(total, change.kind) + 1)
        if RULES[change.rule].expected_is == RULES[change.rule].recorded_is == "money":
            total.before_minor += _amount(change.before)
            total.after_minor += _amount(change.after)
    return [found[key] for key in sorted(found)]


def _amount(said: dict[str, Any] | None) -> int:
    if said is None or not isinstance(said["expected"], int) or not isinstance(said["recorded"], int):
        return 0
    return int(said["recorded"]) - int(said["expected"])


COLUMNS = ("kind", "stream", "seq", "rule", "wager", "currency")


def write_csv(changes: Iterator[Change], out: TextIO) -> None:
    """Write changes as CSV, a line each. What a spreadsheet would take for a formula is quoted with an apostrophe."""
    writer = csv.writer(out)
    writer.writerow([*COLUMNS, *(f"{when}_{name}" for when in ("before", "after") for name in _AMOUNTS)])
    for change in changes:
        row = [getattr(change, name) for name in COLUMNS]
        row += [(said or {}).get(name) for said in (change.before, change.after) for name in _AMOUNTS]
        writer.writerow([guarded(value) for value in row])


def guarded(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def write_json(changes: Iterator[Change], out: TextIO) -> None:
    """Write changes as JSON: an array of objects."""
    listed = [
        {**{name: getattr(change, name) for name in COLUMNS}, "before": change.before, "after": change.after}
        for change in changes
    ]
    json.dump(listed, out, indent=1, ensure_ascii=False)
    out.write("\n")
