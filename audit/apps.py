"""The app's place in Django."""

from django.apps import AppConfig
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
        from audit.reconciliation import schedule  # noqa: F401  (follows each casino's cutoff from here on)
        from audit.transparency import deployment_checks  # noqa: F401
