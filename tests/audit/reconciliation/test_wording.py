"""Lines of a report in words: money as money, and every code by its name."""

from __future__ import annotations

import pytest

from audit.reconciliation import wording


@pytest.mark.parametrize(
    ("for_house", "for_players", "words"),
    [
        (1_250, 300, "2 errors: €12.50 kept from players, €3.00 overpaid"),
        (1_250, 0, "2 errors: €12.50 kept from players"),
        (0, 300, "2 errors: €3.00 overpaid"),
    ],
)
def test_payout_errors_are_in_money_each_way(for_house: int, for_players: int, words: str) -> None:
    facts = {"errors": 2, "for_house": for_house, "for_players": for_players}
    assert wording.note({"note": "paid_wrong", "facts": facts}, "EUR") == words


def test_a_family_has_its_name_and_another_code_is_as_it_is() -> None:
    assert wording.families(["payouts", "undecided"]) == "payouts, undecided"
