"""Attacks that combine rows: whoever writes into one table sees to it that the others agree.

Each is of SQL, by a superuser with every guard off, on a casino with a session that is closed and one that goes on, in
each of which officers have worked on the first case. Braces stand for what ``names_of`` returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from django.db import connection, transaction

from audit.access.database_roles import WORKER
from audit.adjudication import replay
from audit.event_store import audit_trail
from audit.models import AdjudicationRun, Finding
from audit.register import entries
from audit.register.readings import DOUBLE_TABLE
from tests import citus
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.projections.forgers import unguarded
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import named_after
from tests.audit.reconciliation.played import record, session
from tests.audit.register.register_desk import LONG_AGO
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

COPIED = (
    "seq, rule, wager, ruleset, engine_version, readings_digest, gaming_day, occurred_at, evidence, expected, recorded,"
    " provision, facts, currency, after_loss, opened_at, casino_id, stream_id, table_id, player, croupier, provisions,"
    " causes, difference, owed"
)

SUPERSEDED = (
    f"insert into audit_finding ({COPIED}, run_id, case_id, severity, status, stood_at, superseded_at)"
    f" select {COPIED}, run_id, case_id, 'critical', 'superseded', now(), now() from audit_finding where id = "
)
"""Adds a finding that is said to have stood: an officer reads that somebody made it vanish."""

MILDER = "update audit_finding set severity = 'minor' where id = {going_on}"
OTHER_ENGINE = "update audit_adjudicationrun set engine_version = '1' where stream_id = "


class Played:
    """A casino with a session that is closed and one that goes on, whose first cases officers have closed."""

    def __init__(self) -> None:
        self.casino = Casino()
        self.other = Tenant()
        self.closed = self.casino.played("closed")
        self.open = self.casino.played("open", closed=False)
        self.worked = [self.casino.cases_of(stream_id)[0] for stream_id in (self.closed, self.open)]
        for case_id in self.worked:
            self.casino.close_case(case_id)
        seal()
        self.names = self._names()
        self.places = {
            whose: set(Finding.objects.filter(case=pk).values_list("stream__name", "seq"))  # type: ignore[misc]
            for whose, pk in self.names.items()
            if whose.endswith(("_case", "_worked"))
        }
        assert len(self.places) == 4
        assert all(self.places.values())

    def _names(self) -> dict[str, object]:
        """Return what the braces in an attack stand for."""
        ended, going_on = (self._second(stream_id) for stream_id in (self.closed, self.open))
        return {
            "closed": self.closed,
            "open": self.open,
            "ended": ended.pk,
            "ended_seq": ended.seq,
            "ended_case": ended.case_id,
            "ended_worked": self.worked[0],
            "going_on": going_on.pk,
            "going_on_seq": going_on.seq,
            "going_on_case": going_on.case_id,
            "going_on_worked": self.worked[1],
            "other_casino": self.other.casino.pk,
            "other_table": self.other.table.pk,
            "run_of_open": _run_of(self.open),
            "run_of_closed": _run_of(self.closed),
            "in_closed": f"of {self.casino.name('closed')}, event {ended.seq}:",
            "in_open": f"of {self.casino.name('open')}, event {going_on.seq}:",
        }

    def _second(self, stream_id: int) -> Finding:
        """Return a finding whose case nobody has worked on."""
        found = Finding.objects.standing().filter(stream=stream_id, case__isnull=False)
        finding = found.exclude(case__in=self.worked).order_by("seq").first()
        assert finding is not None
        return finding

    def attack(self, statements: Sequence[str]) -> None:
        unguarded()
        with connection.cursor() as cursor:
            cursor.execute("set local session_replication_role = replica")
            for statement in statements:
                cursor.execute(statement.format(**self.names))
                assert cursor.rowcount > 0, statement
            cursor.execute("set local session_replication_role = origin")

    def is_named(self, statements: Sequence[str], *expected: str, deep: bool = False) -> None:
        """Attack, and assert that a fault has one of the texts ``expected``."""
        self.attack(statements)
        found = [str(fault) for fault in faults(deep=deep)]
        assert self.has_one(found, *expected), f"{expected} in {found}"

    def has_one(self, found: Sequence[str], *expected: str) -> bool:
        """Return whether one of the faults ``found`` has one of the texts ``expected``."""
        wanted = [text.format(**self.names) for text in expected]
        return any(text in fault for fault in found for text in wanted)

    def not_named(self, attacks: Mapping[str, Sequence[str]], *expected: str) -> dict[str, str]:
        """Return what is found of those of ``attacks`` of which no fault has a text; each is rolled back."""
        found = {what: named_after(partial(self.attack, statements)) for what, statements in attacks.items()}
        return {what: faults for what, faults in found.items() if not self.has_one([faults], *expected)}


def _run_of(stream_id: int) -> int:
    return int(AdjudicationRun.objects.filter(stream=stream_id).order_by("pk").values_list("pk", flat=True)[0])


@pytest.fixture(scope=citus.MODULE)
def played(_committed_before: None) -> Played:
    played = Played()
    assert faults() == []
    return played


CASES = {
    "seq": "999",
    "rule": "'wager-left-open'",
    "wager": "'w9'",
    "casino_id": "{other_casino}",
    "weight": "3",
    "deadline": "'2030-01-01'",
    "opened_at": "'2020-01-01'",
}


@pytest.mark.parametrize("column", in_short([*CASES, "stream_id"], every=3))
def test_what_a_case_was_opened_with_is_named(played: Played, column: str) -> None:
    """Four cases at once: in a session that is closed and in one that goes on, and worked on by officers or not."""
    for whose, other in (("ended", "{open}"), ("going_on", "{closed}")):
        value = CASES.get(column, other)
        cases = f"({{{whose}_case}}, {{{whose}_worked}})"
        played.attack([f"update audit_case set {column} = {value} where id in {cases}"])
    named = {(fault.stream, fault.first_seq) for fault in faults()}
    assert [whose for whose, places in played.places.items() if not places <= named] == []


FINDINGS = {
    "casino_id": "{other_casino}",
    "table_id": "{other_table}",
    "gaming_day": "'2020-01-01'",
    "ruleset": "'fr-roulette'",
    "engine_version": "'1'",
    "readings_digest": "'x'",
    "opened_at": "'2020-01-01'",
    "stood_at": "'2020-01-01'",
    "put_right_by": "2",
    "year": "2020",
    "number": "number + 1",
    "heads_case": "not heads_case",
}


@pytest.mark.parametrize("column", in_short(FINDINGS, every=3))
def test_a_finding_of_a_session_that_goes_on_is_named(played: Played, column: str) -> None:
    played.is_named([f"update audit_finding set {column} = {FINDINGS[column]} where id = {{going_on}}"], "{in_open}")


@pytest.fixture
def decided(played: Played) -> Played:
    """Approve an entry in the register that is of no session: of a day that nobody has played."""
    entries.approve(played.casino.director, played.casino.propose("seat_limit", 6).pk)
    seal()
    assert faults() == []
    return played


@pytest.mark.parametrize("sixth", in_short(range(6), every=6))
def test_a_finding_of_a_closed_session_is_named_after_an_entry_of_the_register(decided: Played, sixth: int) -> None:
    attacks = {
        column: [f"update audit_finding set {column} = {value} where id = {{ended}}"]
        for column, value in [*FINDINGS.items()][sixth::6]
    }
    assert not decided.not_named(attacks, "{in_closed}")


def test_the_run_that_found_a_finding_is_named(played: Played) -> None:
    played.is_named(["update audit_finding set run_id = {run_of_open} where id = {ended}"], "{in_closed}")


COMBINED = {
    "a finding made milder and its run said to be of another engine": [MILDER, OTHER_ENGINE + "{open}"],
    "a finding made milder and its run ended": [
        MILDER,
        "update audit_adjudicationrun set state = 'superseded', ended_at = now() where stream_id = {open}",
    ],
    "a finding made milder and its run said to be of a what-if": [
        MILDER,
        "update audit_adjudicationrun set what_if_id = 1 where stream_id = {open}",
    ],
    "the last finding and its case deleted, and the cursor set before it": [
        "delete from audit_finding where id = {going_on}",
        "delete from audit_case where id = {going_on_case}",
        "update audit_adjudication set cursor = {going_on_seq} - 1 where stream_id = {open}",
    ],
    "a superseded finding added": [SUPERSEDED + "{going_on}"],
    "a finding of another exchanged for the case of the first": [
        "update audit_finding set case_id = case when case_id = {going_on_case} then {going_on_worked}"
        " else {going_on_case} end where case_id in ({going_on_case}, {going_on_worked})"
    ],
    "a finding given to the closed case of another, and its own case deleted": [
        "update audit_finding set case_id = {going_on_worked} where id = {going_on}",
        "delete from audit_case where id = {going_on_case}",
    ],
    "an integrity finding added of a batch that is as it was": [
        f"insert into audit_finding ({COPIED}, severity, status, stood_at, heads_case)"
        f" select {COPIED.replace('rule', 'varchar %slog-tampered%s' % (2 * (chr(39),)), 1)}, 'critical', 'standing',"
        " now(), false from audit_finding where id = {going_on}"
    ],
    "a superseded integrity finding added": [
        f"insert into audit_finding ({COPIED}, severity, status, stood_at, superseded_at)"
        f" select {COPIED.replace('rule', 'varchar %slog-tampered%s' % (2 * (chr(39),)), 1)}, 'critical', 'superseded',"
        " now(), now() from audit_finding where id = {going_on}"
    ],
}


@pytest.mark.parametrize("deep", in_short([False, True], every=2), ids=["", "deep"])
@pytest.mark.parametrize("name", in_short(COMBINED, every=3))
def test_rows_of_a_session_that_goes_on_are_forged_together(played: Played, name: str, deep: bool) -> None:
    played.is_named(COMBINED[name], "{in_open}", "case {going_on_case} ", deep=deep)


AFTER_A_DECISION = {
    "a finding made milder and its run said to be of another engine": [
        "update audit_finding set severity = 'minor' where id = {ended}",
        OTHER_ENGINE + "{closed}",
    ],
    "a superseded finding added": [SUPERSEDED + "{ended}"],
    "a finding given to the closed case of another, and its own case deleted": [
        "update audit_finding set case_id = {ended_worked} where id = {ended}",
        "delete from audit_case where id = {ended_case}",
    ],
}


def test_rows_of_a_closed_session_are_forged_after_an_entry_of_the_register(decided: Played) -> None:
    assert not decided.not_named(AFTER_A_DECISION, "{in_closed}", "case {ended_case} ")


def test_only_the_row_that_was_altered_is_named(played: Played) -> None:
    assert Finding.objects.filter(stream=played.closed).count() > 2
    played.is_named(["update audit_finding set severity = 'minor' where id = {ended}"], "{in_closed}")
    found = {(fault.stream, fault.first_seq) for fault in faults()}
    assert found == {(played.casino.name("closed"), played.names["ended_seq"])}


def test_a_truth_value_of_the_register_is_not_a_number() -> None:
    casino = Casino()
    proposed = casino.propose(DOUBLE_TABLE, True, first_day=LONG_AGO, table=casino.tenant.table)
    entries.approve(casino.director, proposed.pk)
    seal()
    assert faults() == []
    unguarded()
    with connection.cursor() as cursor:
        cursor.execute("update audit_registerentry set value = '1' where id = %s", [proposed.pk])
    assert any(f"entry {proposed.pk} " in str(fault) for fault in faults()), "1 decides as if nothing had been decided"


def test_what_is_wrong_at_one_casino_is_no_fault_of_another() -> None:
    one, other = Casino(), Casino()
    stream_id = one.played("forged")
    other.played("fine")
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        cursor.execute("update audit_finding set severity = 'minor' where stream_id = %s", [stream_id])
        cursor.execute("set local session_replication_role = origin")
    assert {fault.stream for fault in faults(one.casino.pk)} == {one.name("forged")}
    assert faults(other.casino.pk) == []


def test_a_session_with_a_correction_that_waits_is_adjudicated_again() -> None:
    casino = Casino()
    casino.corrected("waits")
    casino.desk.refused(casino.corrected("refused"))
    seal()
    assert faults() == []
    assert faults(deep=True) == []


def test_a_finding_of_a_session_with_a_correction_that_waits_is_named_after_an_entry_of_the_register() -> None:
    casino = Casino()
    stream_id = casino.corrected("waits")
    entries.approve(casino.director, casino.propose("seat_limit", 6).pk)
    seal()
    unguarded()
    with connection.cursor() as cursor:
        cursor.execute(
            "update audit_finding set severity = 'minor' where stream_id = %s and rule = 'payout-overpaid'", [stream_id]
        )
    assert ("waits", 4) in {(fault.stream.split("-")[0], fault.first_seq) for fault in faults()}


def test_an_approval_is_undone_in_what_was_found_and_in_the_run_that_knows_it() -> None:
    casino = Casino()
    stream_id = casino.corrected("decided")
    casino.desk.approved(stream_id)
    replayed(stream_id)
    entries.approve(casino.director, casino.propose("seat_limit", 6).pk)
    seal()
    assert faults() == []
    unguarded()
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        for statement in (
            "delete from audit_finding where stream_id = %s and status = 'standing'",
            "update audit_finding set status = 'standing', superseded_at = null, superseded_by_run_id = null,"
            " run_id = (select max(id) from audit_adjudicationrun r where r.stream_id = audit_finding.stream_id)"
            " where stream_id = %s and status = 'superseded'",
            "update audit_adjudicationrun set approved = '{}' where stream_id = %s",
        ):
            cursor.execute(statement, [stream_id])
            assert cursor.rowcount > 0
        cursor.execute("set local session_replication_role = origin")
    assert casino.name("decided") in {fault.stream for fault in faults()}


SUPERSEDE = (
    "update audit_finding set status = 'superseded', superseded_at = clock_timestamp(),"
    " superseded_by_run_id = {run_of_open} where id = {going_on}"
)
END_RUN = "update audit_adjudicationrun set state = 'superseded', ended_at = clock_timestamp() where stream_id = {open}"
CLEAR = "update audit_finding set put_right_by = 2, difference = 0, owed = null where id = "

WORKERS = {
    "a finding superseded and its run said to be of another engine": [SUPERSEDE, OTHER_ENGINE + "{open}"],
    "a finding superseded and its run ended": [SUPERSEDE, END_RUN],
    "what is owed cleared and the run said to be of another engine": [CLEAR + "{going_on}", OTHER_ENGINE + "{open}"],
    "what is owed cleared and the run ended": [CLEAR + "{going_on}", END_RUN],
    "a finding given to another run": ["update audit_finding set run_id = {run_of_closed} where id = {going_on}"],
}
"""What the grants and the triggers let a worker do."""


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_forges_rows_together(played: Played, name: str) -> None:
    names = played.names
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"set local role {WORKER}")
        for statement in WORKERS[name]:
            cursor.execute(statement.format(**names))
            assert cursor.rowcount > 0, statement
        cursor.execute("reset role")
    found = [str(fault) for fault in faults()]
    assert any(str(names["in_open"]) in fault for fault in found), found


def test_what_stands_while_another_run_is_under_way_is_still_held_against_the_log(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed = played.casino.propose("payout_unit", 100, first_day=LONG_AGO)
    entries.approve(played.casino.director, proposed.pk)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    replay.advance(played.closed)
    replay.advance(played.closed)
    played.is_named(["update audit_finding set severity = 'minor' where id = {ended}"], "{in_closed}")


def test_a_night_that_one_signs_twice_and_otherwise_than_it_was_made_is_named() -> None:
    """The database refuses it; whoever is above that writes the entries."""
    casino = Casino()
    record(casino.casino, session(casino.casino, "R1", coups=2))
    report = casino.reconciled()
    night = {"gaming_day": report.gaming_day.isoformat(), "currency": report.currency, "version": report.version}
    for type in ("night.reviewed", "night.closed"):
        audit_trail.record(
            casino.second.get_username(), type, casino_id=casino.casino.pk, data={**night, "digest": report.digest}
        )
    found = " ".join(map(str, faults()))
    assert f"{casino.second.get_username()} signed twice" in found
    assert "signs another digest" not in found
    audit_trail.record(
        casino.second.get_username(), "night.reviewed", casino_id=casino.casino.pk, data={**night, "digest": "00"}
    )
    assert "it is signed more than twice" in " ".join(map(str, faults()))


def test_a_night_whose_first_signature_is_of_another_digest_is_named() -> None:
    casino = Casino()
    record(casino.casino, session(casino.casino, "R1", coups=2))
    report = casino.reconciled()
    night = {"gaming_day": report.gaming_day.isoformat(), "currency": report.currency, "version": report.version}
    audit_trail.record(
        casino.second.get_username(), "night.reviewed", casino_id=casino.casino.pk, data={**night, "digest": "00"}
    )
    assert "signs another digest" in " ".join(map(str, faults()))


INSTANTS = {
    "a case": ["update audit_case set closed_at = closed_at - interval '9 seconds' where id = {ended_worked}"],
    "an action": [
        "update audit_caseaction set at = at + interval '9 seconds' where type = 'case.proposed'"
        " and case_id = {ended_worked}"
    ],
}


@pytest.mark.parametrize("whose", INSTANTS)
def test_an_instant_is_named_however_little_it_was_moved(played: Played, whose: str) -> None:
    """Nine seconds are before a deadline instead of after it, or a proposal after its approval."""
    played.is_named(INSTANTS[whose], "case {ended_worked} ")
