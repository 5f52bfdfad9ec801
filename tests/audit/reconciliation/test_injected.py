"""Hundreds of nights, each with one thing wrong: the bridge closes, and the wrong is on its line, amount and sign."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from audit.simulation import RULESET_NAMES, play
from settlement import decode
from settlement.corrections import changes_in
from settlement.night.bridge import Bridge
from settlement.night.figures import Figures, SessionProjection
from tests.audit.reconciliation.played import DAY, Events, buy_ins
from tests.long_forms import in_short

NIGHTS = 60 * len(RULESET_NAMES)
"""Sixty of each ruleset; each injected error comes up some six times. In the short form, nine nights,
each comes up once."""

Injected = tuple[Events, int, int, int] | None
"""Events with an error, by how much it changes the drop, the payout errors and the accounting variance; None where
the night had no occasion for it."""


def figures_of(events: Events) -> Figures:
    decoded = [decode(json.dumps(event)) for event in events]
    projection = SessionProjection(changes_in(decoded))
    for first in range(0, len(decoded), 500):
        projection.feed(decoded[first : first + 500])
    return projection.figures()


def bridge_of(figures: Figures, drop: int) -> Bridge:
    return replace(figures.bridge, bank=replace(figures.bridge.bank, drop=drop))


def changed(events: Events, seq: int, **data: Any) -> Events:
    return [{**event, "data": {**event["data"], **data}} if event["seq"] == seq else event for event in events]


def one(events: Events, kind: str, chance: random.Random, good: Callable[[Any], bool] = bool) -> Any:
    fit = [event for event in events if event["type"] == kind and good(event["data"])]
    return chance.choice(fit) if fit else None


# What can be wrong. The rack holds what it held: only the record, or the count, says otherwise.


def miscounted_rack(events: Events, amount: int, chance: random.Random) -> Injected:
    closed = one(events, "session.closed", chance)
    return changed(events, closed["seq"], float=closed["data"]["float"] + amount), 0, 0, amount


def miscounted_drop(events: Events, amount: int, chance: random.Random) -> Injected:
    return events, amount, 0, amount


def opener_misstated(events: Events, amount: int, chance: random.Random) -> Injected:
    return changed(events, 1, float=events[0]["data"]["float"] + amount), 0, 0, -amount


def fill_misstated(events: Events, amount: int, chance: random.Random) -> Injected:
    fill = one(events, "bank.filled", chance)
    if fill is None:
        return None
    return changed(events, fill["seq"], amount=fill["data"]["amount"] + amount), 0, 0, -amount


def credit_misstated(events: Events, amount: int, chance: random.Random) -> Injected:
    credit = one(events, "bank.credited", chance)
    if credit is None:
        return None
    return changed(events, credit["seq"], amount=credit["data"]["amount"] + amount), 0, 0, amount


def fill_unrecorded(events: Events, amount: int, chance: random.Random) -> Injected:
    fill = one(events, "bank.filled", chance)
    if fill is None:
        return None
    return changed(events, fill["seq"], amount=0), 0, 0, fill["data"]["amount"]


def paid_and_recorded_wrong(events: Events, amount: int, chance: random.Random) -> Injected:
    """The croupier pays so much more, says so, and the chips are gone."""
    paid = one(events, "payout.made", chance, lambda data: data["winnings"] > 0)
    if paid is None:
        return None
    closed = one(events, "session.closed", chance)
    events = changed(events, paid["seq"], winnings=paid["data"]["winnings"] + amount)
    return changed(events, closed["seq"], float=closed["data"]["float"] - amount), 0, -amount, 0


def recorded_wrong_only(events: Events, amount: int, chance: random.Random) -> Injected:
    """The record says so much more; the chips are there."""
    paid = one(events, "payout.made", chance, lambda data: data["winnings"] > 0)
    if paid is None:
        return None
    return changed(events, paid["seq"], winnings=paid["data"]["winnings"] + amount), 0, -amount, amount


def stake_kept(events: Events, amount: int, chance: random.Random) -> Injected:
    """The croupier hands no stake back, and none of it plays on."""
    left_up = {event["data"].get("left_up_from") for event in events if event["type"] == "wager.placed"}
    paid = one(events, "payout.made", chance, lambda data: data["stake_returned"] > 0 and data["wager"] not in left_up)
    if paid is None:
        return None
    stake = paid["data"]["stake_returned"]
    closed = one(events, "session.closed", chance)
    events = changed(events, paid["seq"], stake_returned=0)
    return changed(events, closed["seq"], float=closed["data"]["float"] + stake), 0, stake, 0


KINDS = (
    miscounted_rack,
    miscounted_drop,
    opener_misstated,
    fill_misstated,
    credit_misstated,
    fill_unrecorded,
    paid_and_recorded_wrong,
    recorded_wrong_only,
    stake_kept,
)


def closes(bridge: Bridge) -> None:
    """Assert the identity exactly, and as it is printed, to the minor unit."""
    win = bridge.bank.accounting_win
    assert bridge.theoretical + bridge.luck + bridge.payout_errors + (bridge.accounting_variance or 0) == win
    *lines, (name, total) = bridge.printed()
    assert name == "accounting_win"
    assert sum(amount for _name, amount in lines) == total == win


@pytest.mark.parametrize("nights", [NIGHTS * 3 // 20, pytest.param(NIGHTS, marks=pytest.mark.faults)])
@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_every_error_lands_on_its_line_in_its_amount_with_its_sign(ruleset: str, nights: int) -> None:
    chance = random.Random(f"injected/{ruleset}")
    met: Counter[str] = Counter()
    total = None
    for seed in range(nights // len(RULESET_NAMES)):
        events = play(ruleset, casino="demo", code="T1", gaming_day=DAY, seed=seed, coups=82).events
        clean = bridge_of(figures_of(events), buy_ins(events))
        closes(clean)
        assert (clean.payout_errors, clean.accounting_variance) == (0, 0)
        total = clean if total is None else total + clean
        amount = chance.choice([-1, 1]) * chance.randint(1, 90)
        kind = KINDS[seed % len(KINDS)]
        injected = kind(events, amount, chance)
        if injected is None:
            continue
        met[kind.__name__] += 1
        wrong, drop, errors, variance = injected
        figures = figures_of(wrong)
        bridge = bridge_of(figures, buy_ins(wrong) + drop)
        closes(bridge)
        assert bridge.theoretical == clean.theoretical, kind.__name__
        assert bridge.luck == clean.luck, kind.__name__
        assert (bridge.payout_errors, bridge.accounting_variance) == (errors, variance), kind.__name__
        assert sum(error.amount for error in figures.errors) == errors
        total = total + bridge
    assert total is not None
    closes(total)
    assert isinstance(total.theoretical, Fraction)
    assert set(met) == {kind.__name__ for kind in KINDS}, "each error found an occasion"
