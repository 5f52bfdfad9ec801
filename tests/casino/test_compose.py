"""The compose file is valid and closed: no root, no writable disk, no default secret, and an image with every file.

No container runs here: ``test_compose_processes`` runs its commands, ``tests/faults/test_deployment`` nginx's file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from casino.embedded.postgres import EmbeddedPostgres, binaries
from tests.test_docs import documented

ROOT = Path(__file__).parent.parent.parent
COMPOSE = ROOT / "docker" / "compose.yaml"

OF_ONE_MACHINE = {
    *("CABOCHON_DATA", "CABOCHON_KEYS"),  # folders that the image has
    *("CABOCHON_PORT", "CABOCHON_FIRST_NIGHTS", "CABOCHON_FIRST_NIGHT_TABLES", "CABOCHON_POSTGRES_BIN"),
    *("CABOCHON_NIGHT_WORKERS", "CABOCHON_STALL_S"),
}
"""Variables of the image and of `make run`."""

OF_A_CLUSTER = {"CABOCHON_NEAR_URL"}
"""Another node of the database, which is one server here; each process would have its own, for its own account."""


def services_of_ours() -> dict[str, dict[str, Any]]:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    return {name: service for name, service in services.items() if service["image"] == "cabochon"}


def test_the_compose_file_follows_the_published_schema() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_service_of_ours_runs_without_root_on_a_read_only_disk() -> None:
    ours = services_of_ours()
    assert sorted(ours) == [
        *(
            "accounts",
            "archive",
            "beat",
            "command",
            "keys",
            "migrate",
            "night",
            "notify",
            "ready",
            "replay",
            "sequencer",
            "web",
        )
    ]
    for service in ours.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text().splitlines()
    users = [line for line in dockerfile if line.startswith("USER ")]
    assert users == ["USER cabochon"]


def test_no_secret_has_a_default() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    secrets = [
        value
        for service in services.values()
        for key, value in service.get("environment", {}).items()
        if value is not None and (("PASS" in key and not key.endswith("__FILE")) or "SECRET" in key)
    ]
    of_web = [value for value in secrets if value != "signs-nothing-in-this-process"]
    assert len(of_web) >= 8
    assert all(":?" in value for value in of_web)


def test_the_secret_of_sessions_is_the_web_servers_alone() -> None:
    have = {
        name
        for name, service in services_of_ours().items()
        if "${" in str(service["environment"].get("CABOCHON_SECRET_KEY"))
    }
    assert have == {"web"}


def test_every_variable_of_the_documentation_is_passed_to_a_process() -> None:
    passed = {name for service in services_of_ours().values() for name in service["environment"]}
    assert {name for name in passed if name.startswith("CABOCHON_")} <= set(documented())
    assert set(documented()) - passed == OF_ONE_MACHINE | OF_A_CLUSTER


def test_a_variable_without_a_value_is_passed_on_only_if_it_is_set() -> None:
    """Compose leaves it out otherwise, so that the default is the code's and stands once."""
    for service in services_of_ours().values():
        for name, value in service["environment"].items():
            assert value is None or value != "", name


def test_every_process_that_stays_has_a_health_check_and_a_log_of_limited_size() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    stay = {name: service for name, service in services.items() if service.get("restart") == "unless-stopped"}
    assert len(stay) == 15
    for name, service in stay.items():
        assert service["healthcheck"].get("test"), name
    for name, service in services.items():
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name


def test_nobody_outside_reaches_a_process_but_through_the_proxy() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert {name: service["ports"] for name, service in services.items() if "ports" in service} == {
        "proxy": ["80:80", "443:443"],
        "grafana": ["127.0.0.1:3000:3000"],
    }
    proxy, web = services["proxy"], services["web"]
    assert list(proxy["networks"]) == ["front"], "so that it reaches the web server from its own address"
    assert proxy["networks"]["front"]["ipv4_address"] in web["environment"]["CABOCHON_TRUSTED_PROXIES"]


def test_every_file_that_a_service_mounts_is_there() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    mounted = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", ())]
    files = [path for path in mounted if path.startswith(".")]
    assert len(files) >= 6
    assert [path for path in files if not (COMPOSE.parent / path).exists()] == []


def test_no_process_that_stays_signs_in_as_a_superuser() -> None:
    account = {
        name: service["environment"]["DATABASE_URL"].removeprefix("postgres://").partition(":")[0]
        for name, service in services_of_ours().items()
        if name != "ready"
    }
    assert {name for name, user in account.items() if user == "cabochon"} == {"accounts", "archive", "migrate"}
    assert account["web"] == "cabochon_web_login"
    assert account["replay"] == account["night"] == account["notify"] == "cabochon_worker_login"
    assert account["beat"] == "cabochon_beat_login"
    assert account["sequencer"] == "cabochon_sequencer_login"
    assert account["keys"] == account["command"] == "cabochon_operator_login"


def test_the_image_has_every_file_that_runs() -> None:
    copied = {
        name.rstrip("/")
        for line in (ROOT / "docker" / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    }
    program = {"manage.py", "settlement", "audit", "casino", "templates", "locale"}
    assert copied == {*program, "requirements-runtime.lock", "LICENSE", "THIRD_PARTY_LICENSES.txt", "sbom.cdx.json"}
    assert all((ROOT / name).exists() for name in copied)


def test_nobody_but_the_sequencer_stays_with_the_key_of_checkpoints() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    mounted = {
        name: {volume.partition(":")[0] for volume in service.get("volumes", ())} for name, service in services.items()
    }
    assert {name for name, volumes in mounted.items() if "checkpoint-keys" in volumes} == {
        *("archive", "keys", "sequencer")
    }
    assert "keys" not in mounted["sequencer"]
    assert services["keys"]["restart"] == services["archive"]["restart"] == "no", "they end"
    for name in ("web", "sequencer", "keys"):
        environment = services[name]["environment"]
        assert environment["CABOCHON_CHECKPOINT_KEYS"] == "/var/lib/cabochon/checkpoint-keys"


def test_an_account_of_another_number_reads_the_static_files_and_nobody_elses_keys() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()
    assert re.search(r"--mode 0755 /var/lib/cabochon /", text)
    assert re.search(r"--mode 0700 \\\n +/var/lib/cabochon/keys /var/lib/cabochon/checkpoint-keys", text)


@pytest.fixture
def archiving(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL that archives its log as compose's does, in a folder beside its data."""
    archive = tmp_path / "backup" / "archive"
    archive.mkdir(parents=True)
    command = next(
        part.removeprefix("archive_command=").replace("/backup", str(tmp_path / "backup"))
        for part in yaml.safe_load(COMPOSE.read_text())["services"]["postgres"]["command"]
        if part.startswith("archive_command=")
    )
    server = EmbeddedPostgres(tmp_path / "data", f'-c archive_mode=on -c archive_command="{command}" -c fsync=off')
    server.start()
    yield server
    server.stop()


@pytest.mark.faults
def test_the_backup_of_compose_keeps_the_newest_and_the_log_from_the_oldest_on(
    archiving: EmbeddedPostgres, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    user, password = archiving.account("migrate")
    environment = {
        **os.environ,
        "PATH": f"{binaries()}:{os.environ['PATH']}",
        "PGHOST": str(archiving.sockets),
        "PGUSER": user,
        "PGPASSWORD": password,
        "BACKUP": str(backup),
        "BACKUP_KEEP": "2",
    }
    if not all((binaries() / name).exists() for name in ("pg_verifybackup", "pg_archivecleanup")):
        pytest.skip("the embedded PostgreSQL has no pg_verifybackup or no pg_archivecleanup")
    firsts = []
    for _ in range(3):
        with psycopg.connect(archiving.url(), autocommit=True) as superuser:
            superuser.execute("create table if not exists filled (n int)")
            superuser.execute("insert into filled select generate_series(1, 1000)")
            superuser.execute("select pg_switch_wal()")
        done = subprocess.run(
            ["sh", str(ROOT / "docker" / "backup.sh"), "once"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        firsts.append(done.stdout.split(" of the log from ")[1].split()[0])
        time.sleep(1.1)  # a backup is named after its second
    assert len(list((backup / "base").iterdir())) == 2
    assert firsts[0] == firsts[1] < firsts[2], "the log from the oldest that is kept on"
    assert min(path.name[:24] for path in (backup / "archive").iterdir() if len(path.name) == 24) >= firsts[2]
    shutil.rmtree(backup / "base")
