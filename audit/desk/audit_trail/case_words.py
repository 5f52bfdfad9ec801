"""The words of the audit trail for actions on cases and hand-over notes."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: Mapping[str, Promise] = {
    "case.answered": _("entered a croupier’s answer"),
    "case.assigned": _("assigned a case"),
    "case.attached": _("attached a file to a case"),
    "case.attachment_downloaded": _("downloaded a file of a case"),
    "case.attachment_erased": _("erased a file of a case"),
    "case.closed": _("approved the closing of a case"),
    "case.commented": _("added a note to a case"),
    "case.escalated": _("escalated a late case"),
    "case.held": _("placed a legal hold on a case"),
    "case.hold_lifted": _("lifted the legal hold on a case"),
    "case.joined": _("took a case as part of a pattern"),
    "case.late_not_mailed": _("could not e-mail that a case is late"),
    "case.left": _("released a case from a pattern"),
    "case.linked": _("added a case to a pattern"),
    "case.proposed": _("proposed to close a case"),
    "case.refused": _("tried an action on a case and was refused"),
    "case.released": _("released a case"),
    "case.reopened": _("reopened a case"),
    "case.sent_back": _("sent a case back"),
    "case.taken": _("took a case"),
    "case.unlinked": _("took a case out of a pattern"),
    "case.video_asked": _("asked for a video"),
    "case.video_mailed": _("e-mailed the request for a video"),
    "case.video_not_mailed": _("could not e-mail the request for a video"),
    "case.withdrawn": _("withdrew the proposal to close a case"),
    "shift.handed_over": _("left a hand-over note"),
}
"""What each type of entry says that its actor did."""
