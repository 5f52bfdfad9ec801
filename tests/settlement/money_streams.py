"""Streams of a few wagers to which all happens that can happen to money, in amounts that meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.settlement.streams import event, opener
from tests.settlement.test_properties import data, players

MONEY_WAGERS = st.sampled_from(["w0", "w1", "w2"])
MONEY_AMOUNTS = st.sampled_from([0, 100, 250, 300, 400, 500, 600, 700, 1000, 1200])
MONEY_STAKES = st.sampled_from([300, 600, 1000])
MONEY_EVENTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "payout.made": data(
        {"wager": MONEY_WAGERS, "winnings": MONEY_AMOUNTS, "stake_returned": MONEY_AMOUNTS}, continues_as=MONEY_WAGERS
    ),
    "payout.recovered": data({"wager": MONEY_WAGERS}, winnings=MONEY_AMOUNTS, stake=MONEY_AMOUNTS),
    "wager.withdrawn": data({"wager": MONEY_WAGERS}, amount=st.sampled_from([300, 400])),
    "stakes.collected": data({"wagers": st.lists(MONEY_WAGERS, max_size=2)}),
    "zero.decided": data({"wager": MONEY_WAGERS, "choice": st.sampled_from(["half", "prison"])}),
    "goodwill.paid": data({"amount": MONEY_AMOUNTS, "reason": players}),
    "dispute.opened": data({}, wager=MONEY_WAGERS),
    "dispute.settled": data(
        {"opened": st.integers(2, 12), "amount": MONEY_AMOUNTS},
        approved_by=players,
        by=st.sampled_from(["house", "player"]),
    ),
    "orphan.recorded": data({"amount": MONEY_AMOUNTS}, wager=MONEY_WAGERS),
    "tip.given": data({"amount": MONEY_AMOUNTS}),
}
OF_ONE_TABLE = {
    "fr-craps": (
        data(
            {"wager": MONEY_WAGERS, "bet": st.sampled_from(["big_6", "field"]), "stake": MONEY_STAKES},
            left_up_from=MONEY_WAGERS,
        ),
        st.tuples(st.just("dice.thrown"), data({"faces": st.sampled_from([(3, 3), (3, 4), (1, 1), (5, 6), (2, 3)])})),
    ),
    "fr-roulette": (
        data(
            {"wager": MONEY_WAGERS, "bet": st.sampled_from(["rouge", "noir"]), "stake": MONEY_STAKES},
            left_up_from=MONEY_WAGERS,
        ),
        st.tuples(st.just("ball.settled"), data({"pocket": st.sampled_from(["0", "1", "2"])})),
    ),
    "fr-boule": (
        data(
            {"wager": MONEY_WAGERS, "bet": st.sampled_from(["rouge", "noir"]), "stake": MONEY_STAKES},
            left_up_from=MONEY_WAGERS,
        ),
        st.tuples(st.just("boule.settled"), data({"number": st.sampled_from([1, 2, 5])})),
    ),
}


@st.composite
def money_streams(draw: st.DrawFn, most: int = 16) -> list[bytes]:
    """A stream of few wagers of which all that can happen to money happens, in amounts that meet."""
    ruleset = draw(st.sampled_from(sorted(OF_ONE_TABLE)))
    placed, result = OF_ONE_TABLE[ruleset]
    stake = st.tuples(st.just("wager.placed"), placed)
    apart = [st.tuples(st.just(kind), fields) for kind, fields in MONEY_EVENTS.items()]
    following = draw(
        st.lists(st.one_of(stake, stake, stake, result, result, result, *apart, *apart[:3]), max_size=most)
    )
    observed = draw(st.sampled_from([["collections"], []]))
    events = [opener("s", ruleset, observes=observed)]
    return events + [event("s", seq, kind, **fields) for seq, (kind, fields) in enumerate(following, start=2)]
