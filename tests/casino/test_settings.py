"""The default settings: everything closed that a deployment does not open."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from casino.secret import secret_key
from casino.settings import number

ROOT = Path(__file__).parent.parent.parent


def test_debug_is_off_and_hosts_are_named() -> None:
    assert settings.DEBUG is False
    assert "*" not in settings.ALLOWED_HOSTS


def test_no_worker_takes_orders_from_the_broker_but_tasks() -> None:
    from casino.celery import app

    assert app.conf.worker_enable_remote_control is False
    assert app.conf.accept_content == ["json"]


@pytest.mark.django_db
def test_postgresql_compiles_no_statement_whatever_its_own_setting_is() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select setting, reset_val, source from pg_settings where name = 'jit'")
        assert cursor.fetchone() == ("off", "off", "client")


def test_the_secret_key_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = secret_key(tmp_path)
    assert len(first) >= 50
    assert secret_key(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


@pytest.mark.django_db
def test_no_page_may_run_a_script_from_elsewhere_or_inline(client: Client) -> None:
    response = client.get("/admin/login/")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert b"<script>" not in response.content
    assert b" style=" not in response.content


@pytest.mark.django_db
def test_the_schema_is_openapi_3_1_and_has_the_path_of_ingestion(client: Client) -> None:
    response = client.get("/api/v1/schema/?format=json")
    assert response.status_code == 200
    schema = response.json()
    assert schema["openapi"].startswith("3.1")
    assert "/api/v1/streams/{stream}/events" in schema["paths"]


def test_the_deployment_checks_of_django_pass_behind_https() -> None:
    checked = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "CABOCHON_HTTPS": "true",
            "CABOCHON_SECRET_KEY": "k" * 25 + "".join(chr(97 + n) for n in range(26)),
            "CABOCHON_DATA": str(settings.DATA_DIR),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_a_number_of_the_environment_is_read_as_python_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """``env.float`` leaves out letters: of 1e9 it makes 19."""
    monkeypatch.setenv("CABOCHON_EXPORT_S", "1e9")
    assert number("CABOCHON_EXPORT_S", 60.0) == 1_000_000_000
    monkeypatch.setenv("CABOCHON_EXPORT_S", "60 seconds")
    with pytest.raises(ValueError, match="60 seconds"):
        number("CABOCHON_EXPORT_S", 60.0)
    monkeypatch.delenv("CABOCHON_EXPORT_S")
    assert number("CABOCHON_EXPORT_S", 60.0) == 60
    assert "env.float" not in (ROOT / "casino" / "settings.py").read_text()
