"""A witness as a process or a thread of its own, with a key of its own, on a port of its own."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cabochon_witness.notes import LOG_KEY, CosigningKey, PublicKey
from cabochon_witness.server import IDLE_S, WitnessServer
from cabochon_witness.storage import write
from cabochon_witness.witness import Witness

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Running:
    """A witness that listens: its public key, its port, its data, its process if it has one."""

    vkey: str
    port: int
    data: Path
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(self, body: bytes, path: str = "/add-checkpoint") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def log(self) -> dict[str, Any]:
        """Return the status of the only log."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", "/status")
        [log] = json.loads(connection.getresponse().read())["logs"]
        return dict(log)

    @property
    def alarms(self) -> list[str]:
        return [name.partition("-")[0] for name in self.log()["alarms"]]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the witness's command to its end."""
    words = [sys.executable, "-m", "cabochon_witness", *arguments]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def make_key(folder: Path, name: str = "witness.example/w1") -> str:
    """Make a key in ``folder`` as the command ``key`` does; return the public one."""
    key = CosigningKey(name, secrets.token_bytes(32))
    write(folder / "key", key.as_file().encode())
    return str(key.public)


@contextmanager
def witness(
    folder: Path, logs: Sequence[str], *options: str, port: int = 0, idle_s: float = IDLE_S
) -> Iterator[Running]:
    """Run a witness whose key is in ``folder`` until the block ends. ``logs`` are ``ORIGIN=VKEY``.

    It cuts a client off that has sent nothing for ``idle_s``.
    """
    script = (
        f"import sys; from cabochon_witness import __main__, server; server._Handler.timeout = {idle_s};"
        " sys.exit(__main__.run())"
    )
    started = ["-m", "cabochon_witness"] if idle_s == IDLE_S else ["-c", script]
    words = [sys.executable, *started, "--data", str(folder / "data"), "--key", str(folder / "key")]
    for each in logs:
        words += ["--log", each]
    words += ["--listen", f"127.0.0.1:{port}", *options]
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=(folder / "stderr").open("a"),
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert " listens on " in line, (folder / "stderr").read_text()
        vkey, address = line.strip().split(" listens on ")
        yield Running(vkey, int(address.rpartition(":")[2]), folder / "data", process)
    finally:
        process.kill()  # SIGTERM ends it at its next tick, half a second later
        process.wait()


@contextmanager
def witness_in_a_thread(folder: Path, logs: Mapping[str, Sequence[object]]) -> Iterator[Running]:
    """Run a witness whose key is in ``folder``, of logs with their keys, in this process: for what others say to it."""
    key = CosigningKey.from_file((folder / "key").read_text())
    parsed = {origin: [PublicKey.parse(str(each), LOG_KEY) for each in keys] for origin, keys in logs.items()}
    (folder / "data").mkdir()
    seen = Witness(key, parsed, folder / "data", silent_after_s=86_400, on_alarm=lambda alarm: None)
    with WitnessServer(("127.0.0.1", 0), seen) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield Running(str(key.public), int(server.server_address[1]), folder / "data")
        server.shutdown()
