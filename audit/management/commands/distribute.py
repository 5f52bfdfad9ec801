"""``manage.py distribute``: the log over the workers of a Citus cluster, and its guard on workers that are new."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from audit.event_store import cluster
from audit.management.terminal import BaseCommand


class Command(BaseCommand):
    help = (
        "Distribute the log over the workers of the Citus cluster of this database, as a superuser, while no "
        "process uses the log. Run it again whenever a worker was added: it puts the log's guard there."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            is_new = cluster.distribute()
        except cluster.NotCitus as error:
            raise CommandError(str(error)) from error
        self.stdout.write("The log is distributed." if is_new else "The log was distributed already.")
        for node, what in cluster.unprotected():
            raise CommandError(f"The worker {node} has unprotected: {what}")
        self.stdout.write("Every worker has the guard, and every shard its triggers.")
