"""How wide the pages are: no list scrolls sideways on any screen, nothing is cut, and the way out stays in sight."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import GamingTable, Officer, Person
from tests.audit.casework.test_actions import Desk
from tests.browser.sessions import CHROMIUM, Session
from tests.browser.test_desk import pages_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

LISTS = (
    "exchange register", "events", "groups", "streams", "settings", "API keys", "webhooks", "webhook", "dead letters",
    "tables", "casinos", "officers", "deadlines", "subscribers", "list of registerentry", "list of person",
    "list of casecontacts", "nights", "jobs", "quarantine", "corrections", "correction", "what-if runs", "what-if run",
    "state of the record", "croupier", "player", "money of a player", "money of a night", "questions",
    "process that has raised a question", "audit trail", "import of persons", "what is held",
)  # fmt: skip
"""Pages with a list or a table: charts, the felt and the hours of a croupier may scroll, these may not."""

SCROLLS = """() => [...document.querySelectorAll('#content *')]
  .filter(each => each.checkVisibility() && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX))
  .filter(each => each.scrollWidth > each.clientWidth && each.querySelector('table:not(.heat)'))
  .map(each => `${each.className} ${each.getAttribute("aria-labelledby")}: `
    + `${each.scrollWidth} > ${each.clientWidth}`)"""
"""What scrolls sideways around a table."""

CUT = """() => [...document.querySelectorAll('#content *')]
  .filter(each => each.checkVisibility() && !each.closest('svg') && each.clientWidth > 1)  // 1 px: only read out
  .filter(each => ['hidden', 'clip'].includes(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth)
  .map(each => `${each.className}: ${each.textContent.slice(0, 60)}`)"""
"""What is wider than the frame that hides the rest of it."""


def chief(desk: Desk) -> Officer:
    return Officer.objects.create_superuser(f"chief-{desk.tenant.code}")


def known_by_long_names(desk: Desk) -> None:
    """Give persons, the casino and a table names as long as there are."""
    casino = desk.tenant.casino
    for code, kind in (("p0001", "player"), ("croupier-1", "croupier")):
        Person.objects.update_or_create(
            casino=casino,
            code=code,
            defaults={"kind": kind, "name": "Marie-Antoinette de la Rochefoucauld", "card_or_licence": "2019-0441-FR"},
        )
    GamingTable.objects.filter(pk=desk.tenant.table.pk).update(name="Salle des princes, au fond")


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
def test_no_list_scrolls_sideways_and_nothing_in_it_is_cut(
    browser: Browser, live_server: LiveServer, desk: Desk, locale: str
) -> None:
    known_by_long_names(desk)
    pages = pages_of(desk)
    own = Session(browser, live_server, chief(desk), locale=locale)
    faults = []
    for name in LISTS:
        page = own.open(pages[name])
        for width in (1440, 1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(f"{name}, {width}: the page itself")
            faults += [f"{name}, {width}: {each}" for each in page.evaluate(SCROLLS) + page.evaluate(CUT)]
    assert not faults, "\n".join(faults)


def test_on_a_phone_the_tables_of_a_night_are_folded_and_paper_has_them_without_buttons(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    pages = pages_of(desk)
    own = Session(browser, live_server, chief(desk), viewport={"width": 390, "height": 900})
    page = own.open(pages["night"])
    folded = page.locator("details.folded")
    number = folded.count()
    assert number >= 3
    assert page.locator("details.folded[open]").count() == 0
    assert page.get_by_role("button", name="Reconcile again").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details.folded[open]").count() == number
    assert not any(each.is_visible() for each in page.locator("#content :is(.btn, button, textarea, .sign)").all())


def test_on_a_phone_a_row_of_a_table_is_a_card_under_its_title(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    pages = pages_of(desk)
    own = Session(browser, live_server, chief(desk), viewport={"width": 390, "height": 900})
    page = own.open(pages["settings"])
    keys = page.locator("section[aria-labelledby=keys]")
    card = keys.get_by_role("row").nth(1)
    title, *others = card.get_by_role("cell").all()
    expect(title).to_contain_text(desk.tenant.key.name)
    boxes = [each.bounding_box() for each in (title, *others)]
    assert all(above and below and above["y"] < below["y"] for above, below in pairwise(boxes))
    # Whoever hears the page hears the heading of each column; nobody else sees the line of headings.
    headings = keys.get_by_role("columnheader")
    assert headings.all_inner_texts()[:2] == ["Key", "It may"]
    assert _label(page, "td[data-label='It may']") == '"It may"'

    page = own.open(pages["exchange register"])
    card = page.locator("table.cards tbody tr").first
    player, amount = card.locator(".what").bounding_box(), card.locator(".money").bounding_box()
    assert player
    assert amount
    assert amount["x"] > player["x"]
    middles = [each["y"] + each["height"] / 2 for each in (player, amount)]
    assert abs(middles[0] - middles[1]) < 6, "the money stands beside who exchanged it"


def _label(page: Page, selector: str) -> str:
    """Return what stands before a cell, without what is read out in its place."""
    content: str = page.locator(selector).first.evaluate("each => getComputedStyle(each, '::before').content")
    return content.partition(" /")[0]


LOW = """() => [...document.querySelectorAll('#content :is(summary, label.tick)')]
  .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 44)
  .map(each => each.outerHTML.slice(0, 120))"""
"""What unfolds or is ticked, and is lower than a finger needs."""

AT_ITS_END = """() => [...document.querySelectorAll('.scrollx')]
  .filter(each => each.querySelector(':scope > svg, :scope > .stairs-frame'))
  .filter(each => each.scrollWidth > each.clientWidth)
  .map(each => each.scrollWidth - each.clientWidth - each.scrollLeft <= 1)"""
"""Of each chart that scrolls whether its right end is in sight."""


def test_on_a_phone_what_unfolds_or_is_ticked_is_as_high_as_a_finger_needs_and_charts_show_their_end(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    pages = pages_of(desk)
    own = Session(browser, live_server, chief(desk), viewport={"width": 390, "height": 900})
    for name in ("law", "rule", "state of the record", "API keys", "process that has raised a question"):
        page = own.open(pages[name])
        assert page.locator("#content :is(summary, label.tick)").count(), name
        assert page.evaluate(LOW) == [], name
    for name in ("questions", "process that has raised a question", "rule"):
        page = own.open(pages[name])
        for width in (390, 1440, 390):  # a telephone that was turned, too
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(100)
            ends = page.evaluate(AT_ITS_END)
            assert ends or width == 1440, name
            assert all(ends), name
    page = own.open(pages["rules"])
    rows = page.locator(".rule-list li").evaluate_all("each => each.map(row => row.getBoundingClientRect().height)")
    assert max(rows) < 100
    page = own.open(pages["table"])
    clock, go = (page.locator(f".head form.r {each}").bounding_box() for each in ("input[type=time]", ".btn.go"))
    assert clock
    assert go
    assert go["y"] > clock["y"], "what is sent stands before the button that sends it"


@pytest.mark.parametrize("height", [900, 620])
def test_who_sits_there_and_the_way_out_stay_in_sight(
    browser: Browser, live_server: LiveServer, desk: Desk, height: int
) -> None:
    """On the pages of the settings the navigation is at its longest."""
    own = Session(browser, live_server, chief(desk), viewport={"width": 1440, "height": height})
    page = own.open("/admin/audit/casecontacts/")
    for foot in (
        page.locator("#menu .me"),
        page.get_by_role("button", name="Sign out"),
        page.locator("#menu .languages"),
        page.locator("#menu .theme-toggle"),
        page.locator("#menu nav a[aria-current]").last,
    ):
        box = foot.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        # It is itself what is seen there, and not covered by what scrolls.
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        assert foot.evaluate("(each, [x, y]) => each.contains(document.elementFromPoint(x, y))", middle)


LOOK = """each => { const style = getComputedStyle(each); return {
  radius: style.borderTopLeftRadius, line: style.borderTopColor, ground: style.backgroundColor, ink: style.color,
  font: style.fontFamily, theme: style.colorScheme, height: each.getBoundingClientRect().height,
  right: each.getBoundingClientRect().right}; }"""

FORMS = (
    "/admin/audit/complaint/add/",
    "/admin/audit/person/import/",
    "/admin/audit/job/",
    "/admin/audit/whatif/?reading=zero_rule",
    "/admin/audit/registerentry/add/?reading=payout_unit",
    "/admin/audit-trail/",
)
"""Pages with a date, a time or a file."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_date_a_time_and_a_file_look_as_other_fields_do(
    browser: Browser, live_server: LiveServer, desk: Desk, theme: str
) -> None:
    own = Session(browser, live_server, chief(desk))
    own.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    seen = set()
    for address in FORMS:
        page = own.open(address)
        fields = page.locator("#content").locator("input[type=date], input[type=time], input[type=file]")
        assert fields.count(), address
        other = page.locator("#content").locator("select, input[type=text], input:not([type])").first.evaluate(LOOK)
        for width, lowest in ((1440, 30), (390, 44)):
            page.set_viewport_size({"width": width, "height": 900})
            for field in fields.all():
                look = field.evaluate(LOOK)
                kind = field.get_attribute("type")
                seen.add(kind)
                for what in ("radius", "line", "ground", "font"):
                    assert look[what] == other[what], (address, kind, what)
                assert look["height"] >= lowest, (address, kind, width)
                assert look["right"] <= width, (address, kind)
    assert seen == {"date", "time", "file"}
