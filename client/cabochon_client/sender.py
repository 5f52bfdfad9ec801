"""The sender: one step after the other, each one request, until nothing is left to do.

    which session? ─► its next batch ─► POST ─► what does the answer mean? ─► the spool ─► the next step
         └─ none: is a batch sealed? has the log another name (a restored record)?

Wherever the process is killed, the spool says what to send: the events without a receipt. The record compares what
comes twice and stores it once, so that sending again is always safe.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cabochon_client.answers import (
    Again,
    Closed,
    GoOn,
    Hold,
    Smaller,
    Stored,
    Verdict,
    problem_in,
    unreachable,
    verdict_of,
)
from cabochon_client.events import next_seq_after
from cabochon_client.link import Answer, KeyRing, Link, Unreachable
from cabochon_client.receipts import (
    NotAReceipt,
    NotSealed,
    UnknownKey,
    check_receipt,
    check_seal,
    published_keys,
    read_receipt,
)
from cabochon_client.spool import KeptReceipt, SessionRow, Spool

MAX_EVENTS = 500
MAX_BYTES = 900_000
"""Most of one request; the record takes 1,000 events and 1 MiB."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 60.0
HELD_S = 60.0
"""Seconds until a held session is tried again."""

SEAL_S = 2.0
"""Seconds until a batch that was not sealed yet is looked for again; longer each time in vain."""

KEYS_EVERY_S = 600.0
"""Seconds between two looks at the published keys, which also tell whether the log has begun another epoch."""

CLOCK_TOLERANCE_S = 2.0
DELETE_EVERY_S = 60.0

log = logging.getLogger("cabochon_client")


@dataclass
class Pause:
    """A pause that grows: each is drawn evenly from half of its length to all of it, so that no two clients agree."""

    draw: random.Random
    first_s: float = FIRST_PAUSE_S
    longest_s: float = LONGEST_PAUSE_S
    failures: int = 0
    until: float = 0.0

    def fail(self, *, at_least_s: float | None = None) -> None:
        """Wait longer than the last time; not less than ``at_least_s``, up to an hour, if the record asks for it."""
        length_s = min(self.longest_s, self.first_s * 2 ** min(self.failures, 30))
        self.failures += 1
        drawn_s = length_s * (0.5 + self.draw.random() / 2)
        if at_least_s is not None:
            drawn_s = max(drawn_s, min(at_least_s, 3600.0) + self.draw.random() * length_s / 2)
        self.until = time.monotonic() + drawn_s

    def succeed(self) -> None:
        """Begin anew."""
        self.failures, self.until = 0, 0.0


@dataclass
class Sender:
    """Sends what is in ``spool``. One thread of one process calls ``step``."""

    spool: Spool
    link: Link
    ring: KeyRing
    draw: random.Random = field(default_factory=random.Random)
    max_events: int = MAX_EVENTS
    on_clock: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        self._all = Pause(self.draw)
        self._sealing = Pause(self.draw, first_s=SEAL_S)
        self._of_session: dict[int, Pause] = {}
        self._sizes: dict[int, int] = {}
        self._last_session = 0
        self._keys_at = float("-inf")
        self._deleted_at = time.monotonic()
        self._warned_at = float("-inf")
        self._to_ask: list[SessionRow] = []
        self._origin = ""
        self._doubted: set[int] = set()
        self._last_receipt = 0

    def step(self) -> float | None:
        """Do one thing that is due. Return the seconds until the next is due, None if nothing is left to do."""
        now = time.monotonic()
        if now < self._all.until:
            return self._all.until - now
        if now - self._deleted_at > DELETE_EVERY_S:
            self._deleted_at = now
            self.spool.delete_sealed()
        rows = self.spool.unsent()
        if not self._keys_are_known():
            return self._until() if rows or self.spool.unsealed(1) else None
        if self._to_ask:
            self._ask_where(self._to_ask.pop())
            if not self._to_ask:
                self.spool.keep_note("origin", self._origin)  # not before: killed meanwhile, it asks all of them again
            return 0.0
        due = [row for row in rows if self._pause(row).until <= now]
        if due:
            # In turn, so that a session with much to send delays no other.
            row = next((row for row in due if row.id > self._last_session), due[0])
            self._last_session = row.id
            self._send(row)
            return 0.0
        return self._look_for_seals(rows)

    def _look_for_seals(self, rows: list[SessionRow]) -> float | None:
        now = time.monotonic()
        waits = [self._pause(row).until - now for row in rows]
        unsealed = self.spool.unsealed(1, after=self._last_receipt)
        if unsealed and self._sealing.until <= now:
            self._seal(unsealed[0])
            return 0.0
        if unsealed:
            waits.append(self._sealing.until - now)
        return max(0.0, min(waits)) if waits else None

    def _until(self) -> float:
        return max(0.0, self._all.until - time.monotonic())

    def _pause(self, row: SessionRow) -> Pause:
        return self._of_session.setdefault(row.id, Pause(self.draw))

    # Sending

    def _send(self, row: SessionRow) -> None:
        size = self._sizes.get(row.id, self.max_events)
        batch = self.spool.batch(row, max_events=size, max_bytes=MAX_BYTES)
        if not batch:
            self._go_on(row, row.acknowledged + 1, {"code": "behind", "detail": "the next event is not in the spool"})
            return
        self.spool.sending(row, batch[-1][0])
        body = b"[" + b",".join(envelope for _, envelope in batch) + b"]"
        answer = self._ask("POST", f"/api/v1/streams/{row.stream}/events", body=body)
        verdict: Verdict = answer if isinstance(answer, Again) else verdict_of(answer)
        if isinstance(verdict, Stored):
            verdict = self._acknowledge(row, batch, verdict)
        if not isinstance(verdict, Again):
            self._all.succeed()
        self._follow(row, batch, verdict)

    def _acknowledge(self, row: SessionRow, batch: list[tuple[int, bytes]], stored: Stored) -> Verdict:
        """Check the receipt, and keep it. Without one nothing is stored, whatever the status says."""
        last_seq, last = batch[-1]
        try:
            receipt = read_receipt(stored.body)
            first, through = receipt["first_seq"], receipt["last_seq"]
            here = self.spool.range(row, first, through)
            is_whole = bool(here) and here[0][0] == first and here[-1][0] == through
            envelopes = [envelope for _, envelope in here] if is_whole else None
            check_receipt(receipt, self.spool.public_keys(), stream=row.stream, last_seq=last_seq, batch=envelopes)
        except NotAReceipt as error:
            if isinstance(error, UnknownKey):
                self._keys_at = float("-inf")  # a key may be new: they are read again before the next request
            log.error("%s: %s", row.stream, error)
            return Again({"status": 200, "code": "no-receipt", "detail": str(error)})
        after = next_seq_after(json.loads(last))
        self.spool.acknowledge(row, receipt, last_sent=last_seq, after=after)
        self._pause(row).succeed()
        return stored

    def _follow(self, row: SessionRow, batch: list[tuple[int, bytes]], verdict: Verdict) -> None:
        """Do what an answer other than a good receipt asks for."""
        if isinstance(verdict, Stored):
            self._sizes.pop(row.id, None)
        elif isinstance(verdict, Again):
            self._wait(row, verdict)
        elif isinstance(verdict, GoOn) and verdict.next_seq != batch[0][0]:
            self._go_on(row, verdict.next_seq, verdict.problem)
        elif isinstance(verdict, Closed):
            self._renumber(row, batch, verdict)
        elif isinstance(verdict, Smaller) and len(batch) > 1:
            self._sizes[row.id] = len(batch) // 2
        elif isinstance(verdict, Hold):
            self._hold(row, verdict.problem)
        else:
            self._stop(row, batch, verdict.problem)

    def _wait(self, row: SessionRow, again: Again) -> None:
        pause = self._all if again.concerns_all else self._pause(row)
        pause.fail(at_least_s=again.retry_after_s)
        log.info("%s: %s; sent again", row.stream, again.problem.get("detail"))
        if not again.concerns_all:
            self.spool.set_state(row, "open", again.problem)

    def _hold(self, row: SessionRow, problem: dict[str, Any]) -> None:
        log.error("%s is held: %s", row.stream, problem.get("detail"))
        self._pause(row).fail(at_least_s=HELD_S)
        self.spool.set_state(row, "held", problem)

    def _stop(self, row: SessionRow, batch: list[tuple[int, bytes]], problem: dict[str, Any]) -> None:
        """Stop a session at the event that the record refuses. Those before it in the request are sent first."""
        seq = problem.get("seq")
        before = sum(1 for each, _ in batch if isinstance(seq, int) and each < seq)
        if problem["code"] == "invalid" and 0 < before < len(batch):
            self._sizes[row.id] = before
            return
        if problem["code"] == "invalid" and len(batch) > 1 and not isinstance(seq, int):
            self._sizes[row.id] = len(batch) // 2
            return
        log.error("%s is stopped at event %s: %s", row.stream, seq or batch[0][0], problem.get("detail"))
        self.spool.set_state(row, "stopped", {"seq": batch[0][0], **problem})

    def _renumber(self, row: SessionRow, batch: list[tuple[int, bytes]], closed: Closed) -> None:
        """Number what was not sent after the closing of two officers: always the next number, whatever came since.

        So a spool that was restored sends the same event under the same number again, and it is stored once.
        """
        before = sum(1 for seq, _ in batch if seq < closed.seq)
        if before:  # these may be stored, and their receipts lost: they are sent alone
            self._sizes[row.id] = before
            return
        first, last = closed.seq, self.spool.renumber(row, closed.seq)
        if last is None:
            self._stop(row, batch, closed.problem)
            return
        log.warning(
            "%s: two officers closed this session with event %d; events %d to %d are sent as %d to %d, and are late",
            *(row.stream, first, first, last, first + 1, last + 1),
        )

    def _go_on(self, row: SessionRow, next_seq: int, problem: dict[str, Any]) -> None:
        """Send from the number that the record wants. Stop if it is not here."""
        is_restored = next_seq <= row.acknowledged
        note = {**problem, "code": "restored", "lost_through": row.acknowledged} if is_restored else None
        if self.spool.go_on_from(row, next_seq, problem=note):
            if is_restored:
                log.error("%s: the record has lost events from %d on; they are sent again", row.stream, next_seq)
                self.spool.keep_note("restored", json.dumps({"stream": row.stream, **(note or {})}))
            return
        code = "ahead" if next_seq > row.next_seq else "behind"
        detail = f"the record takes {next_seq} next; the spool goes on with {row.next_seq}"
        log.error("%s is stopped: %s", row.stream, detail)
        self.spool.set_state(row, "stopped", {**problem, "code": code, "detail": detail, "next_seq": next_seq})

    # Asking

    def _ask(self, method: str, path: str, *, body: bytes | None = None) -> Answer | Again:
        try:
            answer = self.ring.ask(self.link, method, path, body=body)
        except Unreachable as error:
            again = unreachable(str(error))
            self._keep_problem(again.problem)
            return again
        if answer.clock_offset_s is not None and answer.status < 500:
            self._compare_clock(answer.clock_offset_s)
        is_wrong = answer.status in (401, 404) or answer.status >= 429 or answer.status in range(300, 400)
        self._keep_problem(problem_in(answer) if is_wrong else None)
        return answer

    def _keep_problem(self, problem: dict[str, Any] | None) -> None:
        """Keep what is wrong with the record or the way to it, for ``cabochon status``."""
        self.spool.keep_note("problem", json.dumps(problem) if problem else None)

    def _compare_clock(self, offset_s: float) -> None:
        is_wrong = abs(offset_s) > CLOCK_TOLERANCE_S + 0.5  # the header tells whole seconds
        if self.spool.note("clock_offset_s") is None or is_wrong or time.monotonic() - self._warned_at > KEYS_EVERY_S:
            self.spool.keep_note("clock_offset_s", f"{offset_s:.1f}")
        if is_wrong and time.monotonic() - self._warned_at > KEYS_EVERY_S:
            direction = "ahead of" if offset_s > 0 else "behind"
            log.warning("this clock is %.1f s %s the record's: set it by NTP", abs(offset_s), direction)
            self._warned_at = time.monotonic()
            if self.on_clock is not None:
                self.on_clock(offset_s)

    def _keys_are_known(self) -> bool:
        """Read the published keys when it is time. Return whether there are any, so that receipts can be checked."""
        if time.monotonic() - self._keys_at < KEYS_EVERY_S:
            return True
        if not self.spool.unsent() and not self.spool.unsealed(1) and self.spool.note("origin") is None:
            return True
        answer = self._ask("GET", "/api/v1/log/key")
        if isinstance(answer, Again):
            self._all.fail()
            return False
        try:
            if answer.status != 200:
                raise NotAReceipt(f"status {answer.status}")
            origin, keys = published_keys(answer.body)
        except NotAReceipt as error:
            log.error("the public keys of the record cannot be read: %s", error)
            self._all.fail(at_least_s=answer.retry_after_s)
            return False
        self._keys_at = time.monotonic()
        self.spool.add_keys(keys)
        before = self.spool.note("origin")
        if before is not None and before != origin:
            log.error("the log %s goes on as %s: it was restored; every session is compared", before, origin)
            self._to_ask = [row for row in self.spool.sessions() if row.state != "stopped"]
        self._origin = origin
        if not self._to_ask:
            self.spool.keep_note("origin", origin)
        return True

    def _ask_where(self, row: SessionRow) -> None:
        """Ask where a session stands, and send again what a restored record has lost."""
        answer = self._ask("GET", f"/api/v1/streams/{row.stream}")
        if isinstance(answer, Again) or answer.status in (401, 429) or answer.status >= 500:
            self._to_ask.append(row)
            self._all.fail(at_least_s=None if isinstance(answer, Again) else answer.retry_after_s)
            return
        self._all.succeed()
        next_seq = next_seq_in(answer)
        if next_seq is not None and next_seq <= row.acknowledged:
            self._go_on(row, next_seq, {"detail": f"the record takes {next_seq} next"})

    # Seals

    def _seal(self, kept: KeptReceipt) -> None:
        """Look whether the log has sealed the batch of a receipt."""
        receipt = kept.content
        self._last_receipt = kept.id  # one that is not sealed delays none of the others
        row = self.spool.session(receipt["stream"])
        assert row is not None, "a receipt is of a session"
        answer = self._ask("GET", f"/api/v1/log/inclusion?stream={row.stream}&seq={receipt['last_seq']}")
        if isinstance(answer, Again) or answer.status != 200:
            code = "" if isinstance(answer, Again) else problem_in(answer)["code"]
            if code in ("forbidden", "sandbox"):
                # Without the right to look, or in a sandbox, a receipt is all there is; the spool does not fill up for
                # want of a seal.
                self.spool.set_receipt(kept.id, "unchecked")
                return
            self._sealing.fail()
            if code == "not-found":
                self._ask_where(row)
            return
        try:
            envelope = self.spool.envelope(row, receipt["last_seq"])
            note = check_seal(answer.body, receipt, self.spool.public_keys(), envelope)
        except NotSealed as error:
            if kept.id in self._doubted:
                log.error("%s: %s", row.stream, error)
                self.spool.set_receipt(kept.id, "false")
            self._doubted.add(kept.id)
            self._keys_at = float("-inf")  # a key of checkpoints may be new: looked at once more with it
            self._sealing.fail()
            return
        self.spool.set_receipt(kept.id, "sealed")
        self.spool.keep_note("checkpoint", note)
        self._sealing.succeed()


def next_seq_in(answer: Answer) -> int | None:
    """Return what a stream takes next, 1 if there is no such stream; None if the answer does not say."""
    if answer.status == 404 and problem_in(answer)["code"] == "not-found":
        return 1
    if answer.status != 200:
        return None
    try:
        next_seq = json.loads(answer.body)["next_seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return next_seq if isinstance(next_seq, int) else None
