"""The desk in a real browser: a case closed by two officers, the replay by mouse and keys, accessibility by axe."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.jobs import runner
from audit.jobs.queue import enqueue
from audit.models import JobKind, Officer, WhatIf
from audit.reconciliation import runs
from tests.audit.casework.test_actions import Desk

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}


@pytest.fixture(scope="module")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """Yield a browser. Tests query the database within its event loop, one at a time: Django has to be told."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def desk(browser: Browser, transactional_db: None) -> Desk:
    return Desk()


class Session:
    """An officer signed in with a browser. Errors of its console and the origins it fetched from are collected."""

    def __init__(self, browser: Browser, server: LiveServer, officer: Officer, **options: Any) -> None:
        self.server = server
        self.context: BrowserContext = browser.new_context(
            base_url=server.url, **{"viewport": {"width": 1440, "height": 1000}, "locale": "en-GB", **options}
        )
        client = Client()
        client.force_login(officer, backend="django.contrib.auth.backends.ModelBackend")
        cookie = client.cookies["sessionid"]
        self.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": server.url}])
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.origins: set[str] = set()
        self.page.on("request", lambda request: self.origins.add(re.sub(r"(//[^/]+).*", r"\1", request.url)))

    def open(self, address: str) -> Page:
        self.page.goto(address)
        return self.page


def address_of(desk: Desk) -> str:
    finding = next(each for each in desk.findings if each.case_id == desk.case.pk)
    return f"/admin/audit/finding/{finding.pk}/change/"


def test_a_case_is_proposed_by_one_officer_and_closed_by_another(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    first, second = (Session(browser, live_server, officer) for officer in (desk.first, desk.second))
    page = first.open(address_of(desk))
    page.keyboard.press("a")
    expect(page.locator(".states [aria-current]")).to_have_text("investigating")
    page.wait_for_load_state()  # the keys are there with the page's scripts
    page.keyboard.press("e")
    page.get_by_label("Breach confirmed").check()
    page.locator("#reason").fill("camera 4 shows it")
    page.get_by_role("button", name="Send to a second officer").click()
    expect(page.locator(".states [aria-current]")).to_have_text("second officer")
    expect(page.get_by_role("button", name="Approve closing")).to_have_count(0)

    page = second.open("/admin/audit/finding/?queue=second")
    page.locator("#result_list tbody a").first.click()
    expect(page.locator(".case .reason")).to_have_text("camera 4 shows it")
    page.get_by_role("button", name="Approve closing").click()
    expect(page.locator(".states [aria-current]")).to_have_text("closed")
    assert desk.case.approved_by == desk.second
    assert first.errors == second.errors == []
    assert first.origins == {live_server.url}, "nothing is fetched from anywhere else"


def test_the_replay_moves_by_mouse_and_keys_and_its_url_names_the_event(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    session = Session(browser, live_server, desk.first)
    page = session.open(address_of(desk))
    finding = next(each for each in desk.findings if each.case_id == desk.case.pk)
    current = page.locator("#timeline [aria-current] code")
    slider = page.locator("#replay input[type=range]")
    expect(current).to_have_text(str(finding.seq))
    expect(page.locator("#replay [data-role=findings]")).to_be_visible()
    assert page.url.endswith(f"#e={finding.seq}")
    page.keyboard.press("ArrowLeft")
    expect(current).to_have_text(str(finding.seq - 1))
    page.keyboard.press("Home")
    expect(current).to_have_text("1")
    expect(page.locator("#stakes tbody tr")).to_have_count(0)
    expect(page.locator(".chip:not([data-state=off])")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.locator("#timeline [aria-current].anomaly")).to_have_count(1)
    page.keyboard.press("End")
    expect(slider).to_have_value(slider.get_attribute("max") or "")
    slider.fill("3")
    expect(current).to_have_text("4")
    page.locator("#timeline button").nth(5).click()
    expect(slider).to_have_value("5")
    page.get_by_role("button", name="Anomalies").click()
    expect(page.locator("#timeline li:visible")).to_have_count(page.locator("#timeline li.anomaly").count())
    page.get_by_role("button", name="Previous event").click()
    expect(current).to_have_text("5")
    session.open(f"{address_of(desk)}#e=2")
    session.page.reload()
    expect(current).to_have_text("2")
    chips = page.locator(".chip:not([data-state=off])").count()
    assert chips == page.locator("#stakes tbody tr").count()
    assert session.errors == []


def pages_of(desk: Desk) -> dict[str, str]:
    """Return every page of the desk by name. A superuser may see them all."""
    report = runs.reconcile(desk.tenant.casino, date(2026, 11, 19), actor="test")[0]
    night = f"/admin/audit/nightreport/{report.pk}"
    month = f"{report.casino_id}/2026/11/{report.currency}"
    name = f"five-{desk.tenant.code}"
    what_if_runs.begin(name, readings={"payout_unit": 5}, selection=Selection(casino=desk.tenant.code), actor="test")
    what_if = WhatIf.objects.get(name=name)
    for stream_id in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, stream_id)
    verified, waiting = (enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {}) for _ in range(2))
    runner.run(verified.pk)
    return {
        "first page": "/admin/",
        "queue": "/admin/audit/finding/?queue=open",
        "groups": "/admin/audit/finding/groups/",
        "finding": address_of(desk),
        "table": f"/admin/audit/loggedstream/{desk.stream.pk}/table/?at=9",
        "events": f"/admin/audit/loggedstream/{desk.stream.pk}/events/",
        "streams": "/admin/audit/loggedstream/",
        "audit trail": "/admin/audit-trail/",
        "quarantine": "/admin/audit/quarantined/",
        "nights": "/admin/audit/nightreport/",
        "night": f"{night}/change/",
        "session of a night": f"{night}/session/{desk.stream.pk}/",
        "letter of the bank": f"{night}/session/{desk.stream.pk}/?line=B",
        "figure of a night": f"{night}/figure/D/",
        "month": f"/admin/audit/nightreport/month/{month}/",
        "what-if runs": "/admin/audit/whatif/",
        "what-if run": f"/admin/audit/whatif/{what_if.pk}/change/",
        "jobs": reverse("admin:audit_job_changelist"),
        "job done": reverse("admin:audit_job_change", args=(verified.pk,)),
        "job waiting": reverse("admin:audit_job_change", args=(waiting.pk,)),
        "API keys": "/admin/audit/apikey/",
        "API key": f"/admin/audit/apikey/{desk.tenant.key.pk}/change/",
        "tables": "/admin/audit/gamingtable/",
        "casinos": "/admin/audit/casino/",
        "officers": "/admin/audit/officer/",
        "officer": f"/admin/audit/officer/{desk.first.pk}/change/",
        "deadlines": "/admin/audit/deadline/",
        "subscribers": "/admin/audit/nightsubscriber/",
        "password": "/admin/password_change/",
        "second factor": "/admin/second-factor/",
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_on_any_page(
    browser: Browser, live_server: LiveServer, desk: Desk, theme: str, width: int
) -> None:
    desk.proposed_by(desk.first)
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    session = Session(browser, live_server, chief, color_scheme=theme, viewport={"width": width, "height": 900})
    faults: dict[str, list[str]] = {}
    for name, address in pages_of(desk).items():
        page = session.open(address)
        assert page.locator("#content").count(), f"{name} is a page of the desk"
        page.wait_for_timeout(50)
        faults[name] = session.errors.copy()
        violations = Axe().run(page, options=RULES).response["violations"]
        faults[name] += [f"{each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"][:3]]
        session.errors.clear()  # on forms, axe itself asks for styles that the page's policy refuses
        page_width = page.evaluate("document.documentElement.scrollWidth")
        if page_width > width:
            faults[name].append(f"scrolls sideways: {page_width}")
    lines = [f"{name}: {fault}" for name, listed in faults.items() for fault in listed]
    assert not lines, "\n".join(lines)
    signed_out = Session(
        browser, live_server, desk.second, color_scheme=theme, viewport={"width": width, "height": 900}
    )
    signed_out.context.clear_cookies()
    assert Axe().run(signed_out.open("/admin/login/"), options=RULES).response["violations"] == []
