"""What an outcome says, as the pages of a second officer explain it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.models.cases import Outcome

MEANINGS: Mapping[str, Promise] = {
    Outcome.CONFIRMED: _("The rules were broken."),
    Outcome.EXPLAINED: _("The rules were not broken; the reason says how the finding arose."),
    Outcome.MISTAKEN: _("The finding is wrong."),
}
"""What an outcome says."""
