"""The pages of the docs that commands write: they are in the checkout, not in an installed package."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError


def page_of_docs(path: Path) -> Path:
    """Return the file of a page, as ``docs/casework.md``. Raise ``CommandError`` where there are no docs."""
    page: Path = settings.BASE_DIR / path
    if not page.parent.is_dir():
        raise CommandError(f"{path} is written in a checkout of Cabochon; an installed package has no docs.")
    return page
