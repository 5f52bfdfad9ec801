"""What a page of the desk costs: its scopes are built once, and its queries do not grow with what it checks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.adjudication.replay import advance
from audit.desk import scoped_admin
from audit.models import Membership, Officer, Role
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, ...]]:
    """Count the scopes that the desk builds, by capabilities."""
    counted: Counter[tuple[Any, ...]] = Counter()

    class Counted(Scope):
        @classmethod
        def of(cls, who: Any, *needed: Any) -> Scope:
            counted[needed] += 1
            return Scope.of(who, *needed)

    monkeypatch.setattr(scoped_admin, "Scope", Counted)
    return counted


@pytest.fixture
def tenant() -> Tenant:
    tenant = Tenant()
    for stream in ("s", "t"):
        assert tenant.post(stream, dice_changed_in_mid_series(tenant, stream)).status_code == 201
        advance(tenant.stream(stream).stream_id)
    return tenant


@pytest.mark.parametrize(("page", "queries"), [("index", 22), ("audit_finding_changelist", 12)])
def test_a_page_builds_each_scope_once_and_reads_the_officers_roles_once(
    tenant: Tenant, built: Counter[tuple[Any, ...]], page: str, queries: int
) -> None:
    desk = Client()
    sign_in(desk, hired(tenant, Role.SECOND, "second"))
    address = reverse(f"admin:{page}")
    assert desk.get(address).status_code == 200  # fills what later pages find in caches
    built.clear()
    with CaptureQueriesContext(connection) as captured:
        assert desk.get(address).status_code == 200
    assert set(built.values()) == {1}
    statements = [query["sql"] for query in captured]
    roles = f'SELECT "{Membership._meta.db_table}"'
    assert sum(each.startswith(roles) for each in statements) == 1
    assert len(statements) == queries


def test_a_request_has_the_scope_of_whoever_is_signed_in_then_and_the_next_one_sees_what_changed() -> None:
    one, other = Tenant(), Tenant()
    officer, second = hired(one, Role.OFFICER, "first"), hired(other, Role.OFFICER, "other")

    def casinos(request: Any) -> Any:
        return scoped_admin.scope_of(request, Capability.SEE_RECORD).casino_ids

    request = RequestFactory().get("/")
    request.user = officer
    assert casinos(request) == casinos(request) == {one.casino.pk}
    request.user = second
    assert casinos(request) == {other.casino.pk}, "somebody else has signed in by this request"
    Membership.objects.filter(officer=officer).delete()
    later = RequestFactory().get("/")
    later.user = Officer.objects.get(pk=officer.pk)
    assert casinos(later) == frozenset()
