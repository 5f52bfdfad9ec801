"""Coup by coup: what was staked on each, what was paid, and with whom the money stayed; and which events are of which.

Read off the frames that the page replays: a coup whose beginning or end is outside of them is left out of the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from audit.desk.tables.course import Coup, Course
from audit.felt.frames import Frame, Playback, Stake
from audit.models import Finding
from settlement import RULESETS, Event
from settlement.events import ExtensionEvent

IN_PLAY = ("on", "jail")
"""The states of a stake that a result may decide."""

AFTER_A_RESULT = frozenset(
    {
        # what settles a coup
        *("result.announced", "point.marked", "zero.decided", "stakes.collected", "payment.announced", "payout.made"),
        *("payout.recovered", "tip.given", "goodwill.paid", "dispute.opened", "dispute.settled", "orphan.recorded"),
        # what happens between two coups
        *("staff.assigned", "staff.relieved", "player.seated", "player.left", "bank.filled", "bank.credited"),
        *("buy_in.recorded", "colour.assigned", "chips.handled", "stacks.rebuilt", "shooter.removed"),
        *("entry.corrected", "entry.annulled", "events.lost", "session.closed"),
    }
)
"""The types of events that leave a coup as it is once it has its result; any other begins the next one."""


@dataclass(frozen=True, slots=True)
class Fold:
    """The events of one coup: its stakes, its result and what was paid, the frames from ``first`` up to ``end``.

    ``result`` is "" where it has not come; ``kind`` is that of ``CoupLine``.
    """

    number: int
    first: int
    end: int
    result: str
    kind: str


@dataclass(frozen=True, slots=True)
class CoupLine:
    """One coup. Amounts are in minor units, and None where the session does not report what they are made of.

    ``staked`` are the stakes in play when the result came, ``stakes`` their number; ``paid`` is what those that it
    decided were paid, winnings and stakes; ``stayed`` what the bank has kept of them, below zero if it paid more.
    ``imprisoned`` are the stakes that wait for the next coup. ``kind`` is that of the pocket: r, n or z; "" for dice.
    """

    coup: Coup
    result: str
    kind: str
    stakes: int | None
    staked: int | None
    paid: int | None
    stayed: int | None
    imprisoned: int
    findings: list[Finding] = field(default_factory=list)
    certain: list[Finding] = field(default_factory=list)
    """Findings about an earlier coup, which an event of this one made certain."""


def coup_lines(playback: Playback, course: Course, findings: Collection[Finding], *, is_whole: bool) -> list[CoupLine]:
    """Return the coups of a playback, the newest first. ``is_whole``: it goes on to the last event of the session."""
    results = [index for index, frame in enumerate(playback.frames) if frame.event.seq in course.by_seq]
    ends = [*results[1:], len(playback.frames) if is_whole else None]
    lines = [
        _line(playback, course.by_seq[playback.frames[index].event.seq], index, end)
        for index, end in zip(results, ends, strict=bool(results))
        if index and end is not None
    ]
    _add_findings(lines, playback, folds_of(playback, course), findings)
    return lines[::-1]


def folds_of(playback: Playback, course: Course) -> list[Fold]:
    """Return the frames of a playback by coup, in order and none left out; nothing where no coup has a result."""
    frames = playback.frames
    if not course.coups or not frames:
        return []
    # A range may begin among the payments of a coup, whose result is before it.
    is_decided = _is_after_a_result(frames[0].event) and course.coup_at(frames[0].event.seq) is not None
    decided_at = {0: 0} if is_decided else {}  # the frame with the result of a coup, by the frame that begins it
    starts = [0]
    for index, frame in enumerate(frames):
        if is_decided and not _is_after_a_result(frame.event):
            starts.append(index)
            is_decided = False
        if frame.event.seq in course.by_seq:
            decided_at[starts[-1]] = index
            is_decided = True
    return [
        _fold(playback, course, first, end, decided_at.get(first)) for first, end in pairwise([*starts, len(frames)])
    ]


def _is_after_a_result(event: Event) -> bool:
    return event.type in AFTER_A_RESULT or isinstance(event, ExtensionEvent)


def _fold(playback: Playback, course: Course, first: int, end: int, decided_at: int | None) -> Fold:
    before = course.coup_at(playback.frames[end - 1 if decided_at is None else decided_at].event.seq)
    number = before.number if before is not None else 0
    if decided_at is None:
        return Fold(number + 1, first, end, "", "")
    result = playback.frames[decided_at].result or ""
    return Fold(number, first, end, result, _kind(playback.ruleset, result))


def _line(playback: Playback, coup: Coup, index: int, end: int) -> CoupLine:
    before, after = playback.frames[index - 1], playback.frames[index]
    decided = _decided(playback.frames[index:end], coup.seq)
    standing = [stake.wager.standing for stake in before.stakes.values() if stake.state in IN_PLAY]
    sees = playback.session.observes if playback.session is not None else frozenset()
    paid = sum(stake.wager.winnings_paid + stake.wager.stake_paid for stake in decided)
    has_stakes, has_payouts = "wagers" in sees, {"wagers", "payouts"} <= sees
    result = after.result or ""
    return CoupLine(
        coup=coup,
        result=result,
        kind=_kind(playback.ruleset, result),
        stakes=len(standing) if has_stakes else None,
        staked=sum(standing) if has_stakes else None,
        paid=paid if has_payouts else None,
        stayed=sum(stake.wager.standing for stake in decided) - paid if has_payouts else None,
        imprisoned=sum(stake.state == "jail" for stake in playback.frames[end - 1].stakes.values()),
    )


def _decided(frames: Collection[Frame], seq: int) -> Collection[Stake]:
    """Return the stakes that result ``seq`` decided, each as it was last."""
    found: dict[str, Stake] = {}
    for frame in frames:
        found.update({name: stake for name, stake in frame.stakes.items() if stake.wager.decided_by == seq})
    return found.values()


def _kind(ruleset: str | None, result: str) -> str:
    known = RULESETS.get(ruleset or "")
    return known.layout.colour_of(result) if known is not None and known.layout is not None else ""


def _add_findings(
    lines: Collection[CoupLine], playback: Playback, folds: Collection[Fold], findings: Collection[Finding]
) -> None:
    """Give each finding to the coup that decided its wager, else to the one in which it was found.

    Where that is a later one, it became certain there: most payouts are missing only once the next coup has its result.
    """
    decided_by = dict(_deciding(playback))
    by_seq = {line.coup.seq: line for line in lines}
    by_number = {line.coup.number: line for line in lines}
    for finding in findings:
        index = playback.index_of(finding.seq)
        found_in = by_number.get(next((each.number for each in folds if each.first <= index < each.end), 0))
        about = by_seq.get(decided_by.get(finding.wager, 0), found_in)
        if about is not None:
            about.findings.append(finding)
        if about is not None and found_in is not None and found_in.coup.number > about.coup.number:
            found_in.certain.append(finding)


def _deciding(playback: Playback) -> Iterator[tuple[str, int]]:
    for frame in playback.frames:
        yield from ((name, stake.wager.decided_by) for name, stake in frame.stakes.items() if stake.wager.decided_by)
