"""The command: ``python -m cabochon_witness key …`` makes a key, ``python -m cabochon_witness …`` is the witness."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from cabochon_witness.notes import LOG_KEY, BadNote, CosigningKey, PublicKey
from cabochon_witness.server import WitnessServer
from cabochon_witness.shown import say
from cabochon_witness.storage import CannotRead, lock, write
from cabochon_witness.witness import Alarm, Witness

COMMAND_S = 60


class WrongUse(Exception):
    """The command line, or a file that it names, is not what it has to be."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    try:
        if arguments[:1] == ["key"]:
            return _make_key(arguments[1:])
        return _serve(arguments)
    except (WrongUse, BadNote, CannotRead, OSError) as error:
        say(f"cabochon_witness: {error}", to=sys.stderr)
        return 2


def _make_key(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m cabochon_witness key", description="Make the key of a witness.")
    parser.add_argument("--name", required=True, help="its name, as witness.example/w1; nobody else has it")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the new file of the private key")
    options = parser.parse_args(arguments)
    if options.out.exists():
        raise WrongUse(f"{options.out} exists; a key is never replaced")
    key = CosigningKey(options.name, secrets.token_bytes(32))
    options.out.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(options.out, key.as_file().encode())
    say(key.public)
    return 0


def _serve(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m cabochon_witness",
        description="Cosign the checkpoints of logs, as long as each extends the last. Another command: key.",
    )
    parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="what is remembered, and evidence")
    parser.add_argument("--key", required=True, type=Path, metavar="FILE", help="the private key, made by 'key'")
    parser.add_argument(
        "--log", required=True, action="append", metavar="ORIGIN=VKEY", help="a log and its key; may be repeated"
    )
    parser.add_argument("--listen", default="127.0.0.1:8421", metavar="HOST:PORT")
    parser.add_argument(
        "--silent-after", type=float, default=1440, metavar="MINUTES", help="an alarm without a new checkpoint (1440)"
    )
    parser.add_argument("--on-alarm", metavar="COMMAND", help="run once for each kind of alarm of a log")
    options = parser.parse_args(arguments)
    key = CosigningKey.from_file(options.key.read_text())
    held = lock(options.data)
    witness = Witness(
        key,
        _logs(options.log),
        options.data,
        silent_after_s=options.silent_after * 60,
        on_alarm=lambda alarm: _run(options.on_alarm, alarm),
    )
    server = WitnessServer(_address(options.listen), witness)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    host, port = server.server_address[:2]
    say(f"{key.public} listens on {host!s}:{port}")
    server.serve()
    server.server_close()
    os.close(held)
    return 0


def _logs(given: Sequence[str]) -> dict[str, list[PublicKey]]:
    logs: dict[str, list[PublicKey]] = {}
    for each in given:
        origin, separator, vkey = each.partition("=")
        if not separator or not origin:
            raise WrongUse(f"--log {each}: it is ORIGIN=VKEY")
        logs.setdefault(origin, []).append(PublicKey.parse(vkey, LOG_KEY))
    return logs


def _address(given: str) -> tuple[str, int]:
    host, _, port = given.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise WrongUse(f"--listen {given}: it is HOST:PORT")
    return host.strip("[]"), int(port)


def _run(command: str | None, alarm: Alarm) -> None:
    """Run the command of an alarm in a thread of its own; the alarm is in its environment."""
    if command is None:
        return
    environment = {
        **os.environ,
        "WITNESS_ALARM": alarm.kind,
        "WITNESS_LOG": alarm.origin,
        "WITNESS_WHAT": alarm.what,
        "WITNESS_EVIDENCE": str(alarm.folder or ""),
    }

    def run() -> None:
        try:
            subprocess.run(shlex.split(command), env=environment, timeout=COMMAND_S, check=True, stdout=sys.stderr)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            say(f"ERROR --on-alarm: {error}", to=sys.stderr)

    threading.Thread(target=run).start()


def run() -> int:
    """Run the command of the process: ``cabochon-witness``."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
