"""Refused sign-ins, counted in a small table and written to the audit trail once a window.

An entry of the audit trail is permanent, and anybody who reaches the sign-in page could otherwise write as many as they
like, with any name. The names are not kept: what is typed there is now and then a password.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.db import connection, transaction

from audit.event_store import audit_trail
from audit.models import SignInRefusal

WINDOW = timedelta(minutes=10)

MAX_NETWORKS = 200
"""Networks that are counted by themselves in a window; the others are counted together."""

MAX_ATTEMPTS = 10_000
"""Rows of names and addresses that wait for their lock-out to end. The oldest go first."""

ACTOR = "sign-in"
REFUSED = "officer.refused"


def count_refusal(network: str, now: datetime) -> None:
    """Count a refused sign-in from a network; "" is a client without an address."""
    window = _window_of(now)
    is_counted = SignInRefusal.objects.filter(starts_at=window, network=network).exists()
    if not is_counted and SignInRefusal.objects.filter(starts_at=window).count() >= MAX_NETWORKS:
        network = ""
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into audit_signinrefusal (starts_at, network, refusals) values (%s, %s, 1)"
            " on conflict (starts_at, network) do update set refusals = audit_signinrefusal.refusals + 1",
            (window, network),
        )


def write_refusals(now: datetime) -> int:
    """Write one entry for each window that has ended, and forget the window. Return how many. Idempotent."""
    with transaction.atomic():
        ended = SignInRefusal.objects.select_for_update(skip_locked=True).filter(starts_at__lt=_window_of(now))
        by_window: dict[datetime, list[SignInRefusal]] = {}
        for row in ended.order_by("starts_at", "pk"):
            by_window.setdefault(row.starts_at, []).append(row)
        for window, rows in by_window.items():
            data = {
                "from": window.astimezone(UTC).isoformat(),
                "until": (window + WINDOW).astimezone(UTC).isoformat(),
                "refusals": sum(row.refusals for row in rows),
                "addresses": len(rows),
            }
            audit_trail.record(ACTOR, REFUSED, data=data)
            SignInRefusal.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(by_window)


def forget_attempts(now: datetime) -> int:
    """Delete the failures whose lock-out is over, and the oldest above ``MAX_ATTEMPTS``. Return how many."""
    expired = AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME)
    deleted = int(expired.delete()[0])
    above = AccessAttempt.objects.order_by("-attempt_time", "-pk").values_list("pk", flat=True)[MAX_ATTEMPTS:]
    return deleted + int(AccessAttempt.objects.filter(pk__in=list(above)).delete()[0])


def _window_of(moment: datetime) -> datetime:
    seconds = WINDOW.total_seconds()
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, UTC)
