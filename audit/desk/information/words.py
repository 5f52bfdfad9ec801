"""What entries of the audit trail say of the nightly lists of information: see ``audit.desk.audit_trail.words``."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: Mapping[str, Promise] = {
    "information.signed": _("signed the list of information"),
    "information.viewed": _("read the list of information"),
}
"""What the actor did, by the type of the entry."""

SUBJECTS: Mapping[str, Promise] = {"information.": _("Lists of information")}
"""What a day's entries can be narrowed to."""

NAMES: Mapping[str, Promise] = {
    "signing": _("signed list"),
    "confirmed": _("confirmed"),
    "under_review": _("under review"),
}
"""What the data are called, those of a night's signature too."""
