"""Events of an integrator's own: types that begin with ``x.``, as ``x.acme.ball-speed``.

They are kept, hashed and shown, with whatever data they bring, and never adjudicated: they open no stream and stand
between no two events.
"""

from __future__ import annotations

import re
from typing import Any

from settlement.events.envelope import Envelope

EXTENSION_TYPE = re.compile(r"x(\.[a-z0-9-]+)+")
"""What such a type looks like; it is not longer than ``MAX_TYPE``."""

MAX_TYPE = 100


class ExtensionEvent(Envelope, frozen=True, gc=False, tag=False):
    """An event of a type that the contract does not have."""

    type: str  # type: ignore[misc]
    data: dict[str, Any] = {}
