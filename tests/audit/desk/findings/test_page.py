"""The page of a finding: its verdict, its place in the list it came from, what follows from it and what is like it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from audit.casework.stakes import stake_of
from audit.desk.findings.page import stake_shown
from audit.desk.findings.verdict import verdict_of
from audit.models import Finding, Role
from audit.presentation import reference
from settlement.state import Wager
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A casino whose findings were all superseded."""
    Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
    return desk


DUE_TO = {"by": "house", "to": "p1", "amount": 86_400}
DUE_BY = {"by": "player", "to": None, "amount": 200}


@pytest.mark.parametrize(
    ("rule", "difference", "owed", "title", "french"),
    [
        ("payout-missing", -86_400, DUE_TO, "The house owes p1 €864", "La banque doit 864\N{NO-BREAK SPACE}€ à p1"),
        ("payout-overpaid", 200, DUE_BY, "p1 was overpaid €2", "p1 a reçu 2\N{NO-BREAK SPACE}€ de trop"),
        ("losing-wager-not-collected", 200, DUE_BY, "p1 owes the house €2", None),
        ("payout-missing", 0, None, "Payout missing", None),
        ("payout-missing", None, None, "Payout missing", None),
    ],
)
def test_the_title_says_who_owes_whom_how_much_else_what_happened(
    rule: str, difference: int | None, owed: Any, title: str, french: str | None
) -> None:
    finding = Finding(rule=rule, severity="major", seq=2, evidence=[1], currency="EUR", player="p1")
    finding.difference, finding.owed = difference, owed
    assert verdict_of(finding, stake_of(finding, "p1")).plain_title == title
    if french is not None:
        with override("fr"):
            assert verdict_of(finding, stake_of(finding, "p1")).plain_title == french


@pytest.mark.parametrize(
    ("rule", "difference", "owed", "title", "french"),
    [
        (
            *("payout-missing", -86_400, DUE_TO | {"to": None}, "The house owes an unknown player €864"),
            "La banque doit 864\N{NO-BREAK SPACE}€ à un joueur inconnu",
        ),
        (
            *("payout-overpaid", 200, DUE_BY, "An unknown player was overpaid €2"),
            "Un joueur inconnu a reçu 2\N{NO-BREAK SPACE}€ de trop",
        ),
    ],
)
def test_a_title_begins_with_a_capital_where_the_player_is_unknown(
    rule: str, difference: int, owed: Any, title: str, french: str
) -> None:
    finding = Finding(rule=rule, severity="major", seq=2, evidence=[1], currency="EUR")
    finding.difference, finding.owed = difference, owed
    assert verdict_of(finding, stake_of(finding, "")).plain_title == title
    with override("fr"):
        assert verdict_of(finding, stake_of(finding, "")).plain_title == french


def test_a_title_escapes_the_name_of_a_player() -> None:
    finding = Finding(rule="payout-missing", severity="major", seq=2, evidence=[1], currency="EUR", player="p1")
    finding.difference, finding.owed = -86_400, DUE_TO
    title = verdict_of(finding, stake_of(finding, "<b>100 %s")).title
    assert title == 'The house owes &lt;b&gt;100 %s <em class="player">€864</em>'


def test_what_was_due_and_paid_leads_to_what_remains() -> None:
    finding = Finding(rule="payout-missing", severity="major", seq=2, evidence=[1], currency="EUR", player="p1")
    finding.difference, finding.owed, finding.expected, finding.recorded = -86_400, DUE_TO, 86_400, 0
    verdict = verdict_of(finding, stake_of(finding, "p1"))
    assert [(term.label, term.figure, term.side) for term in verdict.terms] == [
        ("Due", "€864", ""),
        ("Paid", "€0", ""),
        ("Owed to the player", "€864", "player"),
    ]
    assert verdict.is_difference


def test_the_page_leads_to_the_finding_before_and_after_in_the_list_it_was_opened_from(desk: Desk) -> None:
    rows = [found(desk, "minor", euros=500 - number, hours=100 + number) for number in range(4)]
    client = client_of(desk.first)
    address = f"/admin/audit/finding/{rows[1].pk}/change/"
    whole = client.get(address).context["neighbours"]
    assert (whole.previous, whole.next) == (rows[0].pk, rows[2].pk)
    client.post(f"/admin/audit/finding/{rows[1].pk}/case/take/")
    client.post(f"/admin/audit/finding/{rows[3].pk}/case/take/")
    listed = client.get("/admin/audit/finding/?queue=mine").content.decode()
    assert f"{rows[1].pk}/change/?_changelist_filters=queue%3Dmine" in listed
    mine = client.get(f"{address}?_changelist_filters=queue%3Dmine")
    assert (mine.context["neighbours"].position, mine.context["neighbours"].of) == (1, 2)
    assert f"{rows[3].pk}/change/?_changelist_filters=queue%3Dmine" in mine.content.decode()
    for wrong in ("nothing__there%3D1", "queue%3Dnone", "p%3Dx"):
        assert client.get(f"{address}?_changelist_filters={wrong}").status_code == 200


def test_the_crumb_says_that_the_list_was_narrowed(desk: Desk) -> None:
    address = f"/admin/audit/finding/{found(desk, 'minor', euros=5).pk}/change/"
    client = client_of(desk.first)
    for query, title in (("queue%3Dopen", "Open"), ("queue%3Dopen%26owed%3Dplayer", "Open, filtered")):
        page = client.get(f"{address}?_changelist_filters={query}", headers={"accept-language": "en"})
        assert f"<b>{title}</b></a>" in page.content.decode()


@pytest.mark.parametrize(
    ("standing", "shown"),
    [(400, "€4.00, of €8.00 placed"), (800, "€8.00"), (0, "€8.00")],
)
def test_the_stake_of_a_wager_is_what_is_left_of_it(standing: int, shown: str) -> None:
    wager = Wager("w37", "pair", 800, standing, 2)
    with override("en"):
        assert stake_shown(wager, "EUR") == shown


def test_the_neighbours_in_the_open_queue_are_those_of_the_list(desk: Desk) -> None:
    for number in range(4):  # the later found, the earlier due
        found(desk, "minor", euros=500 + number, hours=110 - number)
    client = client_of(desk.first)
    listed = [row.pk for row in client.get("/admin/audit/finding/?queue=open").context["cl"].result_list]
    assert listed != sorted(listed)
    for number, pk in enumerate(listed):
        kept = client.get(f"/admin/audit/finding/{pk}/change/").context["neighbours"]
        assert (kept.position, kept.of) == (number + 1, len(listed))
        assert kept.previous == (listed[number - 1] if number else None)
        assert kept.next == (listed[number + 1] if number + 1 < len(listed) else None)


def test_an_act_returns_to_the_page_with_its_list(desk: Desk) -> None:
    finding = found(desk, "minor", euros=500)
    client = client_of(desk.first)
    answer = client.post(f"/admin/audit/finding/{finding.pk}/case/take/?_changelist_filters=queue%3Dopen")
    assert answer["Location"] == f"/admin/audit/finding/{finding.pk}/change/?_changelist_filters=queue%3Dopen"


def test_take_next_takes_what_the_list_shows_first_and_keeps_the_list(desk: Desk) -> None:
    for number in range(3):
        found(desk, "minor", euros=10 + 200 * number, hours=100)
    client = client_of(desk.first)
    first = client.get("/admin/audit/finding/?queue=unassigned").context["cl"].result_list[0]
    answer = client.post("/admin/audit/finding/take-next/?queue=unassigned")
    assert answer["Location"] == f"/admin/audit/finding/{first.pk}/change/?_changelist_filters=queue%3Dunassigned"


def test_the_page_counts_what_the_same_croupier_did_and_folds_what_follows(desk: Desk) -> None:
    rows = [found(desk, "minor", euros=5, croupier="c-9") for _ in range(4)]
    client = client_of(desk.first)
    page = client.get(f"/admin/audit/finding/{rows[0].pk}/change/")
    assert page.context["casework"]["pattern"]["count"] == 3
    text = page.content.decode()
    assert "and 3 like it" in text
    assert '<span class="tag gold">pattern</span>' in text
    listed = client.get(page.context["casework"]["pattern"]["address"]).context["cl"].result_list
    assert {row.pk for row in rows} == {row.pk for row in listed}


def test_what_the_page_costs_does_not_grow_with_the_list(desk: Desk) -> None:
    client = client_of(desk.first)
    counts = []
    for number in (3, 6):
        rows = [found(desk, "minor", euros=5, croupier=f"c-{number}") for _ in range(number)]
        address = f"/admin/audit/finding/{rows[0].pk}/change/"
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        counts.append(len(captured))
    assert counts[1] <= counts[0]


def test_what_was_just_done_is_undone_by_a_button_and_the_answer_of_the_croupier_is_asked_for(desk: Desk) -> None:
    finding = found(desk, "minor", euros=5, croupier="c-9")
    client = client_of(desk.first)
    address = f"/admin/audit/finding/{finding.pk}/"
    assert "Undo" not in client.get(f"{address}change/").content.decode()
    client.post(f"{address}case/take/")
    page = client.get(f"{address}change/").content.decode()
    assert "You took this case." in page
    assert f'action="{address}case/release/?' in page
    client.post(f"{address}case/release/")
    client.post(f"{address}case/answer/", {"reason": "a stack fell"})
    shown = client.get(f"{address}change/")
    assert "a stack fell" in shown.content.decode()
    assert [step.is_done for step in shown.context["todo"]] == [False, False, True, False]


def test_a_finding_is_found_by_its_reference(desk: Desk) -> None:
    finding, _other = found(desk, "minor"), found(desk, "minor")
    client = client_of(desk.first)

    def ids(term: str) -> list[int]:
        return [row.pk for row in client.get("/admin/audit/finding/", {"q": term}).context["cl"].result_list]

    named = reference(finding)
    assert ids(named) == ids(named.lower()) == [finding.pk]
    assert ids(f"{named[:4]}01{named[6:]}") == ids(f"{named[:4]}26-99999999999999") == []
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert not stranger.get("/admin/audit/finding/", {"q": named}).context["cl"].result_list


def test_the_step_that_pays_leads_to_the_claim(desk: Desk) -> None:
    finding = found(desk, "minor", rule="payout-missing", euros=-864, owed=DUE_TO, player="p1")
    overpaid = found(desk, "minor", euros=2, owed=DUE_BY, player="p1")
    client = client_of(desk.first)
    page = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert '<a class="btn sm" href="#claims">' in page
    assert 'id="claims"' in page
    page = client.get(f"/admin/audit/finding/{overpaid.pk}/change/").content.decode()
    assert 'href="#claims"' not in page, "the cage pays nothing here"
