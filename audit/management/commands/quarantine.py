"""``manage.py quarantine``: list refused requests, and delete the bytes of old ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone

from audit.ingest.quarantine import purge
from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.models import Quarantined


class Command(BaseCommand):
    help = "List the refused requests that are kept; --purge deletes the bytes of old ones."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--purge", action="store_true", help="delete the bytes; digest, reason and stream stay")
        parser.add_argument(
            "--days", type=int, default=settings.CABOCHON_QUARANTINE_DAYS, help="of requests older than so many days"
        )
        parser.add_argument("--dry-run", action="store_true", help="print of how many requests, and delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["purge"] or options["dry_run"]:
            with transaction.atomic():
                purged = purge(before=timezone.now() - timedelta(days=options["days"]))
                transaction.set_rollback(options["dry_run"])
            done = "would be deleted" if options["dry_run"] else "deleted"
            self.stdout.write(f"bytes of {counted(purged, 'request')} {done}")
            return
        by_reason = (
            Quarantined.objects.values("code").annotate(requests=Count("pk"), total=Sum("size")).order_by("code")
        )
        for row in by_reason:
            requests, size = counted(row["requests"], "request"), counted(row["total"], "byte")
            self.stdout.write(f"{row['code']:16} {requests:>17} {size:>18}")
