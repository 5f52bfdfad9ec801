"""What-if runs: what would be found under other readings, or by another version of the engine.

    selection of streams ─► each replayed with a cursor of its own ─► what-if findings ─► the difference

The standing findings are untouched. A run can be stopped at any moment and resumed: each stream goes on from its
cursor. ``audit.exports.what_if_difference`` writes a difference as a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal, TypeAlias

import msgspec
from django.db import connection, transaction
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.event_store import archived, audit_trail
from audit.models import FIRST_SANDBOX_ID, AdjudicationRun, Casino, GamingTable, LoggedStream, RunState, WhatIf
from audit.models.event_store import in_gaming_days
from settlement import ENGINE_VERSION, State
from settlement.catalogue import RULES

Kind: TypeAlias = Literal["appeared", "disappeared", "changed"]


class WhatIfRejected(Exception):
    """The run cannot be started: an unknown casino, readings that are not NAME=VALUE, or a name that is taken."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which streams: those of a casino, of gaming days (both included), of a ruleset. None is no limit.

    ``tables`` are codes of tables of the casino, () for every table.
    """

    casino: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    ruleset: str | None = None
    tables: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        limits = {name: value for name, value in asdict(self).items() if value is not None and name != "tables"}
        tables = {"tables": sorted(self.tables)} if self.tables else {}
        return {name: str(value) for name, value in limits.items()} | tables


@dataclass(frozen=True, slots=True)
class Change:
    """A finding that differs: ``before`` is the standing one, ``after`` that of the run; None if it has none."""

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
class Total:
    """The changes of one rule in one currency. Amounts are recorded less expected in minor units, if both are money."""

    rule: str
    currency: str
    appeared: int = 0
    disappeared: int = 0
    changed: int = 0
    before_minor: int = 0
    after_minor: int = 0


def parse_readings(text: str) -> dict[str, Any]:
    """Parse ``zero_rule=half,payout_unit=5``; a value that is not JSON is a string. Raise ``WhatIfRejected``."""
    readings: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise WhatIfRejected(f"'{part}' is not NAME=VALUE")
        try:
            readings[name.strip()] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            readings[name.strip()] = value.strip()
    return readings


def begin(name: str, *, readings: Mapping[str, Any], selection: Selection, actor: str) -> WhatIf:
    """Begin a what-if run, or return the run of that name if it was begun with the same parameters.

    The name is one of its casino's, or of the runs of all casinos. Raise ``ShapeError`` for readings that section 5
    does not have, ``WhatIfRejected`` for an unknown casino or a name that another run has there.
    """
    State(readings=readings)
    casino = Casino.objects.filter(code=selection.casino).first() if selection.casino is not None else None
    if selection.casino is not None and casino is None:
        raise WhatIfRejected(f"There is no casino '{selection.casino}'.")
    if selection.tables:
        known = set(GamingTable.objects.filter(casino=casino).values_list("code", flat=True)) if casino else set()
        if unknown := sorted(set(selection.tables) - known):
            raise WhatIfRejected(f"There is no table '{unknown[0]}' at the casino.")
    params = {"readings": dict(readings), "selection": selection.as_json(), "engine_version": ENGINE_VERSION}
    with transaction.atomic():
        what_if, is_new = WhatIf.objects.get_or_create(
            name=name, casino=casino, defaults={**params, "started_by": actor}
        )
        if any(getattr(what_if, field) != value for field, value in params.items()):
            raise WhatIfRejected(f"'{name}' is a replay of other streams or under other readings.")
        if is_new:
            casino_id = casino.pk if casino is not None else audit_trail.INSTALLATION
            audit_trail.record(
                actor, "replay.started", casino_id=casino_id, data={"name": name, "readings": dict(readings)}
            )
        streams_of(what_if)  # stores how many there are
    return what_if


def streams_of(what_if: WhatIf) -> list[int]:
    """Return the ids of the streams that a run selects, and store how many there are."""
    selection = what_if.selection
    streams = in_gaming_days(LoggedStream.objects.filter(is_of_desk=False).exclude(ruleset=None), selection)
    if "casino" in selection:
        streams = streams.filter(casino__code=selection["casino"])
    else:
        streams = streams.filter(pk__lt=FIRST_SANDBOX_ID)
    if "ruleset" in selection:
        streams = streams.filter(ruleset=selection["ruleset"])
    if "tables" in selection:
        streams = streams.filter(table__code__in=selection["tables"])
    for month in archived.Away().months:  # there is nothing to replay
        streams = streams.exclude(stream_id__gte=month.low, stream_id__lt=month.high)
    stream_ids = list(streams.order_by("stream_id").values_list("stream_id", flat=True))
    WhatIf.objects.filter(pk=what_if.pk).update(streams=len(stream_ids))
    return stream_ids


def replay_one(what_if: WhatIf, stream_id: int, progress: Callable[[int], None] = lambda folded: None) -> None:
    """Replay a stream from its cursor to its end. ``progress`` is called with the events of each step."""
    while True:
        step = advance(stream_id, what_if)
        if step is None:  # another worker holds it
            return
        progress(step.folded)
        if not step.behind:
            return


def end(what_if: WhatIf) -> None:
    """Mark a run as ended: every stream was replayed to its end."""
    WhatIf.objects.filter(pk=what_if.pk).update(ended_at=timezone.now())


def completed_streams(what_if: WhatIf) -> int:
    """Return how many streams of a run were replayed to their end."""
    return AdjudicationRun.objects.filter(what_if=what_if, state=RunState.COMPLETE).count()


# With "using", Citus names a column that is not there.
_DIFFERENCE = """
with standing as (
  select * from audit_finding
  where status = 'standing' and run_id is not null and stream_id in (
    select stream_id from audit_adjudicationrun where what_if_id = %(what_if)s and state = 'complete')),
simulated as (select * from audit_whatiffinding b where what_if_id = %(what_if)s)
select coalesce(s.stream_id, b.stream_id), l.name, l.casino_id, s.id, coalesce(s.seq, b.seq), coalesce(s.rule, b.rule),
       coalesce(s.wager, b.wager), coalesce(s.currency, b.currency),
       s.id is not null, s.severity, s.expected, s.recorded, s.provision,
       b.id is not null, b.severity, b.expected, b.recorded, b.provision
from standing s full join simulated b
  on b.stream_id = s.stream_id and b.seq = s.seq and b.rule = s.rule and b.wager = s.wager
join log.stream l on l.stream_id = coalesce(s.stream_id, b.stream_id)
where (s.id is null or b.id is null
       or (s.severity, s.expected, s.recorded, s.provision)
          is distinct from (b.severity, b.expected, b.recorded, b.provision))
  and (%(casinos)s::bigint[] is null or l.casino_id = any (%(casinos)s::bigint[]))
order by 1, 5, 6, 7
"""


def engines_compared(what_if: WhatIf, casinos: Collection[int] | None = None) -> list[str]:
    """Return the engine versions whose findings stand in the streams of a run, of ``casinos`` (ids), None for all."""
    of_run = AdjudicationRun.objects.filter(what_if=what_if, state=RunState.COMPLETE).values("stream")
    standing = AdjudicationRun.objects.filter(what_if=None, stream__in=of_run, state=RunState.COMPLETE)
    if casinos is not None:
        standing = standing.filter(casino__in=casinos)
    return sorted(standing.order_by().values_list("engine_version", flat=True).distinct())


def casinos_of(what_if: WhatIf) -> list[int]:
    """Return the ids of the casinos whose streams a run has read."""
    runs = AdjudicationRun.objects.filter(what_if=what_if).order_by()
    return sorted(runs.values_list("casino", flat=True).distinct())


COMPARED = ("severity", "expected", "recorded", "provision")
"""The fields of a finding that are compared."""


def difference(what_if: WhatIf, casinos: Collection[int] | None = None) -> Iterator[Change]:
    """Yield the findings that differ, in order of stream and seq; those of ``casinos`` (ids), None for all."""
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERENCE, {"what_if": what_if.pk, "casinos": list(casinos) if casinos is not None else None})
        for row in cursor.fetchall():
            stream_id, stream, casino_id, finding_id, seq, rule, wager, currency = row[:8]
            before = _compared(row[9:13]) if row[8] else None
            after = _compared(row[14:18]) if row[13] else None
            kind: Kind = "changed" if before and after else "disappeared" if before else "appeared"
            yield Change(kind, stream, stream_id, finding_id, casino_id, seq, rule, wager, currency, before, after)


def _compared(columns: Sequence[Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name in ("expected", "recorded") and isinstance(value, str) else value
        for name, value in zip(COMPARED, columns, strict=True)
    }


def totals(changes: Iterable[Change]) -> list[Total]:
    """Return the totals of changes by rule and currency, sorted by them."""
    by_rule: dict[tuple[str, str], Total] = {}
    for change in changes:
        total = by_rule.setdefault((change.rule, change.currency), Total(change.rule, change.currency))
        setattr(total, change.kind, getattr(total, change.kind) + 1)
        if RULES[change.rule].expected_is == RULES[change.rule].recorded_is == "money":
            total.before_minor += _excess_minor(change.before)
            total.after_minor += _excess_minor(change.after)
    return [by_rule[key] for key in sorted(by_rule)]


def _excess_minor(compared: dict[str, Any] | None) -> int:
    """Return recorded less expected, 0 if there is no finding or no amount."""
    if compared is None or not isinstance(compared["expected"], int) or not isinstance(compared["recorded"], int):
        return 0
    return int(compared["recorded"]) - int(compared["expected"])
