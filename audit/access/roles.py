"""Roles and their permissions at the desk."""

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
_SETTINGS = frozenset(
    {
        *(f"audit.{verb}_apikey" for verb in ("view", "change")),
        *(f"audit.{verb}_gamingtable" for verb in ("view", "add", "change")),
        *(f"audit.{verb}_deadline" for verb in ("view", "change")),
        *(f"audit.{verb}_nightsubscriber" for verb in ("view", "add", "change", "delete")),
        *(f"audit.{verb}_officer" for verb in ("view", "add", "change")),
        *(f"audit.{verb}_membership" for verb in ("view", "add", "change", "delete")),
        "audit.view_casino",
    }
)

PERMISSIONS: Mapping[Role, frozenset[str]] = MappingProxyType(
    {Role.OFFICER: _RECORD, Role.SECOND: _RECORD, Role.AUDITOR: _RECORD, Role.ADMINISTRATOR: _SETTINGS}
)
"""Django permissions by role. What a role may do to a case is in ``audit.casework.state_machine``."""


class RoleBackend(BaseBackend):
    """Gives officers the permissions of all their roles. Pages restrict them to the casinos of each role."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if not isinstance(user_obj, Officer) or not user_obj.is_active or obj is not None:
            return set()
        if user_obj.permissions_of_roles is None:
            roles = user_obj.memberships.values_list("role", flat=True).distinct()
            user_obj.permissions_of_roles = frozenset().union(*(PERMISSIONS[Role(role)] for role in roles))
        return set(user_obj.permissions_of_roles)

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        return perm in self.get_all_permissions(user_obj, obj)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        return any(perm.startswith(f"{app_label}.") for perm in self.get_all_permissions(user_obj))
