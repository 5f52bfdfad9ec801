"""Where templates, translations and local data are: in a checkout, or in an installed package.

| | checkout | installed |
|---|---|---|
| templates, translations | beside the packages | inside this package, where the wheel puts them |
| ``CABOCHON_DATA``, unless it is set | ``.data`` in the checkout | ``cabochon`` in the user's folder for data |
"""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent
"""The folder that the packages are in: the checkout, or ``site-packages``."""

IS_CHECKOUT = (PROJECT / "manage.py").is_file()
RESOURCES = PROJECT if IS_CHECKOUT else PACKAGE
"""The folder that has ``templates`` and ``locale``."""


def data_folder() -> Path:
    """Return the folder of all local data. It need not exist yet."""
    if configured := os.environ.get("CABOCHON_DATA"):
        return Path(configured).resolve()
    if IS_CHECKOUT:
        return PROJECT / ".data"
    # As the XDG Base Directory Specification has it: a relative path there is to be ignored.
    users = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (users if users.is_absolute() else Path.home() / ".local" / "share") / "cabochon"
