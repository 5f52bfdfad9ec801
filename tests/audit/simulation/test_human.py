"""Human nights: honest people give an officer nothing to do, and hide nothing that is wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from itertools import pairwise

import pytest
from msgspec.structs import replace

from audit.simulation import IRREGULARITIES, RULESET_NAMES, Night, play
from audit.simulation.deeds import BELATED, DEEDS
from settlement import Finding, adjudicate, decode
from settlement.corrections import changes_in
from settlement.night.figures import SessionProjection
from tests.long_forms import in_short

DAY = date(2026, 11, 19)

AT_ZERO = {
    "half paid unsaid",
    "other choice",
    "decided late",
    "half said at the last coup",
    "released and lifted",
    "released and orphaned",
    "released and left lying",
}
IN_CUSTODY = {
    "shooter leaves",
    "shooter gives up",
    "everybody declines",
    "offered by name",
    "odd stake",
    "rounded up",
    "place bet moved",
    "die broken",
    "move misread",
}
AT_CRAPS = {
    "seat not seen",
    "thrower not seen",
    "taken back and handed over",
    "taken back near the call",
    "taken back, numbered after the call",
    "marker misread",
    "counted and void",
}
IN_QUEBEC = {"switched near the call", "switched off"}
AT_ROULETTE = {"spin void", "staked after a void spin", "lifted before the call", "result read twice"}
IN_ORDER = {"announced again"}
WHERE_STAFF_IS_KNOWN = {"croupiers change", "chiefs change"}
AT_FRENCH_ROULETTE = AT_ZERO | {"bets announced together"}
ELSEWHERE = {
    "fr-craps": AT_FRENCH_ROULETTE | AT_ROULETTE | IN_ORDER | IN_QUEBEC,
    "qc-craps": AT_FRENCH_ROULETTE | AT_ROULETTE | IN_ORDER | IN_CUSTODY | WHERE_STAFF_IS_KNOWN,
    "fr-roulette": IN_CUSTODY | AT_CRAPS | IN_QUEBEC | IN_ORDER | WHERE_STAFF_IS_KNOWN,
    "fr-boule": AT_FRENCH_ROULETTE | IN_CUSTODY | AT_CRAPS | IN_QUEBEC | IN_ORDER | WHERE_STAFF_IS_KNOWN,
    "fr-american-roulette": AT_FRENCH_ROULETTE
    | IN_CUSTODY
    | AT_CRAPS
    | IN_QUEBEC
    | {"loser paid and recovered", "player not seen", "swept late", "leaves with stakes", "changes seat"},
}
"""By ruleset, the deeds that have no occasion there."""


def played(ruleset: str, seed: int, *irregularities: str, coups: int = 60, belated: bool = False) -> Night:
    return play(
        ruleset,
        casino="demo",
        code="T1",
        gaming_day=DAY,
        seed=seed,
        coups=coups,
        irregularities=irregularities,
        human=True,
        belated=belated,
    )


HONEST = range(5)
"""The seeds of the nights that several tests look at, each at another side of them."""


@pytest.fixture(scope="module")
def honest() -> Callable[[str, int], Night]:
    """Return a night of honest people, played once for all the tests of this module."""
    return cache(lambda ruleset, seed: played(ruleset, seed, coups=100))


def findings(session: Night) -> list[Finding]:
    return adjudicate(json.dumps(event) for event in session.events).findings


def graver(found: Iterable[Finding]) -> list[tuple[str, int, str | None]]:
    return [(each.rule, each.seq, each.wager) for each in found if each.severity != "info"]


@pytest.mark.parametrize("seed", in_short(HONEST, every=3))
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_what_honest_people_do_is_for_information_at_most(
    honest: Callable[[str, int], Night], ruleset: str, seed: int
) -> None:
    found = findings(honest(ruleset, seed))
    assert graver(found) == []
    assert found, "and some of it is worth knowing"


STANDS_ALTHOUGH_PUT_RIGHT = {"payout-missing", "payout-overpaid", "payout-underpaid"}


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=2))
def test_what_is_put_right_after_its_coup_stands_and_says_so(ruleset: str) -> None:
    done, rules = Counter[str](), Counter[str]()
    for seed in range(3):
        session = played(ruleset, seed, coups=100, belated=True)
        done.update(deed for deed, times in session.deeds.items() if deed in BELATED for _ in range(times))
        for found in findings(session):
            if found.severity == "info":
                continue
            rules[found.rule] += 1
            if found.rule in ("entry-corrected", "entry-annulled"):
                assert found.severity == "major"
            else:
                assert found.rule in STANDS_ALTHOUGH_PUT_RIGHT
                assert found.put_right_by is not None
    assert rules["payout-underpaid"] == done["completed in the next coup"] > 0
    assert rules["payout-overpaid"] == done["recovered in the next coup"] > 0
    assert rules["payout-missing"] == done["paid in the next coup"]
    assert rules["entry-corrected"] > 0


@pytest.mark.parametrize(
    "nights", [pytest.param(10, marks=pytest.mark.faults), pytest.param(40, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_thousands_of_coups_of_honest_people_have_nothing_graver_than_information(ruleset: str, nights: int) -> None:
    deeds = Counter[str]()
    for seed in range(100, 100 + nights):
        session = played(ruleset, seed, coups=250)
        deeds.update(session.deeds)
        assert graver(findings(session)) == [], seed
    # The first must meet a zero, the second the rare spin that is void without being counted.
    assert DEEDS.keys() - ELSEWHERE[ruleset] - set(deeds) <= {"half said at the last coup", "staked after a void spin"}


def test_a_human_night_is_the_same_from_the_same_seed_and_has_deeds_of_every_sort(
    honest: Callable[[str, int], Night],
) -> None:
    for ruleset in RULESET_NAMES:
        assert json.dumps(played(ruleset, 3, coups=100).events) == json.dumps(honest(ruleset, 3).events)
        deeds = {deed for seed in HONEST for deed in honest(ruleset, seed).deeds}
        assert not deeds & ELSEWHERE[ruleset]
        assert len(deeds) >= 18


def test_the_events_of_people_are_those_of_the_contract(honest: Callable[[str, int], Night]) -> None:
    kinds = {event["type"] for ruleset in RULESET_NAMES for seed in HONEST for event in honest(ruleset, seed).events}
    money = "payout.recovered tip.given goodwill.paid dispute.opened dispute.settled orphan.recorded"
    others = "spin.voided throw.voided entry.corrected entry.annulled player.left dice.declined staff.relieved"
    assert {*money.split(), *others.split()} - kinds == set()


def test_dice_pass_over_the_empty_seats_of_a_human_night() -> None:
    session = played("fr-craps", 1)
    seats = session.events[0]["data"]["seats"]
    first_call = next(n for n, event in enumerate(session.events) if event["type"] == "no_more_bets")
    seat_of = {
        event["data"]["player"]: event["data"]["seat"] for event in session.events if event["type"] == "player.seated"
    }
    taken = {event["data"]["seat"] for event in session.events[:first_call] if event["type"] == "player.seated"}
    assert len(seats) == 8 > len(taken)
    turns = [event["data"] for event in session.events if event["type"] == "dice.offered"]
    offered = [seats.index(turn.get("seat") or seat_of[turn["player"]]) for turn in turns]
    assert any((after - before) % 8 > 1 for before, after in pairwise(offered))


def test_the_rack_of_a_human_night_holds_what_it_must(honest: Callable[[str, int], Night]) -> None:
    for ruleset in RULESET_NAMES:
        for seed in HONEST[:3]:
            decoded = [decode(json.dumps(event)) for event in honest(ruleset, seed).events]
            projection = SessionProjection(changes_in(decoded))
            projection.feed(decoded)
            bridge = projection.figures().bridge
            counted = replace(bridge, bank=replace(bridge.bank, drop=bridge.bank.buy_ins))
            assert counted.accounting_variance == 0


CASES = [(name, ruleset) for name, each in IRREGULARITIES.items() for ruleset in sorted(each.rulesets)]


@pytest.mark.parametrize(("name", "ruleset"), CASES[::7], ids=lambda value: value)
def test_an_irregularity_is_found_in_the_midst_of_honest_people(name: str, ruleset: str) -> None:
    assert_found(name, ruleset, nights=1)


@pytest.mark.faults
@pytest.mark.parametrize(("name", "ruleset"), CASES, ids=lambda value: value)
def test_each_irregularity_is_found_in_the_midst_of_honest_people(name: str, ruleset: str) -> None:
    assert_found(name, ruleset, nights=3)


@pytest.mark.parametrize(
    ("name", "ruleset", "seed"),
    [
        # A dispute over a wager that had been paid on a push before: what is settled is not all that is wrong.
        ("barred-number-settled", "fr-craps", 211),
        ("push-paid", "fr-craps", 207),
        # A winner that was swept by mistake, and would have been paid.
        ("payout-missing", "fr-craps", 201),
        ("stake-not-returned", "fr-craps", 201),
        # A zero, which cannot be announced as the zero by mistake.
        ("announcement-mismatch", "fr-american-roulette", 209),
        # A payment by a slow clock after which a stake is left up: the call that follows has a clock of its own.
        ("losing-wager-not-collected", "qc-craps", 207),
        # A decision that nobody gives, and that nobody gives later.
        ("zero-decision-missing", "fr-roulette", 202),
    ],
)
def test_people_do_nothing_more_with_what_an_irregularity_is_about(name: str, ruleset: str, seed: int) -> None:
    assert_found_in(played(ruleset, seed, name), name)


def assert_found(name: str, ruleset: str, *, nights: int) -> None:
    done = 0
    for seed in range(200, 200 + 5 * nights):
        session = played(ruleset, seed, name)
        if not session.irregularities:
            continue
        assert session.deeds, "people are about"
        assert_found_in(session, name)
        done += 1
        if done == nights:
            return
    raise AssertionError(f"{nights} nights have an occasion for it, not {done}")


def assert_found_in(session: Night, name: str) -> None:
    found = findings(session)
    assert name in {each.rule for each in found}, session.irregularities
    assert [each for each in graver(found) if each[0] not in {name} | IRREGULARITIES[name].companions] == []
