"""What ``verify --deep`` reads again: it cannot be kept from it, and finds what nights and the ledger are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import time_machine
from django.db import transaction
from django.db.models import Count

from audit.event_store import audit_trail
from audit.ledger.feeding import feed
from audit.models import (
    LedgerBatch,
    LedgerProcess,
    LoggedStream,
    NightRun,
    SessionFigures,
    SlipUse,
    StreamEvidence,
    StreamMoney,
)
from audit.projections.ledger import wrong_ledger
from audit.projections.night_runs import wrong_night_runs
from audit.projections.slip_uses import wrong_slip_uses
from tests import citus
from tests.audit.projections.record import derived, faults, whole_record
from tests.audit.projections.test_casinos import RollBack, forge, named, named_after, unguard_all_tables
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

RUN = "update audit_adjudicationrun set {} where stream_id = {{session}}"

KEPT_FROM_IT = {
    "a run of another engine": RUN.format("engine_version = '1'"),
    "a run that was superseded": RUN.format("state = 'superseded', ended_at = now()"),
    "a run of another session": RUN.format("stream_id = 1"),
    "a run of another number": RUN.format("number = 7"),
    "no run": "delete from audit_adjudicationrun where stream_id = {session}",
    "a newer run": "insert into audit_adjudicationrun (stream_id, casino_id, number, cause, engine_version, state,"
    " register_version, corrections_through, approved, began_at, completed_at, tries, error_type, error)"
    " select stream_id, casino_id, 9, cause, '1', 'running', register_version, corrections_through, approved, now(),"
    " null, 0, '', '' from audit_adjudicationrun where stream_id = {session}",
    "a newer run with the least number": "insert into audit_adjudicationrun (stream_id, casino_id, number, cause,"
    " engine_version, state, register_version, corrections_through, approved, began_at, completed_at, tries,"
    " error_type, error) select stream_id, casino_id, 0, cause, '1', 'running', register_version, corrections_through,"
    " approved, now(), null, 0, '', '' from audit_adjudicationrun where stream_id = {session}",
}
"""Each keeps a session from being adjudicated again. That is named without ``--deep``."""

BYTES = "set_byte({0}, octet_length({0}) / 2, (get_byte({0}, octet_length({0}) / 2) + 1) % 256)"

FIGURES = {
    "figures": "audit_sessionfigures set figures = " + BYTES.format("figures"),
    "win line": "audit_sessionfigures set win_line = '[5, -7]'",
    "faults of its chain": "audit_sessionfigures set faults = 3",
    "corrections that wait": "audit_sessionfigures set waiting = '{{\"seqs\": [3]}}'",
    "sums of money": "audit_streammoney set money = " + BYTES.format("money"),
    "observations": "audit_streamevidence set observations = " + BYTES.format("observations"),
}

FED_MORE = (
    "with more as (insert into audit_ledgerbatch (casino_id, kind, gaming_day, currency, stream_id, last_seq,"
    " log_index, edition, content, number, year, engine_version, error, fed_at) select casino_id, {}, {},"
    " (select max(number) + 1 from audit_ledgerbatch where casino_id = {{casino}}), year, engine_version, '', now()"
    " from audit_ledgerbatch where id = {{batch}})"
    " update audit_ledgercursor set number = number + 1 where casino_id = {{casino}}"
)
SET_ASIDE = (
    "insert into audit_ledgersetaside (casino_id, kind, gaming_day, currency, stream_id, last_seq, log_index,"
    " next_try_at, content, error, tries, began_at) select casino_id, {}, {}, '', 'x', 1, now()"
    " from audit_ledgerbatch where id = {{batch}}"
)
"""Whatever is fed, or set aside, is fed no more."""

LEDGER = {
    "a process that is poorer": "update audit_ledgerprocess set wealth = wealth / 2 where id = {process}",
    "a state of nothing": "update audit_ledgerprocess set state = (select state from audit_ledgerprocess o"
    " where o.id <> {process} order by id limit 1) where id = {process}",
    "a day before the first": "update audit_ledgerprocess set first_day = first_day - 1 where id = {process}",
    "a level out of reach": "update audit_ledgerprocess set alpha = '1/1000000000' where id = {process}",
    "levels out of reach": "update audit_ledgerlevel set alpha = '1/1000000000' where process_id = {process}",
    "a budget of nothing": "update audit_ledgeryear set budget = '1/1000000000' where casino_id = {casino}",
    "a point": "update audit_ledgerpoint set wealth = wealth + 1 where process_id = {process}",
    "a point that is gone": "delete from audit_ledgerpoint where process_id = {process}",
    "a process that is gone": "delete from audit_ledgerprocess where id = {process}",
    "a question that was never asked": "insert into audit_ledgerquestion (process_id, batch_id, year, alpha, draws,"
    " evidence, finding_id, raised_at) values ({process}, {batch}, 2026, '1/2', 1, 1, 1, now())",
    "a session that fed nothing": "with gone as (delete from audit_ledgerpoint where batch_id = {batch})"
    " delete from audit_ledgerbatch where id = {batch}",
    "what a session fed": "update audit_ledgerbatch set content = (select content from audit_ledgerbatch o"
    " where o.kind = 'draws' and o.content <> audit_ledgerbatch.content order by id limit 1) where id = {batch}",
    "what could not be read": "update audit_ledgerbatch set error = 'broken' where id = {batch}",
    "a budget that the cursor has": "update audit_ledgercursor set budget = '1/1000000000' where casino_id = {casino}",
    "a process of an edition to come": "insert into audit_ledgerprocess (casino_id, name, kind, subject, variant,"
    ' generation, "null", state, wealth, highest, opening, year, alpha, sessions, draws, first_day, begun_at,'
    " ended_by, ended_reason, edition) select casino_id, name, kind, subject, variant,"
    ' 9, "null", state, wealth, highest, opening, year, alpha, sessions, draws, first_day, begun_at,'
    " '', '', edition + 1 from audit_ledgerprocess where id = {process}",
    "another edition": "update audit_ledgerbatch set edition = edition + 1 where id = {batch}",
    "the leaf of a close": "update audit_ledgerbatch set log_index = log_index + 1 where id = {batch}",
    "the event of a close": "update audit_ledgerbatch set last_seq = last_seq - 1 where id = {batch}",
    "the day of a session": "update audit_ledgerbatch set gaming_day = gaming_day + 1 where id = {batch}",
    "the currency of a session": "update audit_ledgerbatch set currency = 'XXX' where id = {batch}",
    "an evening that is late": "update audit_ledgerbatch set kind = 'late' where kind = 'evening'"
    " and casino_id = {casino}",
    "a session of before": FED_MORE.format("'draws', gaming_day, currency, {open}, 9, 9", "4, content"),
    "a night that nobody counted": FED_MORE.format(
        "'payouts', gaming_day + 30, currency, null, 0, null", "{edition}, '[]'::bytea"
    ),
    "a count of nothing": FED_MORE.format(
        "'count', gaming_day, currency, {open}, 9, null",
        "{edition}, "
        """convert_to('{{"table":"T1","team":"","shift":"","variance":0}}', 'UTF8')""",
    ),
    "a session that is set aside": SET_ASIDE.format("'draws', gaming_day, currency, {open}, 9, 9", "now()"),
    "a night that is set aside": SET_ASIDE.format("'payouts', gaming_day + 30, currency, null, 0, null", "now()"),
    "a session that waits for years": SET_ASIDE.format(
        "kind, gaming_day, currency, stream_id, last_seq, log_index", "now() + interval '10 years'"
    ),
    "a cursor that has passed nothing": "update audit_ledgercursor set number = number + 1 where casino_id = {casino}",
}


class Fed:
    """A casino with nights and a ledger that its sessions have fed."""

    def __init__(self) -> None:
        self.record = whole_record()
        self.casino = self.record.casino
        feed(self.casino)
        seal()
        stream = self.record.tenant.stream(self.record.name("dice"))
        self.batch = LedgerBatch.objects.filter(casino=self.casino, kind="draws").earliest("number")
        self.names = {
            "session": stream.pk,
            "open": self.record.tenant.stream(self.record.name("open")).pk,
            "use": SlipUse.objects.filter(casino=self.casino).earliest("pk").pk,
            "run": NightRun.objects.filter(casino=self.casino).latest("pk").pk,
            "edition": self.batch.edition,
            "casino": self.casino.pk,
            "batch": self.batch.pk,
            "process": LedgerProcess.objects.filter(points__batch=self.batch).earliest("pk").pk,
        }

    def forge(self, statement: str) -> None:
        forge(statement, **self.names)


@pytest.fixture(scope=citus.MODULE)
def fed(_committed_before: None) -> Fed:
    fed = Fed()
    assert faults(deep=True) == []
    unguard_all_tables()
    return fed


SLIPS = {
    "another slip": "update audit_slipuse set slip = 'F-999' where id = {use}",
    "a slip of another number": "update audit_slipuse set number = number + 5 where id = {use}",
    "a slip of another series": "update audit_slipuse set series = 'G-' where id = {use}",
    "a slip of another day": "update audit_slipuse set gaming_day = gaming_day - 1 where id = {use}",
    "a slip of another currency": "update audit_slipuse set currency = 'XXX' where id = {use}",
    "a slip that is gone": "delete from audit_slipuse where id = {use}",
    "a slip used twice": "insert into audit_slipuse (casino_id, currency, gaming_day, stream_id, seq, slip, series,"
    " number) select casino_id, currency, gaming_day, stream_id, seq + 9, slip, series, number from audit_slipuse"
    " where id = {use}",
    "a slip of a session that there is not": "update audit_slipuse set stream_id = 7 where id = {use}",
    "a slip of another event": "update audit_slipuse set seq = seq + 100 where id = {use}",
    "a slip that was never used": "insert into audit_slipuse (casino_id, currency, gaming_day, stream_id, seq, slip,"
    " series, number) select casino_id, currency, gaming_day, {session}, 3, slip, series, number from audit_slipuse"
    " where id = {use}",
}


def test_slips_are_what_the_sessions_of_a_night_used(fed: Fed) -> None:
    silent = []
    for what, statement in SLIPS.items():
        try:
            with transaction.atomic():
                fed.forge(statement)
                silent += [what] if not list(wrong_slip_uses(fed.casino.pk)) else []
                raise RollBack
        except RollBack:
            pass
    assert silent == []


RUNS = {
    "what a run has read": "through = '{{}}'",
    "a run that ended later": "ended_at = '2099-01-01'",
    "a run that goes on": "ended_at = null",
    "a run of another day": "gaming_day = gaming_day + 1",
    "a run that somebody else began": "started_by = 'nobody'",
    "a run that began later": "started_at = started_at + interval '1 hour'",
}

RUN_OF_NOBODY = (
    "insert into audit_nightrun (casino_id, gaming_day, started_at, started_by, ended_at, through, error) select"
    " casino_id, gaming_day, now(), started_by, now(), through, '' from audit_nightrun where id = {run}"
)


def test_what_a_night_need_not_read_again_is_what_its_run_has_read(fed: Fed) -> None:
    attacks = {what: f"update audit_nightrun set {change} where id = {{run}}" for what, change in RUNS.items()}
    attacks |= {"a run of nobody": RUN_OF_NOBODY, "a run that is gone": "delete from audit_nightrun where id = {run}"}
    silent = []
    for what, statement in attacks.items():
        try:
            with transaction.atomic():
                fed.forge(statement)
                silent += [what] if not list(wrong_night_runs(fed.casino.pk)) else []
                raise RollBack
        except RollBack:
            pass
    assert silent == []


def test_who_says_that_a_run_was_begun_says_what_it_reads(fed: Fed) -> None:
    run = NightRun.objects.get(pk=fed.names["run"])
    with transaction.atomic():
        forged = NightRun.objects.create(
            casino=run.casino, gaming_day=run.gaming_day, started_by="ada", through=run.through
        )
        data = {"gaming_day": run.gaming_day.isoformat(), "run": forged.pk}
        audit_trail.record("ada", "night.started", casino_id=fed.casino.pk, data=data)
        [wrong] = wrong_night_runs(fed.casino.pk)
        assert f"does not say what run {forged.pk} reads" in wrong.what
        transaction.set_rollback(True)


def fed_wrong(fed: Fed, statement: str) -> str:
    """Return what is wrong with the ledger after an attack, which is rolled back."""
    try:
        with transaction.atomic():
            fed.forge(statement)
            found = "\n".join(wrong.what for wrong in wrong_ledger(fed.casino.pk))
            raise RollBack
    except RollBack:
        return found


def judged_once(fed: Fed) -> list[tuple[int, str]]:
    """Return the sessions that one run has judged, each by id and name."""
    own = LoggedStream.objects.filter(casino=fed.casino).annotate(read_by=Count("runs"))
    return list(own.filter(read_by=1).order_by("pk").values_list("pk", "name"))


def each_on_a_session_of_its_own(fed: Fed) -> None:
    for statement, (stream_id, _name) in zip(KEPT_FROM_IT.values(), judged_once(fed), strict=False):
        forge(statement, **(fed.names | {"session": stream_id}))


def test_what_is_kept_of_sessions_is_read_again(fed: Fed) -> None:
    for model in (SessionFigures, StreamMoney, StreamEvidence):
        assert model.objects.filter(stream__casino=fed.casino).exists()
    kept = named_after(partial(each_on_a_session_of_its_own, fed)).splitlines()
    sessions = dict(zip(KEPT_FROM_IT, judged_once(fed), strict=False))
    assert len(sessions) == len(KEPT_FROM_IT)
    assert [what for what, (_id, name) in sessions.items() if not any(f"run of {name}" in each for each in kept)] == []
    ledger = {what: fed_wrong(fed, statement) for what, statement in LEDGER.items()}
    assert [what for what, found in ledger.items() if not found] == []
    own = " where stream_id in (select stream_id from log.stream where casino_id = {casino})"
    for change in FIGURES.values():
        fed.forge(f"update {change}{own}")
    found = named(deep=True)
    assert [what for what in FIGURES if f"its {what} are not what its events give" not in found] == []


def test_each_session_is_adjudicated_again_or_named(fed: Fed) -> None:
    sessions = LoggedStream.objects.filter(casino=fed.casino, is_of_desk=False).count()
    figures = derived(fed.casino.pk, deep=True).figures
    assert (figures.again, figures.passed_over) == (sessions, {})
    fed.forge("update audit_adjudicationrun set engine_version = '1' where stream_id = {session}")
    figures = derived(fed.casino.pk, deep=True).figures
    assert figures.again == sessions - 1
    assert figures.passed_over == {fed.record.name("dice"): "engine 1 judged it"}


def test_a_session_that_was_adjudicated_and_is_not_again_is_a_fault_after_a_day(fed: Fed) -> None:
    fed.forge("update audit_adjudicationrun set replaces_id = id, completed_at = null, state = 'running'" + OF_SESSION)
    not_again = "it was adjudicated, and is not adjudicated again: its run is to replace another"
    assert not_again not in named(deep=True), "it may be read anew just now"
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=25)):
        assert not_again in named(deep=True)


OF_SESSION = " where stream_id = {session}"


WITHOUT_DUTY = "convert_to((convert_from(figures, 'UTF8')::jsonb - 'duty')::text, 'UTF8')"


OWN = " where stream_id in (select stream_id from log.stream where casino_id = {casino})"


def test_figures_that_lost_who_was_on_duty_are_named(fed: Fed) -> None:
    fed.forge(f"update audit_sessionfigures set figures = {WITHOUT_DUTY}{OWN}")
    assert "its figures are not what its events give" in named(deep=True)
    fed.forge(f"update audit_sessionfigures set made_at = '2020-01-01'{OWN}")
    assert "its figures are not what its events give" in named(deep=True), "the log has when its events came"
