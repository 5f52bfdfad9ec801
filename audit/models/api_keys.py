"""API keys of table systems.

A key is shown once, when it is created: ``cab_<prefix>_<secret>``. Stored are the prefix, to find it, and the SHA-256
of the whole. The secret has 256 random bits, so a slow password hash would add time and no security.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Value
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.casinos import Casino, GamingTable, is_none_or_dated

USE_STORED_AFTER = timedelta(minutes=5)
"""How far ``last_used_at`` may lag: to store every use would be a write for every request."""

_SECRET = re.compile(r"cab_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NAMED = re.compile(r"(?:cab_)?([0-9a-f]{12})(?:_[A-Za-z0-9_-]{43})?")


def _is_active(now: datetime) -> models.Func:
    """Return what filters keys that are neither revoked nor expired: ``access/sql/active.sql`` says which are."""
    names = (F("revoked_at"), F("expires_at"), Value(now, output_field=models.DateTimeField()))
    return models.Func(*names, function="audit_key_is_active", output_field=models.BooleanField())


class KeyScope(models.TextChoices):
    """What a key may do."""

    EVENTS_WRITE = "events:write", _("record events")
    EVENTS_BACKFILL = "events:backfill", _("record events of any past gaming day")
    STREAMS_READ = "streams:read", _("read streams")
    FINDINGS_READ = "findings:read", _("read findings")
    REPORTS_READ = "reports:read", _("read reports")


DEFAULT_SCOPES = [scope.value for scope in KeyScope if scope is not KeyScope.EVENTS_BACKFILL]
"""What a key may do unless it is said: everything but to record events of long ago."""


class ApiKey(models.Model):
    """A key of one table system of one casino. Two may be active at once, so that they can be rotated.

    With a ``public_key``, 32 bytes of Ed25519, the table system signs every batch; it never changes.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="keys", verbose_name=_("casino"))
    tables = models.ManyToManyField(
        GamingTable,
        blank=True,
        related_name="keys",
        verbose_name=_("tables"),
        help_text=_("The tables this system reports on; if none is chosen, every table at the casino."),
    )
    name = models.CharField(_("name"), max_length=200)
    prefix = models.CharField(_("prefix"), max_length=16, unique=True, editable=False)
    digest = models.BinaryField(max_length=32, editable=False)
    public_key = models.BinaryField(_("public key"), max_length=32, null=True, editable=False)  # Ed25519
    scopes = ArrayField(models.CharField(max_length=32, choices=KeyScope), verbose_name=_("scopes"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)  # to USE_STORED_AFTER

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["casino", "name", "-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(created_at__range=CALENDAR) & is_none_or_dated("expires_at"),
                name="key_of_the_calendar",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    @classmethod
    def make(
        cls,
        *,
        casino: Casino,
        name: str,
        scopes: list[str],
        expires_at: datetime | None = None,
        public_key: bytes | None = None,
    ) -> tuple[Self, str]:
        """Store a key without an entry, for tests and measurements: ``audit.access.keys`` makes those of a casino."""
        prefix, secret, digest = cls.new_secret()
        key = cls.objects.create(
            casino=casino,
            name=name,
            scopes=scopes,
            prefix=prefix,
            digest=digest,
            expires_at=expires_at,
            public_key=public_key,
        )
        return key, secret

    @classmethod
    def new_secret(cls) -> tuple[str, str, bytes]:
        """Return the prefix, the secret and the digest of a key to be."""
        prefix = secrets.token_hex(6)
        secret = f"cab_{prefix}_{secrets.token_urlsafe(32)}"
        return prefix, secret, cls._digest(secret)

    @staticmethod
    def prefix_of(secret: str) -> str | None:
        """Return the prefix in a secret, None for what cannot be one."""
        match = _SECRET.fullmatch(secret)
        return match[1] if match is not None else None

    @staticmethod
    def named_by(text: str) -> str:
        """Return the prefix that an operator means by ``PREFIX``, ``cab_PREFIX`` or the whole key; else the text."""
        match = _NAMED.fullmatch(text.strip())
        return match[1] if match is not None else text

    @classmethod
    def active_digests(cls) -> dict[str, bytes]:
        """Return the digest of every active key by its prefix."""
        keys = cls.objects.filter(_is_active(timezone.now())).values_list("prefix", "digest")
        return {prefix: bytes(digest) for prefix, digest in keys}

    def is_still_active(self) -> bool:
        """Return whether the key is active now, long after it was looked up."""
        return type(self).objects.filter(_is_active(timezone.now()), pk=self.pk).exists()

    @classmethod
    def of_secret(cls, secret: str) -> Self | None:
        """Return the active key that ``secret`` belongs to, or None."""
        prefix = cls.prefix_of(secret)
        if prefix is None:
            return None
        now = timezone.now()
        key = cls.objects.select_related("casino").filter(_is_active(now), prefix=prefix).first()
        if key is None or not secrets.compare_digest(bytes(key.digest), cls._digest(secret)):
            return None
        key.store_use(now)
        return key

    @classmethod
    def still_active(cls, ids: Collection[int]) -> dict[int, Self]:
        """Return the active keys among ``ids``, which were looked up before, with their tables, in two statements."""
        now = timezone.now()
        found = {key.pk: key for key in cls.objects.select_related("casino").filter(_is_active(now), pk__in=ids)}
        tables: dict[int, list[int]] = {}
        limits = cls.tables.through.objects.filter(apikey__in=found)
        for key_id, table_id in limits.values_list("apikey", "gamingtable"):
            tables.setdefault(key_id, []).append(table_id)
        for key in found.values():
            key.own_tables = frozenset(tables.get(key.pk, ()))
            key.store_use(now)
        return found

    def store_use(self, now: datetime) -> None:
        """Note that the key was used, at most once in ``USE_STORED_AFTER``."""
        if self.last_used_at is None or now - self.last_used_at > USE_STORED_AFTER:
            type(self).objects.filter(pk=self.pk).update(last_used_at=now)

    @staticmethod
    def _digest(secret: str) -> bytes:
        return hashlib.sha256(secret.encode()).digest()

    @cached_property
    def own_tables(self) -> frozenset[int]:
        """Return the ids of the tables this key is limited to; empty if it is not limited."""
        return frozenset(self.tables.values_list("pk", flat=True))

    def reports_on(self, table_id: int | None) -> bool:
        """Return whether this key may write and read streams of a table; None is the count room."""
        return not self.own_tables or table_id in self.own_tables

    def registered(self, table_code: str) -> int | None:
        """Return the id of the table of that code, or None if there is none or the key is limited to others."""
        table_id = (
            GamingTable.objects.filter(casino=self.casino_id, code=table_code).values_list("pk", flat=True).first()
        )
        return table_id if table_id is not None and self.reports_on(table_id) else None
