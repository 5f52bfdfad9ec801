"""``manage.py diagrams``: write the state diagrams of cases, runs and findings into the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.adjudication import transitions
from audit.casework import state_machine
from audit.management.pages import page_of_docs
from audit.management.terminal import BaseCommand

CASES, STANDING = Path("docs/casework.md"), Path("docs/standing.md")
BEGINS, ENDS = "```mermaid\n", "\n```"


def with_diagrams(path: Path, page: str) -> str:
    """Return the text of a page with its current diagrams: that of cases, or of runs and then of findings."""
    tables = (transitions.RUN_TRANSITIONS, transitions.FINDING_TRANSITIONS)
    diagrams = [state_machine.diagram()] if path == CASES else [transitions.diagram(each) for each in tables]
    before, *rest = page.split(BEGINS)
    parts = [part.partition(ENDS)[2] for part in rest]
    return before + "".join(f"{BEGINS}{each}{ENDS}{after}" for each, after in zip(diagrams, parts, strict=True))


class Command(BaseCommand):
    help = "Write the state diagrams of cases, runs and findings into docs/casework.md and docs/standing.md."

    def handle(self, *args: Any, **options: Any) -> None:
        for path in (CASES, STANDING):
            page = page_of_docs(path)
            page.write_text(with_diagrams(path, page.read_text()))
            self.stdout.write(f"{path}: written")
