"""Health checks: liveness and readiness."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process runs."""
    return JsonResponse({"status": "live"})


def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the database answers and has the event store's schema, 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("select to_regclass('log.event') is not null")
            (has_log,) = cursor.fetchone()
    except DatabaseError:
        return JsonResponse({"status": "no database"}, status=503)
    if not has_log:
        return JsonResponse({"status": "not migrated"}, status=503)
    return JsonResponse({"status": "ready"})
