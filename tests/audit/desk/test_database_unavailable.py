"""A query that ran into its time limit, and a database that is down."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpRequest
from django.test import Client

from audit.desk.findings.admin import FindingAdmin
from audit.models import Officer

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/audit/finding/"


@pytest.fixture
def desk() -> Client:
    client = Client(raise_request_exception=False)
    chief = Officer.objects.create_superuser("chief")
    client.force_login(chief, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_page_that_takes_too_long_is_answered_with_503(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    original = FindingAdmin.get_queryset

    def slow(admin: FindingAdmin, request: HttpRequest) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("select pg_sleep(20)")
        return original(admin, request)

    monkeypatch.setattr(FindingAdmin, "get_queryset", slow)
    try:
        with connection.cursor() as cursor:
            cursor.execute("set statement_timeout = '50ms'")
        response = desk.get(LIST, headers={"accept-language": "en"})
    finally:
        with connection.cursor() as cursor:
            cursor.execute("reset statement_timeout")
    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert b"Narrow the filter" in response.content
    assert "default-src" in response["Content-Security-Policy"]


def test_a_database_that_is_down_is_answered_with_503(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(admin: FindingAdmin, request: HttpRequest) -> Any:
        raise OperationalError("connection refused")

    monkeypatch.setattr(FindingAdmin, "get_queryset", down)
    response = desk.get(LIST, headers={"accept-language": "fr"})
    assert response.status_code == 503
    assert "ne répond pas" in response.content.decode()
    assert "connection refused" not in response.content.decode()
