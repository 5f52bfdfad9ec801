"""Officers at the desk in a real browser."""

from __future__ import annotations

import re
import shutil
from typing import Any

from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page
from pytest_django.live_server_helper import LiveServer

from audit.models import Officer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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


class Hand:
    """An officer with a mouse, who comes to the sign-in page. Counts his clicks after that page, and what he types."""

    def __init__(self, browser: Browser, server: LiveServer, officer: Officer, password: str, **options: Any) -> None:
        context = browser.new_context(
            base_url=server.url, **{"viewport": {"width": 1440, "height": 1000}, "locale": "en-GB", **options}
        )
        self.page: Page = context.new_page()
        self.page.goto("/admin/")
        self.page.locator("#id_username").fill(officer.username)
        self.page.locator("#id_password").fill(password)
        self.page.locator("#login-form button[type=submit]").click()
        self.page.wait_for_load_state()
        self.clicks = 0
        self.typed: list[str] = []

    def click(self, target: Locator) -> None:
        """Click on what is on the screen as it is, or becomes so by scrolling."""
        target.click()
        self.page.wait_for_load_state()
        self.clicks += 1

    def choose(self, target: Locator, value: str) -> None:
        """Choose from a list that a click opens, by a click."""
        target.select_option(value)
        self.clicks += 2

    def type(self, target: Locator, text: str) -> None:
        """Type into a field that has the focus already, or that is reached by the key Tab from where it is."""
        target.focus()
        self.page.keyboard.type(text)
        self.typed.append(text)
