"""The accounts of the tests, none of them a superuser's: see ``audit/access/database_roles.py``.

The tests sign in as ``ACCOUNT``, which may do what web servers, workers, the sequencer and commands may: a test is all
of them in one process. While a request is answered, the role is that of web servers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

import psycopg
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from psycopg.pq import TransactionStatus

from audit.access.database_roles import BEAT, OPERATOR, READER, ROLES, SEQUENCER, WEB, WORKER

ACCOUNT = "cabochon_tests"
ACCOUNTS = {
    ACCOUNT: OPERATOR,
    "cabochon_tests_web": WEB,
    "cabochon_tests_worker": WORKER,
    "cabochon_tests_beat": BEAT,
    "cabochon_tests_sequencer": SEQUENCER,
    "cabochon_tests_reader": READER,
    "cabochon_tests_operator": OPERATOR,
}
"""Each account of the tests with the role that it is a member of. Its password is its name."""


def make_accounts(server: psycopg.Connection[object]) -> None:
    """Create the roles and the accounts on a server, as a superuser. Idempotent."""
    for role in ROLES:
        _unless_there(server, f"create role {role} nologin")
    for account, role in ACCOUNTS.items():
        _unless_there(server, f"create role {account} login password '{account}'")
        is_member = server.execute("select pg_has_role(%s, %s, 'member')", (account, role)).fetchone()
        if is_member != (True,):
            server.execute(f"grant {role} to {account}")


def _unless_there(server: psycopg.Connection[object], statement: str) -> None:
    try:
        server.execute(statement)  # type: ignore[call-overload]
    except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
        return


def signed_in_as(account: str, url: str) -> str:
    """Return the address of a database for another account."""
    address = urlsplit(url)
    host = address.netloc.rpartition("@")[2]
    return address._replace(netloc=f"{account}:{quote(account)}@{host}").geturl()


@contextmanager
def acting_as(role: str) -> Iterator[None]:
    """Give Django's connection the privileges of ``role`` alone in this block.

    A transaction that has failed gives the role back itself, when it is rolled back.
    """
    connection.ensure_connection()
    connection.connection.execute(f"set role {role}")  # past Django, which tests let count its queries
    try:
        yield
    finally:
        raw = connection.connection
        gone = (TransactionStatus.INERROR, TransactionStatus.UNKNOWN)  # it failed, or has ended
        has_failed = raw is None or raw.info.transaction_status in gone
        if not has_failed and not connection.needs_rollback:
            raw.execute("reset role")


@contextmanager
def without_triggers() -> Iterator[None]:
    """Let a superuser's connection change rows past every trigger in this block."""
    with connection.cursor() as cursor:
        cursor.execute("set session_replication_role = replica")
        yield
        cursor.execute("reset session_replication_role")


class AsWeb:
    """Middleware: whatever answers a request has the privileges of a web server, and no other."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            connection.ensure_connection()
        except DatabaseError:
            return self.get_response(request)
        if connection.needs_rollback:
            return self.get_response(request)
        with acting_as(WEB):
            return self.get_response(request)
