"""What is near the threshold, of which a superuser takes a question away."""

from __future__ import annotations

import pytest

from audit.ledger import listing
from audit.models import LedgerQuestion, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.ledger.test_ledger_pages import casino_with_questions, process

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def test_who_has_asked_is_not_near_the_threshold() -> None:
    casino = casino_with_questions().casino
    assert [each.name for each in listing.near_threshold(casino)] == ["wheel-displacement 37: W2"]
    LedgerQuestion.objects.filter(process=process(casino)).delete()
    assert process(casino) in listing.near_threshold(casino)


def test_the_page_tells_its_thresholds_from_the_mark_of_other_pages() -> None:
    client = client_of(hired(casino_with_questions(), Role.OFFICER, "reader"))
    page = client.get("/admin/audit/ledgerprocess/", headers={"accept-language": "en"}).content.decode()
    assert "Each test has a threshold of its own, which the false questions allowed a year fix." in page
    assert "“more than chance explains” on other pages is about errors of croupiers alone" in page
