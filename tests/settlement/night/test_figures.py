"""A session read once: the same figures however its events come in, and every one of them right."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import Event
from settlement import decode as decode_event
from settlement.night.bridge import Bank, Bridge, Win
from settlement.night.croupiers import Tally, compare
from settlement.night.figures import (
    NOBODY,
    BetSum,
    PaidBy,
    PayoutError,
    UndecidedStake,
    decode,
    encode,
)
from settlement.night.notes import BUY_INS_LISTED, Slip
from tests.settlement.night.racks import lines_of, read, summed
from tests.settlement.streams import event, opener
from tests.settlement.test_properties import quick, streams

DAY = date(2026, 11, 19)
BANK = ("bank.filled", "bank.credited", "buy_in.recorded")


def night(ruleset: str, seed: int, *irregularities: str, coups: int = 60) -> list[Event]:
    played = play(
        ruleset, casino="demo", code="T1", gaming_day=DAY, seed=seed, coups=coups, irregularities=irregularities
    )
    return [decode_event(json.dumps(each)) for each in played.events]


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_figures_are_those_of_the_whole_session_at_once(ruleset: str) -> None:
    events = night(ruleset, 5, *IRREGULARITIES)
    figures = read(events).figures()
    assert figures.bridge == Bridge.of(figures.bridge.bank, summed(lines_of(events)))
    assert figures.luck == figures.bridge.luck + figures.bridge.carried
    bank = figures.bridge.bank
    moved = {kind: sum(each.data.amount for each in events if each.type == kind) for kind in BANK}
    assert [bank.fills, bank.credits, bank.buy_ins] == [moved[kind] for kind in BANK]
    assert sum(error.amount for error in figures.errors) == figures.bridge.payout_errors != 0
    assert sum((bet.theoretical for bet in figures.bets.values()), Fraction(0)) == figures.bridge.theoretical
    assert sum(bet.recorded for bet in figures.bets.values()) == figures.bridge.recorded.total


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("page", [1, 7, 100])
def test_pages_of_any_size_give_the_same_bytes(ruleset: str, page: int) -> None:
    events = night(ruleset, 6, *IRREGULARITIES, coups=30)
    encoded = encode(read(events).figures())
    assert encode(read(events, page).figures()) == encoded
    assert encode(decode(encoded)) == encoded


@quick
@given(streams(), st.integers(1, 12))
def test_on_any_stream_pages_give_the_same_bytes(stream: list[bytes], page: int) -> None:
    events = [decode_event(raw) for raw in stream]
    figures = read(events, page).figures()
    assert figures.luck == figures.bridge.luck + figures.bridge.carried
    assert encode(figures) == encode(read(events).figures())


def test_money_of_a_bet_that_is_not_adjudicated_is_no_luck() -> None:
    raw = [
        opener("s", "qc-craps"),
        event("s", 2, "wager.placed", wager="x", bet="any_craps", stake=1),
        event("s", 3, "payout.recovered", wager="x", winnings=1),
        event("s", 4, "wager.placed", wager="y", bet="field", stake=100),
        event("s", 5, "dice.thrown", faces=[1, 1]),
        event("s", 6, "payout.made", wager="y", winnings=300, stake_returned=100),
    ]
    figures = read([decode_event(each) for each in raw]).figures()
    assert figures.luck == figures.bridge.luck == figures.bridge.payout_errors == 0
    assert (figures.bridge.unadjudicated, figures.bridge.recorded) == (-299, Win(winnings=299))
    assert figures.bets == {"any_craps": BetSum(wagers=1, recorded=1), "field": BetSum(wagers=1, recorded=-300)}
    assert figures.errors == []


def test_figures_that_were_stored_before_a_field_was_added_are_read() -> None:
    kept = json.loads(encode(read(night("fr-roulette", 6, coups=3)).figures()))
    del kept["bridge"]["unadjudicated"]
    figures = decode(json.dumps(kept).encode())
    assert figures.bridge.unadjudicated == 0
    assert figures.luck == figures.bridge.luck + figures.bridge.carried


def test_without_luck_the_lines_are_the_same() -> None:
    events = night("fr-roulette", 7, "payout-overpaid")
    with_luck = [line for line, _wager in read(events).lines()]
    assert [line for line, _wager in read(events, follows_luck=False).lines()] == with_luck


def stream_of(*events: tuple[str, dict[str, Any]], **opened: Any) -> list[Event]:
    raw = [opener("s", "fr-roulette", **opened)]
    raw += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(events, start=2)]
    return [decode_event(each) for each in raw]


MAX = [{"person": "Max", "role": "croupier"}]
RED = ("wager.placed", {"wager": "r", "bet": "rouge", "stake": 100})
SEVENTEEN = ("wager.placed", {"wager": "p", "bet": "plein", "stake": 10, "numbers": ["17"]})
PAID = ("payout.made", {"wager": "p", "winnings": 350, "stake_returned": 10})


def ball(pocket: str) -> tuple[str, dict[str, Any]]:
    return "ball.settled", {"pocket": pocket}


def test_every_figure_of_a_short_session_by_hand() -> None:
    events = stream_of(
        ("bank.filled", {"amount": 500, "slip": "7"}),
        ("bank.credited", {"amount": 200, "slip": "8"}),
        ("bank.credited", {"amount": 30, "slip": "9"}),
        ("buy_in.recorded", {"amount": 1000, "means": "cash"}),
        RED,
        SEVENTEEN,
        ball("0"),
        ("zero.decided", {"wager": "r", "choice": "prison"}),
        ("wager.placed", {"wager": "a", "bet": "noir", "stake": 40}),
        ("wager.placed", {"wager": "b", "bet": "noir", "stake": 60}),
        ("buy_in.recorded", {"amount": 70, "means": "card"}),
        PAID,
        ("session.closed", {"float": 4000}),
        ("events.lost", {"through": 17, "reason": "power"}),
        float=5000,
        observes=["wheel", "calls", "wheel"],
        staff=MAX,
    )
    figures = read(events).figures()

    assert (figures.stream, figures.casino, figures.table) == ("s", "demo", "T1")
    assert (figures.game, figures.ruleset, figures.gaming_day) == ("french_roulette", "fr-roulette", "2010-11-19")
    assert (figures.opened_at, figures.closed_at, figures.closed_by) == (
        "2010-11-19T20:00:01+01:00",
        "2010-11-19T20:00:14+01:00",
        14,
    )
    assert (figures.events, figures.last_seq, figures.lost) == (15, 17, [(15, 17)])
    assert figures.is_adjudicated
    assert (figures.observes, figures.unchecked) == (
        ["calls", "decisions", "payouts", "results", "wagers", "wheel"],
        ["collections"],
    )

    # A zero takes the stake on 17, and the red one to prison: worth 18/37 of itself and 1/37 of a quarter.
    worth = Fraction(18 * 100 + 25, 37)
    assert figures.bridge == Bridge(
        bank=Bank(
            currency="EUR", opening_float=5000, fills=500, credits=230, closing_float=4000, drop=None, buy_ins=1070
        ),
        stakes=10,
        theoretical=Fraction(10, 37),
        adjudicated=Win(lost=10),
        recorded=Win(winnings=350),
        undecided=100,
        imprisoned=100,
        carried=Fraction(100 * 73, 74) - 50,
    )
    # Before the ball the two stakes are worth 4010/37; the 17 gives 360 back, the zero 50, each red pocket 200.
    assert figures.luck == Fraction(4010, 37) - 50
    assert figures.variance == Fraction(360**2 + 50**2 + 18 * 200**2, 37) - Fraction(4010, 37) ** 2
    assert figures.draws == [[8, "0"]]
    assert figures.slips == [Slip(2, "fill", "7", 500), Slip(3, "credit", "8", 200), Slip(4, "credit", "9", 30)]
    assert figures.buy_ins == [5, 12]
    assert figures.errors == [PayoutError("p", "plein", "lost", 13, -360, "Max")]
    assert figures.croupiers == {"Max": PaidBy(payouts=1, for_player=1, last_error=13)}
    assert figures.standing == [
        UndecidedStake("r", "rouge", "imprisoned", 6, 100, 1, 50, worth),
        UndecidedStake("a", "noir", "open", 10, 40, 0, 0, Fraction(40 * 73, 74)),
        UndecidedStake("b", "noir", "open", 11, 60, 0, 0, Fraction(60 * 73, 74)),
    ]
    assert figures.bets == {
        "rouge": BetSum(wagers=1),
        "plein": BetSum(1, 10, Fraction(10, 37), 10, -350),
        "noir": BetSum(wagers=2),
    }


def test_a_session_that_has_just_opened_has_nothing_but_its_float() -> None:
    figures = read(stream_of(float=700)).figures()
    assert figures.bridge == Bridge.of(Bank(currency="EUR", opening_float=700), [])
    assert (figures.closed_at, figures.closed_by, figures.events, figures.last_seq) == (None, 0, 1, 1)
    assert (figures.luck, figures.variance) == (0, 0)
    assert not any((figures.lost, figures.slips, figures.buy_ins, figures.errors, figures.standing, figures.draws))
    assert not any((figures.croupiers, figures.bets))


def test_without_an_opener_there_is_no_currency_and_no_casino() -> None:
    figures = read(stream_of(("bank.filled", {"amount": 500, "slip": "7"}))[1:]).figures()
    assert figures.bridge == Bridge.of(Bank(currency="XXX", opening_float=0, fills=500), [])
    assert (figures.stream, figures.casino, figures.table, figures.opened_at) == ("s", "", "", "")
    assert not figures.is_adjudicated
    assert figures.unchecked == []


def test_the_last_close_and_the_first_opener_count() -> None:
    events = stream_of(
        ("session.closed", {"float": 900}),
        ("session.opened", json.loads(opener("s", "fr-craps", casino="other", float=1))["data"]),
        ("session.closed", {"float": 800}),
        float=700,
    )
    figures = read(events).figures()
    assert (figures.casino, figures.ruleset) == ("demo", "fr-roulette")
    assert (figures.bridge.bank.opening_float, figures.bridge.bank.closing_float, figures.closed_by) == (700, 800, 4)


def test_all_buy_ins_are_summed_and_the_first_five_hundred_listed() -> None:
    buy_in = ("buy_in.recorded", {"amount": 3, "means": "cash"})
    figures = read(stream_of(*[buy_in] * (BUY_INS_LISTED + 2))).figures()
    assert figures.bridge.bank.buy_ins == 3 * 502
    assert figures.buy_ins == list(range(2, 502))


def test_an_amount_that_should_have_been_paid_is_laid_to_nobody_and_to_the_event_that_decided() -> None:
    figures = read(stream_of(SEVENTEEN, ball("17"), staff=MAX)).figures()
    assert figures.errors == [PayoutError("p", "plein", "won", 3, 360, NOBODY)]
    assert figures.croupiers == {}


def test_a_payout_on_no_wager_is_an_error_of_who_made_it_and_of_no_bet() -> None:
    figures = read(stream_of(PAID, staff=MAX)).figures()
    assert figures.errors == [PayoutError("p", "", "unknown", 2, -360, "Max")]
    assert figures.bets == {"": BetSum(wagers=1, recorded=-360)}
    assert figures.croupiers == {"Max": PaidBy(payouts=1, for_player=1, last_error=2)}


def test_errors_on_either_side_are_counted_by_side_with_the_last_of_them() -> None:
    placed = [("wager.placed", {"wager": f"w{n}", "bet": "rouge", "stake": 1000}) for n in range(5)]
    amounts = {"w4": 900, "w0": 1000, "w1": 1050, "w3": 800, "w2": 990}
    paid = [("payout.made", {"wager": w, "winnings": won, "stake_returned": 1000}) for w, won in amounts.items()]
    figures = read(stream_of(*placed, ball("1"), *paid, staff=MAX)).figures()
    assert figures.croupiers == {"Max": PaidBy(payouts=5, for_house=3, for_player=1, last_error=12)}


def test_a_wager_paid_in_two_parts_is_one_payout_and_its_error_that_of_the_last() -> None:
    part = ("payout.made", {"wager": "p", "winnings": 100, "stake_returned": 10})
    figures = read(stream_of(SEVENTEEN, ball("17"), part, part, staff=MAX)).figures()
    assert figures.croupiers == {"Max": PaidBy(payouts=1, for_house=1, last_error=5)}
    assert [(error.seq, error.amount) for error in figures.errors] == [(5, 350 - 200 - 10)]


def test_a_wager_that_two_croupiers_paid_counts_for_both_and_its_error_is_that_of_who_paid_last() -> None:
    two = [{"person": "Max", "role": "croupier"}, {"person": "Eva", "role": "croupier"}]
    raw = [json.loads(each) for each in (
        opener("s", "fr-roulette", staff=two),
        event("s", 2, *SEVENTEEN[:1], **SEVENTEEN[1]),
        event("s", 3, "ball.settled", pocket="17"),
        *(event("s", seq, "payout.made", wager="p", winnings=100, stake_returned=0) for seq in (4, 5, 6, 7)),
    )]  # fmt: skip
    for each, actor in zip(raw[3:], ("Max", "Eva", "Max", "Eva"), strict=True):
        each["actor"] = actor
    figures = read([decode_event(json.dumps(each)) for each in raw]).figures()
    assert figures.croupiers == {"Eva": PaidBy(payouts=1, for_player=1, last_error=7), "Max": PaidBy(payouts=1)}
    tallies = {name: Tally(paid.payouts, paid.for_house, paid.for_player) for name, paid in figures.croupiers.items()}
    assert set(compare(tallies, alpha=Fraction(1, 20), q=Fraction(1, 10))) == {"Eva", "Max"}


def by_whom(*before: tuple[str, dict[str, Any]], actor: str | None = None, staff: Any = ()) -> list[str]:
    """Return to whom a payout after ``before`` is laid."""
    events = stream_of(SEVENTEEN, ball("17"), *before, staff=list(staff))
    raw = json.loads(event("s", len(events) + 1, PAID[0], **PAID[1])) | ({"actor": actor} if actor else {})
    return list(read([*events, decode_event(json.dumps(raw))]).figures().croupiers)


def test_who_paid_is_who_the_event_names_or_the_only_croupier_at_the_table() -> None:
    ann = ("staff.assigned", {"person": "Ann", "role": "croupier"})
    chef = ("staff.assigned", {"person": "Bob", "role": "chef_de_table"})
    assert by_whom(staff=MAX) == ["Max"]
    eva = {"person": "Eva", "role": "chef_de_table"}
    assert by_whom(actor="Eva", staff=[*MAX, eva]) == ["Eva"]
    assert by_whom(actor="reader-7", staff=MAX) == ["Max"], "a device is no croupier"
    assert by_whom(actor="reader-7") == [NOBODY]
    assert by_whom(chef, staff=MAX) == ["Max"]
    assert by_whom(ann, staff=MAX) == by_whom() == by_whom(chef) == [NOBODY]


def test_the_draws_at_craps_are_listed_with_their_dice() -> None:
    raw = [
        opener("s", "fr-craps"),
        event("s", 2, "dice.thrown", faces=[3, 4]),
        event("s", 3, "dice.thrown", faces=[6, 1], dice=["a", "b"]),
        event("s", 4, "dice.thrown", faces=[6, 7]),
        event("s", 5, "ball.settled", pocket="17"),
    ]
    events = [decode_event(each) for each in raw]
    assert read(events).figures().draws == [[2, 3, 4], [3, 6, 1, "a", "b"]]
    assert read(events, follows_luck=False).figures().draws == []


def test_an_annulled_slip_is_in_no_figure() -> None:
    events = stream_of(
        ("bank.filled", {"amount": 500, "slip": "7"}),
        ("bank.credited", {"amount": 300, "slip": "8"}),
        ("entry.annulled", {"annuls": 2, "reason": "r", "approved_by": "c"}),
    )
    figures = read(events).figures()
    assert (figures.bridge.bank.fills, figures.bridge.bank.credits) == (0, 300)
    assert [slip.slip for slip in figures.slips] == ["8"]


def test_a_corrected_slip_and_a_corrected_pocket_are_read_as_corrected() -> None:
    events = stream_of(
        ("bank.filled", {"amount": 500, "slip": "7"}),
        ("ball.settled", {"pocket": "17"}),
        ("session.closed", {"float": 900}),
        ("entry.corrected", {"corrects": 2, "data": {"amount": 400, "slip": "8"}, "reason": "r", "approved_by": "c"}),
        ("entry.corrected", {"corrects": 3, "data": {"pocket": "18"}, "reason": "r", "approved_by": "c"}),
        ("entry.corrected", {"corrects": 4, "data": {"float": 800}, "reason": "r", "approved_by": "c"}),
    )
    figures = read(events).figures()
    assert (figures.bridge.bank.fills, figures.bridge.bank.closing_float) == (400, 800)
    assert [(slip.slip, slip.amount) for slip in figures.slips] == [("8", 400)]
    assert figures.draws == [[3, "18"]]


def test_errors_are_laid_to_who_paid() -> None:
    placed = [("wager.placed", {"wager": f"w{n}", "bet": "rouge", "stake": 1000}) for n in range(3)]
    staff = [{"person": "Max", "role": "croupier"}]
    paid = [("payout.made", {"wager": f"w{n}", "winnings": 1000 + 50 * n, "stake_returned": 1000}) for n in range(3)]
    figures = read(stream_of(*placed, ("ball.settled", {"pocket": "1"}), *paid, staff=staff)).figures()
    assert figures.croupiers["Max"].payouts == 3
    assert (figures.croupiers["Max"].for_house, figures.croupiers["Max"].for_player) == (0, 2)
    assert [(error.wager, error.amount, error.croupier) for error in figures.errors] == [
        ("w1", -50, "Max"),
        ("w2", -100, "Max"),
    ]


def test_a_session_under_no_known_ruleset_has_a_bank_and_no_win() -> None:
    figures = read([decode_event(opener("s", "no-such", float=700))]).figures()
    assert not figures.is_adjudicated
    assert figures.bridge.stakes == 0
    assert figures.bridge.bank.opening_float == 700


def test_figures_that_were_kept_with_their_equipment_are_read() -> None:
    figures = read(stream_of()).figures()
    assert decode(b'{"equipment":[[1,"W-1"]],' + encode(figures)[1:]) == figures


# Disputes


@pytest.mark.parametrize("by, amount", [("house", 70), ("player", -70)])
def test_a_settled_dispute_is_the_house_s_payment_or_the_player_s(by: str, amount: int) -> None:
    settled = ("dispute.settled", {"opened": 2, "amount": 70, "by": by, "approved_by": "Chef"})
    figures = read(stream_of(("dispute.opened", {"player": "p1"}), settled)).figures()
    assert [(each.seq, each.kind, each.amount) for each in figures.concessions] == [(3, "dispute", amount)]


def test_what_is_in_no_win_is_listed_as_what_it_is() -> None:
    given = read(
        stream_of(
            ("tip.given", {"amount": 100}),
            ("goodwill.paid", {"amount": 200, "reason": "spilt wine", "approved_by": "Chef"}),
            ("orphan.recorded", {"amount": 300}),
        )
    ).figures()
    assert [(each.seq, each.kind, each.amount) for each in given.concessions] == [
        (2, "tip", 100),
        (3, "goodwill", 200),
        (4, "orphan", 300),
    ]
