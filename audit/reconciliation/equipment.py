"""Wheels and sets of dice: the fairness of each through a calendar month, at whatever table and in whatever currency.

A wheel, or a set of dice, is followed by the id that events give it; without one, by its table and game. The draws of a
month are taken in the order of gaming days and sessions. A report shows the evidence through its own night, so that it
is the same whenever it is made. It raises no question: those are the evidence ledger's (``audit.ledger``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from django.db.models import Case, When

from audit.models import Casino, LoggedStream, SessionFigures
from audit.reconciliation import sessions
from audit.reconciliation.month_tests import MonthTests
from settlement import ENGINE_VERSION
from settlement.night.fairness import DiceFairness, Fairness, WheelFairness, restore, saved
from settlement.night.figures import Figures
from settlement.rulesets import RULESETS

Draw = list[int | str]

AT_ONCE = 100
"""Sessions of the month whose figures are fetched by one query."""


class Played(NamedTuple):
    """A session of the night: its figures, and the primary key of the row that holds them."""

    stream: LoggedStream
    row: int
    figures: Figures


class _Session(NamedTuple):
    """A session of the month, and the primary key of its figures."""

    stream: LoggedStream
    row: int


class Equipment(NamedTuple):
    """A wheel or a set of dice: by its ``id``, at whatever table; else, that being "", by its table and ruleset.

    A wheel has an id for each ruleset, which says how many pockets it has; dice are the same at every game.
    """

    table_id: int
    ruleset: str
    kind: Literal["dice", "wheel"]
    id: str

    def named(self, id: str) -> Equipment:
        """Return what bears ``id`` where this was used."""
        return Equipment(0, self.ruleset if self.kind == "wheel" else "", self.kind, id) if id else self


@dataclass(slots=True)
class FairnessTest:
    """The fairness of one piece of equipment since the first of the month.

    ``fairness`` is the evidence through the night, ``raised_in`` and ``raised_at`` where that reached the level; None
    and 0 while it has not.
    """

    table: str
    equipment: Equipment
    fairness: Fairness
    raised_in: str | None = None
    raised_at: int = 0

    @property
    def kind(self) -> Literal["dice", "wheel"]:
        return self.equipment.kind

    @property
    def label(self) -> str:
        """What names it in a list: its id, else its table."""
        return self.equipment.id or self.table


def fairness_tests(casino: Casino, day: date, played: Sequence[Played], alpha: Fraction) -> list[FairnessTest]:
    """Return the test of every wheel and set of dice that was used in the sessions of a night, ``played``."""
    used = {each for it in played for each, _draw in _draws_of(it.figures, it.stream.table_id, with_none=True)}
    tables = {it.stream.table_id: it.figures.table for it in played}
    month = tests_through(casino, day, played, alpha) if used else {}
    tests = [month.get(equipment) or _new_test(equipment) for equipment in sorted(used)]
    for test in tests:
        test.table = tables.get(test.equipment.table_id, "")
    return tests


def tests_through(
    casino: Casino, day: date, played: Sequence[Played], alpha: Fraction
) -> dict[Equipment, FairnessTest]:
    """Return the tests of everything that a casino used from the first of the month through ``day``, and keep them.

    The figures of ``played`` are the night's; of any other session the last that were computed, by whatever version of
    the engine. What was kept through an earlier day, or through this one, is not read again.
    """
    own = {it.row: it.figures for it in played}
    sessions_of_month = _month(casino, day, {it.stream.stream_id: it.row for it in played})
    kept = MonthTests(casino.pk, alpha, [(each.stream.gaming_day, each.row) for each in sessions_of_month])
    number, found = kept.newest()
    tests = {test.equipment: test for test in map(_decoded, found)}
    unread = sessions_of_month[number:]
    for each, figures in _with_figures(unread, own):
        for equipment, draw in _draws_of(figures, each.stream.table_id):
            test = tests.get(equipment)
            if test is None:
                test = tests[equipment] = _new_test(equipment)
            _feed(test.fairness, draw)
            if test.raised_in is None and test.fairness.alarms(alpha):
                test.raised_in, test.raised_at = each.stream.name, int(draw[0])
    if unread:
        kept.keep([_encoded(test) for test in tests.values()])
    return tests


def _new_test(equipment: Equipment) -> FairnessTest:
    layout = RULESETS[equipment.ruleset].layout if equipment.kind == "wheel" else None
    return FairnessTest("", equipment, WheelFairness(layout) if layout is not None else DiceFairness())


def _encoded(test: FairnessTest) -> list[Any]:
    return [list(test.equipment), saved(test.fairness), test.raised_in, test.raised_at]


def _decoded(kept: Sequence[Any]) -> FairnessTest:
    test = _new_test(Equipment(*kept[0]))
    restore(test.fairness, kept[1])
    test.raised_in, test.raised_at = kept[2:]
    return test


def _draws_of(figures: Figures, table_id: int | None, *, with_none: bool = False) -> Iterator[tuple[Equipment, Draw]]:
    """Yield the draws of a session, each with what it was drawn with; ``with_none``: once more what drew nothing."""
    ruleset = RULESETS.get(figures.ruleset)
    if ruleset is None or not figures.is_adjudicated:
        return
    assert table_id is not None
    kind = ruleset.equipment
    if kind is None:
        return
    changes = list(figures.equipment)
    of_table = Equipment(table_id, figures.ruleset, kind, "")
    current = of_table
    for draw in figures.draws:
        while changes and changes[0][0] < int(draw[0]):
            current = of_table.named(changes.pop(0)[1])
        yield current, draw
    if with_none and not figures.draws:
        yield of_table.named(changes[0][1] if changes else ""), []


def _feed(fairness: Fairness, draw: Draw) -> None:
    _seq, *shown = draw
    if isinstance(fairness, WheelFairness):
        fairness.spin(str(shown[0]))
    else:
        assert isinstance(fairness, DiceFairness)
        fairness.throw([int(face) for face in shown[:2]], [str(die) for die in shown[2:]])


def _month(casino: Casino, day: date, own: dict[int, int]) -> list[_Session]:
    """Return the sessions of a month through ``day`` that have figures, in order, each with the figures it is read by.

    ``own`` are the figures of the night, by stream id; the others are the last that were computed.
    """
    streams = LoggedStream.objects.filter(
        casino=casino, is_of_desk=False, gaming_day__range=(day.replace(day=1), day), table__isnull=False
    )
    is_of_engine = Case(When(engine_version=ENGINE_VERSION, then=1), default=0)
    last = SessionFigures.objects.filter(stream__in=streams).order_by("stream", is_of_engine.desc(), "-last_seq", "-pk")
    rows = {**dict(last.distinct("stream").values_list("stream_id", "pk")), **own}
    return [
        _Session(stream, rows[stream.stream_id])
        for stream in streams.order_by("gaming_day", "stream_id")
        if stream.stream_id in rows
    ]


def _with_figures(unread: Sequence[_Session], own: Mapping[int, Figures]) -> Iterator[tuple[_Session, Figures]]:
    """Yield sessions with their figures: the night's ``own``, by primary key, and others as they are stored."""
    for first in range(0, len(unread), AT_ONCE):
        part = unread[first : first + AT_ONCE]
        rows = SessionFigures.objects.in_bulk([each.row for each in part if each.row not in own])
        for each in part:
            yield each, own[each.row] if each.row in own else sessions.decode_figures(rows[each.row])
