"""The replay on a page: the felt at each event of a stretch, its timeline, and the stakes at each step."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.safestring import mark_safe

from audit.desk.tables.event_sentences import Language, sentence
from audit.felt import drawing
from audit.felt.moments import Moment, Replay, Stake, player_of, players_in, replay_of
from audit.models import Finding, LoggedStream
from settlement.catalogue import BET_WORDS, RULES
from settlement.catalogue.sentences import amount, written

PAYMENTS = frozenset({"payout.made", "payment.announced", "stakes.collected", "zero.decided"})


def replay_context(
    stream: LoggedStream, first_seq: int, last_seq: int, focus: int, language: Language, *, wagers: Collection[str] = ()
) -> dict[str, Any] | None:
    """Return what the template of a replay shows of a stretch, opened at event ``focus``; None where there is nothing.

    ``wagers`` are in dispute: their chips are ringed.
    """
    replay = replay_of(stream.pk, first_seq, last_seq)
    if not replay.moments:
        return None
    place = replay.place_of(focus)
    found = _found(stream, replay, language)
    chips = drawing.chips_of(replay)
    steps = [_step(stream, moment, found, language, replay.currency) for moment in replay.moments]
    for number, step in enumerate(steps):
        step["chips"] = drawing.states_at(replay, chips, number)
        step["stakes"] = {
            stake.wager.id: [stake.state, *_amounts(stake, replay.currency, language)]
            for stake in drawing.stakes_at(replay, number)
        }
    svg = drawing.draw(replay, place, language=language, disputed=wagers)
    return {
        "svg": mark_safe(svg),
        "focus": place,
        "steps": steps,
        "lines": [{**step, "is_payment": step["kind"] in PAYMENTS} for step in steps],
        "last": len(steps) - 1,
        "now": steps[place],
        "anomalies": sum(bool(step["found"]) for step in steps),
        "data": {"steps": steps, "stakes": _stakes(replay, wagers)},
    }


def _step(
    stream: LoggedStream, moment: Moment, found: dict[int, list[str]], language: Language, currency: str
) -> dict[str, Any]:
    event = moment.event
    at = event.occurred_at.astimezone(ZoneInfo(stream.casino.time_zone))
    return {
        "seq": event.seq,
        "time": f"{at:%H:%M:%S}",
        "at_ms": int(event.occurred_at.timestamp() * 1000),
        "words": sentence(event, language, currency),
        "kind": event.type,
        "found": found.get(event.seq, []),
        "point": moment.point,
        "pocket": moment.pocket,
        "faces": moment.faces,
    }


def _found(stream: LoggedStream, replay: Replay, language: Language) -> dict[int, list[str]]:
    """Return the titles of the findings that stand at the events of a stretch."""
    first, last = replay.moments[0].event.seq, replay.moments[-1].event.seq
    rows = Finding.objects.filter(stream_id=stream.pk, seq__range=(first, last), superseded_at=None)
    found: dict[int, list[str]] = {}
    for seq, rule in rows.order_by("seq", "rule").values_list("seq", "rule").distinct():
        found.setdefault(seq, []).append(RULES[rule].title.in_language(language))
    return found


def _stakes(replay: Replay, disputed: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return of each stake of a stretch what does not change: whose it is, on what, and whether it is in dispute."""
    colours = players_in(replay.moments)
    stakes: dict[str, dict[str, Any]] = {}
    for moment in replay.moments:
        for stake in moment.stakes.values():
            wager = stake.wager
            on = "-".join(wager.pockets) or ", ".join(map(str, wager.which)) or (str(stake.number or ""))
            stakes[wager.id] = {
                "who": player_of(wager) or "—",
                "colour": colours[player_of(wager)],
                "bet": " ".join(filter(None, (BET_WORDS.get(wager.bet, wager.bet), on))),
                "disputed": wager.id in disputed,
            }
    return stakes


def _amounts(stake: Stake, currency: str, language: Language) -> list[str]:
    """Return what stands, what is due and what was paid, "—" where that is nothing, and the status in words."""
    wager = stake.wager
    due = wager.winnings_due + wager.stake_due
    paid = wager.winnings_paid + wager.stake_paid
    return [
        amount(wager.standing, currency, language),
        amount(due, currency, language) if due else "—",
        amount(paid, currency, language) if paid else "—",
        written(wager.status, "status", language, currency) or wager.status,
    ]
