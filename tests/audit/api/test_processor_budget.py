"""Budgets of work in the web server: a key, an officer or an address that uses too much waits, and nobody else."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from audit.access import password_hashing
from audit.access.password_hashing import OneLane
from audit.api.processor_budget import Buckets, ProcessorBudget, identity_of, processor_s
from audit.models import ApiKey
from casino import web as web_server
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_is_overdrawn_by_what_was_begun_and_fills_at_its_rate() -> None:
    clock = Clock()
    buckets = Buckets(rate=0.1, burst_s=2.0, clock=clock)
    assert buckets.wait_s("a") == 0
    buckets.charge("a", 1.9)
    assert buckets.wait_s("a") == 0, "0.1 s is left"
    buckets.charge("a", 0.5)
    assert buckets.wait_s("a") == pytest.approx(4.0)
    assert buckets.wait_s("b") == 0, "another's is full"
    clock.now = 3.9
    assert buckets.wait_s("a") > 0
    clock.now = 4.1
    assert buckets.wait_s("a") == 0
    clock.now = 10_000.0
    buckets.charge("a", 2.5)
    assert buckets.wait_s("a") == pytest.approx(5.0), "it held no more than the burst"


@pytest.fixture
def web(settings: Any) -> tuple[ProcessorBudget, Clock]:
    """The middleware over a view whose answers take a second of processor time each, on a clock that stands still."""
    settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S = 0.1, 2.0
    busy = Clock()

    def view(request: HttpRequest) -> HttpResponse:
        busy.now += 1.0
        return HttpResponse("done")

    budget = ProcessorBudget(view)
    budget.processor_s, now = busy, Clock()
    budget.buckets = Buckets(rate=0.1, burst_s=2.0, clock=now)
    return budget, now


def request(path: str = "/", *, address: str = "192.0.2.1", secret: str = "", officer: Any = None) -> HttpRequest:
    key = {"HTTP_AUTHORIZATION": f"Bearer {secret}"} if secret else {}
    created = RequestFactory().get(path, REMOTE_ADDR=address, **key)
    created.user = officer or AnonymousUser()
    return created


def test_who_has_used_up_a_budget_is_refused_with_the_time_to_wait(web: tuple[ProcessorBudget, Clock]) -> None:
    budget, now = web
    assert [budget(request()).status_code for _ in range(3)] == [200, 200, 429]
    refused = budget(request())
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.headers["Retry-After"] == "1"
    assert b"Retry-After says" in refused.content
    assert budget(request("/health/ready")).status_code == 200
    now.now = 5.0
    assert [budget(request()).status_code for _ in range(2)] == [200, 429]
    assert budget(request()).headers["Retry-After"] == "5"


def test_a_key_and_an_officer_have_budgets_of_their_own_at_an_address_that_used_up_its(
    web: tuple[ProcessorBudget, Clock], django_user_model: Any
) -> None:
    budget, _ = web
    tenant = Tenant()
    _key, secret = ApiKey.make(casino=tenant.casino, name="reader", scopes=["findings:read"])
    officer = django_user_model(pk=7, username="reka")
    while budget(request()).status_code == 200:
        pass
    assert budget(request(secret=secret)).status_code == 200
    assert budget(request(officer=officer)).status_code == 200
    assert budget(request(address="192.0.2.2")).status_code == 200
    assert budget(request(secret="cab_" + "x" * 40)).status_code == 429, "no key, so the address's"
    while budget(request(secret=secret)).status_code == 200:
        pass
    assert budget(request(officer=officer)).status_code == 200


def test_the_addresses_of_one_subscriber_share_a_budget() -> None:
    assert identity_of(request(address="2001:db8::1")) == identity_of(request(address="2001:db8::2"))
    assert identity_of(request(address="2001:db8::1")) != identity_of(request(address="2001:db8:0:1::1"))


def test_a_flood_at_the_page_to_sign_in_is_refused(client: Any, settings: Any) -> None:
    settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S = 0.001, 1e-6
    assert client.post("/admin/login/", {"username": "a", "password": "b"}).status_code != 429
    refused = client.post("/admin/login/", {"username": "a", "password": "b"})
    assert refused.status_code == 429
    assert refused.json()["code"] == "throttled"


def test_who_has_no_address_has_no_budget(web: tuple[ProcessorBudget, Clock]) -> None:
    budget, _ = web
    assert identity_of(request(address="")) is None
    assert [budget(request(address="")).status_code for _ in range(4)] == [200] * 4


def test_who_sends_many_at_once_does_not_have_every_thread(web: tuple[ProcessorBudget, Clock]) -> None:
    budget, _ = web
    statuses: list[int] = []

    def view(requested: HttpRequest) -> HttpResponse:
        statuses.append(budget(request()).status_code)  # while the one before is being answered
        return HttpResponse("done")

    budget.get_response = view
    assert budget(request()).status_code == 200
    assert sorted(statuses) == [200] * 7 + [429], "two seconds, a quarter of one for each"
    statuses.clear()
    assert budget(request()).status_code == 200, "what was held back is given back"


def test_a_password_hashed_in_eight_lanes_is_still_right_and_stays_as_it_is() -> None:
    before, now = Argon2PasswordHasher(), OneLane()
    before.memory_cost = now.memory_cost = 1_024
    encoded = before.encode("a password", before.salt())
    assert ",p=8$" in encoded
    assert ",p=1$" in now.encode("a password", now.salt())
    assert now.verify("a password", encoded)
    assert not now.verify("another", encoded)
    assert not now.must_update(encoded)
    before.memory_cost = 512
    assert now.must_update(before.encode("a password", before.salt()))


def test_passwords_are_hashed_one_at_a_time_by_a_thread_that_gives_way() -> None:
    def where() -> tuple[str, int]:
        return threading.current_thread().name, os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    name, nice = password_hashing._aside(where)
    assert name.startswith("passwords")
    assert nice == os.getpriority(os.PRIO_PROCESS, 0) + password_hashing.NICE
    assert password_hashing._aside(where)[0] == name


def test_the_web_server_and_hashing_call_their_folder_alike() -> None:
    assert web_server.SHARED_FOLDER == password_hashing.SHARED_FOLDER


def test_the_processes_of_a_web_server_hash_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(password_hashing.SHARED_FOLDER, str(tmp_path))

    def is_somebodys_turn() -> bool:
        with (tmp_path / "hashing").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    assert password_hashing._aside(is_somebodys_turn)
    assert not is_somebodys_turn()


def test_a_budget_pays_for_hashing_that_another_thread_does() -> None:
    hasher = OneLane()
    hasher.memory_cost = 10_240
    own_before, before = time.thread_time(), processor_s()
    encoded = hasher.encode("a password", hasher.salt())
    assert hasher.verify("a password", encoded)
    own_s, all_s = time.thread_time() - own_before, processor_s() - before
    assert all_s > own_s
    others: list[float] = []
    other = threading.Thread(target=lambda: others.append(password_hashing.hashed_s()))
    other.start()
    other.join()
    assert others == [0.0], "it is on the account of the thread that asked"


def test_a_process_that_was_forked_hashes_too() -> None:
    hasher = OneLane()
    hasher.memory_cost = 1_024
    encoded = hasher.encode("a password", hasher.salt())
    child = os.fork()
    if not child:
        signal.alarm(60)  # rather than for ever
        os._exit(0 if hasher.verify("a password", encoded) else 1)
    assert os.waitpid(child, 0)[1] == 0
