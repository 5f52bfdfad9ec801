"""The app's place in Django."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from audit.api import view_checks  # noqa: F401  (a system check, as the next)
        from audit.desk import (
            page_checks,  # noqa: F401
            sections,  # noqa: F401  (registers the models of the desk with the admin site)
        )
        from audit.event_store import officer_entries  # noqa: F401  (writes what is saved of an officer)
        from audit.reconciliation import schedule  # noqa: F401  (follows each casino's cutoff from here on)
        from audit.transparency import deployment_checks  # noqa: F401

        post_migrate.connect(apply_database_roles, sender=self)


def apply_database_roles(**kwargs: Any) -> None:
    """Own and grant what this migrate has left: no upgrade leaves a table that its processes cannot use.

    A log that is on a cluster stays there: what a migration has made of its functions, every node gets.
    """
    from audit.access import applied_roles
    from audit.event_store import cluster

    if kwargs["using"] == "default":
        if cluster.is_distributed():
            cluster.distribute()
        applied_roles.apply()
