"""``manage.py casediagram``: write the state diagram of cases into ``docs/casework.md``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from audit.casework.state_machine import diagram
from audit.management.pages import page_of_docs

PAGE = Path("docs/casework.md")
BEGINS, ENDS = "```mermaid\n", "\n```"


def with_diagram(page: str) -> str:
    """Return the page with the current diagram."""
    before, _, rest = page.partition(BEGINS)
    after = rest.partition("```")[2]
    return f"{before}{BEGINS}{diagram()}{ENDS}{after}"


class Command(BaseCommand):
    help = "Write the state diagram of cases into docs/casework.md."

    def handle(self, *args: Any, **options: Any) -> None:
        page = page_of_docs(PAGE)
        page.write_text(with_diagram(page.read_text()))
        self.stdout.write(f"{PAGE}: written")
