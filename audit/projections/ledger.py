"""The evidence ledger, held against what fed it: ``verify --deep`` feeds every process again.

    closes of sessions in the tree, up to the cursor ─► each has fed the ledger, or a fault
    audit_streamevidence ─► the content of each session's batch, or a fault
    audit_ledgerbatch, in order ─► processes, points, levels, questions ─► the same as are stored, or a fault

``figures`` holds the observations of sessions against their events, and ``ledger_origins`` where batches come from. The
process that a batch fed is taken as it is stored: an officer's entry ends one, and another begins. So are rows of an
earlier edition of the ledger, which has ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from typing import Any

import msgspec
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from audit.ledger import order
from audit.ledger.expected import stated_of
from audit.ledger.feeding import batches_of
from audit.models import (
    BatchKind,
    Casino,
    LedgerBatch,
    LedgerCursor,
    LedgerLevel,
    LedgerPoint,
    LedgerProcess,
    LedgerQuestion,
    LedgerSetAside,
    LedgerYear,
    LoggedStream,
    StreamEvidence,
)
from audit.models.ledger import kept
from audit.projections.faults import WrongRow
from audit.projections.ledger_origins import Origins
from settlement.eprocess.budget import as_stated, expected_after, stated_in
from settlement.eprocess.channels import Fed
from settlement.eprocess.explanations import counted_in
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import EDITION, level_of, name_of
from settlement.eprocess.process import Process

_BUDGET = re.compile(r"\d+(/[1-9]\d*)?")


def wrong_ledger(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the ledger of a casino, of every one for None."""
    cursors = {cursor.casino_id: cursor for cursor in LedgerCursor.objects.order_by("casino")}
    fed = [Exists(model.objects.filter(casino=OuterRef("pk"))) for model in (LedgerProcess, LedgerBatch, LedgerYear)]
    casinos = Casino.objects.filter(fed[0] | fed[1] | fed[2] | Q(pk__in=cursors)).order_by("pk")
    for casino in casinos if casino_id is None else casinos.filter(pk=casino_id):
        # Of a ledger whose cursor is gone nothing was fed.
        cursor = cursors.get(casino.pk, LedgerCursor(casino=casino))
        ledger = _Again(casino)
        for what in chain(_unfed(cursor), ledger.feed(), ledger.set_aside(), ledger.compare(cursor)):
            yield WrongRow("ledger", f"{casino.code}: {what}")


def _unfed(cursor: LedgerCursor) -> Iterator[str]:
    """Yield the session that the cursor has passed and that was not fed, the first of them."""
    close, _next_leaf = order.next_close(cursor.casino_id, 0)
    if close is not None and close.log_index < cursor.next_leaf:
        stream = LoggedStream.objects.get(pk=close.stream_id)
        yield f"session {stream.name} was closed at leaf {close.log_index}, and has fed nothing"


@dataclass(slots=True)
class _Again:
    """The ledger of a casino, fed again from its batches."""

    casino: Casino
    processes: dict[int, Process] = field(default_factory=dict)
    levels: set[tuple[Any, ...]] = field(default_factory=set)
    questions: set[tuple[Any, ...]] = field(default_factory=set)
    ranks: dict[str, int] = field(default_factory=dict)
    sessions: dict[int, int] = field(default_factory=dict)
    first_days: dict[int, date] = field(default_factory=dict)
    year: int = 0
    number: int = 0
    origins: Origins = field(init=False)

    def __post_init__(self) -> None:
        self.origins = Origins(self.casino)

    def feed(self) -> Iterator[str]:
        """Feed every batch again; yield what does not hold about it."""
        years = {each.year: each for each in LedgerYear.objects.filter(casino=self.casino, edition=EDITION)}
        for year in [year for year, row in years.items() if not _BUDGET.fullmatch(row.budget)]:
            yield f"the budget of {year} is {years.pop(year).budget}, which is invalid"
        rows = {row.pk: row for row in LedgerProcess.objects.filter(casino=self.casino)}
        for batch in (
            LedgerBatch.objects.filter(casino=self.casino).select_related("stream").order_by("number").iterator()
        ):
            self.number += 1
            if batch.number != self.number or batch.year < self.year:
                yield f"batch {batch.number} does not follow batch {self.number - 1}"
            if batch.year > self.year:
                expected = years[batch.year].expected if batch.year in years else {}
                before = years[self.year].expected if self.year in years else {}
                if self.ranks and expected != as_stated(expected_after(before, self.ranks), stated_in(expected)):
                    yield f"the subjects expected in {batch.year} are not those of {self.year}"
                self.year, self.ranks = batch.year, {}
            yield from _readable(batch, self.origins.wrong(batch))
            if batch.edition < EDITION:  # its processes have ended, and this version cannot feed them
                continue
            if batch.error:  # what cannot be read is set aside, and is no batch
                yield f"batch {batch.number} is said not to be readable, and was fed"
            if batch.kind == BatchKind.DRAWS and not _was_observed(batch):
                yield f"batch {batch.number} is not what session {batch.stream} gave"
            stored = list(batch.points.all())
            points = {rows[point.process_id].name: point for point in stored if point.process_id in rows}
            if len(points) < len(stored):
                yield f"batch {batch.number} is said to have fed a process twice, or one that is not of the casino"
            try:
                gives = sorted(batches_of(batch), key=name_of)
            except (msgspec.DecodeError, AssertionError, ValueError) as error:
                yield f"batch {batch.number} cannot be read: {error}"
                continue
            for fed in gives:
                point = points.pop(name_of(fed), None)
                if point is None:
                    yield f"batch {batch.number} has not fed the process {name_of(fed)}"
                elif not self._is_fed(batch, fed, point, years.get(batch.year)):
                    yield f"what batch {batch.number} did to the process {name_of(fed)} is not what is stored"
            for name in points:
                yield f"batch {batch.number} is said to have fed the process {name}, and has nothing of it"

    def set_aside(self) -> Iterator[str]:
        """Yield what does not hold about what is set aside, after everything was fed."""
        now = timezone.now()
        for each in LedgerSetAside.objects.filter(casino=self.casino).select_related("stream").order_by("pk"):
            yield from self.origins.wrong_aside(each, now)

    def _is_fed(self, batch: LedgerBatch, fed: Fed, point: LedgerPoint, year: LedgerYear | None) -> bool:
        """Feed a process, and return whether its point is what that gives."""
        pk = point.process_id
        process = self.processes.setdefault(pk, Process(fed.kind, fed.subject, fed.variant))
        if process.year != batch.year:
            rank = self.ranks[fed.kind] = self.ranks.get(fed.kind, 0) + 1
            budget, expected = (year.budget, year.expected) if year is not None else ("0", {})
            process.begin_year(batch.year, level_of(budget, expected, fed.kind, rank))
            self.levels.add((pk, batch.year, process.alpha, kept(process.opening)))
        before = process.draws
        session = batch.stream.name if batch.stream is not None else batch.gaming_day.isoformat()
        crossing = process.feed(KINDS[fed.kind].mixture(fed.variant), fed.seen, draws=fed.draws, session=session)
        if crossing is not None:
            raised = (crossing.year, crossing.alpha, crossing.draws, kept(crossing.evidence))
            self.questions.add((pk, batch.pk, *raised))
        self.sessions[pk] = self.sessions.get(pk, 0) + 1
        self.first_days[pk] = min(self.first_days.get(pk, batch.gaming_day), batch.gaming_day)
        given = (process.draws - before, kept(process.evidence), counted_in(fed.kind, fed.seen))
        return (point.draws, point.wealth, point.counts) == given

    def compare(self, cursor: LedgerCursor) -> Iterator[str]:
        """Yield what is stored and is not what was fed."""
        of_edition = {"casino": self.casino, "edition": EDITION}
        budgets = list(LedgerYear.objects.filter(**of_edition).order_by("year").values_list("year", "expected"))
        of_years = dict(LedgerYear.objects.filter(**of_edition).values_list("year", "budget"))
        years, expected = [year for year, _ in budgets], dict(budgets)
        fed_in = LedgerBatch.objects.filter(**of_edition).order_by("year").values_list("year", flat=True)
        if years != list(fed_in.distinct()):
            yield f"budgets are stored of the years {years}, in which not all was fed, or of one twice"
        ended = {"casino": self.casino, "edition__lt": EDITION}
        fed_before = LedgerBatch.objects.filter(**ended).values("year")
        others = LedgerYear.objects.filter(casino=self.casino).exclude(edition=EDITION)
        for year, edition in others.exclude(edition__lt=EDITION, year__in=fed_before).values_list("year", "edition"):
            yield f"a budget is stored of {year} in edition {edition}, in which nothing was fed"
        for year, stored in budgets:
            if stated_in(stored) != stated_of(self.casino, year):
                yield f"the subjects expected in {year} are not those that the casino has said"
        if cursor.edition == EDITION and cursor.year in of_years and cursor.budget != of_years[cursor.year]:
            yield f"the budget of {cursor.year} is said to be {cursor.budget}, and was {of_years[cursor.year]}"
        if cursor.edition == EDITION and cursor.year in expected and cursor.expected != expected[cursor.year]:
            yield f"the subjects expected in {cursor.year} are not those of its budget"
        ranks = cursor.ranks if cursor.edition == EDITION else {}
        if (cursor.number, cursor.year, ranks) != (self.number, self.year, self.ranks):
            yield f"it is said to have been fed {cursor.number} batches, and was {self.number}"
        for row in LedgerProcess.objects.filter(casino=self.casino, edition=EDITION).order_by("pk"):
            process = self.processes.get(row.pk)
            if process is None or _stored(row) != _given(process, self.sessions[row.pk], self.first_days[row.pk]):
                yield f"process {row.pk} ({row.name}) is not what its batches give"
        fed_then = LedgerPoint.objects.filter(process=OuterRef("pk"), batch__edition=OuterRef("edition"))
        of_others = LedgerProcess.objects.filter(~Exists(fed_then), casino=self.casino).exclude(edition=EDITION)
        for row in of_others.order_by("pk"):
            yield f"process {row.pk} ({row.name}) has edition {row.edition}, in which nothing was fed"
        own = {"process__casino": self.casino, "process__edition": EDITION}
        levels = Counter(LedgerLevel.objects.filter(**own).values_list("process", "year", "alpha", "opening"))
        questions = LedgerQuestion.objects.filter(**own)
        raised = Counter(questions.values_list("process", "batch", "year", "alpha", "draws", "evidence"))
        for what, stored, given in (
            ("level", levels, Counter(self.levels)),
            ("question", raised, Counter(self.questions)),
        ):
            for process, *_rest in sorted((stored - given) | (given - stored)):
                yield f"a {what} of process {process} is missing, altered or too many"


def _readable(batch: LedgerBatch, wrong: Iterator[str]) -> Iterator[str]:
    """Yield what is wrong about a batch; what cannot be read of it is said where it is fed again."""
    try:
        yield from wrong
    except (msgspec.DecodeError, LookupError, ValueError) as error:
        yield f"batch {batch.number} cannot be read: {error}"


def _was_observed(batch: LedgerBatch) -> bool:
    """Whether the content of a session's batch is kept of the session, as it was read at its close or is read now."""
    kept_of = StreamEvidence.objects.filter(stream=batch.stream_id, last_seq=batch.last_seq)
    return kept_of.filter(observations=bytes(batch.content)).exists()


def _stored(row: LedgerProcess) -> tuple[Any, ...]:
    numbers = (row.wealth, row.highest, row.opening, row.year, row.alpha, row.draws, row.sessions)
    return (row.kind, row.subject, row.variant, bytes(row.state), *numbers, row.first_day)


def _given(process: Process, sessions: int, first_day: date) -> tuple[Any, ...]:
    state = msgspec.json.encode(process, order="sorted")
    numbers = (kept(process.evidence), kept(process.highest), kept(process.opening))
    year = (process.year, process.alpha, process.draws, sessions)
    return (process.kind, process.subject, process.variant, state, *numbers, *year, first_day)
