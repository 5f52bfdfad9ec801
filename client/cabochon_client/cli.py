"""The command ``cabochon``: send files, see where everything stands, check the way to the record."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sqlite3
import ssl
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cabochon_client.answers import advice
from cabochon_client.checks import check_all
from cabochon_client.client import Client, Status
from cabochon_client.conformance import run as conformance
from cabochon_client.conformance.read_back import NotReadable
from cabochon_client.conformance.scripts import GAMES
from cabochon_client.events import EventError
from cabochon_client.link import Unreachable
from cabochon_client.sender import CLOCK_TOLERANCE_S
from cabochon_client.shown import printable, say
from cabochon_client.spool import OutOfOrder, SpoolFull

DONE, IN_DIFFICULTY, NOT_DONE, REFUSED = 0, 1, 2, 3
"""Exit statuses: all is well; a session is held or stopped, or a check failed; not all sent in time; wrong input."""

PLAY_S, WATCH_S = 60.0, 4 * 3600.0
"""Seconds for which ``check`` waits for one session: to be adjudicated, and to be played by the table system."""

PAGE = 1_000
"""Lines of a file that are put into the spool in one write."""


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(printable, super().format(record).split("\n")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Formatter("%(levelname)s %(message)s"))
    try:
        with _client(options) as client:
            status: int = options.command(client, options)
            return status
    except (EventError, OutOfOrder, SpoolFull, NotReadable, Unreachable, OSError, ValueError, sqlite3.Error) as error:
        say(f"cabochon: {error}", to=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cabochon", description=__doc__)
    environment = os.environ.get
    parser.add_argument("--url", default=environment("CABOCHON_URL", "http://localhost:8000"), help="CABOCHON_URL")
    parser.add_argument("--spool", default=environment("CABOCHON_SPOOL", "cabochon-spool.db"), help="CABOCHON_SPOOL")
    parser.add_argument(
        "--key-file", type=Path, help="keys, one a line, the newest first; else CABOCHON_KEY, with commas"
    )
    parser.add_argument("--ca-file", help="certificates to trust in place of the system's")
    parser.add_argument("--verbose", action="store_true", help="say what is sent again, and why")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(command=command)
        return added

    send = add("send", _send, "put the events of files into the spool, and send until the record has them")
    send.add_argument("files", nargs="*", metavar="FILE.ndjson", help="one event a line; - for the standard input")
    send.add_argument(
        "--timeout", type=float, metavar="S", help="give up after S seconds; the spool keeps what is left"
    )
    send.add_argument("--sealed", action="store_true", help="wait until the log has sealed everything")
    add("status", _status, "where every session stands; asks nobody").add_argument("--json", action="store_true")
    _add_check(add("check", _check, "whether this machine can send to the record; with URL, whether a system conforms"))
    lost = add("lost", _lost, "declare events lost for good: those from what the record takes next through N")
    lost.add_argument("stream")
    lost.add_argument("--through", type=int, required=True, metavar="N", help="the last number that is lost")
    lost.add_argument("--reason", default="spool_lost", help="spool_lost, refused, or other text")
    add("retry", _retry, "try a session again that is held or stopped").add_argument("stream")
    add("receipts", _receipts, "the receipts of a session that are kept, one a line").add_argument("stream")
    return parser


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument(
        "target",
        nargs="?",
        metavar="URL",
        help="play scripts of sessions in a sandbox of this record, and write a report; without it nothing is recorded",
    )
    check.add_argument("--watch", action="store_true", help="have the table system play the scripts, and judge them")
    check.add_argument(
        "--script", action="append", default=[], metavar="NAME", help="one script, several times; else all"
    )
    check.add_argument(
        "--stream", action="append", default=[], metavar="STREAM", help="judge a session that was played"
    )
    check.add_argument("--game", choices=sorted(GAMES), default="craps", help="what is played; default: craps")
    check.add_argument("--table", metavar="CODE", help="the table to play at; default: the key's first")
    check.add_argument("--report", type=Path, default=Path("conformance.html"), help="default: conformance.html")
    check.add_argument("--timeout", type=float, metavar="S", help="wait for a session: 60, with --watch 14400")


def _client(options: argparse.Namespace) -> Client:
    def keys() -> list[str]:
        if options.key_file is not None:
            return list(options.key_file.read_text().split())
        return os.environ.get("CABOCHON_KEY", "").split(",")

    context = ssl.create_default_context(cafile=options.ca_file) if options.ca_file else None
    options.url = getattr(options, "target", None) or options.url
    return Client(options.spool, options.url, keys, context=context)


def _send(client: Client, options: argparse.Namespace) -> int:
    for name in options.files:
        for page in _pages(name):
            client.put(page)
    is_done = client.flush(options.timeout, sealed=options.sealed)
    status = client.status()
    _print_difficulties(status)
    if is_done:
        say(f"The record has everything. Receipts kept: {sum(status.receipts.values())}.")
        return DONE
    say(f"{status.waiting} events wait in {client.spool.path}.")
    return IN_DIFFICULTY if status.in_difficulty else NOT_DONE


def _pages(name: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the events of a file, some at a time. Raise ``EventError`` for a line that is not one."""
    stream = sys.stdin.buffer if name == "-" else open(name, "rb")  # noqa: SIM115
    with stream:
        page: list[dict[str, Any]] = []
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                event = json.loads(line)
            except ValueError as error:
                raise EventError(f"{name}, line {number}: {error}") from None
            if not isinstance(event, dict):
                raise EventError(f"{name}, line {number}: is not an event")
            page.append(event)
            if len(page) == PAGE:
                yield page
                page = []
        yield page


def _status(client: Client, options: argparse.Namespace) -> int:
    status = client.status()
    if options.json:
        sessions = [{**vars(row), "waiting": row.waiting} for row in status.sessions]
        say(json.dumps({**vars(status), "sessions": sessions, "waiting": status.waiting}))
        return IN_DIFFICULTY if status.in_difficulty else DONE
    for row in status.sessions:
        say(f"{row.stream}  through {row.acknowledged}, {row.waiting} waiting, {row.state}")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(status.receipts.items())) or "none"
    say(f"receipts: {counts}; spool: {status.used_bytes / 2**20:.1f} of {status.max_bytes / 2**20:.0f} MiB")
    if status.clock_offset_s is not None and abs(status.clock_offset_s) > CLOCK_TOLERANCE_S + 0.5:
        say(f"this clock was {status.clock_offset_s:+.1f} s from the record's: set it by NTP")
    _print_difficulties(status)
    return IN_DIFFICULTY if status.in_difficulty else DONE


def _print_difficulties(status: Status) -> None:
    if status.problem is not None:
        say(f"The record: {status.problem.get('detail')}", f"    {advice(status.problem['code'])}")
    for row in status.sessions:
        if row.problem is not None:
            say(f"{row.stream}, {row.state}: {row.problem.get('detail')}", f"    {advice(row.problem['code'])}")
            for error in row.problem.get("errors", [])[:5]:
                say(f"    {error.get('pointer')}: {error.get('detail')}")
    for stream, (first, last) in status.renumbered.items():
        say(f"{stream}: events {first} to {last} are {first + 1} to {last + 1} now", f"    {advice('closed')}")
    if status.restored is not None:
        lost = f"{status.restored['stream']} from {status.restored['next_seq']} on"
        say(f"The record was restored, and was sent again what it had lost, last {lost}", f"    {advice('restored')}")
    if status.receipts.get("false"):
        say(f"{status.receipts['false']} receipts without a seal that holds", f"    {advice('seal-false')}")


def _check(client: Client, options: argparse.Namespace) -> int:
    failed = 0
    for check in check_all(client.link, client.ring):
        say(check)
        failed += check.is_needed and not check.is_ok
    if failed or options.target is None:
        return IN_DIFFICULTY if failed else DONE
    return _check_conformance(client, options)


def _check_conformance(client: Client, options: argparse.Namespace) -> int:
    order = conformance.order_of(
        scripts=options.script,
        game=options.game,
        table=options.table,
        watch=options.watch,
        streams=options.stream,
        report=options.report,
        timeout_s=options.timeout or (WATCH_S if options.watch else PLAY_S),
    )
    conforms = conformance.check(client.link, client.ring, order, lambda text: say(*text.split("\n")))
    return DONE if conforms else IN_DIFFICULTY


def _lost(client: Client, options: argparse.Namespace) -> int:
    first = client.declare_lost(options.stream, through=options.through, reason=options.reason)
    say(f"Events {first} to {options.through} of {options.stream} are declared lost; it goes on with the next.")
    return DONE


def _retry(client: Client, options: argparse.Namespace) -> int:
    client.retry(options.stream)
    return DONE


def _receipts(client: Client, options: argparse.Namespace) -> int:
    for state, receipt in client.spool.receipts(options.stream):
        say(json.dumps({"state": state, "receipt": receipt}))
    return DONE
