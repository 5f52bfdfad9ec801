"""What a web process keeps of the database: never what a commit has changed, and asked for once while none has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import time_machine
from django.db import connection, connections, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.test import RequestFactory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.access.database_roles import WORKER
from audit.casework.priority import DUE
from audit.desk import prepared as prepared_statements
from audit.desk import unchanged
from audit.desk.prepared import prepared
from audit.desk.unchanged import KEPT_FOR, while_unchanged
from audit.models import NOTED, Case, Casino, Change, Finding, LoggedStream, Person
from audit.tasks import forget_changes
from tests.audit.casework.test_actions import Desk
from tests.audit.tables import Tenant
from tests.databases import address_of
from tests.roles import acting_as

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db(transaction=True)]

NOW = datetime(2031, 1, 2, 12, tzinfo=UTC)
"""A moment at which no case of these tests is due, unless one is made so."""

INSTANT = timedelta(microseconds=1)
WAIT_S = 60
"""For another thread, which does not take as long unless it hangs."""


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    unchanged.forget()
    yield
    unchanged.forget()


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def long_but_for(short: Any, values: Sequence[Any]) -> list[Any]:
    """Return ``values`` as parameters of a test, all but ``short`` among the long forms."""
    return [each if each == short else pytest.param(each, marks=pytest.mark.faults) for each in values]


def get() -> HttpRequest:
    return RequestFactory().get("/")


class Question:
    """What is asked of the database, and how often it was."""

    def __init__(self, ask: Callable[[], Any], *tables: str, key: Any = "question", is_of_now: bool = False) -> None:
        self.ask, self.tables, self.key, self.is_of_now = ask, tables, key, is_of_now
        self.times = 0

    def __call__(self, request: HttpRequest | None = None) -> Any:
        return while_unchanged(request or get(), self.key, self._answered, is_of_now=self.is_of_now)

    def _answered(self) -> tuple[Any, Collection[str]]:
        self.times += 1
        return self.ask(), self.tables


def names() -> list[str]:
    return list(Casino.objects.order_by("pk").values_list("name", flat=True))


def of_casinos(**of: Any) -> Question:
    return Question(names, "audit_casino", **of)


DEADLINE = "update audit_case set deadline = %s where id = %s"
RENAME = "update audit_casino set name = %s where id = %s"


@contextmanager
def elsewhere() -> Iterator[psycopg.Connection[Any]]:
    """Yield a superuser's connection of another process, in a transaction from its first statement on."""
    with psycopg.connect(address_of(connection.settings_dict["NAME"])) as other:
        yield other
        other.rollback()


def commit_elsewhere(statement: str, parameters: Sequence[Any] = ()) -> None:
    with elsewhere() as other:
        other.execute(statement, parameters)  # type: ignore[call-overload]
        other.commit()


# What has changed is asked for again


def test_nothing_is_asked_twice_while_nothing_has_changed() -> None:
    Tenant()
    question = of_casinos()
    assert question() == question() == question() == names()
    assert question.times == 1


STATEMENTS = (
    "insert into {0} ({1}) select {1} from {0} where false",
    "insert into {0} ({1}) select {1} from {0} where false on conflict do nothing",
    "update {0} set {1} = {1} where false",
    "delete from {0} where false",
    "truncate {0} cascade",
    "with of_it as (update {0} set {1} = {1} where false returning 1) select count(*) from of_it",
    "merge into {0} t using {0} s on false when matched then delete",
)
"""What may change a table, but for its name and that of a column. None changes a row here: that it might, counts."""


@pytest.mark.parametrize("table", long_but_for("audit_finding", NOTED))
def test_each_statement_on_a_table_is_noticed_once_it_is_committed(table: str) -> None:
    question = Question(list, table)
    for number, statement in enumerate(STATEMENTS, start=1):
        question()
        question()
        with elsewhere() as other:
            (column,) = other.execute(
                "select attname from pg_attribute where attrelid = %s::regclass and attnum = 1", (table,)
            ).fetchone() or ("",)
            other.execute(statement.format(table, column))  # type: ignore[call-overload]
            question()
            assert question.times == number, "not before"
            other.commit()
        question()
        assert question.times == number + 1, statement


@pytest.mark.faults
def test_rows_copied_into_a_table_are_noticed() -> None:
    tenant = Tenant()
    question = Question(tenant.casino.tables.count, "audit_gamingtable")
    before = question()
    with elsewhere() as other:
        row = other.execute("select * from audit_gamingtable where id = %s", (tenant.table.pk,)).fetchone()
        assert row is not None
        columns = [each.name for each in other.execute("select * from audit_gamingtable limit 0").description or ()]
        values = dict(zip(columns, row, strict=True)) | {"id": 2**40, "code": "T-copied"}
        with other.cursor() as cursor, cursor.copy("copy audit_gamingtable from stdin") as copy:
            copy.write_row(list(values.values()))
        other.commit()
    assert question() == before + 1


def test_a_row_changed_by_the_orm_of_this_process_is_noticed() -> None:
    tenant = Tenant()
    question = Question(tenant.casino.tables.count, "audit_gamingtable")
    before = question()
    tenant.casino.tables.create(code="T2")
    assert question() == before + 1
    with transaction.atomic():
        tenant.casino.tables.create(code="T3")
    assert question() == before + 2
    assert question.times == 3


@pytest.mark.faults
def test_a_row_that_a_trigger_changes_is_noticed() -> None:
    Tenant()
    question = of_casinos()
    question()
    with elsewhere() as other:
        other.execute("create temporary table another (n int)")
        other.execute(
            "create function pg_temp.rename() returns trigger language plpgsql as"
            " $$ begin update public.audit_casino set name = 'by a trigger'; return null; end $$"
        )
        other.execute(
            "create constraint trigger rename after insert on another deferrable initially deferred"
            " for each row execute function pg_temp.rename()"
        )
        other.execute("insert into another values (1)")
        other.commit()  # changes it
    assert question() == ["by a trigger"]


@contextmanager
def counted(text: str) -> Iterator[list[str]]:
    """Collect Django's statements that have ``text``."""
    found: list[str] = []

    def noted(execute: Any, sql: str, *rest: Any) -> Any:
        found.extend([sql] if text in sql else [])
        return execute(sql, *rest)

    with connection.execute_wrapper(noted):
        yield found


def test_a_request_looks_for_changes_once_however_much_it_asks() -> None:
    request = get()
    with counted(LOOKS) as looks:
        for number in range(5):
            of_casinos(key=number)(request)
        assert len(looks) == 1
        of_casinos(key=0)()
        assert len(looks) == 2


@pytest.mark.faults
def test_when_the_next_case_is_due_is_asked_for_once_a_change_of_cases() -> None:
    with counted("min(deadline") as statements:
        for _ in range(2):
            for number in range(5):
                of_casinos(key=number, is_of_now=True)()
            commit_elsewhere("update audit_casino set name = name")
        assert len(statements) == 1
        commit_elsewhere("update audit_case set weight = weight")
        of_casinos(key=0, is_of_now=True)()
        assert len(statements) == 2


@pytest.mark.faults
def test_changes_of_unrelated_tables_ask_for_nothing() -> None:
    tenant = Tenant()
    question = of_casinos()
    question()
    for table in [each for each in NOTED if each != "audit_casino"]:
        commit_elsewhere(f"delete from {table} where false")
    Person.objects.create(casino=tenant.casino, code="p1", name="Ada", kind="player")
    question()
    assert question.times == 1


@pytest.mark.faults
def test_each_of_several_tables_asks_again() -> None:
    question = Question(list, *NOTED)
    for number, table in enumerate(NOTED, start=1):
        question()
        question()
        assert question.times == number
        commit_elsewhere(f"delete from {table} where false")


# Transactions


def test_a_transaction_that_began_before_the_answer_was_kept_is_noticed_when_it_is_committed() -> None:
    tenant = Tenant()
    question = of_casinos()
    with elsewhere() as other:
        other.execute(RENAME, ("later", tenant.casino.pk))
        old = names()
        assert question() == question() == old
        commit_elsewhere("create temporary table another (n int)")  # by a later transaction
        assert question() == old
        assert question.times == 1
        other.commit()
    assert question() == ["later"]
    assert question() == ["later"]
    assert question.times == 2


@pytest.mark.faults
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_transactions_are_noticed_in_whichever_order_they_are_committed(order: Sequence[int]) -> None:
    tenants = [Tenant() for _ in range(3)]
    question = of_casinos()
    question()
    with elsewhere() as one, elsewhere() as two, elsewhere() as three:
        others = (one, two, three)
        for number, (other, tenant) in enumerate(zip(others, tenants, strict=True)):
            other.execute(RENAME, (f"n{number}", tenant.casino.pk))
            question()
        assert question.times == 1
        for committed, number in enumerate(order, start=1):
            others[number].commit()
            assert question() == question() == names()
            assert question.times == 1 + committed


@pytest.mark.faults
def test_a_transaction_is_noticed_though_many_began_and_ended_since_it_did() -> None:
    first, second = Tenant(), Tenant()
    question = of_casinos()
    with elsewhere() as slow:
        slow.execute(RENAME, ("slow", first.casino.pk))
        for number in range(5):
            commit_elsewhere(RENAME, (f"n{number}", second.casino.pk))
            assert question() == names()
        slow.commit()
    assert question() == ["slow", "n4"]


def test_what_is_rolled_back_asks_for_nothing_and_is_never_shown() -> None:
    tenant = Tenant()
    old = names()
    question = of_casinos()
    with elsewhere() as other:
        other.execute(RENAME, ("never", tenant.casino.pk))
        assert question() == old
        other.rollback()
    assert question() == old
    assert question.times == 1


@pytest.mark.faults
def test_a_savepoint_that_is_rolled_back_hides_no_change_after_it() -> None:
    tenant = Tenant()
    question = of_casinos()
    old = question()
    with elsewhere() as other:
        other.execute("savepoint s")
        other.execute(RENAME, ("never", tenant.casino.pk))
        other.execute("rollback to s")
        other.commit()
        assert question() == old
        other.execute("savepoint s")
        other.execute(RENAME, ("never", tenant.casino.pk))
        other.execute("rollback to s")
        other.execute(RENAME, ("after it", tenant.casino.pk))
        other.execute("savepoint t")
        other.execute(RENAME, ("never", tenant.casino.pk))
        other.execute("rollback to t")
        assert question() == old
        other.commit()
    assert question() == ["after it"]


@pytest.mark.faults
def test_a_savepoint_that_is_released_is_a_change() -> None:
    tenant = Tenant()
    question = of_casinos()
    tables = Question(tenant.casino.tables.count, "audit_gamingtable", key="tables")
    question()
    assert tables() == 1
    with transaction.atomic(), transaction.atomic():
        tenant.casino.tables.create(code="inner")
    with elsewhere() as other, other.transaction(), other.transaction():
        other.execute(RENAME, ("inner", tenant.casino.pk))
    assert (question(), tables()) == (["inner"], 2)


class Interleaved:
    """Three transactions of others, each of which renames a casino of its own, and a process that asks."""

    def __init__(self, others: Sequence[psycopg.Connection[Any]], casinos: Sequence[int]) -> None:
        self.others, self.casinos = others, casinos
        self.question = of_casinos()
        self.written: list[bool] = [False] * len(others)
        self.is_new, self.number, self.times = True, 0, 0

    def step(self, action: str, number: int) -> None:
        other = self.others[number]
        self.number += 1
        match action:
            case "write":
                other.execute(RENAME, (f"n{self.number}", self.casinos[number]))
                self.written[number] = True
            case "write in vain":
                other.execute("savepoint s")
                other.execute(RENAME, ("never", self.casinos[number]))
                other.execute("rollback to s")
            case "write elsewhere":
                other.execute("delete from audit_registerentry where false")
            case "commit":
                other.commit()
                self.is_new |= self.written[number]
                self.written[number] = False
            case "roll back":
                other.rollback()
                self.written[number] = False
            case "ask":
                self.times += self.is_new
                self.is_new = False
                assert self.question() == names()
                assert self.question.times == self.times


ACTIONS = ("write", "write in vain", "write elsewhere", "commit", "commit", "roll back", "ask", "ask")


@pytest.mark.faults
def test_however_transactions_interleave_what_is_committed_is_shown_and_asked_for_once() -> None:
    casinos = [Tenant().casino.pk for _ in range(3)]
    with elsewhere() as one, elsewhere() as two, elsewhere() as three:

        @settings(suppress_health_check=list(HealthCheck), deadline=None)
        @given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 2)), min_size=5, max_size=30))
        def interleaved(steps: list[tuple[str, int]]) -> None:
            for each in (one, two, three):
                each.rollback()
            unchanged.forget()
            played = Interleaved((one, two, three), casinos)
            for action, number in steps:
                played.step(action, number)
            played.step("ask", 0)

        interleaved()


# Who is asked again whatever is kept


@pytest.mark.parametrize("method", long_but_for("POST", ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")))
def test_a_request_that_may_change_something_always_asks_and_keeps_nothing(method: str) -> None:
    Tenant()
    question = of_casinos()
    question()
    for _ in range(2):
        assert question(RequestFactory().generic(method, "/")) == names()
    assert question.times == 3
    unchanged.forget()
    question(RequestFactory().generic(method, "/"))
    question()
    assert question.times == 5, "what it found is not kept"


@pytest.mark.faults
def test_a_request_for_the_head_of_a_page_is_one_that_reads() -> None:
    question = of_casinos()
    question(RequestFactory().head("/"))
    question()
    assert question.times == 1


def test_within_a_transaction_it_is_asked_and_nothing_of_it_is_kept() -> None:
    tenant = Tenant()
    question = Question(tenant.casino.tables.count, "audit_gamingtable")
    assert question() == 1
    with transaction.atomic():
        tenant.casino.tables.create(code="T2")
        assert question() == 2, "what the transaction itself has changed"
        transaction.set_rollback(True)
    assert question() == 1
    unchanged.forget()
    with transaction.atomic():
        tenant.casino.tables.create(code="T2")
        assert question() == 2
        transaction.set_rollback(True)
    assert question() == 1, "a transaction that was rolled back leaves nothing of its own"


@pytest.mark.faults
def test_a_request_that_asked_within_a_transaction_sees_what_was_changed_before_its_next_question() -> None:
    Tenant()
    question = of_casinos()
    question()
    request = get()
    with transaction.atomic():
        question(request)
    commit_elsewhere("update audit_casino set name = 'meanwhile'")
    assert question(request) == ["meanwhile"]


@pytest.mark.faults
@pytest.mark.parametrize(
    "tables",
    [(), ("audit_person",), ("audit_finding", "audit_person"), ("audit_change",), ("audit_officer_user_permissions",)],
)
def test_what_is_not_noted_is_not_kept(tables: tuple[str, ...]) -> None:
    question = Question(list, *tables)
    question()
    question()
    assert question.times == 2


@pytest.mark.faults
def test_what_fails_is_not_kept() -> None:
    question = of_casinos()

    def fail() -> None:
        raise RuntimeError

    question.ask = fail
    for _ in range(2):
        with pytest.raises(RuntimeError):
            question()
    question.ask = names
    assert question() == []
    assert question.times == 3


def test_an_answer_is_that_of_its_key_alone() -> None:
    one, two = Question(lambda: 1, "audit_casino", key=("of", 1)), Question(lambda: 2, "audit_casino", key=("of", 2))
    assert [one(), two(), one(), two()] == [1, 2, 1, 2]
    assert (one.times, two.times) == (1, 1)


@pytest.mark.faults
def test_an_answer_is_that_of_its_database_alone(migrated_url: str) -> None:
    Tenant()
    question = of_casinos()
    own = question()
    here = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = urlsplit(migrated_url).path[1:]
    try:
        assert question() == []
    finally:
        connection.close()
        connection.settings_dict["NAME"] = here
    assert question() == own != []


@pytest.mark.faults
def test_answers_beyond_those_that_are_kept_are_right_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "MOST", 3)
    questions = [Question(lambda n=n: n, "audit_casino", key=n) for n in range(10)]
    for _ in range(2):
        assert [question() for question in questions] == list(range(10))
        assert len(unchanged._known.kept) <= 3


@pytest.mark.faults
def test_none_and_nothing_are_answers_that_are_kept() -> None:
    for answer in (None, (), 0, False):
        question = Question(lambda answer=answer: answer, "audit_casino", key=("answer", repr(answer)))
        assert question() is question() is answer
        assert question.times == 1


# Time


def test_an_answer_is_kept_for_a_minute_at_most(clock: time_machine.Traveller) -> None:
    question = of_casinos()
    question()
    question()
    clock.move_to(NOW + KEPT_FOR - INSTANT)
    question()
    assert question.times == 1
    clock.move_to(NOW + KEPT_FOR)
    question()
    assert question.times == 2, "by then it is a minute old"
    clock.move_to(NOW + 2 * KEPT_FOR - INSTANT)
    question()
    assert question.times == 2


@pytest.mark.faults
@pytest.mark.parametrize("gone", [INSTANT, timedelta(hours=3), timedelta(days=2)])
def test_time_that_goes_back_asks_again(clock: time_machine.Traveller, gone: timedelta) -> None:
    Tenant()
    question = of_casinos()
    question()
    clock.move_to(NOW - gone)
    question()
    assert question.times == 2
    commit_elsewhere("update audit_casino set name = 'before'")
    assert question() == ["before"]
    clock.move_to(NOW)
    commit_elsewhere("update audit_casino set name = 'again'")
    assert question() == ["again"]


@pytest.mark.faults
def test_a_process_that_looks_often_keeps_its_answers_however_long_it_runs(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "KEPT_FOR", timedelta(days=3))
    question = of_casinos()
    for _ in range(4):
        question()
        clock.shift(timedelta(minutes=59))
    assert question.times == 1


@pytest.mark.faults
@pytest.mark.parametrize("gone", [timedelta(minutes=30), timedelta(hours=1), timedelta(days=2)])
def test_after_however_long_what_has_changed_meanwhile_is_noticed(
    clock: time_machine.Traveller, gone: timedelta
) -> None:
    Tenant()
    question = of_casinos()
    question()
    commit_elsewhere("update audit_casino set name = 'meanwhile'")
    clock.move_to(NOW + gone)
    if gone > timedelta(days=1):
        commit_elsewhere("delete from audit_change")
    assert question() == ["meanwhile"]
    commit_elsewhere("update audit_casino set name = 'then'")
    assert question() == ["then"]


@pytest.mark.faults
def test_who_has_not_looked_for_an_hour_asks_for_everything_anew(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of changes are forgotten: an answer is not kept by what nobody can know any more."""
    monkeypatch.setattr(unchanged, "KEPT_FOR", timedelta(days=3))
    Tenant()
    question = of_casinos()
    question()
    commit_elsewhere("update audit_casino set name = 'meanwhile'")
    commit_elsewhere("delete from audit_change")
    clock.move_to(NOW + timedelta(hours=1))
    assert question() == ["meanwhile"]


@pytest.fixture
def due() -> Case:
    """A case whose deadline is ten days after ``NOW``; those of the others are long after that."""
    desk = Desk()
    commit_elsewhere("update audit_case set deadline = %s", (NOW + timedelta(days=3_000),))
    commit_elsewhere(DEADLINE, (NOW + timedelta(days=10), desk.case.pk))
    return desk.case


@pytest.mark.parametrize("ends", long_but_for(DUE[0], DUE))
def test_an_answer_of_now_changes_when_a_deadline_passes_a_bound(
    due: Case, clock: time_machine.Traveller, ends: timedelta
) -> None:
    passes = due.deadline - ends

    def are_due() -> int:
        return Case.objects.filter(deadline__lt=unchanged.timezone.now() + ends).count()

    clock.move_to(passes - timedelta(seconds=20))
    late = Question(are_due, "audit_case", key="late", is_of_now=True)
    timeless = Question(are_due, "audit_case", key="timeless")
    assert (late(), timeless()) == (0, 0)
    clock.move_to(passes - INSTANT)
    assert (late(), late.times) == (0, 1)
    clock.move_to(passes)
    assert late() == are_due() == 0
    clock.move_to(passes + INSTANT)
    assert (late(), timeless()) == (1, 0)
    times = late.times
    clock.move_to(passes + timedelta(seconds=30))
    assert late() == 1
    assert late.times == times, "until the next bound it is kept again"


@pytest.mark.faults
def test_a_deadline_that_comes_nearer_shortens_how_long_an_answer_holds(
    due: Case, clock: time_machine.Traveller
) -> None:
    def are_late() -> int:
        return Case.objects.filter(deadline__lt=unchanged.timezone.now()).count()

    late = Question(are_late, "audit_case", is_of_now=True)
    assert (late(), late()) == (0, 0)
    commit_elsewhere(DEADLINE, (NOW + timedelta(seconds=10), due.pk))
    assert late() == 0
    clock.move_to(NOW + timedelta(seconds=10) + INSTANT)
    assert late() == 1


@pytest.mark.faults
def test_an_answer_of_now_is_kept_for_a_minute_at_most_where_the_next_deadline_is_far(
    due: Case, clock: time_machine.Traveller
) -> None:
    clock.move_to(due.deadline - timedelta(hours=2))
    question = Question(list, "audit_case", is_of_now=True)
    question()
    clock.shift(KEPT_FOR - INSTANT)
    question()
    assert question.times == 1
    clock.shift(INSTANT)
    question()
    assert question.times == 2


@pytest.mark.faults
def test_a_deadline_that_passes_between_the_look_of_a_request_and_its_question_is_seen_by_the_next(
    due: Case, clock: time_machine.Traveller
) -> None:
    """A query may have been put together before the deadline, and be asked after it."""
    clock.move_to(due.deadline - timedelta(seconds=1))
    request = get()
    of_casinos(key="looks")(request)
    clock.move_to(due.deadline + timedelta(seconds=1))
    question = Question(list, "audit_case", is_of_now=True)
    question(request)
    clock.shift(timedelta(seconds=1))
    question()
    assert question.times == 2


@pytest.mark.faults
def test_a_moment_at_which_nothing_is_due_any_more_keeps_an_answer_for_a_minute(
    due: Case, clock: time_machine.Traveller
) -> None:
    clock.move_to(NOW + timedelta(days=9_000))
    question = Question(list, "audit_case", is_of_now=True)
    question()
    clock.shift(KEPT_FOR - INSTANT)
    question()
    assert question.times == 1
    clock.shift(INSTANT)
    question()
    assert question.times == 2


# Threads


class Paused:
    """A statement of one thread at which it stops, before or after PostgreSQL has answered, until it is let go on."""

    def __init__(self, text: str, *, is_after: bool = False) -> None:
        self.text, self.is_after = text, is_after
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        if self.text not in sql or self.reached.is_set():
            return execute(sql, *rest)
        if not self.is_after:
            self._wait()
            return execute(sql, *rest)
        found = execute(sql, *rest)
        self._wait()
        return found

    def _wait(self) -> None:
        self.reached.set()
        assert self.go_on.wait(WAIT_S)


class InThread:
    """A request in a thread of its own, on a connection of its own."""

    def __init__(self, question: Callable[[HttpRequest], Any], *, paused: Paused | None = None) -> None:
        self.answers: list[Any] = []
        self.error: BaseException | None = None
        self._question, self._paused = question, paused
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if paused is not None:
            assert paused.reached.wait(WAIT_S), self.error

    def _run(self) -> None:
        try:
            request = get()
            if self._paused is None:
                self.answers.append(self._question(request))
            else:
                with connection.execute_wrapper(self._paused):
                    self.answers.append(self._question(request))
        except BaseException as error:
            self.error = error
        finally:
            connections.close_all()

    def ended(self) -> Any:
        if self._paused is not None:
            self._paused.go_on.set()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.answers[-1]

    def has_ended_soon(self) -> bool:
        """Return whether it has ended, having given it a moment: one that waits for a lock has not."""
        self._thread.join(0.3)
        return not self._thread.is_alive()


LOOKS = "pg_current_snapshot"
ASKS = '"audit_casino"."name"'


def test_an_answer_that_was_read_before_a_commit_and_kept_after_it_is_not_served() -> None:
    """The slow request keeps what it has read last, over what the fast one has kept."""
    Tenant()
    question = of_casinos()
    slow = InThread(question, paused=Paused(ASKS, is_after=True))
    commit_elsewhere("update audit_casino set name = 'new'")
    assert question() == ["new"]
    assert slow.ended() != ["new"]
    assert question() == ["new"]


@pytest.mark.faults
def test_a_request_that_looked_before_a_commit_keeps_nothing_for_one_that_looks_after_it() -> None:
    Tenant()
    question, other = of_casinos(), of_casinos(key="other")
    question()
    slow = InThread(question, paused=Paused(LOOKS, is_after=True))
    commit_elsewhere("update audit_casino set name = 'new'")
    fast = InThread(other)
    slow.ended()
    assert fast.ended() == ["new"]
    assert (question(), other()) == (["new"], ["new"])


@pytest.mark.faults
def test_a_request_waits_for_one_that_looks_and_sees_what_was_committed_meanwhile() -> None:
    Tenant()
    question = of_casinos()
    question()
    slow = InThread(question, paused=Paused(LOOKS))
    commit_elsewhere("update audit_casino set name = 'new'")
    fast = InThread(question)
    fast.has_ended_soon()
    slow.ended()
    assert fast.ended() == ["new"]


@pytest.mark.faults
def test_a_change_that_one_thread_is_about_to_say_is_not_missed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks later has the say: between a thread's look and what it makes of that, no other looks."""
    Tenant()
    question = of_casinos()
    question()
    commit_elsewhere("update audit_casino set name = 'new'")
    reached, go_on = threading.Event(), threading.Event()

    def numbers() -> Iterator[int]:
        reached.set()
        assert go_on.wait(WAIT_S)
        yield from range(10**9, 2 * 10**9)

    monkeypatch.setattr(unchanged, "_numbers", numbers())
    slow = InThread(question)
    assert reached.wait(WAIT_S)
    fast = InThread(question)
    is_early = fast.has_ended_soon()
    go_on.set()
    slow.ended()
    assert fast.ended() == ["new"], is_early


@pytest.mark.faults
def test_a_commit_while_a_request_begins_anew_is_not_missed_by_what_another_keeps(
    clock: time_machine.Traveller,
) -> None:
    """A request read the clock, then another one did and looked; the first is next to look, and begins anew.

    What the other keeps meanwhile is from before the first one's snapshot: a commit between the two has to be seen.
    """
    Tenant()
    warm, question = Question(list, "audit_gamingtable", key="warm"), of_casinos()
    begun = get()
    warm(begun)
    clock.move_to(NOW - INSTANT)  # what the thread's clock says: it was read before that of ``begun``
    slow = InThread(warm, paused=Paused(LOOKS))
    clock.move_to(NOW)
    old = question(begun)
    commit_elsewhere("update audit_casino set name = 'new'")
    assert old != ["new"]
    slow.ended()
    assert question() == ["new"]


@pytest.mark.faults
def test_a_commit_while_a_request_begins_anew_after_an_hour_is_not_missed(clock: time_machine.Traveller) -> None:
    """The same after an hour without a request, of one that has lasted as long."""
    Tenant()
    warm, question = Question(list, "audit_gamingtable", key="warm"), of_casinos()
    begun = get()
    warm(begun)
    clock.shift(timedelta(hours=1))
    slow = InThread(warm, paused=Paused(LOOKS))
    question(begun)
    commit_elsewhere("update audit_casino set name = 'new'")
    slow.ended()
    assert question() == ["new"]


@pytest.mark.faults
def test_what_a_running_request_keeps_after_everything_was_forgotten_is_not_served() -> None:
    Tenant()
    question = of_casinos()
    slow = InThread(question, paused=Paused(ASKS, is_after=True))
    unchanged.forget()
    commit_elsewhere("update audit_casino set name = 'new'")
    slow.ended()
    assert question() == ["new"]


@pytest.mark.faults
def test_what_a_running_request_keeps_after_another_one_began_anew_is_not_served(clock: time_machine.Traveller) -> None:
    Tenant()
    question = of_casinos()
    slow = InThread(question, paused=Paused(ASKS, is_after=True))
    commit_elsewhere("update audit_casino set name = 'new'")
    clock.move_to(NOW - INSTANT)
    of_casinos(key="of one whose clock was read before")()
    slow.ended()
    clock.move_to(NOW)
    assert question() == ["new"]


@pytest.mark.faults
def test_many_threads_at_once_never_see_an_older_state_than_was_committed_when_they_began() -> None:
    """Each round, all look at once while one of them commits; each name is a number that only grows."""
    tenant = Tenant()
    committed = [0]
    wrong: list[tuple[int, list[str]]] = []
    question = of_casinos()
    gate = threading.Barrier(4)

    def ask() -> None:
        try:
            for _ in range(25):
                gate.wait(WAIT_S)
                least = committed[0]
                found = question(get())
                if int(found[0]) < least:
                    wrong.append((least, found))
        finally:
            connections.close_all()

    def write() -> None:
        with elsewhere() as other:
            for number in range(1, 26):
                gate.wait(WAIT_S)
                other.execute(RENAME, (str(number), tenant.casino.pk))
                other.commit()
                committed[0] = number

    commit_elsewhere(RENAME, ("0", tenant.casino.pk))
    threads = [threading.Thread(target=each, daemon=True) for each in (write, ask, ask, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong
    assert question() == ["25"]


# The tables


def test_changes_are_forgotten_after_a_day_by_a_worker_and_no_sooner() -> None:
    commit_elsewhere("update audit_case set weight = weight")
    commit_elsewhere("update audit_casino set name = name")
    older = "update audit_change set at = at - interval '{}' where relation = %s"
    commit_elsewhere(older.format("24 hours 1 minute"), ["audit_case"])
    commit_elsewhere(older.format("23 hours 59 minutes"), ["audit_casino"])
    old = Change.objects.filter(relation="audit_case").count()
    with acting_as(WORKER):
        assert forget_changes() == old > 0
    assert set(Change.objects.values_list("relation", flat=True)) >= {"audit_casino"}
    assert not Change.objects.filter(relation="audit_case").exists()


@pytest.mark.django_db
def test_the_tables_that_are_noted_are_those_with_the_trigger() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select c.relname, t.tgenabled, c.relkind, t.tgtype from pg_trigger t join pg_class c on c.oid = t.tgrelid"
            " where t.tgfoid = 'audit_note_change'::regproc order by 1"
        )
        rows = cursor.fetchall()
    assert [name for name, *_rest in rows] == sorted(NOTED)
    after_each_statement_of_any_kind = 4 + 8 + 16 + 32
    assert {tuple(rest) for _name, *rest in rows} == {("O", "r", after_each_statement_of_any_kind)}


@pytest.fixture
def planned_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the statements that go past Django's own cursor."""
    collected: list[str] = []
    planned = prepared_statements.planned

    def noted(sql: str, parameters: Any) -> Any:
        collected.append(sql)
        return planned(sql, parameters)

    monkeypatch.setattr(prepared_statements, "planned", noted)
    return collected


def of_standing(_now: datetime) -> QuerySet[Any]:
    return Finding.objects.standing().values_list("pk")


def of_streams(_now: datetime) -> QuerySet[Any]:
    return Finding.objects.standing().values_list("stream__name")


def of_streams_alone(_now: datetime) -> QuerySet[Any]:
    return LoggedStream.objects.values_list("pk")


def of_persons(_now: datetime) -> QuerySet[Any]:
    return Person.objects.filter(casino__name="x").values_list("pk")


@pytest.mark.faults
@pytest.mark.parametrize(
    ("build", "is_kept"), [(of_standing, True), (of_persons, False), (of_streams_alone, False), (of_streams, False)]
)
def test_a_prepared_statement_is_kept_if_each_of_its_tables_is_noted(
    planned_statements: list[str], build: Callable[[datetime], QuerySet[Any]], is_kept: bool
) -> None:
    for _ in range(3):
        prepared(build.__name__, "key", build, kept_for=get())
    assert len(planned_statements) == (1 if is_kept else 3)


def test_a_prepared_statement_is_asked_for_again_after_a_change(planned_statements: list[str]) -> None:
    desk = Desk()
    found = prepared("standing", "key", of_standing, kept_for=get())
    assert len(found) == len(desk.findings)
    commit_elsewhere(
        "update audit_finding set status = 'superseded', superseded_at = now() where id = %s", (desk.findings[0].pk,)
    )
    found = prepared("standing", "key", of_standing, kept_for=get())
    assert len(found) == len(desk.findings) - 1
    assert len(planned_statements) == 2
