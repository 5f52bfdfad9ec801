"""What a casino says of how many subjects a year will have: before the year, in the trail; its levels are of that."""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.desk.ledger import list_page
from audit.event_store import audit_trail
from audit.ledger import expected, feeding, listing
from audit.ledger.expected import EXPECTED, ExpectedRefused, say, stated_of
from audit.models import Casino, LedgerCursor, LedgerProcess, LedgerYear, Officer, Role
from audit.projections.ledger import wrong_ledger
from settlement.eprocess.budget import expected_at_first, stated_in
from tests.audit.casework.test_actions import hired
from tests.audit.ledger.test_feeding import spun
from tests.audit.projections.test_casinos import forge
from tests.audit.reconciliation.played import DAY, record
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

PARIS = ZoneInfo("Europe/Paris")


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


@pytest.fixture
def chief(tenant: Tenant) -> Officer:
    return Officer.objects.create_superuser(f"chief-{tenant.code}", password="x")


def play(casino: Casino, day: int, wheel: str = "W1") -> None:
    record(casino, spun(casino, ["1", "2", "3"], day=DAY + timedelta(days=day), wheel=wheel))
    seal()
    feeding.feed(casino)


def year_now() -> int:
    return timezone.now().astimezone(PARIS).year


def years(casino: Casino) -> list[dict[str, int]]:
    rows = LedgerYear.objects.filter(casino=casino).order_by("year")
    return list(rows.values_list("expected", flat=True))


def test_what_a_casino_says_before_it_has_played_is_what_its_first_year_expects(casino: Casino, chief: Officer) -> None:
    say(chief, casino, year_now(), {"wheel": 9, "player": 70}, reason="counted")
    say(chief, casino, year_now(), {"wheel": 4}, reason="counted again")
    assert stated_of(casino, year_now()) == {"wheel": 4, "player": 70}
    assert stated_of(casino, year_now() + 1) == {}
    play(casino, 0)
    [first] = years(casino)
    by_kind = {
        "wheel": 4,
        "wheel-displacement": 4,
        "wheel-memory": 4,
        "player-luck": 70,
        "late-luck": 70,
        "corrected-luck": 70,
        "shooter": 70,
    }
    assert first == {**expected_at_first(2), **by_kind, "stated wheel": 4, "stated player": 70}
    assert LedgerCursor.objects.get(casino=casino).expected == first
    assert LedgerProcess.objects.get(casino=casino, name="wheel 37: W1").alpha == "1/64", "1 · ½ · ¼ · ½ / 4"
    assert list(wrong_ledger(casino.pk)) == []


def test_what_is_said_of_the_next_year_goes_before_the_count_of_this_one_and_holds_for_it_alone(
    casino: Casino, chief: Officer, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = year_now()
    for day in (0, 1):
        play(casino, day, f"W{day}")
    say(chief, casino, this + 1, {"table": 8, "croupier": 9}, reason="new pits")
    say(chief, casino, this + 1, {"croupier": 0}, reason="no new pits")
    for later in (1, 2):
        monkeypatch.setattr(feeding, "year_of", lambda *_, later=later: this + later)
        play(casino, 1 + later)
    _first, second, third = years(casino)
    assert (second["wheel"], second["table-luck"], second["table-drift"], second["croupier-luck"]) == (2, 8, 8, 12)
    assert stated_in(second) == {"table": 8}
    assert (third["wheel"], stated_in(third)) == (1, {})
    assert third["table-luck"] == 8, "nobody staked: of these no year has counted any"
    assert list(wrong_ledger(casino.pk)) == []


def test_nothing_is_said_of_a_year_whose_draws_may_be_known(casino: Casino, chief: Officer) -> None:
    this = year_now()
    with pytest.raises(ExpectedRefused, match="has begun"):
        say(chief, casino, this - 1, {"wheel": 4}, reason="late")
    with pytest.raises(ExpectedRefused, match="not the next year"):
        say(chief, casino, this + 2, {"wheel": 4}, reason="early")
    record(casino, spun(casino, ["1"])[:1])
    with pytest.raises(ExpectedRefused, match="has begun"):
        say(chief, casino, this, {"wheel": 4}, reason="a session is open")
    say(chief, casino, this + 1, {"wheel": 4}, reason="in time")
    assert [stated_of(casino, year) for year in (this, this + 1)] == [{}, {"wheel": 4}]


def test_the_year_is_that_of_the_casino_s_clock(casino: Casino, chief: Officer) -> None:
    record(casino, spun(casino, ["1"])[:1])
    year = year_now() + 1
    with time_machine.travel(datetime(year, 1, 1, 0, 1, tzinfo=PARIS), tick=False):
        with pytest.raises(ExpectedRefused, match="has begun"):
            say(chief, casino, year, {"wheel": 4}, reason="a minute late, and before midnight by UTC")
        say(chief, casino, year + 1, {"wheel": 6}, reason="in time")
    with time_machine.travel(datetime(year, 12, 31, 23, 59, tzinfo=PARIS), tick=False):
        say(chief, casino, year + 1, {"wheel": 5}, reason="in time")
    assert stated_of(casino, year + 1) == {"wheel": 5}


@pytest.mark.parametrize("stated, reason, why", [
    ({"wheels": 4}, "counted", "No process is about a 'wheels'"),
    ({"wheel": 100_001}, "counted", "from 1 to 100,000"),
    ({"wheel": -1}, "counted", "from 1 to 100,000"),
    ({"wheel": 4}, " \0", "Give a reason"),
])  # fmt: skip
def test_nothing_else_is_taken(casino: Casino, chief: Officer, stated: dict[str, int], reason: str, why: str) -> None:
    with pytest.raises(ExpectedRefused, match=why):
        say(chief, casino, year_now(), stated, reason=reason)
    assert stated_of(casino, year_now()) == {}
    say(chief, casino, year_now(), {"wheel": expected.MOST}, reason="the most")


def test_no_officer_but_a_superuser_says_it(tenant: Tenant, casino: Casino) -> None:
    with pytest.raises(ExpectedRefused, match="is no superuser"):
        say(hired(tenant, Role.DIRECTOR, "director"), casino, year_now(), {"wheel": 4}, reason="counted")


@pytest.mark.superuser
def test_an_edition_that_begins_in_the_year_has_a_budget_of_what_was_said_of_it(casino: Casino, chief: Officer) -> None:
    say(chief, casino, year_now(), {"wheel": 4}, reason="counted")
    play(casino, 0)
    for table in ("year", "process", "batch", "cursor"):
        forge("update audit_ledger{table} set edition = edition - 1 where casino_id = {pk}", table=table, pk=casino.pk)
    play(casino, 1)
    before, since = years(casino)
    assert since == before
    assert LedgerProcess.objects.going_on().get(casino=casino, name="wheel 37: W1").alpha == "1/64"
    assert list(wrong_ledger(casino.pk)) == []


@pytest.mark.superuser
def test_verification_names_a_budget_that_says_what_the_casino_has_not(casino: Casino, chief: Officer) -> None:
    say(chief, casino, year_now(), {"wheel": 4}, reason="counted")
    play(casino, 0)
    forge(
        "update audit_ledgeryear set expected = expected || '{{\"stated wheel\": 5}}' where casino_id = {pk}",
        pk=casino.pk,
    )
    assert any("not those that the casino has said" in fault.what for fault in wrong_ledger(casino.pk))


@pytest.mark.superuser
def test_verification_names_what_was_said_by_no_entry_of_a_later_year(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = year_now()
    play(casino, 0)
    monkeypatch.setattr(feeding, "year_of", lambda *_: this + 1)
    play(casino, 1)
    forge(
        "update audit_ledgeryear set expected = expected || '{{\"wheel\": 5}}'"
        " where casino_id = {pk} and year = {year}",
        pk=casino.pk,
        year=this + 1,
    )
    faults = [fault.what for fault in wrong_ledger(casino.pk)]
    assert any("are not those of" in what for what in faults), faults


def test_the_command_says_it_in_the_name_of_a_superuser(
    casino: Casino, chief: Officer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(*stated: str, **more: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("x\n"))
        out = io.StringIO()
        call_command("ledger", casino=casino.code, expect=stated, reason="counted", stdout=out, **more)
        return out.getvalue()

    named = {"officer": chief.get_username()}
    year = str(year_now())
    for wrong in ((year,), (year, "wheel"), ("27", "wheel=4"), (year, "wheel=4", "player=x")):
        with pytest.raises(CommandError, match="Write a year"):
            command(*wrong, **named)
    with pytest.raises(CommandError, match="--officer"):
        command(year, "wheel=4")
    with pytest.raises(CommandError, match="No process is about"):
        command(year, "wheels=4", **named)
    assert command(year, "wheel=4", "player, croupier=300", **named) == f"{year}: 4 × wheel, 300 × player, croupier\n"
    found = audit_trail.entries_of_type(casino.pk, EXPECTED, timezone.now().date(), timezone.now().date())
    assert [(each.actor, each.reason, dict(each.data)) for each in found] == [
        (chief.get_username(), "counted", {"year": int(year), "subject": "wheel", "subjects": 4}),
        (chief.get_username(), "counted", {"year": int(year), "subject": "player, croupier", "subjects": 300}),
    ]


def test_the_page_says_from_where_the_number_comes(
    casino: Casino, chief: Officer, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = year_now()
    play(casino, 0)
    say(chief, casino, this + 1, {"table": 8}, reason="new pits")
    monkeypatch.setattr(feeding, "year_of", lambda *_: this + 1)
    play(casino, 1)
    cursor = LedgerCursor.objects.get(casino=casino)
    given = [listing.Given(kind, 1, 0.01) for kind in ("wheel", "die", "table-luck", "table-drift")]
    groups = list_page._groups(given, cursor, listing.counted_before(casino, cursor.year))
    assert {str(group["name"]): (group["expected"], [*map(str, group["sources"])]) for group in groups} == {
        "Wheels": ("1", ["as many as last year"]),
        "Dice, sets and throws": ("100", ["by the number of tables"]),
        "Luck of tables": ("8", ["said by the casino"]),
        "Counts of tables": ("8", ["said by the casino"]),
    }
