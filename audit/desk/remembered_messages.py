"""Each message is looked up once in each language, not once for each place of a page where it stands.

Django looks through the catalogue of every app, and through those of another language for what is not translated; a
page has some hundreds of messages, and did nothing else for a tenth of its time.
"""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.utils.translation import trans_real

MOST = 20_000
"""Messages remembered of each language: more than there are, so that none that varies fills the memory."""


def remember() -> None:
    """Remember the messages of each language of the desk, in this process."""
    for code, _name in settings.LANGUAGES:
        catalogue = trans_real.translation(code)
        if not hasattr(catalogue.gettext, "cache_info"):
            catalogue.gettext = lru_cache(MOST)(catalogue.gettext)  # type: ignore[method-assign]
