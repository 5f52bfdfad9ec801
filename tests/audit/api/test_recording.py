"""The queue answers as Django does, header by header, or leaves the answer to Django."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from django.utils import timezone
from django.utils.datastructures import CaseInsensitiveMapping
from pytest_django import Settings

from audit.api import policy, processor_budget, recording
from audit.api.authentication import KeyThrottle
from audit.api.rate_limit import RateCounter
from audit.event_store import audit_trail, binary_copy
from audit.models import KeyScope
from audit.transparency import signing_keys
from tests.audit.api.web import Web
from tests.audit.conftest import make_tenant
from tests.audit.sessions import event, unique_name
from tests.audit.tables import Tenant
from tests.long_forms import in_short

Answer = tuple[int, Mapping[str, str], Any]


class CountedDjango:
    """Django behind the queue, and how many requests it answered."""

    def __init__(self) -> None:
        self.handler = WSGIHandler()
        self.requests = 0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.requests += 1
        return self.handler(environ, start_response)


@pytest.fixture
def django() -> CountedDjango:
    return CountedDjango()


@pytest.fixture
def web(django: CountedDjango) -> Web:
    return Web(django)


def post(application: Callable[..., Iterable[bytes]], stream: str, body: Any, secret: str, **environ: str) -> Answer:
    """Send a request as a web server passes it to the application."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    started: list[Any] = []
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
    for signal in (request_started, request_finished):  # the connection is the test's, as with Django's test client
        signal.disconnect(close_old_connections)
    try:
        content = b"".join(application(request, lambda status, headers: started.extend((status, dict(headers)))))
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
    is_json = "json" in CaseInsensitiveMapping(started[1]).get("Content-Type", "")
    return int(started[0][:3]), CaseInsensitiveMapping(started[1]), json.loads(content) if is_json else None


def opened(application: Callable[..., Iterable[bytes]], tenant: Tenant, stream: str, last: int, **environ: str) -> None:
    """Record the first events of a session, which Django answers."""
    assert post(application, stream, tenant.session(stream, last), tenant.secret, **environ)[0] == 201


def test_new_events_take_the_queue_and_the_same_again_gets_the_same_receipt(
    tenant: Tenant, stream: str, web: Web, django: CountedDjango
) -> None:
    sent = tenant.session(stream, 9)
    assert post(web, stream, sent[:3], tenant.secret)[0] == 201
    assert django.requests == 1, "Django examines what opens a stream"
    status, headers, receipt = post(web, stream, sent[3:], tenant.secret)
    assert (status, django.requests) == (201, 1)
    assert (receipt["first_seq"], receipt["last_seq"], receipt["next_seq"]) == (4, 9, 10)
    assert int(headers["RateLimit-Remaining"]) < int(headers["RateLimit-Limit"])
    again = post(web, stream, sent[3:], tenant.secret)
    assert (again[0], again[2], django.requests) == (200, receipt, 2)
    assert tenant.ask(f"streams/{stream}/events").json()["events"] == [{"v": 1, **each} for each in sent]


def test_a_key_whose_batches_have_used_up_its_budget_waits_and_single_events_and_another_key_do_not(
    tenant: Tenant, stream: str, settings: Settings
) -> None:
    settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S = 0.001, 1.0
    web, other = Web(), make_tenant()
    others = unique_name()
    sent, theirs = tenant.session(stream, 9), other.session(others, 9)
    opened(web, tenant, stream, 3)
    opened(web, other, others, 3)
    before = processor_budget.buckets().left_s(f"key:{tenant.key.pk}")
    assert post(web, stream, sent[3:5], tenant.secret)[0] == 201
    assert processor_budget.buckets().left_s(f"key:{tenant.key.pk}") < before, "a batch costs"
    processor_budget.buckets().charge(f"key:{tenant.key.pk}", 5.0)
    status, headers, problem = post(web, stream, sent[5:7], tenant.secret)
    assert (status, problem["code"]) == (429, "throttled")
    assert int(headers["Retry-After"]) > 1_000
    assert post(web, stream, sent[5:6], tenant.secret)[0] == 201, "one event, stored together with those of others"
    assert post(web, others, theirs[3:], other.secret)[0] == 201


def test_a_batch_costs_its_key_nothing_of_the_time_that_it_waits(
    tenant: Tenant, stream: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S = 1e-9, 3.0
    web, sent = Web(), tenant.session(stream, 9)
    opened(web, tenant, stream, 3)
    passed_s, worked_s, append_named = 0.0, 0.0, recording.append_named

    def on_a_busy_machine(*args: Any, **options: Any) -> Any:
        nonlocal passed_s, worked_s
        passed_s, worked_s = passed_s + 60.0, worked_s + 0.01
        return append_named(*args, **options)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed_s, thread_time=lambda: worked_s)
    monkeypatch.setattr(recording, "time", clock)
    monkeypatch.setattr(recording, "append_named", on_a_busy_machine)
    before_s = processor_budget.buckets().left_s(f"key:{tenant.key.pk}")
    assert post(web, stream, sent[3:5], tenant.secret)[0] == 201
    cost_s = before_s - processor_budget.buckets().left_s(f"key:{tenant.key.pk}")
    assert cost_s == pytest.approx(recording.COST * 0.01)
    assert post(web, stream, sent[5:9], tenant.secret)[0] == 201, "its table system is not kept out for minutes"


def unusual_requests(tenant: Tenant, stream: str) -> dict[str, tuple[Any, dict[str, str]]]:
    """Return requests that Django has to examine, for a stream of three events, by what is unusual about them."""
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
        "a cookie": (raw, {"HTTP_COOKIE": "django_language=fr"}),
        "laid out": (raw, {"HTTP_ACCEPT": "application/json; indent=4"}),
        "a type that only looks like JSON": (raw, {"HTTP_ACCEPT": "text/html+application/json"}),
        "no key": (raw, {"HTTP_AUTHORIZATION": ""}),
        "no such key": (raw, {"HTTP_AUTHORIZATION": f"Bearer cab_{'0' * 12}_{'x' * 43}"}),
        "another method": (raw, {"REQUEST_METHOD": "PUT"}),
        "no such stream": (raw, {"PATH_INFO": "/api/v1/streams/nowhere/events"}),
    }


@pytest.mark.parametrize("index", in_short(range(30), every=3))
def test_an_unusual_request_is_answered_as_if_there_were_no_queue(
    tenant: Tenant, web: Web, django: CountedDjango, index: int
) -> None:
    answers = []
    for application in (web, WSGIHandler()):
        name = unique_name()
        opened(application, tenant, name, 3)
        what, (body, environ) = sorted(unusual_requests(tenant, name).items())[index]
        if "PATH_INFO" in environ:
            environ["PATH_INFO"] = f"/api/v1/streams/{unique_name()}/events"
        status, _, answer = post(application, name, body, tenant.secret, **environ)
        answers.append(
            (what, status, (answer or {}).get("code"), len(tenant.ask(f"streams/{name}/events").json()["events"]))
        )
    assert answers[0] == answers[1]
    assert django.requests == 2, "the opener, and the unusual request"


def test_every_unusual_request_is_tested(tenant: Tenant, stream: str) -> None:
    assert len(unusual_requests(tenant, stream)) == 30


def test_a_revoked_key_is_refused_as_soon_as_it_is_no_longer_cached(
    tenant: Tenant, stream: str, web: Web, django: CountedDjango, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tenant.session(stream, 9)
    opened(web, tenant, stream, 3)
    assert post(web, stream, sent[3:4], tenant.secret)[0] == 201
    assert django.requests == 1
    tenant.key.revoked_at = timezone.now()
    tenant.key.save()
    later = time.monotonic() + recording.KEY_CACHE_S
    monkeypatch.setattr(recording.time, "monotonic", lambda: later)
    assert post(web, stream, sent[4:5], tenant.secret)[0] == 401


@pytest.mark.parametrize("scopes", [[KeyScope.STREAMS_READ], []])
def test_a_key_that_may_not_write_does_not(tenant: Tenant, stream: str, web: Web, scopes: list[str]) -> None:
    sent = tenant.session(stream, 5)
    opened(web, tenant, stream, 3)
    tenant.key.scopes = scopes
    tenant.key.save()
    web.recorder._cached_keys.clear()  # as KEY_CACHE_S later
    assert post(web, stream, sent[3:], tenant.secret)[0] == 403
    assert tenant.key.casino_id


def test_no_key_writes_another_casinos_stream_or_another_table_or_the_desks(web: Web, db: None) -> None:
    tenant, limited, stranger = make_tenant(), make_tenant(), make_tenant()
    name = unique_name()
    sent = tenant.session(name, 5)
    opened(web, tenant, name, 3)
    assert post(web, name, sent[3:], stranger.secret)[0] in (404, 422)  # as if there were none of that name

    table = limited.casino.tables.get(code="R1")
    of_c1 = limited.session(name, 5)
    limited.send(name, of_c1[:3])
    limited.key.tables.set([table])
    assert post(web, name, of_c1[3:], limited.secret)[0] == 403

    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={})
    [(desk,)] = binary_copy.execute(
        "select name from log.stream where is_of_desk and casino_id = %b::bigint", (tenant.casino.pk,)
    )
    assert post(web, desk, [event(desk, 2, "no_more_bets")], tenant.secret)[0] == 403
    [(count,)] = binary_copy.execute("select next_seq from log.stream_head join log.stream using (stream_id)"
                              " where is_of_desk and casino_id = %b::bigint", (tenant.casino.pk,))  # fmt: skip
    assert count == 2


def test_the_rate_limit_holds_of_the_queue(
    tenant: Tenant, stream: str, django: CountedDjango, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeyThrottle, "rate", "2/min", raising=False)
    web = Web(django)
    sent = tenant.session(stream, 9)
    opened(web, tenant, stream, 3)
    answers = [post(web, stream, [each], tenant.secret) for each in sent[3:6]]
    assert [status for status, _, _ in answers] == [201, 429, 429]
    assert django.requests == 3, "the opener, and the two that were refused"


def test_a_database_that_fails_leaves_the_answer_to_django(
    committed_tenant: Tenant, stream: str, web: Web, django: CountedDjango
) -> None:
    tenant = committed_tenant
    sent = tenant.session(stream, 6)
    opened(web, tenant, stream, 3)
    post(web, stream, sent[3:4], tenant.secret)
    assert django.requests == 1
    connection.connection.close()  # as when the server was restarted
    status, _, receipt = post(web, stream, sent[4:], tenant.secret)
    assert (status, receipt["last_seq"], django.requests) == (201, 6, 2)


HTTPS = {
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 31_536_000,
    "SECURE_HSTS_INCLUDE_SUBDOMAINS": True,
    "SECURE_HSTS_PRELOAD": True,
    "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
}
SECURE = {"HTTP_X_FORWARDED_PROTO": "https"}


@pytest.mark.parametrize(
    "changed_settings, environ, status",
    [
        pytest.param({}, {}, 201, id="as usual"),
        pytest.param({}, {"HTTP_ACCEPT": "application/json"}, 201, id="accept JSON"),
        pytest.param({}, {"HTTP_ACCEPT": "text/html;q=0.9, */*;q=0.1"}, 201, id="accept anything"),
        pytest.param({}, {"HTTP_ACCEPT": "application/json;q=0"}, 201, id="accept JSON least"),
        pytest.param({}, {"HTTP_ACCEPT": "application/x-ndjson"}, 406, id="accept lines"),
        pytest.param({}, {"HTTP_ACCEPT": "text/html+application/json"}, 406, id="accept no JSON"),
        pytest.param({}, {"HTTP_ACCEPT_LANGUAGE": "fr"}, 201, id="in French"),
        pytest.param({}, {"HTTP_ACCEPT_LANGUAGE": "ja"}, 201, id="in no language of ours"),
        pytest.param({}, {"HTTP_ORIGIN": "https://elsewhere.example"}, 201, id="from another origin"),
        pytest.param({}, {"HTTP_USER_AGENT": "table/7"}, 201, id="with a user agent"),
        pytest.param({}, {"HTTP_IF_NONE_MATCH": '"x"'}, 201, id="conditional"),
        pytest.param({}, {"HTTP_HOST": "LOCALHOST:8000"}, 201, id="this machine"),
        pytest.param({}, {"HTTP_HOST": "evil.example"}, 400, id="another host"),
        pytest.param({}, {"HTTP_HOST": "localhost:port"}, 400, id="no port"),
        pytest.param({"ALLOWED_HOSTS": [".casino.example"]}, {"HTTP_HOST": "log.casino.example"}, 201, id="own host"),
        pytest.param({"ALLOWED_HOSTS": [".casino.example"]}, {}, 400, id="no longer this machine"),
        pytest.param({"USE_X_FORWARDED_HOST": True}, {"HTTP_X_FORWARDED_HOST": "evil.example"}, 400, id="forwarded"),
        pytest.param({"X_FRAME_OPTIONS": "SAMEORIGIN"}, {}, 201, id="other frames"),
        pytest.param({"CONTENT_SECURITY_POLICY": "default-src 'self'"}, {}, 201, id="another content policy"),
        pytest.param(HTTPS, SECURE, 201, id="HTTPS"),
        pytest.param(HTTPS, {}, 301, id="HTTPS only"),
        pytest.param({}, SECURE, 201, id="HTTPS that is not trusted"),
    ],
)
def test_the_queue_sends_every_header_that_django_sends(
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    db: None,
    stream: str,
    changed_settings: dict[str, Any],
    environ: dict[str, str],
    status: int,
) -> None:
    for name, value in changed_settings.items():
        setattr(settings, name, value)
    monkeypatch.setattr(RateCounter, "left_s", lambda counter: 30.0)
    monkeypatch.setattr(RateCounter, "_period", lambda counter: 0)  # no minute ends between two requests
    django = CountedDjango()
    answers = []
    for application in (Web(django), WSGIHandler()):
        tenant = make_tenant()  # each has its own rate
        sent = tenant.session(stream, 6)
        first = post(application, stream, sent[:3], tenant.secret, **environ)
        second = post(application, stream, sent[3:], tenant.secret, **environ)
        receipt = second[2] | dict.fromkeys(("root", "chain", "received_at", "signature"), ANY) if second[2] else None
        answers.append((first[0], *second[:2], list(second[2] or ()), receipt))
    assert answers[0] == answers[1]
    assert answers[0][:2] == (status, status)
    assert django.requests == (1 if status == 201 else 2), "the opener, and what is refused"
    if status == 201:
        expected = {"Content-Security-Policy", "Content-Language", "Vary", "RateLimit-Remaining", "Content-Length"}
        assert expected <= answers[0][2].keys()
        assert ("Strict-Transport-Security" in answers[0][2]) == (changed_settings is HTTPS)


def test_a_policy_of_one_request_is_not_applied_to_another(
    tenant: Tenant, stream: str, web: Web, django: CountedDjango
) -> None:
    sent = tenant.session(stream, 9)
    opened(web, tenant, stream, 3)
    languages = []
    for seq, language in ((4, "fr"), (5, "fr"), (6, "en"), (7, "fr")):
        _, headers, _ = post(web, stream, [sent[seq - 1]], tenant.secret, HTTP_ACCEPT_LANGUAGE=language)
        languages.append(headers["Content-Language"])
    assert languages == ["fr", "fr", "en", "fr"]
    assert django.requests == 1, "the opener"


def test_the_number_of_policies_is_bounded(
    tenant: Tenant, stream: str, web: Web, django: CountedDjango, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MAX_KINDS", 2)
    sent = tenant.session(stream, 12)
    opened(web, tenant, stream, 3)
    for index, each in enumerate(sent[3:]):
        assert post(web, stream, [each], tenant.secret, HTTP_ACCEPT_LANGUAGE=f"x-{index}")[0] == 201
        assert len(web.policy.known) <= 2


def every_kind(tenant: Tenant, name: str) -> dict[int, tuple[Any, dict[str, str]]]:
    """Return for each status a request that is answered so, for a stream of three events."""
    sent = tenant.session(name, 6)
    return {
        201: (sent[3:4], {}),
        200: (sent[1:3], {}),
        400: (sent[3:4], {"HTTP_HOST": "evil.example"}),
        401: (sent[3:4], {"HTTP_AUTHORIZATION": f"Bearer cab_{'0' * 12}_{'x' * 43}"}),
        403: ([event(name, 1, "session.opened", **sent[0]["data"] | {"casino": "another"})], {}),
        404: (sent[3:4], {"PATH_INFO": f"/api/v1/streams/{name}/nothing"}),
        409: (sent[4:], {}),
        413: (b"[" + b" " * 1_100_000 + b"]", {}),
        415: (sent[3:4], {"CONTENT_TYPE": "text/plain"}),
        422: ([sent[3] | {"data": 7}], {}),
        429: (sent[3:4], {}),
        503: (sent[3:4], {}),
    }


@pytest.mark.parametrize("status", [201, 200, 400, 401, 403, 404, 409, 413, 415, 422, 429, 503])
def test_every_kind_of_answer_is_the_same_with_and_without_the_queue(
    db: None, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(RateCounter, "left_s", lambda counter: 30.0)
    monkeypatch.setattr(RateCounter, "_period", lambda counter: 0)  # no minute ends between two requests
    if status == 429:
        monkeypatch.setattr(KeyThrottle, "rate", "1/min", raising=False)
    answers = []
    for application in (Web(), WSGIHandler()):
        tenant, name = make_tenant(), unique_name()
        if status != 403:
            opened(application, tenant, name, 3)
        body, environ = every_kind(tenant, name)[status]
        with monkeypatch.context() as patch:
            if status == 503:
                patch.setattr(signing_keys, "signer", no_signer)
            answered, headers, content = post(application, name, body, tenant.secret, **environ)
        shown = json.dumps(content | dict.fromkeys(OF_ITS_OWN & content.keys()), sort_keys=True)
        shown = shown.replace(name, "stream").replace(tenant.code, "casino")
        kept = {key.lower(): value for key, value in headers.items() if key.lower() != "content-length"}
        answers.append((answered, kept, shown))
    assert answers[0] == answers[1]
    assert answers[0][0] == status


OF_ITS_OWN = {"root", "chain", "received_at", "signature", "to_sign", "sent_digest", "stored_digest"}


def no_signer(*_: Any) -> None:
    raise signing_keys.NoSigningKey
