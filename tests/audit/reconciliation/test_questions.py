"""What a report shows about chance; and that it raises no question of its own."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from audit.models import Casino, Finding, NightReport
from audit.reconciliation import month, runs
from tests.audit.reconciliation.played import DAY, MORNING, Events, record, session
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def stream(casino: Casino, code: str, following: list[tuple[str, dict[str, Any]]], **opened: Any) -> Events:
    data = {
        "casino": casino.code,
        "table": code,
        "gaming_day": DAY.isoformat(),
        "game": "french_roulette",
        "ruleset": "fr-roulette",
        "currency": "EUR",
        "float": 100_000,
        "observes": ["bank"],
    } | opened
    begun = datetime.fromisoformat(f"{data['gaming_day']}T20:00:00+01:00")
    events = [("session.opened", data), *following]
    name = f"{casino.code}.{code}.{data['gaming_day']}.1"
    return [
        {
            "stream": name,
            "seq": seq,
            "type": kind,
            "occurred_at": (begun + timedelta(seconds=seq)).isoformat(),
            "data": each,
        }
        for seq, (kind, each) in enumerate(events, start=1)
    ]


def found(casino: Casino, rule: str) -> list[Finding]:
    return list(Finding.objects.filter(casino=casino, rule=rule, status="standing"))


def reconcile(casino: Casino) -> NightReport:
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report


def test_a_fair_night_asks_nothing_about_dice_and_wheels(casino: Casino) -> None:
    for seed, (code, ruleset) in enumerate((("C1", "fr-craps"), ("R1", "fr-roulette"), ("A1", "fr-american-roulette"))):
        record(casino, session(casino, code, ruleset=ruleset, seed=seed, coups=80))
    reconcile(casino)
    for rule in ("dice-fairness", "wheel-fairness", "payout-errors-one-sided"):
        assert not found(casino, rule)


def payouts(number: int, extra: int) -> list[tuple[str, dict[str, Any]]]:
    """Return so many wins on red, each paid ``extra`` more than due."""
    following: list[tuple[str, dict[str, Any]]] = []
    for index in range(number):
        wager = f"{'o' if extra > 0 else 'u'}{index}"
        following += [
            ("wager.placed", {"wager": wager, "bet": "rouge", "stake": 1000}),
            ("ball.settled", {"pocket": "1"}),
            ("payout.made", {"wager": wager, "winnings": 1000 + extra, "stake_returned": 1000}),
        ]
    return following


def test_a_month_names_croupiers_under_its_control_of_false_names(casino: Casino) -> None:
    for day in range(1, 6):
        gaming_day = DAY.replace(day=day)
        for person, extra in (("Max", 50), ("Ida", 0), ("Ben", 0)):
            following = [*payouts(30, extra), ("session.closed", {"float": 100_000})]
            staff = [{"person": person, "role": "croupier"}]
            record(casino, stream(casino, person, following, gaming_day=gaming_day.isoformat(), staff=staff))
        runs.reconcile(casino, gaming_day, actor="test", now=MORNING)
    found_month = month.month_of(casino, DAY.replace(day=1), "EUR")
    named = {
        name: (each.tally.payouts, each.tally.errors, each.noteworthy) for name, each in found_month.croupiers.items()
    }
    assert named == {"Ben": (150, 0, False), "Ida": (150, 0, False), "Max": (150, 150, True)}
    assert found_month.croupiers["Ben"].rate.high < Fraction(3, 100), (
        "no error in 150: below 2.5 %, with confidence 95 %"
    )
