"""Heartbeats: each process says that it does its work, to the database and to the supervisor of its machine.

The database's row is for everybody who watches the deployment (``audit.monitoring``). The file, named by
``CABOCHON_HEARTBEAT_FILE``, is for the supervisor that started the process and restarts it if the file grows old.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

WRITE_EVERY_S = 5.0
"""A process writes its row no more often than this."""

log = structlog.get_logger(__name__)

_written_at: dict[str, float] = {}


def beat(name: str, *, every_s: float = WRITE_EVERY_S) -> None:
    """Say that the process ``name`` works. Raise nothing: a heartbeat that cannot be written is missed by who reads."""
    touch()
    now = time.monotonic()
    if now - _written_at.get(name, float("-inf")) < every_s:
        return
    _written_at[name] = now
    try:
        write(name)
    except (DatabaseError, InterfaceError) as error:
        log.warning("heartbeat not written", process=name, error=type(error).__name__)


def write(name: str, at: datetime | None = None) -> None:
    """Write the row of a process: ``at`` an instant, now by default."""
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into audit_heartbeat (name, beat_at) values (%s, coalesce(%s, clock_timestamp()))"
            " on conflict (name) do update set beat_at = excluded.beat_at",
            (name, at),
        )


def stale_s(name: str) -> float:
    """Return the age from which the heartbeat of a process counts as missing."""
    return float(getattr(settings, f"CABOCHON_{name.upper()}_STALE_S"))


def touch() -> None:
    """Touch the file that the supervisor watches, if there is one."""
    if settings.CABOCHON_HEARTBEAT_FILE:
        Path(settings.CABOCHON_HEARTBEAT_FILE).touch()
