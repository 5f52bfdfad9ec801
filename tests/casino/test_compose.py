"""The compose file is valid and closed: no root, no writable disk, no default secret, and an image with every file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent.parent
COMPOSE = ROOT / "docker" / "compose.yaml"


def test_the_compose_file_follows_the_published_schema() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_service_of_ours_runs_without_root_on_a_read_only_disk() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    ours = [name for name, service in services.items() if service["image"] == "cabochon"]
    assert sorted(ours) == [
        *("accounts", "beat", "command", "keys", "migrate", "night", "notify", "ready", "replay", "sequencer", "web")
    ]
    for name in ours:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text().splitlines()
    users = [line for line in dockerfile if line.startswith("USER ")]
    assert users == ["USER cabochon"]


def test_no_secret_has_a_default() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    secrets = [
        value
        for service in services.values()
        for key, value in service.get("environment", {}).items()
        if "PASS" in key or "SECRET" in key
    ]
    assert len(secrets) >= 8
    assert all(":?" in value for value in secrets)


def test_no_process_that_stays_signs_in_as_a_superuser() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    account = {
        name: service["environment"]["DATABASE_URL"].removeprefix("postgres://").partition(":")[0]
        for name, service in services.items()
        if service["image"] == "cabochon"
    }
    assert {name for name, user in account.items() if user == "cabochon"} == {"accounts", "migrate"}
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
    assert copied == {"requirements-runtime.lock", "manage.py", "settlement", "audit", "casino", "templates", "locale"}
    assert all((ROOT / name).exists() for name in copied)


def test_nobody_but_the_sequencer_stays_with_the_key_of_checkpoints() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    mounted = {
        name: {volume.partition(":")[0] for volume in service.get("volumes", ())} for name, service in services.items()
    }
    assert {name for name, volumes in mounted.items() if "checkpoint-keys" in volumes} == {"keys", "sequencer"}
    assert "keys" not in mounted["sequencer"]
    assert services["keys"]["restart"] == "no", "it makes the keys and ends"
    for name in ("web", "sequencer", "keys"):
        environment = services[name]["environment"]
        assert environment["CABOCHON_CHECKPOINT_KEYS"] == "/var/lib/cabochon/checkpoint-keys"
