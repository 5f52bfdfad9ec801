"""The witness's decision: what it answers to a checkpoint, what it remembers of it, and when it raises an alarm.

    the log's signed checkpoint                       answer    alarm
    extends what was cosigned last, as proved         200       –
    another root at the size that was cosigned last   409       forked: the two notes contradict each other
    the proof does not hold                           422       unproven: a fork, or somebody else's false proof
    the old size is not what was cosigned last        409       –: the answer says that size
    none for the time that was set                    –         silent, until the next one that is larger

An alarm ``forked`` is a proof: both notes are signed by the log. ``unproven`` is not, because whoever has read a
checkpoint may send it with a false proof; the log itself, asked for the proof, can show which it was.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cabochon_witness.merkle import EMPTY_ROOT, extends
from cabochon_witness.notes import BadNote, Checkpoint, CosigningKey, NotSigned, PublicKey, decoded
from cabochon_witness.shown import say
from cabochon_witness.storage import LogFolder, Remembered

Kind: TypeAlias = Literal["forked", "unproven", "silent"]

MAX_PROOF = 63
"""Lines of a consistency proof; no tree of 2^63 leaves needs more."""

SIZE_TYPE = "text/x.tlog.size"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer over HTTP."""

    status: int
    body: str
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm, and the folder of its evidence; None for a silent log."""

    kind: Kind
    origin: str
    what: str
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request to cosign: the size of which the log believes that it was cosigned last, the proof, the checkpoint."""

    old_size: int
    proof: Sequence[bytes]
    checkpoint: Checkpoint
    body: str

    @classmethod
    def parse(cls, body: bytes) -> Request:
        """Return the request of a body. Raise ``BadNote`` if it is malformed."""
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise BadNote("the request is not UTF-8") from None
        head, separator, note = text.partition("\n\n")
        first, *hashes = head.split("\n")
        word, _, number = first.partition(" ")
        is_number = number.isascii() and number.isdigit() and len(number) < 20 and str(int(number)) == number
        if not separator or word != "old" or not is_number:
            raise BadNote("the first line is 'old' and a size, then the proof, an empty line, the checkpoint")
        if len(hashes) > MAX_PROOF:
            raise BadNote(f"a proof has {MAX_PROOF} lines at most")
        proof = [decoded(each) for each in hashes]
        if any(len(each) != 32 for each in proof):
            raise BadNote("each line of the proof is a hash of 32 bytes")
        return cls(int(number), proof, Checkpoint.parse(note), text)


@dataclass(slots=True)
class WatchedLog:
    """A log and what the witness knows of it. ``heard_at`` is when it last answered 200, new checkpoint or not."""

    origin: str
    keys: Sequence[PublicKey]
    folder: LogFolder
    remembered: Remembered | None
    began_at: float
    heard_at: float | None = None
    is_silent: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Witness:
    """The witness of some logs. Its methods may be called by several threads."""

    def __init__(
        self,
        key: CosigningKey,
        logs: Mapping[str, Sequence[PublicKey]],
        data: Path,
        *,
        silent_after_s: float,
        on_alarm: Callable[[Alarm], None] = lambda alarm: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``logs`` are the keys of each log by its name. Raise ``CannotRead`` if ``data`` is not a witness's."""
        self.key = key
        self.silent_after_s = silent_after_s
        self.on_alarm = on_alarm
        self.clock = clock
        self.logs: dict[str, WatchedLog] = {}
        for origin, keys in logs.items():
            folder = LogFolder(data, origin)
            self.logs[origin] = WatchedLog(origin, keys, folder, folder.load(key.public), clock())

    def add_checkpoint(self, body: bytes) -> Answer:
        """Answer a request to cosign a checkpoint."""
        try:
            request = Request.parse(body)
        except BadNote as error:
            return Answer(400, f"{error}\n")
        log = self.logs.get(request.checkpoint.origin)
        if log is None:
            return Answer(404, "this log is not known here\n")
        try:
            lines = request.checkpoint.signed_by(log.keys)
        except NotSigned as error:
            return Answer(403, f"{error}\n")
        if request.old_size > request.checkpoint.size:
            return Answer(400, "the old size is larger than the checkpoint's\n")
        with log.lock:  # comparing and remembering are one step, or a slower request would take the log back
            return self._decide(log, request, lines)

    def _decide(self, log: WatchedLog, request: Request, lines: list[str]) -> Answer:
        last, new = log.remembered, request.checkpoint
        size, root = (last.checkpoint.size, last.checkpoint.root) if last else (0, EMPTY_ROOT)
        if new.size == size and new.root != root:
            what = f"the log has signed two trees of {size} leaves"
            self._raise(log, "forked", what, request)
            return Answer(409, f"{size}\n", SIZE_TYPE)
        if request.old_size != size:
            return Answer(409, f"{size}\n", SIZE_TYPE)
        if not extends(size, root, new.size, new.root, request.proof):
            what = f"no proof that the tree of {new.size} leaves, which the log has signed, extends that of {size}"
            self._raise(log, "unproven", what, request)
            return Answer(422, "the consistency proof does not hold\n")
        now = int(self.clock())
        cosignature = self.key.cosign(new.text, now)
        if last is None or new.size > size:
            log.folder.remember(new.text, lines, cosignature)
            log.remembered = Remembered(new, now)
            log.is_silent = False
        log.heard_at = now
        return Answer(200, cosignature)

    def look_for_silence(self) -> None:
        """Raise an alarm for each log that has shown no larger tree for too long; one for each silence."""
        for log in self.logs.values():
            with log.lock:
                since = max(log.remembered.cosigned_at, 0) if log.remembered else log.began_at
                if log.is_silent or self.clock() - since <= self.silent_after_s:
                    continue
                log.is_silent = True
            what = f"no new checkpoint for {int(self.clock() - since)} s"
            self._report(Alarm("silent", log.origin, what, None))

    def status(self) -> dict[str, Any]:
        """Return what the witness has seen, for ``/status``."""
        return {
            "witness": str(self.key.public),
            "silent_after_s": self.silent_after_s,
            "logs": [
                {
                    "origin": log.origin,
                    "keys": [str(key) for key in log.keys],
                    "size": last.checkpoint.size if (last := log.remembered) else None,
                    "root": last.checkpoint.root.hex() if last else None,
                    "cosigned_at": last.cosigned_at if last else None,
                    "heard_at": log.heard_at,
                    "is_silent": log.is_silent,
                    "alarms": log.folder.alarms(),
                }
                for log in self.logs.values()
            ],
        }

    def _raise(self, log: WatchedLog, kind: Kind, what: str, request: Request) -> None:
        """Keep the evidence; report it the first time that it is kept."""
        last = log.remembered.checkpoint.note if log.remembered else ""
        is_first = not any(name.startswith(f"{kind}-") for name in log.folder.alarms())
        files = {"had": last, "sent": request.checkpoint.note, "request": request.body, "what": f"{what}\n"}
        folder = log.folder.keep_alarm(kind, files)
        if folder is not None:
            self._report(Alarm(kind, log.origin, what, folder), with_command=is_first)

    def _report(self, alarm: Alarm, *, with_command: bool = True) -> None:
        kept = f"; kept in {alarm.folder}" if alarm.folder else ""
        say(f"ALARM {alarm.kind}: {alarm.origin}: {alarm.what}{kept}", to=sys.stderr)
        if with_command:
            self.on_alarm(alarm)
