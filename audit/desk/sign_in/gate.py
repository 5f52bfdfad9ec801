"""What every page shows that is seen before one is signed in: the name of the casino and the time there."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from audit.models import Casino
from audit.simulation import first_run


def context_of(request: HttpRequest, *, title: str) -> dict[str, Any]:
    """Return the context of such a page. The casino is named where the installation has only one."""
    casinos = list(Casino.objects.all()[:2])
    return {
        **admin.site.each_context(request),
        "title": title,
        "has_permission": False,
        "navigation": None,
        "casino": casinos[0] if len(casinos) == 1 else None,
        "now": timezone.now(),
        "is_simulated": first_run.plan() is not None,
        "session_hours": settings.SESSION_COOKIE_AGE // 3600,
    }
