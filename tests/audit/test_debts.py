"""The debts of simulated nights add up: queue, incidents, night, persons, files, interface and webhooks agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from audit.access.scope import Scope
from audit.adjudication.replay import advance
from audit.casework import actions, payment_orders
from audit.casework.debts import claim_of, debt_of, debt_of_incident, with_money
from audit.casework.stakes import stake_of
from audit.desk.findings.queues import HEADS
from audit.desk.overview.waits import Loss
from audit.desk.persons.concerning import concerning
from audit.desk.persons.ranking import sums_of
from audit.exports.findings import findings_by_id, findings_sheet
from audit.models import Case, Finding, GamingTable, NightReport, OrderKind, OrderState, Role
from audit.notifications import feed
from audit.presentation import money
from audit.reconciliation import director, runs
from audit.simulation import RULESET_NAMES, play
from settlement.catalogue import RULES
from settlement.catalogue.money import NO_SUM
from settlement.catalogue.sentences import exponent
from settlement.differences import COMMISSIONS, NOT_OWED, PAID
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, record, session
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/finding/"

Sides = Mapping[str, int]
"""What is owed "to players" and "to house", in minor units."""

OF_MONEY = (
    *("payout-overpaid", "payout-underpaid", "payout-missing", "payout-duplicated", "stake-not-returned"),
    *("losing-wager-paid", "winning-wager-collected", "losing-wager-not-collected", "wager-after-no-more-bets"),
    *("push-paid", "barred-number-settled", "half-refund-mismatch", "imprisoned-stake-withdrawn", "events-lost"),
)


def sides(claims: Iterable[tuple[str, int]]) -> Sides:
    sums = {"house": 0, "player": 0}
    for by, amount in claims:
        sums[by] += amount
    return {"to players": sums["house"], "to house": sums["player"]}


class Played:
    """A casino with a night of one ruleset, recorded, adjudicated and reconciled."""

    def __init__(self, ruleset: str) -> None:
        self.tenant = Tenant(client=Client())
        drops = {}
        for seed, code in enumerate(("A1", "A2", "A3", "A4"), start=1):
            GamingTable.objects.create(casino=self.tenant.casino, code=code)
            wrong = OF_MONEY[seed - 1 :: 2] if seed < 3 else OF_MONEY
            if code == "A4":  # people err, and put some of it right in a later coup
                events = self.human(ruleset, code, seed)
            else:
                events = session(self.tenant.casino, code, ruleset=ruleset, seed=seed, coups=40, irregularities=wrong)
            stream = record(self.tenant.casino, events)
            drops[events[0]["stream"]] = buy_ins(events)
            while (progress := advance(stream)) is not None and progress.behind:
                pass
        self.currency = events[0]["data"]["currency"]
        record(self.tenant.casino, count(self.tenant.casino, drops, currency=self.currency))
        (self.report,) = runs.reconcile(self.tenant.casino, DAY, actor="test", now=MORNING)
        self.officer = hired(self.tenant, Role.OFFICER, "adder")
        self.kept = 0

    def human(self, ruleset: str, code: str, seed: int) -> Events:
        casino = self.tenant.casino
        played = play(
            ruleset, casino=casino.code, code=code, gaming_day=DAY, seed=seed, coups=60, human=True, belated=True
        )
        played.events[0]["data"] |= {"gaming_day": DAY.isoformat()}
        return played.events

    @property
    def standing(self) -> Any:
        return Finding.objects.standing().filter(casino=self.tenant.casino)

    def incidents(self) -> Sides:
        heads = list(with_money(self.standing.filter(HEADS)))
        for head in heads:
            of_case = debt_of(self.standing.filter(case=head.case_id).order_by("pk"))
            assert debt_of_incident(head) == of_case == debt_of_incident(Finding.objects.get(pk=head.pk))
        debts = [debt_of_incident(head) for head in heads]
        return {"to players": sum(each.to_players for each in debts), "to house": sum(each.to_bank for each in debts)}

    def queue(self, by: str) -> Sides:
        sums = client_of(self.officer).get(LIST, {"queue": "open", "by": by}).context["listed"].sums
        return {name: sums.owed[side, self.currency] for name, side in SIDES.items()}

    def groups(self, by: str) -> Sides:
        groups = client_of(self.officer).get(LIST, {"queue": "open", "by": by, "all": ""}).context["listed"].groups
        owed = [group.sums.owed for group in groups]
        return {name: sum(each[side, self.currency] for each in owed) for name, side in SIDES.items()}

    def file(self, ids: list[int]) -> Sides:
        sheet = findings_sheet(findings_by_id(ids, Scope(None)))
        names = [column.key for column in sheet.columns]
        rows = [dict(zip(names, row, strict=True)) for row in sheet.rows]
        of_rows = [(by, row[name]) for row in rows for by, name in IN_FILE.items() if row[name] is not None]
        return sides((by, int(amount * 100)) for by, amount in of_rows)

    def interface(self) -> Sides:
        found: list[dict[str, Any]] = []
        path: str | None = "findings"
        while path is not None:
            page = self.tenant.ask(path).json()
            found += page["results"]
            path = page["next"] and f"findings?{page['next'].partition('?')[2]}"
        return documented(found)

    def webhooks(self) -> Sides:
        feed.number(self.tenant.casino.pk)
        found = feed.documents(feed.changes(self.tenant.casino.pk, 0, limit=10_000))
        return documented({each["finding"]["id"]: each["finding"] for each in found}.values())

    def overview(self) -> Sides:
        return shown(client_of(self.officer).get("/admin/").context["overview"]["losses"], self.currency)

    def queue_and_closed(self) -> Sides:
        page = client_of(self.officer).get(LIST, {"queue": "open"}).context
        closed = shown(page["owed_by_closed"], self.currency)
        return {name: page["listed"].sums.owed[side, self.currency] + closed[name] for name, side in SIDES.items()}

    def of_night(self) -> Sides:
        page = client_of(self.officer).get(f"/admin/audit/nightreport/{self.report.pk}/change/").context
        return shown(page["owed"], self.currency)

    def on_pages_of_sums(self) -> list[Sides]:
        """What is owed by the pages that say it of several incidents: overview, queue, night, month, list of nights."""
        pages = (self.overview, self.queue_and_closed, self.of_night, self.of_month, self.in_list_of_nights)
        return [page() for page in pages]

    def in_list_of_nights(self) -> Sides:
        [listed] = client_of(self.officer).get("/admin/audit/nightreport/").context["cl"].result_list
        return shown(listed.money.owed, self.currency)

    def of_month(self) -> Sides:
        month = f"{self.tenant.casino.pk}/{DAY.year}/{DAY.month}/{self.currency}"
        return shown(
            client_of(self.officer).get(f"/admin/audit/nightreport/month/{month}/").context["owed"], self.currency
        )

    def claims_on_pages(self) -> Sides:
        """Return what the boxes of the claims on the pages of incidents say."""
        owings = [each for case in self.cases() for each in payment_orders.owings_of(case.pk)]
        return sides((each.by, each.amount) for each in owings)

    def cases(self) -> list[Case]:
        return list(Case.objects.filter(casino=self.tenant.casino).order_by("pk"))

    def without_amount(self) -> list[str]:
        """Return the findings without a debt that say “no amount”, and recorded another amount than was expected."""
        return [
            str(each)
            for each in self.standing
            if not (stake := stake_of(each)).amount
            and not stake.is_made_good
            and each.rule not in DEBTS | NO_SUM
            and "money" in (RULES[each.rule].expected_is, RULES[each.rule].recorded_is)
            and (each.expected or 0) != (each.recorded or 0)
        ]

    def treat_claims(self) -> Sides:
        """Close some cases, pay or waive some claims, keep one. Return what is settled."""
        second = hired(self.tenant, Role.SECOND, "second")
        settled: list[tuple[str, int]] = []
        owing_cases = [case for case in self.cases() if payment_orders.owings_of(case.pk)]
        for number, case in enumerate(owing_cases):  # the first is closed, and nothing is done about its claims
            if number % 3 == 0:
                actions.perform(case.pk, self.officer, "take")
                actions.perform(case.pk, self.officer, "propose", reason="seen", outcome="confirmed")
                actions.perform(case.pk, second, "approve")
            for owing in payment_orders.owings_of(case.pk):
                kind, since = OrderKind.PAYMENT if owing.by == "house" else OrderKind.WAIVER, None
                if number % 2 == 0:
                    continue
                is_kept = owing.by == "house" and not self.kept
                if is_kept:
                    kind, since, self.kept = OrderKind.NOT_FOUND, DAY, owing.amount
                order = payment_orders.begin(
                    self.officer, case, owing, kind, reason="the player asks", not_found_on=since
                )
                if number % 4 == 1 and not is_kept:
                    continue
                if order.state == OrderState.WAITING:
                    order = payment_orders.approve(second, order)
                if kind == OrderKind.PAYMENT:
                    payment_orders.record_paid(self.officer, order, receipt="R-1", cage="main", paid_on=DAY)
                settled.append((owing.by, owing.amount))
        return sides(settled)

    def kept_on_pages(self) -> list[list[str]]:
        """Return what the overview, the list of nights, the night and the month say is kept for persons not found."""
        client, month = client_of(self.officer), f"{self.tenant.casino.pk}/{DAY.year}/{DAY.month}/{self.currency}"
        en, reports = {"accept-language": "en"}, "/admin/audit/nightreport/"
        addresses = (f"{reports}{self.report.pk}/change/", f"{reports}month/{month}/")
        pages = [client.get(address, headers=en) for address in addresses]
        assert all("Kept for persons not found:" in page.content.decode() for page in pages)
        [listed] = client.get(reports, headers=en).context["cl"].result_list
        shown = [
            client.get("/admin/", headers=en).context["overview"]["kept"],
            listed.money.kept,
            *(page.context["kept"] for page in pages),
        ]
        return [[each.amount for each in kept] for kept in shown]

    def persons(self, role: str) -> Sides:
        codes = set(self.standing.exclude(**{role: ""}).values_list(role, flat=True))
        owed: Counter[str] = Counter()
        for code in codes:
            for (side, _currency), total in concerning(self.tenant.casino, role, code, DAY.replace(day=1)).sums.items():
                owed[side] += total
        return {name: owed[side] for name, side in SIDES.items()}

    def named(self, role: str) -> Sides:
        claims = [claim_of(each) for each in self.standing.exclude(**{role: ""})]
        return sides((each.by, each.amount) for each in claims if each is not None)


DEBTS = PAID | COMMISSIONS | NOT_OWED
"""The rules whose amount is a debt: it stands at one finding of an incident."""

IN_FILE = {"house": "owed_to_players", "player": "owed_to_bank"}

SIDES = {"to players": "player", "to house": "bank"}


def shown(losses: Iterable[Loss], currency: str) -> Sides:
    """Return the amounts of a page, which it writes to the cent."""
    digits = 10 ** exponent(currency)
    sums = {"player": 0, "bank": 0}
    for loss in losses:
        sums[loss.side] += int(Decimal(re.sub(r"[^0-9.]", "", loss.amount)) * digits)
    return {name: sums[side] for name, side in SIDES.items()}


def documented(found: Iterable[dict[str, Any]]) -> Sides:
    owing = (each for each in found if each["owed"] and each["status"] == "standing" and each["severity"] != "info")
    return sides((each["owed"]["by"], each["owed"]["amount"] - each["cleared"]) for each in owing)


def wrong_wagers(report: NightReport) -> Counter[tuple[int, str]]:
    """Return what the house has too much of each wager, by stream and wager, as the night has it."""
    errors = report.parsed_content()["errors"]
    return Counter({(each["stream_id"], each["wager"]): each["amount"] for each in errors})


@pytest.fixture(
    scope=citus.MODULE,
    params=[
        each if each == "fr-roulette" else pytest.param(each, marks=pytest.mark.faults)
        for each in sorted(RULESET_NAMES)
    ],
)
def shared_night(module_db: None, request: pytest.FixtureRequest) -> Played:
    """A night of each ruleset; in `make test` that of one."""
    night = Played(request.param)
    night.tenant.client = Client()  # one that has answered nothing can be copied
    return night


@pytest.fixture
def night(shared_night: Played, db: None) -> Played:
    return deepcopy(shared_night)


def test_every_page_and_paper_says_what_the_incidents_of_a_night_owe(night: Played) -> None:
    owed = night.incidents()
    assert sum(owed.values()) > 0
    for by in ("deadline", "nothing", "night", "croupier"):
        assert night.queue(by) == owed, by
    assert night.groups("night") == owed
    assert night.file(list(night.standing.filter(HEADS).values_list("pk", flat=True))) == owed, "a file of incidents"
    assert night.file(list(night.standing.values_list("pk", flat=True))) == owed, "a file of findings"
    assert night.interface() == owed
    assert night.webhooks() == owed
    for role in ("player", "croupier"):
        assert night.persons(role) == night.named(role), role
    assert night.on_pages_of_sums() == [owed] * 5
    assert night.without_amount() == []
    settled = night.treat_claims()
    owed = {name: amount - settled[name] for name, amount in owed.items()}
    assert night.incidents() == night.claims_on_pages() == owed
    assert night.kept_on_pages() == [[money(night.kept, night.currency)]] * 4
    assert night.on_pages_of_sums() == [owed] * 5
    assert night.file(list(night.standing.values_list("pk", flat=True))) == owed, "a file of findings"
    assert night.interface() == night.webhooks() == owed
    for role in ("player", "croupier"):
        assert night.persons(role) == night.named(role), role
    for order, name in (("by_owed", "to players"), ("by_overpaid", "to house")):
        ranked = sums_of(order, Scope(frozenset({night.tenant.casino.pk})))
        total = sum(night.named(role)[name] for role in ("player", "croupier"))
        assert sum(ranked.values()) == Decimal(total) / 100


def test_an_error_of_the_night_is_the_debt_of_its_wager(night: Played) -> None:
    """But for what the house gave and nobody owes: goodwill, and amounts rounded up."""
    owed: Counter[tuple[int, str]] = Counter()
    for each in night.standing:
        if (claim := claim_of(each)) is not None:
            owed[each.stream_id, each.wager] += claim.amount if claim.by == "player" else -claim.amount
    errors = wrong_wagers(night.report)
    rounded = set(night.standing.filter(rule="rounded-in-players-favour").values_list("stream_id", "wager"))
    given = {key: -errors[key] for key in errors if key[1].startswith("#") or key in rounded}
    assert {key: -amount for key, amount in errors.items() if key not in given} == dict(owed)
    kept, paid = director.errors_of(night.report.parsed_content())
    assert {"to players": kept, "to house": paid - sum(given.values())} == night.incidents()
