"""Browser push in a browser: it asks on a click alone, its address reaches the desk, and a message is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import PushSubscription
from audit.notifications import push
from tests.audit.casework.test_actions import Desk
from tests.audit.notifications import browsers
from tests.browser.sessions import CHROMIUM, Session

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

# No push service is there to give the browser an address: the test gives it one.
SUBSCRIBES = """(form => {
  window.asked = 0;
  const request = Notification.requestPermission.bind(Notification);
  Notification.requestPermission = () => { window.asked += 1; return request(); };
  PushManager.prototype.subscribe = async options => {
    if (!options.userVisibleOnly || options.applicationServerKey.length !== 87) throw new Error("no key");
    return { toJSON: () => ({ endpoint: form.endpoint, keys: { p256dh: form.public_key, auth: form.auth } }) };
  };
})(%s)"""


def opened(browser: Browser, live_server: LiveServer, desk: Desk, *permissions: str) -> tuple[Session, dict[str, str]]:
    push.sweep(timezone.now())
    session = Session(browser, live_server, desk.first)
    session.context.grant_permissions([*permissions])
    form = browsers.Browser().form
    session.context.add_init_script(SUBSCRIBES % json.dumps(form))
    session.open(reverse("admin:notifications"))
    return session, form


def test_a_click_subscribes_the_browser_and_a_message_is_shown_and_opens_the_desk(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    session, form = opened(browser, live_server, desk, "notifications")
    page = session.page
    assert page.evaluate("window.asked") == 0, "nothing is asked before a click"
    found: list[Any] = []
    protocol = session.context.new_cdp_session(page)
    protocol.on("ServiceWorker.workerRegistrationUpdated", lambda sent: found.extend(sent["registrations"]))
    protocol.send("ServiceWorker.enable")
    page.get_by_role("button", name="Notify me in this browser").click()
    expect(page.get_by_text("This browser shows notifications from now on.")).to_be_visible()
    expect(page.get_by_text("Chrome, Linux")).to_be_visible()
    subscription = PushSubscription.objects.get()
    assert (subscription.officer, subscription.endpoint) == (desk.first, form["endpoint"])
    worker = next(each for each in found if each["scopeURL"] == f"{live_server.url}/admin/")
    message = {"text": "You are mentioned: DEA-26-0143", "path": "audit/finding/1/change/"}
    sent = {"origin": live_server.url, "registrationId": worker["registrationId"], "data": json.dumps(message)}
    protocol.send("ServiceWorker.deliverPushMessage", sent)
    page.wait_for_function(
        "async () => (await (await navigator.serviceWorker.ready).getNotifications()).length === 1", timeout=5_000
    )
    shown = page.evaluate(
        "async () => (await (await navigator.serviceWorker.ready).getNotifications())"
        ".map(each => [each.title, each.body, each.data])"
    )
    assert shown == [["Cabochon", message["text"], message["path"]]]
    assert session.errors == []


def test_a_browser_that_refuses_is_told_where_to_change_that(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    session, _form = opened(browser, live_server, desk)
    session.page.get_by_role("button", name="Notify me in this browser").click()
    expect(session.page.get_by_text("You do not let this page notify you.")).to_be_visible()
    assert not PushSubscription.objects.exists()
