"""A process of its own that sends one event a request, and prints the statuses and how long it took.

It reads from standard input where the database of the tests is, the key, the stream and its events. Which broker it
hints through is its environment's business.
"""

from __future__ import annotations

import json
import sys
import time

import django
from django.db import connection
from django.test import Client

if __name__ == "__main__":
    task = json.load(sys.stdin)
    django.setup()
    connection.settings_dict.update(task["database"])
    client = Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {task['key']}"})
    address = f"/api/v1/streams/{task['stream']}/events"
    began = time.monotonic()
    statuses = [
        client.post(address, json.dumps([event]), content_type="application/json").status_code
        for event in task["events"]
    ]
    json.dump({"statuses": statuses, "took_s": time.monotonic() - began}, sys.stdout)
