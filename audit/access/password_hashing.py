"""How passwords are hashed: by Argon2id in one lane, one at a time on a web server, by a thread that gives way.

A hash is 0.4 s of a processor and 100 MB. Eight connections that send passwords to the page to sign in had as many of
them under way, and every other request waited for a processor. The thread has a low priority (``NICE``), and holds no
lock of the interpreter while it hashes. The processes of a web server take turns: its priority is within them alone,
where the system shares the processors out between groups of processes first.
"""

from __future__ import annotations

import fcntl
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.hashers import Argon2PasswordHasher

_EIGHT_LANES, _ONE_LANE = ",p=8$", ",p=1$"

NICE = 10
"""How far the priority of the thread is below that of the process."""

SHARED_FOLDER = "CABOCHON_SHARED_FOLDER"
"""The variable in which ``casino.web`` gives its processes a folder that they share."""

_Result = TypeVar("_Result")
_of_caller = threading.local()


def _give_way() -> None:
    if sys.platform == "linux":  # elsewhere it would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICE)


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "passwords", initializer=_give_way)


_thread = _new_thread()


def _begin_in_child() -> None:
    global _thread  # a process that was forked has not the thread
    _thread = _new_thread()


os.register_at_fork(after_in_child=_begin_in_child)


def hashed_s() -> float:
    """Return the seconds of processor time that hashing has taken so far at the request of this thread."""
    return float(getattr(_of_caller, "seconds", 0.0))


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until no other process of this web server hashes. The system ends the turn of one that is killed."""
    if not (shared := os.environ.get(SHARED_FOLDER)):
        yield
        return
    with (Path(shared) / "hashing").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def _aside(function: Callable[..., _Result], *args: Any) -> _Result:
    """Return what ``function`` returns in the thread that hashes."""

    def timed() -> tuple[_Result, float]:
        with _turn():
            began_at = time.thread_time()
            return function(*args), time.thread_time() - began_at

    result, took_s = _thread.submit(timed).result()
    _of_caller.seconds = hashed_s() + took_s
    return result


class OneLane(Argon2PasswordHasher):
    """Argon2id as Django has it, in one lane in place of eight.

    The memory and work of a guess are the same. Eight lanes are eight threads, which would have every core from other
    requests, and of whose time the budget of the request (``audit.api.processor_budget``) sees an eighth at most.
    """

    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return _aside(super().encode, password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        return _aside(super().verify, password, encoded)

    def must_update(self, encoded: str) -> bool:
        """Return whether a hash is weaker than those made now; one in eight lanes is not."""
        return bool(super().must_update(encoded.replace(_EIGHT_LANES, _ONE_LANE)))
