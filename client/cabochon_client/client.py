"""The client: sessions that events are appended to, and a thread that sends them."""

from __future__ import annotations

import json
import logging
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from cabochon_client.events import check_stream, in_rfc_3339
from cabochon_client.link import TIMEOUT_S, KeyRing, Keys, Link, Unreachable
from cabochon_client.lock import FileLock
from cabochon_client.sender import Sender, next_seq_in
from cabochon_client.spool import KEEP_S, MAX_BYTES, OutOfOrder, SessionRow, Spool

POLL_S = 0.05
"""Seconds between two looks at the spool while another thread or process sends."""

IDLE_S = 1.0
"""Seconds after which the thread looks for what another process has appended."""

log = logging.getLogger("cabochon_client")


@dataclass(frozen=True)
class Status:
    """Where everything stands, as far as the spool knows; nobody is asked.

    ``receipts`` counts those that are kept by state: ``given``, ``sealed``, ``unchecked`` (the key may not look),
    ``void`` (the record has lost the batch, and was sent it again), ``false`` (the log's proof does not hold).
    ``clock_offset_s`` is how far this clock was ahead of the record's, None before the first answer. ``problem`` is
    what is wrong with the record or the way to it, ``restored`` where a restored record had lost events.
    ``renumbered`` has the first and the last number that are one higher now, by session that two officers closed.
    """

    sessions: list[SessionRow]
    receipts: dict[str, int]
    used_bytes: int
    max_bytes: int
    clock_offset_s: float | None
    problem: dict[str, Any] | None
    restored: dict[str, Any] | None
    renumbered: dict[str, tuple[int, int]]

    @property
    def waiting(self) -> int:
        """How many events the record has not acknowledged."""
        return sum(row.waiting for row in self.sessions)

    @property
    def in_difficulty(self) -> list[SessionRow]:
        """The sessions that are held or stopped."""
        return [row for row in self.sessions if row.state != "open"]


class Session:
    """A session of a table, or a count: its events, in order. Appended to by one process at a time."""

    def __init__(self, client: Client, stream: str) -> None:
        self._client = client
        self.stream = check_stream(stream)

    def append(
        self,
        type: str,
        data: Mapping[str, Any] | None = None,
        *,
        occurred_at: datetime | None = None,
        actor: str | None = None,
        ext: Mapping[str, Any] | None = None,
    ) -> int:
        """Put an event into the spool and return its ``seq``. It is on the disk when this returns; it is sent later.

        ``occurred_at`` is now unless it is given, and has an offset. Raise ``EventError`` for an event that the record
        could not take, ``SpoolFull`` if there is no room; then nothing was appended.
        """
        return self.extend([event(type, data, occurred_at=occurred_at, actor=actor, ext=ext)])[0]

    def extend(self, events: Sequence[Mapping[str, Any]]) -> list[int]:
        """Append events as ``event`` makes them, all or none, in one write to the disk; return their numbers."""
        return self._client.append(self.stream, events)


def event(
    type: str,
    data: Mapping[str, Any] | None = None,
    *,
    occurred_at: datetime | None = None,
    actor: str | None = None,
    ext: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an event that has no number yet. Raise ``EventError`` if ``occurred_at`` has no offset."""
    content: dict[str, Any] = {"type": type, "occurred_at": in_rfc_3339(occurred_at), "data": dict(data or {})}
    if actor is not None:
        content["actor"] = actor
    if ext is not None:
        content["ext"] = dict(ext)
    return content


class Client:
    """Sends events to the record at ``url`` through a spool in the file ``spool``.

    ``keys`` are one API key or several, the newest first; one that is answered 401 gives way to the next, so a key is
    rotated by adding the new one before the old one expires. A function that returns them is called at each request.
    ``context`` is for a private certificate authority: ``ssl.create_default_context(cafile=…)``.
    """

    def __init__(
        self,
        spool: str | Path,
        url: str,
        keys: Keys,
        *,
        max_bytes: int = MAX_BYTES,
        keep_s: int = KEEP_S,
        timeout_s: float = TIMEOUT_S,
        context: ssl.SSLContext | None = None,
        on_clock: Callable[[float], None] | None = None,
    ) -> None:
        self.spool = Spool(spool, max_bytes=max_bytes, keep_s=keep_s)
        self._new_link = partial(Link, url, timeout_s=timeout_s, context=context)
        self.link = self._new_link()
        self.ring = KeyRing(keys)
        self._sender = Sender(self.spool, self.link, self.ring, random.Random(), on_clock=on_clock)
        self._sends = threading.RLock()
        self._lock = FileLock(self.spool.path.with_name(self.spool.path.name + ".lock"))
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._stopping = threading.Event()

    def session(self, stream: str) -> Session:
        """Return the session of a stream, a new one or one that goes on. Raise ``EventError`` for a wrong name."""
        return Session(self, stream)

    def append(self, stream: str, events: Sequence[Mapping[str, Any]]) -> list[int]:
        """Append events without ``stream`` and ``seq``: see ``Session.extend``."""
        seqs = self.spool.append(stream, events)
        self._wake.set()
        return seqs

    def put(self, events: Sequence[Mapping[str, Any]]) -> int:
        """Append whole events, which have their numbers; return how many are new. Raise as ``Spool.put``."""
        new = self.spool.put(events)
        self._wake.set()
        return new

    # Sending

    def start(self) -> None:
        """Send in a thread of its own until ``close``. While another process sends from this spool, it waits."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="cabochon-client", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                delay_s = self._step()
            except Exception:
                # A full disk, a bug: what is in the spool stays there, and is tried again.
                log.exception("sending failed")
                delay_s = 5.0
            if delay_s != 0.0:
                self._wake.wait(IDLE_S if delay_s is None else min(delay_s, IDLE_S))

    def _step(self) -> float | None:
        """Do one step if no other thread or process sends."""
        if not self._sends.acquire(blocking=False):
            return POLL_S
        try:
            return self._sender.step() if self._lock.acquire() else IDLE_S
        finally:
            self._sends.release()

    def flush(self, timeout_s: float | None = None, *, sealed: bool = False) -> bool:
        """Send until the record has everything; return whether it has. Sessions held or stopped are not waited for.

        With ``sealed``, wait until the log has sealed everything too. ``timeout_s`` None waits for as long as it takes.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._is_settled(sealed=sealed):
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            delay_s = POLL_S if self._thread is not None else self._step()
            if delay_s is None:
                break
            time.sleep(min(delay_s, 1.0, left_s if left_s is not None else 1.0))
        return all(row.waiting == 0 for row in self.spool.sessions())

    def _is_settled(self, *, sealed: bool) -> bool:
        return all(row.state == "held" for row in self.spool.unsent()) and not (sealed and self.spool.unsealed(1))

    # What somebody decides

    def declare_lost(self, stream: str, *, through: int, reason: str = "spool_lost") -> int:
        """Declare the events of a session from what the record takes next through ``through`` lost for good.

        The session goes on with ``through`` + 1. Return the first number that is lost. ``reason`` is ``spool_lost``,
        ``refused``, or other text. Raise ``OutOfOrder`` if the record has event ``through``, or there is no such
        session; ``Unreachable`` if it does not answer.
        """
        link = self._new_link()  # the thread may be using the other
        answer = self.ring.ask(link, "GET", f"/api/v1/streams/{check_stream(stream)}")
        link.close()
        first = next_seq_in(answer)
        if first is None:
            raise Unreachable(f"the record does not say where {stream} stands: status {answer.status}")
        if first == 1:
            raise OutOfOrder(f"the record has no event of {stream}; a session cannot begin with a loss")
        if through < first:
            raise OutOfOrder(f"the record has event {through} of {stream}; it takes {first} next")
        instant = in_rfc_3339(None)
        self.spool.declare_lost(stream, first=first, through=through, occurred_at=instant, reason=reason)
        self._wake.set()
        return first

    def retry(self, stream: str) -> None:
        """Have a session that is held or stopped tried again. Raise ``OutOfOrder`` if the spool does not know it."""
        row = self.spool.session(stream)
        if row is None:
            raise OutOfOrder(f"the spool has no event of {stream}")
        self.spool.set_state(row, "open", None)
        self._wake.set()

    def status(self) -> Status:
        """Return where everything stands, without asking anybody."""
        offset, problem, restored = (self.spool.note(name) for name in ("clock_offset_s", "problem", "restored"))
        return Status(
            self.spool.sessions(),
            self.spool.count_receipts(),
            self.spool.used_bytes(),
            self.spool.max_bytes,
            float(offset) if offset else None,
            json.loads(problem) if problem else None,
            json.loads(restored) if restored else None,
            self.spool.renumbered(),
        )

    def close(self) -> None:
        """Stop the thread after the request that it is at, and close the spool. Unsent events wait in it."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._lock.release()
        self.link.close()
        self.spool.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
