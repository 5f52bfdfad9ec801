"""The desk in a real browser: a case closed by two officers, the replay by mouse and keys, accessibility by axe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.admin import site
from django.contrib.admin.templatetags.admin_urls import admin_urlname
from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.access import accounts
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.casework import payment_orders
from audit.desk.sign_in import proof
from audit.event_store.audit_trail import COMMAND
from audit.jobs import runner
from audit.jobs.queue import enqueue
from audit.ledger import feeding
from audit.models import (
    Case,
    CaseContacts,
    DeadLetter,
    Deadline,
    Finding,
    FindingChange,
    Job,
    JobKind,
    LedgerProcess,
    LedgerQuestion,
    Listing,
    ListKind,
    NightSubscriber,
    Officer,
    Person,
    RegisterEntry,
    Webhook,
    WhatIf,
)
from audit.notifications import webhooks
from audit.persons import listings
from audit.reconciliation import runs, sessions
from audit.register import entries as register
from audit.register.entries import Proposal
from settlement.law import LAW_TEXTS
from tests.audit.casework.test_actions import Desk
from tests.audit.corrections.corrections_desk import CorrectionsDesk, finding_of, replayed
from tests.audit.corrections.corrections_desk import rules as standing_rules
from tests.audit.ledger.test_feeding import spun
from tests.audit.reconciliation.played import DAY, MORNING, inserted, record, session
from tests.audit.tables import numbered
from tests.audit.transparency.sealed import seal
from tests.browser.sessions import CHROMIUM, Session

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}


def address_of(desk: Desk) -> str:
    finding = next(each for each in desk.findings if each.case_id == desk.case.pk)
    return f"/admin/audit/finding/{finding.pk}/change/"


def test_the_palette_leads_to_a_table_at_a_clock_time_by_keys_alone(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    own = Session(browser, live_server, desk.first)
    page = own.open("/admin/")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    expect(page.locator("#palette a").first).to_contain_text("Overview")
    page.keyboard.type("t1 20:00")
    expect(page.locator("#palette a[data-chosen]")).to_contain_text("Table T1 at 19 Nov, 20:00 CET")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette a[data-chosen]")).to_contain_text(f"{desk.tenant.casino.reference_code}-26-")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(
        re.compile(rf"/admin/audit/loggedstream/{desk.stream.pk}/table/\?at=\d+(&clock=\d\d:\d\d)?(#e=\d+)?$")
    )
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    assert own.errors == []


def test_a_case_is_proposed_by_one_officer_and_closed_by_another(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    first, second = (Session(browser, live_server, officer) for officer in (desk.first, desk.second))
    page = first.open(address_of(desk))
    page.keyboard.press("a")
    expect(page.locator(".states [aria-current]")).to_have_text("Under way")
    page.wait_for_load_state()  # the keys are there with the page's scripts
    page.keyboard.press("p")
    page.get_by_label("Breach confirmed").check()
    page.locator("#reason").fill("camera 4 shows it")
    page.get_by_role("button", name="Send to a second officer").click()
    expect(page.locator(".states [aria-current]")).to_have_text("Second officer")
    expect(page.get_by_role("button", name="Approve closing")).to_have_count(0)

    page = second.open("/admin/audit/finding/?queue=second")
    page.locator("#result_list tbody a").first.click()
    expect(page.locator(".case .reason")).to_have_text("camera 4 shows it")
    page.locator("#approve-proof_password").fill("x")
    page.get_by_role("button", name="Approve closing").click()
    expect(page).to_have_url(re.compile(r"/admin/approve/$"))
    expect(page.locator(".messagelist")).to_contain_text("The case was closed.")
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
    expect(page.locator("#timeline li[id]:visible")).to_have_count(page.locator("#timeline li.anomaly").count())
    page.get_by_role("button", name="Previous event").click()
    expect(current).to_have_text("5")
    session.open(f"{address_of(desk)}#e=2")
    session.page.reload()
    expect(current).to_have_text("2")
    chips = page.locator(".chip:not([data-state=off])").count()
    assert chips == page.locator("#stakes tbody tr").count()
    assert session.errors == []


def test_the_replay_of_roulette_lights_the_pocket_and_that_of_craps_shows_the_dice(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    session = Session(browser, live_server, desk.first)
    events = spun(desk.tenant.casino, ["17", "0", "32"])
    page = session.open(reverse("admin:audit_loggedstream_table", args=(record(desk.tenant.casino, events),)))
    hit, outcome = page.locator("#replay [data-pocket][data-hit]"), page.locator("#replay [data-role=outcome]")
    page.keyboard.press("Home")
    expect(hit).to_have_count(0)
    for pocket in ("17", "0", "32"):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#replay .number[data-hit]")).to_have_attribute("data-pocket", pocket)
        expect(page.locator("#replay .ball[data-hit]")).to_have_attribute("data-pocket", pocket)
        expect(page.locator("#replay .ball:visible")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#replay .number[data-hit]")).to_have_attribute("data-pocket", "0")

    page = session.open(reverse("admin:audit_loggedstream_table", args=(_corrected(desk),)))
    on = page.locator("#replay [data-face][data-on]")
    page.keyboard.press("Home")
    expect(on).to_have_count(0)
    for seq, faces, total in ((3, ("2", "4"), "6"), (5, ("1", "2"), "3")):
        while page.locator("#timeline [aria-current] code").inner_text() != str(seq):
            page.keyboard.press("ArrowRight")
        for die, face in enumerate(faces):
            expect(page.locator(f"#replay [data-die='{die}'][data-on]")).to_have_attribute("data-face", face)
        expect(on).to_have_count(2)
        expect(outcome).to_have_text(total)
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
    CaseContacts.objects.get_or_create(casino=desk.tenant.casino, defaults={"video_room": "video@casino.example"})
    Deadline.objects.get_or_create(casino=desk.tenant.casino, severity="major", defaults={"hours": 48})
    Person.objects.get_or_create(
        casino=desk.tenant.casino, code="p0001", defaults={"kind": "player", "name": "B. Keller"}
    )
    NightSubscriber.objects.get_or_create(casino=desk.tenant.casino, officer=desk.first)
    by_hand = _pages_with_content(desk, night, month, what_if, verified, waiting)
    listed = {
        f"{page} of {model._meta.model_name}": address
        for model, model_admin in site._registry.items()
        for page, address in (
            ("list", reverse(admin_urlname(model._meta, "changelist"))),  # type: ignore[arg-type]
            ("add", reverse(admin_urlname(model._meta, "add"))),  # type: ignore[arg-type]
        )
        if address not in by_hand.values() and (page == "list" or model_admin.has_add_permission(as_superuser()))
    }
    return by_hand | listed | _pages_of_rows(by_hand)


def _pages_of_rows(by_hand: Mapping[str, str]) -> dict[str, str]:
    """Return the page of a row of every model, and the one that asks before it is deleted, if not there already."""
    known = {resolve(address.split("?")[0]).url_name for address in by_hand.values()}
    root = as_superuser()
    found = {}
    for model, model_admin in site._registry.items():
        rows = [row for row in model.objects.all()[:20] if model_admin.has_view_permission(root, row)]  # type: ignore[attr-defined]
        for page, chosen in (
            ("change", rows),
            ("delete", [row for row in rows if model_admin.has_delete_permission(root, row)]),
        ):
            name = f"{model._meta.app_label}_{model._meta.model_name}_{page}"
            if chosen and name not in known:
                found[f"{page} of {model._meta.model_name}"] = reverse(f"admin:{name}", args=(chosen[0].pk,))
    return found


def as_superuser() -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = Officer(username="root", is_superuser=True, is_staff=True, is_active=True)
    return request


def _proposed(desk: Desk) -> RegisterEntry:
    proposal = Proposal(reading="payout_unit", value=100, first_day=date(2026, 1, 1), reason="chips of one euro")
    return register.propose(desk.second, desk.tenant.casino, proposal)


def _corrected(desk: Desk) -> int:
    """Record a session with a correction that waits; return its stream's id."""
    name = f"corrected-{desk.tenant.code}"
    placed = {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 1000}
    correction = {"corrects": 2, "data": placed | {"stake": 1200}, "reason": "misread", "approved_by": "chief"}
    events = numbered(
        desk.tenant.opener(name, observes=[], gaming_day="2026-11-18"),
        ("wager.placed", placed),
        ("dice.thrown", {"faces": [2, 4]}),
        ("payout.made", {"wager": "w1", "winnings": 1400, "stake_returned": 1200}),
        ("dice.thrown", {"faces": [1, 2]}),
        ("entry.corrected", correction),
    )
    assert desk.tenant.post(name, events).status_code == 201
    stream_id = desk.tenant.stream(name).stream_id
    replayed(stream_id)
    return stream_id


def test_a_correction_is_approved_by_two_officers_and_another_refused(
    browser: Browser, live_server: LiveServer, transactional_db: None
) -> None:
    desk = CorrectionsDesk()
    approved, refused = desk.session("one"), desk.session("two", table="T2")
    (before,) = runs.reconcile(desk.casino, DAY, actor="test", now=MORNING)
    first, second = (Session(browser, live_server, officer) for officer in (desk.officer, desk.director))
    page = first.open(f"/admin/audit/nightreport/{before.pk}/change/")
    expect(page.locator(".waiting .note")).to_contain_text("2 corrections wait for two officers")
    page.get_by_role("link", name="Decide", exact=True).click()
    page.get_by_role("link", name="Entry corrected #6").last.click()
    expect(page.get_by_role("button", name="Sign the decision")).to_be_visible()
    page.get_by_role("radio", name="Countersign").check()
    page.get_by_label("what shows that it is right, or wrong").fill("camera 4 shows twelve")
    page.get_by_label("Your password").fill("x")
    page.get_by_role("button", name="Countersign").click()
    expect(page.locator(".messagelist")).to_contain_text("Another officer must decide")
    expect(page.get_by_role("button", name="Countersign")).to_have_count(0)

    page = second.open(page.url)
    expect(page.locator(".history")).to_contain_text(desk.officer.username)
    page.get_by_role("radio", name="Countersign and put into effect").check()
    page.get_by_label("what shows that it is right, or wrong").fill("so do the chips")
    page.get_by_label("Your password").fill("x")
    page.get_by_role("button", name="Countersign").click()
    expect(page.locator(".messagelist")).to_contain_text("Approved")
    page = second.open(f"/admin/audit/correction/{finding_of(refused).pk}/change/")
    page.get_by_role("radio", name="Refuse for good").check()
    page.get_by_label("what shows that it is right, or wrong").fill("the camera shows ten")
    page.get_by_label("Your password").fill("x")
    page.get_by_role("button", name="Refuse this correction").click()
    expect(page.locator(".messagelist")).to_contain_text("Refused")
    replayed(approved)
    replayed(refused)
    assert "payout-overpaid" not in standing_rules(approved)
    assert "payout-overpaid" in standing_rules(refused)
    (after,) = runs.reconcile(desk.casino, DAY, actor="test", now=MORNING)
    page = second.open(f"/admin/audit/nightreport/{after.pk}/change/")
    expect(page.locator(".waiting")).to_have_count(0)
    assert first.errors == second.errors == []


def _pages_of_the_ledger(desk: Desk) -> dict[str, str]:
    """Return the pages of the ledger: a wheel has raised a question, another has not, a player has bought chips."""
    casino = desk.tenant.casino
    record(casino, spun(casino, ["17"] * 20))
    record(casino, spun(casino, ["17"] * 4, day=DAY + timedelta(days=1), wheel="W2"))
    played = session(casino, "R2", seed=3, coups=10)
    index, first = next((i, each["data"]) for i, each in enumerate(played) if each["type"] == "buy_in.recorded")
    played = inserted(played, index + 1, "buy_in.recorded", first | {"amount": 250_000})
    stream_id = record(casino, played)
    sessions.compute_figures(stream_id, played[-1]["seq"])
    seal()
    feeding.feed(casino)
    player = first["player"]
    raised, unraised, of_player = (
        LedgerProcess.objects.filter(casino=casino, **about).latest("pk")
        for about in ({"name": "wheel 37: W1"}, {"name": "wheel 37: W2"}, {"kind": "player-luck", "subject": player})
    )
    question = LedgerQuestion.objects.filter(process=raised).latest("pk")
    return {
        "questions": reverse("admin:audit_ledgerprocess_changelist"),
        "process that has raised a question": reverse("admin:audit_ledgerprocess_change", args=(raised.pk,)),
        "process that has not": reverse("admin:audit_ledgerprocess_change", args=(unraised.pk,)),
        "process of a player": reverse("admin:audit_ledgerprocess_change", args=(of_player.pk,)),
        "question": reverse("admin:audit_finding_change", args=(question.finding_id,)),
        "money of a player": reverse("admin:audit_person_player", args=(casino.pk, player)),
        "exchange register": reverse("admin:audit_ledgerprocess_exchanges", args=(casino.pk, DAY.isoformat())),
    }


def _pages_of_people_and_rules(desk: Desk) -> dict[str, str]:
    finding = desk.findings[0]
    month = f"?month={finding.gaming_day:%Y-%m}"
    return {
        "croupier": reverse("admin:audit_person_croupier", args=(finding.casino_id, "croupier-1")) + month,
        "player": reverse("admin:audit_person_player", args=(finding.casino_id, "p0001")) + month,
        "money of a night": reverse("admin:audit_person_money", args=(finding.casino_id, f"{DAY}", "p0001")),
        "what is held": reverse("admin:audit_person_subject", args=("player", finding.casino_id, "p0001")),
        "rules": reverse("admin:rules"),
        "rule": reverse("admin:rule", args=(finding.rule,)),
        "law": reverse("admin:law", args=(next(iter(LAW_TEXTS)),)),
    }


def _pages_with_content(
    desk: Desk, night: str, month: str, what_if: WhatIf, verified: Job, waiting: Job
) -> dict[str, str]:
    return {
        **_pages_of_the_ledger(desk),
        "first page": "/admin/",
        "queue": "/admin/audit/finding/?queue=open",
        "findings": "/admin/audit/finding/",
        "groups": "/admin/audit/finding/groups/",
        "finding": address_of(desk),
        "table": f"/admin/audit/loggedstream/{desk.stream.pk}/table/?at=9",
        "events": f"/admin/audit/loggedstream/{desk.stream.pk}/events/",
        "closing of a session": f"/admin/audit/loggedstream/{desk.stream.pk}/closing/",
        "law in a session": f"/admin/audit/loggedstream/{desk.stream.pk}/coverage/",
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
        "verifications": f"{reverse('admin:audit_job_changelist')}?kind__exact=verify",
        "job done": reverse("admin:audit_job_change", args=(verified.pk,)),
        "job waiting": reverse("admin:audit_job_change", args=(waiting.pk,)),
        "API keys": "/admin/audit/apikey/",
        "API key": f"/admin/audit/apikey/{desk.tenant.key.pk}/change/",
        **_pages_of_webhooks(desk),
        **_pages_of_payment_orders(desk),
        **_pages_of_listings(desk),
        "information": "/admin/audit/informationsigning/",
        "information of a night": f"/admin/audit/informationsigning/night/{desk.tenant.casino.pk}/{DAY}/",
        "tables": "/admin/audit/gamingtable/",
        "casinos": "/admin/audit/casino/",
        "officers": "/admin/audit/officer/",
        "officer": f"/admin/audit/officer/{desk.first.pk}/change/",
        "deadlines": "/admin/audit/deadline/",
        "correction": reverse("admin:audit_correction_change", args=(finding_of(_corrected(desk)).pk,)),
        "corrections": "/admin/audit/correction/?state=waiting",
        "entry in the register": reverse("admin:audit_registerentry_change", args=(_proposed(desk).pk,)),
        "subscribers": "/admin/audit/nightsubscriber/",
        "connections": reverse("admin:connections"),
        "state of the record": reverse("admin:record_state"),
        "proof of an event": f"{reverse('admin:record_proof')}?stream={desk.stream.name}&seq=1",
        "import of persons": reverse("admin:audit_person_import"),
        **_pages_of_people_and_rules(desk),
        "to approve": reverse("admin:approve"),
        "batch": reverse("admin:approve_batch", args=(desk.findings[0].pk,)),
        "inbox": reverse("admin:inbox"),
        "closing": reverse("admin:approve_closing", args=(desk.findings[0].pk,)),
        "settings": reverse("admin:app_list", args=("audit",)),
        "search": "/admin/search/?q=T1",
        "first run": reverse("admin:first_run"),
        "password": "/admin/password_change/",
        "second factor": "/admin/second-factor/",
        "notifications": reverse("admin:notifications"),
    }


def _pages_of_payment_orders(desk: Desk) -> dict[str, str]:
    """Return the pages about payment orders: of a claim of the house, of which a waiver is proposed."""
    finding = Finding.objects.standing().filter(casino=desk.tenant.casino, owed__by="player").exclude(case=None)[0]
    case = Case.objects.get(pk=finding.case_id)
    owing = payment_orders.owing_of(case.pk, "player", finding.player)
    assert owing is not None
    asks = (
        f"{reverse('admin:audit_paymentorder_new', args=(finding.pk,))}?kind=waiver&by=player&player={finding.player}"
    )
    order = owing.open or payment_orders.begin(desk.first, case, owing, "waiver", reason="he left the country")
    return {
        "payment orders": "/admin/audit/paymentorder/",
        "waiver to propose": asks,
        "waiver": reverse("admin:audit_paymentorder_change", args=(order.pk,)),
    }


def _pages_of_listings(desk: Desk) -> dict[str, str]:
    """Return the pages about lists: of a player whom an officer proposed for the watch list."""
    casino = desk.tenant.casino
    person, _is_new = Person.objects.get_or_create(casino=casino, code="listed", kind="player", name="Anna Listed")
    proposed = Listing.objects.filter(casino=casino).first()
    listing = proposed or listings.propose(desk.first, casino, ListKind.WATCH, person.code, reason="bets late")
    return {
        "watch and exclusion lists": "/admin/audit/listing/",
        "player to list": reverse("admin:audit_listing_new", args=(person.pk,)),
        "listed player": reverse("admin:audit_listing_change", args=(listing.pk,)),
    }


def _pages_of_webhooks(desk: Desk) -> dict[str, str]:
    """Return the pages about webhooks, of one that fails and has a dead letter."""
    values = {"name": "Duty desk", "url": "https://hooks.example/in", "severities": ["critical"]}
    webhook, _secret = webhooks.create(COMMAND, casino=desk.tenant.casino, **values)
    now, error = timezone.now(), "HTTP 503 Service Unavailable"
    Webhook.objects.filter(pk=webhook.pk).update(failures=12, failing_since=now, next_try_at=now, error=error)
    change = FindingChange.objects.filter(casino=desk.tenant.casino).earliest("position")
    DeadLetter.objects.create(webhook=webhook, change=change, given_up_at=now, error=error)
    return {
        "webhooks": "/admin/audit/webhook/",
        "webhook": f"/admin/audit/webhook/{webhook.pk}/change/",
        "new webhook": "/admin/audit/webhook/add/",
        "dead letters": "/admin/audit/deadletter/",
    }


IN_SHORT = ("first page", "finding", "table", "night", "correction", "officers", "second factor")
"""A page of every make. The others are opened by ``make faults``."""


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (1440, IN_SHORT),
        pytest.param(1440, None, marks=pytest.mark.faults),
        pytest.param(390, None, marks=pytest.mark.faults),
    ],
)
def test_axe_finds_nothing_on_any_page(
    browser: Browser,
    live_server: LiveServer,
    desk: Desk,
    width: int,
    names: tuple[str, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk.proposed_by(desk.first)
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    options = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
    session = Session(browser, live_server, chief, **options)
    pages = pages_of(desk)
    faults = [f"{name}: {fault}" for name in names or pages for fault in faults_of(session, session.open(pages[name]))]
    # The page that asks for a proof, and that of a one-time link, which is shown once.
    session.open(f"/admin/audit/officer/{desk.first.pk}/change/")
    page = session.page
    monkeypatch.setattr(proof, "PROOF_S", 0.0)
    page.get_by_role("button", name=re.compile("New invitation link|Reset the password")).click()
    expect(page).to_have_title(re.compile("Confirm that it is you"))
    page.wait_for_load_state()
    faults += [f"proof: {fault}" for fault in faults_of(session, page)]
    assert not faults, "\n".join(faults)
    session.context.clear_cookies()
    link = accounts.issue_link(chief, desk.second, is_shown=True)
    for address in ("/admin/login/", reverse("admin:access_link", args=[link]), "/admin/link/nothing/"):
        faults += [f"{address}: {fault}" for fault in faults_of(session, session.open(address))]
    assert not faults, "\n".join(faults)


def faults_of(session: Session, page: Page) -> list[str]:
    """Return what is wrong with an open page in both themes."""
    # The page that asks for a proof is a 403, and that of a link which is no good a 404: the console says so.
    faults = [error for error in session.errors if "responded with a status of 40" not in error]
    if not page.locator("#content").count():
        faults.append("no page of the desk")
    page.evaluate(Axe().axe_script)
    # A theme changes colours and nothing else.
    for theme, rules in (("light", RULES), ("dark", {"runOnly": {"type": "rule", "values": ["color-contrast"]}})):
        page.emulate_media(color_scheme=theme)
        violations = page.evaluate("async options => (await axe.run(options)).violations", rules)
        faults += [f"{theme}, {each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"][:3]]
    page.emulate_media(color_scheme="light")
    width = page.viewport_size["width"] if page.viewport_size else 0
    if (page_width := page.evaluate("document.documentElement.scrollWidth")) > width:
        faults.append(f"scrolls sideways: {page_width}")
    session.errors.clear()  # on forms, axe itself asks for styles that the page's policy refuses
    return faults


BROKEN_WORDS = """() => [...document.querySelectorAll('.states li, td.state, th, .state, .sev, .verdict-tag')]
  .filter(each => each.offsetParent && each.firstChild && each.firstChild.nodeType === 3)
  .flatMap(each => [...each.firstChild.data.matchAll(/\\p{L}[\\p{L}’]*/gu)].filter(word => {
    const range = document.createRange();
    range.setStart(each.firstChild, word.index);
    range.setEnd(each.firstChild, word.index + word[0].length);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size > 1;
  }).map(word => word[0]))"""
"""The words of states and headings that are written on two lines."""


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
@pytest.mark.parametrize("width", [1440, 390])
def test_no_word_of_a_state_or_a_heading_is_broken_within(
    browser: Browser, live_server: LiveServer, desk: Desk, locale: str, width: int
) -> None:
    session = Session(browser, live_server, desk.first, locale=locale, viewport={"width": width, "height": 1000})
    page = session.open(address_of(desk))
    expect(page.locator("#stakes tbody tr").first).to_be_attached()
    assert page.locator(".states li").count() == 4
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("address", ["/admin/audit/finding/?queue=open", "/admin/audit/finding/"])
def test_the_action_stands_before_the_exports_on_a_phone_and_after_them_on_a_desk(
    browser: Browser, live_server: LiveServer, desk: Desk, address: str
) -> None:
    session = Session(browser, live_server, desk.first, viewport={"width": 1440, "height": 1000})
    page = session.open(address)

    def at(selector: str) -> tuple[float, float]:
        box = page.locator(f".head {selector}").bounding_box()
        assert box is not None
        return box["x"], box["y"]

    assert at(".split")[0] < at(".btn.go")[0]
    page.set_viewport_size({"width": 390, "height": 844})
    assert at(".btn.go")[1] + 44 <= at(".split")[1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert session.errors == []


def test_the_queue_is_worked_by_keys_alone(browser: Browser, live_server: LiveServer, desk: Desk) -> None:
    session = Session(browser, live_server, desk.first)
    page = session.open("/admin/audit/finding/?queue=open")
    rows, current = page.locator("#result_list tr[data-row]"), page.locator("#result_list tr[data-current]")
    number = rows.count()
    assert number > 1
    for key, at in (("j", 0), ("j", 1), ("k", 0), ("k", 0)):
        page.keyboard.press(key)
        expect(current).to_have_count(1)
        assert rows.nth(at).get_attribute("data-current") is not None
    page.keyboard.press("x")
    expect(page.locator("input.action-select:checked")).to_have_count(1)
    expect(page.locator("#changelist-form .actions")).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator("input.action-select:checked")).to_have_count(0)
    title = current.locator(".ti a").first.inner_text()
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    expect(page.locator("#changelist-filter details[open] ul")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("a")  # of the current row: none is ticked
    expect(page.locator(".messagelist")).to_contain_text("You took 1 case.")
    page.wait_for_load_state()
    expect(page.locator("#result_list .st.investigating")).to_have_count(1)
    assert title in page.locator("tr[data-row]:has(.st.investigating)").inner_text()
    page.keyboard.press("t")
    expect(page.locator(".states [aria-current]")).to_have_text("Under way")
    expect(page.locator(".undo")).to_contain_text("You took this case.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".messagelist")).to_contain_text("The case was released.")
    expect(page.locator(".states [aria-current]")).to_have_text("New")
    page.wait_for_load_state()
    page.keyboard.press("c")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("go")  # typed, and no shortcut
    expect(page.locator("#note")).to_have_value("go")
    page.locator("h1").first.click()
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile(r"/admin/audit/finding/\?queue=open$"))
    page.wait_for_load_state()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/finding/\d+/change/"))
    page.wait_for_load_state()
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(r"/admin/$"))
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/nightreport/"))
    assert session.errors == []


def test_a_filter_closes_when_it_has_been_chosen_and_by_escape(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    session = Session(browser, live_server, desk.first)
    page = session.open("/admin/audit/finding/?queue=open")
    severity = page.locator(".pill-filter details", has_text="Severity")
    severity.locator("summary").click()
    severity.get_by_role("link", name="critical").click()
    expect(page).to_have_url(re.compile("severity__exact=critical"))
    expect(page.locator(".pill-filter details[open]")).to_have_count(0)
    severity.locator("summary").click()
    expect(page.locator(".pill-filter details[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".pill-filter details[open]")).to_have_count(0)
    assert session.errors == []


@pytest.mark.superuser
def test_what_follows_from_an_incident_unfolds_and_closing_is_proposed_by_keys(
    browser: Browser, live_server: LiveServer, desk: Desk
) -> None:
    head = desk.findings[0]
    for other in desk.findings[1:]:
        type(other).objects.filter(pk=other.pk).update(heads_case=False, case=head.case_id)
    session = Session(browser, live_server, desk.first)
    page = session.open("/admin/audit/finding/?queue=open")
    page.keyboard.press("j")
    for key, isopen in (("ArrowRight", True), ("ArrowLeft", False)):
        page.keyboard.press(key)
        expect(page.locator("#result_list details[open]")).to_have_count(int(isopen))
    page.keyboard.press("a")
    expect(page.locator(".messagelist")).to_contain_text("You took 1 case.")
    page.wait_for_load_state()
    page.keyboard.press("j")
    page.keyboard.press("p")
    expect(page.locator("[name=outcome]")).to_be_focused()
    page.locator("[name=outcome]").select_option("explained")
    page.locator("[name=reason]").fill("a sleeve in the way")
    page.locator("#changelist-form button[value=propose_selected]").click()
    expect(page.locator(".messagelist")).to_contain_text("You proposed closing 1 case.")
    page.wait_for_load_state()
    assert desk.case.state == "second"
    assert session.errors == []
