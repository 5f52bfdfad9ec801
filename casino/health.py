"""Health checks: is a web process alive, does it accept events, does the whole record move?

| path | 200 says | for |
|---|---|---|
| ``/health/live`` | the process runs | the container's own check |
| ``/health/accepts`` | the database answers, is migrated, and takes a row | who sends requests to this web server |
| ``/health/ready`` | in addition, every process works and the record moves | who is called when it does not |

The answers of the last two name each check, whether it holds, and the age in seconds that it looked at. A fault that
does not stop the record, such as a webhook whose receiver fails, is ``degraded``.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from audit import consumers, heartbeats, monitoring, task_runs

STATEMENT_S = 3.0
"""The limit of time of each query of a check."""

log = structlog.get_logger(__name__)

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One check: whether it holds, the age in seconds that it is about, and the most that this may be.

    Where one that is not ``is_urgent`` does not hold the answer is 200 all the same, and has it under ``degraded``.
    """

    name: str
    holds: bool
    age_s: float | None = None
    limit_s: float | None = None
    detail: str = ""
    is_urgent: bool = True

    def as_json(self) -> dict[str, Any]:
        age = None if self.age_s is None or math.isinf(self.age_s) else round(self.age_s, 1)
        limit = self.limit_s is not None and not math.isinf(self.limit_s)
        aged = {"age_s": age, "limit_s": self.limit_s} if limit else {}
        return {"ok": self.holds, **aged, **({"detail": self.detail} if self.detail else {})}


def live(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process runs."""
    return JsonResponse({"status": "live"})


def accepts(request: HttpRequest) -> JsonResponse:
    """Answer 200 if this server can store what it is sent, 503 otherwise."""
    return _answer("accepts", _storing())


def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if everything that belongs to the record moves, 503 otherwise."""
    checks = _storing()
    if all(check.holds for check in checks):
        checks += _guarded(_moving)
    return _answer("ready", checks)


def _answer(name: str, checks: list[Check]) -> JsonResponse:
    failed = [check.name for check in checks if not check.holds and check.is_urgent]
    content = {
        "status": f"not {name}" if failed else name,
        "failed": failed,
        "degraded": [check.name for check in checks if not check.holds and not check.is_urgent],
        "checks": {check.name: check.as_json() for check in checks},
    }
    response = JsonResponse(content, status=503 if failed else 200)
    response.headers["Cache-Control"] = "no-store"
    if failed:
        log.warning(f"not {name}", failed=failed)
        response._has_been_logged = True  # type: ignore[attr-defined]  # by Django, which would call it an error
    return response


def _guarded(checks: Any) -> list[Check]:
    """Return checks of the database; one that fails if it does not answer."""
    try:
        return list(checks())
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        return [Check("database", False, detail=type(error).__name__)]


def _storing() -> list[Check]:
    checks = _guarded(_database)
    return [*checks, _disk()]


def _database() -> list[Check]:
    executor = MigrationExecutor(connection)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    checks = [Check("database", True), Check("migrations", not missing, detail=f"{missing} missing" if missing else "")]
    if not missing:
        with monitoring.statement_limit(STATEMENT_S):
            heartbeats.write("web")  # a disk of the database that is full, or a server that only reads, refuses it
        checks.append(Check("write", True))
    return checks


def disk_free() -> int:
    """Return the free bytes in the data folder. Raise ``PermissionError``."""
    return shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/").free


def _disk() -> Check:
    try:
        free = disk_free() // MIB
    except PermissionError:
        return Check("disk", False, detail="this account may not enter CABOCHON_DATA")
    return Check("disk", free >= settings.CABOCHON_FREE_MB, detail=f"{free} MiB free")


def _moving() -> list[Check]:
    with monitoring.statement_limit(STATEMENT_S):
        ages = monitoring.heartbeats()
        late = [task.name for task in task_runs.scheduled_tasks() if task.is_late]
    return [
        *(_beating(name, ages.get(name)) for name in monitoring.PROCESSES),
        Check("schedule", not late, detail=f"not run in time: {', '.join(late)}" if late else ""),
        *map(_following, consumers.states(within_s=STATEMENT_S)),
    ]


def _beating(name: str, age_s: float | None) -> Check:
    """Return the check of a process: it has had a heartbeat, and not long ago."""
    limit_s = heartbeats.stale_s(name)
    return Check(name, age_s is not None and age_s <= limit_s, age_s, limit_s)


def _following(state: consumers.State) -> Check:
    """Return the check of a consumer: it moves, and has set nothing aside."""
    consumer = state.consumer
    return Check(
        *(consumer.name, state.is_well, state.lag.oldest_s, consumer.limit_s(), state.detail),
        is_urgent=consumer.is_urgent,
    )
