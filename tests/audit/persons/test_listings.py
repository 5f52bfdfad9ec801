"""Two officers put a player on a list and two take him off; nobody writes an entry in another way."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.access.capabilities import Capability, roles_with
from audit.access.database_roles import WEB
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Listing, ListKind, Officer, Person, PersonKind, Role
from audit.persons import listings
from audit.persons.erasure import erase
from audit.persons.listings import ListingRefused
from audit.projections.listings import wrong_listings
from tests import citus
from tests.audit.access.test_account_walls import DENIED, refused
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

FOR_GOOD = date(2999, 1, 1)


class Floor:
    """A casino with a player in its directory, and officers of its roles."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.casino = self.tenant.casino
        self.person = Person.objects.create(
            casino=self.casino, code="p1", kind=PersonKind.PLAYER, name="Gaétan Villeneuve"
        )
        self.first = hired(self.tenant, Role.OFFICER, "first")
        self.second = hired(self.tenant, Role.SECOND, "second")
        self.third = hired(self.tenant, Role.SECOND, "third")
        self.administrator = hired(self.tenant, Role.ADMINISTRATOR, "administrator")

    def propose(self, kind: ListKind = ListKind.EXCLUSION, by: Officer | None = None, **more: Any) -> Listing:
        given = {"reason": "threatened a croupier", **more}
        return listings.propose(by or self.first, self.casino, kind, "p1", **given)

    def listed(self, kind: ListKind = ListKind.EXCLUSION, **more: Any) -> Listing:
        return listings.approve(self.second, self.propose(kind, **more))

    def leaving(self) -> Listing:
        return listings.propose_removal(self.first, self.listed(), reason="he apologised")

    def trail(self) -> list[tuple[str, str]]:
        entries = audit_trail.entries_of(self.casino.pk, datetime.now(UTC).date())
        return [(each.type, each.actor) for each in entries if each.type.startswith("listing.")]

    def wrong(self) -> list[str]:
        return [each.what for each in wrong_listings(self.casino.pk)]


@pytest.fixture(scope=citus.MODULE)
def shared_floor(module_db: None) -> Floor:
    return Floor()


@pytest.fixture
def floor(shared_floor: Floor, db: None) -> Floor:
    return deepcopy(shared_floor)


def why(function: Callable[..., Any], *args: Any, **more: Any) -> str:
    """Return why an officer is refused; "" if they are not."""
    try:
        function(*args, **more)
    except ListingRefused as refusal:
        return str(refusal)
    return ""


def test_two_officers_put_a_player_on_a_list_and_two_take_him_off(floor: Floor) -> None:
    waiting = floor.propose(last_day=FOR_GOOD)
    assert (waiting.number, waiting.state, waiting.code, waiting.last_day) == (1, "waiting", "p1", FOR_GOOD)
    listed = listings.approve(floor.second, waiting)
    assert (listed.state, listed.approved_by) == ("listed", floor.second)
    leaving = listings.propose_removal(floor.second, listed, reason="he apologised")
    assert (leaving.state, leaving.removal_by, leaving.removal_reason) == ("leaving", floor.second, "he apologised")
    removed = listings.approve(floor.third, leaving)
    assert (removed.state, removed.ended_by, removed.approved_by) == ("removed", floor.third, floor.second)
    assert floor.trail() == [
        ("listing.proposed", floor.first.username),
        ("listing.approved", floor.second.username),
        ("listing.removal_proposed", floor.second.username),
        ("listing.removal_approved", floor.third.username),
    ]
    assert floor.wrong() == []


def test_nobody_is_the_second_officer_of_their_own_proposal(floor: Floor) -> None:
    own = floor.propose(by=floor.second)
    assert "Another officer must approve" in why(listings.approve, floor.second, own)
    assert "role" in why(listings.approve, floor.first, own)
    listed = listings.approve(floor.third, own)
    leaving = listings.propose_removal(floor.third, listed, reason="seen")
    assert "Another officer must approve" in why(listings.approve, floor.third, leaving)
    assert (
        floor.trail().count(("listing.refused", floor.second.username))
        == floor.trail().count(("listing.refused", floor.third.username))
        == 1
    )


def test_two_accounts_in_one_hand_are_one_officer(floor: Floor) -> None:
    waiting, leaving = floor.propose(ListKind.WATCH), floor.leaving()
    Officer.objects.filter(pk=floor.second.pk).update(created_by=floor.first)
    for each, change in ((waiting, "state = 'listed', approved_by_id = {}, approved_at = now()"),
                         (leaving, "state = 'removed', ended_by_id = {}, ended_at = now()")):  # fmt: skip
        assert not listings.may_approve(floor.second, each)
        assert "created the other’s account" in why(listings.approve, floor.second, each)
        with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic():
            execute(f"update audit_listing set {change.format(floor.second.pk)} where id = {each.pk}")


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_proposal_is_declined_and_so_is_a_removal_for_a_reason(floor: Floor) -> None:
    proposal = floor.propose(ListKind.WATCH)
    assert "Give a reason" in why(listings.decline, floor.second, proposal, reason=" ")
    declined = listings.decline(floor.first, proposal, reason="another player was meant")
    assert (declined.state, declined.ended_by, declined.end_reason) == (
        *("declined", floor.first, "another player was meant"),
    )
    stays = listings.decline(floor.third, floor.leaving(), reason="too early")
    assert (stays.state, stays.removal_by, stays.removal_reason) == ("listed", None, "")
    assert floor.wrong() == []


def test_a_player_is_on_a_list_once_and_on_both_lists_at_once(floor: Floor) -> None:
    listed = floor.listed()
    assert "on this list" in why(floor.propose, by=floor.third)
    assert floor.listed(ListKind.WATCH).number == 2
    leaving = listings.propose_removal(floor.first, listed, reason="he apologised")
    listings.approve(floor.third, leaving)
    assert floor.propose().number == 3


def test_an_entry_whose_last_day_has_passed_keeps_nobody_from_a_new_one(floor: Floor) -> None:
    floor.listed(last_day=timezone.now().date())
    assert "on this list" in why(floor.propose)
    execute("set session_replication_role = replica")
    Listing.objects.update(last_day=timezone.now().date() - timedelta(days=3))
    execute("set session_replication_role = default")
    assert not listings.listings_of(floor.casino, ["p1"], timezone.now())
    assert floor.propose().number == 2


def test_a_last_day_that_has_passed_is_refused(floor: Floor) -> None:
    assert "has passed" in why(floor.propose, last_day=timezone.now().date() - timedelta(days=5))


def test_a_reason_is_demanded_and_names_nobody(floor: Floor) -> None:
    assert "Give a reason" in why(floor.propose, reason=" ")
    for reason in ("villeneuve threatened a croupier", "GAÉTAN again"):
        assert "write the id" in why(floor.propose, reason=reason)
        assert "write the id" in why(listings.propose_removal, floor.first, floor.listed(), reason=reason)
        listings.approve(floor.third, listings.propose_removal(floor.first, Listing.objects.latest("pk"), reason="p1"))


def test_a_player_of_the_directory_alone_is_put_on_a_list(floor: Floor) -> None:
    Person.objects.create(casino=floor.casino, code="c1", kind=PersonKind.CROUPIER, name="Ada")
    for code in ("p2", "c1"):
        assert "no such player" in why(listings.propose, floor.first, floor.casino, ListKind.WATCH, code, reason="seen")


def test_an_entry_stays_by_id_when_the_player_is_erased_and_can_be_removed(floor: Floor) -> None:
    listed = floor.listed()
    erase(floor.administrator, floor.person, reason="p1 asked for it")
    listed.refresh_from_db()
    assert listed.state == "listed"
    assert "Villeneuve" not in " ".join(str(getattr(listed, each.name)) for each in Listing._meta.concrete_fields)
    leaving = listings.propose_removal(floor.first, listed, reason="he does not come back")
    assert listings.approve(floor.third, leaving).state == "removed"
    assert floor.wrong() == []


@pytest.mark.parametrize("role", list(Role))
def test_the_database_lets_the_roles_act_that_the_desk_lets_act(floor: Floor, role: Role) -> None:
    somebody = hired(floor.tenant, role, "somebody")
    proposes = role in roles_with(Capability.WORK_CASES)
    declines = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
    approves = role in roles_with(Capability.APPROVE_CASES)
    waiting = floor.propose(ListKind.WATCH)
    assert listings.may_propose(somebody, floor.casino.pk) == proposes
    assert listings.may_decline(somebody, waiting) == declines
    assert listings.may_approve(somebody, waiting) == approves
    assert (why(floor.propose, by=somebody) == "") == proposes
    assert (why(listings.approve, somebody, waiting) == "") == approves
    undecided = waiting if not approves else Listing.objects.filter(state="waiting").first() or floor.propose()
    assert (why(listings.decline, somebody, undecided, reason="no") == "") == declines


def test_an_officer_of_another_casino_does_nothing_here(floor: Floor) -> None:
    foreign, waiting = Floor(), floor.propose()
    assert "role" in why(floor.propose, ListKind.WATCH, by=foreign.second)
    assert "role" in why(listings.approve, foreign.second, waiting)
    assert not listings.may_approve(foreign.second, waiting)
    assert foreign.propose().number == 1, "numbers are the casino's own"


def test_the_web_role_writes_an_entry_by_the_door_alone(floor: Floor) -> None:
    with acting_as(WEB):
        listed = floor.listed()
    assert listed.state == "listed"
    for statement in (
        f"update audit_listing set state = 'waiting' where id = {listed.pk}",
        f"delete from audit_listing where id = {listed.pk}",
        "select audit_act_listing_proposed('{}', 1, null)",
        "select audit_go_on_with_listing('{}', 'approved')",
    ):
        assert refused(statement) == DENIED, statement


def test_what_is_proposed_never_changes_and_is_never_deleted(floor: Floor) -> None:
    listed = floor.listed()
    for wrong in ("code = 'p9'", "reason = 'x'", "last_day = '2027-01-01'", "state = 'waiting'", "approved_at = now()"):
        with pytest.raises(DatabaseError), transaction.atomic():
            execute(f"update audit_listing set {wrong} where id = {listed.pk}")
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        Listing.objects.filter(pk=listed.pk).delete()


@pytest.mark.parametrize(
    "wrong", [{"listing": 2}, {"listing": None}, {"list": "guests"}, {"named": "p2"}, {"last_day": "x"}, {"reason": ""}]
)
def test_an_entry_of_the_trail_that_is_no_proposal_is_refused(floor: Floor, wrong: dict[str, Any]) -> None:
    good = {"listing": 1, "list": "watch", "named": "p1", "last_day": "", "reason": "seen"}
    with pytest.raises(EntryRefused), transaction.atomic():
        audit_trail.perform(floor.first.username, "listing.proposed", casino_id=floor.casino.pk, data={**good, **wrong})
    assert not Listing.objects.exists()


def test_verify_names_what_somebody_altered(floor: Floor) -> None:
    listed = floor.listed()
    listings.decline(floor.first, floor.propose(ListKind.WATCH), reason="a slip")
    execute("set session_replication_role = replica")
    for change, named in {
        "state = 'removed', ended_by_id = approved_by_id, ended_at = now(), removal_by_id = approved_by_id,"
        " removal_at = now(), removal_reason = 'x'": "is not what the audit trail says",
        "code = 'p2'": "is not what the audit trail says: code",
        "kind = 'watch'": "is not what the audit trail says: kind",
        "last_day = '2027-01-01'": "is not what the audit trail says: last_day",
    }.items():
        with transaction.atomic():
            execute(f"update audit_listing set {change} where id = {listed.pk}")
            (what,) = floor.wrong()
            assert what.startswith(f"entry 1 on the lists of casino {floor.casino.pk} {named}")
            transaction.set_rollback(True)
    kept = ", ".join(each.attname for each in Listing._meta.concrete_fields if each.name != "id")
    execute("set constraints all immediate")
    with transaction.atomic():
        execute("alter table audit_listing drop constraint listing_has_its_own_number")
        execute(f"insert into audit_listing ({kept}) select {kept} from audit_listing where id = {listed.pk}")
        (what,) = floor.wrong()
        assert "is stored twice" in what
        transaction.set_rollback(True)
    execute(f"delete from audit_listing where id = {listed.pk}")
    execute("set session_replication_role = default")
    (what,) = floor.wrong()
    assert "is missing" in what


def test_verify_names_an_entry_of_one_hand_and_one_that_nobody_proposed(floor: Floor) -> None:
    floor.listed()
    Officer.objects.filter(pk=floor.second.pk).update(created_by=floor.first)
    (what,) = floor.wrong()
    assert "was decided by one hand" in what
    with acting_as(WEB):
        audit_trail.record(floor.first.username, "listing.approved", casino_id=floor.casino.pk, data={"listing": 9})
    assert any("goes on with entry 9, which nobody proposed" in each for each in floor.wrong())
