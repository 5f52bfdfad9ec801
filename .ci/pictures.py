"""``make pictures``: a picture of every page of the desk, as ``docs/desk.md`` shows them.

    a desk of its own, with three simulated nights ─► a browser signs in ─► each page, at each width ─► docs/images/desk

The folder is written anew, in English and, as ``fr-NAME.png``, in French. ``ALL=1`` adds the dark theme, what is
below the first screens and the pages that the documents do not show, for whoever looks at a change; those are not kept
with the documents: ``OUT=FOLDER`` says where they go.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b32decode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from django_otp.oath import totp
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.casino.stack import Stack  # noqa: E402  # of this project, which is no package that is installed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

NIGHTS, TABLES = 3, 4
PORT = 8790
WIDTHS = (1440, 390)
LONGEST_PX = 1500
"""Of a longer page the top is shown; with ``ALL=1`` the rest as well, in pictures of this height: ``NAME-2.png``."""

TALLEST_PX = 12_000
"""What is below is in no picture."""

DESK = "/admin/audit"
FIRST_ROW = "#content table tbody a[href*='/change/']"

Way = str | Callable[[Page], str]
"""The address of a page, or how it is found from another page."""


def linked(listed: Way, link: str, nth: int = 0) -> Callable[[Page], str]:
    """Return how to find the ``nth`` page that another page links to."""

    def find(page: Page) -> str:
        page.goto(page.url.split("/admin/")[0] + _address(page, listed))
        address = page.locator(link).nth(nth).get_attribute("href", timeout=5_000)
        assert address, f"{page.url} has no {link}"
        return urljoin(urlsplit(page.url).path, address)

    return find


def _webhook(page: Page) -> str:
    """Create a webhook, whose secret the next page shows, and return its page."""
    page.goto(page.url.split("/admin/")[0] + f"{DESK}/webhook/add/")
    page.locator("#id_name").fill("Duty desk")
    page.locator("#id_url").fill("https://hooks.example/cabochon")
    page.locator("#content form [type=submit]").click()
    page.locator("#secret").wait_for()
    return linked(f"{DESK}/webhook/", FIRST_ROW)(page)


def _wait_for_correction(stack: Stack) -> None:
    """Let a table send a spin that was read wrongly and is corrected after it was paid: that waits for two officers."""
    night = datetime.now(UTC).replace(hour=20, minute=0, second=0, microsecond=0) - timedelta(days=1)
    stream = f"deauville.R1.{night:%Y-%m-%d}.9"
    opened = {
        "casino": "deauville",
        "table": "R1",
        "gaming_day": f"{night:%Y-%m-%d}",
        "game": "french_roulette",
        "ruleset": "fr-roulette",
        "currency": "EUR",
        "float": 5_000_000,
        "observes": [],
    }
    told: tuple[tuple[str, dict[str, Any]], ...] = (
        ("session.opened", opened),
        ("wager.placed", {"wager": "w1", "bet": "plein", "numbers": ["32"], "stake": 2400, "player": "p1048"}),
        ("no_more_bets", {}),
        ("ball.settled", {"pocket": "32"}),
        ("payout.made", {"wager": "w1", "winnings": 84_000, "stake_returned": 2400}),
        ("wager.placed", {"wager": "w2", "bet": "rouge", "stake": 500, "player": "p1048"}),
        ("ball.settled", {"pocket": "1"}),
        ("entry.corrected", {"corrects": 4, "data": {"pocket": "23"}, "reason": "misread", "approved_by": "chief"}),
    )
    events = [
        {
            "stream": stream,
            "seq": seq,
            "type": type,
            "data": data,
            "occurred_at": (night + timedelta(seconds=20 * seq)).isoformat(),
        }
        for seq, (type, data) in enumerate(told, start=1)
    ]
    made = subprocess.run(
        [sys.executable, "manage.py", "createkey", "--casino", "deauville", "--table", "R1"],
        cwd=ROOT, env=stack.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    request = urllib.request.Request(
        f"{stack.url}/api/v1/streams/{stream}/events",
        json.dumps(events).encode(),
        {"Authorization": f"Bearer {made.stdout.split()[-1]}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 201, answer.read()


def _wait_for_nights(page: Page) -> None:
    """Wait until every simulated night has a report: of two casinos, and one of a third."""
    for _ in range(120):
        page.goto(f"{DESK}/nightreport/")
        if page.locator(FIRST_ROW).count() > 2 * NIGHTS:
            return
        page.wait_for_timeout(1_000)
    raise AssertionError("not every night is reconciled")


def _correction(page: Page) -> str:
    """Return the page of the first correction that waits, once it has been replayed."""
    for _ in range(60):
        page.goto(page.url.split("/admin/")[0] + f"{DESK}/correction/")
        row = page.locator(FIRST_ROW)
        if row.count():
            return row.first.get_attribute("href") or ""
        page.wait_for_timeout(1_000)
    raise AssertionError("no correction waits")


FINDING = linked(f"{DESK}/finding/?queue=open&owed=player", "#content table a[href*='/change/']")


def player(page: Page) -> str:
    """Return the page of the first player whom a finding names: of some it is not known who they are."""
    home = page.url.split("/admin/")[0]
    page.goto(f"{home}{DESK}/finding/?queue=open")
    rows = page.locator("#content table a[href*='/change/']").all()
    for address in [urljoin(page.url, row.get_attribute("href") or "") for row in rows]:
        page.goto(address)
        named = page.locator("#content a[href*='/player/']")
        if named.count():
            return urljoin(urlsplit(page.url).path, named.first.get_attribute("href") or "")
    raise AssertionError("no finding names a player")


MOMENT = linked(FINDING, "a[href*='/table/?at=']")

PAGES: Mapping[str, Way] = MappingProxyType(
    {
        "first-run": "/admin/first-run/",
        "overview": "/admin/",
        "inbox": "/admin/inbox/",
        "queue": f"{DESK}/finding/?queue=open",
        "finding": FINDING,
        "approve": "/admin/approve/",
        "approve-closing": linked("/admin/approve/", "a[href*='/approve/closing/']"),
        "correction": _correction,
        "information": f"{DESK}/informationsigning/",
        "nights": f"{DESK}/nightreport/",
        "night": linked(f"{DESK}/nightreport/", FIRST_ROW),
        "month": linked(f"{DESK}/nightreport/", "a[href*='/month/']:not([href*='xlsx'])"),
        "questions": f"{DESK}/ledgerprocess/",
        "process": linked(f"{DESK}/ledgerprocess/", FIRST_ROW),
        "tables": f"{DESK}/loggedstream/",
        "table-at-a-moment": MOMENT,
        "law-in-a-session": lambda page: f"{MOMENT(page).split('/table/')[0]}/coverage/",
        "people": f"{DESK}/person/",
        "croupier": linked(FINDING, "#content a[href*='/croupier/']"),
        "player": player,
        "rules": "/admin/rules/",
        "rule": "/admin/rules/payout-missing/",
        "law": "/admin/rules/law/fr-art-55-7/",
        "what-if": f"{DESK}/whatif/",
        "record": "/admin/state/",
        "officers-trail": "/admin/audit-trail/",
        "settings": f"{DESK}/",
        "casino": linked(f"{DESK}/casino/", FIRST_ROW),
        "keys": f"{DESK}/apikey/",
        "webhook": _webhook,
        "officers": f"{DESK}/officer/",
        "search": "/admin/search/?q=R1",
    }
)
"""The pages, in the order of ``docs/desk.md``."""


def _event(page: Page) -> str:
    """Return the first event of the stream that the page of the record names first."""
    page.goto(page.url.split("/admin/")[0] + "/admin/state/")
    return urlencode({"stream": page.locator("a[href*='/events/']").first.inner_text(), "seq": 1})


def _batch(page: Page) -> str:
    """Return the batch with the first proposed closing."""
    return _address(page, PAGES["approve-closing"]).replace("/closing/", "/batch/")


PERSON = linked(f"{DESK}/person/", "#result_list a[href*='/change/']")

NIGHT = linked(f"{DESK}/nightreport/", FIRST_ROW)


def _under(way: Way, ending: str) -> Callable[[Page], str]:
    """Return the address of a page of the same row: ``ending`` in the place of ``change/``."""
    return lambda page: _address(page, way).split("change/")[0] + ending


def _of(model: str, ending: str = "change/") -> Callable[[Page], str]:
    return _under(linked(f"{DESK}/{model}/", FIRST_ROW), ending)


MORE: Mapping[str, Way] = MappingProxyType(
    {
        "queue-late": f"{DESK}/finding/?queue=overdue",
        "queue-found": f"{DESK}/finding/?q=R1",
        "queue-closed": f"{DESK}/finding/?queue=closed",
        "findings": f"{DESK}/finding/",
        "groups": f"{DESK}/finding/groups/",
        "batch": _batch,
        "information-of-a-night": linked(f"{DESK}/informationsigning/", "#content a[href*='/night/']"),
        "listings": f"{DESK}/listing/",
        "payment-orders": f"{DESK}/paymentorder/",
        "payment-order": linked(f"{DESK}/paymentorder/", FIRST_ROW),
        "connections": "/admin/connections/",
        "complaints": f"{DESK}/complaint/",
        "new-complaint": f"{DESK}/complaint/add/",
        "session-of-a-night": linked(NIGHT, "#content a[href*='/session/']"),
        "figure-of-a-night": _under(NIGHT, "figure/D/"),
        "exchanges": linked("/admin/", "a[href*='/exchanges/']"),
        "gaming-tables": f"{DESK}/gamingtable/",
        "events": lambda page: f"{MOMENT(page).split('/table/')[0]}/events/",
        "person": PERSON,
        "new-person": f"{DESK}/person/add/",
        "import-people": f"{DESK}/person/import/",
        "held-of-a-person": lambda page: player(page).replace("/player/", "/held/player/"),
        "erase-a-person": lambda page: PERSON(page).replace("/change/", "/delete/"),
        "money-of-a-player": linked(player, "#content a[href*='/money/']"),
        "register": f"{DESK}/registerentry/",
        "new-entry": f"{DESK}/registerentry/add/",
        "proof-of-an-event": lambda page: f"/admin/state/proof/?{_event(page)}",
        "verifications": f"{DESK}/job/?kind__exact=verify",
        "exports": f"{DESK}/job/",
        "failed-runs": f"{DESK}/failedrun/",
        "quarantine": f"{DESK}/quarantined/",
        "corrections": f"{DESK}/correction/",
        "casinos": f"{DESK}/casino/",
        "new-casino": f"{DESK}/casino/add/",
        "gaming-table": _of("gamingtable"),
        "new-table": f"{DESK}/gamingtable/add/",
        "key": _of("apikey"),
        "new-key": f"{DESK}/apikey/add/",
        "webhooks": f"{DESK}/webhook/",
        "new-webhook": f"{DESK}/webhook/add/",
        "dead-letters": f"{DESK}/deadletter/",
        "subscribers": f"{DESK}/nightsubscriber/",
        "new-subscriber": f"{DESK}/nightsubscriber/add/",
        "deadlines": f"{DESK}/deadline/",
        "deadline": _of("deadline"),
        "contacts": f"{DESK}/casecontacts/",
        "new-contacts": f"{DESK}/casecontacts/add/",
        "officer": _of("officer"),
        "new-officer": f"{DESK}/officer/add/",
        "password": "/admin/password_change/",
        "second-factor": "/admin/second-factor/",
        "notifications": "/admin/notifications/",
        "search-of-nothing": "/admin/search/?q=zzzz",
    }
)
"""Pages that the documents do not show: taken with ``ALL=1``, or one by its name."""

BEFORE = ("sign-in", "sign-in-code")
"""The pages that are seen before one is signed in."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make pictures", description="A picture of every page of the desk.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "desk")
    parser.add_argument("--all", action="store_true", help="the dark theme and every page as well")
    parser.add_argument("--only", metavar="NAME", choices=[*BEFORE, *PAGES, *MORE], help="one page")
    args = parser.parse_args()
    if CHROMIUM is None:
        parser.error("a browser is needed: Debian's package chromium")
    if args.only is None:
        shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stack = Stack(Path(folder) / "data", port=PORT)
        supervisor = stack.start(tables=TABLES, nights=NIGHTS)
        _wait_for_correction(stack)
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--lang=en-GB"], env={**os.environ, "LANGUAGE": "en_GB"}
        )
        try:
            missing = take(browser, stack, args.out, with_all=args.all, only=args.only)
        finally:
            browser.close()
            supervisor.send_signal(signal.SIGINT)
            supervisor.wait()
    for each in missing:
        print(each, file=sys.stderr)
    print(f"{len(list(args.out.glob('*.png')))} pictures in {os.path.relpath(args.out)}")
    return 1 if missing else 0


def take(browser: Browser, stack: Stack, out: Path, *, with_all: bool, only: str | None) -> list[str]:
    """Take the pictures, and return which pages could not be found or were no page."""
    missing: list[str] = []
    ways = {**PAGES, **MORE}
    themes, locales = ("light", "dark") if with_all else ("light",), ("en-GB", "fr-FR")
    addresses: dict[str, str] = {}
    for locale in locales:
        context = browser.new_context(
            base_url=stack.url, locale=locale, reduced_motion="reduce", viewport={"width": WIDTHS[0], "height": 900}
        )
        page = context.new_page()
        page.goto("/admin/login/")
        if only in (None, "sign-in"):
            _pictures(page, out, "sign-in", themes, locale, is_whole=with_all)
        _give_password(page, stack)
        _wait_for_nights(page)
        for name in [only] * (only in ways) if only is not None else ways if with_all else PAGES:
            page.set_viewport_size({"width": WIDTHS[0], "height": 900})
            try:
                address = addresses.get(name) or addresses.setdefault(name, _address(page, ways[name]))
                answer = page.goto(address)
            except Exception as error:
                missing.append(f"{name}: {str(error).splitlines()[0]}")
                continue
            if answer is None or not answer.ok:
                missing.append(f"{name}: {address} answers {answer.status if answer else 'nothing'}")
                continue
            _pictures(page, out, name, themes, locale, is_whole=with_all)
            if name == "first-run":  # the overview is what an officer sees from then on
                dismiss = page.locator("form[action*='dismiss'] button")
                if dismiss.count():
                    dismiss.click()
                    page.wait_for_load_state()
        context.close()
    if only in (None, "sign-in-code"):
        _code_step(browser, stack, out, themes, locales)
    return missing


def _give_password(page: Page, stack: Stack) -> None:
    """Fill in the sign-in page, and come to the next one."""
    page.locator("#id_username").fill("officer")
    page.locator("#id_password").fill(stack.password)
    page.locator("#login-form [type=submit]").click()
    page.wait_for_load_state()


def _code_step(browser: Browser, stack: Stack, out: Path, themes: tuple[str, ...], locales: tuple[str, ...]) -> None:
    """Give the officer a second factor, as the last thing of all, and take the page that asks for its code."""
    context = browser.new_context(base_url=stack.url)
    page = context.new_page()
    page.goto("/admin/login/")
    _give_password(page, stack)
    page.goto("/admin/second-factor/")
    secret = page.locator(".gate-card ol code").first.inner_text().replace(" ", "")
    page.locator("#code").fill(f"{totp(b32decode(secret + '=' * (-len(secret) % 8))):06}")
    page.locator(".gate-card [type=submit]").click()
    page.locator(".gate-card .codes").wait_for()
    context.close()
    for locale in locales:
        context = browser.new_context(base_url=stack.url, locale=locale, reduced_motion="reduce")
        page = context.new_page()
        page.goto("/admin/login/")
        _give_password(page, stack)
        page.locator("#code-form").wait_for()
        _pictures(page, out, "sign-in-code", themes, locale)
        context.close()


def _address(page: Page, way: Way) -> str:
    return way if isinstance(way, str) else way(page)


def _pictures(
    page: Page, out: Path, name: str, themes: tuple[str, ...], locale: str, *, is_whole: bool = False
) -> None:
    for width, theme in product(WIDTHS, themes):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.wait_for_timeout(150)  # fonts, and what scrolls into place
        whole = min(TALLEST_PX, page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({"width": width, "height": max(900, whole if is_whole else min(LONGEST_PX, whole))})
        file = "-".join(_parts(name, width, theme, locale))
        for number, top in enumerate(range(0, whole if is_whole else 1, LONGEST_PX), start=1):
            height = min(LONGEST_PX, max(900, whole) - top)
            page.screenshot(
                path=out / (f"{file}.png" if number == 1 else f"{file}-{number}.png"),
                clip={"x": 0, "y": top, "width": width, "height": height},
            )
    page.emulate_media(color_scheme="light")


def _parts(name: str, width: int, theme: str, locale: str) -> Iterator[str]:
    if locale.startswith("fr"):
        yield "fr"
    yield name
    if width != WIDTHS[0]:
        yield str(width)
    if theme == "dark":
        yield theme


if __name__ == "__main__":
    sys.exit(main())
