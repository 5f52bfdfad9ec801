"""The evidence of a process, session by session, on a scale of tenfolds, under the level at which it asks.

1,000 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄◆     the level of a year was given before its first session
  100           ╭─╮   ╭─╯
   10     ╭─────╯ ╰───╯
    1 ────╯
        ╵  ╵  ╵  ╵ ╵  ╵  ╵     each tick a session, the tall ones moved it most

Sessions stand in the order in which they were fed, for evidence cannot be put into another one. The days below run from
old to new: a session that came after a later day has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import circle, drawing, line, n, rect, text

WIDTH, HEIGHT = 800, 290
LEFT, RIGHT, TOP, BOTTOM = 58, 785, 26, 232
"""The plot."""

SESSIONS_Y, NAMES_Y = 250, 278
TENFOLDS = 6
"""Lines of the scale, at most."""

APART = 62
"""The least distance between the names of two days."""

SMALL_WIDTH, SMALL_HEIGHT, MARGIN = 240, 64, 8


@dataclass(frozen=True, slots=True)
class Session:
    """One session: the decimal logarithm of the evidence after it, and its day in words.

    ``step`` says by what it moved the evidence, and is "" unless it is one of those that moved it most. ``is_late``:
    a session of a later day was fed before it.
    """

    log: float
    day: str
    step: str = ""
    is_raised: bool = False
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A level: the number of the first session that it is for, its decimal logarithm, and its words."""

    first: int
    log: float
    words: str


def draw_evidence(
    sessions: Sequence[Session], levels: Sequence[Level], *, title: str, description: str, tick: Callable[[int], str]
) -> str:
    """Draw sessions in the order in which they were fed. Evidence begins at 1; ``tick`` writes a power of ten."""
    logs = [0.0, *(each.log for each in sessions)]
    low, high = min(*logs, -0.5), max(*logs, *(each.log for each in levels), 1.0) + 0.25
    step = (RIGHT - LEFT) / max(1, len(sessions))

    def y(log: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (log - low) / (high - low)

    def x(number: float) -> float:
        return LEFT + step * number

    every = max(1, -(-int(high - low) // TENFOLDS))
    parts = []
    for power in range(-int(-low), int(high) + 1):
        if power % every == 0:
            parts += [line("gr", LEFT, y(power), RIGHT, y(power))]
            parts += [text(LEFT - 8, y(power) + 4, tick(power), anchor="end")]
    ends = [*(each.first for each in levels[1:]), len(sessions)]
    for level, end in zip(levels, ends, strict=True):
        begin = x(level.first)
        parts.append(rect("beyond", begin, TOP, x(end) - begin, max(0.0, y(level.log) - TOP)))
        parts += [line("level", begin, y(level.log), x(end), y(level.log))]
        parts += [text(begin + 5, y(level.log) - 6, level.words, anchor="start")]
    path = _stairs([(x(number), y(log)) for number, log in enumerate(logs)])
    parts.append(f'<path class="area" d="{path}L{n(x(len(sessions)))} {n(y(0))}L{LEFT} {n(y(0))}z"/>')
    parts.append(line("ax", LEFT, y(0), RIGHT, y(0)))
    parts.append(f'<path class="line" d="{path}"/>')
    parts += _marks(sessions, x, y)
    return drawing("evidence", WIDTH, HEIGHT, title, description, *parts)


def _stairs(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a value that stays until the next one is known."""
    (x, y), *others = points
    path = [f"M{n(x)} {n(y)}"]
    for next_x, next_y in others:
        path.append(f"H{n(next_x)}V{n(next_y)}")
    return "".join(path)


def _marks(sessions: Sequence[Session], x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    """Return a tick for each session, the names of their days where there is room, and what moved it most."""
    parts: list[str] = []
    before, written, named = 0.0, -float(APART), ""
    for number, each in enumerate(sessions, 1):
        at = x(number)
        parts.append(line("tall" if each.step else "tick", at, SESSIONS_Y - (10 if each.step else 4), at, SESSIONS_Y))
        if not each.is_late and each.day != named and at - written >= APART and at <= RIGHT:
            parts.append(text(at, NAMES_Y, each.day, anchor="end" if at > RIGHT - 20 else "middle"))
            written, named = at, each.day
        if each.is_raised:
            diamond = f"M{n(at)} {n(y(each.log) - 7)}l7 7l-7 7l-7 -7z"
            parts.append(f'<path class="raised" d="{diamond}"><title>{escape(each.day)}</title></path>')
        elif each.step:
            parts.append(circle("moved", at, y(each.log), 3.5))
        if each.step:
            is_above = each.log >= before
            parts.append(text(at - 8, y(each.log) + (-8 if is_above else 16), each.step, "l", anchor="end"))
        before = each.log
    return parts


def draw_evidence_line(logs: Sequence[float], level: float, *, is_raised: bool, title: str, description: str) -> str:
    """Draw the evidence of a process as a small multiple: a line that begins at 1, under its level."""
    points = [0.0, *logs]
    low, high = min(*points, level, -0.3), max(*points, level, 0.3)
    kind = "raised" if is_raised else "near"

    def y(log: float) -> float:
        return SMALL_HEIGHT - MARGIN - (SMALL_HEIGHT - 2 * MARGIN) * (log - low) / (high - low)

    step = (SMALL_WIDTH - 2 * MARGIN) / max(1, len(points) - 1)
    path = "L".join(f"{n(MARGIN + number * step)} {n(y(log))}" for number, log in enumerate(points))
    end = MARGIN + (len(points) - 1) * step
    return drawing(
        f"evidence-line {kind}",
        SMALL_WIDTH,
        SMALL_HEIGHT,
        title,
        description,
        line("ax", MARGIN, y(0), SMALL_WIDTH - MARGIN, y(0)),
        line("level", MARGIN, y(level), SMALL_WIDTH - MARGIN, y(level)),
        f'<path class="area" d="M{path}L{n(end)} {n(y(0))}L{MARGIN} {n(y(0))}z"/>',
        f'<path class="line" d="M{path}"/>',
        circle("moved", end, y(points[-1]), 3.5),
    )
