"""Keys that are none: counted by the address they come from, and after so many no longer looked up.

A key that was right a moment ago is looked up all the same, from whatever address: a table system that shares its
address with a broken one goes on.
"""

from __future__ import annotations

import hashlib
import time
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

from rest_framework.exceptions import Throttled

from audit.api.rate_limit import RateCounter
from audit.models import ApiKey

MAX_A_MINUTE = 60
"""Failures from an address in a minute of the clock, about: the web processes share their counts now and then."""

KNOWN_S = 900.0
"""How long a key that was right is looked up whatever its address did."""

MAX_KNOWN = 10_000

_failures = RateCounter(60, "failed-keys")
_known: dict[bytes, float] = {}
_lock = Lock()


def find_key(secret: str, address: str) -> ApiKey | None:
    """Return the active key that ``secret`` is, None where there is none.

    Raise ``Throttled`` where so many from ``address`` were none that this one is not looked up.
    """
    digest = hashlib.sha256(secret.encode()).digest()
    now = time.monotonic()
    place = _place(address)
    if _known.get(digest, 0.0) < now and _failures.used(place) >= MAX_A_MINUTE:
        raise Throttled(_failures.left_s(), "Too many keys from this address were none.")
    key = ApiKey.of_secret(secret)
    with _lock:
        if key is None:
            _known.pop(digest, None)
        elif len(_known) < MAX_KNOWN or digest in _known:
            _known[digest] = now + KNOWN_S
        else:
            _known.clear()
    if key is None:
        _failures.add(place)
    return key


@lru_cache(maxsize=4096)
def _place(address: str) -> str:
    """Return what failures are counted by: an address, of IPv6 the network that one subscriber has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)
