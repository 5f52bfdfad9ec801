"""``manage.py keep``: have the log keep every setting from here on, once."""

from __future__ import annotations

from typing import Any

from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.projections.takeover import keep_settings


class Command(BaseCommand):
    help = (
        "Enter into the log what casinos, tables, roles and keys are, once, as before the first casino of a record. "
        "From then on verify names each that is altered, missing or too many. Runs as often as wished."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = keep_settings()
        self.stdout.write(
            f"The log keeps what {counted(rows, 'casino, table, role or key', 'casinos, tables, roles and keys')} more"
            " are."
        )
