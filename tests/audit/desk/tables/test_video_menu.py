"""The video of a moment is asked for in an open case of the session: by whom, of what, once, and what is on record."""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.casework import actions, video
from audit.event_store import audit_trail, read
from audit.models import CaseAction, CaseContacts, Finding, Officer, Role, VideoRequest
from audit.models.cases import Outcome
from audit.notifications import case_mail
from audit.presentation import date_time, local, reference
from settlement.codec import decode_one_stored
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_video import ROOM
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(desk: Desk) -> Desk:
    CaseContacts.objects.create(casino=desk.tenant.casino, video_room=ROOM)
    return desk


def head_of(desk: Desk) -> Finding:
    return next(
        each for each in desk.findings
        if (each.case_id, each.seq, each.rule) == (desk.case.pk, desk.case.seq, desk.case.rule)
    )  # fmt: skip


def page_of(desk: Desk, at: int = 3, clock: str = "") -> str:
    page = reverse("admin:audit_loggedstream_table", args=(desk.stream.pk,))
    return f"{page}?at={at}" + (f"&clock={clock}" if clock else "")


def menu_of(officer: Officer, desk: Desk, **where: Any) -> Any:
    return client_of(officer).get(page_of(desk, **where), headers={"accept-language": "en"}).context["video"]


def ask(officer: Officer, desk: Desk, **form: Any) -> Any:
    client: Client = client_of(officer)
    address = f"/admin/audit/finding/{head_of(desk).pk}/case/ask_video/"
    return client.post(address, form, follow=True, headers={"accept-language": "en"})


def instant_of(desk: Desk, seq: int) -> Any:
    return decode_one_stored(read.events_at(desk.stream.pk, [seq])[seq]).occurred_at


def test_the_video_of_the_moment_is_requested_for_in_the_chosen_case_and_the_officer_stays_there(desk: Desk) -> None:
    shown = client_of(desk.first).get(page_of(desk), headers={"accept-language": "en"}).content.decode()
    assert f"/admin/audit/finding/{head_of(desk).pk}/case/ask_video/" in shown
    answer = ask(desk.first, desk, at="3")
    assert answer.redirect_chain == [(page_of(desk), 302)]
    assert f"The video was asked for under case {reference(head_of(desk))}." in answer.content.decode()
    [request] = VideoRequest.objects.filter(case=desk.case)
    instant = instant_of(desk, 3)
    assert (request.begins_at, request.ends_at) == (instant - video.AROUND, instant + video.AROUND)
    assert request.requested_by == desk.first
    clock = f"{local(instant, desk.tenant.casino):%H:%M}"
    [action] = CaseAction.objects.filter(case=desk.case, type="case.video_asked")
    assert action.about == clock
    entries = audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
    assert [each.data["about"] for each in entries if each.type == "case.video_asked"] == [clock]
    body = case_mail.video_message(request).body
    assert date_time(request.begins_at, desk.tenant.casino, seconds=True, with_year=True) in body


def test_the_clock_of_the_address_is_what_is_requested_for_not_the_event_before_it(desk: Desk) -> None:
    [*_rest, last] = read.slice_of(desk.stream.pk, after=0, limit=100)
    clock = f"{local(decode_one_stored(last[1]).occurred_at, desk.tenant.casino):%H:%M}"
    answer = ask(desk.first, desk, at="1", clock=clock)
    assert answer.redirect_chain[0][0].endswith(f"?at=1&clock={clock.replace(':', '%3A')}")
    [request] = VideoRequest.objects.filter(case=desk.case)
    assert f"{local(request.begins_at + video.AROUND, desk.tenant.casino):%H:%M:%S}" == f"{clock}:00"


def test_what_was_asked_for_and_shows_the_moment_is_not_asked_for_again(desk: Desk) -> None:
    assert [each.is_requested for each in menu_of(desk.first, desk).cases if each.finding == head_of(desk)] == [False]
    ask(desk.first, desk, at="3")
    assert [each.is_requested for each in menu_of(desk.first, desk).cases if each.finding == head_of(desk)] == [True]
    assert "The video has already been asked for." in ask(desk.first, desk, at="3").content.decode()
    assert desk.case.video_requests.count() == 1
    [request] = desk.case.video_requests.all()
    assert video.was_requested(desk.case, request.ends_at)
    assert not video.was_requested(desk.case, request.ends_at + timedelta(seconds=1))


def test_the_menu_has_the_open_cases_of_the_session_and_no_others(desk: Desk) -> None:
    assert head_of(desk) in [each.finding for each in menu_of(desk.first, desk).cases]
    actions.perform(desk.case.pk, desk.first, "take")
    actions.perform(desk.case.pk, desk.first, "propose", reason="seen", outcome=Outcome.CONFIRMED)
    actions.perform(desk.case.pk, desk.second, "approve")
    assert head_of(desk) not in [each.finding for each in menu_of(desk.first, desk).cases]
    assert "The case is closed." in ask(desk.first, desk, at="3").content.decode()
    assert not desk.case.video_requests.exists()


def test_only_who_works_on_cases_of_the_casino_is_offered_it(desk: Desk) -> None:
    assert menu_of(desk.auditor, desk) is None
    shown = client_of(desk.auditor).get(page_of(desk)).content.decode()
    assert "ask_video" not in shown
    stranger = hired(Tenant(), Role.OFFICER, "elsewhere")
    assert ask(stranger, desk, at="3").status_code in (403, 404)
    assert not desk.case.video_requests.exists()


def test_without_an_address_the_page_says_who_sets_it(shared_desk: Desk, db: None) -> None:
    desk = deepcopy(shared_desk)
    shown = client_of(desk.first).get(page_of(desk), headers={"accept-language": "en"}).content.decode()
    assert "The video room has no address. An administrator of the casino sets it in Settings." in shown
    assert "ask_video" not in shown


@pytest.mark.parametrize(
    "at",
    in_short(["99999", "x"], further=["0", "-1", "9" * 40]),
)
def test_a_moment_that_the_session_does_not_have_asks_for_nothing(desk: Desk, at: str) -> None:
    assert ask(desk.first, desk, at=at).status_code == 404
    assert not desk.case.video_requests.exists()


def test_the_menu_is_one_query(desk: Desk) -> None:
    client = client_of(desk.first)
    client.get(page_of(desk))
    with CaptureQueriesContext(connection) as captured:
        client.get(page_of(desk))
    assert sum("audit_videorequest" in each["sql"] for each in captured) == 1
