"""Looking up API keys, with limits against guessing that lock no table system out.

    prefix of an active key ─┬─ its secret ──► looked up, always
                             └─ another ─────► refused from memory, without a query; 429 once a prefix has many
    any other prefix ────────┬─ a few a minute from an address ──► looked up: it may be of a new key
                             └─ more ──────────────────────────► 429, without a query

Behind a proxy that is not trusted all table systems share one address, and share it with an attacker. So the limit of
an address is for unknown prefixes alone. A key that is made in the middle of an attack is known ``KNOWN_S`` later.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from threading import Lock

from rest_framework.exceptions import Throttled

from audit.access.client_address import network_of
from audit.api.rate_limit import RateCounter
from audit.models import ApiKey

MAX_FAILURES = 60
"""Failed lookups of an address, and wrong secrets of a prefix, in a minute; approximate, as web processes share their
counts now and then."""

KNOWN_S = 5.0
"""How long the digests of active keys are used as they were read."""

_failures = RateCounter(60, "failed-keys")
_wrong_secrets = RateCounter(60, "wrong-secrets")


class _ActiveKeys:
    """The digests of the active keys by prefix, read again every ``KNOWN_S``, by one thread while others go on."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._read_at = float("-inf")
        self._lock = Lock()

    def digest(self, prefix: str) -> bytes | None:
        """Return the digest of an active key, None if there is none of that prefix as far as known."""
        if time.monotonic() - self._read_at >= KNOWN_S and self._lock.acquire(blocking=False):
            try:
                self._read_at = time.monotonic()
                self._digests = ApiKey.active_digests()
            finally:
                self._lock.release()
        return self._digests.get(prefix)

    def add(self, key: ApiKey) -> None:
        """Note a key that was looked up and is active."""
        self._digests[key.prefix] = bytes(key.digest)

    def forget(self) -> None:
        self._digests, self._read_at = {}, float("-inf")


_active_keys = _ActiveKeys()


FOUND_KEY = "cabochon.found_key"
"""Where the environment of a request has what ``find_key`` said of it, if it was asked: the secret, and the key."""


def find_key(secret: str, address: str) -> ApiKey | None:
    """Return the active key that ``secret`` belongs to, or None if there is none.

    Raise ``Throttled`` for a key that is not looked up: of an unknown prefix, if ``address`` has failed too often; with
    the wrong secret of a known one, if that has happened too often.
    """
    prefix = ApiKey.prefix_of(secret)
    if prefix is None:
        return None
    known = _active_keys.digest(prefix)
    if known is not None and not secrets.compare_digest(known, hashlib.sha256(secret.encode()).digest()):
        if _wrong_secrets.used(prefix) >= MAX_FAILURES:
            raise _throttled(_wrong_secrets)
        _wrong_secrets.add(prefix)
        return None
    network = network_of(address)
    if known is None and _failures.used(network) >= MAX_FAILURES:
        raise _throttled(_failures)
    key = ApiKey.of_secret(secret)
    if key is None:
        _failures.add(network)
    elif known is None:
        _active_keys.add(key)
    return key


def _throttled(counter: RateCounter) -> Throttled:
    return Throttled(counter.left_s(), "Too many keys that do not exist were tried.")
