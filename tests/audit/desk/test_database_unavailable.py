"""A page that the database takes too long for, and a database that is not there."""

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


def test_what_takes_too_long_is_ended_and_said_so(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = FindingAdmin.get_queryset

    def slow(admin: FindingAdmin, request: HttpRequest) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("select pg_sleep(20)")
        return whole(admin, request)

    monkeypatch.setattr(FindingAdmin, "get_queryset", slow)
    try:
        with connection.cursor() as cursor:
            cursor.execute("set statement_timeout = '50ms'")
        answer = desk.get(LIST, headers={"accept-language": "en"})
    finally:
        with connection.cursor() as cursor:
            cursor.execute("reset statement_timeout")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert b"Narrow the filter" in answer.content
    assert "default-src" in answer["Content-Security-Policy"]


def test_a_database_that_is_gone_is_no_error_of_the_page(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(admin: FindingAdmin, request: HttpRequest) -> Any:
        raise OperationalError("connection refused")

    monkeypatch.setattr(FindingAdmin, "get_queryset", gone)
    answer = desk.get(LIST, headers={"accept-language": "fr"})
    assert answer.status_code == 503
    assert "ne répond pas" in answer.content.decode()
    assert "connection refused" not in answer.content.decode()
