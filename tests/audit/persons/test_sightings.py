"""A listed player at a table is work for officers: a line in the inbox, and for an excluded player a mail at once."""

from __future__ import annotations

import re
from copy import deepcopy
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import transaction
from django.test import Client
from django.utils import timezone

from audit import tasks
from audit.access.capabilities import Capability, roles_with
from audit.access.database_roles import WEB, WORKER
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.models import GamingTable, Listing, ListKind, Officer, Role, Sighting, SightingOutcome
from audit.notifications import inbox_mail, sighting_mail
from audit.persons import listings, sightings
from audit.projections.sightings import wrong_sightings
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.persons.test_listings import FOR_GOOD, Floor, execute, why
from tests.audit.tables import Tenant, numbered
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

EN = {"accept-language": "en"}


def played(tenant: Tenant, name: str = "s1", player: str = "p1", *, days_ago: int = 0, **opened: Any) -> None:
    """Record a session of the casino's gaming day, or of one before it, in which a player bets."""
    day = tenant.casino.gaming_day_at(timezone.now()) - timedelta(days=days_ago)
    stream = f"{name}-{tenant.code}"
    events = numbered(
        tenant.opener(stream, gaming_day=day.isoformat(), **opened),
        ("wager.placed", {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 1_000, "player": player}),
    )
    answer = tenant.post(stream, events)
    assert answer.status_code == 201, answer.content


def bet(tenant: Tenant, seq: int) -> dict[str, Any]:
    """Return one more bet of the player in the session s2."""
    data = {"wager": f"w{seq}", "bet": "right_bet", "number": 6, "stake": 1_000, "player": "p1"}
    at = "2026-11-19T20:30:00+01:00"
    return {"stream": f"s2-{tenant.code}", "seq": seq, "type": "wager.placed", "occurred_at": at, "data": data}


def swept() -> int:
    with acting_as(WORKER):
        return sightings.sweep(timezone.now())


@pytest.fixture
def floor(shared_floor: Floor, db: None) -> Floor:
    return deepcopy(shared_floor)


@pytest.fixture(scope=citus.MODULE)
def shared_floor(module_db: None) -> Floor:
    floor = Floor()
    floor.tenant.client = Client()  # one that has answered nothing can be copied
    Officer.objects.filter(pk__in=[floor.first.pk, floor.second.pk]).update(email="")
    for each in (floor.first, floor.second):
        Officer.objects.filter(pk=each.pk).update(email=f"{each.username}@casino.example")
    return floor


def test_a_listed_player_is_seen_once_a_gaming_day_however_many_tables_and_sweeps(floor: Floor) -> None:
    listed = floor.listed()
    assert swept() == 0
    for name in ("s1", "s2"):
        played(floor.tenant, name)
    assert (swept(), swept()) == (1, 0)
    seen = Sighting.objects.get()
    assert (seen.listing, seen.gaming_day) == (listed, floor.casino.gaming_day_at(timezone.now()))
    assert seen.stream.name == f"s1-{floor.tenant.code}"
    entries = audit_trail.entries_of(floor.casino.pk, timezone.now().date())
    [entry] = [each for each in entries if each.type == sightings.SEEN]
    assert (entry.data["named"], entry.data["listing"], entry.actor) == ("p1", 1, "system")


def test_a_player_who_was_at_a_table_earlier_on_the_day_of_the_approval_is_seen(floor: Floor) -> None:
    played(floor.tenant)
    floor.listed(ListKind.WATCH)
    assert swept() == 1


def test_a_sweep_looks_through_what_arrived_since_the_one_before_and_for_a_new_entry_through_all(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sightings, "OVERLAP", timedelta(0))
    with time_machine.travel(timezone.now() - timedelta(hours=2)):
        floor.listed(ListKind.WATCH)
    played(floor.tenant)
    last = timezone.now()
    assert sightings.sweep(timezone.now(), last) == 0, "it arrived before the sweep before"
    floor.listed()
    assert sightings.sweep(timezone.now(), last) == 2, "an entry is new"
    played(floor.tenant, "s2", days_ago=-1)
    assert sightings.sweep(timezone.now(), timezone.now()) == 0
    assert sightings.sweep(timezone.now(), last) == 2, "another day"


def test_nobody_is_seen_before_the_approval_or_after_the_last_day_or_the_removal(floor: Floor) -> None:
    floor.propose()
    played(floor.tenant)
    assert swept() == 0, "nobody has approved it"
    listed = listings.approve(floor.second, Listing.objects.get())
    played(floor.tenant, "before", days_ago=1)
    assert swept() == 1, "the gaming day before the approval does not count"
    listings.approve(floor.third, listings.propose_removal(floor.first, listed, reason="he apologised"))
    floor.listed(last_day=floor.casino.gaming_day_at(timezone.now()))
    assert swept() == 1
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        played(floor.tenant, "after")
        assert swept() == 0, "the one entry was removed, the last day of the other has passed"


def test_another_player_or_the_same_id_at_another_casino_is_not_seen(floor: Floor) -> None:
    floor.listed(last_day=FOR_GOOD)
    played(floor.tenant, player="p12")
    played(Floor().tenant)
    assert swept() == 0


def test_officers_are_mailed_once_of_an_excluded_player_by_id_and_see_no_address(floor: Floor) -> None:
    floor.listed()
    played(floor.tenant)
    swept()
    [waits] = sighting_mail.waiting(timezone.now())
    assert sighting_mail.send(waits)
    assert not sighting_mail.send(waits)
    [message] = mail.outbox
    assert message.to == []
    assert sorted(message.bcc) == sorted(f"{each.username}@casino.example" for each in (floor.first, floor.second))
    for part in ("p1", f"s1-{floor.tenant.code}"):
        assert part in str(message.body)
    for secret in ("Villeneuve", "threatened"):
        assert secret not in message.subject + str(message.body)
    assert sighting_mail.waiting(timezone.now()) == []


def test_a_watched_player_is_mailed_in_the_digest_alone(floor: Floor) -> None:
    floor.listed(ListKind.WATCH)
    played(floor.tenant)
    swept()
    assert sighting_mail.waiting(timezone.now()) == []
    casino = floor.casino
    morning = casino.cutoff_at(casino.gaming_day_at(timezone.now()) + timedelta(days=1)) + timedelta(minutes=15)
    assert inbox_mail.send(floor.first.pk, casino.pk, morning) == 1
    [message] = mail.outbox
    assert "p1" in str(message.body)
    assert "Villeneuve" not in str(message.body)


def test_a_mail_that_no_server_takes_is_tried_again_and_given_up_after_days(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.listed()
    played(floor.tenant)
    swept()
    [waits] = sighting_mail.waiting(timezone.now())

    def refuse(*args: Any, **kwargs: Any) -> int:
        raise OSError("no route")

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", refuse)
        with acting_as(WORKER):
            assert not sighting_mail.send(waits)
    assert Sighting.objects.get().failures == 1
    assert sighting_mail.waiting(timezone.now()) == []
    assert sighting_mail.waiting(timezone.now() + timedelta(minutes=2)) == [waits]
    assert sighting_mail.waiting(timezone.now() + timedelta(days=4)) == []


def test_the_sweep_of_cases_looks_for_listed_players_and_sends_the_mails(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.mail_sighting, "delay", lambda sighting_id: sent.append(sighting_id))
    monkeypatch.setattr(tasks.mail_inbox, "delay", lambda **named: None)
    floor.listed()
    played(floor.tenant)
    tasks.sweep_cases()
    assert sent == [Sighting.objects.get().pk]
    assert tasks.mail_sighting(sighting_id=sent[0])


@pytest.mark.parametrize(
    ("kind", "words"), [(ListKind.EXCLUSION, "Excluded player"), (ListKind.WATCH, "Watched player")]
)
def test_the_inbox_of_each_officer_of_the_casino_has_a_line_for_a_week(
    floor: Floor, kind: ListKind, words: str
) -> None:
    listed = floor.listed(kind)
    played(floor.tenant)
    swept()
    for officer in (floor.first, floor.third):
        page = client_of(officer).get("/admin/inbox/", headers=EN).content.decode()
        assert f"{words} at a table" in page
        assert "Gaétan Villeneuve" in page
        assert f"/admin/audit/listing/{listed.pk}/change/" in page
        assert re.search(r">Inbox<b[^>]*>1</b></a>", page), "the navigation counts it"
    foreign = client_of(Floor().first).get("/admin/inbox/", headers=EN).content.decode()
    assert words not in foreign
    with time_machine.travel(timezone.now() + sightings.SHOWN_FOR + timedelta(minutes=1)):
        assert words not in client_of(floor.first).get("/admin/inbox/", headers=EN).content.decode()


def seen_at(floor: Floor, kind: ListKind = ListKind.EXCLUSION) -> Sighting:
    floor.listed(kind)
    played(floor.tenant)
    swept()
    return Sighting.objects.get()


def wrong(floor: Floor) -> list[str]:
    return [each.what for each in wrong_sightings(floor.casino.pk)]


def test_a_dismissed_sighting_leaves_every_inbox_the_digest_and_what_is_to_be_mailed(floor: Floor) -> None:
    sighting = seen_at(floor)
    page = client_of(floor.second).get("/admin/inbox/", headers=EN).content.decode()
    assert f"/admin/audit/listing/seen/{sighting.pk}/dismiss/" in page
    assert sighting_mail.waiting(timezone.now()) == [sighting.pk]
    listings.dismiss(floor.second, sighting, SightingOutcome.SHOWN_OUT, reason="left with the doorman")
    for officer in (floor.first, floor.second, floor.third):
        page = client_of(officer).get("/admin/inbox/", headers=EN).content.decode()
        assert "at a table" not in page
        assert not re.search(r">Inbox<b", page), "the navigation does not count it"
    assert sighting_mail.waiting(timezone.now()) == []
    casino = floor.casino
    morning = casino.cutoff_at(casino.gaming_day_at(timezone.now()) + timedelta(days=1)) + timedelta(minutes=15)
    assert inbox_mail.send(floor.first.pk, casino.pk, morning) == 0
    assert swept() == 0, "nothing arrived since"
    assert ("listing.dismissed", floor.second.username) in floor.trail()
    assert wrong(floor) == []


def test_a_player_who_is_at_another_table_after_the_dismissal_is_seen_again_on_the_same_day(floor: Floor) -> None:
    GamingTable.objects.create(casino=floor.casino, code="T2")
    first = seen_at(floor)
    listings.dismiss(floor.first, first, SightingOutcome.SHOWN_OUT)
    played(floor.tenant, "s2")
    assert swept() == 0, "what arrives of the same table may be about before"
    played(floor.tenant, "s3", table="T2")
    assert (swept(), swept()) == (1, 0)
    again = Sighting.objects.get(dismissed_at=None)
    assert (again.gaming_day, again.stream.table.code) == (first.gaming_day, "T2")
    assert sighting_mail.waiting(timezone.now()) == [again.pk]
    page = client_of(floor.second).get("/admin/inbox/", headers=EN).content.decode()
    assert f"/admin/audit/listing/seen/{again.pk}/dismiss/" in page
    assert "Another officer has dismissed it" in why(listings.dismiss, floor.second, first, SightingOutcome.OBSERVED), (
        "a page of before does not dismiss what its officer has not seen"
    )
    assert Sighting.objects.get(pk=again.pk).dismissed_at is None
    listings.dismiss(floor.second, again, SightingOutcome.SPOKEN_TO)
    assert [each.outcome for each in Sighting.objects.order_by("pk")] == ["shown_out", "spoken_to"]
    assert swept() == 0
    assert wrong(floor) == []


def test_a_table_at_which_the_player_was_before_the_dismissal_is_covered_until_the_player_goes_on_there(
    floor: Floor,
) -> None:
    GamingTable.objects.create(casino=floor.casino, code="T2")
    first = seen_at(floor)
    played(floor.tenant, "s2", table="T2")
    assert swept() == 0, "once a gaming day"
    listings.dismiss(floor.first, first, SightingOutcome.OBSERVED)
    assert swept() == 0
    assert floor.tenant.post(f"s2-{floor.tenant.code}", [bet(floor.tenant, 3)]).status_code == 201
    assert swept() == 1, "the player goes on there"


def test_a_dismissal_from_before_a_day_had_several_sightings_names_no_session(floor: Floor) -> None:
    sighting = seen_at(floor)
    data = {"listing": 1, "gaming_day": sighting.gaming_day.isoformat(), "outcome": "observed"}
    audit_trail.record(floor.first.username, listings.DISMISSED, casino_id=floor.casino.pk, data=data)
    (what,) = wrong(floor)
    assert what.endswith("is not what the audit trail says: outcome, dismissed_by, dismissed_at")


def test_a_sighting_is_dismissed_once_by_an_officer_of_the_casino_for_an_outcome_that_names_nobody(
    floor: Floor,
) -> None:
    sighting = seen_at(floor)
    dismiss, spoken = listings.dismiss, SightingOutcome.SPOKEN_TO
    assert "write the id" in why(dismiss, floor.first, sighting, spoken, reason="Villeneuve was sorry")
    foreign = Floor()
    assert "role" in why(dismiss, foreign.first, sighting, spoken)
    assert "cannot hold" in why(dismiss, floor.first, sighting, "elsewhere")
    assert Sighting.objects.get().dismissed_at is None
    with acting_as(WEB):
        dismiss(floor.first, sighting, spoken)
    assert "Another officer has dismissed it" in why(dismiss, floor.second, sighting, SightingOutcome.SHOWN_OUT)
    kept = Sighting.objects.get()
    assert (kept.outcome, kept.dismissed_by, kept.dismissal) == ("spoken_to", floor.first, "")
    assert floor.trail().count(("listing.refused", floor.second.username)) == 1


@pytest.mark.parametrize("role", list(Role))
def test_the_database_lets_the_roles_dismiss_that_the_desk_lets_dismiss(floor: Floor, role: Role) -> None:
    sighting, somebody = seen_at(floor), hired(floor.tenant, role, "somebody")
    does = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
    assert Scope.of(somebody, Capability.WORK_CASES, Capability.APPROVE_CASES).includes(floor.casino.pk) == does
    assert (why(listings.dismiss, somebody, sighting, SightingOutcome.OBSERVED) == "") == does


def test_verify_names_a_sighting_that_is_not_what_the_trail_says(floor: Floor) -> None:
    sighting = seen_at(floor)
    named = f"of entry 1 on the lists of casino {floor.casino.pk}"
    by = f"dismissed_by_id = {floor.first.pk}, dismissed_at = now()"
    for change, says in {
        f"update audit_sighting set outcome = 'spoken_to', {by}": "outcome, dismissed_by, dismissed_at",
        "update audit_sighting set gaming_day = gaming_day - 1": "is stored, and the audit trail does not say so",
        "delete from audit_sighting": "is missing",
    }.items():
        with transaction.atomic():
            execute(change)
            found = wrong(floor)
            assert any(named in each and says in each for each in found), found
            transaction.set_rollback(True)
    listings.dismiss(floor.first, sighting, SightingOutcome.OBSERVED, reason="seen")
    execute("update audit_sighting set dismissal = 'x'")
    (what,) = wrong(floor)
    assert what.endswith("is not what the audit trail says: dismissal")
    data = {"listing": 9, "gaming_day": "2026-11-19", "outcome": "observed"}
    audit_trail.record(floor.first.username, listings.DISMISSED, casino_id=floor.casino.pk, data=data)
    assert any("dismisses what nobody saw" in each for each in wrong(floor))


def test_a_day_of_long_ago_that_arrives_today_counts_on_its_own_day(floor: Floor) -> None:
    floor.listed()
    played(floor.tenant, days_ago=3)
    assert swept() == 0
    assert floor.casino.gaming_day_at(timezone.now()) > date(2026, 1, 1)
