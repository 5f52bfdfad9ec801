"""The files of the 0.1.0 record: where they are, how they are loaded, and how a process reads the record."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

DUMP = HERE / "record-0.1.0.sql.xz"
ANSWERS = HERE / "record-0.1.0.json.xz"
BUNDLE = HERE / "evidence-0.1.0.zip"
KEYS = HERE / "keys"

ORIGIN = "upgrade.cabochon.example/log"
ROLES = ("cabochon_owner", "cabochon_writer", "cabochon_reader", "cabochon_sequencer")


def environment(database_url: str, data: Path) -> dict[str, str]:
    """Return the environment of a process that reads the record; ``data`` is its data folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CABOCHON_", "DJANGO_"))}
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": "memory://",
        "CABOCHON_DATA": str(data),
        "CABOCHON_SECRET_KEY": "the secret key of a test",
        "CABOCHON_ORIGIN": ORIGIN,
        "CABOCHON_KEYS": str(KEYS),
        "CABOCHON_CHECKPOINTS": str(data / "checkpoints"),
        "CABOCHON_EMAIL_URL": "dummymail://",
    }


def run(arguments: list[str], *, database_url: str, data: Path) -> str:
    """Run Python in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(database_url, data),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def ask(*questions: str, database_url: str, data: Path) -> dict[str, Any]:
    """Return the answers of this tree's code; ``answers.py`` lists the questions."""
    answers: dict[str, Any] = json.loads(
        run(["-m", "tests.upgrade.answers", *questions], database_url=database_url, data=data)
    )
    return answers


def load(database_url: str) -> None:
    """Load the dump into an empty database, as a superuser."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for role in ROLES:
            try:
                connection.execute(f"create role {role} nologin")
            except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):  # roles belong to the server
                continue
        connection.execute(lzma.decompress(DUMP.read_bytes()))


def answered_by_0_1_0() -> dict[str, Any]:
    """Return the answers of 0.1.0 about its own record."""
    answers: dict[str, Any] = json.loads(lzma.decompress(ANSWERS.read_bytes()))
    return answers
