"""A database that ran the landed migrations one by one, as records of 1.0 did, is as one that ran them at once."""

from __future__ import annotations

import re
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from casino.embedded.postgres import binaries
from tests.databases import new_database, server_url
from tests.upgrade.files import run

ONE_BY_ONE = """
import django
django.setup()
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader
load = MigrationLoader.load_disk
def load_unsquashed(self):
    load(self)
    for key in [key for key, migration in self.disk_migrations.items() if key[0] == "audit" and migration.replaces]:
        del self.disk_migrations[key]
MigrationLoader.load_disk = load_unsquashed
call_command("migrate", verbosity=0)
"""


# The instant of migrating, since which the record says whose hand an account is in.
INSTANT = re.compile(r"select '[^']+'::timestamptz")

OF_THE_SERVER = re.compile(r"\\(un)?restrict |ALTER TABLE .* SET \(pg_attver=|$")


def schema_after(arguments: list[str], data: Path) -> list[str]:
    """Return the schema of an empty database after a command: the lines of SQL, without those of a server's own."""
    for url in new_database(server_url()):
        run(arguments, database_url=url, data=data)
        try:
            dump = subprocess.check_output([binaries() / "pg_dump", "--schema-only", url], text=True)
        except subprocess.CalledProcessError:
            pytest.skip("pg_dump is older than the server")
        return [INSTANT.sub("", line) for line in dump.splitlines() if not OF_THE_SERVER.match(line)]
    raise AssertionError


@pytest.mark.faults
def test_one_by_one_or_at_once_the_schema_is_the_same(tmp_path: Path) -> None:
    one_by_one = schema_after(["-c", ONE_BY_ONE], tmp_path)
    at_once = schema_after(["manage.py", "migrate", "--verbosity", "0"], tmp_path)
    assert "CREATE TABLE public.audit_paymentorder (" in at_once
    changes = "\n".join(unified_diff(one_by_one, at_once, lineterm="", n=1))
    assert not changes, changes
