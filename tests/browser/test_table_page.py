"""The table at a moment by keys: from coup to coup and back, from event to event; and the video of the moment."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.desk.tables.course import course_of
from audit.models import CaseContacts, LoggedStream, VideoRequest
from audit.presentation import reference
from tests.audit.casework.test_actions import Desk
from tests.audit.corrections.corrections_desk import CorrectionsDesk, finding_of
from tests.audit.desk.corrections.test_both_felts import corrected_to, spun
from tests.audit.desk.corrections.test_corrections import page_of
from tests.audit.reconciliation.played import record, session
from tests.browser.sessions import CHROMIUM, Session

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]


def pressed(page: Page, key: str, seq: int) -> None:
    """Press a key that leads to another moment, and wait until its page stands at event ``seq``, with its scripts."""
    page.keyboard.press(key)
    expect(page).to_have_url(re.compile(rf"\?at={seq}(&|#|$)"))
    page.wait_for_load_state()
    expect(page.locator("#timeline [aria-current] code")).to_have_text(str(seq))


def test_k_and_j_lead_from_coup_to_coup_and_stop_at_the_ends(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    stream = LoggedStream.objects.get(pk=record(desk.tenant.casino, session(desk.tenant.casino, "R1", coups=4)))
    coups = [coup.seq for coup in course_of(stream).coups]
    assert len(coups) >= 4
    own = Session(browser, live_server, desk.first)
    page = own.open(f"/admin/audit/loggedstream/{stream.pk}/table/?at={coups[2] + 1}")
    pressed(page, "k", coups[1])
    pressed(page, "k", coups[0])
    address = page.url
    page.keyboard.press("k")
    page.keyboard.press("?")  # comes after: the key before it has led nowhere
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("next coup, previous coup")
    page.keyboard.press("Escape")
    assert page.url == address
    expect(page.get_by_role("link", name="Previous coup")).to_have_count(0)
    for seq in coups[1:]:
        pressed(page, "j", seq)
    expect(page.get_by_role("link", name="Next coup")).to_have_count(0)
    page.locator("#at").focus()
    page.keyboard.type("1")
    page.keyboard.press("k")
    assert page.url.split("#")[0].endswith(f"?at={coups[-1]}"), "in a field, a letter is a letter"
    assert own.errors == []


def test_the_arrows_n_and_the_space_bar_move_within_the_page(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    own = Session(browser, live_server, desk.first)
    page = own.open(f"/admin/audit/loggedstream/{desk.stream.pk}/table/?at=5")
    current = page.locator("#timeline [aria-current] code")
    expect(current).to_have_text("5")
    page.keyboard.press("ArrowLeft")
    expect(current).to_have_text("4")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(current).to_have_text("6")
    page.keyboard.press("Home")
    expect(current).to_have_text("1")
    page.keyboard.press("n")
    expect(page.locator("#timeline [aria-current].anomaly")).to_have_count(1)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.locator("#replay .play[data-playing]")).to_have_count(1)
    expect(current).not_to_have_text("1")
    page.keyboard.press("Space")
    expect(page.locator("#replay .play[data-playing]")).to_have_count(0)
    assert "?at=5" in page.url, "the moment of the address stays"
    assert own.errors == []


@pytest.mark.parametrize("width", [1440, 390])
def test_a_coup_unfolds_by_keys_without_a_script_and_a_print_has_what_is_open(
    browser: Browser, live_server: LiveServer, desk: Desk, width: int
) -> None:
    stream = LoggedStream.objects.get(pk=record(desk.tenant.casino, session(desk.tenant.casino, "R1", coups=4)))
    options = {"java_script_enabled": False, "viewport": {"width": width, "height": 900}}
    own = Session(browser, live_server, desk.first, **options)
    page = own.open(f"/admin/audit/loggedstream/{stream.pk}/table/?at={course_of(stream).coups[1].seq}")
    folds = page.locator("details.coup")
    coups = folds.count()
    assert coups > 2
    assert folds.evaluate_all("each => each.map(one => one.open)") == [number == 1 for number in range(coups)]
    first = folds.first
    expect(first.locator("li")).to_have_count(first.locator("li[id]").count())
    expect(first.locator("li").first).to_be_hidden()
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(first.locator("li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert first.locator("summary").evaluate("each => each.offsetHeight") >= (44 if width == 390 else 24)
    page.emulate_media(media="print")
    expect(page.locator("#timeline summary:visible")).to_have_count(coups)
    in_open = page.locator("details.coup[open] li").count()
    assert 0 < in_open < page.locator("#timeline li[id]").count()
    expect(page.locator("#timeline li[id]:visible")).to_have_count(in_open)


def test_the_replay_opens_the_coup_that_it_comes_to_and_a_filter_those_with_something_to_show(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    stream = LoggedStream.objects.get(pk=record(desk.tenant.casino, session(desk.tenant.casino, "R1", coups=4)))
    coups = course_of(stream).coups
    own = Session(browser, live_server, desk.first)
    page = own.open(f"/admin/audit/loggedstream/{stream.pk}/table/?at={coups[0].seq}")
    is_open = "each => each.map(one => one.open)"
    folds = page.locator("details.coup")
    last = folds.count() - 1
    assert last > 1
    assert folds.evaluate_all(is_open) == [number == 0 for number in range(last + 1)]
    page.keyboard.press("End")
    expect(folds.last).to_have_attribute("open", "")
    expect(page.locator("#timeline [aria-current]")).to_be_visible()
    opened = [number in (0, last) for number in range(last + 1)]
    assert folds.evaluate_all(is_open) == opened
    page.get_by_role("button", name="Payments").click()
    payments = page.locator("#timeline li.payment").count()
    assert payments
    expect(page.locator("#timeline li[id]:visible")).to_have_count(payments)
    page.get_by_role("button", name="All").click()
    assert folds.evaluate_all(is_open) == opened, "as they were before the filter"
    assert own.errors == []


@pytest.mark.parametrize("width", [1440, 390])
def test_the_video_of_the_moment_is_asked_for_by_two_clicks(
    browser: Browser, live_server: LiveServer, desk: Desk, width: int
) -> None:
    CaseContacts.objects.create(casino=desk.tenant.casino, video_room="video@casino.example")
    own = Session(browser, live_server, desk.first, viewport={"width": width, "height": 900})
    page = own.open(f"/admin/audit/loggedstream/{desk.stream.pk}/table/?at=3&clock=20:00")
    head = next(each for each in desk.findings if each.case_id == desk.case.pk)
    page.locator("details.video summary").click()
    chosen = page.locator("details.video button", has_text=reference(head))
    chosen.click()
    expect(page.locator(".messagelist")).to_contain_text(f"The video was asked for under case {reference(head)}.")
    expect(page).to_have_url(re.compile(r"/table/\?at=3&clock=20%3A00"))
    page.locator("details.video summary").click()
    expect(page.locator("details.video li", has_text=reference(head))).to_contain_text("asked for")
    expect(chosen).to_have_count(0)
    assert VideoRequest.objects.filter(case=desk.case).count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert own.errors == []


@pytest.mark.parametrize("width", [1440, 390])
def test_the_felts_of_a_correction_stand_side_by_side_and_on_a_telephone_one_above_the_other(
    browser: Browser, live_server: LiveServer, transactional_db: None, width: int
) -> None:
    desk = CorrectionsDesk()
    finding = finding_of(spun(desk, "s", corrected_to("23")), 8)
    own = Session(browser, live_server, desk.second, viewport={"width": width, "height": 900})
    page = own.open(page_of(finding))
    without, with_it = (page.locator(".duo .felt-frame").nth(index).bounding_box() for index in (0, 1))
    assert without is not None
    assert with_it is not None
    if width > 1000:
        assert without["y"] == with_it["y"]
        assert without["x"] + without["width"] < with_it["x"]
    else:
        assert without["x"] == with_it["x"]
        assert without["y"] + without["height"] < with_it["y"]
    for frame in page.locator(".duo .felt-frame").all():
        outer, chip = frame.bounding_box(), frame.locator(".chip[data-disputed]").bounding_box()
        assert outer is not None
        assert chip is not None
        assert outer["x"] <= chip["x"] <= outer["x"] + outer["width"] - chip["width"], "the stake is in sight"
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert own.errors == []
