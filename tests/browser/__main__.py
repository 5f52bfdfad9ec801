"""``python -m tests.browser``: retake the screenshots of the documentation, of the desk that ``make run`` started."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images"


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One screenshot: a page, its language, theme and size. ``opens_first``: of the first row of a list."""

    name: str
    address: str
    language: Literal["en", "fr"] = "en"
    theme: Literal["light", "dark"] = "light"
    width: int = 1440
    height: int = 1000
    opens_first: bool = False


SCREENSHOTS = (
    Screenshot("desk", "/admin/", height=620),
    Screenshot("queue", "/admin/audit/finding/?queue=open", theme="dark"),
    Screenshot("finding", "/admin/audit/finding/?rule=dice-changed-during-point-series", opens_first=True, height=1240),
    Screenshot(
        "prison", "/admin/audit/finding/?rule=imprisoned-stake-paid-winnings", "fr", opens_first=True, height=1240
    ),
    Screenshot(
        "phone", "/admin/audit/finding/?rule=payout-underpaid", theme="dark", width=390, height=1240, opens_first=True
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.browser", description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CABOCHON_DATA", ROOT / ".data")))
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("Chromium is not installed; Debian's package is 'chromium'.", file=sys.stderr)
        return 1
    password = (args.data / "officer-password").read_text().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for screenshot in SCREENSHOTS:
            take(browser, screenshot, args.url, password)
            print(FOLDER / f"{screenshot.name}.png")
        browser.close()
    return 0


def take(browser: Browser, screenshot: Screenshot, url: str, password: str) -> None:
    """Sign in, open the page and save its screenshot."""
    context = browser.new_context(
        base_url=url, viewport={"width": screenshot.width, "height": screenshot.height}, color_scheme=screenshot.theme
    )
    page = context.new_page()
    page.goto("/admin/login/")
    page.fill("[name=username]", "officer")
    page.fill("[name=password]", password)
    page.click("#login-form [type=submit]")
    page.click(f"button[lang={screenshot.language}]")
    page.goto(screenshot.address)
    if screenshot.opens_first:
        page.locator("#result_list tbody a").first.click()
        page.locator("#timeline").wait_for()
    page.screenshot(path=FOLDER / f"{screenshot.name}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
