"""Who is written to about a casino, and which recordings were asked for: held against the trail."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.casework import actions
from audit.models import Case, Finding, NightSubscriber, Role, VideoRequest
from audit.projections.takeover import keep_settings
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge
from tests.audit.projections.test_contacts import entered_contacts
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser, pytest.mark.usefixtures("own_log")]

ADD = reverse("admin:audit_nightsubscriber_add")


def entered_receivers(casino: Casino) -> tuple[NightSubscriber, VideoRequest]:
    """Have an administrator enter a subscriber, change it, and delete another; have an officer ask for a video."""
    client = client_of(hired(casino.tenant, Role.ADMINISTRATOR, "clerk"))
    sent = {"casino": str(casino.casino.pk), "language": "fr", "receives_reports": "on"}
    for officer in (casino.director, casino.auditor):
        assert client.post(ADD, sent | {"officer": str(officer.pk)}).status_code == 302
    kept, gone = NightSubscriber.objects.filter(casino=casino.casino).order_by("pk")
    changed = sent | {"officer": str(casino.director.pk), "language": "en", "receives_alerts": "on"}
    assert client.post(reverse("admin:audit_nightsubscriber_change", args=(kept.pk,)), changed).status_code == 302
    deletion = reverse("admin:audit_nightsubscriber_delete", args=(gone.pk,))
    assert client.post(deletion, {"post": "yes"}).status_code == 302
    case = Case.objects.filter(casino=casino.casino, state="new").earliest("pk")
    actions.perform(case.pk, casino.officer, "ask_video")
    return NightSubscriber.objects.get(pk=kept.pk), case.video_requests.get()


@pytest.fixture(scope=citus.MODULE)
def receivers(_committed_before: None) -> dict[str, int]:
    casino = Casino()
    casino.played("dice")
    entered_contacts(casino)
    subscriber, request = entered_receivers(casino)
    keep_settings()
    assert faults() == []
    others = {"other": casino.other.pk, "casino": casino.casino.pk}
    return {"subscriber": subscriber.pk, "request": request.pk, **others}


SUBSCRIBERS = {
    "update audit_nightsubscriber set officer_id = {other} where id = {subscriber}": "officer",
    "update audit_nightsubscriber set language = 'fr' where id = {subscriber}": "language",
    "update audit_nightsubscriber set receives_reports = false where id = {subscriber}": "reports",
    "update audit_nightsubscriber set receives_alerts = false where id = {subscriber}": "alerts",
    "update audit_nightsubscriber set id = -1 where id = {subscriber}": "no entry says so",
    "delete from audit_nightsubscriber where id = {subscriber}": "is missing",
    "insert into audit_nightsubscriber (casino_id, officer_id, language) values ({casino}, {other}, 'fr')": "no entry",
}
REQUESTS = {
    "update audit_videorequest set address = 'them@elsewhere.example' where id = {request}": "address",
    "update audit_videorequest set language = 'es' where id = {request}": "language",
    "update audit_videorequest set begins_at = begins_at - interval '1 hour' where id = {request}": "begins_at",
    "update audit_videorequest set ends_at = ends_at + interval '1 hour' where id = {request}": "ends_at",
    "update audit_videorequest set kept_until = kept_until + interval '1 day' where id = {request}": "kept_until",
    "update audit_videorequest set requested_at = requested_at - interval '1 hour' where id = {request}": "instant",
    "update audit_videorequest set requested_by_id = {other} where id = {request}": "officer",
    "update audit_videorequest set case_id = (select id from audit_case where id <> case_id limit 1)"
    " where id = {request}": "case",
    "update audit_videorequest set finding_id = (select id from audit_finding f where f.casino_id = {casino}"
    " and f.case_id <> audit_videorequest.case_id limit 1) where id = {request}": "finding",
    "update audit_videorequest set id = -1 where id = {request}": "no entry says so",
    "delete from audit_videorequest where id = {request}": "is missing",
    "insert into audit_videorequest (case_id, finding_id, requested_by_id, requested_at, address, language, begins_at,"
    " ends_at, kept_until, failures, error) select case_id, finding_id, requested_by_id, requested_at, address,"
    " language, begins_at, ends_at, kept_until, failures, error from audit_videorequest where id = {request}": (
        "no entry says so"
    ),
}


@pytest.mark.parametrize("statement", in_short([*SUBSCRIBERS, *REQUESTS], every=4))
def test_what_somebody_wrote_past_the_desk_is_named(receivers: dict[str, int], statement: str) -> None:
    forge(statement, **receivers)
    found = faults()
    assert {each.part for each in found} == {"subscriber" if statement in SUBSCRIBERS else "video"}
    named = (SUBSCRIBERS | REQUESTS)[statement]
    assert any(named in each.what for each in found)


def test_a_request_about_the_finding_of_another_run_is_named(receivers: dict[str, int]) -> None:
    """Both findings have the same event, rule and wager."""
    generated = {"id", "engine_version", "content"}
    columns = ", ".join(each.column for each in Finding._meta.local_concrete_fields if each.column not in generated)
    forge(
        f"with copied as (insert into audit_finding (engine_version, {columns}) select '0', {columns}"
        " from audit_finding where id = (select finding_id from audit_videorequest where id = {request}) returning id)"
        " update audit_videorequest set finding_id = (select id from copied) where id = {request}",
        **receivers,
    )
    [named] = [each.what for each in faults() if each.part == "video"]
    assert "finding" in named
