"""``manage.py columns``: write into ``docs/columns.md`` what verification proves of every column of the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from audit.management.pages import page_of_docs
from audit.management.terminal import BaseCommand
from audit.models import Casino
from audit.projections.columns import as_markdown, columns_covered, columns_here

PAGE = Path("docs/columns.md")
BEGINS = "| table |"


def with_table(page: str) -> str:
    """Return the page with the current tables, which are its end."""
    return f"{page.partition(BEGINS)[0]}{as_markdown()}\n"


class Command(BaseCommand):
    help = "Write into docs/columns.md what verification proves of every column of this database."

    def handle(self, *args: Any, **options: Any) -> None:
        Casino.objects.exists()  # fails on a database that is not migrated, which then is said
        here, covered = set(columns_here()), set(columns_covered())
        if here != covered:
            wrong = ", ".join(sorted(".".join(each) for each in here ^ covered))
            raise CommandError(f"audit/projections/coverage.py and this database differ: {wrong}")
        page = page_of_docs(PAGE)
        page.write_text(with_table(page.read_text()))
        self.stdout.write(f"{PAGE}: written")
