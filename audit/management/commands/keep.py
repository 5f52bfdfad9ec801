"""``manage.py keep``: after an upgrade, enter into the log what an earlier version left outside it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from audit.management.counted import counted
from audit.projections.takeover import keep_earlier, keep_settings


class Command(BaseCommand):
    help = (
        "Enter into the log the root of the findings of each session that no entry keeps yet, as after an upgrade from "
        "0.1.0, and once what casinos, tables, roles and keys are, as after one from 0.2.0. From then on verify names "
        "each that is altered, missing or too many. Runs as often as wished."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        sessions, rows = keep_earlier(), keep_settings()
        self.stdout.write(
            f"The log keeps the findings of {counted(sessions, 'session')} more, and what "
            f"{counted(rows, 'casino, table, role or key', 'casinos, tables, roles and keys')} more are."
        )
