"""The replay of a table on a page: the felt at each event of a range, the timeline, and the stakes at each step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.functional import Promise
from django.utils.safestring import mark_safe
from django.utils.translation import get_language, gettext

from audit.desk.tables.corrections import Correction
from audit.desk.tables.coups import folds_of
from audit.desk.tables.course import Course
from audit.desk.tables.event_sentences import sentence
from audit.desk.tables.timeline import timeline
from audit.felt import drawing
from audit.felt.frames import Frame, Playback, Stake, player_label, player_of, players_in
from audit.models import Finding, LoggedStream
from audit.persons.directory import Directory, PersonId, mentioned_in, players
from audit.presentation import MISSING, clock, finding_title, language, money, wager_status, zone
from settlement.catalogue import bet_word

NO_LINES: Mapping[int, Any] = {}


@dataclass(frozen=True, slots=True)
class Mark:
    """An event that a page is about: ``kind`` is ``deciding`` or ``completing``, ``words`` say it."""

    kind: str
    words: str | Promise


NO_MARKS: Mapping[int, Mark] = {}

PAYMENTS = frozenset({"payout.made", "payment.announced", "stakes.collected", "zero.decided"})


def persons_in(playback: Playback) -> Iterator[PersonId]:
    """Yield the persons whom the events and the stakes of a playback name."""
    yield from mentioned_in(frame.event for frame in playback.frames)
    yield from mentioned_in(frame.reads for frame in playback.frames if frame.reads and frame.reads is not frame.event)
    wagers = {stake.wager.id: stake.wager for frame in playback.frames for stake in frame.stakes.values()}
    yield from players(wager.player for wager in wagers.values())


def replay_context(
    stream: LoggedStream,
    playback: Playback,
    focus: int,
    directory: Directory,
    *,
    course: Course,
    disputed: Collection[str] = (),
    side: str = "",
    lines: Mapping[int, Any] = NO_LINES,
    marks: Mapping[int, Mark] = NO_MARKS,
    found: Iterable[Finding] | None = None,
) -> dict[str, Any]:
    """Return what the replay template shows of a playback that has frames, opened at event ``focus``.

    ``course`` is that of the session, by whose coups the timeline is folded. ``disputed`` are ids of wagers whose chips
    are ringed, ``side`` who loses by them, as ``Stake.side``; ``lines`` what a page says of events beyond their
    sentence, ``marks`` the events that the page is about, both by seq; ``found`` the standing findings of the range at
    least, None to look them up.
    """
    focus_index = playback.index_of(focus)
    findings = _titles(_named_findings(stream, playback) if found is None else {(at.seq, at.rule) for at in found})
    chips = drawing.chips_of(playback)
    steps = [
        _step(stream, frame, findings, playback.currency, directory, lines.get(frame.event.seq))
        for frame in playback.frames
    ]
    shown: dict[int, list[str]] = {}  # by the id of a stake, which is one object for as long as it does not change
    for index, step in enumerate(steps):
        step["chips"] = drawing.states_at(playback, chips, index)
        mark = marks.get(step["seq"])
        step["mark"], step["mark_kind"] = (str(mark.words), mark.kind) if mark else ("", "")
        stakes = step["stakes"] = {}
        for stake in drawing.stakes_at(playback, index):
            if id(stake) not in shown:
                shown[id(stake)] = [stake.state, *_amounts(stake, playback.currency)]
            stakes[stake.wager.id] = shown[id(stake)]
    svg = drawing.draw(playback, focus_index, language=language(), disputed=disputed, directory=directory, chips=chips)
    return {
        "svg": mark_safe(svg),
        "focus": focus_index,
        "side": side,
        "steps": steps,
        "timeline": timeline(
            [
                _item(stream, step, frame, lines.get(step["seq"]), playback.currency, directory)
                for step, frame in zip(steps, playback.frames, strict=True)
            ],
            focus_index,
            folds_of(playback, course),
        ),
        "last": len(steps) - 1,
        "current": steps[focus_index],
        "anomalies": sum(bool(step["findings"]) for step in steps),
        "data": {"steps": steps, "stakes": _stakes(playback, disputed, directory)},
    }


def _step(
    stream: LoggedStream,
    frame: Frame,
    findings: dict[int, list[str]],
    currency: str,
    directory: Directory,
    line: Any,
) -> dict[str, Any]:
    """Return what the page shows at an event, which reads there as its corrections leave it: as the felt is drawn."""
    event, reads = frame.event, frame.reads or frame.event
    text = line.text if line and reads is event else sentence(reads, language(), currency, stream.ruleset, directory)
    return {
        "seq": event.seq,
        "time": clock(event.occurred_at, stream.casino),
        "zone": zone(event.occurred_at, stream.casino),
        "at_ms": int(event.occurred_at.timestamp() * 1000),
        "text": text if frame.reads is not None else gettext("%(text)s (annulled)") % {"text": text},
        "type": event.type,
        "findings": findings.get(event.seq, []),
        "point": frame.point,
        "result": frame.result,
        "is_tick": event.is_result or event.type == "no_more_bets",
    }


def _item(
    stream: LoggedStream, step: Mapping[str, Any], frame: Frame, line: Any, currency: str, directory: Directory
) -> dict[str, Any]:
    """Return an event as the timeline has it: as it was sent, and as it reads."""
    original, correction = step["text"], None
    if line is not None:
        original, correction = line.text, line.correction
    elif frame.reads is not frame.event:
        original = sentence(frame.event, language(), currency, stream.ruleset, directory)
        correction = Correction(step["text"] if frame.reads is not None else None, [], frame.reads is None)
    return {
        **step,
        "text": original,
        "correction": correction,
        "is_payment": step["type"] in PAYMENTS,
        "line": line,
    }


def _named_findings(stream: LoggedStream, playback: Playback) -> Iterable[tuple[int, str]]:
    """Return the seq and the rule of the standing findings in the range, each once."""
    first, last = playback.frames[0].event.seq, playback.frames[-1].event.seq
    rows = Finding.objects.standing().filter(stream_id=stream.pk, seq__range=(first, last))
    return rows.order_by("seq", "rule").values_list("seq", "rule").distinct()


def _titles(found: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """Return the titles of findings by the seq of their event."""
    titles: dict[int, list[str]] = {}
    for seq, rule in sorted(found):
        titles.setdefault(seq, []).append(finding_title(rule))
    return titles


def _stakes(playback: Playback, disputed: Collection[str], directory: Directory) -> dict[str, dict[str, Any]]:
    """Return what stays the same of each stake in the range, by wager: player, colour, bet, whether it is disputed."""
    colours = players_in(playback.frames)
    stakes: dict[str, dict[str, Any]] = {}
    for frame in reversed(playback.frames):
        for stake in frame.stakes.values():
            wager = stake.wager
            if wager.id in stakes:
                continue
            on = "-".join(wager.pockets) or ", ".join(map(str, wager.which)) or (str(stake.number or ""))
            stakes[wager.id] = {
                "player": player_label(wager, directory) or gettext("unknown player"),
                "colour": colours[player_of(wager)],
                "bet": " ".join(filter(None, (bet_word(playback.ruleset, wager.bet), on))),
                "disputed": wager.id in disputed,
            }
    return stakes


def _amounts(stake: Stake, currency: str) -> tuple[str, ...]:
    """Return what stands, what is due and what was paid of it, "" where nothing is, and the wager's status in words."""
    wager = stake.wager
    due, paid = wager.winnings_due, wager.winnings_paid
    # Where the winnings are wrong and the stake is right, the stake is in neither sum: it would look wrong as well.
    if due == paid or wager.stake_due != wager.stake_paid:
        due, paid = due + wager.stake_due, paid + wager.stake_paid
    return _written(wager.standing, due, paid, wager.status, currency, get_language())


@lru_cache(maxsize=4096)  # most stakes are at one event as they were at the event before
def _written(standing: int, due: int, paid: int, status: str, currency: str, active: str | None) -> tuple[str, ...]:
    """Return the amounts and the status in the language that is ``active``."""
    return (
        money(standing, currency),
        money(due, currency) if due else MISSING,
        money(paid, currency) if paid or due else MISSING,
        wager_status(status, currency),
    )
