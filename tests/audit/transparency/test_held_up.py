"""A session that lets no verification begin is named: every account of the database could take that lock."""

from __future__ import annotations

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.transparency import verify

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db(transaction=True)]


def test_a_session_that_lets_no_verification_begin_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify, "WAITS_S", 0.1)
    connection.ensure_connection()
    address = {
        name: value
        for name, value in connection.get_connection_params().items()
        if name in ("host", "port", "user", "password", "dbname")
    }
    with psycopg.connect(**address) as other:
        other.execute("select pg_advisory_lock(hashtext(%s))", [verify.VERIFYING])
        with pytest.raises(CommandError, match=rf"\(process {other.info.backend_pid}\)"):
            call_command("verify")
    call_command("verify")
    assert "Everything holds." in capsys.readouterr().out
