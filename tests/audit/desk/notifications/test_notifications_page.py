"""The page on which an officer lets browsers notify him, and the script that they keep."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from audit.desk.notifications.page import browser_of
from audit.event_store import audit_trail
from audit.models import PushSubscription
from audit.notifications import push, push_subscriptions
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of
from tests.audit.desk.sign_in.test_proof import hidden, stale
from tests.audit.notifications.browsers import Browser
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

PAGE = "/admin/notifications/"
WORKER = "/admin/push-worker.js"
ENGLISH = {"accept-language": "en"}
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def page_of(client: Client) -> str:
    return client.get(PAGE, headers=ENGLISH).content.decode()


def message_after(client: Client, form: dict[str, str]) -> str:
    """Return what the page says after a form was sent."""
    answer = client.post(PAGE, form, follow=True, headers={**ENGLISH, "user-agent": FIREFOX})
    found = re.search(r'class="messagelist".*?</ul>', answer.content.decode(), re.DOTALL)
    return re.sub(r"<[^>]+>", "", found[0]) if found else ""


def test_an_officer_subscribes_a_browser_sees_it_and_ends_it(desk: Desk) -> None:
    client = client_of(desk.first)
    assert "not ready yet" in page_of(client)
    push.sweep(timezone.now())
    page = page_of(client)
    assert "No browser notifies you." in page
    assert f'data-push-key="{push_subscriptions.public_key()}"' in page
    assert f'data-worker="{WORKER}"' in page
    browser = Browser()
    assert "This browser shows notifications from now on." in message_after(client, browser.form)
    subscription = PushSubscription.objects.get()
    assert (subscription.officer, subscription.browser, subscription.language) == (desk.first, "Firefox, Linux", "en")
    page = page_of(client)
    assert "Firefox, Linux" in page
    for secret in (browser.endpoint, browser.form["auth"], browser.form["public_key"]):
        assert secret not in page
    assert "Firefox, Linux" not in page_of(client_of(desk.second))
    assert client_of(desk.second).post(PAGE, {"end": str(subscription.pk)}).status_code == 404
    assert "shows no notifications any more" in message_after(client, {"end": str(subscription.pk)})
    assert not PushSubscription.objects.exists()
    entries = audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
    pushes = [each for each in entries if each.type.startswith("push.")]
    assert [(each.type, each.actor) for each in pushes] == [
        ("push.subscribed", desk.first.username),
        ("push.ended", desk.first.username),
    ]
    stated = str([each.data for each in pushes])
    assert browser.endpoint not in stated
    assert browser.form["auth"] not in stated


def test_an_open_session_subscribes_nothing_without_a_fresh_proof_and_ends_without_one(desk: Desk) -> None:
    client, browser = stale(desk.first), Browser()
    answer = client.post(PAGE, browser.form)
    assert answer.status_code == 403
    assert not PushSubscription.objects.exists()
    again = {**hidden(answer), "proof_password": PASSWORD}
    assert client.post(PAGE, again, headers={"user-agent": FIREFOX}).status_code == 302
    subscription = PushSubscription.objects.get()
    assert stale(desk.first).post(PAGE, {"end": str(subscription.pk)}).status_code == 302
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    "changed",
    in_short(
        [
            {"endpoint": "http://push.example/abc"},
            {"endpoint": "https://user:x@push.example/abc"},
            {"endpoint": "https://push.example/" + "a" * 500},
            {"auth": ""},
        ],
        further=[{"endpoint": ""}, {"public_key": "AAAA"}, {"auth": "\0"}],
    ),
)
def test_what_is_no_subscription_is_refused_in_words(desk: Desk, changed: dict[str, str]) -> None:
    text = message_after(client_of(desk.first), Browser().form | changed)
    assert "The browser gave no address" in text
    assert not PushSubscription.objects.exists()


def test_an_eleventh_browser_is_refused_in_words(desk: Desk) -> None:
    for number in range(push_subscriptions.MOST):
        Browser(f"https://push.example/{number}").subscribe(desk.first)
    assert "already have ten browsers" in message_after(client_of(desk.first), Browser().form)


def test_the_script_is_of_the_desks_own_folder_and_loads_nothing() -> None:
    answer = Client().get(WORKER)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer["Cache-Control"] == "no-cache"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    script = answer.content.decode()
    for word in ("importScripts", "fetch(", "http://", "https://"):
        assert word not in script


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) … Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"),
        ("Mozilla/5.0 (Linux; Android 15) … Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) … Version/18.5 Safari/604.1", "Safari, iOS"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) … Version/18.5 Safari/605.1", "Safari, macOS"),
        ("curl/8", "Browser"),
    ],
)
def test_a_browser_is_named_by_what_it_says(agent: str, name: str) -> None:
    assert browser_of(agent) == name
