"""What a role allows at the desk: which pages, and of which houses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.contrib.auth.backends import BaseBackend

from audit.models import Officer, Role

_RECORD = frozenset(
    f"audit.view_{name}"
    for name in (
        "finding",
        "loggedstream",
        "quarantined",
        "whatif",
        "case",
        "casino",
        "gamingtable",
        "deadline",
        "nightreport",
        "job",
    )
)
_KEYS = frozenset(
    {
        *(f"audit.{act}_apikey" for act in ("view", "change")),
        *(f"audit.{act}_gamingtable" for act in ("view", "add", "change")),
        *(f"audit.{act}_deadline" for act in ("view", "change")),
        *(f"audit.{act}_nightsubscriber" for act in ("view", "add", "change", "delete")),
        *(f"audit.{act}_officer" for act in ("view", "add", "change")),
        *(f"audit.{act}_membership" for act in ("view", "add", "change", "delete")),
        "audit.view_casino",
    }
)

ALLOWED: Mapping[Role, frozenset[str]] = MappingProxyType(
    {Role.OFFICER: _RECORD, Role.SECOND: _RECORD, Role.AUDITOR: _RECORD, Role.ADMINISTRATOR: _KEYS}
)
"""What each role may look at or change. Casework is not here: ``audit.casework.state_machine`` has it."""


class RoleBackend(BaseBackend):
    """Lets officers do at the desk what one of their roles allows. Of which houses is for the pages to say."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if not isinstance(user_obj, Officer) or not user_obj.is_active or obj is not None:
            return set()
        if not hasattr(user_obj, "_allowed"):
            roles = user_obj.memberships.values_list("role", flat=True).distinct()
            user_obj._allowed = frozenset().union(*(ALLOWED[Role(role)] for role in roles))
        return set(user_obj._allowed)

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        return perm in self.get_all_permissions(user_obj, obj)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        return any(perm.startswith(f"{app_label}.") for perm in self.get_all_permissions(user_obj))
