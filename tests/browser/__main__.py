"""``python -m tests.browser``: take the pictures of the documentation anew, of the desk that ``make run`` started."""

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
PICTURES = ROOT / "docs" / "images"


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: a page, how it is looked at, and the first row to open where the page is a list."""

    name: str
    address: str
    language: Literal["en", "fr"] = "en"
    theme: Literal["light", "dark"] = "light"
    width: int = 1440
    height: int = 1000
    opens: bool = False


WANTED = (
    Picture("desk", "/admin/", height=620),
    Picture("queue", "/admin/audit/finding/?queue=open", theme="dark"),
    Picture("finding", "/admin/audit/finding/?rule=dice-changed-during-point-series", opens=True, height=1240),
    Picture("prison", "/admin/audit/finding/?rule=imprisoned-stake-paid-winnings", "fr", opens=True, height=1240),
    Picture("phone", "/admin/audit/finding/?rule=payout-underpaid", theme="dark", width=390, height=1240, opens=True),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.browser", description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CABOCHON_DATA", ROOT / ".data")))
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("There is no Chromium here; Debian's package is 'chromium'.", file=sys.stderr)
        return 1
    password = (given.data / "officer-password").read_text().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for picture in WANTED:
            take(browser, picture, given.url, password)
            print(PICTURES / f"{picture.name}.png")
        browser.close()
    return 0


def take(browser: Browser, picture: Picture, url: str, password: str) -> None:
    """Sign in, go to the page, and take its picture."""
    context = browser.new_context(
        base_url=url, viewport={"width": picture.width, "height": picture.height}, color_scheme=picture.theme
    )
    page = context.new_page()
    page.goto("/admin/login/")
    page.fill("[name=username]", "officer")
    page.fill("[name=password]", password)
    page.click("#login-form [type=submit]")
    page.click(f"button[lang={picture.language}]")
    page.goto(picture.address)
    if picture.opens:
        page.locator("#result_list tbody a").first.click()
        page.locator("#timeline").wait_for()
    page.screenshot(path=PICTURES / f"{picture.name}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
