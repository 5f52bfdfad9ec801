"""A day with many entries is on several pages: each entry on one of them, the latest first shown."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from audit.desk.audit_trail import page
from audit.event_store import audit_trail
from tests.audit.casework.test_actions import Desk, client_of

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/audit-trail/?type=comment"


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Client:
    monkeypatch.setattr(page, "PER_PAGE", 3)
    for number in range(8):
        audit_trail.record("ada", "comment.tried", casino_id=desk.tenant.casino.pk, data={"number": number})
    return client_of(desk.auditor)


def shown(client: Client, address: str) -> tuple[list[int], dict[str, str]]:
    """Return the numbers of the entries on a page, and its links to other pages by their words."""
    html = client.get(address, headers={"accept-language": "en"}).content.decode()
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    links = re.findall(r'<a class="link" href="([^"]*)">(Earlier|Later) entries</a>', html)
    return [int(seq) for seq in re.findall(r'<tr><td class="number">(\d+)</td>', body)], {
        words: "/admin/audit-trail/" + address.replace("&amp;", "&") for address, words in links
    }


def test_each_entry_of_a_day_is_on_one_page_and_pages_lead_to_each_other(auditor: Client) -> None:
    pages, address = [], ADDRESS
    while True:
        numbers, links = shown(auditor, address)
        pages.append(numbers)
        if "Earlier" not in links:
            break
        address = links["Earlier"]
    assert [len(numbers) for numbers in pages] == [3, 3, 2]
    found = [seq for numbers in reversed(pages) for seq in numbers]
    assert found == sorted(set(found))
    assert len(found) == 8
    back = [pages[-1]]
    while "Later" in links:
        numbers, links = shown(auditor, links["Later"])
        back.append(numbers)
    # The pages on the way back begin where the earliest ends: they are three, and have all of them again.
    assert [seq for numbers in back for seq in numbers] == found


@pytest.mark.parametrize("before", ["nonsense", pytest.param("-1", marks=pytest.mark.faults), "9" * 30, "%00", "0"])
def test_whatever_the_address_says_there_is_a_page(auditor: Client, before: str) -> None:
    assert auditor.get(f"{ADDRESS}&before={before}").status_code in (200, 400)


def test_a_day_on_one_page_says_nothing_of_pages(auditor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Entries 6 to 8 of 8"
    assert words in auditor.get(ADDRESS, headers={"accept-language": "en"}).content.decode()
    monkeypatch.setattr(page, "PER_PAGE", 200)
    assert "Entries 1 to 8" not in auditor.get(ADDRESS, headers={"accept-language": "en"}).content.decode()
