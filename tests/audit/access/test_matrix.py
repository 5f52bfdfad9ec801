"""Every URL × method × role × casino against one table, ``matrix.md``, that a person can read.

    a row of the table ─► a request about a row of A, and of B ─► answered, compared, rolled back

Two things are compared: whether the request was let through, and what the answer tells of. Every row of a casino is
marked (``two_casinos``), so an answer that holds a mark of a casino that is not theirs to read is a leak: in a list, a
filter, the choices of a form, a file, a message or an error.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.cookies import SimpleCookie
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from celery.signals import before_task_publish
from django.conf import settings
from django.db import connection, transaction
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.test.client import encode_multipart
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import DjangoDbBlocker

from audit import task_queue
from audit.models import api_keys
from tests.audit.access.matrix_requests import DAY, Ask, Row, is_known, requests_of
from tests.audit.access.two_casinos import MARKED, World

TABLE = Path(__file__).with_name("matrix.md")
TOKEN = "of-the-scraper"
BOUNDARY = "matrix"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"

PDFTOTEXT = shutil.which("pdftotext")
"""What reads a PDF; None where it is not installed, and then papers are not read."""

HOLDER = "whoever has the link"
"""The requests that show an account to somebody without a role: the link is the authority."""

LOOKED = "looked"
"""An entry of the audit trail of somebody who only looks, or who is refused."""

TOOK = "took"
"""An entry of somebody who takes a file away."""

KEPT = "audit_quarantined"
"""The table of what was refused."""

SWITCH = re.compile(r'<form class="casino".*?</form>', re.DOTALL)
"""What every page has for an officer of several casinos: their names. Whether they may read those is looked at, too."""

UNWRITTEN = {"django_session", "audit_heartbeat", "audit_findingchange"}
"""Tables in which a page may write although nothing is done: sessions, the heartbeat of ``/health/accepts``, and the
positions that the feed gives when it is read."""

BY_CASINO = {
    "audit_casino": "id",
    **dict.fromkeys(
        [
            *("audit_gamingtable", "audit_apikey", "audit_deadline", "audit_nightsubscriber", "audit_person"),
            "audit_casecontacts",
            *("audit_case", "audit_finding", "audit_adjudicationrun", "audit_nightreport", "audit_job"),
            *("audit_quarantined", "audit_officer_casinos", "audit_accountrequest", "audit_correctiondecision"),
            *("audit_sessionclosing", "audit_paymentorder", "audit_shiftnote", "audit_listing"),
        ],
        "casino_id",
    ),
}
"""The column that says of which casino a row is."""


# The table


@dataclass(frozen=True, slots=True)
class Table:
    """What is expected: cells by row and column; and, by mark and column, the casinos of which it may be read."""

    cells: dict[tuple[Row, str], str]
    readable: dict[tuple[str, str], str]

    @property
    def rows(self) -> list[Row]:
        return list(dict.fromkeys(row for row, _column in self.cells))

    def columns_of(self, row: Row) -> list[str]:
        return [column for each, column in self.cells if each == row]


def read_table() -> Table:
    cells: dict[tuple[Row, str], str] = {}
    readable: dict[tuple[str, str], str] = {}
    header: list[str] = []
    section = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("## "):
            section, header = line.removeprefix("## "), []
        elif line.startswith("|") and not line.startswith("|---") and section:
            values = [value.strip().replace("\\|", "|") for value in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not header:
                header = values
            elif header[0] == "method":
                row = Row(values[0], values[1].strip("`").removeprefix("/"), values[2])
                for column, cell in zip(header[3:], values[3:], strict=True):
                    assert (row, _named(column, section)) not in cells, f"{row} is there twice"
                    cells[row, _named(column, section)] = cell
            else:
                for column, cell in zip(header[2:], values[2:], strict=True):
                    readable[values[0], _named(column, section)] = cell
    return Table(cells, readable)


def _named(column: str, section: str) -> str:
    """Return a column's name; the interface has an “officer”, too, who is anybody of the desk."""
    return "signed in" if column == "officer" and "table systems" in section else column


EXPECTED = read_table()

PEOPLE = ("officer", "second", "director", "auditor", "administrator", "superuser", "elsewhere", "both", "mixed")
KEYS = (
    *("events:write", "events:backfill", "streams:read", "findings:read", "reports:read", "table", "foreign"),
    *("revoked", "expired"),
)
WHO = {
    **{name: (name, "signed in", "anybody") for name in PEOPLE},
    **{name: (name, "anybody") for name in KEYS},
    "anonymous": ("anonymous", "none", "anybody"),
    "key": ("key", "anybody"),
    "token": ("token",),
}
"""The users, and the columns of the table that are theirs."""


def users(*, in_short: str = "") -> list[Any]:
    """Return the users of a test; each but ``in_short`` sends their requests in ``make faults``."""
    return [who if who == in_short else pytest.param(who, marks=pytest.mark.faults) for who in WHO]


def expected_of(row: Row, who: str) -> str | None:
    """Return the cell of a row for somebody, None if the table does not say."""
    return next((EXPECTED.cells[row, column] for column in WHO[who] if (row, column) in EXPECTED.cells), None)


def may_read(who: str, letter: str, mark: str) -> bool:
    """Return whether somebody may read of what carries a mark at a casino."""
    return any(letter.upper() in EXPECTED.readable.get((mark, column), "") for column in WHO[who])


# What was answered


@dataclass(slots=True)
class Answer:
    """A status, what was shown, and what was written: the casinos, and whether anything was."""

    status: int
    location: str
    text: str
    wrote_at: set[str] = field(default_factory=set)
    looked_at: set[str] = field(default_factory=set)
    body_size: int = 0
    written: set[str] = field(default_factory=set)

    def is_refused(self, ask: Ask) -> bool:
        is_sent_away = self.location.startswith("/admin/login/?next=") or (
            self.location == "/admin/" and ask.path.startswith(("/admin/audit/", "/admin/logout/"))
        )
        return self.status in (401, 403, 404, 405, ask.refused_by) or is_sent_away


class Asker:
    """Somebody who sends requests, each in a transaction of its own that is rolled back."""

    def __init__(self, world: World, who: str) -> None:
        self.world, self.who = world, who
        self.client = Client(raise_request_exception=False)
        self.headers: dict[str, str] = {}
        if who in world.people:
            self.client.force_login(world.people[who], backend="django.contrib.auth.backends.ModelBackend")
        elif who == "token":
            self.headers = {"Authorization": f"Bearer {TOKEN}"}
        elif who in world.keys:
            self.headers = {"Authorization": f"Bearer {world.keys[who]}"}
        self.cookies = self.client.cookies.output(header="", sep=";")
        self._numbers = itertools.count(1)
        self.heads, self.rows = heads(), rows_by_casino()  # as they are before each request, and after it

    def send(self, method: str, ask: Ask) -> Answer:
        """Send a request and return its answer."""
        self.client.cookies = SimpleCookie(self.cookies)
        data, content_type = _sent(ask) if method == "POST" else (b"", MULTIPART)
        number = next(self._numbers)
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"  # nobody is locked out for another
        written: set[str] = set()
        tasks: list[int] = []

        def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if found := _WRITES.match(sql):
                written.add(found[1])
            return execute(sql, params, many, context)

        def note_task(sender: str, body: Any, **signal: Any) -> None:
            if sender == task_queue.NIGHT_RECONCILE:
                tasks.append(body[1]["casino_id"])

        before_task_publish.connect(note_task)
        try:
            with transaction.atomic():
                with connection.execute_wrapper(note):
                    response: Any = self.client.generic(
                        method, ask.path, data, content_type, headers=self.headers, REMOTE_ADDR=address
                    )
                    raw = response.getvalue()
                answer = Answer(response.status_code, response.headers.get("Location", ""), "")
                answer.written = written - UNWRITTEN
                answer.body_size = len(raw)
                answer.text = f"{_text(raw)} {response.headers} {_messages(response)}"
                if not connection.needs_rollback:
                    self._note_changes(answer, tasks)
                transaction.set_rollback(True)
        finally:
            before_task_publish.disconnect(note_task)
        return answer

    def _note_changes(self, answer: Answer, tasks: list[int]) -> None:
        letters = {site.casino.pk: site.letter for site in self.world.sites}
        before, after = self.heads, heads()
        for key in after:
            if after[key] != before.get(key):
                casino_id, is_of_desk = key
                what = kind_of_entries(casino_id, before.get(key, {})) if is_of_desk else "log"
                answer.written.add(what)
                (answer.looked_at if what == LOOKED else answer.wrote_at).add(letters.get(casino_id, ""))
        if answer.written - {LOOKED}:
            rows = rows_by_casino()
            for casino_id in rows.keys() | self.rows.keys():
                if rows.get(casino_id) != self.rows.get(casino_id):
                    answer.wrote_at.add(letters.get(casino_id, ""))
        for casino_id in tasks:
            answer.written.add("task")
            answer.wrote_at.add(letters[casino_id])
        answer.wrote_at.discard("")
        answer.looked_at.discard("")


_WRITES = re.compile(r'\s*(?:insert into|update|delete from) "?(?:\w+"?\.)?"?(\w+)', re.IGNORECASE)


def _sent(ask: Ask) -> tuple[bytes, str]:
    if ask.json is not None:
        return json.dumps(ask.json).encode(), "application/json"
    for value in ask.form.values():
        if hasattr(value, "seek"):
            value.seek(0)
    return encode_multipart(BOUNDARY, ask.form), MULTIPART


def _messages(response: Any) -> list[str]:
    request = getattr(response, "wsgi_request", None)
    return [str(each) for each in getattr(getattr(request, "_messages", None), "_queued_messages", ())]


def _text(raw: bytes) -> str:
    """Return what a body says: of a workbook or a bundle its parts, of a PDF its text."""
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(raw)) as file:
            return " ".join(file.read(name).decode("utf-8", "replace") for name in file.namelist())
    if raw.startswith(b"%PDF"):
        if PDFTOTEXT is None:
            return ""
        return subprocess.run([PDFTOTEXT, "-", "-"], input=raw, capture_output=True, check=True).stdout.decode()
    return raw.decode("utf-8", "replace")


def heads() -> dict[tuple[int, bool], dict[int, int]]:
    """Return how far each stream of each casino is, those of its desk apart."""
    found: dict[tuple[int, bool], dict[int, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "select s.casino_id, s.is_of_desk, stream_id, h.next_seq"
            " from log.stream s join log.stream_head h using (stream_id)"
        )
        for casino_id, is_of_desk, stream_id, next_seq in cursor.fetchall():
            found.setdefault((casino_id, is_of_desk), {})[stream_id] = next_seq
    return found


def kind_of_entries(casino_id: int, before: dict[int, int]) -> str:
    """Return what the newest entries of a casino's trail are: of looking, of taking a file away, or of doing.

    The trail has a stream for each day, so at midnight the newest entries are the first of one that was not there.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "select e.envelope->>'type' from log.event e join log.stream s using (stream_id)"
            " left join jsonb_each_text(%s::jsonb) as head(stream, next_seq) on head.stream = stream_id::text"
            " where s.casino_id = %s and s.is_of_desk and e.seq >= coalesce(head.next_seq::bigint, 0)",
            (json.dumps(before), casino_id),
        )
        types = [type for (type,) in cursor.fetchall()]
    # An officer who refuses a correction decides about it.
    if all(type.endswith((".viewed", ".listed", "refused")) and type != "correction.refused" for type in types):
        return LOOKED
    return TOOK if all(type.endswith((".viewed", ".exported", ".taken")) for type in types) else "trail"


def rows_by_casino() -> dict[int, Any]:
    """Return a digest of the rows of each casino, table by table."""
    query = " union all ".join(
        f"select '{name}', t.{column}, md5(string_agg(md5(t::text), '' order by md5(t::text))) from {name} t group by 2"
        for name, column in BY_CASINO.items()
    )
    found: dict[int, Any] = {}
    with connection.cursor() as cursor:
        cursor.execute(query)
        for name, casino_id, digest in cursor.fetchall():
            found.setdefault(casino_id, {})[name] = digest
    return found


# The tests


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Both casinos, made once for all tests of this file: every request is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CABOCHON_METRICS_TOKEN", TOKEN)
    # Each request is rolled back, and with it that the key was used: on a slow machine that would be stored again.
    monkeypatch.setattr(api_keys, "USE_STORED_AFTER", timedelta.max)


def patterns(found: list[Any], prefix: str = "") -> Iterator[str]:
    """Yield the address of every page, as Django has it."""
    for pattern in found:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern):
            yield address


def test_the_table_has_every_address_and_no_other() -> None:
    served = set(patterns(get_resolver().url_patterns))
    shown = {row.address for row in EXPECTED.rows}
    assert (sorted(served - shown), sorted(shown - served)) == ([], []), "without a row; without a page"
    assert [str(row) for row in EXPECTED.rows if not is_known(row)] == [], "without a request"


@pytest.mark.skipif(PDFTOTEXT is None, reason="pdftotext, of poppler, is not installed: papers are not read")
def test_papers_are_read(world: World) -> None:
    """Without this, a paper that names another casino would go unseen."""
    code = world.sites[0].casino.code
    paper = Asker(world, "reports:read").send("GET", Ask(f"/api/v1/reconciliations/{code}/{DAY}.pdf"))
    assert "casino" in {mark for _letter, mark in MARKED.findall(paper.text.lower())}


def got(row: Row, asker: Asker, leaks: list[str]) -> str:
    """Send the requests of a row and return its cell as it turned out; add what was told and should not have been."""
    letters: set[str] = set()
    is_through = False
    for ask in requests_of(row, asker.world, asker.who):
        answer = asker.send(row.method, ask)
        leaks += leaks_of(row, ask, asker.who, answer)
        if answer.is_refused(ask):
            if answer.written - {LOOKED, KEPT}:
                leaks.append(f"{row}, {asker.who}: refused, but wrote {sorted(answer.written)}")
            continue
        if answer.status >= 400 and not row.address.startswith("health/"):
            return f"{answer.status} {answer.text[:200]!r}"
        is_write = row.method == "POST" and not ask.is_read
        if is_write and not answer.written - {LOOKED}:
            continue
        if not is_write and answer.written - {LOOKED, TOOK}:
            leaks.append(f"{row}, {asker.who}: looked, but wrote {sorted(answer.written)}")
        if ask.site is not None:
            letters.add(ask.site.letter)
            if is_write and (elsewhere := answer.wrote_at - {ask.site.letter}):
                leaks.append(f"{row}, {asker.who}: about {ask.site.letter}, wrote at {sorted(elsewhere)}")
        else:
            is_through = True
            marks = MARKED.findall(SWITCH.sub("", _without_sent(ask, answer)))
            letters |= (
                answer.wrote_at if is_write else {each for each, mark in marks if may_read(asker.who, each, mark)}
            )
    return "".join(sorted(letters)).upper() or ("o" if is_through else "-")


def leaks_of(row: Row, ask: Ask, who: str, answer: Answer) -> list[str]:
    """Return the marks in an answer that are not for whoever asked. What they sent themselves tells them nothing."""
    if row.what == HOLDER:
        return []
    foreign = [letter for letter in answer.wrote_at | answer.looked_at if not may_read(who, letter, "casino")]
    text = _without_sent(ask, answer)
    found = {(letter, mark) for letter, mark in MARKED.findall(text) if not may_read(who, letter, mark)}
    at = f"{row}, {who} at {ask.path}: {answer.status}"
    return [f"{at} wrote at {letter.upper()}: {sorted(answer.written)}" for letter in foreign] + [
        f"{at} tells of {letter.upper()}, {mark}: {_around(text, f'zz{letter}{mark}')}"
        for letter, mark in sorted(found)
    ]


def _without_sent(ask: Ask, answer: Answer) -> str:
    """Return what an answer says, in small letters, without the words that the request had."""
    text = answer.text.lower()
    for word in sorted(_words(f"{ask.path} {ask.form} {ask.json}".lower()), key=len, reverse=True):
        text = text.replace(word, "")
    return text


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w.-]*zz[ab][\w.-]*", text))


def _around(text: str, mark: str) -> str:
    index = text.index(mark)
    return repr(" ".join(text[max(0, index - 60) : index + 60].split()))


@pytest.mark.faults
@pytest.mark.parametrize("who", WHO)
def test_every_request_is_let_through_where_the_table_says_and_tells_of_no_other_casino(world: World, who: str) -> None:
    _compare(world, {who: EXPECTED.rows})


def test_each_row_is_asked_by_one_who_is_let_through_and_by_one_who_is_not(world: World) -> None:
    """The short form of the test above. Rows go to the users in turn, so that each user sends some of each kind; of the
    rows that refuse somebody, every third is asked by one who is let through as well."""
    in_turn = list(WHO)
    sent_by: dict[str, list[Row]] = {who: [] for who in WHO}
    for number, row in enumerate(EXPECTED.rows):
        first = number % len(in_turn)
        cells = {who: expected_of(row, who) for who in in_turn[first:] + in_turn[:first]}
        refused, served = (
            next((who for who, cell in cells.items() if cell is not None and (cell == "-") == is_refused), None)
            for is_refused in (True, False)
        )
        for who in (refused, served if refused is None or number % 3 == 0 else None):
            if who is not None:
                sent_by[who].append(row)
    assert all(sent_by.values())
    assert {row for rows in sent_by.values() for row in rows} == set(EXPECTED.rows)
    _compare(world, sent_by)


def _compare(world: World, rows: dict[str, list[Row]]) -> None:
    differences: list[str] = []
    leaks: list[str] = []
    for who in rows:
        asker = Asker(world, who)
        for row in rows[who]:
            expected = expected_of(row, who)
            if expected is not None and (found := got(row, asker, leaks)) != expected:
                differences.append(f"{row}, {who}: expected {expected}, got {found}")
    if differences or leaks:
        pytest.fail("\n".join([*differences, *leaks]), pytrace=False)


OTHER_METHODS = ("GET", "POST")
IN_TURN = ("DELETE", "PUT", "PATCH", "OPTIONS", "HEAD")
"""Methods of which a page gets one from each user, so that it gets every one of them from some of them."""


@pytest.mark.parametrize("who", users(in_short="anonymous"))
def test_a_method_without_a_row_does_no_more_than_get_and_writes_nothing(
    world: World, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")  # what is shown is what GET shows
    asker = Asker(world, who)
    differences = []
    rows = [row for row in EXPECTED.rows if expected_of(row, who) is not None]
    served = {(row.method, row.address) for row in rows}
    pages = {row.address: row for row in sorted(rows, key=lambda row: row.method == "GET")}
    for number, (address, row) in enumerate(pages.items(), start=list(WHO).index(who)):
        cell = (expected_of(row, who) if row.method == "GET" else None) or "-"
        methods = [each for each in (*OTHER_METHODS, IN_TURN[number % len(IN_TURN)]) if (each, address) not in served]
        for method, ask in itertools.product(methods, _pages(row, world, who)):
            is_allowed = cell != "-" if ask.site is None else ask.site.letter.upper() in cell
            answer = asker.send(method, ask)
            done = sorted(answer.written - {LOOKED, TOOK} if is_allowed else answer.written)
            is_through = not answer.is_refused(ask) and answer.status < 400 and not _names_methods(method, ask, answer)
            has_failed = answer.status >= 500 and not address.startswith("health/")
            if done or has_failed or (is_through and not is_allowed):
                differences.append(f"{method} {ask.path}, {who}: expected {cell}, got {answer.status}, wrote {done}")
            differences += leaks_of(Row(method, row.address, row.what), ask, who, answer)
    if differences:
        pytest.fail("\n".join(differences), pytrace=False)


def _pages(row: Row, world: World, who: str) -> list[Ask]:
    """Return the requests of a row without its form: about each casino, or one."""
    asks = [replace(ask, form={}, json=None) for ask in requests_of(row, world, who)]
    return asks if asks[0].site is not None else asks[:1]


def _names_methods(method: str, ask: Ask, answer: Answer) -> bool:
    """Return whether an answer is that to OPTIONS which says how an address is used, and looks at no row."""
    return method == "OPTIONS" and (not answer.body_size or ask.path.startswith("/api/"))


def test_no_form_takes_a_row_of_another_casino(world: World) -> None:
    """Where somebody may write at one casino, each choice of the form in turn is one of the other casino."""
    differences: list[str] = []
    tried: set[str] = set()
    for who in WHO:
        asker = Asker(world, who)
        for row in EXPECTED.rows:
            if row.method == "POST" and expected_of(row, who) in ("A", "B") and row.what != HOLDER:
                for name, ask in mixed(row, world, who):
                    tried.add(f"{row.address} {name}")
                    answer = asker.send("POST", ask)
                    if answer.written - {LOOKED, KEPT} or answer.wrote_at - {ask.site.letter if ask.site else ""}:
                        differences.append(
                            f"{row}, {who}: {name} of the other casino: {answer.status}, wrote {sorted(answer.written)}"
                        )
                    differences += leaks_of(row, ask, who, answer)
    if differences:
        pytest.fail("\n".join(differences), pytrace=False)
    rows = {"casino", "officer", "assignee", "table", "deputy", "stream", "proposal", "closing", "digest", "chosen"}
    assert {each.split()[-1] for each in tried} == rows
    assert len(tried) >= 12, sorted(tried)


def mixed(row: Row, world: World, who: str) -> Iterator[tuple[str, Ask]]:
    """Yield the requests of a form at one's own casino, each with one value that is of the other; by the field."""
    asks = {ask.site.letter.upper(): ask for ask in requests_of(row, world, who) if ask.site is not None}
    if not asks:
        return
    cell = expected_of(row, who) or ""
    own, foreign = asks.pop(cell), asks.popitem()[1]
    for name in own.form:
        if own.form[name] != foreign.form[name] and not hasattr(own.form[name], "seek"):
            yield name, replace(own, form={**own.form, name: foreign.form[name]})
    if own.json:
        data, other = own.json[0]["data"], foreign.json[0]["data"]
        for name in data:
            if data[name] != other[name]:
                yield name, replace(own, json=[{**own.json[0], "data": {**data, name: other[name]}}])
