"""The settings of the tests: a data folder of their own, so that no running stack is touched."""

import os
from pathlib import Path

os.environ["CABOCHON_DATA"] = os.environ.get("CABOCHON_TEST_DATA") or str(
    Path(__file__).resolve().parent.parent / ".data" / "test"
)

from casino.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; no password here guards anything
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
