"""Asking for the video: what is asked, of whom, how often, and what the message says."""

from __future__ import annotations

import re
import smtplib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import mail
from django.utils import timezone

from audit import tasks
from audit.casework import actions, escalation, video
from audit.casework.actions import ActionRefused
from audit.event_store import audit_trail
from audit.models import CaseContacts, Finding, Person, Role, VideoRequest
from audit.models.persons import PersonKind
from audit.notifications import case_mail
from audit.presentation import date_time, reference
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

ROOM = "video@casino.example"


@pytest.fixture(scope=citus.MODULE)
def shared_desk(shared_desk: Desk) -> Desk:
    CaseContacts.objects.create(casino=shared_desk.tenant.casino, video_room=ROOM)
    return shared_desk


def page_of(desk: Desk) -> Any:
    return client_of(desk.first).get(f"/admin/audit/finding/{desk.findings[0].pk}/change/")


def post(desk: Desk, **form: str) -> None:
    client_of(desk.first).post(f"/admin/audit/finding/{desk.findings[0].pk}/case/ask_video/", form)


def test_an_officer_asks_and_the_page_says_by_whom_and_when(desk: Desk) -> None:
    assert "case/ask_video/" in page_of(desk).content.decode()
    assert "It cannot be taken back." in page_of(desk).content.decode()
    post(desk)
    [request] = VideoRequest.objects.filter(case=desk.case)
    assert (request.requested_by, request.address, request.sent_at) == (desk.first, ROOM, None)
    at = date_time(request.requested_at, desk.tenant.casino)
    page = page_of(desk).content.decode()
    assert f"Video asked for at {at}, by {desk.first}." in page
    assert "The message waits for the mail server." in page
    entries = audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
    assert [each.actor for each in entries if each.type == "case.video_asked"] == [desk.first.username]
    assert actions.undoable(desk.case, desk.first) is None


def test_a_request_for_the_video_keeps_the_list_that_the_finding_was_opened_from(desk: Desk) -> None:
    kept = "?_changelist_filters=owed%3Dplayer"
    address = f"/admin/audit/finding/{desk.findings[0].pk}/change/{kept}"
    client = client_of(desk.first)
    page = client.get(address).content.decode()
    assert f'case/ask_video/{kept}"' in page
    answer = client.post(f"/admin/audit/finding/{desk.findings[0].pk}/case/ask_video/{kept}")
    assert answer.headers["location"] == address


def test_the_video_is_asked_for_twice_only_by_who_says_that_they_know(desk: Desk) -> None:
    post(desk)
    post(desk)
    assert desk.case.video_requests.count() == 1
    assert 'name="again"' in page_of(desk).content.decode()
    post(desk, again="1")
    assert desk.case.video_requests.count() == 2


def test_without_an_address_it_is_not_offered_and_the_page_says_who_sets_it() -> None:
    desk = Desk()
    page = page_of(desk).content.decode()
    assert "case/ask_video/" not in page
    assert "The video room has no address. An administrator of the casino sets it in Settings." in page
    with pytest.raises(ActionRefused):
        actions.perform(desk.case.pk, desk.first, "ask_video")
    assert not desk.case.video_requests.exists()


def test_it_is_asked_from_before_the_deciding_event_until_after_the_completing_one(desk: Desk) -> None:
    finding = desk.findings[0]
    finding.facts = {"decided_seq": 1}
    begins_at, ends_at = video.window_of(finding)
    first = desk.tenant.stream(desk.stream.name)
    assert ends_at == finding.occurred_at + video.AROUND
    assert begins_at < finding.occurred_at - video.AROUND
    finding.facts = {"decided_seq": finding.seq}
    assert video.window_of(finding) == (finding.occurred_at - video.AROUND, finding.occurred_at + video.AROUND)
    assert first.pk == finding.stream_id


def test_the_message_says_where_and_when_and_no_name(desk: Desk) -> None:
    casino = desk.tenant.casino
    with without_triggers():
        Finding.objects.filter(case=desk.case).update(player="p-7", croupier="c-9")
    Person.objects.create(casino=casino, code="p-7", kind=PersonKind.PLAYER, name="Anna Weil")
    actions.perform(desk.case.pk, desk.first, "ask_video")
    [request] = VideoRequest.objects.all()
    assert case_mail.send_video_request(request.pk)
    [message] = mail.outbox
    assert message.to == [ROOM]
    finding = Finding.objects.get(pk=request.finding_id)
    assert finding.table is not None
    begins_at, ends_at = video.window_of(finding)
    for text in (
        *(casino.name or casino.code, finding.table.code, finding.stream.name, reference(finding), "p-7"),
        *(date_time(each, casino, seconds=True, with_year=True) for each in (begins_at, ends_at)),
        date_time(begins_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS), casino, with_year=True),
        str(desk.first),
    ):
        assert text in message.body
    assert "Anna" not in message.body
    assert not case_mail.send_video_request(request.pk)
    assert len(mail.outbox) == 1
    assert "waits for the mail server" not in page_of(desk).content.decode()


def test_the_message_has_the_priority_and_the_most_urgent_request_is_mailed_first(desk: Desk) -> None:
    mild, urgent = found(desk, "minor", euros=5), found(desk, "critical", euros=900)
    for finding in (mild, urgent):
        actions.perform(finding.case_id or 0, desk.first, "ask_video")
    by_finding = {each.finding_id: each.pk for each in VideoRequest.objects.all()}
    in_order = [by_finding[urgent.pk], by_finding[mild.pk]]
    assert escalation.requests_to_mail(timezone.now()) == in_order
    for pk in in_order:
        assert case_mail.send_video_request(pk)
    lines = [re.search(r"^Priority: (.+)$", message.body, re.MULTILINE) for message in mail.outbox]
    assert [line and line[1] for line in lines] == ["4/4: critical · €100 or more", "1/4: minor · a small amount"]


def test_what_the_mail_server_refused_is_sent_by_the_sweep(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    actions.perform(desk.case.pk, desk.first, "ask_video")
    [request] = VideoRequest.objects.all()

    def refuse(self: object) -> int:
        raise ConnectionRefusedError

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", refuse)
        assert not case_mail.send_video_request(request.pk)
    request.refresh_from_db()
    assert request.sent_at is None
    sent: list[int] = []
    monkeypatch.setattr(tasks.mail_video_request, "delay", lambda request_id: sent.append(request_id))
    tasks.sweep_cases()
    assert sent == [], "not within the minute"
    VideoRequest.objects.update(next_try_at=timezone.now())
    tasks.sweep_cases()
    assert sent == [request.pk]


def refused_for_good(self: object) -> int:
    raise smtplib.SMTPRecipientsRefused({ROOM: (550, b"no such user")})


def test_a_refusal_for_good_is_tried_after_growing_pauses_given_up_after_days_and_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.core.mail.EmailMessage.send", refused_for_good)
    sent: list[int] = []
    monkeypatch.setattr(tasks.mail_video_request, "delay", lambda request_id: sent.append(request_id))
    start = timezone.now()
    pauses = []
    with time_machine.travel(start, tick=False) as clock:
        actions.perform(desk.case.pk, desk.first, "ask_video")
        while True:
            assert not case_mail.send_video_request(VideoRequest.objects.get().pk)
            request = VideoRequest.objects.get()
            assert not case_mail.send_video_request(request.pk), "not before its time"
            assert request.failures == VideoRequest.objects.get().failures == len(pauses) + 1
            if request.given_up_at is not None:
                break
            assert request.next_try_at is not None
            pauses.append(int((request.next_try_at - timezone.now()).total_seconds()) // 60)
            clock.move_to(request.next_try_at)
        assert pauses[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 240, 240]
        assert timedelta(days=3) <= request.given_up_at - start < timedelta(days=3, hours=4)
        assert "550" in request.error
        clock.shift(timedelta(days=30))
        tasks.sweep_cases()
        assert sent == []
        page = page_of(desk).content.decode()
        assert "it was given up at" in page
        settings_page = client_of(desk.administrator).get("/admin/audit/").content.decode()
        assert f"no mail server has accepted a message to {ROOM}" in settings_page
        assert "given up" in settings_page
        assert "550" in settings_page
    entries = audit_trail.entries_of(desk.tenant.casino.pk, request.given_up_at.date())
    assert [each.data["to"] for each in entries if each.type == "case.video_not_mailed"] == [ROOM]


def test_a_request_that_is_taken_later_is_no_failure_any_more(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    actions.perform(desk.case.pk, desk.first, "ask_video")
    [request] = VideoRequest.objects.all()
    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", refused_for_good)
        assert not case_mail.send_video_request(request.pk)
    settings_page = client_of(desk.administrator).get("/admin/audit/").content.decode()
    assert "not sent yet" in settings_page
    assert "it will be tried again" in page_of(desk).content.decode()
    other = Desk()
    assert ROOM not in client_of(other.administrator).get("/admin/audit/").content.decode()
    with time_machine.travel(timezone.now() + timedelta(minutes=2), tick=False):
        assert case_mail.send_video_request(request.pk)
    assert "not sent yet" not in client_of(desk.administrator).get("/admin/audit/").content.decode()


def test_officers_of_another_casino_and_auditors_do_not_ask(desk: Desk) -> None:
    for officer in (desk.auditor, hired(Tenant(), Role.OFFICER, "elsewhere")):
        with pytest.raises(ActionRefused):
            actions.perform(desk.case.pk, officer, "ask_video")
    assert not desk.case.video_requests.exists()
