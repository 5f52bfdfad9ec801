"""A case that is late: who is told, once, and what the desk says of it."""

from __future__ import annotations

import smtplib
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from audit import tasks
from audit.casework import actions, escalation
from audit.event_store import audit_trail
from audit.models import Case, CaseContacts, Escalation, EscalationNotice, Membership, Officer, Role
from audit.notifications import case_mail
from audit.presentation import date_time, reference
from tests.audit.casework.test_actions import Desk, client_of, hired

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def with_deputy(desk: Desk) -> Officer:
    deputy = hired(desk.tenant, Role.SECOND, "deputy")
    CaseContacts.objects.create(casino=desk.tenant.casino, deputy=deputy)
    return deputy


def made_late(desk: Desk) -> datetime:
    """Have one case be late by a minute, and return when it is."""
    return desk.case.deadline + timedelta(minutes=1)


def sweep(desk: Desk, now: datetime) -> list[Escalation]:
    """Escalate at ``now``; only the first case of the desk is late then."""
    Case.objects.exclude(pk=desk.case.pk).update(deadline=now + timedelta(days=1))
    escalation.escalate_late(now)
    return list(Escalation.objects.filter(case__casino=desk.tenant.casino))


def notified(desk: Desk) -> list[str]:
    return sorted(each.officer.username for each in EscalationNotice.objects.filter(escalation__case=desk.case))


def mailed(desk: Desk, officer: Officer) -> int:
    return case_mail.send_notices(officer.pk, desk.tenant.casino.pk)


def test_a_case_late_by_a_minute_is_escalated_once_to_its_officer_and_the_deputy(desk: Desk) -> None:
    deputy, now = with_deputy(desk), made_late(desk)
    actions.perform(desk.case.pk, desk.first, "take")
    [escalated] = sweep(desk, now)
    assert (escalated.case, escalated.deadline, escalated.deputy) == (desk.case, desk.case.deadline, deputy)
    assert notified(desk) == sorted([deputy.username, desk.first.username])
    assert sweep(desk, now + timedelta(hours=1)) == [escalated]
    [entry] = [
        each
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == "case.escalated"
    ]
    assert (entry.actor, entry.data["case"]) == ("system", desk.case.pk)
    assert entry.data["to"] == [deputy.username, desk.first.username]
    Case.objects.filter(pk=desk.case.pk).update(deadline=desk.case.deadline - timedelta(hours=1))
    assert len(sweep(desk, now)) == 2, "once for each deadline"


def test_a_case_is_not_escalated_before_its_deadline_nor_when_it_was_closed(desk: Desk) -> None:
    now = made_late(desk)
    assert sweep(desk, desk.case.deadline) == []
    desk.proposed_by(desk.first)
    actions.perform(desk.case.pk, desk.second, "approve")
    assert sweep(desk, now) == []
    assert not escalation._escalate(desk.case.pk, now), "closed after the sweep had listed it"


def test_a_case_that_no_replay_finds_any_more_is_not_escalated(desk: Desk) -> None:
    now = made_late(desk)
    desk.case.findings.update(status="superseded", superseded_at=now)
    assert sweep(desk, now) == []


def test_without_a_deputy_who_works_there_the_administrators_are_told_the_reference_alone(desk: Desk) -> None:
    deputy = with_deputy(desk)
    Membership.objects.filter(officer=deputy).update(role=Role.AUDITOR)
    Officer.objects.filter(pk=desk.administrator.pk).update(email="keeper@casino.example")
    [escalated] = sweep(desk, made_late(desk))
    assert escalated.deputy is None
    assert notified(desk) == [desk.administrator.username]
    assert mailed(desk, desk.administrator) == 1
    [message] = mail.outbox
    assert message.to == ["keeper@casino.example"]
    assert f"{desk.tenant.casino.reference_code}-" in message.subject
    finding = desk.findings[0]
    assert finding.table is not None
    assert f"Table: {finding.table.code}" not in message.body
    assert "Finding:" not in message.body
    assert mailed(desk, desk.administrator) == 0
    assert len(mail.outbox) == 1


def test_nobody_of_another_casino_is_told_nor_an_officer_who_has_left(desk: Desk) -> None:
    other = Desk()
    with_deputy(other)
    actions.perform(desk.case.pk, desk.first, "take")
    Membership.objects.filter(officer=desk.first).update(casino=other.tenant.casino)
    sweep(desk, made_late(desk))
    assert notified(desk) == [desk.administrator.username]


def test_without_a_mail_address_nothing_is_lost_and_the_page_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deputy = with_deputy(desk)
    Case.objects.filter(pk=desk.case.pk).update(deadline=timezone.now() - timedelta(minutes=1))
    [escalated] = sweep(desk, timezone.now())
    assert mailed(desk, deputy) == 0
    since = date_time(escalated.deadline, desk.tenant.casino)
    client = client_of(desk.first)
    page = client.get(f"/admin/audit/finding/{desk.findings[0].pk}/change/").content.decode()
    assert f"Late since {since}, passed to {deputy}." in page
    assert f"Not sent, because there is no e-mail address: {deputy}" in page
    queue = client.get("/admin/audit/finding/?queue=open").content.decode()
    assert f"passed to {deputy}" in queue
    sent: list[Any] = []
    monkeypatch.setattr(tasks.mail_late_cases, "delay", lambda **named: sent.append(tuple(named.values())))
    tasks.sweep_cases()
    assert (deputy.pk, desk.tenant.casino.pk) not in sent
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    tasks.sweep_cases()
    assert (deputy.pk, desk.tenant.casino.pk) in sent
    assert mailed(desk, deputy) == 1
    [message] = mail.outbox
    assert "Finding:" in message.body


def test_a_notice_of_a_case_closed_since_is_not_mailed_and_the_deputy_may_take_one_over(desk: Desk) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    actions.perform(desk.case.pk, desk.first, "take")
    [escalated] = sweep(desk, made_late(desk))
    assert actions.perform(desk.case.pk, deputy, "take").assigned_to == deputy
    desk.proposed_by(desk.first)
    actions.perform(desk.case.pk, desk.second, "approve")
    assert escalated.notices.count() == 2
    assert [mailed(desk, each) for each in (deputy, desk.first)] == [0, 0]
    assert not mail.outbox


def all_late(desk: Desk) -> list[Case]:
    """Escalate every case of a desk, as the first sweep after an upgrade does."""
    Case.objects.filter(casino=desk.tenant.casino).update(deadline=timezone.now() - timedelta(days=9))
    escalation.escalate_late(timezone.now())
    return list(Case.objects.filter(casino=desk.tenant.casino))


def test_cases_that_are_late_together_are_one_message_that_lists_them(desk: Desk) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    cases = all_late(desk)
    assert len(cases) > 1
    other = Desk()
    all_late(other)
    assert mailed(desk, deputy) == len(cases)
    [message] = mail.outbox
    assert message.to == ["deputy@casino.example"]
    assert f"{len(cases)} late cases" in message.subject
    references = [reference(each) for each in desk.findings]
    assert [each for each in references if each in message.body]
    assert message.body.count("Deadline:") == len(cases)
    addresses = {f"/admin/audit/finding/{each.pk}/" for each in other.findings}
    assert not [each for each in (str(other.tenant.casino), *addresses) if each in message.body], "of another casino"
    assert mailed(desk, deputy) == 0
    assert len(mail.outbox) == 1


def test_a_message_that_cannot_list_every_late_case_says_of_how_many_and_the_next_lists_the_rest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    cases = len(all_late(desk))
    monkeypatch.setattr(case_mail, "AT_ONCE", cases - 1)
    monkeypatch.setattr(escalation, "AT_ONCE", 1)
    assert len(escalation.waiting_since(timezone.now(), {desk.tenant.casino.pk})) >= cases
    assert (mailed(desk, deputy), mailed(desk, deputy), mailed(desk, deputy)) == (cases - 1, 1, 0)
    first, second = mail.outbox
    assert f"{cases} late cases" in first.subject
    assert f"This message has {cases - 1} of {cases}. The rest follows in another message." in first.body
    assert first.body.count("Deadline:") + second.body.count("Deadline:") == cases
    assert "This message has" not in second.body
    assert "Late: " in second.subject


def test_the_number_of_late_cases_is_of_those_whose_findings_still_stand(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    [*_, gone] = cases = all_late(desk)
    gone.findings.update(status="superseded", superseded_at=timezone.now())
    assert mailed(desk, deputy) == len(cases)
    [message] = mail.outbox
    assert message.body.count("Deadline:") == len(cases) - 1
    assert "This message has" not in message.body, "it has all of them"


def test_one_sweep_sends_one_task_an_officer_and_casino(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    all_late(desk)
    sent: list[Any] = []
    monkeypatch.setattr(tasks.mail_late_cases, "delay", lambda **named: sent.append(named))
    tasks.sweep_cases()
    theirs = [each for each in sent if each["officer_id"] == deputy.pk]
    assert theirs == [{"officer_id": deputy.pk, "casino_id": desk.tenant.casino.pk}]


def test_a_notice_that_no_server_takes_is_paused_given_up_and_said_on_the_case(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deputy = with_deputy(desk)
    Officer.objects.filter(pk=deputy.pk).update(email="deputy@casino.example")
    all_late(desk)

    def refuse(self: object) -> int:
        raise smtplib.SMTPSenderRefused(553, b"no", "cabochon@localhost")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    now = timezone.now()
    with time_machine.travel(now, tick=False) as clock:
        assert mailed(desk, deputy) == 0
        notices = EscalationNotice.objects.filter(officer=deputy)
        assert {each.failures for each in notices} == {1}
        assert escalation.officers_to_mail(now) == []
        clock.shift(timedelta(days=3, minutes=1))
        assert mailed(desk, deputy) == 0
        assert {each.given_up_at for each in notices.all()} == {timezone.now()}
        page = client_of(desk.first).get(f"/admin/audit/finding/{desk.findings[0].pk}/change/").content.decode()
        assert f"No mail server accepted the message, and it has been given up: {deputy}" in page
        clock.shift(timedelta(days=9))
        assert escalation.officers_to_mail(timezone.now()) == []
