"""What fails is said in a problem document, whatever fails, and at the desk on a page of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest
from django.db import connection
from django.http import HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.test import Client

from audit.event_store import binary_copy
from audit.ingest import record
from audit.models import ApiKey, KeyScope, LoggedStream, Officer
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db(transaction=True)

Read = Callable[[HttpResponse], tuple[int, str]]


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Return a function after which no connection to the database can be opened."""

    def close() -> None:
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "HOST", "/no/such/folder")

    yield close
    monkeypatch.undo()
    connection.close()


@pytest.mark.parametrize(
    "path", ["rules", "streams/s", "streams/s/events", "findings", "log/checkpoint", "reconciliations/x/2026-11-19"]
)
def test_a_database_that_is_gone_is_503_with_a_problem(
    tenant: Tenant, gone: Callable[[], None], code_of: Read, path: str
) -> None:
    gone()
    answer = tenant.ask(path)
    assert code_of(answer) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "2"
    if path == "streams/s/events":
        assert code_of(tenant.send("s", [])) == (503, "unavailable")


@pytest.mark.parametrize("required", ["offered", "required"])
@pytest.mark.parametrize("path", ["", "audit/finding/", "second-factor/", "login/"])
def test_the_desk_without_a_database_has_its_own_page(
    gone: Callable[[], None], settings: Any, required: str, path: str
) -> None:
    settings.CABOCHON_SECOND_FACTOR = required
    desk = Client(raise_request_exception=False)
    desk.force_login(
        Officer.objects.create_superuser(f"chief-{required}-{path}"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    gone()
    answer = desk.get(f"/admin/{path}", headers={"accept-language": "en"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert b"database" in answer.content
    assert "default-src" in answer["Content-Security-Policy"]


def disk_full(*args: Any, **kwargs: Any) -> NoReturn:
    """Fail as the server does when its disk is full."""
    binary_copy.execute("do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$", ())
    raise AssertionError("the statement fails")


def test_a_full_disk_is_503_and_nothing_is_acknowledged(
    tenant: Tenant, stream: str, code_of: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tenant.session(stream, 3)
    monkeypatch.setattr(record, "append", disk_full)
    answer = tenant.send(stream, sent)
    assert code_of(answer) == (503, "storage-full")
    assert answer.headers["Retry-After"] == "60"
    assert not LoggedStream.objects.filter(name=stream).exists()
    monkeypatch.undo()
    assert tenant.send(stream, sent).status_code == 201


@pytest.mark.parametrize("path", ["/api/v1/rules", "/api/v1/schema/", "/api/v2/rules", "/api/"])
def test_an_error_of_a_middleware_is_a_problem_below_api(
    tenant: Tenant, code_of: Read, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def fail(*args: Any) -> NoReturn:
        raise RuntimeError("secret of the server")

    monkeypatch.setattr(LocaleMiddleware, "process_request", fail)
    answer = tenant.client.get(path, headers=tenant.headers())
    assert code_of(answer) == (500, "failed")
    assert b"secret" not in answer.content
    at_desk = tenant.client.get("/admin/")
    assert (at_desk.status_code, at_desk["Content-Type"].partition(";")[0]) == (500, "text/html")


def test_an_unforeseen_error_of_a_view_is_a_problem(
    tenant: Tenant, code_of: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.api.findings.RULES", None)
    assert code_of(tenant.ask("rules")) == (500, "failed")


def test_an_address_outside_the_version_and_a_foreign_host_are_problems(tenant: Tenant, code_of: Read) -> None:
    assert code_of(tenant.client.get("/api/v2/rules")) == (404, "not-found")
    assert code_of(tenant.client.get("/api")) == (404, "not-found")
    assert code_of(tenant.client.get("/api/v1/rules", HTTP_HOST="evil.example")) == (400, "malformed")
    assert code_of(tenant.client.get("/api/v1/rules?a=%00")) == (400, "malformed")
    assert tenant.client.get("/nothing").headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        ("get", "rules", {"Authorization": ""}, (401, "unauthenticated", "'Authorization: Bearer cab_…'")),
        ("get", "rules", {"Authorization": "Bearer a b"}, (401, "unauthenticated", "Send one key")),
        ("get", "rules", {"Authorization": "Bearer cab_x"}, (401, "unauthenticated", "'manage.py createkey'")),
        ("get", "streams/nowhere", {}, (404, "not-found", "no stream 'nowhere'")),
        ("get", "streams/nowhere", {}, (404, "not-found", "Open it with session.opened")),
        ("get", "streams/no where", {}, (404, "not-found", "1 to 100 of A-Z")),
        ("get", "streams/no~where/batches", {}, (404, "not-found", "1 to 100 of A-Z")),
        ("get", "findings/999999999", {}, (404, "not-found", "GET /api/v1/key says")),
        ("get", "findings?cursor=x", {}, (404, "not-found", "Begin again without it")),
        ("get", "no-such-address", {}, (404, "not-found", "/api/v1/schema/ lists")),
        ("get", "reconciliations/elsewhere/2026-11-19", {}, (404, "not-found", "once it is reconciled")),
        ("get", "reconciliations/elsewhere/today", {}, (404, "not-found", "once it is reconciled")),
        ("get", "log/consistency?from=1&to=9007199254740991", {}, (404, "not-found", "'from' the smaller")),
        ("put", "rules", {}, (405, "method-not-allowed", "The header Allow")),
        ("get", "rules", {"Accept": "image/png"}, (406, "not-acceptable", "Leave the header out")),
        ("get", "rules?since=1", {}, (422, "invalid", "which takes none")),
        ("get", "findings?rule=", {}, (422, "invalid", "give it one, or leave it out")),
        ("get", "findings?severity=worst", {}, (400, "malformed", "'errors' says which")),
    ],
)
def test_a_problem_says_what_to_do_next(
    tenant: Tenant, code_of: Read, method: str, path: str, headers: dict[str, str], expected: tuple[int, str, str]
) -> None:
    answer = tenant.client.generic(method.upper(), f"/api/v1/{path}", headers=tenant.headers() | headers)
    status, code, words = expected
    assert code_of(answer) == (status, code)
    assert words in json.loads(answer.content)["detail"]


def test_a_key_without_the_scope_is_told_which_one_it_needs(tenant: Tenant, code_of: Read) -> None:
    _, secret = ApiKey.make(casino=tenant.casino, name="sends only", scopes=[KeyScope.EVENTS_WRITE])
    answer = tenant.ask("findings", Authorization=f"Bearer {secret}")
    assert code_of(answer) == (403, "forbidden")
    assert json.loads(answer.content)["detail"] == (
        "This address needs a key with the scope findings:read. Have an administrator of the casino make one with it,"
        " at the desk or by 'manage.py createkey --scope'; GET /api/v1/key says which scopes a key has."
    )
