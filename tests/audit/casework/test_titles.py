"""An incident is called by its verdict wherever it is named: who owes whom how much, or what happened."""

from __future__ import annotations

import html
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from audit.access.scope import Scope
from audit.casework import actions, escalation, inbox
from audit.casework.titles import incident_title, second_line
from audit.exports.findings import COLUMNS, findings_by_id, findings_sheet
from audit.models import Case, EscalationNotice, Finding, Membership, Person, Role
from audit.notifications import case_mail, inbox_mail
from audit.presentation import reference
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_priority import found

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

ENGLISH = {"accept-language": "en"}
NAMED, BY_ID = "The house owes Ada Roux €180", "The house owes p0412 €180"
RULE = "Payout missing"


@pytest.fixture(scope=citus.MODULE)
def shared_desk(shared_desk: Desk) -> Desk:
    """A casino whose findings were all superseded, and that knows a player by name."""
    desk = shared_desk
    Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
    Person.objects.create(casino=desk.tenant.casino, kind="player", code="p0412", name="Ada Roux")
    return desk


def owing(desk: Desk) -> Finding:
    return found(desk, "major", rule="payout-missing", euros=-180, player="p0412")


def read(officer: Any, address: str) -> str:
    page = client_of(officer).get(address, headers=ENGLISH, follow=True)
    assert page.status_code == 200
    return html.unescape(page.content.decode())


@pytest.mark.parametrize(
    ("rule", "of", "title", "second"),
    [
        ("payout-missing", {"euros": -180}, "The house owes p1 €180", RULE),
        ("payout-overpaid", {"euros": 2}, "p1 was overpaid €2", "Paid too much"),
        ("dice-changed-during-point-series", {"player": ""}, "Dice changed during a point series", ""),
        ("goodwill-paid", {"recorded": 9_900}, "Goodwill payment: €99 recorded", ""),
        ("payout-missing", {"euros": -3, "owed": None, "player": ""}, f"{RULE}: €3 short, player not recorded", ""),
    ],
)
def test_a_title_says_who_what_and_how_much(desk: Desk, rule: str, of: Any, title: str, second: str) -> None:
    finding = found(desk, "major", rule=rule, **{"player": "p1", **of})
    assert incident_title(finding) == title
    assert second_line(finding, title) == second


def test_what_is_paid_is_no_longer_in_the_title(desk: Desk) -> None:
    finding = owing(desk)
    Finding.objects.filter(pk=finding.pk).update(cleared=18_000)
    assert incident_title(Finding.objects.get(pk=finding.pk)) == RULE


def test_the_title_is_french_in_french(desk: Desk) -> None:
    with override("fr"):
        assert incident_title(owing(desk)) == "La banque doit 180\N{NO-BREAK SPACE}€ à p0412"


def test_lists_the_overview_search_and_pages_of_persons_name_the_verdict_and_then_the_rule(desk: Desk) -> None:
    finding = owing(desk)
    page_of_person = reverse("admin:audit_person_player", args=(desk.tenant.casino.pk, "p0412"))
    for address in (
        "/admin/audit/finding/?queue=open",
        "/admin/audit/finding/?q=" + finding.stream.name,
        "/admin/",
        f"/admin/audit/finding/{finding.pk}/change/",
        f"/admin/search/?q={reference(finding)}",
        f"{page_of_person}?month={finding.gaming_day:%Y-%m}",
    ):
        page = read(desk.first, address)
        assert NAMED in page.replace('<em class="player">', "").replace("<mark>", "").replace("</mark>", ""), address
        assert RULE in page.partition("Ada Roux")[2], address


def test_closings_alone_and_in_a_batch_name_the_verdict(desk: Desk) -> None:
    first = owing(desk)
    actions.perform(first.case_id or 0, desk.second, "propose", reason="seen", outcome="explained")
    alone = read(desk.third, "/admin/approve/")
    assert f">{NAMED}</a><small>{RULE}" in alone
    second = owing(desk)
    actions.perform(second.case_id or 0, desk.second, "propose", reason="seen", outcome="explained")
    batch = read(desk.third, f"/admin/approve/batch/{first.pk}/")
    assert batch.count(f">{NAMED}</a>") == 2
    assert batch.count(f"</span> {NAMED}</label>") == 2
    assert RULE in batch


def test_the_inbox_names_the_verdict_and_its_digest_no_person(desk: Desk) -> None:
    case = owing(desk).case_id or 0
    actions.perform(case, desk.second, "assign", assignee=desk.first)
    assert f">{NAMED}</a>" in read(desk.first, "/admin/inbox/")
    lines = inbox.lines_of(desk.first, [desk.tenant.casino.pk], timezone.now())["assigned"]
    message = inbox_mail._message(desk.first, desk.tenant.casino, list(lines), [])
    assert BY_ID in message.body
    assert "Ada" not in message.body


def test_the_mail_about_late_cases_names_the_verdict_and_then_the_rule(desk: Desk) -> None:
    finding = owing(desk)
    Case.objects.filter(pk=finding.case_id).update(deadline=timezone.now() - timedelta(hours=1))
    escalation.escalate_late(timezone.now())
    Membership.objects.create(officer=desk.administrator, casino=desk.tenant.casino, role=Role.OFFICER)
    notices = EscalationNotice.objects.filter(escalation__case=finding.case_id, officer=desk.administrator)
    message = case_mail.late_message(list(notices), number=1)
    assert message is not None
    assert f"Finding: {BY_ID}\nRule: {RULE}\n" in message.body


def test_a_pattern_is_called_by_what_all_of_it_owes(desk: Desk) -> None:
    for player in ("p1", "p2", "p3"):
        found(desk, "major", rule="payout-missing", euros=-20, player=player, croupier="c-9")
    assert ">The house owes several players €60</a>" in read(desk.first, "/admin/audit/finding/?queue=open")


def test_a_file_has_the_verdict_and_the_rule(desk: Desk) -> None:
    finding = owing(desk)
    rows = findings_by_id([finding.pk], Scope(None))
    with override("en"):
        sheet = findings_sheet(rows)
    cells = dict(zip(COLUMNS, sheet.rows[0], strict=True))
    assert (cells["title"], cells["rule_title"], cells["rule"]) == (BY_ID, RULE, "payout-missing")
