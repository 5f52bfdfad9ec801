"""A process of its own that sends one event a request, and prints the statuses and which threads looked for the broker.

It reads from standard input where the database of the tests is, the key, the stream and its events. Which broker it
hints through is its environment's business. The database is reached by libpq, so each connection that Python makes
is one to the broker.
"""

from __future__ import annotations

import json
import sys
import threading

import django
from django.db import connection
from django.test import Client

LONGEST_S = 30


class Connections:
    """The names of the threads of this process that connected to something, by an audit hook of the interpreter."""

    def __init__(self) -> None:
        self.threads: set[str] = set()
        self.any = threading.Event()
        sys.addaudithook(self._note)

    def _note(self, event: str, _arguments: object) -> None:
        if event == "socket.connect":
            self.threads.add(threading.current_thread().name)
            self.any.set()


if __name__ == "__main__":
    task = json.load(sys.stdin)
    django.setup()
    connection.settings_dict.update(task["database"])
    client = Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {task['key']}"})
    address = f"/api/v1/streams/{task['stream']}/events"
    connections = Connections()
    statuses = [
        client.post(address, json.dumps([event]), content_type="application/json").status_code
        for event in task["events"]
    ]
    connections.any.wait(LONGEST_S)
    json.dump({"statuses": statuses, "connecting": sorted(connections.threads)}, sys.stdout)
