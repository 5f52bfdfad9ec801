"""``manage.py standingdiagram``: write the state diagrams of runs and findings into ``docs/standing.md``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from audit.adjudication.transitions import FINDING_TRANSITIONS, RUN_TRANSITIONS, diagram
from audit.management.pages import page_of_docs

PAGE = Path("docs/standing.md")
BEGINS, ENDS = "```mermaid\n", "\n```"


def with_diagrams(page: str) -> str:
    """Return the page with the current diagrams: of runs, then of findings."""
    before, *rest = page.split(BEGINS)
    diagrams = (diagram(RUN_TRANSITIONS), diagram(FINDING_TRANSITIONS))
    parts = [part.partition(ENDS)[2] for part in rest]
    return before + "".join(f"{BEGINS}{each}{ENDS}{after}" for each, after in zip(diagrams, parts, strict=True))


class Command(BaseCommand):
    help = "Write the state diagrams of runs and findings into docs/standing.md."

    def handle(self, *args: Any, **options: Any) -> None:
        page = page_of_docs(PAGE)
        page.write_text(with_diagrams(page.read_text()))
        self.stdout.write(f"{PAGE}: written")
