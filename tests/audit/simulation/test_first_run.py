"""What a first run loads: nothing where no night is asked for, and no night that another one reopens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils.translation import override

from audit import tasks
from audit.casework import actions
from audit.management.commands import welcome
from audit.models import CaseAction, Casino, LoggedStream, Officer
from audit.models.cases import Outcome
from audit.simulation import first_run
from audit.simulation.first_run import Plan
from audit.simulation.month import VENUES
from casino import up
from tests.audit.casework.test_actions import Desk
from tests.audit.reconciliation.played import DAY, buy_ins, count, record, session

# The log keeps the streams of tests that committed: a first run begins where there are none.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("django_on_its_own_database")]

BEFORE = DAY - timedelta(days=1)


@pytest.fixture(autouse=True)
def data(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def simulated() -> Casino:
    venue = VENUES[0]
    return Casino.objects.create(code=venue.code, name=venue.name, time_zone=venue.zone)


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The days of the nights for which the sweep sends tasks."""
    days: list[str] = []
    monkeypatch.setattr(tasks.night_ledger, "delay", lambda **named: None)
    monkeypatch.setattr(tasks.night_reconcile, "delay", lambda *, casino_id, day: days.append(day))
    return days


def load(casino: Casino, day: Any) -> None:
    events = session(casino, "R1", coups=2, day=day)
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=day))


@pytest.mark.parametrize("is_done", [False, True])
def test_a_night_waits_for_the_night_before_while_the_month_is_loaded(
    simulated: Casino, swept: list[str], is_done: bool
) -> None:
    Plan(DAY, tables=2, nights=2, is_done=is_done).keep()
    load(simulated, DAY)
    tasks.night_sweep()
    assert (DAY.isoformat() in swept) == is_done
    load(simulated, BEFORE)
    tasks.night_sweep()
    assert {DAY.isoformat(), BEFORE.isoformat()} <= set(swept)


def test_a_night_waits_until_its_own_count_is_loaded(simulated: Casino, swept: list[str]) -> None:
    Plan(DAY, tables=2, nights=1).keep()
    events = session(simulated, "R1", coups=2)
    record(simulated, events)
    tasks.night_sweep()
    assert DAY.isoformat() not in swept
    record(simulated, count(simulated, {events[0]["stream"]: buy_ins(events)}))
    tasks.night_sweep()
    assert DAY.isoformat() in swept


def test_a_casino_that_is_not_simulated_waits_for_nothing(simulated: Casino, swept: list[str]) -> None:
    Plan(DAY, tables=2, nights=2).keep()
    own = Casino.objects.create(code="own", name="Own", time_zone="Europe/Paris")
    load(own, DAY)
    load(simulated, DAY)
    tasks.night_sweep()
    assert swept.count(DAY.isoformat()) == 2, "nothing simulated is loaded any more"


class _Accepting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a web server that accepts requests."""
    server = HTTPServer(("127.0.0.1", 0), _Accepting)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("none", [{"nights": 0}, {"tables": 0}])
def test_no_night_is_loaded_where_none_is_asked_for(url: str, none: dict[str, int]) -> None:
    call_command("welcome", url=url, **none)
    assert first_run.plan() is None
    assert not LoggedStream.objects.filter(is_of_desk=False).exists()
    assert not Casino.objects.exists()
    assert Officer.objects.filter(username="officer").exists()


def test_the_setting_of_the_first_nights_reaches_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CABOCHON_FIRST_NIGHTS", "0")
    with up.take_port() as listener:
        [command] = [each.command for each in up.children(listener) if each.name == "welcome"]
    assert command[command.index("--nights") + 1] == "0"


def test_simulated_officers_write_french_which_their_casinos_speak() -> None:
    desk = Desk()
    with override("en"):
        actions.perform(desk.case.pk, desk.first, "propose", reason=welcome.PROPOSAL, outcome=Outcome.CONFIRMED)
    [written] = CaseAction.objects.filter(type="case.proposed").values_list("reason", flat=True)
    assert written.startswith("La vidéo confirme l’enregistrement.")
    assert welcome.RESERVE == "Des agents s’en occupent déjà."
