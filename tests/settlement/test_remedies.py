"""A remedy names one act and one amount, speaks of now, and is possible (account.md 7)."""

from __future__ import annotations

import re

from settlement import Finding
from tests.settlement.tapes import play


def only(tape: str, rule: str) -> Finding:
    """Return the finding of ``rule`` that a tape raises."""
    (found,) = [each for each in play(tape) if each.rule == rule]
    return found


def plain(sentence: str) -> str:
    return re.sub(r"[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", " ", sentence)


def test_a_loser_that_lies_is_swept() -> None:
    found = only(
        """
        fr-roulette collections
        place w1 plein 1000 numbers=5
        land 3
        land 4                                  ! losing-wager-not-collected
        """,
        "losing-wager-not-collected",
    )
    assert found.remedy("en") == "Have the stake swept."
    assert found.remedy("fr") == "Faire ramasser l’enjeu."


def test_nothing_is_swept_that_was_swept() -> None:
    found = only(
        """
        fr-roulette collections
        place w1 plein 1000 numbers=5
        land 3
        land 4                                  ! losing-wager-not-collected
        sweep w1
        """,
        "losing-wager-not-collected",
    )
    assert found.remedy("en") == "Note with the croupier how the error on wager w1 was put right at event 5."


PAID_BY_HALVES = """
    fr-roulette
    place w1 plein 1000 numbers=5 player=P1
    land 5
    pay w1 25000+1000                           ! payout-underpaid
    land 4
    pay w1 {later}+0
    land 7
"""


def test_what_is_partly_paid_asks_for_what_is_still_owed() -> None:
    found = only(PAID_BY_HALVES.format(later=4000), "payout-underpaid")
    assert found.message("en").startswith(
        "Wager w1 (plein on 5, €10.00) was paid €250.00 in winnings; €350.00 was due: €10.00 × 35. "
        "The player is short of €100.00."
    )
    assert found.remedy("en") == "Pay P1 €60.00."
    assert plain(found.remedy("fr")) == "Payer 60,00 € à P1."


def test_nothing_is_paid_that_was_paid() -> None:
    found = only(PAID_BY_HALVES.format(later=10000), "payout-underpaid")
    assert found.remedy("en") == "Note with the croupier how the error on wager w1 was put right at event 6."


def test_nothing_is_recovered_on_a_reading_alone() -> None:
    found = only(
        """
        fr-american-roulette zero=lose
        place w1 rouge 1000 player=P1
        land 0
        pay w1 0+500                            ! losing-wager-paid
        land 4
        """,
        "losing-wager-paid",
    )
    assert found.owed is not None
    assert "reading" in found.facts
    assert found.remedy("en").startswith("Have the casino enter its reading of the text in the register (")
    assert "Récupérer" not in found.remedy("fr")


def test_what_a_party_approved_is_decided_by_the_chef_de_table() -> None:
    found = only(
        """
        fr-roulette
        place w1 plein 1000 numbers=5 player=P1
        land 5
        pay w1 25000+1000                       ! payout-underpaid
        land 4
        dispute w1 player=P1
        settle 6 10000 approved_by=P1           ! approved-by-a-party
        land 7
        """,
        "payout-underpaid",
    )
    assert found.remedy("en") == "Ask the chef de table for his own decision on wager w1, settled at event 7."


def test_what_was_taken_back_unpaid_is_no_negative_amount() -> None:
    found = only(
        """
        fr-roulette
        place w1 rouge 1000 player=P1
        land 4
        recover w1 200+0                        ! payout-underpaid
        land 3
        """,
        "payout-underpaid",
    )
    assert found.message("en") == (
        "The house took back €2.00 on wager w1 (rouge, €10.00) that had not been paid; €0.00 was due. The player is "
        "short of €2.00."
    )


def test_of_winnings_and_stake_in_all_the_message_says_so() -> None:
    found = only(
        """
        fr-roulette
        place w1 rouge 1000 player=P1
        land 3
        pay w1 2500+0                           ! payout-overpaid
        land 4
        """,
        "payout-overpaid",
    )
    assert found.message("en").startswith(
        "Wager w1 (rouge, €10.00) was paid €25.00 in all, winnings and stake; €20.00 was due."
    )
    assert plain(found.message("fr")).startswith("La mise w1 (rouge, 10,00 €) a reçu en tout, gain et enjeu, 25,00 €")
