"""The settings of the tests: a data folder for each run, so that no running stack and no other run is touched."""

import os
from pathlib import Path

# The run's workers inherit the variable from the process that leads it, and so use the same servers.
os.environ.setdefault(
    "CABOCHON_TEST_DATA", str(Path(__file__).resolve().parent.parent / ".data" / f"test-{os.getpid()}")
)
os.environ["CABOCHON_DATA"] = os.environ["CABOCHON_TEST_DATA"]

from casino.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; no password here guards anything
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
