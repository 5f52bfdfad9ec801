"""No page of the desk is forgotten where every page is looked at; lists and errors are pages on each screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

import pytest
from django.contrib.admin import site
from django.urls import URLPattern, URLResolver, resolve
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import Officer, Person, PersonKind
from audit.reconciliation import runs
from audit.register import entries as register
from audit.register.entries import Proposal
from tests.audit.casework.test_actions import Desk
from tests.audit.reconciliation.played import DAY
from tests.browser.sessions import CHROMIUM, Session
from tests.browser.test_desk import as_superuser, faults_of, pages_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]


NO_PAGES = re.compile(
    r"""logout|autocomplete|jsi18n|choose_casino|single_sign_on.*|first_run_.*|push_worker|audit_listing_dismiss|audit_trail_export|audit_\w+_history
    |audit_view_\w+|audit_finding_(export|evidence|take_next|undo|case|attach|attachment|attachment_erase)|audit_job_(start|stop|progress|file)
    |audit_informationsigning_(sign|change)|audit_nightreport_(sign|again|again_day|file|month_file|month_xlsx)|audit_whatif_file|audit_person_(export|pattern)|audit_paymentorder_file|audit_failedrun_try_again|record_try_again|connections_try
    |audit_\w+_(decide|rotate|action|answer|apart|video|at|bytes|test|promote|difference)|audit_loggedstream_coverage_pdf""",
    re.VERBOSE,
)
"""What answers a form, or with a file or a part of a page, or leads elsewhere; Django's history is no page."""

SEEN_ELSEWHERE = {
    "login", "sign_in_code", "access_link", "password_change_done",
    "audit_complaint_change", "audit_failedrun_change", "audit_quarantined_change", "audit_deadletter_change",
}  # fmt: skip
"""Pages that are not opened here: before one is signed in, and of rows that faults alone bring about."""


def test_every_page_that_there_is_is_looked_at(browser: Browser, live_server: LiveServer, desk: Desk) -> None:
    root = as_superuser()
    seen = {resolve(address.split("?")[0]).url_name for address in pages_of(desk).values()}
    there_is = {each.name for each in _patterns(site.urls[0]) if each.name}
    refused = {
        f"audit_{model._meta.model_name}_{page}"
        for model, model_admin in site._registry.items()
        for page, is_open in (
            ("add", model_admin.has_add_permission(root)),
            ("delete", model_admin.has_delete_permission(root)),
        )
        if not is_open
    }
    assert len(there_is) > 100
    assert {name for name in there_is if not NO_PAGES.fullmatch(name)} - seen - refused - SEEN_ELSEWHERE == set()


def _patterns(urls: Iterable[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for each in urls:
        if isinstance(each, URLResolver):
            yield from _patterns(each.url_patterns)
        else:
            yield each


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
@pytest.mark.parametrize("width", [1440, 390])
def test_an_address_that_does_not_exist_is_a_page_of_the_desk(
    browser: Browser, live_server: LiveServer, desk: Desk, locale: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
    own = Session(browser, live_server, desk.first, locale=locale, **options)
    titles = {"en-GB": ("There is no such page", "You do not have access to this")}.get(
        locale, ("Cette page n’existe pas", "Vous n’avez pas accès à ceci")
    )
    for address, title in zip(("/admin/nowhere/", "/admin/audit/casino/add/"), titles, strict=True):
        page = own.open(address)
        expect(page.locator("h1")).to_have_text(title)
        assert faults_of(own, page) == []


@pytest.mark.parametrize(
    "model", ["casino", "gamingtable", "apikey", "deadline", "nightreport", "loggedstream", "person", "registerentry"]
)
def test_on_a_phone_a_row_of_a_list_is_a_card(
    browser: Browser, live_server: LiveServer, desk: Desk, model: str
) -> None:
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    runs.reconcile(desk.tenant.casino, DAY, actor="test")
    Person.objects.create(casino=desk.tenant.casino, code="p0001", kind=PersonKind.PLAYER, name="Bruno Keller")
    proposal = Proposal(reading="payout_unit", value=100, first_day=date(2026, 1, 1), reason="chips of one euro")
    register.propose(desk.second, desk.tenant.casino, proposal)
    own = Session(browser, live_server, chief, viewport={"width": 390, "height": 900})
    page = own.open(f"/admin/audit/{model}/")
    cells = page.locator("#result_list tbody td:visible, #result_list tbody th:visible")
    assert cells.count()
    outside = "cells => cells.filter(each => each.getBoundingClientRect().right > innerWidth).length"
    assert cells.evaluate_all(outside) == 0
    assert page.locator("#result_list").get_by_role("columnheader").count() > 2, "who hears the page hears headings"
    headings = page.locator("#result_list thead th .text").all_text_contents()
    labels = set(
        page.locator("#result_list tbody td[data-label]").evaluate_all("each => each.map(c => c.dataset.label)")
    )
    assert labels - {""} <= {each.strip() for each in headings}
    assert page.locator("#result_list img").count() == 0, "yes and no are words"


SMALL = """() => [...document.querySelectorAll('#content :is(a[href], button, input, select, summary)')]
  .filter(each => each.checkVisibility() && !each.closest('svg, .vh, .visually-hidden'))
  .filter(each => each.offsetWidth > 2 && each.type !== 'hidden')
  .filter(each => Math.max(...[each, each.closest('label') ?? each].map(e => e.getBoundingClientRect().height)) < 24)
  .map(each => each.outerHTML.slice(0, 120))"""
"""What is touched and is lower than 24 px; a mark in a chart has its line in the table beside it."""

CUT = """() => [...document.querySelectorAll('#content .form-row')].filter(each => each.scrollWidth > each.clientWidth)
  .map(each => each.className)"""
"""The rows of a form that are wider than the card around them."""


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
def test_on_a_phone_whatever_is_touched_has_24_px_and_no_field_is_cut(
    browser: Browser, live_server: LiveServer, desk: Desk, locale: str
) -> None:
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    own = Session(browser, live_server, chief, locale=locale, viewport={"width": 390, "height": 900})
    for address in (
        "/admin/audit/",
        f"/admin/audit/casino/{desk.tenant.casino.pk}/change/",
        f"/admin/audit/gamingtable/{desk.tenant.table.pk}/change/",
        f"/admin/audit/officer/{desk.first.pk}/change/",
        "/admin/audit/nightsubscriber/add/",
        "/admin/audit/registerentry/add/",
        "/admin/audit/whatif/?reading=zero_rule",
        "/admin/state/",
        f"/admin/state/proof/?stream={desk.stream.name}&seq=1",
        f"/admin/audit/loggedstream/{desk.stream.pk}/events/",
        f"/admin/audit/loggedstream/{desk.stream.pk}/coverage/",
    ):
        page = own.open(address)
        assert page.evaluate(SMALL) == [], address
        assert page.evaluate(CUT) == [], address
        header = page.locator("header.top").evaluate("each => each.getBoundingClientRect().height")
        assert header <= 56, address
