"""A remedy names one act and one amount, speaks of now, and is possible (account.md 7)."""

from __future__ import annotations

import re

import pytest

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
    assert found.message("en").endswith("(result 3) and had not been collected when the next result came.")
    assert found.remedy("en") == (
        "Have the stake of wager w1 (€10.00) swept by the croupier, or traced if the session is closed by now."
    )
    assert plain(found.remedy("fr")) == (
        "Faire ramasser par le croupier l’enjeu de la mise w1 (10,00 €), ou en établir le sort si la séance est close."
    )


def test_nothing_is_swept_after_the_close() -> None:
    found = only(
        """
        fr-roulette collections
        place w1 plein 1000 numbers=5
        land 3
        close                                   ! losing-wager-not-collected
        """,
        "losing-wager-not-collected",
    )
    assert found.message("en").endswith("(result 3) and had not been collected when the session was closed.")
    assert found.remedy("en") == (
        "Establish with the croupier where the stake of wager w1 (€10.00) was when the session closed."
    )


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


def test_nothing_is_swept_that_went_to_its_player() -> None:
    lines = """
        fr-roulette collections
        place w1 plein 1000 numbers=5 player=P1
        land 3
        land 4                                  ! losing-wager-not-collected
        take w1                                 ! withdrawal-of-decided-wager
        land 4
    """
    lay, taken = play(lines)
    assert taken.caused_by == lay.ref  # one incident
    assert lay.message("en").endswith("when the next result came. The stake went to its player at event 5.")
    assert lay.remedy("en") == (
        "Remind the croupier to sweep lost stakes before the next coup, unlike that of wager w1."
    )
    assert taken.remedy("en") == "Recover €10.00 from P1."
    recovered = only(f"{lines}    recover w1 0+1000\n        land 4", "losing-wager-not-collected")
    assert recovered.put_right_by == 7


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
    assert found.remedy("en") == (
        "Have the casino enter its reading of the text in the register (what zero does to simple chances); "
        "amount concerned: €5.00."
    )
    assert "Récupérer" not in found.remedy("fr")


def test_nothing_is_recovered_by_an_analogy_alone_and_the_message_says_that_the_wager_lost() -> None:
    found = only(
        """
        fr-roulette calls
        place w1 rouge 1000 player=Anna
        call
        +1s take w1 500                         ! withdrawal-after-no-more-bets
        land 2
        """,
        "withdrawal-after-no-more-bets",
    )
    assert found.owed is not None
    assert found.message("en") == (
        "By analogy with American roulette: €5.00 of wager w1 (rouge, €10.00) was taken back after “Rien ne va plus” "
        "(event 3). The withdrawal has no effect (a reading): the wager stayed in play, and event 5 decided it: lost."
    )
    assert found.remedy("en") == (
        "Have the casino enter its reading of the text in the register (stakes taken back after “Rien ne va plus”); "
        "amount concerned: €5.00."
    )


def test_the_amounts_of_a_message_and_its_remedy_add_up() -> None:
    found = only(
        """
        fr-roulette
        place w1 rouge 1000 player=P1
        land 0
        pay w1 0+1000                           ! payout-without-result
        land 2
        close
        """,
        "payout-without-result",
    )
    assert found.owed is not None
    assert found.owed.amount == 1000
    assert "owed" not in found.message("en")
    found = only(PAID_BY_HALVES.format(later=4000), "payout-underpaid")
    assert found.message("en").endswith("Since then €40.00 of it was made good; €60.00 is still owed.")


def test_what_an_earlier_finding_has_of_an_amount_is_said() -> None:
    *_, found = play(
        """
        fr-craps
        place w1 big_6 1000
        throw 1-2
        pay w1 1000+0                           ! push-paid
        throw 1-1
        pay w1 500+0                            ! push-paid
        throw 1-2
        """
    )
    assert found.message("en").endswith("An earlier finding of this wager already has €10.00 of it.")
    assert plain(found.message("fr")).endswith("Un constat antérieur de cette mise en porte déjà 10,00 €.")
    assert found.remedy("en").startswith("Recover €5.00 from")


def test_of_what_was_withdrawn_the_part_that_was_not_due_is_said() -> None:
    found = only(
        """
        fr-roulette
        place w1 rouge 300
        land 0
        take w1                                 ! imprisoned-stake-withdrawn
        zero w1 half
        land 0
        """,
        "imprisoned-stake-withdrawn",
    )
    assert found.message("en").endswith("(partly refunded at zero). Not due to the player: €1.50.")
    assert found.remedy("en").startswith("Recover €1.50 from")


SWEPT = """
    fr-craps collections
    place w1 field 1000
    void slid
    sweep w1                                    ! void-throw-settled
"""
MOVED = """
    fr-craps
    place w1 field 1000
    void slid
    move w1 6                                   ! void-throw-settled
"""
MARKED = """
    fr-craps
    void slid
    mark 6                                      ! void-throw-settled
"""


@pytest.mark.parametrize(
    ("tape", "remedy"),
    [
        (SWEPT, "Check on the footage that the croupier put the stake of wager w1 (€10.00) back after event 4."),
        (MOVED, "Remind the croupier to move no stake on a void throw, as was done with wager w1."),
        (MARKED, "Remind the croupier to leave the cabochon where it is on a void throw like that of event 2."),
    ],
)
def test_what_was_done_on_a_void_throw_has_a_remedy_of_its_own(tape: str, remedy: str) -> None:
    assert only(tape, "void-throw-settled").remedy("en") == remedy


@pytest.mark.parametrize(
    ("approved_by", "remedy"),
    [
        ("approved_by=chef", "Ask chef, in writing, why this goodwill payment of €5.00 was approved."),
        ("", "Ask the chef de table, in writing, who approved this goodwill payment of €5.00."),
    ],
)
def test_goodwill_is_asked_of_somebody(approved_by: str, remedy: str) -> None:
    tape = f"""
        fr-roulette
        goodwill 500 reason=spilt {approved_by}    ! goodwill-paid
    """
    assert only(tape, "goodwill-paid").remedy("en") == remedy


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
        "The house took back €2.00 on wager w1 (rouge, €10.00) that had not been paid; nothing was due. The player is "
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
