"""A pattern: incidents of one rule and one croupier that an officer works on as one, each with a case of its own."""

from __future__ import annotations

import html
import re
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.casework import actions, patterns
from audit.event_store import audit_trail
from audit.models import Case, CaseAction, Finding, Officer, Role
from audit.presentation import reference
from audit.projections.cases import wrong_cases
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/finding/"
NOTE = "the same hand, four times"


@dataclass
class Repeated:
    """Four incidents of one rule by croupier c-9, each at a session of its own; officers who work on cases."""

    tenant: Tenant = field(default_factory=Tenant)

    def __post_init__(self) -> None:
        for number in range(4):
            self._play(f"pattern-{self.tenant.code}-{number}")
        own = Finding.objects.standing().filter(casino=self.tenant.casino, heads_case=True)
        rule = own.order_by("pk").values_list("rule", flat=True)[0]
        with without_triggers():
            own.filter(rule=rule).update(croupier="c-9")
        self.first = hired(self.tenant, Role.OFFICER, "first")
        self.second = hired(self.tenant, Role.SECOND, "second")
        self.auditor = hired(self.tenant, Role.AUDITOR, "auditor")
        self.rule = rule

    def _play(self, stream: str) -> None:
        assert self.tenant.post(stream, dice_changed_in_mid_series(self.tenant, stream)).status_code == 201
        while (progress := advance(self.tenant.stream(stream).pk)) is not None and progress.behind:
            pass

    @property
    def findings(self) -> list[Finding]:
        own = Finding.objects.standing().filter(casino=self.tenant.casino, rule=self.rule, heads_case=True)
        return list(own.select_related("case").order_by("occurred_at", "pk"))

    @property
    def cases(self) -> list[Case]:
        return [each.case for each in self.findings if each.case is not None]

    def page(self, officer: Officer) -> str:
        address = reverse("admin:audit_person_croupier", args=(self.tenant.casino.pk, "c-9"))
        month = f"{self.findings[0].gaming_day:%Y-%m}"
        answer = client_of(officer).get(f"{address}?month={month}", headers={"accept-language": "en"})
        return str(answer.content.decode())

    def open(self, officer: Officer, reason: str = NOTE) -> tuple[Client, str]:
        """Open the pattern by the page of the croupier; return the client and the page that follows."""
        address = reverse("admin:audit_person_pattern", args=(self.tenant.casino.pk, "c-9"))
        form = {"rule": self.rule, "month": f"{self.findings[0].gaming_day:%Y-%m}", "reason": reason}
        client = client_of(officer)
        page = client.post(address, form, follow=True, headers={"accept-language": "en"})
        assert page.status_code == 200
        return client, page.content.decode()

    def entries(self, *types: str) -> list[audit_trail.AuditEntry]:
        entries = audit_trail.entries_of(self.tenant.casino.pk, timezone.now().date())
        return [each for each in entries if each.type in types]


@pytest.fixture(scope=citus.MODULE)
def shared(module_db: None) -> Repeated:
    repeated = Repeated()
    repeated.tenant.client = Client()  # one that has answered nothing can be copied
    return repeated


@pytest.fixture
def repeated(shared: Repeated, db: None) -> Repeated:
    return deepcopy(shared)


def states(repeated: Repeated) -> list[tuple[str, Officer | None]]:
    return [(each.state, each.assigned_to) for each in repeated.cases]


def test_one_act_takes_every_open_incident_and_links_them_with_one_note(repeated: Repeated) -> None:
    opened = actions.open_pattern(repeated.first, repeated.findings, reason=f" {NOTE}\0")
    assert states(repeated) == [("investigating", repeated.first)] * 4
    name = reference(repeated.findings[0])
    assert (opened.name, len(opened.taken), len(opened.linked), opened.refused) == (name, 4, 0, [])
    ids = sorted(case.pk for case in repeated.cases)
    assert patterns.patterns_of(ids) == dict.fromkeys(ids, name)
    assert patterns.members(repeated.findings[2], name) == ids
    [entry] = repeated.entries("pattern.opened")
    assert (entry.actor, entry.reason) == (repeated.first.username, NOTE)
    assert entry.data == {"pattern": name, "rule": repeated.rule, "croupier": "c-9", "cases": ids}
    joined = repeated.entries("case.joined")
    assert [(each.data["case"], each.data["about"], each.reason) for each in joined] == [(pk, name, NOTE) for pk in ids]
    assert not list(wrong_cases(repeated.tenant.casino.pk)), "the cases are what the trail says"


def test_each_incident_keeps_its_case_and_its_deadline(repeated: Repeated) -> None:
    before = [(case.pk, case.deadline, case.opened_at) for case in repeated.cases]
    actions.open_pattern(repeated.first, repeated.findings, reason=NOTE)
    assert [(case.pk, case.deadline, case.opened_at) for case in repeated.cases] == before
    assert len({pk for pk, *_ in before}) == 4


def test_a_case_that_another_officer_has_is_linked_and_stays_with_them(repeated: Repeated) -> None:
    taken, proposed, closed, _ = [case.pk for case in repeated.cases]
    actions.perform(taken, repeated.second, "take")
    for pk in (proposed, closed):
        actions.perform(pk, repeated.first, "take")
        actions.perform(pk, repeated.first, "propose", reason="seen", outcome="confirmed")
    actions.perform(closed, repeated.second, "approve")
    opened = actions.open_pattern(repeated.first, repeated.findings, reason=NOTE)
    assert [case.pk for case in opened.linked] == [taken, proposed]
    assert len(opened.taken) == 1
    assert states(repeated) == [
        ("investigating", repeated.second),
        ("second", repeated.first),
        ("closed", repeated.first),
        ("investigating", repeated.first),
    ]
    assert closed not in patterns.patterns_of([case.pk for case in repeated.cases])
    assert not list(wrong_cases(repeated.tenant.casino.pk))


def test_what_is_found_later_joins_the_pattern_that_there_is(repeated: Repeated) -> None:
    name = actions.open_pattern(repeated.first, repeated.findings[1:3], reason=NOTE).name
    opened = actions.open_pattern(repeated.second, repeated.findings, reason="two more")
    assert opened.name == name == reference(repeated.findings[1])
    assert [case.pk for case in opened.taken] == [repeated.cases[0].pk, repeated.cases[3].pk]
    assert {each.data["pattern"] for each in repeated.entries("pattern.opened")} == {name}
    with pytest.raises(actions.ActionRefused, match="not yet part of a pattern"):
        actions.open_pattern(repeated.second, repeated.findings, reason="again")


def test_it_is_refused_without_a_note_a_role_or_two_incidents(repeated: Repeated) -> None:
    before = states(repeated)
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    for officer, findings, reason in (
        (repeated.first, repeated.findings, " \0 "),
        (repeated.auditor, repeated.findings, NOTE),
        (stranger, repeated.findings, NOTE),
        (repeated.first, repeated.findings[:1], NOTE),
    ):
        with pytest.raises(actions.ActionRefused):
            actions.open_pattern(officer, findings, reason=reason)
    assert states(repeated) == before
    assert repeated.entries("pattern.opened", "case.joined", "case.linked") == []


def test_a_case_is_put_into_a_pattern_once_and_never_without_its_name(repeated: Repeated) -> None:
    first, case = repeated.first, repeated.cases[0].pk
    with pytest.raises(actions.ActionRefused, match="which pattern"):
        actions.perform(case, first, "join", reason=NOTE)
    with pytest.raises(actions.ActionRefused, match="not part of a pattern"):
        actions.perform(case, first, "unlink")
    actions.perform(case, first, "join", reason=NOTE, pattern="F-26-0001")
    with pytest.raises(actions.ActionRefused, match="pattern already"):
        actions.perform(case, first, "link", reason=NOTE, pattern="F-26-0002")
    actions.perform(case, first, "unlink")
    assert patterns.pattern_of(repeated.cases[0]) == ""
    assert repeated.cases[0].assigned_to == first
    assert [each.data["about"] for each in repeated.entries("case.unlinked")] == ["F-26-0001"]


def test_the_page_of_the_croupier_offers_it_and_the_list_takes_it_back(repeated: Repeated) -> None:
    assert "Open one case for the pattern" in repeated.page(repeated.first)
    assert "Open one case for the pattern" not in repeated.page(repeated.auditor)
    actions.perform(repeated.cases[0].pk, repeated.second, "take")
    before = states(repeated)
    client, page = repeated.open(repeated.first)
    name = reference(repeated.findings[0])
    assert f"4 cases are in the pattern {name} now. You took 3 of them. 1 stays with its officer." in page
    shown = repeated.page(repeated.first)
    assert "Open one case for the pattern" not in shown, "they are one already"
    assert f">{name}</a>" in shown
    found = re.search(r'<form class="undo" method="post" action="([^"]*)">.*?name="actions" value="([^"]*)"', page)
    assert found
    client.post(html.unescape(found[1]), {"actions": found[2]})
    assert states(repeated) == before
    assert patterns.patterns_of([case.pk for case in repeated.cases]) == {}
    assert len(repeated.entries("case.left")) == 3
    assert len(repeated.entries("case.unlinked")) == 1
    assert len(repeated.entries("pattern.opened")) == 1, "nothing is deleted"
    assert not list(wrong_cases(repeated.tenant.casino.pk))


def test_the_page_of_a_finding_names_the_others_and_one_can_be_taken_out(repeated: Repeated) -> None:
    repeated.open(repeated.first)
    finding, *others = repeated.findings
    address = f"{LIST}{finding.pk}/change/"
    page = client_of(repeated.first).get(address, headers={"accept-language": "en"}).content.decode()
    card = page.split('aria-labelledby="together"')[1].split("</section>")[0]
    assert "Pattern of 4 incidents" in card
    for other in others:
        assert reference(other) in card
        assert f"{LIST}{other.pk}/change/" in card
    assert NOTE in page, "each case has the note"
    assert "took the case, as part of the pattern" in page
    client_of(repeated.first).post(f"{LIST}{finding.pk}/case/unlink/")
    page = client_of(repeated.first).get(address).content.decode()
    assert 'aria-labelledby="together"' not in page
    assert len(patterns.members(others[0], reference(finding))) == 3


def test_no_case_is_put_into_a_pattern_alone_and_nobody_opens_one_by_a_link(repeated: Repeated) -> None:
    client = client_of(repeated.first)
    for name in ("join", "link"):
        assert client.post(f"{LIST}{repeated.findings[0].pk}/case/{name}/", {"reason": NOTE}).status_code == 404
    address = reverse("admin:audit_person_pattern", args=(repeated.tenant.casino.pk, "c-9"))
    assert client.get(address).status_code == 405
    assert client.post(address, {"rule": repeated.rule, "month": "x", "reason": NOTE}).status_code == 404
    page = client.post(address, {"rule": "nothing", "month": "2026-11", "reason": NOTE}, follow=True)
    assert "No incident of this pattern is open." in page.content.decode()
    assert CaseAction.objects.filter(case__in=repeated.cases).count() == 0


def test_the_note_that_is_proposed_names_nobody(repeated: Repeated) -> None:
    page = html.unescape(repeated.page(repeated.first))
    note = re.search(r'<textarea id="pattern-note"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert note
    assert "of c-9, night of" in note[1]


def test_the_deadline_of_the_first_does_not_move_the_others(repeated: Repeated) -> None:
    Case.objects.filter(pk=repeated.cases[0].pk).update(deadline=timezone.now() - timedelta(hours=1))
    late = [case.deadline for case in repeated.cases]
    actions.open_pattern(repeated.first, repeated.findings, reason=NOTE)
    assert [case.deadline for case in repeated.cases] == late
