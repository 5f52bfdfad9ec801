"""A reload that stops no old worker before the new ones serve, and a start that lets nobody wait for a worker.

    HUP ─► new workers load the program ─► all of them serve ─► the old ones answer what they have, and end
                                     └► one does not start, or not in time ─► the new ones end, the old ones go on

gunicorn tells the old workers to stop as soon as the new ones are forked. These need seconds to load the program, and
every request that came meanwhile waited for them. The new ones load it one after the other (``casino.web_worker``): all
at once, they would have every core of a small machine.
"""

from __future__ import annotations

import signal
import time
from typing import Any

from gunicorn.errors import HaltServer
from gunicorn.sock import BaseSocket

STARTS_WITHIN_S = 120.0
"""A new worker that does not serve after this long never will. Two that start on a busy core take half a minute."""


def listen_late() -> None:
    """Have gunicorn's main process bind its sockets, and leave it to the first worker that serves to listen.

    It would listen seconds before a worker has loaded the program. The kernel takes connections meanwhile, and a proxy
    that has other web servers waits for this one; refused, it asks another at once.
    """
    BaseSocket._is_listening = staticmethod(lambda sock: True)


def keep_serving(arbiter: Any) -> None:
    """Have gunicorn's main process stop surplus workers only once those that replace them serve.

    It looks after every signal, and every second. A worker that cannot load the program, which gunicorn ends for, ends
    nothing while old ones serve.
    """
    stop_surplus, reap = arbiter.manage_workers, arbiter.reap_workers

    def manage_workers() -> None:
        newest = _newest(arbiter)
        if not newest or all(worker.is_serving for worker in newest.values()):
            stop_surplus()
        elif min(worker.forked_at for worker in newest.values()) < time.monotonic() - STARTS_WITHIN_S:
            _give_up(arbiter, newest, "they did not serve in time")

    def reap_workers() -> None:
        newest = _newest(arbiter)
        try:
            reap()
        except HaltServer as error:
            if not newest:
                raise
            _give_up(arbiter, newest, error.reason)

    arbiter.manage_workers, arbiter.reap_workers = manage_workers, reap_workers


def _newest(arbiter: Any) -> dict[int, Any]:
    """Return the workers of a reload, which are the newest; none if there are no more workers than there should be."""
    if len(arbiter.WORKERS) <= arbiter.num_workers:
        return {}
    by_age = sorted(arbiter.WORKERS.items(), key=lambda item: item[1].age, reverse=True)
    return dict(by_age[: arbiter.num_workers])


def _give_up(arbiter: Any, workers: dict[int, Any], reason: str) -> None:
    """Kill the workers of a reload, which serve nobody: what is left is the old ones."""
    arbiter.log.critical("The new workers do not start, and the old ones go on: %s", reason)
    for pid in workers:
        if pid in arbiter.WORKERS:
            arbiter.kill_worker(pid, signal.SIGKILL)
