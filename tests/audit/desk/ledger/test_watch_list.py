"""The watch list, of which a superuser takes a question away."""

from __future__ import annotations

import pytest

from audit.ledger import listing
from audit.models import LedgerQuestion
from tests.audit.desk.ledger.test_ledger_pages import process, watched_casino

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def test_who_has_asked_is_not_on_the_watch_list() -> None:
    casino = watched_casino().casino
    assert [each.name for each in listing.watched(casino)] == ["wheel-displacement 37: W2"]
    LedgerQuestion.objects.filter(process=process(casino)).delete()
    assert process(casino) in listing.watched(casino)
