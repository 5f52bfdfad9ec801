"""The files of the records of releases: where they are, how they are loaded, and how a process reads a record."""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg

from casino.embedded.postgres import binaries

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

RELEASES = ("1.0",)
"""The releases of which there is a record, the earliest first."""

ORIGIN = "upgrade.cabochon.example/log"
ROLES = (
    *("cabochon_owner", "cabochon_writer", "cabochon_reader", "cabochon_sequencer"),
    *("cabochon_web", "cabochon_worker", "cabochon_operator"),
)


def path_of(version: str, ending: str) -> Path:
    return HERE / f"record-{version}.{ending}"


def bundle_of(version: str) -> Path:
    return HERE / f"evidence-{version}.zip"


def keys_of(version: str) -> Path:
    """Return the folder of the private keys of a record."""
    return HERE / f"keys-{version}"


def archive_of(version: str) -> Path:
    """Return the folder of the months that are in the archive."""
    return HERE / f"archive-{version}"


def lay_out(data: Path, version: str) -> None:
    """Put what belongs to the record of a release into a data folder: its keys, archive and exported checkpoints."""
    shutil.copytree(keys_of(version), data / "keys")
    shutil.copytree(archive_of(version), data / "archive")
    (data / "checkpoints").mkdir()
    for size, note in answered_by(version)["record"]["proofs"]["checkpoints"].items():
        (data / "checkpoints" / f"checkpoint-{int(size):020}").write_text(note)


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
        "CABOCHON_KEYS": str(data / "keys"),
        "CABOCHON_ARCHIVE": str(data / "archive"),
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


def load(database_url: str, version: str) -> None:
    """Load the dump of a release into an empty database, as a superuser."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        _make_roles(connection)
        connection.execute(lzma.decompress(path_of(version, "sql.xz").read_bytes()))


def _make_roles(connection: psycopg.Connection[Any]) -> None:
    for role in ROLES:
        try:
            connection.execute(f"create role {role} nologin")
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):  # roles belong to the server
            continue


def answered_by(version: str) -> dict[str, Any]:
    """Return the answers of a release about its own record."""
    answers: dict[str, Any] = json.loads(lzma.decompress(path_of(version, "json.xz").read_bytes()))
    return answers


def load_migrated(database_url: str, version: str, data: Path) -> None:
    """Load the record of a release and migrate it to the head, or load what an earlier run has made of it.

    That is kept as SQL until something changes that a migration runs: to migrate takes longer than the tests.
    """
    kept = ROOT / ".data" / f"upgraded-{version}-{_digest_of(version)}.sql"
    if kept.exists():
        with psycopg.connect(database_url, autocommit=True) as connection:
            _make_roles(connection)
            connection.execute(kept.read_bytes())
        return
    load(database_url, version)
    run(["manage.py", "migrate", "--verbosity", "0"], database_url=database_url, data=data)
    for other in kept.parent.glob(f"upgraded-{version}-*"):
        other.unlink(missing_ok=True)
    with suppress(subprocess.CalledProcessError):  # the server may be of a later version than ours
        unfinished = kept.with_name(f"{kept.name}.{os.getpid()}")
        unfinished.write_text(dumped(database_url, str(binaries() / "pg_dump")))
        unfinished.rename(kept)


def _digest_of(version: str) -> str:
    """Return a digest of the record and of all that a migration runs."""
    from tests.settings import SCHEMA  # which sets the environment of the tests: not for who makes a record

    digest = sha256(SCHEMA.encode())
    folders = ("models", "access")
    modules = [path for name in folders for path in sorted((ROOT / "audit" / name).glob("*.py"))]
    modules += [ROOT / "audit" / "apps.py", ROOT / "audit" / "casework" / "video.py"]
    for path in (path_of(version, "sql.xz"), *modules):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def dumped(database_url: str, program: str = os.environ.get("PG_DUMP", "pg_dump")) -> str:
    """Return a database as SQL that a superuser of any name loads, on PostgreSQL 15 and later."""
    sql = subprocess.run(
        [program, "--inserts", "--rows-per-insert=200", "--dbname", database_url],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return "\n".join(_loadable(sql)) + "\n"


def _loadable(sql: str) -> Iterator[str]:
    """Leave off what is for psql, for a later server, or about who owned this database."""
    for line in sql.splitlines():
        if re.match(r"\\(un)?restrict |SET transaction_timeout|-- Dumped ", line):
            continue
        if re.fullmatch(r"ALTER .* OWNER TO (?!cabochon_).*;", line):
            continue
        yield line
