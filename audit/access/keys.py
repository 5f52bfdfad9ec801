"""Making, rotating and revoking API keys: the same for the desk and the commands.

The database does each in one statement with its entry: ``sql/key_entries.sql``. The ``actor`` is the name of an officer
who keeps the casino, or ``COMMAND``; it raises ``EntryRefused`` for any other.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.event_store import audit_trail, binary_copy
from audit.models import ApiKey, Casino, GamingTable

COMMAND = audit_trail.COMMAND

KEY_CACHE_S = 1.0
"""How long a web server goes on with a key that it looked up. A batch may come as much later than its revocation."""

OVERLAP = timedelta(hours=24)
"""How long a rotated key stays valid beside the one that follows it, unless it is said."""


DEFAULT_DAYS, SANDBOX_DAYS = 365, 30
"""Days until a key expires unless it is said, of a casino and of a sandbox: one that is forgotten ends by itself."""


MADE, ROTATED, REVOKED = "key.made", "key.rotated", "key.revoked"
"""The entries of a key. The first two, with which one begins, say its name, when it was created, its scopes, the codes
of its tables and when it expires, "" for never, and of one that has to sign its batches the ``public_key``, in base64.
The second says until when the key is valid that it ``follows``, by its prefix."""


class NotActive(Exception):
    """The key to rotate is revoked or has expired."""


@transaction.atomic
def make(
    actor: str | None,
    *,
    casino: Casino,
    name: str,
    scopes: list[str],
    tables: Iterable[GamingTable] = (),
    expires_at: datetime | None = None,
    public_key: bytes | None = None,
) -> tuple[ApiKey, str]:
    """Make a key in the name of ``actor``. Return it and its secret; no ``tables`` means every table of the casino.

    With a ``public_key``, 32 bytes of Ed25519, its table system signs every batch.
    """
    key, secret = _unsaved(casino=casino, name=name, scopes=scopes, expires_at=expires_at, public_key=public_key)
    _perform(actor, MADE, key, stated_of(key, [table.code for table in tables]))
    return ApiKey.objects.select_related("casino").get(pk=key.pk), secret


@transaction.atomic
def rotate(
    actor: str | None,
    key_id: int,
    *,
    overlap: timedelta = OVERLAP,
    public_key: bytes | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, ApiKey, str]:
    """Replace a key by one of the same casino, tables, scopes and name. Both are valid until ``overlap`` has passed.

    The one that follows lives as long as the other was to live, unless ``expires_at`` says until when.

    The one that follows has the public key of the other, unless it is given one: so a key that signs is followed by one
    that signs.

    Return the key as it was replaced, the one that follows, and its secret. Raise ``NotActive``.
    """
    before = ApiKey.objects.select_for_update(of=("self",)).select_related("casino").get(pk=key_id)
    now = timezone.now()
    if not before.is_still_active():
        raise NotActive
    if expires_at is None and before.expires_at is not None:
        expires_at = now + (before.expires_at - before.created_at)
    key, secret = _unsaved(
        casino=before.casino,
        name=before.name,
        scopes=before.scopes,
        expires_at=expires_at,
        public_key=public_key or _public_key(before),
    )
    before.expires_at = min(before.expires_at or now + overlap, now + overlap)
    stated = stated_of(key, before.tables.values_list("code", flat=True))
    _perform(actor, ROTATED, key, {**stated, "follows": before.prefix, "until": before.expires_at.isoformat()})
    return before, ApiKey.objects.select_related("casino").get(pk=key.pk), secret


@transaction.atomic
def revoke(actor: str | None, keys: Iterable[int], *, reason: str = "") -> list[ApiKey]:
    """Revoke keys, by their ids, in the name of ``actor``. Return those that were not revoked before."""
    revoked = list(ApiKey.objects.select_for_update().filter(pk__in=keys, revoked_at=None).order_by("pk"))
    for key in revoked:
        _perform(actor, REVOKED, key, {"id": key.pk, "prefix": key.prefix}, reason=reason)
    return revoked


def _unsaved(
    *, casino: Casino, name: str, scopes: list[str], expires_at: datetime | None, public_key: bytes | None
) -> tuple[ApiKey, str]:
    """Return a key that the database has only the id of, and its secret."""
    prefix, secret, digest = ApiKey.new_secret()
    [(key_id,)] = binary_copy.execute("select audit_next_id('apikey')", ())
    key = ApiKey(
        pk=key_id,
        casino=casino,
        name=name,
        scopes=scopes,
        prefix=prefix,
        digest=digest,
        created_at=timezone.now(),
        expires_at=expires_at,
        public_key=public_key,
    )
    return key, secret


def _perform(actor: str | None, type: str, key: ApiKey, data: dict[str, Any], *, reason: str = "") -> None:
    secret = None if type == REVOKED else bytes(key.digest).hex()
    audit_trail.perform(actor, type, casino_id=key.casino_id, data=data, reason=reason, secret=secret)


def stated_of(key: ApiKey, codes: Iterable[str]) -> dict[str, Any]:
    """Return what the entry says of a key that begins, or is kept; ``codes`` are those of its tables."""
    tables = sorted(codes)
    expires = key.expires_at.astimezone(UTC).isoformat() if key.expires_at is not None else ""
    stated = {"id": key.pk, "prefix": key.prefix, "scopes": list(key.scopes), "tables": tables, "expires": expires}
    created = key.created_at.astimezone(UTC).isoformat()
    return stated | {"named": key.name, "created": created} | _signing(key)


def _signing(key: ApiKey) -> dict[str, str]:
    """Return what the entry of a key says of its public key."""
    public_key = _public_key(key)
    return {} if public_key is None else {"public_key": b64encode(public_key).decode()}


def _public_key(key: ApiKey) -> bytes | None:
    return None if key.public_key is None else bytes(key.public_key)
