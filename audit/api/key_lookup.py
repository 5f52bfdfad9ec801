"""Looking up API keys, with a limit on failed attempts for each address, against guessing.

A key that was valid a moment ago is looked up whatever its address did: a table system that shares an address with a
broken one is not locked out.
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

MAX_FAILURES = 60
"""Failed attempts of an address in a minute; approximate, as web processes share their counts now and then."""

VALID_S = 900.0
"""How long a key that was valid is exempt from the limit of its address."""

MAX_VALID = 10_000

_failures = RateCounter(60, "failed-keys")
_valid_until: dict[bytes, float] = {}
_lock = Lock()


def find_key(secret: str, address: str) -> ApiKey | None:
    """Return the active key that ``secret`` belongs to, or None if there is none.

    Raise ``Throttled`` if ``address`` has failed too often: then the key is not looked up.
    """
    digest = hashlib.sha256(secret.encode()).digest()
    now = time.monotonic()
    network = _network_of(address)
    if _valid_until.get(digest, 0.0) < now and _failures.used(network) >= MAX_FAILURES:
        raise Throttled(_failures.left_s(), "Too many keys from this address were none.")
    key = ApiKey.of_secret(secret)
    with _lock:
        if key is None:
            _valid_until.pop(digest, None)
        elif len(_valid_until) < MAX_VALID or digest in _valid_until:
            _valid_until[digest] = now + VALID_S
        else:
            _valid_until.clear()
    if key is None:
        _failures.add(network)
    return key


@lru_cache(maxsize=4096)
def _network_of(address: str) -> str:
    """Return what failures are counted by: an IPv4 address, or the /64 network that an IPv6 subscriber has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)
