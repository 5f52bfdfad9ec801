"""Pages of the interface: a page says whether it is the last, at every limit, and whatever comes meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests import citus
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.conftest import make_tenant
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

EVENTS = 6


def pages(tenant: Tenant, path: str, rows: str, after: str, limit: int) -> Iterator[list[Any]]:
    """Yield each page of a list until one says that it is the last; ``after`` is what the next begins after."""
    reached: Any = None
    while True:
        answer = tenant.ask(f"{path}?limit={limit}" + ("" if reached is None else f"&after={reached}")).json()
        yield answer[rows]
        if not answer["more"]:
            return
        reached = answer[after] if after in answer else answer[rows][-1][after]


STREAM = "stream"


LIMITS = (1, 2, 4, 3, EVENTS, 5, EVENTS + 1)
"""Rows a page: in the short form the last page is full, shorter than the others, and the only one."""


@pytest.fixture(scope=citus.MODULE)
def sent(module_db: None) -> Tenant:
    """A tenant whose stream has six events, each sent alone, and six changes of findings: tests only read them."""
    tenant = make_tenant()
    for event in tenant.session(STREAM, EVENTS):
        assert tenant.send(STREAM, [event]).status_code == 201
    for _ in range(EVENTS):
        replayed(tenant, overpaid(unique_name(), tenant))
    return tenant


@pytest.mark.parametrize("limit", in_short(LIMITS, every=2))
def test_the_last_page_says_that_it_is_the_last_and_no_other_does(sent: Tenant, limit: int) -> None:
    lists = {
        "changes": ("findings/feed", "next", "cursor", [f"1-{number}" for number in range(1, EVENTS + 1)]),
        "batches": (f"streams/{STREAM}/batches", "first_seq", "first_seq", list(range(1, EVENTS + 1))),
    }
    for rows, (path, after, key, every) in lists.items():
        found = list(pages(sent, path, rows, after, limit))
        assert [row[key] for page in found for row in page] == every, rows
        assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1), rows
        assert 0 < len(found[-1]) <= limit, f"{rows}: an empty page more is asked for"


def test_what_comes_between_two_pages_of_the_feed_is_in_a_later_one_once(tenant: Tenant) -> None:
    for _ in range(3):
        replayed(tenant, overpaid(unique_name(), tenant))
    found, coming = [], [1, 3, 4]
    for page in pages(tenant, "findings/feed", "changes", "next", 2):
        found += page
        for _ in range(coming.pop() if coming else 0):
            replayed(tenant, overpaid(unique_name(), tenant))
    assert [each["cursor"] for each in found] == [f"1-{number}" for number in range(1, 12)]
    assert len({each["finding"]["id"] for each in found}) == 11


@pytest.mark.parametrize("form", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("limit", in_short(LIMITS, every=2))
def test_a_page_of_events_names_the_next_one_in_its_header(sent: Tenant, form: str, limit: int) -> None:
    """It is sent again as it is, so nothing of the page itself can say it."""
    path, found = f"streams/{STREAM}/events?limit={limit}", []
    while path:
        answer = sent.ask(path, Accept=form)
        lines = answer.content.splitlines()
        page = answer.json()["events"] if form == "application/json" else [json.loads(line) for line in lines]
        found.append([each["seq"] for each in page])
        address, _semicolon, relation = answer.headers.get("Link", "").partition("; ")
        assert relation == ('rel="next"' if address else "")
        path = address.strip("<>").removeprefix("/api/v1/")
    assert [seq for page in found for seq in page] == list(range(1, EVENTS + 1))
    assert len(found) == -(-EVENTS // limit), "an empty page more is asked for"
