"""The express way in: it answers as the ordinary way does, or leaves the answer to it."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_started
from django.db import close_old_connections, connection
from django.utils import timezone
from pytest_django import Settings

from audit.api import fast_path
from audit.api.fast_path import FastPath
from audit.event_store import audit_trail, binary_copy
from audit.models import Scope
from tests.audit.conftest import Tenant, make_tenant
from tests.audit.sessions import event, unique_name

Answer = tuple[int, dict[str, str], Any]


class Ordinary:
    """Django behind the express way, and how often it was asked."""

    def __init__(self) -> None:
        self.django = WSGIHandler()
        self.asked = 0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.asked += 1
        return self.django(environ, start_response)


@pytest.fixture
def ordinary() -> Ordinary:
    return Ordinary()


@pytest.fixture
def way(ordinary: Ordinary) -> FastPath:
    return FastPath(ordinary)


def post(application: Callable[..., Iterable[bytes]], stream: str, body: Any, secret: str, **environ: str) -> Answer:
    """Send a request as a web server hands it on."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    said: list[Any] = []
    request = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": f"/api/v1/streams/{stream}/events",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_HOST": "localhost",
        "HTTP_AUTHORIZATION": f"Bearer {secret}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(raw)),
        "QUERY_STRING": "",
        "wsgi.input": io.BytesIO(raw),
        "wsgi.errors": sys.stderr,
        "wsgi.url_scheme": "http",
        "wsgi.version": (1, 0),
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    } | environ
    request_started.disconnect(
        close_old_connections
    )  # the connection is the test's, as Django's own test client has it
    try:
        content = b"".join(application(request, lambda status, headers: said.extend((status, dict(headers)))))
    finally:
        request_started.connect(close_old_connections)
    is_json = "json" in said[1].get("Content-Type", "")
    return int(said[0][:3]), said[1], json.loads(content) if is_json else None


def test_new_events_take_the_express_way_and_the_same_again_gets_the_same_receipt(
    tenant: Tenant, stream: str, way: FastPath, ordinary: Ordinary
) -> None:
    sent = tenant.session(stream, 9)
    assert post(way, stream, sent[:3], tenant.secret)[0] == 201
    assert ordinary.asked == 1, "what opens a stream is looked at"
    status, headers, receipt = post(way, stream, sent[3:], tenant.secret)
    assert (status, ordinary.asked) == (201, 1)
    assert (receipt["first_seq"], receipt["last_seq"], receipt["next_seq"]) == (4, 9, 10)
    assert int(headers["RateLimit-Remaining"]) < int(headers["RateLimit-Limit"])
    again = post(way, stream, sent[3:], tenant.secret)
    assert (again[0], again[2], ordinary.asked) == (200, receipt, 2)
    assert tenant.ask(f"streams/{stream}/events").json()["events"] == [{"v": 1, **each} for each in sent]


def odd_requests(tenant: Tenant, stream: str) -> dict[str, tuple[Any, dict[str, str]]]:
    """Requests that are not as they should be, for a stream of three events, by what is odd."""
    sent = tenant.session(stream, 8)
    fine = sent[3:5]
    raw = json.dumps(fine).encode()
    return {
        "gap": (sent[5:], {}),
        "conflict": ([sent[2] | {"actor": "else"}], {}),
        "duplicates and new": (sent[1:5], {}),
        "not in order": (fine[::-1], {}),
        "another stream's": ([fine[0] | {"stream": "another"}], {}),
        "opener again": ([sent[0] | {"seq": 4}], {}),
        "no events": ([], {}),
        "no list": (7, {}),
        "wrapped": ({"events": fine}, {}),
        "misshapen": ([fine[0] | {"data": {}}], {}),
        "a name twice": (raw.replace(b'"seq"', b'"seq": 4, "seq"', 1), {}),
        "an escape": (raw.replace(b'"type"', b'"\\u0074ype"', 1), {}),
        "no JSON": (raw[:-2], {}),
        "no text": (b"[\xff]", {}),
        "too many": ([event(stream, seq, "no_more_bets") for seq in range(4, 1_006)], {}),
        "lines": (b"\n".join(json.dumps(each).encode() for each in fine), {"CONTENT_TYPE": "application/x-ndjson"}),
        "a form": (raw, {"CONTENT_TYPE": "application/x-www-form-urlencoded"}),
        "no gzip": (raw, {"HTTP_CONTENT_ENCODING": "gzip"}),
        "cut short": (raw, {"CONTENT_LENGTH": str(len(raw) + 5)}),
        "of no length": (raw, {"CONTENT_LENGTH": "-1"}),
        "a parameter": (raw, {"QUERY_STRING": "page=2"}),
        "a page": (raw, {"HTTP_ACCEPT": "text/html"}),
        "another host": (raw, {"HTTP_HOST": "evil.example"}),
        "no key": (raw, {"HTTP_AUTHORIZATION": ""}),
        "no such key": (raw, {"HTTP_AUTHORIZATION": f"Bearer cab_{'0' * 12}_{'x' * 43}"}),
        "another method": (raw, {"REQUEST_METHOD": "PUT"}),
        "no such stream": (raw, {"PATH_INFO": "/api/v1/streams/nowhere/events"}),
    }


@pytest.mark.parametrize("odd", range(27))
def test_what_is_odd_is_answered_as_if_there_were_no_express_way(
    tenant: Tenant, way: FastPath, ordinary: Ordinary, odd: int
) -> None:
    answers = []
    for application in (way, WSGIHandler()):
        name = unique_name()
        tenant.send(name, tenant.session(name, 3))
        what, (body, environ) = sorted(odd_requests(tenant, name).items())[odd]
        if "PATH_INFO" in environ:
            environ["PATH_INFO"] = f"/api/v1/streams/{unique_name()}/events"
        status, _, answer = post(application, name, body, tenant.secret, **environ)
        answers.append(
            (what, status, (answer or {}).get("code"), len(tenant.ask(f"streams/{name}/events").json()["events"]))
        )
    assert answers[0] == answers[1]
    assert ordinary.asked == 1


def test_every_odd_request_has_its_turn(tenant: Tenant, stream: str) -> None:
    assert len(odd_requests(tenant, stream)) == 27


def test_a_revoked_key_is_refused_as_soon_as_it_is_no_longer_trusted(
    tenant: Tenant, stream: str, way: FastPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tenant.session(stream, 9)
    tenant.send(stream, sent[:3])
    assert post(way, stream, sent[3:4], tenant.secret)[0] == 201
    tenant.key.revoked_at = timezone.now()
    tenant.key.save()
    later = time.monotonic() + fast_path.KEY_CACHE_S
    monkeypatch.setattr(fast_path.time, "monotonic", lambda: later)
    assert post(way, stream, sent[4:5], tenant.secret)[0] == 401


@pytest.mark.parametrize("scopes", [[Scope.STREAMS_READ], []])
def test_a_key_that_may_not_write_does_not(tenant: Tenant, stream: str, way: FastPath, scopes: list[str]) -> None:
    sent = tenant.session(stream, 5)
    tenant.send(stream, sent[:3])
    tenant.key.scopes = scopes
    tenant.key.save()
    assert post(way, stream, sent[3:], tenant.secret)[0] == 403
    assert tenant.key.casino_id


def test_no_key_writes_another_houses_stream_or_another_table_or_the_desks(way: FastPath, db: None) -> None:
    tenant, limited, stranger = make_tenant(), make_tenant(), make_tenant()
    name = unique_name()
    sent = tenant.session(name, 5)
    tenant.send(name, sent[:3])
    assert post(way, name, sent[3:], stranger.secret)[0] in (404, 422)  # as if there were none of that name

    table = limited.casino.tables.get(code="R1")
    of_c1 = limited.session(name, 5)
    limited.send(name, of_c1[:3])
    limited.key.tables.set([table])
    assert post(way, name, of_c1[3:], limited.secret)[0] == 403

    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={})
    [(desk,)] = binary_copy.execute(
        "select name from log.stream where is_of_desk and casino_id = %b::bigint", (tenant.casino.pk,)
    )
    assert post(way, desk, [event(desk, 2, "no_more_bets")], tenant.secret)[0] == 403
    [(count,)] = binary_copy.execute("select next_seq from log.stream_head join log.stream using (stream_id)"
                              " where is_of_desk and casino_id = %b::bigint", (tenant.casino.pk,))  # fmt: skip
    assert count == 2


def test_the_rate_holds_on_the_express_way(
    tenant: Tenant, stream: str, way: FastPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(way._throttle, "num_requests", 2)
    monkeypatch.setattr("audit.api.authentication.KeyThrottle.rate", "2/min", raising=False)
    sent = tenant.session(stream, 9)
    tenant.send(stream, sent[:3])
    answers = [post(way, stream, [each], tenant.secret) for each in sent[3:6]]
    assert [status for status, _, _ in answers] == [201, 429, 429]


def test_a_database_that_fails_leaves_the_answer_to_the_ordinary_way(
    committed_tenant: Tenant, stream: str, way: FastPath, ordinary: Ordinary, settings: Settings
) -> None:
    tenant = committed_tenant
    sent = tenant.session(stream, 6)
    tenant.send(stream, sent[:3])
    post(way, stream, sent[3:4], tenant.secret)
    connection.connection.close()  # as when the server was restarted
    status, _, receipt = post(way, stream, sent[4:], tenant.secret)
    assert (status, receipt["last_seq"], ordinary.asked) == (201, 6, 1)
