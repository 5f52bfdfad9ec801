"""An incident shows its debt once, wherever its claim stands: owed, partly paid, put right, settled."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from django.utils.translation import override

from audit.adjudication.replay import advance
from audit.casework.debts import (
    debt_of_incident,
    incidents_owing,
    owed_at_finding,
    owing,
    stake_of_incident,
    with_money,
)
from audit.casework.payment_orders import owings_of
from audit.casework.stakes import stake_of
from audit.desk.persons.concerning import concerning
from audit.models import Finding, PaymentOrder
from audit.presentation import reference
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_priority import found
from tests.audit.sessions import event, unique_name

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/finding/"

NEW = "/admin/audit/paymentorder/new/{}/"

WON = ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1_000, "player": "p1"})
RESULT = ("ball.settled", {"pocket": "1"})
SWEPT = ("stakes.collected", {"wagers": ["w1"]})
NEXT = ("ball.settled", {"pocket": "2"})
PART = ("payout.made", {"wager": "w1", "winnings": 500, "stake_returned": 0})
REST = ("payout.made", {"wager": "w1", "winnings": 500, "stake_returned": 1_000})
DISPUTED = ("dispute.opened", {"wager": "w1", "player": "p1"})


def settled(approved_by: str) -> tuple[str, dict[str, Any]]:
    return ("dispute.settled", {"opened": 6, "amount": 2_000, "approved_by": approved_by})


class Table:
    """A winner's stake is swept, and he is not paid: the cause owes nothing, its consequence everything."""

    def __init__(self, desk: Desk) -> None:
        Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
        self.desk, self.name = desk, unique_name()
        opened = {"game": "french_roulette", "ruleset": "fr-roulette", "observes": ["collections"]}
        self.seq = 1
        assert desk.tenant.post(self.name, [desk.tenant.opener(self.name, **opened)]).status_code == 201
        self.play(WON, RESULT, SWEPT, NEXT)

    def play(self, *kinds: tuple[str, dict[str, Any]]) -> None:
        events = [event(self.name, self.seq + number, kind, **data) for number, (kind, data) in enumerate(kinds, 1)]
        self.seq += len(events)
        assert self.desk.tenant.post(self.name, events).status_code == 201
        while (progress := advance(self.desk.tenant.stream(self.name).pk)) is not None and progress.behind:
            pass

    def standing(self, rule: str) -> Finding:
        return Finding.objects.standing().get(stream__name=self.name, rule=rule)

    @property
    def head(self) -> Finding:
        return self.standing("winning-wager-collected")

    @property
    def claim(self) -> Finding:
        return self.standing("payout-missing")

    def get(self, path: str, **query: str) -> Any:
        return client_of(self.desk.first).get(LIST + path, query, headers={"accept-language": "en"})

    def row(self, **query: str) -> Any:
        rows = [row for group in self.get("", queue="open", **query).context["listed"].groups for row in group.rows]
        (row,) = [row for row in rows if row.finding.pk == self.head.pk]
        return row

    def words(self) -> str:
        return stake_of_incident(self.head).text


@pytest.fixture
def table(desk: Desk) -> Table:
    return Table(desk)


def test_the_line_of_an_incident_has_the_claim_of_its_consequence(table: Table) -> None:
    assert (table.head.owed, table.head.difference) == (None, None)
    for by in ("deadline", "night"):
        row = table.row(by=by)
        assert (row.stake.side, row.stake.amount, row.stake.words) == ("player", "€20.00", "owed to p1")
        assert [each.words for each in row.consequences.first] == ["€20.00"]
    sums = table.get("", queue="open").context["listed"].sums
    assert (sums.to_players, sums.overpaid) == ("€20", "")


def test_the_filters_of_a_queue_are_about_the_incident_and_those_of_a_list_about_the_finding(table: Table) -> None:

    def listed(**query: str) -> set[int]:
        groups = table.get("", **query).context["listed"].groups
        return {row.finding.pk for group in groups for row in group.rows}

    in_queue = {"queue": "open"}
    for query in ({"amount": "10"}, {"loses": "players"}, {"owed": "player"}):
        assert listed(**query, **in_queue) == {table.head.pk}
        assert listed(**query) == {table.claim.pk}
    for query in ({"amount": "none"}, {"loses": "nobody"}):
        assert listed(**query, **in_queue) == set()
        assert listed(**query) == {table.head.pk}
    (row,) = (row for group in table.get("", amount="none").context["listed"].groups for row in group.rows)
    assert (row.stake.words, row.without_money) == ("no amount", "owed at another finding")
    assert listed(amount="100", **in_queue) == listed(loses="house", **in_queue) == set()
    assert listed(o="4", **in_queue) == {table.head.pk}


def test_the_page_of_each_finding_leads_to_the_one_with_the_claim(table: Table) -> None:
    page = table.get(f"{table.head.pk}/change/")
    assert page.context["verdict"].plain_title == "The house owes p1 €20"
    assert page.context["verdict"].rule_title
    shown = page.content.decode()
    assert "The claim of this incident is at" in shown
    assert reference(table.claim) in shown
    assert [step.title for step in page.context["todo"]][1] == "Pay p1 €20."
    assert NEW.format(table.head.pk) in shown
    page = table.get(f"{table.claim.pk}/change/")
    assert page.context["verdict"].plain_title == "The house owes p1 €20"
    assert "The claim of this incident is at" not in page.content.decode()


def test_a_payment_order_is_of_the_incident_whichever_of_its_findings_it_is_made_at(table: Table) -> None:
    client, claim = client_of(table.desk.first), {"kind": "payment", "by": "house", "player": "p1"}
    for finding in (table.head, table.claim):
        confirming = client.get(NEW.format(finding.pk), claim, headers={"accept-language": "en"})
        assert (confirming.context["amount"], confirming.context["who"]) == ("€20.00", "p1")
        client.post(NEW.format(finding.pk), {**claim, "amount": "2000"})
    (order,) = PaymentOrder.objects.filter(case=table.head.case_id)
    assert (order.amount, order.player, order.state) == (2_000, "p1", "ordered")
    assert table.words() == "€20 owed to p1", "an order pays nothing"


def test_what_is_paid_in_part_is_owed_less(table: Table) -> None:
    table.play(PART, NEXT)
    assert table.words() == "€15 owed to p1, partly paid"
    with override("fr"):
        assert table.words() == "15\N{NO-BREAK SPACE}€ dus à p1, payé en partie"
    assert table.row().stake.amount == "€15.00"
    assert debt_of_incident(table.head).to_players == 1_500
    page = table.get(f"{table.claim.pk}/change/")
    assert page.context["verdict"].plain_title == "The house owes p1 €15"
    assert not page.context["verdict"].is_difference, "due less paid is what was found, not what is owed now"


def test_what_was_put_right_owes_nothing_and_is_on_no_payment_order(table: Table) -> None:
    table.play(PART, NEXT, REST, NEXT)
    assert table.words() == "put right"
    row = table.row()
    assert (row.stake.amount, row.stake.words, row.without_money) == ("", "put right", "")
    assert table.get("", queue="open").context["listed"].sums.to_players == ""
    client = client_of(table.desk.first)
    for finding in (table.head, table.claim):
        assert client.get(NEW.format(finding.pk), {"kind": "payment", "by": "house", "player": "p1"}).status_code == 404
        assert "paymentorder/new" not in table.get(f"{finding.pk}/change/").content.decode()


@pytest.mark.parametrize(("approved_by", "severity"), [("chief", "info"), ("p1", "critical")])
def test_what_was_settled_owes_nothing_whoever_approved_it(table: Table, approved_by: str, severity: str) -> None:
    table.play(DISPUTED, settled(approved_by), NEXT)
    assert (table.head.severity, table.claim.severity) == (severity, severity)
    assert debt_of_incident(table.head).amount == 0
    assert table.words() == "settled"
    with override("fr"):
        assert table.words() == "réglé à l’amiable"
    assert table.row().stake.amount == ""
    assert "paymentorder/new" not in table.get(f"{table.claim.pk}/change/").content.decode()


def test_an_incident_of_several_players_has_a_claim_for_each(desk: Desk) -> None:
    first = found(desk, "major", rule="payout-missing", euros=-50, player="p1")
    for euros, player in ((-20, "p2"), (-5, "p1"), (30, "p3")):
        found(desk, "major", rule="payout-missing" if euros < 0 else "payout-overpaid", euros=euros, player=player,
              case=first.case)  # fmt: skip
    first = Finding.objects.get(pk=first.pk)
    assert (debt_of_incident(first).to_players, debt_of_incident(first).to_bank) == (7_500, 3_000)
    assert stake_of_incident(first).text == "€75 owed to players; €30 owed to the house"
    owings = [(each.by, each.player, each.amount) for each in owings_of(first.case_id or 0)]
    assert owings == [("house", "p1", 5_500), ("house", "p2", 2_000), ("player", "p3", 3_000)]
    page = client_of(desk.first).get(f"{LIST}{first.pk}/change/", headers={"accept-language": "en"})
    assert page.context["verdict"].plain_title == "The house owes several players €75"


def test_information_owes_nothing_in_memory_in_sql_and_to_lists(desk: Desk) -> None:
    first = found(desk, "major", rule="payout-missing", euros=-50, player="p1")
    for euros in (-20, 30):
        found(desk, "info", rule="payout-missing", euros=euros, player="p1", case=first.case)
    of_case = Finding.objects.standing().filter(case=first.case)
    (with_its_money,) = with_money(of_case.filter(pk=first.pk))
    for head in (Finding.objects.get(pk=first.pk), with_its_money):
        assert (debt_of_incident(head).to_players, debt_of_incident(head).to_bank) == (5_000, 0)
    assert [*owing(of_case, "house")] == [first]
    assert not owing(of_case, "player")
    assert incidents_owing(of_case, "house").count() == 3
    assert not incidents_owing(of_case, "player")
    assert sorted(of_case.annotate(now=owed_at_finding()).values_list("now", flat=True)) == [0, 0, 5_000]
    for query in ({"queue": "open", "by": "night"}, {"queue": "open", "by": "deadline"}):
        groups = client_of(desk.first).get(LIST, query).context["listed"].groups
        (row,) = [row for group in groups for row in group.rows if row.finding.pk == first.pk]
        assert (row.stake.side, row.stake.amount) == ("player", "€50.00")
        assert [each.words for each in row.consequences.first] == ["", ""]
    found_of = concerning(desk.tenant.casino, "player", "p1", first.gaming_day.replace(day=1))
    assert found_of.sums == {("player", "EUR"): 5_000}


def test_a_claim_that_no_longer_stands_is_owed_by_no_incident(desk: Desk) -> None:
    table = Table(desk)
    standing = Finding.objects.standing()
    assert set(incidents_owing(standing, "house")) == {table.head, table.claim}
    Finding.objects.filter(pk=table.claim.pk).update(status="superseded", superseded_at=timezone.now())
    assert not incidents_owing(standing, "house").exists()


@pytest.mark.parametrize(
    ("rule", "expected", "recorded", "english", "french"),
    [
        ("accounting-variance", 0, -91_600, "€916 less than expected", "916 € de moins que prévu"),
        ("accounting-variance", 100, 91_700, "€916 more than expected", "916 € de plus que prévu"),
        ("goodwill-paid", None, 500, "€5 recorded", "5 € enregistré"),
        pytest.param(
            "imprisoned-stake-withdrawn", None, 1_000, "€10 recorded", "10 € enregistré", marks=pytest.mark.faults
        ),
        ("dice-rubbed-or-held", None, None, "no amount", "aucun montant"),
    ],
)
def test_money_that_nobody_owes_has_its_amount(
    desk: Desk, rule: str, expected: int | None, recorded: int | None, english: str, french: str
) -> None:
    finding = found(desk, "major", rule=rule, expected=expected, recorded=recorded, owed=None)
    assert stake_of(finding).text == english
    with override("fr"):
        assert stake_of(finding).text.replace("\N{NO-BREAK SPACE}", " ") == french
    row = next(
        row
        for group in client_of(desk.first)
        .get(LIST, {"queue": "open"}, headers={"accept-language": "en"})
        .context["listed"]
        .groups
        for row in group.rows
        if row.finding.pk == finding.pk
    )
    assert bool(row.stake.amount) == (english != "no amount")
