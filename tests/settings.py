"""The settings of the tests: a data folder for each run, so that no running stack and no other run is touched."""

import os
from pathlib import Path

RUN = os.environ.setdefault("CABOCHON_TEST_RUN", str(os.getpid()))
"""The number of the process that leads the run; its workers inherit it, and so use the same servers."""

os.environ["CABOCHON_DATA"] = str(Path(__file__).resolve().parent.parent / ".data" / f"test-{RUN}")

from casino.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; no password here guards anything
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}  # no broker runs in a test
# Tests sign in without a request; ``test_signing_in`` puts back what counts failed tries.
AXES_ENABLED = False
ALL_AUTHENTICATION_BACKENDS = AUTHENTICATION_BACKENDS  # noqa: F405
AUTHENTICATION_BACKENDS = [name for name in ALL_AUTHENTICATION_BACKENDS if not name.startswith("axes.")]
