"""No address answers 500, whatever its parameters: every URL of the desk and of the API, with values that break."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from audit.adjudication.replay import advance
from audit.models import Finding, Membership, Officer, Role
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db

VALUES = [
    "0001-01-01",
    "9999-12-31",
    "2100-01-01",
    "2026-02-31",
    "0001-01",
    "9999-12",
    str(10**30),
    str(2**63),
    "-1",
    "0",
    "٣",
    "nan",
    "1e999",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "%",
    "..",
    "'\"<>;--",
    "x" * 10_000,
    "00000000-0000-0000-0000-000000000000",
]

NAMES = [
    *("p", "q", "o", "e", "all", "page", "next", "_popup", "_to_field", "_changelist_filters", "app_label", "term"),
    *("model_name", "field_name", "id", "casino", "day", "month", "actor", "type", "after", "before", "at", "limit"),
    *("cursor", "from", "to", "stream", "seq", "first_day", "last_day", "currency", "version", "format", "language"),
    *("severity", "rule", "status", "table", "gaming_day", "standing", "view", "queue", "state", "assignee", "run"),
    *("severity__exact", "casino__id__exact", "key__id__exact", "code", "ruleset", "kind", "officer", "columns"),
]

GROUP = re.compile(r"<(?:(\w+):)?(\w+)>|\(\?P<\w+>[^)]*\)")


def addresses(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    """Yield every route, with ``{}`` for each parameter."""
    for pattern in patterns:
        route = prefix + GROUP.sub("{}", str(pattern.pattern)).replace("\\Z", "").strip("^$")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield "/" + route


ROUTES = sorted({each for each in addresses(get_resolver().url_patterns) if "static" not in each})


WRITTEN = [quote(value.encode("utf-8", "surrogatepass")) for value in VALUES]

FULL = int(os.environ.get("CABOCHON_HOSTILE", "24"))
"""One value in so many is tried on a page, others on the next page; with 1 every value on every page."""


def queries(number: int, every: int) -> Iterator[str]:
    """Yield query strings for a page: a value for every name, names with values one by one, a name many times."""
    for value in WRITTEN[number % every :: every]:
        yield "&".join(f"{name}={value}" for name in NAMES)
    for index, name in enumerate(NAMES[number % (4 * every) :: 4 * every]):
        yield f"{name}={WRITTEN[(number * 5 + index) % len(WRITTEN)]}"
    yield (
        "&".join(f"{name}={value}" for name in NAMES for value in WRITTEN[:4])
        if number % 2
        else "&".join(["a"] * 2_000)
    )


@pytest.fixture
def tenant() -> Tenant:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    advance(tenant.stream("s").stream_id)
    return tenant


def of_superuser(tenant: Tenant) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(Officer.objects.create_superuser("chief"))
    return client


def of_officer(tenant: Tenant) -> Client:
    officer = Officer.objects.create_user("officer", is_staff=True)
    Membership.objects.create(officer=officer, casino=tenant.casino, role=Role.SECOND)
    client = Client(raise_request_exception=False)
    client.force_login(officer)
    return client


def failing(tenant: Tenant, client: Client, requested: Iterator[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """Return address, query and status of what was answered 500 or above."""
    failed = []
    for route, query in requested:
        key = {"authorization": f"Bearer {tenant.secret}"} if route.startswith("/api/") else {}
        response = client.get(f"{route}?{query}", headers=key)
        if response.status_code >= 500 and route != "/health/ready":  # which says that nothing works here
            failed.append((route, query[:200], response.status_code))
    return failed


def filled(route: str, argument: str) -> str:
    return route.replace("{}", quote(argument.encode("utf-8", "surrogatepass"), safe=""))


IN_LONG_AND_SHORT = pytest.mark.parametrize(
    ("make_client", "every"),
    [
        pytest.param(of_superuser, FULL, marks=pytest.mark.faults),
        pytest.param(of_officer, FULL, marks=pytest.mark.faults),
        (of_officer, 16 * FULL),
    ],
)


@IN_LONG_AND_SHORT
def test_no_query_breaks_a_page(tenant: Tenant, make_client: Any, every: int) -> None:
    stream_id, finding_id = tenant.stream("s").stream_id, Finding.objects.filter(casino=tenant.casino)[0].pk

    def argument(route: str) -> str:
        return str(stream_id if "loggedstream" in route else finding_id if "finding" in route else "s")

    pages = [filled(route, argument(route)) for route in ROUTES if "logout" not in route]
    assert len(pages) > 50
    numbered = [*enumerate(pages)][:: 1 if every == FULL else 3]
    requested = ((page, query) for number, page in numbered for query in queries(number, every))
    assert failing(tenant, make_client(tenant), requested) == []


@IN_LONG_AND_SHORT
def test_no_argument_breaks_an_address(tenant: Tenant, make_client: Any, every: int) -> None:
    known = [tenant.casino.pk, tenant.code, Finding.objects.filter(casino=tenant.casino)[0].pk]
    requested = [
        (filled(route.replace("{}", quote(str(first)), 1), value), "")
        for number, route in enumerate(each for each in ROUTES if "{}" in each)
        for first in (known[number % 3], *(known if route.count("{}") > 1 and every == 1 else known[:2]))
        for value in VALUES[number % every :: every]
    ]
    requested += [(filled(route, value), "") for route in ROUTES if "{}" in route for value in VALUES[:: 2 * every]]
    if every != FULL:  # what is left of each route is in every third of them
        requested = requested[::3]
    requested += [
        (f"/admin/audit/nightreport/month/{tenant.casino.pk}/{year}/{month}/EUR{end}", "")
        for year in (0, 1, 9999, 10_000, 10**30)
        for month in (0, 1, 12, 13)
        for end in ("/", ".xlsx")
    ]
    requested += [
        (f"/api/v1/reconciliations/{tenant.code}/{day}{end}", "")
        for day in ("0001-01-01", "9999-12-31", "2026-W01-1", "20261119")
        for end in ("", ".csv", ".pdf", "/versions")
    ]
    assert failing(tenant, make_client(tenant), iter(requested)) == []
