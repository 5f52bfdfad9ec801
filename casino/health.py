"""Health checks: is a web process alive, does it accept events, does the whole record move?

| path | 200 says | for |
|---|---|---|
| ``/health/live`` | the process runs | the container's own check |
| ``/health/accepts`` | the database answers, is migrated, and takes a row | who sends requests to this web server |
| ``/health/ready`` | in addition, every process of the deployment does its work | who is called when it does not |

The answers of the last two name each check, whether it holds, and the age in seconds that it looked at.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from audit import heartbeats, monitoring, task_runs

STATEMENT_S = 3.0
"""The limit of time of each query of a check."""

log = structlog.get_logger(__name__)

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One check: whether it holds, the age in seconds that it is about, and the most that this may be."""

    name: str
    holds: bool
    age_s: float | None = None
    limit_s: float | None = None
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        age = None if self.age_s is None else round(self.age_s, 1)
        aged = {"age_s": age, "limit_s": self.limit_s} if self.limit_s is not None else {}
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
    failed = [check.name for check in checks if not check.holds]
    content = {
        "status": f"not {name}" if failed else name,
        "failed": failed,
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


def _disk() -> Check:
    try:
        free = shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/").free // MIB
    except PermissionError:
        return Check("disk", False, detail="this account may not enter CABOCHON_DATA")
    return Check("disk", free >= settings.CABOCHON_FREE_MB, detail=f"{free} MiB free")


def _moving() -> list[Check]:
    with monitoring.statement_limit(STATEMENT_S):
        ages = monitoring.heartbeats()
        late = [task.name for task in task_runs.scheduled_tasks() if task.is_late]
        unsealed, dirty = monitoring.unsealed(), monitoring.dirty()
        step_s = monitoring.last_step_s() if dirty.count else None
        witnesses = monitoring.witnesses()
        fork = monitoring.fork()
        left, left_count = monitoring.left_batches()
        set_aside, set_aside_count = monitoring.set_aside_by_ledger()
    limits = {
        "beat": settings.CABOCHON_BEAT_STALE_S,
        "sequencer": settings.CABOCHON_SEQUENCER_STALE_S,
        "replay": settings.CABOCHON_REPLAY_STALE_S,
        "night": settings.CABOCHON_NIGHT_STALE_S,
        "notify": settings.CABOCHON_NOTIFY_STALE_S,
    }
    checks = [_aged(name, ages.get(name), limit, never=False) for name, limit in limits.items()]
    checks.append(Check("schedule", not late, detail=f"not run in time: {', '.join(late)}" if late else ""))
    checks.append(_aged("sealing", unsealed.oldest_s, settings.CABOCHON_SEQUENCER_STALE_S))
    # A long queue that moves is slow and not stuck.
    stuck = dirty.oldest_s is not None and (step_s is None or step_s > settings.CABOCHON_REPLAY_STALE_S)
    checks.append(_aged("adjudication", dirty.oldest_s if stuck else None, settings.CABOCHON_REPLAY_STALE_S))
    if fork is not None:
        detail = f"the log forked: {fork.leaves} leaves are here, and {fork.signed_size} were signed; manage.py recover"
        checks.append(Check("log", False, detail=detail))
    if left:
        named = "; ".join(f"{each}: {each.cause}" for each in left)
        more = f" and {left_count - len(left)} more" if left_count > len(left) else ""
        checks.append(Check("batches", False, detail=f"not sealed: {named}{more}; manage.py verify"))
    if set_aside:
        named = "; ".join(f"{each.about}: {each.error}" for each in set_aside)
        more = f" and {set_aside_count - len(set_aside)} more" if set_aside_count > len(set_aside) else ""
        checks.append(Check("ledger", False, detail=f"not fed, and tried again: {named}{more}"))
    return [*checks, *(_cosigned(witness) for witness in witnesses)]


def _cosigned(witness: monitoring.WitnessSeen) -> Check:
    """Return the check of a witness: it does not refuse the log, and has cosigned it not long ago."""
    limit_s = settings.CABOCHON_WITNESS_STALE_S
    holds = not witness.is_refused and witness.cosigned_s is not None and witness.cosigned_s <= limit_s
    detail = f"{witness.size} leaves" + (f"; {witness.error}" if witness.error else "")
    return Check(f"witness {witness.name}", holds, witness.cosigned_s, limit_s, detail)


def _aged(name: str, age_s: float | None, limit_s: float, *, never: bool = True) -> Check:
    """Return a check that an age is within its limit; ``never`` says whether it holds if there is none."""
    return Check(name, never if age_s is None else age_s <= limit_s, age_s, limit_s)
