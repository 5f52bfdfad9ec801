"""Money in a sentence has no round cents, €864; a table, a figure, a file and a paper have them, €864.00."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils.html import strip_tags

from audit.casework import actions
from audit.models import Case
from audit.presentation import language, reference
from settlement.catalogue.sentences import amount_in_prose
from settlement.finding import Finding, Owed
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_priority import found

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

OWED = {"by": "house", "to": "p0412", "amount": 86_400}


def words(client: Any, address: str, **query: str) -> str:
    """Return the text of a page, its space folded."""
    page = client.get(address, query, headers={"accept-language": "en"}).content.decode()
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(strip_tags(re.sub(r"<(?=[a-z/])", " <", body)).split())


def test_what_is_said_of_one_finding_has_no_round_cents_wherever_it_is_named(desk: Desk) -> None:
    finding = found(desk, "critical", rule="payout-missing", euros=864, owed=OWED, player="p0412")
    assert finding.case_id is not None
    first, second = client_of(desk.first), client_of(desk.third)
    shown = first.get("/admin/", headers={"accept-language": "en"})
    (line,) = [each for each in shown.context["overview"]["next"] if each.finding.pk == finding.pk]
    assert (line.stake.amount, line.stake.words) == ("€864", "owed to p0412")
    assert "The house owes p0412 €864 Payout missing" in words(first, "/admin/search/", q=reference(finding))
    actions.perform(finding.case_id, desk.first, "take")
    actions.perform(finding.case_id, desk.first, "propose", reason="camera 4", outcome="confirmed")
    assert Case.objects.get(pk=finding.case_id).state == "second"
    assert "€864" in words(second, "/admin/approve/")
    assert "€864.00" not in words(second, "/admin/approve/")
    closing = words(second, f"/admin/approve/closing/{finding.pk}/")
    assert "€864 owed to p0412" in closing
    assert "€0.00" not in closing, "closing a case changes nothing of what is owed"


def test_a_list_and_a_figure_keep_the_cents(desk: Desk) -> None:
    found(desk, "critical", rule="payout-missing", euros=864, owed=OWED, player="p0412")
    client = client_of(desk.first)
    assert "€864.00" in words(client, "/admin/audit/finding/", queue="open")
    losses = client.get("/admin/", headers={"accept-language": "en"}).context["overview"]["losses"]
    assert "€864.00" in [each.amount for each in losses]


def test_a_message_and_a_remedy_write_amounts_as_they_are_told() -> None:
    finding = Finding(
        rule="payout-missing",
        severity="critical",
        seq=2,
        evidence=(1,),
        wager="w1",
        expected=86_400,
        recorded=0,
        difference=-86_400,
        owed=Owed("house", "p0412", 86_400),
        player="p0412",
        currency="EUR",
        facts={"bet": "plein", "stake": 2_400},
    )
    assert language() == "en"
    assert "€864.00" in finding.message("en") + finding.remedy("en"), "as the interface answers"
    for text in (finding.message("en", amount_in_prose), finding.remedy("en", write=amount_in_prose)):
        assert not re.search(r"\.00\b", text), text
    assert finding.remedy("fr", write=amount_in_prose) == "Payer 864\N{NO-BREAK SPACE}€ à p0412."


def test_the_first_steps_say_in_a_sentence_what_is_owed(desk: Desk) -> None:
    found(desk, "critical", rule="payout-missing", euros=864, owed=OWED, player="p0412")
    shown = client_of(desk.first).get("/admin/first-run/", headers={"accept-language": "en"})
    losses = [(each["side"], each["amount"]) for each in shown.context["losses"]]
    assert ("player", "€864") in losses
