"""Requests of one event that are answered together: each as if it had come alone, one bad among good ones included."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.utils import timezone

from audit.access.database_roles import WEB
from audit.api import recording
from audit.api.authentication import KeyThrottle
from audit.api.recording import Plain
from audit.event_store import append, binary_copy
from audit.models import ApiKey, KeyScope
from audit.transparency import signing_keys
from tests.audit.api.test_recording import opened, post
from tests.audit.api.web import Web
from tests.audit.conftest import make_tenant
from tests.audit.sessions import Event, event, unique_name
from tests.audit.tables import Tenant
from tests.long_forms import in_short
from tests.roles import acting_as


class Sender:
    """A table system with a stream of three events, whose last request was stored by the queue."""

    def __init__(self, web: Web, tenant: Tenant | None = None) -> None:
        self.tenant = tenant or make_tenant()
        self.stream = unique_name()
        self.events = self.tenant.session(self.stream, 40)
        opened(web, self.tenant, self.stream, 3)
        assert post(web, self.stream, self.events[3:4], self.tenant.secret)[0] == 201
        sender = {"HTTP_AUTHORIZATION": f"Bearer {self.tenant.secret}", "REMOTE_ADDR": "127.0.0.1"}
        self.plain = Plain(self.stream, sender)
        self.next_seq = 5

    def request(self, *events: Event) -> tuple[Plain, bytes]:
        """Return the request of these events, of the next one by default."""
        if not events:
            events = (self.events[self.next_seq - 1],)
            self.next_seq += 1
        return self.plain, json.dumps(events).encode()

    def stored(self) -> int:
        return len(self.tenant.ask(f"streams/{self.stream}/events").json()["events"])

    def again(self, request: tuple[Plain, bytes]) -> tuple[int, Any]:
        """Send a request by itself."""
        status, _, answer = post(WSGIHandler(), self.stream, request[1], self.tenant.secret)
        return status, answer


@pytest.fixture
def web(db: None) -> Web:
    return Web()


def answers(web: Web, *requests: tuple[Plain, bytes]) -> list[Any]:
    """Answer requests together as the web server's account; return the receipts, None for what is left to Django."""
    with acting_as(WEB):
        return [each and json.loads(each.content) for each in web.recorder.together(requests)]


def test_each_gets_the_receipt_of_its_own_event_and_again_the_same_one(web: Web) -> None:
    senders = [Sender(web) for _ in range(5)]
    requests = [each.request() for each in senders]
    receipts = answers(web, *requests)
    for sender, request, receipt in zip(senders, requests, receipts, strict=True):
        assert (receipt["stream"], receipt["first_seq"], receipt["next_seq"]) == (sender.stream, 5, 6)
        assert sender.again(request) == (200, receipt)
        assert sender.stored() == 5


def test_they_are_one_statement(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    senders = [Sender(web) for _ in range(5)]
    statements: list[str] = []
    execute = binary_copy.execute
    answers(web, *[each.request() for each in senders])  # keys are looked up

    def noted(text: str, params: Any, **options: Any) -> Any:
        statements.append(text)
        return execute(text, params, **options)

    monkeypatch.setattr(append.binary_copy, "execute", noted)
    assert None not in answers(web, *[each.request() for each in senders])
    assert len([each for each in statements if "append" in each]) == 1


def test_several_of_one_stream_are_stored_in_the_order_in_which_they_came(web: Web) -> None:
    one, other = Sender(web), Sender(web)
    receipts = answers(web, one.request(), other.request(), one.request(), one.request(), other.request())
    assert [each["first_seq"] for each in receipts] == [5, 5, 6, 7, 6]
    assert (one.stored(), other.stored()) == (7, 6)
    assert receipts[0]["received_at"] <= receipts[2]["received_at"] <= receipts[3]["received_at"]


def test_streams_are_locked_in_one_order_whichever_came_first(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes that store requests for the same streams never wait for each other."""
    senders = [Sender(web) for _ in range(4)]
    execute, names = binary_copy.execute, list[bytes]()

    def noted(text: str, params: Any, **options: Any) -> Any:
        if "append_named" in text:
            names.append(params[1].data)
        return execute(text, params, **options)

    monkeypatch.setattr(append.binary_copy, "execute", noted)
    for order in (senders, senders[::-1], senders[2:] + senders[:2]):
        receipts = answers(web, *[each.request() for each in order])
        assert [each["stream"] for each in receipts] == [each.stream for each in order]
    assert len(names) == 3
    assert len(set(names)) == 1


def expire(web: Web, *, is_known: bool = True) -> None:
    """Have what is cached of keys be outdated, or be cached no more."""
    cached = web.recorder._cached_keys.items() if is_known else ()
    web.recorder._cached_keys = {digest: replace(key, valid_until=0.0) for digest, key in cached}


BAD: dict[str, Callable[[Sender], tuple[Plain, bytes]]] = {
    "a gap": lambda bad: bad.request(bad.events[9]),
    "a conflict": lambda bad: bad.request(bad.events[2] | {"actor": "else"}),
    "a repeat": lambda bad: bad.request(bad.events[3]),
    "two events": lambda bad: bad.request(*bad.events[4:6]),
    "no event": lambda bad: (bad.plain, b"[]"),
    "no JSON": lambda bad: (bad.plain, b"[{"),
    "no text": lambda bad: (bad.plain, b"[\xff]"),
    "misshapen": lambda bad: bad.request(bad.events[4] | {"data": {}}),
    "another's stream": lambda bad: bad.request(event(unique_name(), 5, "no_more_bets")),
    "a person's name": lambda bad: bad.request(event(bad.stream, 5, "no_more_bets", actor="Anna Smith")),
    "a revoked key": lambda bad: _changed(bad, revoked_at=timezone.now()),
    "an expired key": lambda bad: _changed(bad, expires_at=timezone.now()),
    "a key that may not write": lambda bad: _changed(bad, scopes=[KeyScope.STREAMS_READ]),
    "a key of another table": lambda bad: _limited(bad),
    "a stream that there is none of": lambda bad: (
        Plain("nowhere", bad.plain.sender),
        json.dumps([event("nowhere", 5, "no_more_bets")]).encode(),
    ),
}


def _changed(bad: Sender, **changed: Any) -> tuple[Plain, bytes]:
    for name, value in changed.items():
        setattr(bad.tenant.key, name, value)
    bad.tenant.key.save()
    return bad.request()


def _limited(bad: Sender) -> tuple[Plain, bytes]:
    bad.tenant.key.tables.set([bad.tenant.casino.tables.exclude(code="C1").first()])
    return bad.request()


@pytest.mark.parametrize("is_known", [True, False], ids=["a second later", "of a key that is not known"])
@pytest.mark.parametrize("what", in_short(BAD, every=3))
def test_one_that_is_left_to_django_keeps_nothing_from_the_others(web: Web, what: str, is_known: bool) -> None:
    before, bad, after = Sender(web), Sender(web), Sender(web)
    request = BAD[what](bad)
    expire(web, is_known=is_known)
    first, none, last = answers(web, before.request(), request, after.request())
    assert none is None
    assert (first["stream"], last["stream"]) == (before.stream, after.stream)
    assert (before.stored(), after.stored()) == (5, 5)
    [(count,)] = binary_copy.execute(
        "select next_seq from log.stream_head join log.stream using (stream_id) where name = %b::text", (bad.stream,)
    )
    assert count == 5, "nothing of the bad one is stored"


def test_a_key_writes_no_stream_of_another_casino_of_the_same_name(web: Web) -> None:
    owner, thief = Sender(web), Sender(web)
    plain = Plain(owner.stream, thief.plain.sender)
    assert answers(web, (plain, owner.request()[1])) == [None]
    assert owner.stored() == 4


def test_a_key_of_a_sandbox_is_answered_by_itself(web: Web) -> None:
    sandbox, plain = Sender(web, Tenant(is_sandbox=True, tables=("T1", "C1"))), Sender(web)
    alone, together = answers(web, sandbox.request(), plain.request())
    assert alone is None
    assert together["first_seq"] == 5


def test_the_rate_limit_holds_for_each_key(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeyThrottle, "rate", "3/min", raising=False)
    limited = Web()
    one, other = Sender(limited), Sender(limited)
    assert None not in answers(limited, one.request(), other.request())
    assert answers(limited, one.request(), other.request()) == [None, None], "both have sent three"


def test_the_rate_limit_holds_among_requests_of_one_key(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeyThrottle, "rate", "4/min", raising=False)
    limited = Web()
    one, other = Sender(limited), Sender(limited)
    requests = [one.request(), one.request(), one.request(), other.request()]
    assert [each is not None for each in answers(limited, *requests)] == [True, True, False, True]


def test_a_month_that_is_closed_fails_them_all_here_and_each_is_then_answered_by_itself(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, other = Sender(web), Sender(web)

    def closed(*_: Any) -> None:
        raise append.MonthClosed

    requests = [good.request(), other.request()]
    with monkeypatch.context() as patch:
        patch.setattr(recording, "append_singles", closed)
        assert answers(web, *requests) == [None, None]
    assert [sender.again(each)[0] for sender, each in zip((good, other), requests, strict=True)] == [201, 201]


def test_nothing_is_stored_without_a_key_to_sign_receipts(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    sender = Sender(web)

    def none(*_: Any) -> None:
        raise signing_keys.NoSigningKey

    with monkeypatch.context() as patch:
        patch.setattr(signing_keys, "signer", none)
        assert answers(web, sender.request()) == [None]
    assert sender.stored() == 4


def test_what_was_stored_before_the_answer_was_lost_has_the_same_receipt(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit, and then nothing: as when the process is killed, or the connection cut, between commit and answer."""
    senders = [Sender(web), Sender(web)]
    requests = [each.request() for each in senders]
    receipts: list[Any] = []
    kept = recording.receipt

    def lost(*args: Any, **kwargs: Any) -> Any:
        receipts.append(kept(*args, **kwargs))
        raise OSError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(recording, "receipt", lost)
        assert answers(web, *requests) == [None, None]
    again = [sender.again(each) for sender, each in zip(senders, requests, strict=True)]
    assert sorted(json.dumps(each) for status, each in again if status == 200) == sorted(map(json.dumps, receipts))


@contextmanager
def held(stream: str) -> Iterator[None]:
    """Hold a stream in a transaction of somebody else's."""
    is_held, release = Flag(), Flag()

    def hold() -> None:
        try:
            with transaction.atomic():
                binary_copy.execute("select log.hold(stream_id) from log.stream where name = %b::text", (stream,))
                is_held.set()
                release.wait(60)
        finally:
            connection.close()

    holder = Thread(target=hold)
    holder.start()
    try:
        assert is_held.wait(30)
        yield
    finally:
        release.set()
        holder.join()


def test_a_stream_that_somebody_holds_does_not_hold_the_others(committed_tenant: Tenant) -> None:
    web = Web()
    waits, free = Sender(web, committed_tenant), Sender(web, committed_tenant)
    kept, request = waits.request(), free.request()
    with held(waits.stream):
        assert answers(web, kept, request) == [None, None], "all of them go by themselves"
        assert answers(web, request)[0]["first_seq"] == 5
    assert answers(web, kept)[0]["first_seq"] == 5


def test_waits_are_limited_again_after_a_transaction_that_was_rolled_back(committed_tenant: Tenant) -> None:
    recording._limited.connection = None
    with transaction.atomic():
        recording._limit_waits()
        transaction.set_rollback(True)
    recording._limit_waits()
    assert binary_copy.execute("show lock_timeout", ()) == [("200ms",)]


def test_a_database_that_was_lost_is_found_again(committed_tenant: Tenant) -> None:
    web = Web()
    sender = Sender(web, committed_tenant)
    assert answers(web, sender.request())[0]["first_seq"] == 5
    request = sender.request()
    connection.connection.close()  # as when the server was restarted
    assert web.recorder.together([request]) == [None]
    assert answers(web, request)[0]["first_seq"] == 6
    assert recording._limited.connection is connection.connection, "waits are limited on the new connection, too"


def test_keys_that_were_looked_up_a_second_ago_are_looked_up_at_once(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    senders = [Sender(web) for _ in range(4)]
    expire(web)
    monkeypatch.setattr(recording, "find_key", None)  # none is looked up by itself
    assert None not in answers(web, *[each.request() for each in senders])
    assert {key.tables for key in web.recorder._cached_keys.values()} == {frozenset()}


def test_keys_that_were_looked_up_within_a_second_are_looked_up_again_together(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that takes: none of them ends meanwhile, to be looked up by itself."""
    one, other = Sender(web), Sender(web)
    now, looked_up = 1_000.0, list[int]()
    still_active = ApiKey.still_active

    def slow(ids: Collection[int]) -> dict[int, ApiKey]:
        nonlocal now
        now += recording.KEY_CACHE_S
        looked_up.append(len(ids))
        return still_active(ids)

    monkeypatch.setattr(recording.time, "monotonic", lambda: now)
    expire(web)
    assert None not in answers(web, one.request())
    now += 0.4 * recording.KEY_CACHE_S
    assert None not in answers(web, other.request())
    monkeypatch.setattr(ApiKey, "still_active", slow)
    monkeypatch.setattr(recording, "find_key", None)
    now += 0.7 * recording.KEY_CACHE_S
    assert None not in answers(web, one.request(), other.request())
    assert looked_up == [2]
