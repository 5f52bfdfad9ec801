"""Log messages: JSON with the ids of their request or task, whoever logs them, and no names or secrets."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from casino import logs
from casino.request_ids import request_id_of
from tests.casino.processes import ENVIRONMENT, TIMEOUT_S, nothing_left_on, until

ROOT = Path(__file__).parent.parent.parent

LOGS = """
import logging, warnings
import structlog
from casino import logs
from casino.request_ids import bind_request, request_id_of

logs.configure(celery_level="INFO")

bind_request(request_id_of(b""), "/api/v1/streams/d.C1.1/events")
structlog.get_logger("audit.x").info("ours", n=1)
logging.getLogger("django.request").error("Internal Server Error: %s", "/x")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("celery.app.trace").exception("task failed")
logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
logging.getLogger("axes.attempts").warning("failed login of anna")
warnings.warn("a warning")
"""


def test_every_message_is_one_line_of_json_with_the_request_and_the_stream() -> None:
    done = subprocess.run([sys.executable, "-c", LOGS], cwd=ROOT, capture_output=True, text=True, check=True)
    messages = [json.loads(line) for line in done.stderr.splitlines()]
    assert [each["event"].splitlines()[0][:12] for each in messages] == [
        *("ours", "Internal Ser", "task failed", "Invalid HTTP", "<string>:18:"),
    ], "whoever signs in is named in none"
    assert {each["stream"] for each in messages} == {"d.C1.1"}
    assert len({each["request_id"] for each in messages}) == 1
    assert all({"level", "logger", "timestamp"} <= set(each) for each in messages)
    assert "ZeroDivisionError" in messages[2]["exception"]


@pytest.mark.parametrize(("sent", "is_kept"), [("abc-1.2_X", True), ("a" * 65, False), ("a\nb", False), ("", False)])
def test_a_request_id_that_is_sent_is_kept_if_it_is_a_plain_word(sent: str, is_kept: bool) -> None:
    chosen = request_id_of(sent.encode())
    assert (chosen.decode() == sent) is is_kept
    assert re.fullmatch(rb"[A-Za-z0-9._-]{1,64}", chosen)


@pytest.mark.faults
def test_a_worker_that_is_told_to_stop_says_so_in_json(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "CABOCHON_DATA": str(tmp_path), "CELERY_BROKER_URL": "memory://"}
    command = [sys.executable, "-m", "celery", "-q", "-A", "casino", "worker", "--pool", "solo", "--loglevel", "info"]
    output = tmp_path / "output"
    with nothing_left_on(tmp_path), output.open("wb") as file:
        worker = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
        until(lambda: " ready." in output.read_text(), "the worker")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(TIMEOUT_S) == 0
    messages = [json.loads(line) for line in output.read_text().splitlines()]
    [last] = [each for each in messages if "Warm shutdown" in each["event"]]
    assert (last["level"], last["logger"]) == ("info", "celery.worker")
    assert last["timestamp"]


def test_people_at_a_terminal_read_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    last = logs.configuration()["formatters"]["line"]["processors"][-1]
    assert type(last).__name__ == "ConsoleRenderer"
