"""What a report shows about chance; and that it raises no question of its own."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from audit.models import Casino, Finding, NightReport
from audit.reconciliation import month, runs
from audit.reconciliation.findings import decimal, percent
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


def test_a_report_shows_the_throw_at_which_a_loaded_die_told(casino: Casino) -> None:
    chance = random.Random(3)
    throws = [
        ("dice.thrown", {"faces": [chance.choice([6, 6, 6, 5, 4, 3, 2, 1]), chance.randint(1, 6)], "dice": ["a", "b"]})
        for _ in range(400)
    ]
    craps = {"game": "craps", "ruleset": "fr-craps"}
    record(casino, stream(casino, "C1", [*throws, ("session.closed", {"float": 100_000})], **craps))
    report = reconcile(casino)
    assert not found(casino, "dice-fairness"), "a night asks nothing: the ledger does"
    rows = [row for row in report.parsed_content()["lines"][10]["rows"] if row["note"] == "dice"]
    ((verdict, (seq,)),) = [(row["verdict"], row["seqs"]) for row in rows]
    assert verdict == "question"
    assert 1 < seq < 402


def test_a_wheel_is_followed_from_night_to_night_through_the_month(casino: Casino) -> None:
    chance = random.Random(5)
    pockets = [str(number) for number in range(37)]
    weights = [3 if pocket == "17" else 1 for pocket in pockets]
    for back in range(6, -1, -1):
        day = DAY - timedelta(days=back)
        spins = [("ball.settled", {"pocket": pocket}) for pocket in chance.choices(pockets, weights, k=150)]
        record(
            casino,
            stream(casino, "R1", [*spins, ("session.closed", {"float": 100_000})], gaming_day=day.isoformat()),
        )
        (report,) = runs.reconcile(casino, day, actor="test", now=MORNING)
        (row,) = [row for row in report.parsed_content()["lines"][10]["rows"] if row["note"] == "wheel"]
        assert row["found"] == 150 * (7 - back), "the test goes on where the night before left it"
        if back in (6, 0):
            assert row["verdict"] == ("agrees" if back else "question"), "one night shows nothing yet, seven do"


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


def test_shares_are_written_as_they_are() -> None:
    assert decimal(Fraction(1, 3), 6) == "0.333334", "a p-value is never flattered"
    assert decimal(Fraction(1), 6) == "1.000000"
    assert percent(Fraction(-1, 3)) == "−33.33 %"
