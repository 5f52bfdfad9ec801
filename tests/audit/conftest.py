"""Fixtures of tests of the record: a tenant, a name for a stream, and what no test may leave to another."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import translation

from audit.api import key_lookup
from audit.api.rate_limit import RateCounter
from audit.transparency import signing_keys
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant


@pytest.fixture(autouse=True)
def own_keys() -> Iterator[None]:
    """Forget the log's keys before a test, and after it: it may have created some, which are rolled back."""
    signing_keys._keyring.forget()
    yield
    signing_keys._keyring.forget()


@pytest.fixture(autouse=True)
def own_language() -> None:
    """Forget the language that a request of the test before this one chose."""
    translation.deactivate()


_casinos_of: Counter[str] = Counter()


def make_tenant(*, tables: tuple[str, ...] = ("C1", "R1"), limited_to: tuple[str, ...] = ()) -> Tenant:
    """Create a casino that no other test has, committed or not, whose client gets an error as an answer.

    A test has the same casino in each run: what is simulated follows from its code, so a test that fails fails again.
    """
    test = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
    _casinos_of[test] += 1
    code = f"casino-{sha256(f'{test} {_casinos_of[test]}'.encode()).hexdigest()[:12]}"
    return Tenant(code, tables=tables, limited_to=limited_to, client=Client(raise_request_exception=False))


@pytest.fixture(autouse=True)
def no_failures_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without failed keys: all tests come from one address."""
    for name in ("_failures", "_wrong_secrets"):
        monkeypatch.setattr(key_lookup, name, RateCounter(60, f"{name}-{uuid4().hex}"))
    key_lookup._active_keys.forget()


@pytest.fixture
def tenant(db: None) -> Tenant:
    return make_tenant()


@pytest.fixture
def stream() -> str:
    return unique_name()


@pytest.fixture
def committed_tenant(transactional_db: None) -> Tenant:
    """A casino whose rows are committed, for tests in which several connections meet.

    Afterwards the casino is gone, and its findings with it: officers of all casinos would see them in another test.
    """
    return make_tenant()


@pytest.fixture
def code_of() -> Callable[[HttpResponse], tuple[int, str]]:
    """Return the status and the code of a problem document, having checked that it is one."""

    def read(response: HttpResponse) -> tuple[int, str]:
        problem = json.loads(response.content)
        assert response.headers["Content-Type"] == "application/problem+json"
        assert problem["status"] == response.status_code
        assert problem["detail"]
        return response.status_code, problem["code"]

    return read
