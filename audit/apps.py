"""The app's place in Django."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, register
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from audit.event_store import officer_entries  # noqa: F401  (writes what is saved of an officer)

        register(_loaded_when_run("audit.api.view_checks.check_views"), Tags.security)
        register(_loaded_when_run("audit.desk.page_checks.check_pages"), Tags.security)
        register(_loaded_when_run("audit.transparency.deployment_checks.check_log"), Tags.security, deploy=True)
        register(_loaded_when_run("audit.notifications.alert_mail.check_receivers"), Tags.database, deploy=True)
        post_migrate.connect(apply_database_roles, sender=self)


def _loaded_when_run(check: str) -> Callable[..., list[CheckMessage]]:
    """Return a system check that imports what it checks when it is run: most processes run none."""
    return partial(lambda check, **kwargs: import_string(check)(**kwargs), check)


def apply_database_roles(**kwargs: Any) -> None:
    """Own and grant what this migrate has left: no upgrade leaves a table that its processes cannot use.

    A log that is on a cluster stays there: what a migration has made of its functions, every node gets.
    """
    from audit.access import applied_roles
    from audit.casework import video
    from audit.event_store import cluster

    if kwargs["using"] == "default":
        video.keep_days()
        if cluster.is_distributed():
            cluster.distribute()
        applied_roles.apply()
