"""Which wagers an event mentions, by its type: those that a long stream has to hold again before it is folded."""

from __future__ import annotations

from typing import Any

import pytest

from settlement import decode
from settlement.mentions import mentioned
from tests.settlement.streams import event

#  type, data, the wagers it mentions
MENTIONS = [
    (
        "wager.placed",
        {"wager": "a", "bet": "win_odds", "stake": 1, "base": "b", "left_up_from": "c"},
        {"a", "b", "c"},
    ),
    ("wager.withdrawn", {"wager": "a"}, {"a"}),
    ("wager.switched", {"wager": "a", "working": True}, {"a"}),
    ("wager.moved", {"wager": "a", "number": 4}, {"a"}),
    ("payment.announced", {"wager": "a", "amount": 1}, {"a"}),
    ("payout.made", {"wager": "a", "winnings": 1, "stake_returned": 0, "continues_as": "b"}, {"a", "b"}),
    ("payout.recovered", {"wager": "a", "winnings": 1}, {"a"}),
    ("stakes.collected", {"wagers": ["a", "b"]}, {"a", "b"}),
    ("zero.decided", {"wager": "a", "choice": "half"}, {"a"}),
    ("dispute.opened", {"wager": "a"}, {"a"}),
    ("dispute.opened", {"player": "P1"}, set()),
    ("dispute.settled", {"opened": 7, "amount": 1}, {"of dispute 7"}),
    ("dispute.settled", {"opened": 8, "amount": 1}, set()),
    ("orphan.recorded", {"amount": 1}, set()),
    ("orphan.recorded", {"amount": 1, "wager": "a"}, {"a"}),
    ("tip.given", {"amount": 1}, set()),
    ("x.acme.tray", {"wager": "a"}, set()),
]


@pytest.mark.parametrize(("kind", "data", "wagers"), MENTIONS, ids=[row[0] for row in MENTIONS])
def test_an_event_mentions_the_wagers_that_its_data_name(kind: str, data: dict[str, Any], wagers: set[str]) -> None:
    assert mentioned([decode(event("s", 9, kind, **data))], {7: "of dispute 7", 8: None}) == wagers
