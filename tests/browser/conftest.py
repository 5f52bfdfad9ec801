"""One browser for the tests of a module, and the desk that they open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.audit.casework.test_actions import Desk
from tests.browser.sessions import CHROMIUM


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
    """A desk with cases, made within the event loop of the browser."""
    return Desk()
