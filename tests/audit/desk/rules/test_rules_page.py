"""*Rules and law*: every rule once, the page of a rule, and what both cost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.casework import actions
from audit.desk.rules import catalogue
from audit.models import Case, Finding, Membership, Role
from audit.models.cases import Outcome
from settlement.catalogue import RULES
from settlement.law_coverage.families import looked_at
from tests.audit.casework.test_actions import client_of, hired, sign_in
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db


def tenant_with(*streams: str) -> Tenant:
    tenant = Tenant()
    play(tenant, *streams)
    return tenant


def play(tenant: Tenant, *streams: str) -> None:
    for stream in streams:
        assert tenant.post(stream, dice_changed_in_mid_series(tenant, stream)).status_code == 201
        advance(tenant.stream(stream).stream_id)


def desk_of(tenant: Tenant) -> Client:
    client = Client(headers={"accept-language": "en"})
    sign_in(client, hired(tenant, Role.AUDITOR, f"auditor-{tenant.code}"))
    return client


def shown(client: Client, *address: str) -> str:
    name, *arguments = address
    response = client.get(reverse(f"admin:{name}", args=arguments))
    assert response.status_code == 200
    return response.content.decode()


def section(page: str, name: str) -> str:
    return page.split(f'aria-labelledby="{name}"', 1)[1].split("</section>")[0]


def a_rule_that_fired(tenant: Tenant) -> str:
    return str(
        Finding.objects.standing().filter(casino=tenant.casino, case__isnull=False).values_list("rule", flat=True)[0]
    )


def test_every_rule_is_listed_once_and_leads_to_its_page() -> None:
    page = shown(desk_of(tenant_with("s")), "rules")
    linked = re.findall(r'<a class="b" href="/admin/rules/([\w-]+)/">', page)
    assert sorted(linked) == sorted(RULES)


def unopened(names: Iterable[str], *languages: str) -> list[tuple[str, str]]:
    """Return the rules whose page does not open, each in one of ``languages``, which take turns."""
    client = desk_of(Tenant())
    return [
        (name, language)
        for name, language in zip(names, cycle(languages), strict=False)
        if client.get(reverse("admin:rule", args=(name,)), headers={"accept-language": language}).status_code != 200
    ]


def test_the_page_of_every_fourteenth_rule_opens() -> None:
    assert unopened(list(RULES)[::14], "en", "fr") == []


@pytest.mark.faults
def test_the_page_of_every_rule_opens_in_both_languages() -> None:
    assert unopened(RULES, "en") + unopened(RULES, "fr") == []


SEVERITIES = {
    "critical": ("s4", "Critical"),
    "major": ("s3", "Major"),
    "minor": ("s2", "Minor"),
    "info": ("s1", "Information"),
}


def test_the_severity_of_every_rule_is_bars_with_their_word_in_the_list_and_on_its_page() -> None:
    client = desk_of(Tenant())
    of_bars = r'<span class="sev (s\d)" title="Severity: \w+"><svg [^>]*aria-hidden="true">.*?</svg><span>(\w+)</span>'
    listed = re.findall(rf'<a class="b" href="/admin/rules/([\w-]+)/">[^<]*</a>{of_bars}', shown(client, "rules"))
    assert {name: (level, word) for name, level, word in listed} == {
        name: SEVERITIES[rule.severity] for name, rule in RULES.items()
    }
    for severity in SEVERITIES:
        name = next(rule.name for rule in RULES.values() if rule.severity == severity)
        assert set(re.findall(of_bars, shown(client, "rule", name))) == {SEVERITIES[severity]}


QUEBEC = "qc-s-13.1-r-3-s-95.17"


@pytest.mark.parametrize("address", [("rules",), ("rule", "undue-commission"), ("law", QUEBEC)])
@pytest.mark.parametrize(
    ("language", "cited", "not_cited"), [("en", "s. 95.17", "art. 95"), ("fr", "art. 95.17", "s. 95")]
)
def test_a_section_is_an_article_in_french(address: tuple[str, ...], language: str, cited: str, not_cited: str) -> None:
    client = desk_of(Tenant())
    page = client.get(reverse(f"admin:{address[0]}", args=address[1:]), headers={"accept-language": language})
    shown = page.content.decode()
    assert cited in shown
    assert not re.search(rf"\b{re.escape(not_cited)}", shown)


def test_french_cites_the_by_law_of_quebec_as_it_is_called_in_french() -> None:
    page = desk_of(Tenant()).get(reverse("admin:law", args=(QUEBEC,)), headers={"accept-language": "fr"})
    assert '<span lang="fr">RLRQ, c. S-13.1, r. 3</span>' in page.content.decode()


def test_an_unknown_rule_has_no_page() -> None:
    assert desk_of(Tenant()).get(reverse("admin:rule", args=("no-such-rule",))).status_code == 404


def test_a_clause_is_marked_in_the_language_of_its_text() -> None:
    quoting = next(rule for rule in RULES.values() if any(each.marked for each in catalogue.clauses_of(rule, "en")))
    page = shown(desk_of(Tenant()), "rule", quoting.name)
    clause = next(each for each in catalogue.clauses_of(quoting, "en") if each.marked)
    assert clause.marked is not None
    assert f'<blockquote lang="{clause.marked.text.language}">' in page
    assert "<mark>" in page


def test_an_officer_sees_the_counts_of_their_own_casinos_alone() -> None:
    own, other = tenant_with("s"), tenant_with("s", "t")
    name = a_rule_that_fired(own)
    page = shown(desk_of(own), "rule", name)
    assert f">{own.table.code}</a>" in section(page, "tables")
    assert str(own.casino) not in section(page, "tables"), "of one casino its name says nothing"
    assert other.casino.code not in page
    number = Finding.objects.standing().filter(casino=own.casino, rule=name).count()
    assert f'<div class="v">{number}</div>' in page


def test_who_sees_several_casinos_is_told_of_which_a_table_is_by_its_name() -> None:
    own, other = tenant_with("s"), tenant_with("s")
    both = hired(own, Role.OFFICER, "of both")
    Membership.objects.create(officer=both, casino=other.casino, role=Role.OFFICER)
    page = section(shown(client_of(both), "rule", a_rule_that_fired(own)), "tables")
    for each in (own, other):
        assert f">{each.casino} · {each.table.code}</a>" in page
        assert f">{each.casino.code} · " not in page


@pytest.mark.superuser
def test_the_last_findings_of_a_rule_are_cards_that_leave_nothing_blank() -> None:
    own = tenant_with("s")
    name = a_rule_that_fired(own)
    with without_triggers():
        Finding.objects.filter(casino=own.casino, rule=name).update(player="", croupier="")
    last = section(shown(desk_of(own), "rule", name), "last")
    assert re.search(r'<table [^>]*class="cards ', last)
    assert last.count('<span class="dim">not known</span>') >= 2
    assert re.search(r'<td class="what [^"]*"[^>]*><a class="b"', last), "the reference is the title of a card"


def test_the_share_that_was_closed_as_mistaken_is_shown_with_its_counts() -> None:
    tenant = tenant_with("s", "t")
    name = a_rule_that_fired(tenant)
    cases = Case.objects.filter(findings__casino=tenant.casino, findings__rule=name).distinct()
    before = shown(desk_of(tenant), "rule", name)
    assert "none closed" in before
    first, second = hired(tenant, Role.OFFICER, "first"), hired(tenant, Role.SECOND, "second")
    for case, outcome in zip(cases.order_by("pk"), (Outcome.MISTAKEN, Outcome.CONFIRMED), strict=True):
        actions.perform(case.pk, first, "take")
        actions.perform(case.pk, first, "propose", reason="the camera shows it", outcome=outcome)
        actions.perform(case.pk, second, "approve")
    client = Client(headers={"accept-language": "en"})
    sign_in(client, hired(tenant, Role.DIRECTOR, "director"))
    page = shown(client, "rule", name)
    assert "1 of 2" in page
    assert "50%, all rules" in page


@pytest.mark.parametrize("is_of_one_rule", [False, True])
def test_the_queries_do_not_grow_with_findings(is_of_one_rule: bool) -> None:
    tenant = tenant_with("s")
    client, name = desk_of(tenant), a_rule_that_fired(tenant)
    address = ("rule", name) if is_of_one_rule else ("rules",)

    def cost() -> int:
        shown(client, *address)
        with CaptureQueriesContext(connection) as captured:
            shown(client, *address)
        return len(captured)

    before = cost()
    play(tenant, "t", "u")
    assert cost() == before


def test_a_reading_of_the_register_is_shown_in_money_and_one_that_is_fixed_by_its_clauses() -> None:
    desk = RegisterDesk()
    play(desk.tenant, "s")
    desk.decided("payout_unit", 50)
    page = shown(desk_of(desk.tenant), "rule", "payout-missing")
    readings = page[page.index('id="readings"') :]
    assert "€0.50" in readings
    assert not re.search(r"<h3>[^<]*_", readings), "the name of a reading is for programs"


def test_a_rule_says_what_it_needs_to_see_and_that_no_setting_changes_its_severity() -> None:
    desk = desk_of(Tenant())
    of_custody = desk.get(reverse("admin:rule", args=("dice-change-not-authorised",))).content.decode()
    assert '<b class="b">Who holds the equipment</b>' in of_custody
    assert "At a table that does not report this, it finds nothing" in of_custody
    assert "The rule sets it; no setting changes it." in of_custody
    at_every_table = next(name for name in RULES if not looked_at(name))
    page = desk.get(reverse("admin:rule", args=(at_every_table,))).content.decode()
    assert "it is checked at every table" in page


def test_near_a_rule_are_those_of_its_clauses_and_sentences_and_never_itself() -> None:
    rule = RULES["dice-change-not-authorised"]
    near = catalogue.near(rule)
    assert 0 < len(near) <= catalogue.NEAR
    assert rule not in near
    own = {label for labels in rule.provisions.values() for label in labels}
    assert own & {label for labels in near[0].provisions.values() for label in labels}


def test_the_buttons_of_a_rule_lead_through_the_whole_list_once() -> None:
    order = [rule for group in catalogue.groups() for rule in group.rules]
    seen, rule = [order[0]], catalogue.around(order[0])[1]
    while rule is not None:
        assert catalogue.around(rule)[0] is seen[-1]
        seen.append(rule)
        rule = catalogue.around(rule)[1]
    assert seen == order
    assert catalogue.around(order[0])[0] is None
    page = desk_of(Tenant()).get(reverse("admin:rule", args=(order[1].name,))).content.decode()
    assert f'href="{reverse("admin:rule", args=(order[0].name,))}" aria-label="Previous rule"' in page
    assert f'href="{reverse("admin:rule", args=(order[2].name,))}" aria-label="Next rule"' in page
