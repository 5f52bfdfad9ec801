"""Officers and workers who act at once: each case is taken once, and escalated once. These tests commit."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction

from audit.casework import actions, escalation
from audit.casework.priority import by_urgency
from audit.models import Case, EscalationNotice, Finding, Officer
from tests.audit.casework.test_actions import Desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.superuser]


def test_two_officers_who_take_the_next_case_at_once_never_get_the_same() -> None:
    desk = Desk()
    gate = threading.Barrier(2)
    taken: list[int] = []

    def take(officer: Officer) -> None:
        try:
            for _ in desk.findings:
                gate.wait(10)
                case = actions.take_next(officer)
                if case is not None:
                    taken.append(case.pk)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=take, args=(officer,)) for officer in (desk.first, desk.second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == sorted({finding.case_id for finding in desk.findings})


def test_two_workers_side_by_side_escalate_a_case_once() -> None:
    desk = Desk()
    now = desk.case.deadline + timedelta(minutes=1)
    Case.objects.exclude(pk=desk.case.pk).update(deadline=now + timedelta(days=1))
    both = threading.Barrier(2)
    done: list[bool] = []

    def escalate() -> None:
        try:
            both.wait()
            done.append(escalation._escalate(desk.case.pk, now))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=escalate) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, True]
    assert desk.case.escalations.count() == 1
    notices = EscalationNotice.objects.filter(escalation__case=desk.case)
    assert [each.officer.username for each in notices] == [desk.administrator.username]


def test_the_next_case_is_taken_without_waiting_for_one_that_another_is_just_changing() -> None:
    desk = Desk()
    standing = by_urgency(Finding.objects.standing().filter(casino=desk.tenant.casino))
    urgent, next_urgent = list(dict.fromkeys(each.case for each in standing if each.case is not None))[:2]
    taken: list[Case | None] = []

    def take() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("set lock_timeout = '1s'")  # so that to wait is an error, and not a hung test
            taken.append(actions.take_next(desk.second))
        finally:
            connections.close_all()

    with transaction.atomic():
        Case.objects.select_for_update().get(pk=urgent.pk)
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
    assert taken == [next_urgent]
