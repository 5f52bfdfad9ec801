"""A request that no view takes: of another host, and with TRACE."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/api/v1/key", "/api/v1/schema/"])
def test_a_refused_host_is_told_which_setting_names_the_hosts(path: str) -> None:
    answer = Client().get(path, headers={"host": "desk.example"})
    assert answer.status_code == 400
    assert "CABOCHON_ALLOWED_HOSTS" in answer.content.decode()
    assert "desk.example" not in answer.content.decode(), "nothing of the request is written back"


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/health/live", "/metrics", "/api/v1/docs/", "/api/v1/schema/"])
def test_trace_is_taken_nowhere(path: str) -> None:
    answer = Client().trace(path)
    assert (answer.status_code, "TRACE" in answer.headers["Allow"]) == (405, False)


def test_an_address_of_the_interface_says_what_it_takes_before_it_asks_for_a_key() -> None:
    tenant = Tenant()
    for headers in ({}, tenant.headers()):
        for method in ("TRACE", "PATCH"):
            answer = Client().generic(method, reverse("key"), headers=headers)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
            assert answer.json()["code"] == "method-not-allowed"
    assert Client().get(reverse("key")).status_code == 401
