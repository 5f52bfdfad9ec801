"""One case for an incident: a finding that holds only because of another joins the case of that other."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.adjudication.incidents import incident_of, look_up_consequences
from audit.adjudication.replay import advance
from audit.models import Case, Finding, LoggedStream, Officer
from audit.transparency.integrity_findings import integrity_finding
from settlement.catalogue import RULES
from settlement.catalogue.questions import QUESTIONS
from settlement.finding import FindingRef
from tests.audit.sessions import event, unique_name
from tests.audit.tables import Tenant
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db


def session(*kinds: tuple[str, dict[str, object]]) -> tuple[int, Tenant, list[dict[str, Any]]]:
    """Record and adjudicate a session of French roulette; return its stream and its events."""
    tenant = Tenant()
    stream = unique_name()
    opening = {
        "casino": tenant.casino.code,
        "table": "T1",
        "gaming_day": "2026-11-19",
        "game": "french_roulette",
        "ruleset": "fr-roulette",
        "currency": "EUR",
        "float": 5_000_000,
        "observes": [],
    }
    events = [event(stream, 1, "session.opened", **opening)]
    for kind, data in kinds:
        seq = events[-1]["data"].get("through", events[-1]["seq"]) + 1
        events.append(event(stream, seq, kind, **data))
    assert tenant.post(stream, events).status_code == 201
    stream_id = tenant.stream(stream).stream_id
    advance(stream_id)
    return stream_id, tenant, events


def recorded(*kinds: tuple[str, dict[str, object]]) -> int:
    """Record and adjudicate a session of French roulette; return its stream."""
    return session(*kinds)[0]


def officer(name: str) -> Officer:
    return Officer.objects.create_user(f"{name}-{unique_name()}", password="x", is_staff=True)


PLACED = ("wager.placed", {"wager": "w1", "bet": "win", "stake": 100, "player": "p1"})
PAID = ("payout.made", {"wager": "w1", "winnings": 100, "stake_returned": 100})
RESULT = ("ball.settled", {"pocket": "1"})
NEXT = ("ball.settled", {"pocket": "2"})


def test_a_consequence_joins_the_case_of_its_cause_which_becomes_as_urgent() -> None:
    stream_id = recorded(PLACED, RESULT, PAID, NEXT)
    cause, consequence = Finding.objects.filter(stream_id=stream_id).order_by("seq")
    assert (cause.rule, consequence.rule) == ("wager-not-permitted", "payout-overpaid")
    assert cause.case_id == consequence.case_id
    case = Case.objects.get(stream_id=stream_id)
    assert (case.seq, case.rule, case.wager) == (2, "wager-not-permitted", "w1")
    assert case.weight == 0, "the payment is critical, the bet alone would be major"
    hours = (case.deadline - case.opened_at).total_seconds() / 3600
    assert hours == 24
    assert incident_of(cause) == [consequence]
    assert incident_of(consequence) == [cause]


def test_a_finding_says_who_how_much_and_what_follows_from_it() -> None:
    stream_id = recorded(PLACED, RESULT, PAID, NEXT)
    cause, consequence = findings = list(Finding.objects.filter(stream_id=stream_id).order_by("seq"))
    assert (consequence.player, consequence.difference) == ("p1", 100)
    assert consequence.owed == {"by": "player", "to": None, "amount": 100}
    look_up_consequences(findings)
    assert cause.consequences == (FindingRef("payout-overpaid", 4, "w1"),)
    answer = cause.as_dict()
    assert answer["consequences"] == [{"rule": "payout-overpaid", "seq": 4, "wager": "w1"}]
    assert consequence.as_dict()["caused_by"] == {"rule": "wager-not-permitted", "seq": 2, "wager": "w1"}


def test_a_finding_by_itself_has_a_case_of_its_own() -> None:
    other = ("wager.placed", {"wager": "w2", "bet": "come", "stake": 100})
    stream_id = recorded(PLACED, other)
    assert Case.objects.filter(stream_id=stream_id).count() == 2


def test_what_a_loss_of_events_explains_is_one_incident_however_many_causes_it_has() -> None:
    stream_id = recorded(("events.lost", {"through": 2, "reason": "spool_lost"}), PLACED, RESULT, PAID, NEXT)
    assert set(Finding.objects.filter(stream_id=stream_id).values_list("rule", flat=True)) == {
        "events-lost",
        "wager-not-permitted",
        "payout-overpaid",
    }
    assert Case.objects.get(stream_id=stream_id).rule == "events-lost"


@pytest.mark.superuser
def test_behind_a_closed_case_a_consequence_opens_its_own() -> None:
    stream_id, tenant, events = session(PLACED, RESULT)
    with without_triggers():
        Case.objects.filter(stream_id=stream_id).update(
            state="closed",
            outcome="explained",
            reason="said so",
            proposed_by=officer("a"),
            approved_by=officer("b"),
            closed_at=timezone.now(),
        )
    more = [event(events[0]["stream"], seq, kind, **data) for seq, (kind, data) in ((4, PAID), (5, NEXT))]
    assert tenant.post(events[0]["stream"], more).status_code == 201
    advance(stream_id)
    first, second = Case.objects.filter(stream_id=stream_id).order_by("seq")
    assert (first.rule, first.state) == ("wager-not-permitted", "closed")
    assert (second.rule, second.state) == ("payout-overpaid", "new")


@pytest.mark.superuser
def test_a_case_becomes_more_urgent_and_never_less() -> None:
    stream_id = recorded(PLACED, RESULT)
    case = Case.objects.get(stream_id=stream_id)
    assert case.weight == 1
    with pytest.raises(IntegrityError, match="what a case is about does not change"), transaction.atomic():
        Case.objects.filter(pk=case.pk).update(weight=2)
    Case.objects.filter(pk=case.pk).update(weight=0)


# What is for information


def standing(stream_id: int, rule: str) -> Finding:
    return Finding.objects.standing().get(stream_id=stream_id, rule=rule)


WON = ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1_000, "player": "p1"})
OVERPAID = ("payout.made", {"wager": "w1", "winnings": 1_200, "stake_returned": 1_000})
RECOVERED = ("payout.recovered", {"wager": "w1", "winnings": 200})


def test_a_coup_put_right_in_time_never_opens_a_case() -> None:
    stream_id = recorded(WON, RESULT, OVERPAID, RECOVERED, NEXT)
    assert standing(stream_id, "payout-put-right").case is None
    assert not Case.objects.filter(stream_id=stream_id).exists()


def test_a_coup_put_right_too_late_has_its_case() -> None:
    stream_id = recorded(WON, RESULT, OVERPAID, NEXT, RECOVERED, NEXT)
    found = standing(stream_id, "payout-overpaid")
    assert (found.severity, found.put_right_by) == ("critical", 6)
    assert found.case is not None


@pytest.mark.parametrize("rule", [rule.name for rule in QUESTIONS])
def test_a_question_of_statistics_is_asked(rule: str) -> None:
    assert RULES[rule].severity == "info"
    stream_id = recorded()
    stream = LoggedStream.objects.get(pk=stream_id)
    integrity_finding(stream, rule, 1, occurred_at=timezone.now(), facts={}).save()
    assert standing(stream_id, rule).case is not None


def test_a_small_goodwill_payment_and_a_misreading_within_its_coup_are_information_without_a_case() -> None:
    corrected = {"corrects": 2, "data": WON[1] | {"stake": 2_000}, "reason": "misread", "approved_by": "c1"}
    goodwill = {"player": "p1", "amount": 500, "approved_by": "c1", "reason": "drink spilt"}
    stream_id = recorded(WON, ("goodwill.paid", goodwill), ("entry.corrected", corrected))
    while (progress := advance(stream_id)) is not None and progress.folded:
        continue  # from the beginning, with the correction known
    assert standing(stream_id, "goodwill-paid").case is None
    corrected_finding = standing(stream_id, "entry-corrected")
    assert (corrected_finding.severity, corrected_finding.case) == ("info", None)
    assert not Case.objects.filter(stream_id=stream_id).exists()


def test_a_finding_that_falls_to_information_by_a_later_payment_keeps_its_case() -> None:
    disputed = ("dispute.opened", {"wager": "w1", "player": "p1"})
    stream_id, tenant, events = session(WON, RESULT, OVERPAID, NEXT, disputed)
    before = standing(stream_id, "payout-overpaid")
    assert (before.severity, before.case is None) == ("critical", False)
    weight, deadline = before.case.weight, before.case.deadline
    settled = {"opened": 6, "amount": 200, "by": "player", "approved_by": "c1"}
    stream = events[0]["stream"]
    ended = event(stream, 8, NEXT[0], **NEXT[1])
    assert tenant.post(stream, [event(stream, 7, "dispute.settled", **settled), ended]).status_code == 201
    advance(stream_id)
    now = standing(stream_id, "payout-overpaid")
    assert (now.severity, now.case_id) == ("info", before.case_id)
    now.case.refresh_from_db()
    assert (now.case.state, now.case.weight, now.case.deadline) == ("new", weight, deadline)
    assert list(Finding.objects.filter(case_id=now.case_id).order_by("pk")) == [before, now]


def test_settled_before_anybody_read_it_it_never_had_a_case() -> None:
    disputed = ("dispute.opened", {"wager": "w1", "player": "p1"})
    settled = ("dispute.settled", {"opened": 6, "amount": 200, "by": "player", "approved_by": "c1"})
    stream_id = recorded(WON, RESULT, OVERPAID, NEXT, disputed, settled, NEXT)
    found = standing(stream_id, "payout-overpaid")
    assert (found.severity, found.case) == ("info", None)


def caused(stream_id: int, rule: str, seq: int, severity: str, *causes: tuple[str, int], **values: Any) -> Finding:
    stream = LoggedStream.objects.get(pk=stream_id)
    finding = integrity_finding(stream, rule, seq, occurred_at=timezone.now(), facts={})
    finding.severity = severity
    finding.causes = [{"rule": cause, "seq": at, "wager": None} for cause, at in causes]
    for name, value in values.items():
        setattr(finding, name, value)
    finding.save()
    finding.refresh_from_db()
    return finding


def test_a_graver_consequence_opens_the_case_of_a_cause_for_information() -> None:
    stream_id = recorded()
    cause = caused(stream_id, "ruleset-not-in-force", 1, "info")
    other = caused(stream_id, "payout-put-right", 2, "info", ("ruleset-not-in-force", 1))
    assert (cause.case, other.case) == (None, None)
    graver = caused(stream_id, "payout-overpaid", 3, "critical", ("ruleset-not-in-force", 1))
    cause.refresh_from_db()
    assert cause.case_id == graver.case_id is not None
    assert (graver.case.rule, graver.case.weight) == ("ruleset-not-in-force", 0)
    later = caused(stream_id, "payout-put-right", 4, "info", ("ruleset-not-in-force", 1))
    assert later.case_id == graver.case_id, "what is for information joins the case of its incident"
    assert later.case.weight == 0


@pytest.mark.superuser
def test_information_joins_no_case_that_is_closed_and_opens_none() -> None:
    stream_id = recorded()
    cause = caused(stream_id, "sequence-conflict", 1, "critical")
    with without_triggers():
        one, two = officer("o1"), officer("o2")
        Case.objects.filter(pk=cause.case_id).update(
            state="closed", proposed_by=one, approved_by=two, outcome="confirmed", reason="x", closed_at=timezone.now()
        )
    found = caused(stream_id, "payout-put-right", 2, "info", ("sequence-conflict", 1))
    assert found.case is None
