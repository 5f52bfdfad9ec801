"""Is this process alive, and can it serve?"""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "live"})


def ready(request: HttpRequest) -> JsonResponse:
    """The record can be reached and its log is there; 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("select to_regclass('log.event') is not null")
            (has_log,) = cursor.fetchone()
    except DatabaseError:
        return JsonResponse({"status": "no database"}, status=503)
    if not has_log:
        return JsonResponse({"status": "not migrated"}, status=503)
    return JsonResponse({"status": "ready"})
