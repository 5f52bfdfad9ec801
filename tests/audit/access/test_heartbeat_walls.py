"""A process says of itself alone that it works: whoever holds a web server's account hides nothing that has stopped."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import heartbeats, monitoring
from audit.access.database_roles import BEAT, SEQUENCER, WEB, WORKER
from audit.models import Heartbeat, NightRun
from casino.health import _beating
from tests.audit.reconciliation.played import DAY
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

WRITERS = {
    WEB: ("web",),
    WORKER: ("replay", "night", "notify"),
    BEAT: ("beat",),
    SEQUENCER: ("sequencer", "export", "exported"),
}


@pytest.mark.parametrize("role", WRITERS)
def test_a_process_writes_its_own_heartbeat_alone(role: str) -> None:
    for writer, names in WRITERS.items():
        for name in names:
            if writer == role:
                with acting_as(role):
                    heartbeats.write(name)
                continue
            refused = pytest.raises(DatabaseError, match=r"permission denied|written by its process")
            with refused, transaction.atomic(), acting_as(role):
                heartbeats.write(name)
    assert set(Heartbeat.objects.values_list("name", flat=True)) == set(WRITERS[role])


def test_a_heartbeat_is_not_of_a_time_to_come() -> None:
    with pytest.raises(DatabaseError, match="a time to come"), transaction.atomic():
        heartbeats.write("web", timezone.now() + timedelta(hours=1))
    assert not Heartbeat.objects.exists()


@pytest.mark.superuser
def test_a_heartbeat_that_a_superuser_wrote_for_later_counts_as_none() -> None:
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        heartbeats.write("sequencer", timezone.now() + timedelta(days=365))
        cursor.execute("set local session_replication_role = origin")
    assert not _beating("sequencer", monitoring.heartbeats()["sequencer"]).holds


def test_a_web_server_begins_no_run_that_has_ended(tenant: Tenant) -> None:
    now = timezone.now()
    with pytest.raises(DatabaseError, match="begins before it ends"), transaction.atomic(), acting_as(WEB):
        NightRun.objects.create(casino=tenant.casino, gaming_day=DAY, started_by="x", ended_at=now)
    assert not NightRun.objects.exists()
