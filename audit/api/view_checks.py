"""A system check: every view of the API demands a key and a scope of it, but those that are for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error

from audit.api.authentication import HasScope
from audit.api.keyed_view import NoSuchAddress
from audit.api.transparency import Keys

PUBLIC = frozenset({Keys, NoSuchAddress})
"""The views that need no key: the public keys of the log, and the answer that there is no such address."""


def check_views(*, app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Report views of the API that demand no scope of a key."""
    from audit.api.urls import urlpatterns

    views: list[Any] = [pattern.callback for pattern in urlpatterns]
    return [
        Error(
            f"The view {view.__name__} of the API demands no scope of its key.",
            hint="Let it inherit from audit.api.keyed_view.KeyedView, with a `scope` of audit.models.KeyScope.",
            id="audit.E024",
        )
        for view in (each.cls for each in views)
        if view not in PUBLIC and not (HasScope in view.permission_classes and view.scope)
    ]
