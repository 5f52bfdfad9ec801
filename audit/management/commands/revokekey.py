"""``manage.py revokekey``: revoke an API key at once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import ApiKey


class Command(BaseCommand):
    help = "Revoke an API key, named by the twelve digits after cab_. Every process refuses it within a second."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", metavar="PREFIX")
        parser.add_argument("--reason", default="", help="recorded in the audit trail")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        key = ApiKey.objects.select_for_update().filter(prefix=options["prefix"], revoked_at=None).first()
        if key is None:
            raise CommandError(f"There is no active key '{options['prefix']}'.")
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        data = {"id": key.pk, "prefix": key.prefix}
        audit_trail.record(
            audit_trail.account_name(), "key.revoked", casino_id=key.casino_id, data=data, reason=options["reason"]
        )
        self.stdout.write(f"{key} is revoked.")
