"""The settings of the tests: a data folder and a database server of their own, so that no other run is touched."""

import hashlib
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

RUN = os.environ.setdefault("CABOCHON_TEST_RUN", str(os.getpid()))
"""The process id of the run's leader, which its workers inherit; or a name, and then its data are kept."""


ROOM = 6 * 1024**3
"""Bytes that are free where a run keeps its data in memory: several times what it fills."""


def _data_folder() -> Path:
    """Return where the data of runs are: in memory if there is room, as on Linux, else beside the code.

    PostgreSQL makes some thousand files for each database, which takes a disk longer than many a module takes.
    """
    memory = Path("/dev/shm")
    if RUN.isdecimal() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ROOM:
        folder = memory / f"cabochon-tests-{os.getuid()}"
        folder.mkdir(exist_ok=True)
        if folder.stat().st_uid == os.getuid():  # anybody may write beside it
            return folder
    return ROOT / ".data"


os.environ.setdefault("CABOCHON_TEST_DATA", str(_data_folder()))  # which the workers inherit
os.environ["CABOCHON_DATA"] = str(Path(os.environ["CABOCHON_TEST_DATA"]) / f"test-{RUN}")
if os.environ.get("CABOCHON_TEST_CITUS"):  # tests/citus.py
    os.environ["DATABASE_URL"] = os.environ["CABOCHON_TEST_CITUS"]
os.environ["SPT_NOENV"] = "1"  # a process that sets its title leaves its environment legible: see ``running_on``

from casino.settings import *  # noqa: E402, F403

_schema = hashlib.sha256(os.environ.get("CABOCHON_POSTGRES_BIN", "").encode())
for _path in [
    ROOT / "requirements.lock",
    ROOT / "audit" / "access" / "database_roles.py",
    *sorted((ROOT / "audit" / "migrations").glob("*.py")),
    *sorted((ROOT / "audit").glob("*/sql/*.sql")),
    *([ROOT / "audit" / "event_store" / "citus.sql"] if "CABOCHON_TEST_CITUS" in os.environ else []),
]:
    _schema.update(_path.read_bytes())
SCHEMA = _schema.hexdigest()[:16]
MIGRATED = f"migrated_{RUN}_{SCHEMA}"
"""The database from which the run copies every other: migrated, and named after the files it was made from."""

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; no password here guards anything
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}  # no broker runs in a test
MIDDLEWARE = ["tests.roles.AsWeb", *MIDDLEWARE]  # noqa: F405
CABOCHON_PROCESSOR_BURST_S = 1e9  # all tests come from one address; ``test_processor_budget`` sets it
# Tests sign in without a request; ``test_signing_in`` puts back what counts failed tries.
AXES_ENABLED = False
ALL_AUTHENTICATION_BACKENDS = AUTHENTICATION_BACKENDS  # noqa: F405
AUTHENTICATION_BACKENDS = [name for name in ALL_AUTHENTICATION_BACKENDS if not name.startswith("axes.")]
