"""Words of what entries have about messages: webhooks, subscribers to nights and alerts, requests for videos."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

NAMES: Mapping[str, Promise] = {
    "host": _("host"),
    "address": _("address"),
    "severities": _("severities"),
    "alerts": _("alerts"),
    "active": _("active"),
    "letters": _("failed deliveries"),
    "reports": _("reports"),
    "language": _("language"),
    "begins_at": _("from"),
    "ends_at": _("to"),
    "kept_until": _("video kept until"),
}
"""By the name of what an entry has."""
