"""Money per person in the record: kept when a night reads its streams, joined by day, found and superseded."""

from __future__ import annotations

import json
from datetime import date, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.models import Casino, Finding, Person, PersonKind, StreamMoney
from audit.reconciliation import persons, runs
from audit.reconciliation.sessions import compute_figures
from tests.audit.reconciliation.played import DAY, MORNING, record
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def bought(
    casino: Casino,
    code: str,
    *amounts: int,
    day: date = DAY,
    hour: int = 20,
    close: bool = True,
    player: str = "p1",
) -> int:
    """Record a session in which a player buys chips, a minute apart, and return its stream's id."""
    stream = f"{casino.code}.{code}.{day}"
    opened = {
        "casino": casino.code,
        "table": code,
        "gaming_day": day.isoformat(),
        "game": "french_roulette",
        "ruleset": "fr-roulette",
        "currency": "EUR",
        "float": 5_000_000,
        "observes": ["wagers", "results", "payouts", "bank"],
    }
    following: list[tuple[str, dict[str, Any]]] = [
        ("buy_in.recorded", {"player": player, "amount": amount, "means": "cash"}) for amount in amounts
    ]
    closed = [("session.closed", {"float": 5_000_000 - sum(amounts)})] if close else []
    return record(casino, _numbered(stream, day, hour, [("session.opened", opened), *following, *closed]))


def counted(casino: Casino, *entries: tuple[str, int], day: date = DAY) -> int:
    """Record a count room with entries of the cash desk, from 23:00 on, and return its stream's id."""
    opened = {"casino": casino.code, "gaming_day": day.isoformat(), "currency": "EUR"}
    following = [
        ("cash_desk.recorded", {"player": "p1", "direction": direction, "amount": amount, "means": "cash"})
        for direction, amount in entries
    ]
    closed = ("count.closed", {})
    events = _numbered(f"{casino.code}.count.{day}", day, 23, [("count.opened", opened), *following, closed])
    return record(casino, [{**event, "actor": "cage-1"} for event in events])


def _numbered(
    stream: str, day: date, hour: int, events: list[tuple[str, dict[str, Any]]], first: int = 1
) -> list[dict[str, Any]]:
    return [
        {
            "stream": stream,
            "seq": seq,
            "type": kind,
            "occurred_at": f"{day}T{hour}:{seq:02}:00+01:00",
            "data": data,
        }
        for seq, (kind, data) in enumerate(events, start=first)
    ]


def standing(casino: Casino, rule: str) -> list[Finding]:
    return list(Finding.objects.standing().filter(casino=casino, rule=rule).order_by("stream_id", "seq"))


def reconcile(casino: Casino, day: date = DAY) -> None:
    runs.reconcile(casino, day, actor="test", now=MORNING)


def test_a_night_finds_what_is_due_over_tables_and_cash_desk(casino: Casino) -> None:
    bought(casino, "R1", 100_000)
    bought(casino, "R2", 60_000)
    stream_id = counted(casino, ("in", 40_000))
    reconcile(casino)
    (finding,) = standing(casino, "identification-due")
    assert (finding.stream_id, finding.seq, finding.severity, finding.player) == (stream_id, 2, "major", "p1")
    assert (finding.expected, finding.recorded) == (200_000, 200_000)
    assert finding.facts["elsewhere"] == [f"{casino.code}.R1.{DAY}#2", f"{casino.code}.R2.{DAY}#2"]
    assert finding.as_value().message("en").startswith("Player p1: chips bought came to €2,000.00")


@pytest.mark.superuser  # nobody else deletes what is kept
def test_what_is_kept_is_what_the_stream_gives_and_is_computed_once(casino: Casino) -> None:
    session, room = bought(casino, "R1", 100_000), counted(casino, ("out", 30_000))
    reconcile(casino)
    kept = StreamMoney.objects.filter(stream__in=[session, room])
    assert sorted(kept.values_list("stream_id", "last_seq")) == sorted([(session, 3), (room, 3)])
    written = {row.stream_id: (row.pk, bytes(row.money)) for row in kept}
    reconcile(casino)
    assert {row.stream_id: (row.pk, bytes(row.money)) for row in kept.all()} == written
    day = persons.day_of(casino, DAY, "EUR")
    kept.delete()
    assert persons.day_of(casino, DAY, "EUR") == day, "it can be computed again"
    assert {row.stream_id: bytes(row.money) for row in kept.all()} == {
        stream_id: money for stream_id, (_pk, money) in written.items()
    }
    person = day.persons["p1"]
    assert (person.total_bought, person.total_cashed, person.chips_left) == (100_000, 30_000, 70_000)


@pytest.mark.superuser  # nobody else deletes what is kept
def test_figures_that_were_stored_before_get_their_money_when_it_is_wanted(casino: Casino) -> None:
    session = bought(casino, "R1", 200_000)
    compute_figures(session, 3)
    StreamMoney.objects.filter(stream=session).delete()
    reconcile(casino)
    assert len(standing(casino, "identification-due")) == 1


def test_whom_the_directory_names_is_identified(casino: Casino) -> None:
    bought(casino, "R1", 200_000)
    player = Person.objects.create(casino=casino, code="p1", kind=PersonKind.PLAYER, name="Aline Roche")
    reconcile(casino)
    assert not standing(casino, "identification-due")
    Person.objects.filter(pk=player.pk).update(code="p9")
    reconcile(casino)
    assert len(standing(casino, "identification-due")) == 1


def test_an_employee_of_the_same_id_is_another_person(casino: Casino) -> None:
    bought(casino, "R1", 200_000)
    Person.objects.create(casino=casino, code="p1", kind=PersonKind.CROUPIER, name="Nadia")
    reconcile(casino)
    assert len(standing(casino, "identification-due")) == 1


def test_what_a_later_run_no_longer_finds_is_superseded(casino: Casino) -> None:
    bought(casino, "R1", 150_000, 50_000, close=False)
    reconcile(casino)
    (finding,) = standing(casino, "identification-due")
    data = {"annuls": 3, "reason": "slip", "approved_by": "chef"}
    record(casino, _numbered(f"{casino.code}.R1.{DAY}", DAY, 20, [("entry.annulled", data)], first=4), next_seq=4)
    reconcile(casino)
    assert not standing(casino, "identification-due")
    assert Finding.objects.get(pk=finding.pk).superseded_at is not None


def test_a_finding_that_is_raised_again_is_the_same_with_what_it_says_now(casino: Casino) -> None:
    bought(casino, "R1", 150_000)
    counted(casino, ("in", 50_000))
    reconcile(casino)
    (finding,) = standing(casino, "identification-due")
    bought(casino, "R2", 10_000)
    reconcile(casino)
    (again,) = standing(casino, "identification-due")
    assert (again.pk, again.recorded, again.facts["count"]) == (finding.pk, 210_000, 3)


def test_findings_that_say_the_same_again_are_not_written_again(casino: Casino) -> None:
    bought(casino, "R1", 150_000)
    bought(casino, "R2", 250_000, player="p2")
    counted(casino, ("in", 50_000))
    reconcile(casino)
    written = versions(casino)
    assert len(written) >= 3, "of nights and of persons"
    reconcile(casino)
    assert versions(casino) == written
    bought(casino, "R3", 10_000)
    reconcile(casino)
    changed = [key for key, version in versions(casino).items() if key in written and version != written[key]]
    assert [rule for rule, person, _pk in changed if person == "p1"] == ["identification-due"], "it says more now"
    assert not [rule for rule, person, _pk in changed if person == "p2"]


def versions(casino: Casino) -> dict[tuple[str, str, int], str]:
    """Return which version of its row PostgreSQL has of each finding of a casino, by rule, player and id."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select rule, player, id, xmin::text || ' ' || ctid::text from audit_finding where casino_id = %s",
            [casino.pk],
        )
        return {(rule, player, pk): version for rule, player, pk, version in cursor.fetchall()}


def test_the_24_hours_reach_back_into_the_day_before() -> None:
    desk = RegisterDesk()
    casino = desk.tenant.casino
    yesterday = DAY - timedelta(days=1)
    bought(casino, "R1", 150_000, day=yesterday, hour=23)
    bought(casino, "R1", 50_000, hour=20)
    reconcile(casino, yesterday)
    reconcile(casino)
    assert not standing(casino, "threshold-splitting"), "the law counts gaming days"
    desk.decided("reportable_cash_from", {"EUR": 200_000}, first_day=DAY)
    reconcile(casino)
    (finding,) = standing(casino, "threshold-splitting")
    assert (finding.gaming_day, finding.severity, finding.facts["pattern"]) == (DAY, "info", "midnight")


def test_chips_kept_of_an_earlier_night_are_known_to_the_record() -> None:
    desk = RegisterDesk()
    casino = desk.tenant.casino
    bought(casino, "R1", 100_000, day=DAY - timedelta(days=20))
    counted(casino, ("out", 299_999))
    reconcile(casino)
    assert not standing(casino, "chips-from-elsewhere")
    desk.decided("chips_from_elsewhere_from", {"EUR": 199_999}, first_day=DAY)
    reconcile(casino)
    (finding,) = standing(casino, "chips-from-elsewhere")
    assert (finding.player, finding.expected, finding.recorded) == ("p1", 100_000, 299_999)


def test_chips_that_nobody_brought_back_for_a_month_are_asked_about(casino: Casino) -> None:
    bought(casino, "R1", 1_200_000, day=DAY - timedelta(days=30))
    bought(casino, "R1", 100, day=DAY - timedelta(days=1), player="p2")
    bought(casino, "R1", 100, player="p2")
    reconcile(casino)
    (finding,) = standing(casino, "chips-outstanding")
    assert (finding.player, finding.recorded) == ("p1", 1_200_000)
    assert finding.facts["bought_on"] == (DAY - timedelta(days=30)).isoformat()


def test_other_casinos_and_currencies_are_apart(casino: Casino) -> None:
    other = Tenant().casino
    bought(casino, "R1", 100_000)
    bought(other, "R1", 100_000)
    reconcile(casino)
    assert not standing(casino, "identification-due")
    assert set(persons.day_of(other, DAY, "EUR").persons) == {"p1"}
    assert persons.day_of(casino, DAY, "CHF").persons == {}


def exchanges(casino: Casino, *options: str) -> str:
    written = StringIO()
    call_command("exchanges", "--casino", casino.code, "--day", DAY.isoformat(), *options, stdout=written)
    return written.getvalue()


def test_the_exchange_register_is_written_desk_by_desk(casino: Casino) -> None:
    bought(casino, "R1", 160_000)
    counted(casino, ("in", 40_000), ("out", 12_345))
    text = exchanges(casino)
    assert text.index("cage-1") < text.index("R1")
    assert "€400.00" in text
    assert "€2,000.00" in text
    assert "€123.45" in text
    assert "p1" in text


def test_whoever_stays_below_is_listed_only_where_everybody_is(casino: Casino) -> None:
    bought(casino, "R1", 199_999)
    assert "p1" not in exchanges(casino)
    assert "€1,999.99" in exchanges(casino, "--everybody")


def test_the_exchange_register_shows_ids_and_no_names(casino: Casino) -> None:
    bought(casino, "R1", 200_000)
    Person.objects.create(casino=casino, code="p1", kind=PersonKind.PLAYER, name="Aline Roche")
    text = exchanges(casino)
    assert "p1" in text
    assert "Aline" not in text


def test_the_exchange_register_as_json(casino: Casino) -> None:
    counted(casino, ("in", 200_000))
    (register,) = json.loads(exchanges(casino, "--json"))["registers"]
    assert (register["where"], register["currency"], register["into_chips"]) == ("cage-1", "EUR", 200_000)
    (entry,) = register["entries"]
    assert entry == {
        "number": 1,
        "stream": f"{casino.code}.count.{DAY}",
        "seq": 2,
        "at": "2026-11-19T23:02:00+01:00",
        "player": "p1",
        "direction": "in",
        "means": "cash",
        "amount": 200_000,
        "of_day": 200_000,
        "reaches": True,
    }


def test_an_unknown_casino_is_refused() -> None:
    with pytest.raises(CommandError, match="no casino"):
        call_command("exchanges", "--casino", "nowhere", "--day", DAY.isoformat())


def test_the_register_decides_from_which_amount_for_the_days_that_it_covers() -> None:
    desk = RegisterDesk()
    casino = desk.tenant.casino
    desk.decided("identification_from", {"EUR": 100_000}, first_day=DAY)
    yesterday = DAY - timedelta(days=1)
    bought(casino, "R1", 100_000)
    bought(casino, "R1", 100_000, day=yesterday, hour=12)
    reconcile(casino, yesterday)
    assert not standing(casino, "identification-due")
    reconcile(casino)
    (finding,) = standing(casino, "identification-due")
    assert (finding.gaming_day, finding.expected) == (DAY, 100_000)
    assert "identification due" in exchanges(casino)
    desk.decided("identification_from", None, first_day=DAY)
    reconcile(casino)
    assert not standing(casino, "identification-due")
    assert persons.thresholds_of(casino, DAY).identification_from == {"EUR": 200_000}


def test_an_entry_of_one_table_or_ruleset_says_nothing_of_a_persons_day() -> None:
    desk = RegisterDesk()
    desk.decided("identification_from", {"EUR": 100_000}, ruleset="fr-roulette")
    assert persons.thresholds_of(desk.tenant.casino, DAY).identification_from == {"EUR": 200_000}
