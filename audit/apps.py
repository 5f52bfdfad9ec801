"""The app's place in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from audit.log import checks  # noqa: F401
        from audit.reconciliation import schedule  # noqa: F401  (casinos are followed from here on)
