"""Addresses that are put together are those that Django has."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.desk.addresses import page_of, page_of_stream


@pytest.mark.parametrize("page", ["table", "events"])
def test_a_page_of_a_stream_is_where_django_has_it(page: str) -> None:
    assert page_of_stream(7, page) == reverse(f"admin:audit_loggedstream_{page}", args=(7,))


def test_the_page_of_a_row_is_where_django_has_it() -> None:
    assert page_of("finding", 7) == reverse("admin:audit_finding_change", args=(7,))
