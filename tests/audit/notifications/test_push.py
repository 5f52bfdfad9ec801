"""Browser push: who is notified of what, in which words, and what becomes of a browser that is gone."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import tasks
from audit.access import accounts
from audit.access.database_roles import READER, WEB, WORKER
from audit.adjudication.replay import advance
from audit.casework import actions
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import (
    Casino,
    Finding,
    ListKind,
    Membership,
    NightReport,
    Officer,
    PushKey,
    PushMessage,
    PushSubscription,
    Role,
)
from audit.notifications import push, push_news, push_subscriptions, webhook_http
from audit.presentation import reference
from audit.projections.push import wrong_push
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.notifications.browsers import Browser, bytes64
from tests.audit.notifications.receivers import Behaviour, Receiver
from tests.audit.notifications.test_reopened_mail import casino, officer, played_night, reopened, report, sign
from tests.audit.persons.test_listings import Floor
from tests.audit.persons.test_sightings import played
from tests.audit.persons.test_sightings import swept as seen
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.roles import acting_as

__all__ = ["casino", "played_night", "report"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("this_machine_may_be_sent_to")]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def browser(receiver: Receiver) -> Browser:
    return Browser(endpoint=receiver.url)


def swept() -> list[int]:
    with acting_as(WORKER):
        return push.sweep(timezone.now())


def sent(subscription: PushSubscription) -> int:
    with acting_as(WORKER):
        return push.send(subscription.pk)


def due_again() -> None:
    PushMessage.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))


def mention(desk: Desk, whom: Officer, text: str = "please look, @{}") -> None:
    actions.perform(desk.case.pk, desk.second, "comment", reason=text.format(whom.username))


def shown(browser: Browser, receiver: Receiver) -> list[dict[str, str]]:
    """Return what the browser shows of what its push service took."""
    return [browser.content(each.body) for each in receiver.taken]


def answering(status: int) -> Behaviour:
    return lambda handler, message: status


def ended() -> list[audit_trail.AuditEntry]:
    found = audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
    return [each for each in found if each.type == "push.ended"]


# What is sent, and to whom


def test_a_mention_is_encrypted_to_the_browser_and_signed_by_the_installation(
    desk: Desk, receiver: Receiver, browser: Browser
) -> None:
    subscription = browser.subscribe(desk.first)
    mention(desk, desk.first, "Gaétan Villeneuve lost €760, @{}")
    assert swept() == [subscription.pk]
    assert sent(subscription) == 1
    assert (swept(), sent(subscription)) == ([], 0), "once"
    [content] = shown(browser, receiver)
    head = desk.findings[0]
    assert content == {
        "text": f"You are mentioned: {reference(head)}",
        "path": f"audit/finding/{head.pk}/change/",
    }
    [message] = receiver.taken
    assert message.headers["content-encoding"] == "aes128gcm"
    assert (int(message.headers["ttl"]), message.headers["urgency"]) == (push.TTL_S, "high")
    key = PushKey.objects.get().public
    token = message.headers["authorization"].removeprefix("vapid t=").removesuffix(f", k={key}")
    verifier = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes64(key))
    audience = receiver.url.removesuffix("/hook")
    assert jwt.decode(token, verifier, algorithms=["ES256"], audience=audience)["sub"] == "mailto:cabochon@localhost"


def test_a_critical_incident_is_pushed_to_those_who_work_on_cases(
    desk: Desk, receiver: Receiver, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = browser.subscribe(desk.first)
    auditors = Browser(f"{receiver.url}/2").subscribe(desk.auditor)
    elsewhere = Browser(f"{receiver.url}/3").subscribe(hired(Desk().tenant, Role.SECOND, "elsewhere"))
    assert swept() == [], "what was known before the browser was subscribed is no news"
    name = f"later-{desk.tenant.code}"
    assert desk.tenant.post(name, dice_changed_in_mid_series(desk.tenant, name)).status_code == 201
    while (progress := advance(desk.tenant.stream(name).pk)) is not None and progress.behind:
        pass
    assert swept() == [], "it happened ten days ago"
    monkeypatch.setattr(push_news, "NEWS_FOR", timedelta(days=30))
    assert swept() == [ours.pk]
    assert not PushMessage.objects.filter(subscription__in=[auditors, elsewhere]).exists()
    assert sent(ours) == 1
    [content] = shown(browser, receiver)
    assert re.fullmatch(r"Critical incident: [A-Z]{3}-\d\d-\d{4}", content["text"])
    assert client_of(desk.first).get(f"/admin/{content['path']}").status_code == 200


def test_nothing_of_a_sandbox_is_pushed(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Tenant("try-push", is_sandbox=True)
    browser.subscribe(hired(sandbox, Role.SECOND, "second"))
    assert sandbox.post("tried", dice_changed_in_mid_series(sandbox, "tried")).status_code == 201
    stream = sandbox.stream("tried").pk
    while (progress := advance(stream)) is not None and progress.behind:
        pass
    assert Finding.objects.standing().filter(stream=stream, severity="critical").exists()
    monkeypatch.setattr(push_news, "NEWS_FOR", timedelta(days=30))
    assert swept() == []


def test_a_night_reopened_after_a_signature_is_pushed_to_its_signer(
    report: NightReport, casino: Casino, receiver: Receiver, browser: Browser
) -> None:
    ada, eve = officer(casino, "ada"), officer(casino, "eve")
    Officer.objects.filter(pk=ada.pk).update(email="")
    subscription = browser.subscribe(ada, language="fr")
    Browser(f"{receiver.url}/2").subscribe(eve)
    sign(report, ada)
    later = reopened(report)
    assert swept() == [subscription.pk], "without a mail address, too"
    assert sent(subscription) == 1
    [content] = shown(browser, receiver)
    assert content["path"] == f"audit/nightreport/{later.pk}/change/"
    assert content["text"].startswith("Rouverte après votre ")
    assert content["text"].endswith(f"nuit du 19 nov. 2026, {casino.code}")
    assert client_of(ada).get(f"/admin/{content['path']}").status_code == 200


def test_an_excluded_player_at_a_table_is_pushed_without_his_id(receiver: Receiver, browser: Browser) -> None:
    floor = Floor()
    subscription = browser.subscribe(floor.first)
    floor.listed()
    played(floor.tenant)
    assert seen() == 1
    assert swept() == [subscription.pk]
    assert sent(subscription) == 1
    [content] = shown(browser, receiver)
    assert content == {"text": f"Excluded player at a table, {floor.casino.code}", "path": "inbox/"}
    assert client_of(floor.first).get(f"/admin/{content['path']}").status_code == 200


def test_no_notification_has_a_name_or_a_sum_whatever_is_noted(
    desk: Desk, receiver: Receiver, browser: Browser
) -> None:
    subscription = browser.subscribe(desk.first)
    mention(desk, desk.first, "Gaétan Villeneuve, p1, lost €760 at R7: @{}")
    swept()
    sent(subscription)
    text = json.dumps(shown(browser, receiver), ensure_ascii=False)
    for word in ("Villeneuve", "p1", "760", "R7", "€", desk.first.username, desk.second.username):
        assert word not in text


def test_ones_own_mention_one_of_long_ago_and_a_watched_player_are_no_news(desk: Desk, browser: Browser) -> None:
    browser.subscribe(desk.second)
    mention(desk, desk.second)
    assert swept() == [], "one's own note"
    Browser("https://push.example/2").subscribe(desk.first)
    mention(desk, desk.first)
    assert push.sweep(timezone.now() + timedelta(days=2)) == [], "two days ago"
    PushSubscription.objects.all().delete()
    floor = Floor()
    Browser("https://push.example/3").subscribe(floor.first)
    floor.listed(ListKind.WATCH)
    played(floor.tenant)
    assert seen() == 1
    assert swept() == [], "watched, and not excluded"


def test_who_has_left_or_may_no_longer_see_the_record_is_sent_nothing(
    desk: Desk, receiver: Receiver, browser: Browser
) -> None:
    subscription = browser.subscribe(desk.first)
    mention(desk, desk.first)
    assert swept() == [subscription.pk]
    Membership.objects.get(officer=desk.first).delete()
    assert sent(subscription) == 0
    assert receiver.came == []
    assert PushMessage.objects.get().given_up_at is not None
    mention(desk, desk.first)
    assert swept() == []


# Push services


def test_a_browser_that_is_gone_is_subscribed_no_more(desk: Desk, receiver: Receiver, browser: Browser) -> None:
    for status in (404, 410):
        receiver.behaviour = answering(status)
        subscription = browser.subscribe(desk.first)
        mention(desk, desk.first)
        swept()
        assert sent(subscription) == 0
        assert not PushSubscription.objects.exists()
        assert not PushMessage.objects.exists()
    assert [(each.actor, each.data["named"], each.data["error"]) for each in ended()] == [
        ("system", desk.first.username, "HTTP 404 Not Found"),
        ("system", desk.first.username, "HTTP 410 Gone"),
    ]
    assert [*wrong_push()] == []


def test_what_a_push_service_refuses_is_tried_again_in_order_and_given_up_after_three_days(
    desk: Desk, receiver: Receiver, browser: Browser
) -> None:
    subscription = browser.subscribe(desk.first)
    receiver.behaviour = answering(503)
    mention(desk, desk.first)
    mention(desk, desk.first, "and this, @{}")
    swept()
    assert sent(subscription) == 0
    assert sent(subscription) == 0, "it waits"
    first, second = PushMessage.objects.order_by("pk")
    assert (first.failures, first.error, second.failures) == (1, "HTTP 503 Service Unavailable", 0)
    due_again()
    receiver.behaviour = answering(201)
    assert sent(subscription) == 2
    receiver.behaviour = answering(302)
    mention(desk, desk.first)
    swept()
    sent(subscription)
    PushMessage.objects.update(failing_since=timezone.now() - timedelta(days=3))
    due_again()
    sent(subscription)
    assert PushMessage.objects.latest("pk").given_up_at is not None, "a redirect is no delivery"
    assert swept() == []


def test_a_slow_push_service_is_cut_off_and_others_go_on(
    desk: Desk, receiver: Receiver, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_http, "TOTAL_S", 0.3)
    slow = [Browser(f"{receiver.url}/{number}").subscribe(desk.first) for number in range(push.FAILING_AT_ONCE + 2)]

    answers = threading.Event()

    def hang(handler: Any, message: Any) -> int:
        answers.wait(60)
        return 201

    receiver.behaviour = hang
    mention(desk, desk.first)
    assert swept() == [each.pk for each in slow]
    assert sent(slow[0]) == 0, "the service has not answered yet"
    answers.set()
    assert PushMessage.objects.get(subscription=slow[0]).error == "no answer in time"
    PushMessage.objects.update(failures=1, next_try_at=timezone.now() - timedelta(seconds=1))
    assert len(swept()) == push.FAILING_AT_ONCE, "those that fail do not hold every thread"


@pytest.mark.parametrize(
    ("endpoint", "error"),
    [
        ("https://localhost/push", "internal"),
        ("https://169.254.169.254/latest", "internal"),
        ("https://[fec0::1]/push", "internal"),
        ("http://127.0.0.1/push", "not-https"),
    ],
)
def test_a_hostile_address_is_never_posted_to(desk: Desk, settings: Any, endpoint: str, error: str) -> None:
    settings.CABOCHON_WEBHOOK_NETWORKS = []
    if error == "not-https":
        with pytest.raises(push_subscriptions.NotSubscribed):
            Browser(endpoint).subscribe(desk.first)
        return
    subscription = Browser(endpoint).subscribe(desk.first)
    mention(desk, desk.first)
    swept()
    assert sent(subscription) == 0
    assert PushMessage.objects.get().error == webhook_http.REASONS[error]


def test_the_sweep_of_alerts_sends_a_task_for_each_browser(
    desk: Desk, browser: Browser, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription = browser.subscribe(desk.first)
    mention(desk, desk.first)
    called: list[int] = []
    monkeypatch.setattr(tasks.notify_push, "delay", lambda *, subscription_id: called.append(subscription_id))
    tasks.notify_alerts()
    assert called == [subscription.pk]
    assert tasks.notify_push(subscription_id=subscription.pk) == 1


def test_the_key_is_made_once() -> None:
    swept()
    key = PushKey.objects.get()
    swept()
    assert PushKey.objects.get() == key


# Whose browser it is


def test_another_officers_subscription_is_nobodys_to_make_or_to_end(desk: Desk, browser: Browser) -> None:
    subscription = browser.subscribe(desk.first)
    mark = audit_trail.address_mark
    form = browser.form | {"language": "en", "browser": "Firefox"}
    data = {
        "named": desk.first.username,
        "host": "127.0.0.1",
        "address": mark(browser.endpoint),
        "public_key": mark(form["public_key"]),
    }
    for type, secret in (("push.subscribed", json.dumps(form)), ("push.ended", None)):
        with pytest.raises(EntryRefused, match="not-allowed"):
            audit_trail.perform(desk.second.username, type, data=data, secret=secret)
        with pytest.raises(EntryRefused, match="not-its-trail"):
            audit_trail.perform(desk.first.username, type, casino_id=desk.tenant.casino.pk, data=data, secret=secret)
    with pytest.raises(EntryRefused, match="not-a-subscription"):
        push_subscriptions.end(desk.second, subscription)
    for changed in ({"address": mark("https://push.example/mine")}, {"public_key": mark("mine")}):
        with pytest.raises(EntryRefused, match="not-a-subscription"):
            audit_trail.perform(desk.first.username, "push.subscribed", data=data | changed, secret=json.dumps(form))
    assert PushSubscription.objects.get() == subscription


def test_a_browser_that_two_officers_share_notifies_the_last_who_subscribed(desk: Desk, browser: Browser) -> None:
    browser.subscribe(desk.first)
    subscription = browser.subscribe(desk.second)
    assert [each.officer for each in PushSubscription.objects.all()] == [desk.second]
    assert [*wrong_push()] == []
    push_subscriptions.end(desk.second, subscription)
    assert not PushSubscription.objects.exists()
    assert [*wrong_push()] == []


def test_an_officer_has_ten_browsers_at_most(desk: Desk) -> None:
    for number in range(push_subscriptions.MOST):
        Browser(f"https://push.example/{number}").subscribe(desk.first)
    with pytest.raises(push_subscriptions.NotSubscribed) as refused:
        Browser("https://push.example/more").subscribe(desk.first)
    assert refused.value.is_too_many
    Browser("https://push.example/more").subscribe(desk.second)


def test_of_an_account_that_is_deactivated_no_browser_is_left(desk: Desk, browser: Browser) -> None:
    browser.subscribe(desk.first)
    mention(desk, desk.first)
    swept()
    accounts.deactivate(desk.administrator, desk.first, reason="has left")
    assert not PushSubscription.objects.exists()
    assert not PushMessage.objects.exists()
    assert [*wrong_push()] == []


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        (WEB, "select private from audit_pushkey"),
        (READER, "select private from audit_pushkey"),
        (WEB, "select auth from audit_pushsubscription"),
        (READER, "select auth from audit_pushsubscription"),
        (WEB, "update audit_pushsubscription set officer_id = officer_id"),
        (WEB, "delete from audit_pushsubscription"),
        (WORKER, "update audit_pushsubscription set officer_id = officer_id"),
        (WORKER, "update audit_pushkey set private = private"),
        (
            WEB,
            "insert into audit_pushmessage (subscription_id, kind, about, failures, error) values (1, 'x', 1, 0, '')",
        ),
    ],
)
def test_no_role_reads_the_secrets_or_moves_a_browser_to_another_officer(
    desk: Desk, browser: Browser, role: str, statement: str
) -> None:
    browser.subscribe(desk.first)
    with (
        acting_as(role),
        pytest.raises(DatabaseError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
