"""What the ledger asked since the last night is named on the overview, whatever older cases come first."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.casework import actions
from audit.desk.overview import new_questions
from audit.ledger import feeding
from audit.models import (
    BatchKind,
    Casino,
    Finding,
    LedgerBatch,
    LedgerProcess,
    LedgerQuestion,
    Membership,
    NightReport,
    Role,
)
from audit.reconciliation import runs
from audit.simulation.season import Season
from audit.simulation.surveillance import FRAUDS
from benchmarks.season import COUNT_ERRORS, SHORT, Short
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.ledger.test_feeding import spun
from tests.audit.reconciliation.played import record
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

CARD = re.compile(r'<section class="card" aria-labelledby="new-questions">.*?</section>', re.DOTALL)


def overview(desk: Desk, language: str = "en") -> tuple[dict[str, Any], str]:
    """Return the context of the overview, and its card of new questions, "" where there is none."""
    page = client_of(desk.first).get("/admin/", headers={"accept-language": language})
    card = CARD.search(page.content.decode())
    return page.context["overview"], card[0] if card else ""


def raised(desk: Desk, kind: str, subject: str, rule: str, **of: Any) -> Finding:
    """Let the ledger have asked just now about a subject, with a case that is due in a week."""
    finding = found(desk, "info", rule=rule, **of)
    casino = desk.tenant.casino
    number = LedgerBatch.objects.filter(casino=casino).count()
    batch = LedgerBatch.objects.create(
        casino=casino, number=number, kind=BatchKind.EVENING, gaming_day=finding.gaming_day + timedelta(days=number),
        currency="EUR", year=2026, engine_version="", content=b"[]",
    )  # fmt: skip
    process = LedgerProcess.objects.create(
        casino=casino, name=f"{kind}: {subject}", kind=kind, subject=subject, null="", state=b"{}", wealth=1, highest=1,
        opening=1, year=2026, alpha="1/100", first_day=finding.gaming_day,
    )  # fmt: skip
    LedgerQuestion.objects.create(
        process=process, batch=batch, year=2026, alpha="1/100", draws=9, evidence=100, finding_id=finding.pk
    )
    return finding


@pytest.fixture
def behind(desk: Desk) -> Desk:
    """A desk with more late cases than the overview has room for among the next."""
    for _ in range(6):
        found(desk, "critical", euros=500, hours=-5)
    return desk


def test_a_new_question_about_a_wheel_is_named_behind_older_cases_that_nobody_works_on(behind: Desk) -> None:
    assert overview(behind)[1] == "", "nothing is shown where nothing was asked"
    record(behind.tenant.casino, spun(behind.tenant.casino, ["17"] * 20))
    seal()
    feeding.feed(behind.tenant.casino)
    context, card = overview(behind)
    assert "W1" not in "".join(line.about for line in context["next"])
    assert "Wheel: pockets\N{NO-BREAK SPACE}· W1" in card
    assert "New questions" in card
    finding = LedgerQuestion.objects.filter(process__subject="W1").earliest("pk").finding_id
    assert f"/admin/audit/finding/{finding}/change/" in card


@pytest.mark.parametrize(
    ("kind", "subject", "rule", "of", "words"),
    [
        ("shooter", "p9006", "shooter-fairness", {"player": "p9006"}, "p9006"),
        pytest.param("closer-drift", "c-9", "accounting-drift", {"croupier": "c-9"}, "c-9", marks=pytest.mark.faults),
        ("table-drift", "T1", "accounting-drift", {}, "Table: accounting variances\N{NO-BREAK SPACE}· T1"),
        ("dice-pair", "dice-4", "dice-fairness", {}, "Set of dice: faces and pairs\N{NO-BREAK SPACE}· 4"),
        ("team-drift", "m-1 + m-2", "accounting-drift", {}, "m-1, m-2"),
        ("pair-luck", "p9, c-3", "player-luck", {"player": "p9", "croupier": "c-3"}, "wins\N{NO-BREAK SPACE}· c-3"),
    ],
)  # fmt: skip
def test_a_person_a_table_or_a_set_is_named(
    behind: Desk, kind: str, subject: str, rule: str, of: dict[str, Any], words: str
) -> None:
    raised(behind, kind, subject, rule, **of)
    context, card = overview(behind)
    assert words in card
    assert not [line for line in context["next"] if line.finding.rule == rule]


def test_it_is_french_in_french(behind: Desk) -> None:
    raised(behind, "shooter", "p9006", "shooter-fairness", player="p9006")
    card = overview(behind, "fr")[1]
    assert "Nouvelles questions" in card
    assert "depuis la dernière nuit" in card
    assert "p9006" in card


def test_a_question_is_new_until_the_next_night_is_reconciled(desk: Desk) -> None:
    raised(desk, "shooter", "p9006", "shooter-fairness", player="p9006")
    casino, now = desk.tenant.casino, timezone.now()
    assert "p9006" in overview(desk)[1]
    with time_machine.travel(now + timedelta(days=3)):
        assert overview(desk)[1] == "", "no night was ever reconciled: what was asked since yesterday is new"
    today = casino.gaming_day_at(now)
    runs.reconcile(casino, today, actor="test", now=now + timedelta(days=2))
    with time_machine.travel(now + timedelta(days=3)):
        assert "p9006" in overview(desk)[1], "the house was shut after that night"
    with time_machine.travel(now + timedelta(days=70)):
        assert overview(desk)[1] == "", "no night was reconciled for weeks"
    runs.reconcile(casino, today + timedelta(days=1), actor="test", now=now + timedelta(days=3))
    assert NightReport.objects.filter(casino=casino).count() == 2
    with time_machine.travel(now + timedelta(days=3)):
        assert overview(desk)[1] == ""


def test_a_question_is_named_until_it_is_answered(desk: Desk) -> None:
    finding = raised(desk, "shooter", "p9006", "shooter-fairness", player="p9006")
    assert finding.case is not None
    actions.perform(finding.case.pk, desk.first, "take")
    actions.perform(finding.case.pk, desk.first, "propose", reason="it was looked at", outcome="confirmed")
    assert "p9006" in overview(desk)[1], "it waits for a second officer"
    actions.perform(finding.case.pk, desk.second, "approve")
    assert overview(desk)[1] == ""


def test_of_many_the_most_urgent_are_named_and_the_others_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_questions, "SHOWN", 2)
    for number, hours in enumerate((300, 20, 100)):
        raised(desk, "shooter", f"p{number}", "shooter-fairness", player=f"p{number}", hours=hours)
    context, card = overview(desk)
    assert [line.finding.player for line in context["new_questions"].lines] == ["p1", "p2"]
    assert "1 more" in card
    assert 'href="/admin/audit/ledgerprocess/"' in card


def test_questions_of_one_incident_are_one_line(desk: Desk) -> None:
    first = raised(desk, "player-luck", "p9", "player-luck", player="p9")
    second = raised(desk, "pair-luck", "p9, c-3", "player-luck", player="p9", croupier="c-3")
    assert first.case == second.case
    context, card = overview(desk)
    assert len(context["new_questions"].lines) == 1
    assert "Player: unexplained wins\N{NO-BREAK SPACE}· c-3" in card


def test_where_there_are_several_casinos_each_question_names_its_own_and_no_other_casino_is_read() -> None:
    here, there, elsewhere = Desk(), Desk(), Desk()
    Casino.objects.filter(pk=there.tenant.casino.pk).update(name="Charlevoix")
    Membership.objects.create(officer=here.first, casino=there.tenant.casino, role=Role.OFFICER)
    for desk, player in ((here, "p1"), (there, "p2"), (elsewhere, "p3")):
        raised(desk, "shooter", player, "shooter-fairness", player=player)
    context, card = overview(here)
    assert {(line.finding.player, line.casino) for line in context["new_questions"].lines} == {
        ("p1", str(here.tenant.casino)),
        ("p2", "Charlevoix"),
    }
    assert "Charlevoix" in card
    assert "p3" not in card
    assert "Charlevoix" not in overview(there)[1]
    client = client_of(here.first)
    client.post("/admin/casino/", {"casino": there.tenant.casino.pk, "next": "/admin/"})
    chosen = client.get("/admin/").context["overview"]["new_questions"]
    assert [line.finding.player for line in chosen.lines] == ["p2"]


NAMED = {
    "dice-slider": "p9006",
    "skim": "Table: accounting variances\N{NO-BREAK SPACE}· R1",
    "closer": "croupier-r1-1",
}
"""Frauds whose first question comes when older cases are first among the next: whom or what it is about."""


def played(tenant: Tenant, season: Season, night: int) -> datetime:
    """Record a night of the one table of a fraud, reconcile it and feed the ledger; return the next morning."""
    session = season.session(night, season.fraud.code)
    for events in (session.night.events, season.count(night, [session])):
        stream_id = record(tenant.casino, events)
        while (progress := advance(stream_id)) is not None and progress.behind:
            pass
    seal()
    morning = datetime.combine(season.day(night) + timedelta(days=1), time(9), UTC)
    with time_machine.travel(morning):
        runs.reconcile(tenant.casino, season.day(night), actor="test", now=morning)
        feeding.feed(tenant.casino)
    return morning


@pytest.mark.parametrize(
    "short",
    in_short([each for name in NAMED for each in SHORT if each.fraud == name], every=3),
    ids=lambda short: short.fraud,
)
def test_the_overview_of_the_morning_after_names_whom_or_what_a_fraud_is_about(short: Short) -> None:
    tenant, fraud = Tenant(code="deauville"), FRAUDS[short.fraud](short.strength, begins=0)
    season = Season(tables=3, seed=short.seed, coups=short.coups, count_errors=COUNT_ERRORS, fraud=fraud)
    officer = hired(tenant, Role.OFFICER, "officer")
    for night in range(short.nights):
        morning = played(tenant, season, night)
        subjects = LedgerQuestion.objects.filter(process__casino=tenant.casino).values_list(
            "process__subject", flat=True
        )
        if any(map(fraud.is_named_by, subjects)):
            break
    else:
        pytest.fail("nobody was asked about")
    with time_machine.travel(morning + timedelta(hours=1)):
        page = client_of(officer).get("/admin/", headers={"accept-language": "en"}).content.decode()
    card = CARD.search(page)
    assert card is not None
    assert NAMED[short.fraud] in card[0]
