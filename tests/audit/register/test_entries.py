"""Entries of the house register: two people for each, the law above both, an entry of the audit trail for each step."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from audit.access import accounts
from audit.access.capabilities import Capability, roles_with
from audit.models import Casino, Membership, Officer, RegisterEntry, Role
from audit.register import entries
from audit.register.entries import Proposal, RegisterRefused
from audit.register.readings import CLAUSES, KINDS, TAKEN, ValueRefused, parse, written_default
from tests import citus
from tests.audit.access.test_accounts import Accounts
from tests.audit.casework.test_actions import hired
from tests.audit.register.register_desk import LONG_AGO, RegisterDesk

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def desk(module_db: None) -> RegisterDesk:
    return RegisterDesk()


def refused(function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(RegisterRefused) as error:
        function(*args, **kwargs)
    return str(error.value)


def test_an_entry_is_proposed_by_one_officer_and_approved_by_another_each_an_entry_of_the_trail(
    desk: RegisterDesk,
) -> None:
    entry = desk.decided("payout_unit", 100, reason="chips of 1 euro")
    assert (entry.state, entry.version, entry.value) == ("approved", 1, 100)
    assert (entry.proposed_by, entry.decided_by) == (desk.one, desk.other)
    proposed, approved = desk.trail()
    assert (proposed.type, proposed.actor, proposed.reason) == (
        "register.proposed",
        desk.one.username,
        "chips of 1 euro",
    )
    assert (approved.type, approved.actor) == ("register.approved", desk.other.username)
    assert approved.data == {
        "id": entry.pk,
        "reading": "payout_unit",
        "value": "100",
        "ruleset": "",
        "table": "",
        "first_day": "2020-01-01",
        "last_day": "",
        "proposed_by": desk.one.username,
    }


def test_nobody_approves_or_declines_their_own_proposal_and_the_attempt_is_recorded(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    assert "You proposed this" in refused(entries.approve, desk.one, entry.pk)
    assert "You proposed this" in refused(entries.decline, desk.one, entry.pk, reason="no")
    assert [(each.type, each.data.get("decision")) for each in desk.trail()[1:]] == [
        ("register.refused", "approved"),
        ("register.refused", "declined"),
    ]
    entry.refresh_from_db()
    assert entry.state == "waiting"


def test_accounts_in_the_same_hands_are_not_four_eyes() -> None:
    desk = Accounts()
    invitation = desk.invite(desk.chief, "new", Role.SECOND)
    assert invitation.request is not None
    accounts.approve(desk.one, invitation.request.pk)
    proposal = Proposal(reading="payout_unit", value=100, first_day=LONG_AGO, reason="custom")
    entry = entries.propose(invitation.officer, desk.tenant.casino, proposal)
    assert "could have chosen both passwords" in refused(entries.approve, desk.chief, entry.pk)


def test_whoever_proposed_withdraws_and_nobody_else(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    assert "withdraw" in refused(entries.withdraw, desk.other, entry.pk)
    assert entries.withdraw(desk.one, entry.pk).state == "withdrawn"
    assert "decided in the meantime" in refused(entries.approve, desk.other, entry.pk)


def test_a_declined_entry_has_a_reason_and_no_version(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    assert refused(entries.decline, desk.other, entry.pk, reason=" ") == "Give a reason."
    declined = entries.decline(desk.other, entry.pk, reason="the chips are of 5 euro")
    assert (declined.state, declined.version, declined.decision_reason) == (
        "declined",
        None,
        "the chips are of 5 euro",
    )


def test_an_entry_whose_proposer_has_left_is_not_approved(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    Membership.objects.filter(officer=desk.one).delete()
    assert "no longer keeps the register" in refused(entries.approve, desk.other, entry.pk)


def test_only_those_who_keep_the_register_of_the_casino_propose_and_decide(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    foreign = RegisterDesk()
    for role in Role:
        officer = hired(desk.tenant, role, role)
        if role in roles_with(Capability.KEEP_REGISTER):
            continue
        assert "do not keep" in refused(desk.proposed, "seat_limit", 6, by=officer), role
        assert "do not keep" in refused(entries.approve, officer, entry.pk), role
    assert "do not keep" in refused(desk.proposed, "seat_limit", 6, by=foreign.one)
    assert "do not keep" in refused(entries.approve, foreign.other, entry.pk)


def test_one_proposal_about_the_same_waits_at_a_time(desk: RegisterDesk) -> None:
    desk.proposed("payout_unit", 100)
    assert "already waiting" in refused(desk.proposed, "payout_unit", 200)
    desk.proposed("payout_unit", 200, table=desk.table("T1"))
    desk.proposed("payout_unit", 200, ruleset="fr-roulette")
    assert RegisterEntry.objects.filter(casino=desk.casino, state="waiting").count() == 3


def test_versions_are_counted_in_the_order_of_approval_and_in_each_casino(desk: RegisterDesk) -> None:
    first = desk.proposed("payout_unit", 100)
    second = desk.proposed("throw_delay_s", 20)
    assert entries.approve(desk.other, second.pk).version == 1
    assert entries.approve(desk.other, first.pk).version == 2
    assert RegisterDesk().decided("payout_unit", 100).version == 1


UNREADABLE: list[tuple[str, Any]] = [
    ("payout_unit", 0),
    ("payout_unit", "100"),
    ("payout_unit", 2**53),
    ("payout_unit", True),
    ("payout_unit", 1.5),
    ("throw_delay_s", -1),
    ("zero_rule", "never"),
    ("release_value", "choice"),
    ("commission_rounding", None.__class__.__name__),
    ("commission_refunded_on_withdrawal", 1),
    ("maximum", {}),
    ("maximum", {"Cheval": 1}),
    ("maximum", {"cheval": "1"}),
    ("maximum", [1]),
    ("double_table", "yes"),
    ("families", []),
    ("families", "calls"),
    ("families", ["wishes"]),
    ("still_played_by", " "),
    ("still_played_by", 1),
    ("minimum", -1),
    ("shifts", {}),
    ("shifts", "early=14:00"),
    ("shifts", ["early", "14:00"]),
    ("shifts", {"early": 14}),
    ("shifts", {"early": "14:00\n"}),
    ("shifts", {"early": "24:00"}),
    ("shifts", {"early": "9:00"}),
    ("shifts", {"early": "14:00", "late": "14:00"}),
    ("shifts", {"": "14:00"}),
    ("shifts", {"early ": "14:00"}),
    ("shifts", {"early\n": "14:00"}),
    ("shifts", {"ear,ly": "14:00"}),
    ("shifts", {"<b>": "14:00"}),
    ("shifts", {"early\u202e": "14:00"}),
    ("shifts", {"e" * 41: "14:00"}),
    ("shifts", {f"s{hour}": f"{hour:02}:00" for hour in range(13)}),
    ("luck", 1),
    ("", 1),
]

READABLE: list[tuple[str, Any]] = [
    ("payout_unit", 1),
    ("payout_unit", 2**53 - 1),
    ("commission_unit", 100),
    ("throw_delay_s", 0),
    ("call_tolerance_ms", 1000),
    ("result_slip_s", 30),
    ("seat_limit", 6),
    ("zero_rule", "choice"),
    ("release_value", "full"),
    ("commission_rounding", "nearest"),
    ("commission_refunded_on_withdrawal", True),
    ("maximum", {"cheval": 10_000}),
    ("minimum", 500),
    ("double_table", True),
    ("families", ["calls", "wheel"]),
    ("still_played_by", "the director, 3 March 2026"),
    ("shifts", {"early": "14:00", "late": "20:00", "night": "02:00"}),
    ("shifts", {"Relève de l’après-midi": "23:59", "nuit d'été": "00:00", "Œ": "00:01"}),
    ("shifts", {"e" * 40: "14:00"}),
    ("shifts", {f"s{hour}": f"{hour:02}:00" for hour in range(12)}),
    *((name, None) for name in KINDS),
]


def kind_of_proposal(desk: RegisterDesk, reading: str) -> dict[str, Any]:
    kind = KINDS.get(reading)
    return {
        "table": desk.table("T1") if kind and kind.is_of_table else None,
        "ruleset": next(iter(kind.rulesets)) if kind and (kind.is_of_ruleset or kind.is_of_table) else "",
    }


@pytest.mark.parametrize(("reading", "value"), UNREADABLE)
def test_what_the_engine_could_not_read_is_refused(desk: RegisterDesk, reading: str, value: Any) -> None:
    refused(desk.proposed, reading, value, **kind_of_proposal(desk, reading))


@pytest.mark.parametrize(("reading", "value"), READABLE)
def test_every_value_of_a_reading_is_taken(desk: RegisterDesk, reading: str, value: Any) -> None:
    assert desk.decided(reading, value, **kind_of_proposal(desk, reading)).value == value


def test_the_register_holds_every_parameter_of_the_engine() -> None:
    assert KINDS.keys() >= TAKEN
    assert KINDS.keys() - TAKEN == {"still_played_by", "shifts"}


UNLAWFUL = [
    ("zero_rule", "half", "fr-roulette", None),
    ("zero_rule", "lose", "", None),  # it reaches fr-roulette, too
    ("seat_limit", 8, "", None),
    ("seat_limit", 8, "", "T1"),
    ("seat_limit", 15, "", "T2"),
    ("call_tolerance_ms", 1001, "", None),
    ("result_slip_s", 31, "", None),
]


@pytest.mark.parametrize(("reading", "value", "ruleset", "table"), UNLAWFUL)
def test_what_contradicts_the_text_is_refused_with_the_clause(
    desk: RegisterDesk, reading: str, value: Any, ruleset: str, table: str | None
) -> None:
    desk.decided("double_table", True, table=desk.table("T2"))
    about = {"ruleset": ruleset, "table": desk.table(table) if table else None}
    with pytest.raises(RegisterRefused) as error:
        desk.proposed(reading, value, **about)
    finding = error.value.finding
    assert finding is not None
    assert finding.rule == "parameter-unlawful"
    assert f"{CLAUSES[reading][0]}: “" in str(error.value)


@pytest.mark.parametrize(
    ("reading", "value", "ruleset", "table"),
    [
        ("zero_rule", "half", "fr-american-roulette", None),
        ("zero_rule", "choice", "", None),
        ("seat_limit", 7, "", None),
        ("seat_limit", 14, "", "T2"),
        ("call_tolerance_ms", 1000, "", None),
        ("result_slip_s", 30, "", None),
    ],
)
def test_what_the_text_allows_is_taken(
    desk: RegisterDesk, reading: str, value: Any, ruleset: str, table: str | None
) -> None:
    desk.decided("double_table", True, table=desk.table("T2"))
    about = {"ruleset": ruleset, "table": desk.table(table) if table else None}
    assert desk.decided(reading, value, **about).version == 2


def test_what_was_lawful_when_it_was_proposed_is_asked_again_when_it_is_approved(desk: RegisterDesk) -> None:
    desk.decided("double_table", True, table=desk.table("T2"))
    entry = desk.proposed("seat_limit", 14, table=desk.table("T2"))
    desk.decided("double_table", False, table=desk.table("T2"))
    assert "14" in refused(entries.approve, desk.other, entry.pk)
    assert desk.trail()[-1].type == "register.refused"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"reason": " "}, "Give a reason"),
        ({"last_day": date(2019, 12, 31)}, "before the first"),
        ({"first_day": date(1989, 12, 31)}, "too far away"),
        ({"first_day": date(2101, 1, 1)}, "too far away"),
        ({"ruleset": "qc-craps"}, "has no such reading"),
        ({"ruleset": "chess"}, "has no such reading"),
    ],
)
def test_a_proposal_is_whole(desk: RegisterDesk, more: dict[str, Any], reason: str) -> None:
    assert reason in refused(desk.proposed, "seat_limit", 6, **more)


def test_a_proposal_names_the_table_or_the_ruleset_where_its_reading_is_of_one(desk: RegisterDesk) -> None:
    assert refused(desk.proposed, "double_table", True) == "Choose the table."
    assert refused(desk.proposed, "still_played_by", "the director") == "Choose the ruleset."
    for more in ({"table": desk.table("T1")}, {"ruleset": "fr-craps"}):
        assert "the whole casino" in refused(desk.proposed, "shifts", {"early": "14:00"}, **more)
    foreign = RegisterDesk()
    assert "no such table" in refused(desk.proposed, "payout_unit", 1, table=foreign.table("T1"))


@pytest.mark.parametrize(
    ("reading", "text", "value"),
    [
        ("payout_unit", " 100 ", 100),
        ("zero_rule", "half", "half"),
        ("double_table", "oui", True),
        ("double_table", "false", False),
        ("families", "calls, wheel", ["calls", "wheel"]),
        ("maximum", "cheval=5000, plein = 2500", {"cheval": 5000, "plein": 2500}),
        ("maximum", '{"cheval": 1}', {"cheval": 1}),
        ("still_played_by", "1998", "1998"),
        ("shifts", "early=14:00, late = 20h00 , night=2:00", {"early": "14:00", "late": "20:00", "night": "02:00"}),
        ("shifts", "e\u0301te\u0301=14 h 30", {"été": "14:30"}),
        ("shifts", '{"early": "14:00"}', {"early": "14:00"}),
    ],
)
def test_a_value_is_read_as_it_is_written(reading: str, text: str, value: Any) -> None:
    assert parse(reading, text) == value


@pytest.mark.parametrize(
    ("reading", "text"),
    [
        ("payout_unit", ""),
        ("payout_unit", "a\ud800"),
        ("still_played_by", "\0"),
        ("payout_unit", "[" * 500),
        ("maximum", "x"),
        ("shifts", "early"),
        ("shifts", ","),
        ("shifts", "early=14:00, early=20:00"),
        ("shifts", "early=14:60"),
        ("luck", "1"),
    ],
)
def test_an_invalid_value_is_refused(reading: str, text: str) -> None:
    with pytest.raises(ValueRefused):
        parse(reading, text)


@pytest.mark.parametrize(
    ("reading", "text", "currency", "value"),
    [
        ("payout_unit", "2.50", "EUR", 250),
        ("payout_unit", "2,50", "EUR", 250),
        ("payout_unit", "€2.50", "EUR", 250),
        ("payout_unit", "2,5\N{NO-BREAK SPACE}€", "EUR", 250),
        ("payout_unit", "2 500 eur", "EUR", 250_000),
        ("payout_unit", "$2", "CAD", 200),
        ("payout_unit", "25", "JPY", 25),
        ("payout_unit", "2.50 CAD", "", 250),
        ("minimum", "€5", "", 500),
        ("maximum", "cheval=50, plein = 12,50", "EUR", {"cheval": 5_000, "plein": 1_250}),
        ("maximum", "plein=12,50; cheval=€50", "EUR", {"cheval": 5_000, "plein": 1_250}),
        ("maximum", '{"cheval": 1}', "EUR", {"cheval": 1}),
        ("identification_from", "EUR=2000, CAD=10 000", "EUR", {"EUR": 200_000, "CAD": 1_000_000}),
        ("seat_limit", "7", "EUR", 7),
    ],
)
def test_an_amount_is_in_units_of_its_currency_at_the_desk(reading: str, text: str, currency: str, value: Any) -> None:
    assert parse(reading, text, currency) == value


@pytest.mark.parametrize(
    ("reading", "text", "currency", "reason"),
    [
        ("payout_unit", "2.505", "EUR", "write it as €2.50"),
        ("payout_unit", "2,000", "EUR", "write it as €2.50"),
        ("payout_unit", "2.50", "JPY", "write it as ¥2"),
        ("payout_unit", "2 CAD", "EUR", "write it as €2.50"),
        ("payout_unit", "€2€", "EUR", "write it as €2.50"),
        ("payout_unit", "-2", "EUR", "write it as €2.50"),
        ("payout_unit", "२", "EUR", "write it as €2.50"),
        ("payout_unit", "2.50", "", "write it as 2.50 EUR"),
        ("payout_unit", "2.50 euros", "", "write it as 2.50 EUR"),
        ("maximum", "cheval", "EUR", "write it as €2.50"),
        ("maximum", "cheval=5=6", "EUR", "write it as €2.50"),
    ],
)
def test_what_is_no_amount_of_the_currency_is_refused_with_an_example(
    reading: str, text: str, currency: str, reason: str
) -> None:
    with pytest.raises(ValueRefused, match=reason):
        parse(reading, text, currency)


def test_a_default_is_written_as_a_page_shows_it() -> None:
    shown = {name: written_default(name, default, "EUR") for name, default in SHOWN_DEFAULTS.items()}
    assert shown == {
        "payout_unit": "€0.01",
        "call_tolerance_ms": "500 ms",
        "zero_rule": "the player chooses: half, or prison",
        "commission_refunded_on_withdrawal": "no",
        "seat_limit": "7, 14",
        "maximum": "none",
    }


SHOWN_DEFAULTS = {
    "payout_unit": "1",
    "call_tolerance_ms": "500",
    "zero_rule": "choice",
    "commission_refunded_on_withdrawal": "false",
    "seat_limit": "7, 14",
    "maximum": "none",
}


def test_the_days_of_an_entry_are_both_included() -> None:
    entry = RegisterEntry(first_day=LONG_AGO, last_day=date(2020, 1, 31))
    days = (date(2019, 12, 31), LONG_AGO, date(2020, 1, 31), date(2020, 2, 1))
    assert [entry.covers(day) for day in days] == [False, True, True, False]


def test_a_superuser_keeps_every_register(desk: RegisterDesk) -> None:
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    entry = desk.proposed("payout_unit", 100)
    assert entries.approve(chief, entry.pk).decided_by == chief
    assert Casino.objects.get(pk=desk.casino.pk).register.count() == 1


def test_a_proposal_that_does_not_exist_is_refused_by_its_name(desk: RegisterDesk) -> None:
    with pytest.raises(RegisterEntry.DoesNotExist):
        entries.approve(desk.other, 2**40)
    assert Proposal(reading="x", value=1, first_day=LONG_AGO).table is None
