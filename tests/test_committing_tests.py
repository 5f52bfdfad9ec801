"""A test that commits leaves to the next one, on whichever worker, the rows that the migrations wrote."""

from __future__ import annotations

import pytest
from django.test import TransactionTestCase

from audit.models import Casino, Deadline


@pytest.mark.django_db(transaction=True)
def test_after_a_test_that_commits_the_tables_are_as_migrated() -> None:
    migrated = set(Deadline.objects.values_list("severity", "hours"))
    assert migrated
    Casino.objects.create(code="committed", name="Committed")
    Deadline.objects.update(hours=1)
    TransactionTestCase("run")._fixture_teardown()  # type: ignore[attr-defined]
    assert set(Deadline.objects.values_list("severity", "hours")) == migrated
    assert not Casino.objects.exists()
