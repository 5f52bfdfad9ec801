"""What a finding says beside its rule: who, how much, by which clauses, and what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from settlement import Finding, adjudicate
from settlement.catalogue import RULES, message
from settlement.differences import COMMISSIONS, NOT_OWED, PAID
from settlement.finding import Owed
from settlement.provisions import LINES, PAY_PROVISIONS, PROVISIONS, WAGER_PROVISIONS
from settlement.rulesets import RULESETS
from tests.settlement.streams import event, opener
from tests.settlement.tapes import read


def finding(rule: str, tape: str) -> Finding:
    """Return the only finding of ``rule`` in ``tape``."""
    (found,) = (each for each in adjudicate(line.raw for line in read(tape)).findings if each.rule == rule)
    return found


DIFFERENCES: dict[str, tuple[str, int | None, Owed | None]] = {
    "payout-underpaid": ("rouge 100 player=a; land 1; pay w1 40+100", -60, Owed("house", "a", 60)),
    "payout-overpaid": ("rouge 100 player=a; land 1; pay w1 160+100", 60, Owed("player", None, 60)),
    "stake-not-returned": ("rouge 100 player=a; land 1; pay w1 100+0", -100, Owed("house", "a", 100)),
    "losing-wager-paid": ("rouge 100 player=a; land 2; pay w1 100+100", 200, Owed("player", None, 200)),
    "payout-missing": ("plein 100 numbers=1 player=a; land 1", -3600, Owed("house", "a", 3600)),
    "losing-wager-not-collected": ("rouge 100 player=a; land 2", None, None),  # it lies there
    "winning-wager-collected": ("rouge 100 player=a; sweep w1", None, None),  # nothing has decided it
    "void-stake-kept": ("tip 100 player=a; sweep w1", -100, Owed("house", "a", 100)),
    "stake-out-of-limits": ("rouge 1 player=a", None, None),
    "withdrawal-of-decided-wager": ("rouge 100 player=a; land 2; take w1", 100, Owed("player", None, 100)),
}


@pytest.mark.parametrize("rule", DIFFERENCES)
def test_the_difference_is_of_the_part_the_finding_is_about(rule: str) -> None:
    course, difference, owed = DIFFERENCES[rule]
    tape = "fr-roulette collections minimum=50\nplace w1 " + "\n".join([*course.split("; "), "land 3"])
    found = finding(rule, tape)
    assert (found.difference, found.owed, found.player) == (difference, owed, "a")


COMMISSION = {
    "right_bet 100 commission=5": ("undue-commission", 5, Owed("house", "a", 5)),
    "buy_bet 1000 commission=40 marker=buy": ("commission-amount-mismatch", -10, Owed("player", None, 10)),
    "buy_bet 1000 commission=60 marker=buy": ("commission-amount-mismatch", 10, Owed("house", "a", 10)),
    "buy_bet 1000 marker=buy": ("commission-not-paid", -50, None),
}


@pytest.mark.parametrize("bet", COMMISSION)
def test_a_commission_is_owed_the_other_way_round(bet: str) -> None:
    rule, difference, owed = COMMISSION[bet]
    found = finding(rule, f"qc-craps day=2005-01-01\nplace w1 {bet} number=6 player=a")
    assert (found.difference, found.owed) == (difference, owed)


def test_every_rule_that_reads_amounts_reads_them_in_one_way() -> None:
    tables = [PAID, COMMISSIONS, NOT_OWED]
    assert sum(map(len, tables)) == len(frozenset().union(*tables))
    no_money = {"indivisible-stake", "stake-out-of-limits", "ledger-imbalance", "withdrawal-not-after-indecisive-roll"}
    no_money |= {"one-roll-wager-withdrawn", "colour-value-changed", "stake-not-multiple-of-colour-value"}
    # The account says what these come to.
    no_money |= {"withdrawal-after-no-more-bets", "withdrawal-of-decided-wager", "contract-wager-withdrawn"}
    no_money |= {"imprisoned-stake-withdrawn", "left-up-stake-mismatch"}
    no_money |= {"payment-not-announced", "payment-not-as-announced", "goodwill-paid", "orphan-mismatch"}
    for rule in RULES.values():
        if rule.raised_by == "engine" and "money" in (rule.expected_is, rule.recorded_is):
            assert rule.name in no_money or any(rule.name in table for table in tables), rule.name


# The player


def test_a_stake_of_a_seat_is_whose_seat_it_is() -> None:
    tape = """
        fr-american-roulette
        sit p1 seat=S4
        place w1 rouge 100 seat=S4
        land 1
        pay w1 40+100
        land 2
    """
    found = finding("payout-underpaid", tape)
    assert (found.player, found.owed) == ("p1", Owed("house", "p1", 60))


def test_a_stake_of_a_seat_that_nobody_is_known_to_have_is_nobodys() -> None:
    found = finding("payout-underpaid", "fr-roulette\nplace w1 rouge 100 seat=S4\nland 1\npay w1 40+100\nland 2")
    assert (found.player, found.owed) == (None, Owed("house", None, 60))


def test_the_shooter_is_a_player_by_his_seat() -> None:
    tape = """
        fr-craps custody
        sit p1 seat=S1
        offer S1
        throw 2-2 seat=S1
    """
    assert finding("shooter-without-line-wager", tape).player == "p1"


# The croupier


def underpaid(
    staff: list[tuple[str, str]], actor: str | None, *later: bytes, between: tuple[bytes, ...] = ()
) -> str | None:
    """Return the croupier of an underpayment that ``actor`` recorded while ``staff`` was at the table."""
    paid: dict[str, Any] = json.loads(event("s", 8, "payout.made", wager="w1", winnings=40, stake_returned=100))
    if actor is not None:
        paid["actor"] = actor
    members = [{"person": person, "role": role} for person, role in staff]
    lines: list[Any] = [
        opener("s", "fr-roulette", staff=members),
        event("s", 2, "wager.placed", wager="w1", bet="rouge", stake=100),
        event("s", 3, "ball.settled", pocket="1"),
        *between,
        json.dumps(paid),
        *later,
        event("s", 20, "ball.settled", pocket="4"),
    ]
    found = [each for each in adjudicate(lines).findings if each.rule == "payout-underpaid"]
    return found[0].croupier


def test_who_paid_is_named_if_he_is_on_the_staff() -> None:
    assert underpaid([("k1", "croupier"), ("k2", "croupier")], "k2") == "k2"
    assert underpaid([("k1", "croupier"), ("c1", "chef_de_table")], "c1") == "c1"


def test_a_device_is_no_croupier_and_who_is_on_duty_is_named_instead() -> None:
    assert underpaid([("k1", "croupier"), ("c1", "chef_de_table")], "cam-3") == "k1"
    assert underpaid([("k1", "croupier"), ("c1", "chef_de_table")], None) == "k1"
    assert underpaid([], "cam-3") is None


def test_of_several_croupiers_nobody_is_named() -> None:
    assert underpaid([("k1", "croupier"), ("k2", "croupier")], None) is None
    assert underpaid([("k1", "croupier"), ("k1", "croupier")], None) == "k1"


def test_who_was_on_duty_when_it_was_paid_is_named() -> None:
    relieved = event("s", 9, "staff.relieved", person="k1", role="croupier")
    assigned = event("s", 10, "staff.assigned", person="k2", role="croupier")
    assert underpaid([("k1", "croupier")], None, relieved, assigned) == "k1"
    before = (
        event("s", 4, "staff.relieved", person="k1", role="croupier"),
        event("s", 5, "staff.assigned", person="k2", role="croupier"),
    )
    assert underpaid([("k1", "croupier")], None, between=before) == "k2"
    assert underpaid([("k1", "croupier")], None, between=before[1:]) is None
    # Where nobody knew who paid, nobody is named although one croupier is left alone afterwards.
    assert underpaid([("k1", "croupier"), ("k2", "croupier")], None, relieved) is None


def test_a_payout_of_an_unknown_wager_names_who_made_it() -> None:
    paid: dict[str, Any] = json.loads(event("s", 2, "payout.made", wager="w1", winnings=40, stake_returned=100))
    members = [{"person": "k1", "role": "croupier"}, {"person": "k2", "role": "croupier"}]
    lines: list[Any] = [opener("s", "fr-roulette", staff=members), json.dumps(paid | {"actor": "k2"})]
    lines.append(event("s", 3, "session.closed", float=0))
    (found,) = adjudicate(lines).findings
    assert (found.rule, found.croupier) == ("payout-without-result", "k2")
    assert "which nothing had decided: never placed." in found.message("en")


def test_what_an_unknown_wager_was_paid_and_gave_back_comes_to_nothing() -> None:
    found = finding("payout-put-right", "fr-roulette\npay w9 40+100\nrecover w9 40+100\nland 1")
    assert (found.expected, found.recorded, found.difference) == (0, 0, 0)


def test_mixed_up_parts_say_what_was_due_and_what_was_recorded_as_winnings() -> None:
    found = finding("payout-parts-mixed", "fr-roulette\nplace w1 plein 100 numbers=3\nland 3\npay w1 3600+0\nland 1")
    assert (found.facts["winnings_due"], found.facts["winnings_paid"]) == (3500, 3600)


@pytest.mark.parametrize(("line", "ending"), [("land 2", "result"), ("close", "close")])
def test_a_missing_payment_says_what_ended_the_wait(line: str, ending: str) -> None:
    found = finding("payout-missing", f"fr-roulette\nplace w1 rouge 100\nland 1\n{line}")
    assert found.facts["ending"] == ending


def test_a_withdrawal_put_right_says_what_it_was() -> None:
    found = finding("act-put-right", "fr-craps\nplace w1 win 1000\ntake w1\nrecover w1 0+1000\nthrow 5-1")
    assert (found.facts["act"], found.evidence) == ("wager.withdrawn", (2, 3, 4))


def test_a_payment_made_twice_names_the_first() -> None:
    twice = "fr-roulette\nplace w1 rouge 100\nland 1\npay w1 100+100\npay w1 100+100\nland 2"
    found = finding("payout-duplicated", twice)
    assert (found.facts["paid_seq"], found.evidence, found.difference) == (4, (3, 4, 5), 200)


def test_too_much_handed_back_of_a_part_withdrawn_is_said_of_the_stake() -> None:
    found = finding("stake-not-returned", "fr-roulette\nplace w1 rouge 1000\ntake w1 300\npay w1 0+500\nland 1")
    assert (found.facts["part"], found.expected, found.recorded, found.difference) == ("stake", 300, 500, 200)


def test_what_is_no_payment_names_who_is_on_duty() -> None:
    tape = "fr-roulette minimum=50 staff=chef_de_table,croupier\nplace w1 rouge 1"
    assert finding("stake-out-of-limits", tape).croupier == "p1"


# Provisions


def test_a_payment_cites_what_wins_and_what_it_pays() -> None:
    found = finding("payout-underpaid", "fr-craps\nplace w1 big_8 100\nthrow 4-4\npay w1 40+100\nthrow 1-1")
    assert found.provision == "art. 55-8 A 7°"
    assert found.provisions == ("art. 55-8 A 7°", "art. 55-8 A intro")
    assert "se paient à égalité" in PROVISIONS[found.provisions[1]].quotes[0]


def test_a_payment_at_roulette_cites_the_line_of_the_bet() -> None:
    found = finding(
        "payout-underpaid", "fr-roulette\nplace w1 carre 100 numbers=1,2,4,5\nland 1\npay w1 40+100\nland 3"
    )
    assert found.provision == "art. 54 A"
    assert found.provisions == ("art. 54 A carré",)
    (quote,) = PROVISIONS["art. 54 A carré"].quotes
    assert quote.startswith("Mise sur un carré")
    assert quote.endswith("8 fois la mise.")


def test_a_withdrawal_cites_the_clause_that_allows_or_forbids_it() -> None:
    tape = "fr-craps\nplace w1 right_bet 100 number=4\ntake w1"
    assert finding("withdrawal-not-after-indecisive-roll", tape).provisions == ("art. 55-8 D intro",)


def test_a_rule_on_the_record_alone_cites_nothing() -> None:
    found = finding("wager-id-reused", "fr-craps\nplace w1 field 100\nplace w1 field 100")
    assert found.provisions == ()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_bet_has_a_clause_that_says_what_it_pays(ruleset: str) -> None:
    pays = ("pa", "fois la mise", "odds of", "rapporte")  # payer, se paie; a line of the list
    for bet, own in WAGER_PROVISIONS[ruleset].items():
        labels = [LINES.get(ruleset, {}).get(bet, own), PAY_PROVISIONS.get(ruleset, {}).get(bet)]
        quotes = " ".join(quote for label in labels if label for quote in PROVISIONS[label].quotes)
        assert any(word in quotes for word in pays), bet


# Remedies


def test_a_remedy_names_the_person_and_the_amount() -> None:
    found = finding(
        "payout-underpaid", "fr-roulette\nplace w1 plein 2400 numbers=17 player=p0412\nland 17\npay w1 100+2400\nland 3"
    )
    assert found.remedy("en") == "Pay p0412 €839.00."
    assert found.remedy("fr") == "Payer 839,00\N{NO-BREAK SPACE}€ à p0412."
    assert found.remedy("en", {"player": "Bruno"}) == "Pay Bruno €839.00."


def test_a_remedy_says_who_has_to_give_back() -> None:
    tape = "fr-roulette\nplace w1 rouge 100{}\nland 1\npay w1 160+100\nland 3"
    assert (
        finding("payout-overpaid", tape.format(" player=b")).remedy("fr")
        == "Récupérer 0,60\N{NO-BREAK SPACE}€ auprès du joueur b."
    )
    unknown = finding("payout-overpaid", tape.format(""))
    assert unknown.remedy("en") == ("Recover €0.60 from the player of wager w1, if it can be established who that is.")


def test_a_remedy_on_conduct_names_the_croupier() -> None:
    tape = "fr-roulette minimum=50 staff=chef_de_table,croupier\nplace w1 rouge 1"
    found = finding("stake-out-of-limits", tape)
    assert found.remedy("en") == "Remind the croupier p1 of the minimum of €0.50 at this table."
    assert (
        found.remedy("fr", {"croupier": "Anne"})
        == "Rappeler au croupier Anne le minimum de 0,50\N{NO-BREAK SPACE}€ à cette table."
    )


def test_an_answer_has_the_new_fields() -> None:
    answer = finding("payout-underpaid", "fr-roulette\nplace w1 rouge 100\nland 1\npay w1 40+100\nland 3").as_dict()
    assert answer["difference"] == -60
    assert answer["owed"] == {"by": "house", "to": None, "amount": 60}
    assert answer["player"] is None
    assert answer["croupier"] is None
    assert answer["provisions"] == ["art. 54 B rouge"]
    assert set(answer["remedy"]) == {"en", "fr"}


def test_the_values_of_readings_are_in_words_and_amounts_have_their_currency() -> None:
    facts = {"readings": ["zero_rule"], "recorded": "lose", "expected": "choice"}
    assert "mise perdue. Le jugement retient choix du joueur." in message("parameter-unlawful", facts, "fr", "EUR")
    facts = {"readings": ["payout_unit"], "recorded": "50", "expected": "100"}
    assert "€0.50 in place of €1.00" in message("params-differ-from-register", facts, "en", "EUR")
    several = {
        "readings": ["payout_unit", "zero_rule"],
        "recorded": "payout_unit=50, zero_rule=half",
        "expected": "payout_unit=100, zero_rule=lose",
    }
    sentence = message("params-differ-from-register", several, "en", "EUR")
    assert "payout unit €0.50, what zero does to simple chances half is lost in place of payout unit €1.00" in sentence


def test_clocks_show_the_date_where_days_differ() -> None:
    facts = {"back_s": 3, "recorded": "2026-11-19T23:59:59+01:00", "expected": "2026-11-20T00:00:02+01:00"}
    sentence = message("clock-went-back", facts, "en", "EUR").replace("\N{NO-BREAK SPACE}", " ")
    assert "19 November 2026 at 23:59:59 UTC+1 after 20 November 2026 at 00:00:02 UTC+1" in sentence
    facts |= {"expected": "2026-11-19T23:59:59.5+01:00"}
    assert "2026" not in message("clock-went-back", facts, "en", "EUR")


def test_a_stake_near_the_call_says_what_was_done_in_words() -> None:
    facts = {"wager": "b", "event_type": "wager.placed", "after_ms": 400, "call_seq": 3, "tolerance_ms": 500}
    assert message("wager-near-call", facts, "fr", "EUR").startswith("La mise b a été déposée 400 ms après le")
    facts |= {"event_type": "wager.withdrawn"}
    assert message("wager-near-call", facts, "en", "EUR").startswith("Wager b was taken back 400 ms after")


def test_whoever_moves_takes_his_stakes_along_and_whoever_sits_down_later_inherits_none() -> None:
    answer = adjudicate(
        [
            opener("s", "fr-roulette", observes=["seating"]),
            event("s", 2, "player.seated", player="P1", seat="S1"),
            event("s", 3, "wager.placed", wager="a", bet="rouge", stake=100, seat="S1"),
            event("s", 4, "wager.placed", wager="b", bet="rouge", stake=100, seat="S2"),
            event("s", 5, "player.seated", player="P2", seat="S1"),
            event("s", 6, "player.seated", player="P3", seat="S2"),
            event("s", 7, "wager.placed", wager="c", bet="rouge", stake=100, seat="S1"),
            event("s", 8, "wager.placed", wager="d", bet="rouge", stake=100, seat="S1", player="P4"),
            event("s", 9, "ball.settled", pocket="1"),
            event("s", 10, "payout.made", wager="a", winnings=200, stake_returned=100),
            event("s", 11, "payout.made", wager="b", winnings=200, stake_returned=100),
            event("s", 12, "payout.made", wager="c", winnings=100, stake_returned=0, continues_as="e"),
            event("s", 13, "payout.made", wager="d", winnings=100, stake_returned=100),
        ]
    ).as_dict()
    owners = {name: wager["player"] for name, wager in answer["wagers"].items()}
    assert owners == {"a": "P1", "b": None, "c": "P2", "d": "P4", "e": "P2"}
    assert [(found["wager"], found["player"]) for found in answer["findings"]] == [("a", "P1"), ("b", None)]
